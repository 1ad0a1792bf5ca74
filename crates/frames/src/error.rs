//! Why a frame is refused.

use core::fmt;

/// Why a frame is neither protected nor unprotected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The protocol of this id is not in this build: its Cargo feature is off.
    LeftOut(&'static str),
    /// The key is not as long as the protocol's.
    WrongKeyLength {
        /// Bytes given.
        given_B: usize,
        /// Bytes that the protocol takes.
        right_B: usize,
    },
    /// The output has no room for the frame.
    OutputTooSmall {
        /// Bytes given.
        given_B: usize,
        /// Bytes needed.
        needed_B: usize,
    },
    /// The packet number is larger than the protocol's field; a new key is needed.
    NumberTooLarge {
        /// What was given.
        given: u64,
        /// The largest that the field holds.
        most: u64,
    },
    /// The ICV of WEP or TKIP is wrong: another key, or a changed frame.
    Icv,
    /// The MIC of CCMP, GCMP or of a key frame is wrong: another key, or a changed frame.
    Mic,
    /// The ICV is right and the Michael of the MSDU is not: under TKIP a sign of an attack.
    Michael,
    /// The packet number was there before.
    Replay,
    /// The bytes are no frame that could be meant.
    Malformed(Malformed),
}

/// What is wrong with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Malformed {
    /// The frame ends inside its header.
    Header,
    /// The protocol version is not 0.
    Version,
    /// The frame ends inside the head or the tail of its protection.
    Protection,
    /// It carries nothing that could be protected, or is protected as it comes.
    NothingToDo,
    /// A fragment whose beginning was not there, or which doesn't follow the one before.
    Fragment,
    /// An aggregate of MSDUs where there can be none.
    Aggregate,
    /// Longer than the protocol allows.
    TooLong,
    /// A key frame that ends early, or whose key data is none.
    KeyFrame,
}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut(protocol) => write!(f, "this build of wattlock-frames has no {protocol}"),
            Self::WrongKeyLength { given_B, right_B } => write!(f, "the key has {given_B} bytes, not {right_B}"),
            Self::OutputTooSmall { given_B, needed_B } => {
                write!(f, "the output has room for {given_B} bytes, {needed_B} are needed")
            }
            Self::NumberTooLarge { given, most } => {
                write!(f, "packet number {given} is above {most}, the last one of a key")
            }
            Self::Icv => f.write_str("the ICV is wrong: another key, or a changed frame"),
            Self::Mic => f.write_str("the MIC is wrong: another key, or a changed frame"),
            Self::Michael => f.write_str("the Michael of the MSDU is wrong though its ICV is right"),
            Self::Replay => f.write_str("the packet number was there before"),
            Self::Malformed(malformed) => malformed.fmt(f),
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "the frame ends inside its header",
            Self::Version => "the protocol version is not 0",
            Self::Protection => "the frame ends inside its protection",
            Self::NothingToDo => "the frame carries nothing to be protected, or is protected already",
            Self::Fragment => "a fragment doesn't follow the one before it",
            Self::Aggregate => "an aggregate of MSDUs where there can be none",
            Self::TooLong => "the frame is longer than the protocol allows",
            Self::KeyFrame => "a key frame ends early or holds no key data that could be meant",
        })
    }
}

impl core::error::Error for Error {}
