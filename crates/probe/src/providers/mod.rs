//! Whose code a cell runs: the ciphers that are built in, and libraries of the system that are opened at run time.

use std::rc::Rc;

use wattlock_ciphers::{Spec, proof};

use crate::bind::{self, Prepared};
use crate::records::PlannedCell;

/// One provider's code for one cipher.
pub enum Implementation {
    /// Compiled into this program.
    BuiltIn,
}

/// The implementation of `spec` by the provider of this name.
///
/// # Errors
/// Which providers there are.
pub fn find(provider: &str, _spec: &Spec) -> Result<Implementation, String> {
    match provider {
        "rustcrypto" => Ok(Implementation::BuiltIn),
        _ => Err(format!("no provider {provider:?}; there is \"rustcrypto\"")),
    }
}

impl Implementation {
    /// The path that the code takes on this processor.
    #[must_use]
    pub fn backend(&self, spec: &Spec) -> String {
        match self {
            Self::BuiltIn => spec.backend().to_owned(),
        }
    }

    /// The version of the code.
    #[must_use]
    pub fn version(&self, spec: &Spec) -> String {
        match self {
            Self::BuiltIn => spec.card.version.to_owned(),
        }
    }

    /// Proves the cipher before it is timed.
    ///
    /// # Errors
    /// What is wrong with its output.
    pub fn prove(&self, spec: &Spec) -> Result<(), String> {
        match self {
            Self::BuiltIn => proof::prove(spec).map(|_| ()).map_err(|error| format!("{spec}: {error}")),
        }
    }

    /// Binds a planned cell to this implementation.
    ///
    /// # Errors
    /// As of [`bind::bind`].
    pub fn bind(
        &self,
        spec: &Spec,
        planned: &PlannedCell,
        payload: Option<Rc<[u8]>>,
        seed: u64,
    ) -> Result<Box<dyn Prepared>, String> {
        match self {
            Self::BuiltIn => bind::bind(spec, planned, payload, seed),
        }
    }
}
