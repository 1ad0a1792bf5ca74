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

#[cfg(feature = "aead")]
mod aead;
#[cfg(feature = "aes")]
mod aes;
#[cfg(feature = "aes-soft")]
mod aes_soft;
mod baselines;
#[cfg(feature = "blowfish")]
mod blowfish;
#[cfg(feature = "camellia")]
mod camellia;
mod card;
#[cfg(feature = "cast")]
mod cast;
mod cipher;
#[cfg(feature = "des")]
mod des;
mod error;
#[cfg(feature = "idea")]
mod idea;
mod kernels;
mod modes;
#[cfg(feature = "present")]
mod present;
pub mod proof;
#[cfg(feature = "rc2")]
mod rc2;
#[cfg(feature = "rc4")]
mod rc4;
#[cfg(feature = "rc5")]
mod rc5;
#[cfg(feature = "rc6")]
mod rc6;
#[cfg(feature = "rijndael")]
mod rijndael;
#[cfg(feature = "serpent")]
mod serpent;
#[cfg(feature = "sm4")]
mod sm4;
mod spec;
#[cfg(feature = "speck")]
mod speck;
#[cfg(any(feature = "chacha20", feature = "salsa20"))]
mod streams;
#[cfg(feature = "tea")]
mod tea;
#[cfg(feature = "twofish")]
mod twofish;
mod vectors;

pub use card::{Card, Code, Mode, Sizes, Timing};
pub use cipher::{Cipher, Direction, Suite};
pub use error::Error;
pub use spec::{Spec, Visitor, listed, nearest, nearest_of};

/// The longest key of any cipher here, in bytes (RC4).
pub const MAX_KEY_B: usize = 256;
/// The longest IV or nonce of any cipher here, in bytes (Rijndael with blocks of 256 bits).
pub const MAX_IV_B: usize = 32;
/// The most bytes that padding or a tag adds to a message: one whole block.
pub const MAX_PADDING_B: usize = 32;

/// Every card, in the order in which a catalogue prints them.
pub fn cards() -> impl Iterator<Item = &'static Card> + Clone {
    FAMILIES.iter().flat_map(|cards| cards.iter())
}

static FAMILIES: &[&[Card]] = &[
    #[cfg(feature = "aes")]
    &aes::CARDS,
    #[cfg(feature = "des")]
    &des::CARDS,
    #[cfg(feature = "des")]
    &des::TRIPLE_CARDS,
    #[cfg(feature = "des")]
    &des::TWO_KEY_CARDS,
    #[cfg(feature = "rc2")]
    &rc2::CARDS,
    #[cfg(feature = "rc4")]
    &rc4::CARDS,
    #[cfg(feature = "rc5")]
    &rc5::CARDS,
    #[cfg(feature = "rc6")]
    &rc6::CARDS,
    #[cfg(feature = "blowfish")]
    &blowfish::CARDS,
    #[cfg(feature = "cast")]
    &cast::CARDS,
    #[cfg(feature = "idea")]
    &idea::CARDS,
    #[cfg(feature = "rijndael")]
    &rijndael::CARDS_OF_128,
    #[cfg(feature = "rijndael")]
    &rijndael::CARDS_OF_192,
    #[cfg(feature = "rijndael")]
    &rijndael::CARDS_OF_256,
    #[cfg(feature = "tea")]
    &tea::CARDS,
    #[cfg(feature = "tea")]
    &tea::EXTENDED_CARDS,
    #[cfg(feature = "camellia")]
    &camellia::CARDS,
    #[cfg(feature = "twofish")]
    &twofish::CARDS,
    #[cfg(feature = "serpent")]
    &serpent::CARDS,
    #[cfg(feature = "sm4")]
    &sm4::CARDS,
    #[cfg(feature = "speck")]
    &speck::CARDS,
    #[cfg(feature = "speck")]
    &speck::SMALL_CARDS,
    #[cfg(feature = "present")]
    &present::CARDS,
    #[cfg(feature = "chacha20")]
    &streams::CHACHA_CARDS,
    #[cfg(feature = "salsa20")]
    &streams::SALSA_CARDS,
    #[cfg(feature = "aes-gcm")]
    &aead::GCM,
    #[cfg(feature = "aes-ccm")]
    &aead::CCM,
    #[cfg(feature = "aes-ccm")]
    &aead::CCM8,
    #[cfg(feature = "aes-gcm-siv")]
    &aead::GCM_SIV,
    #[cfg(feature = "aes-ocb3")]
    &aead::OCB3,
    #[cfg(feature = "aes-eax")]
    &aead::EAX,
    #[cfg(feature = "chacha20-poly1305")]
    &aead::CHACHA,
    #[cfg(feature = "chacha20-poly1305")]
    &aead::XCHACHA,
    #[cfg(feature = "ascon")]
    &aead::ASCON,
    &baselines::CARDS,
];
