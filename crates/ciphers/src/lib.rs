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
