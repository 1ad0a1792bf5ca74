//! Speck (Beaulieu and others 2013) with blocks of 64 and 128 bits; words big-endian, as the paper prints them.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "speck-cipher",
    version: "0.1.0",
    timing: Timing::Constant,
    algorithm: Algorithm::Speck,
};

const OF_128: Card = Card {
    family: "speck128",
    key_bits: Sizes::every(64, 128, 256),
    source: "Beaulieu, Shors, Smith, Treatman-Clark, Weeks, Wingers, The Simon and Speck Families of Lightweight Block Ciphers, 2013",
    codes: &[CODE],
    vectors: include_str!("../../../python/wattlock/data/vectors/speck.txt"),
    ..BLANK
};

const OF_64: Card =
    Card { family: "speck64", key_bits: Sizes::every(32, 96, 128), block_bits: 64, iv_bits: 64, ..OF_128 };

pub(crate) static CARDS: [Card; 5] =
    five_modes!(OF_128, "speck128", ["speck128-{key}"], ["speck128-128", "speck128-192", "speck128-256"]);
pub(crate) static SMALL_CARDS: [Card; 5] =
    five_modes!(OF_64, "speck64", ["speck64-{key}"], ["speck64-96", "speck64-128"]);

primitive!(
    ::speck_cipher::Speck64_96,
    ::speck_cipher::Speck64_128,
    ::speck_cipher::Speck128_128,
    ::speck_cipher::Speck128_192,
    ::speck_cipher::Speck128_256,
);
