//! Why a spec is not proven.

use core::fmt;

use crate::Error;

/// Why a spec is not proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofError {
    /// The cipher refused what the proof gave it.
    Refused(Error),
    /// A line of the vectors' text can't be read.
    Malformed {
        /// Its number, from 1.
        line: usize,
    },
    /// The cipher computes something else than a vector says.
    Vector {
        /// The line on which the vector starts, from 1.
        line: usize,
        /// What was done when they differed.
        operation: &'static str,
    },
    /// There is nothing to compare it with.
    Nothing,
    /// The mode computes something else than its definition.
    Composition {
        /// What was done when they differed.
        operation: &'static str,
    },
    /// It computes something else than the card's first implementation.
    Disagreement {
        /// What was done when they differed.
        operation: &'static str,
        /// Bytes of the message.
        length_B: usize,
    },
}

impl From<Error> for ProofError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProofError::Refused(error) => write!(f, "the cipher refused its proof: {error}"),
            ProofError::Malformed { line } => {
                write!(f, "line {line} of the test vectors can't be read")
            }
            ProofError::Vector { line, operation } => {
                write!(f, "to {operation} gives something else than the test vector of line {line}")
            }
            ProofError::Nothing => f.write_str("no vector, no definition and no other implementation to compare with"),
            ProofError::Composition { operation } => {
                write!(f, "to {operation} gives something else than the definition of the mode")
            }
            ProofError::Disagreement { operation, length_B } => {
                write!(f, "to {operation} {length_B} bytes gives something else than the built-in implementation")
            }
        }
    }
}

impl core::error::Error for ProofError {}
