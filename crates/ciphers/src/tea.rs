//! TEA and XTEA: blocks of 64 bits, keys of 128, 64 rounds (32 cycles); words big-endian.
//!
//! Wheeler and Needham write C on words and fix no order of bytes; big-endian words are what most published vectors and
//! libraries have (libtomcrypt, Botan, libmcrypt).
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, OUR_VERSION, OURS, Timing, five_modes};

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
