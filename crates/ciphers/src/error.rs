//! What can be wrong with an id, a key, an IV or a message.
#![forbid(unsafe_code)]

use crate::Sizes;
use core::fmt;

/// Why a cipher refuses. The numbers are those of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No card has such an id; [`nearest`](crate::nearest) knows what may have been meant.
    UnknownCipher,
    /// The family is known, the key bits in the id are not among its own.
    NoSuchKeyBits {
        /// The family that the id names.
        family: &'static str,
        /// What the id says.
        given: u16,
        /// What it may say.
        right: Sizes,
    },
    /// The family is known, the effective key bits in the id are not among its own.
    NoSuchEffectiveBits {
        /// The family that the id names.
        family: &'static str,
        /// What the id says.
        given: u16,
        /// What it may say.
        right: Sizes,
    },
    /// The family is known, the rounds in the id are not among its own.
    NoSuchRounds {
        /// The family that the id names.
        family: &'static str,
        /// What the id says.
        given: u16,
        /// What it may say.
        right: Sizes,
    },
    /// The key is not as long as the id says.
    WrongKeyLength {
        /// Bits of the key given.
        given_bits: usize,
        /// Bits that this id takes.
        right_bits: u16,
    },
    /// The IV is not as long as the mode needs.
    WrongIvLength {
        /// Bytes of the IV given.
        given_B: usize,
        /// Bytes that this id takes; 0 where there is no IV.
        right_B: usize,
    },
    /// The output has no room for the result.
    OutputTooSmall {
        /// Bytes of the output given.
        given_B: usize,
        /// Bytes that the result may take.
        needed_B: usize,
    },
    /// The input is not a whole number of blocks.
    NotWholeBlocks {
        /// Bytes of the input given.
        given_B: usize,
        /// Bytes of a block.
        block_B: usize,
    },
    /// What was decrypted does not end in PKCS#7 padding.
    BadPadding,
    /// The tag is not that of this message: nothing of it may be used.
    Forged,
    /// The message is longer than the cipher allows under one nonce.
    TooLong {
        /// Bytes of the message given.
        given_B: u64,
        /// Bytes that are allowed.
        most_B: u64,
    },
    /// This cipher does something else: an AEAD seals and opens, any other encrypts and decrypts.
    NoSuchOperation,
    /// A library outside of this crate failed.
    Library {
        /// Its function that said so.
        function: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownCipher => f.write_str("no such cipher"),
            Error::NoSuchKeyBits { family, given, right } => {
                write!(f, "{family} has no key of {given} bits, only of {right}")
            }
            Error::NoSuchEffectiveBits { family, given, right } => {
                write!(f, "{family} has no {given} effective key bits, only {right}")
            }
            Error::NoSuchRounds { family, given, right } => {
                write!(f, "{family} has no {given} rounds here, only {right}")
            }
            Error::WrongKeyLength { given_bits, right_bits } => {
                let (given_B, right_B) = (given_bits / 8, right_bits / 8);
                write!(f, "the key has {given_bits} bits ({given_B} bytes), not {right_bits} bits ({right_B} bytes)")
            }
            Error::WrongIvLength { given_B, right_B: 0 } => {
                write!(f, "the IV has {given_B} bytes, this cipher takes none")
            }
            Error::WrongIvLength { given_B, right_B } => {
                write!(f, "the IV has {given_B} bytes, not {right_B}")
            }
            Error::OutputTooSmall { given_B, needed_B } => {
                write!(f, "the output has room for {given_B} bytes, {needed_B} are needed")
            }
            Error::NotWholeBlocks { given_B, block_B } => {
                write!(f, "the input has {given_B} bytes, which is no multiple of the block of {block_B}")
            }
            Error::BadPadding => f.write_str("the padding is not PKCS#7: a wrong key, a wrong IV or a damaged message"),
            Error::Forged => {
                f.write_str("the tag is wrong: a wrong key, nonce or associated data, or a changed message")
            }
            Error::TooLong { given_B, most_B } => {
                write!(f, "the message has {given_B} bytes, at most {most_B} are allowed under one nonce")
            }
            Error::NoSuchOperation => f.write_str("the cipher has no such operation"),
            Error::Library { function } => write!(f, "the library's {function} failed"),
        }
    }
}

impl core::error::Error for Error {}
