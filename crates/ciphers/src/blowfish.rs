//! Blowfish (Schneier 1993): blocks of 64 bits, keys of 32 to 448.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "blowfish",
    version: "0.10.0",
    timing: Timing::TableLookups,
    algorithm: Algorithm::Blowfish,
};

const FAMILY: Card = Card {
    family: "blowfish",
    key_bits: Sizes::every(8, 32, 448),
    block_bits: 64,
    iv_bits: 64,
    source: "Schneier, Description of a New Variable-Length Key, 64-Bit Block Cipher, 1993",
    codes: &[CODE],
    vectors: include_str!("../../../python/wattlock/data/vectors/blowfish.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] = five_modes!(
    FAMILY,
    "blowfish",
    ["blowfish{key}"],
    ["blowfish32", "blowfish64", "blowfish128", "blowfish256", "blowfish448"]
);

primitive!(::blowfish::Blowfish);
