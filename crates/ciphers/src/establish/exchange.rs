//! What an operation is: what goes in, what comes out, and the key that is read before.

use core::fmt;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A key pair of drawn bytes.
    Generate,
    /// The secret that two key pairs share.
    Agree,
    /// The signature of a message.
    Sign,
    /// Whether a signature is right.
    Verify,
    /// A secret, and the ciphertext that moves it to the owner of a public key.
    Encapsulate,
    /// The secret of a ciphertext.
    Decapsulate,
}

impl Operation {
    /// All of them, with their names.
    const NAMED: [(&'static str, Self); 6] = [
        ("generate", Self::Generate),
        ("agree", Self::Agree),
        ("sign", Self::Sign),
        ("verify", Self::Verify),
        ("encapsulate", Self::Encapsulate),
        ("decapsulate", Self::Decapsulate),
    ];

    /// The operation of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, operation)| *operation)
    }
}

/// What goes into an operation, each as the bytes that the standard defines; what one does not have is empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'g> {
    /// One's own secret key.
    pub secret: &'g [u8],
    /// A public key.
    pub public: &'g [u8],
    /// What stands for chance.
    pub drawn: &'g [u8],
    /// What is signed.
    pub message: &'g [u8],
    /// What came over the wire: a ciphertext or a signature.
    pub sent: &'g [u8],
}

/// Room for what comes out, of [`Exchange::MADE_B`] bytes each: public and secret key of [`Operation::Generate`],
/// ciphertext and secret of [`Operation::Encapsulate`]; else the shared secret or the signature alone.
pub type Made<'m> = [&'m mut [u8]; 2];

/// Why an operation refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Bytes are not as many as the standard says.
    Length {
        /// Of what.
        of: &'static str,
        /// Bytes that it has.
        given_B: usize,
    },
    /// What is wrong with the bytes.
    Wrong(&'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { of, given_B } => write!(f, "{of} of {given_B} octets has another length than it should"),
            Self::Wrong(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for Refused {}

/// One operation of a scheme.
pub trait Exchange {
    /// Bytes that stand for chance.
    const DRAWN_B: usize = 0;
    /// Bytes of what comes out, as [`Made`] has it.
    const MADE_B: [usize; 2];
    /// A key that was read.
    type Key;

    /// Reads the keys that the operation needs.
    ///
    /// # Errors
    /// What is wrong with a key.
    fn load(given: &Given<'_>) -> Result<Self::Key, Refused>;

    /// Carries it out once; the keys of `given` are not looked at.
    ///
    /// # Errors
    /// What is refused.
    ///
    /// # Panics
    /// Where `made` has not [`Exchange::MADE_B`] bytes.
    fn carry_out(key: &Self::Key, given: &Given<'_>, made: Made<'_>) -> Result<(), Refused>;
}

/// What is done with the type of an operation.
pub trait ExchangeVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<E: Exchange + 'static>(self) -> Self::Output;
}

/// `bytes` as an array of the length that its reader wants.
pub(super) fn exact<'b, A: TryFrom<&'b [u8]>>(bytes: &'b [u8], of: &'static str) -> Result<A, Refused> {
    A::try_from(bytes).map_err(|_| Refused::Length { of, given_B: bytes.len() })
}
