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
    definition: Some(chacha20),
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
    definition: Some(salsa20),
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

/// A key stream block by block: `rounds` of a state that is added up in the end, and whose counter goes up.
fn definition(message: &[u8], output: &mut [u8], state: impl Fn(u64) -> [u32; 16], round: impl Fn(&mut [u32; 16])) {
    for (number, (text, output)) in (0..).zip(message.chunks(64).zip(output.chunks_mut(64))) {
        let start = state(number);
        let mut words = start;
        (0..10).for_each(|_| round(&mut words));
        let stream = words.iter().zip(start).flat_map(|(word, start)| word.wrapping_add(start).to_le_bytes());
        output.iter_mut().zip(text).zip(stream).for_each(|((output, text), stream)| *output = text ^ stream);
    }
}

fn word(bytes: &[u8], place: usize) -> u32 {
    bytes[4 * place..].iter().take(4).rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// RFC 8439, 2.1 to 2.4, the counter from 0.
#[cfg(feature = "chacha20")]
fn chacha20(key: &[u8], iv: &[u8], message: &[u8], output: &mut [u8]) {
    let [a, b, c, d] = CONSTANTS;
    let k = core::array::from_fn::<u32, 8, _>(|place| word(key, place));
    let n = core::array::from_fn::<u32, 3, _>(|place| word(iv, place));
    #[allow(clippy::cast_possible_truncation, reason = "a message has at most 2^32 blocks")]
    let state =
        |number: u64| [a, b, c, d, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], number as u32, n[0], n[1], n[2]];
    let quarter = |x: &mut [u32; 16], [a, b, c, d]: [usize; 4]| {
        for (to, from, into, bits) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
            x[to] = x[to].wrapping_add(x[from]);
            x[into] = (x[into] ^ x[to]).rotate_left(bits);
        }
    };
    definition(message, output, state, |x| {
        (0..4).for_each(|i| quarter(x, [i, 4 + i, 8 + i, 12 + i]));
        (0..4).for_each(|i| quarter(x, [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4]));
    });
}

/// Bernstein, Salsa20 specification, 2005: 20 rounds, a key of 32 bytes.
#[cfg(feature = "salsa20")]
fn salsa20(key: &[u8], iv: &[u8], message: &[u8], output: &mut [u8]) {
    let [a, b, c, d] = CONSTANTS;
    let k = core::array::from_fn::<u32, 8, _>(|place| word(key, place));
    let n = [word(iv, 0), word(iv, 1)];
    #[allow(clippy::cast_possible_truncation, reason = "the two halves of the counter")]
    let state = |number: u64| {
        let halves = [number as u32, (number >> 32) as u32];
        [a, k[0], k[1], k[2], k[3], b, n[0], n[1], halves[0], halves[1], c, k[4], k[5], k[6], k[7], d]
    };
    let quarter = |x: &mut [u32; 16], [a, b, c, d]: [usize; 4]| {
        for (to, one, other, bits) in [(b, a, d, 7), (c, b, a, 9), (d, c, b, 13), (a, d, c, 18)] {
            x[to] ^= x[one].wrapping_add(x[other]).rotate_left(bits);
        }
    };
    // Columns and rows begin at the diagonal.
    definition(message, output, state, |x| {
        (0..4).for_each(|i| quarter(x, core::array::from_fn(|at| 4 * ((i + at) % 4) + i)));
        (0..4).for_each(|i| quarter(x, core::array::from_fn(|at| 4 * i + (i + at) % 4)));
    });
}
