//! The catalogue of ciphers that wattlock weighs.
//!
//! A [`Card`] is a family and a mode and holds data only. A [`Spec`] is a card with its parameters, what an id such as
//! `aes128-cbc` names. A [`Code`] is one implementation of a card. [`Spec::visit`] leads from both to the [`Suite`] that
//! makes a [`Cipher`] of a key, by static dispatch, so that a timed loop calls no pointer. [`proof`] holds any suite,
//! built in or not, against published vectors before it is used.
//!
//! Keys and IVs are the caller's; nothing is drawn at random, nothing allocates. Only an AEAD authenticates.
//! The modes pad by PKCS#7 (ECB, CBC) or not at all (CTR, whose IV is the first counter block, counted big-endian over
//! the whole block; CFB, which feeds whole blocks back; OFB).
//!
//! # Example
//! AES-128 in counter mode, NIST SP 800-38A, F.5.1:
//! ```
//! use wattlock_ciphers::{Cipher, Direction, Error, Spec, Suite, Visitor};
//!
//! struct Encrypt {
//!     key: [u8; 16],
//!     counter: [u8; 16],
//! }
//!
//! impl Visitor for Encrypt {
//!     type Output = Result<[u8; 16], Error>;
//!
//!     fn visit<S: Suite>(self, _: &Spec, suite: S) -> Self::Output {
//!         let plain = 0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128.to_be_bytes();
//!         let mut output = [0; 16];
//!         suite.key_setup(&self.key, Direction::Encrypt)?.encrypt(&self.counter, &plain, &mut output)?;
//!         Ok(output)
//!     }
//! }
//!
//! let spec = Spec::parse("aes128-ctr")?;
//! let code = spec.code("rustcrypto").ok_or(Error::UnknownCipher)?;
//! let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
//! let counter = 0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff_u128.to_be_bytes();
//! let output = spec.visit(code, Encrypt { key, counter })?;
//! assert_eq!(u128::from_be_bytes(output), 0x874d_6191_b620_e326_1bef_6864_990d_b6ce);
//! # Ok::<(), Error>(())
//! ```
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "all"),
    allow(dead_code, unused_imports, unused_macros, reason = "families that are left out")
)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `given_B` counts bytes")]

mod algorithm;
mod card;
mod catalogue;
mod cipher;
mod error;
pub mod establish;
mod families;
mod kernels;
mod modes;
pub mod proof;
mod spec;
mod vectors;
mod visit;

pub use card::{Card, Code, Mode, Sizes, Timing};
pub use catalogue::{cards, listed, nearest, nearest_of};
pub use cipher::{Cipher, Direction, Suite};
pub use error::Error;
pub use spec::Spec;
pub use visit::Visitor;

/// The longest key of any cipher here, in bytes (RC4).
pub const MAX_KEY_B: usize = 256;
/// The longest IV or nonce of any cipher here, in bytes (Rijndael with blocks of 256 bits).
pub const MAX_IV_B: usize = 32;
/// The most bytes that padding or a tag adds to a message: one whole block.
pub const MAX_PADDING_B: usize = 32;
