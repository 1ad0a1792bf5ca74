//! Key streams that start at a nonce: ChaCha20 (RFC 8439; the counter starts at 0) and Salsa20 (256-bit keys, 64-bit
//! nonces).
#![forbid(unsafe_code)]

use ::cipher::{KeyIvInit, StreamCipher};

use crate::card::{Algorithm, BLANK, Card, Code, Mode, RUSTCRYPTO, Sizes, Timing};
use crate::cipher::{BuiltIn, Cipher};
use crate::modes::{beside, check_key};
use crate::{Error, Spec};

#[cfg(feature = "chacha20")]
const CHACHA: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "chacha20",
    version: "0.10.2",
    timing: Timing::Constant,
    algorithm: Algorithm::ChaCha20,
};

#[cfg(feature = "salsa20")]
const SALSA: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "salsa20",
    version: "0.11.0",
    timing: Timing::Constant,
    algorithm: Algorithm::Salsa20,
};

#[cfg(feature = "chacha20")]
pub(crate) static CHACHA_CARDS: [Card; 1] = [Card {
    id: "chacha20",
    family: "chacha20",
    mode: Mode::Stream,
    templates: &["chacha20"],
    listed: &["chacha20"],
    key_bits: Sizes::only(256),
    block_bits: 8,
    iv_bits: 96,
    source: "RFC 8439, 2018; the counter of the first block is 0",
    codes: &[CHACHA],
    vectors: include_str!("../../../python/wattlock/data/vectors/chacha20.txt"),
    ..BLANK
}];

#[cfg(feature = "salsa20")]
pub(crate) static SALSA_CARDS: [Card; 1] = [Card {
    id: "salsa20",
    family: "salsa20",
    mode: Mode::Stream,
    templates: &["salsa20"],
    listed: &["salsa20"],
    key_bits: Sizes::only(256),
    block_bits: 8,
    iv_bits: 64,
    source: "Bernstein, The Salsa20 family of stream ciphers, 2007",
    codes: &[SALSA],
    vectors: include_str!("../../../python/wattlock/data/vectors/salsa20.txt"),
    ..BLANK
}];

/// A key; a message makes the stream of its nonce.
pub(crate) struct Nonced<C> {
    key: [u8; 32],
    stream: core::marker::PhantomData<fn() -> C>,
}

impl<C: KeyIvInit + StreamCipher + 'static> BuiltIn for Nonced<C> {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        check_key(spec, key)?;
        let mut kept = [0; 32];
        kept.copy_from_slice(key);
        Ok(Self { key: kept, stream: core::marker::PhantomData })
    }
}

impl<C: KeyIvInit + StreamCipher + 'static> Cipher for Nonced<C> {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let wrong = Error::WrongIvLength { given_B: iv.len(), right_B: C::iv_size() };
        let mut stream = C::new_from_slices(&self.key, iv).map_err(|_| wrong)?;
        let too_long = Error::TooLong { given_B: input.len() as u64, most_B: 64 << 32 };
        stream.try_apply_keystream_inout(beside(input, output)?).map_err(|_| too_long)?;
        Ok(input.len())
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.encrypt(iv, input, output)
    }
}
