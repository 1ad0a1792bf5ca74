//! TEA and XTEA: blocks of 64 bits, keys of 128, 64 rounds (32 cycles); words big-endian.
//!
//! Wheeler and Needham write C on words and fix no order of bytes; big-endian words are what most published vectors and
//! libraries have (libtomcrypt, Botan, libmcrypt).
#![forbid(unsafe_code)]

use ::cipher::consts::U8;

use crate::Spec;
use crate::card::{Algorithm, BLANK, Card, Code, OUR_VERSION, OURS, Timing, five_modes};
use crate::modes::{Primitive, block_cipher};

const CODE: Code = Code {
    provider: OURS,
    crate_name: "wattlock-ciphers",
    version: OUR_VERSION,
    timing: Timing::Constant,
    algorithm: Algorithm::Tea,
};

const TEA: Card = Card {
    family: "tea",
    block_bits: 64,
    iv_bits: 64,
    source: "Wheeler and Needham, TEA, a Tiny Encryption Algorithm, 1994",
    codes: &[CODE],
    vectors: include_str!("../../../python/wattlock/data/vectors/tea.txt"),
    ..BLANK
};

const XTEA: Card = Card {
    family: "xtea",
    source: "Needham and Wheeler, Tea extensions, 1997",
    codes: &[Code { algorithm: Algorithm::Xtea, ..CODE }],
    ..TEA
};

pub(crate) static CARDS: [Card; 5] = five_modes!(TEA, "tea", ["tea"], ["tea"]);
pub(crate) static EXTENDED_CARDS: [Card; 5] = five_modes!(XTEA, "xtea", ["xtea"], ["xtea"]);

const DELTA: u32 = 0x9e37_79b9;
const CYCLES: u32 = 32;

fn words<const N: usize>(key: &[u8]) -> Option<[u32; N]> {
    let (words, rest) = key.as_chunks::<4>();
    let words: &[[u8; 4]; N] = words.try_into().ok()?;
    rest.is_empty().then(|| words.map(u32::from_be_bytes))
}

#[inline]
fn halves(block: [u8; 8]) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = block;
    [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])]
}

#[inline]
fn block([left, right]: [u32; 2]) -> [u8; 8] {
    ((u64::from(left) << 32) | u64::from(right)).to_be_bytes()
}

/// TEA: the key is its own schedule.
pub(crate) struct Tea([u32; 4]);

impl Primitive for Tea {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        words(key).map(Self)
    }
}

#[inline]
fn mix(word: u32, sum: u32, one: u32, other: u32) -> u32 {
    (word << 4).wrapping_add(one) ^ word.wrapping_add(sum) ^ (word >> 5).wrapping_add(other)
}

impl Tea {
    #[inline]
    fn encrypt_one(&self, text: [u8; 8]) -> [u8; 8] {
        let [mut left, mut right] = halves(text);
        let [a, b, c, d] = self.0;
        for cycle in 1..=CYCLES {
            let sum = DELTA.wrapping_mul(cycle);
            left = left.wrapping_add(mix(right, sum, a, b));
            right = right.wrapping_add(mix(left, sum, c, d));
        }
        block([left, right])
    }

    #[inline]
    fn decrypt_one(&self, text: [u8; 8]) -> [u8; 8] {
        let [mut left, mut right] = halves(text);
        let [a, b, c, d] = self.0;
        for cycle in (1..=CYCLES).rev() {
            let sum = DELTA.wrapping_mul(cycle);
            right = right.wrapping_sub(mix(left, sum, c, d));
            left = left.wrapping_sub(mix(right, sum, a, b));
        }
        block([left, right])
    }
}

block_cipher!(Tea, U8);

/// XTEA: the sums of its 64 rounds with their words of the key.
pub(crate) struct Xtea([[u32; 2]; CYCLES as usize]);

impl Primitive for Xtea {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        let key: [u32; 4] = words(key)?;
        let word = |sum: u32, at: u32| sum.wrapping_add(key[(at & 3) as usize]);
        let mut sum = 0_u32;
        Some(Self(core::array::from_fn(|_| {
            let first = word(sum, sum);
            sum = sum.wrapping_add(DELTA);
            [first, word(sum, sum >> 11)]
        })))
    }
}

#[inline]
fn round(word: u32, key: u32) -> u32 {
    ((word << 4) ^ (word >> 5)).wrapping_add(word) ^ key
}

impl Xtea {
    #[inline]
    fn encrypt_one(&self, text: [u8; 8]) -> [u8; 8] {
        let [mut left, mut right] = halves(text);
        for [first, second] in self.0 {
            left = left.wrapping_add(round(right, first));
            right = right.wrapping_add(round(left, second));
        }
        block([left, right])
    }

    #[inline]
    fn decrypt_one(&self, text: [u8; 8]) -> [u8; 8] {
        let [mut left, mut right] = halves(text);
        for [first, second] in self.0.iter().rev() {
            right = right.wrapping_sub(round(left, *second));
            left = left.wrapping_sub(round(right, *first));
        }
        block([left, right])
    }
}

block_cipher!(Xtea, U8);
