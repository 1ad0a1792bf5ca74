//! DES (FIPS 46-3) and Triple DES (NIST SP 800-67) with two keys and with three: blocks of 64 bits.
//!
//! `key_bits` counts the parity bits, as a key is given: 64, 128 and 192.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "des",
    version: "0.9.0",
    timing: Timing::TableLookups,
    algorithm: Algorithm::Des,
};

const DES: Card = Card {
    family: "des",
    key_bits: Sizes::only(64),
    block_bits: 64,
    iv_bits: 64,
    source: "NIST FIPS 46-3, 1999",
    codes: &[CODE],
    vectors: include_str!("../../../python/wattlock/data/vectors/des.txt"),
    ..BLANK
};

const TRIPLE: Card = Card {
    family: "3des",
    key_bits: Sizes::only(192),
    source: "NIST SP 800-67 Rev. 2, 2017, keying option 1",
    codes: &[Code { algorithm: Algorithm::TripleDes, ..CODE }],
    ..DES
};

const TWO_KEY: Card = Card {
    family: "3des2",
    key_bits: Sizes::only(128),
    source: "NIST SP 800-67 Rev. 1, 2012, keying option 2",
    codes: &[Code { algorithm: Algorithm::TripleDesTwoKey, ..CODE }],
    ..TRIPLE
};

pub(crate) static CARDS: [Card; 5] = five_modes!(DES, "des", ["des"], ["des"]);
pub(crate) static TRIPLE_CARDS: [Card; 5] = five_modes!(TRIPLE, "3des", ["3des"], ["3des"]);
pub(crate) static TWO_KEY_CARDS: [Card; 5] = five_modes!(TWO_KEY, "3des2", ["3des2"], ["3des2"]);

primitive!(::des::Des, ::des::TdesEde3, ::des::TdesEde2);
