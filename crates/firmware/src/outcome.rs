//! How a case went: what is known of it, or why it can't be carried out.
#![forbid(unsafe_code)]

use core::fmt;

use wattlock_ciphers::Error;
use wattlock_ciphers::establish::Refused;
use wattlock_ciphers::proof::ProofError;
#[cfg(feature = "frames")]
use wattlock_frames::proof::Unproven;

/// Why a case can't be carried out.
pub enum Failed {
    /// The cipher's own reason.
    Refuses(Error),
    /// The reason of a scheme's operation.
    RefusesExchange(Refused),
    /// The reason of a protocol.
    #[cfg(feature = "frames")]
    RefusesFrame(wattlock_frames::Error),
    /// The protocol's code is wrong.
    #[cfg(feature = "frames")]
    UnprovenFrame(Unproven),
    /// The cipher's code is wrong.
    Unproven(ProofError),
    /// The scheme's code does not give a published answer.
    WrongAnswer {
        /// Where it was published.
        source: &'static str,
        /// Of which operation.
        operation: &'static str,
    },
    /// The scheme's code breaks a law.
    BrokenLaw(&'static str),
    /// No code is here.
    #[cfg(not(feature = "adapter"))]
    NoSuchCode,
    /// No operation of it.
    NoSuchOperation,
    /// More bytes than there is room for.
    TooLong {
        /// Bytes that there are.
        given_B: usize,
        /// Bytes that there is room for.
        most_B: usize,
    },
    /// It can't be undone.
    DoesNotComeBack,
    /// Another output.
    Differs,
    /// A forgery is taken.
    Opens,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Refuses(error)
    }
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Self::RefusesExchange(refused)
    }
}

#[cfg(feature = "frames")]
impl From<wattlock_frames::Error> for Failed {
    fn from(error: wattlock_frames::Error) -> Self {
        Self::RefusesFrame(error)
    }
}

#[cfg(feature = "frames")]
impl From<Unproven> for Failed {
    fn from(unproven: Unproven) -> Self {
        Self::UnprovenFrame(unproven)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refuses(error) => write!(f, "the cipher refuses: {error}"),
            Self::RefusesExchange(refused) => write!(f, "the scheme refuses: {refused}"),
            #[cfg(feature = "frames")]
            Self::RefusesFrame(error) => write!(f, "the protocol refuses: {error}"),
            #[cfg(feature = "frames")]
            Self::UnprovenFrame(unproven) => write!(f, "refused by its own proof: {unproven}"),
            Self::Unproven(error) => write!(f, "refused by its own proof: {error}"),
            Self::WrongAnswer { source, operation } => {
                write!(f, "refused by its own proof: {source}: to {operation} gives another answer")
            }
            Self::BrokenLaw(law) => write!(f, "refused by its own proof: {law}"),
            #[cfg(not(feature = "adapter"))]
            Self::NoSuchCode => f.write_str("the image has no code of this provider"),
            Self::NoSuchOperation => f.write_str(
                "an AEAD seals and opens, any other cipher encrypts and decrypts, a scheme has what its standard names, a frame \
                 is protected and unprotected",
            ),
            Self::TooLong { given_B, most_B } => write!(f, "{given_B} B, the image has room for {most_B} B"),
            Self::DoesNotComeBack => f.write_str("decryption does not give the plaintext back"),
            Self::Differs => f.write_str("the output is not what another implementation gives"),
            Self::Opens => f.write_str("a message with a wrong tag is opened"),
        }
    }
}

/// What is known of a case that was carried out.
pub struct Done {
    /// The way that the code takes.
    pub path: &'static str,
    /// What a key leaves in memory between two messages.
    pub state_B: usize,
    /// The deepest stack below the call.
    pub stack_B: usize,
    /// The addresses of the functions between the markers.
    pub functions: [usize; 2],
}
