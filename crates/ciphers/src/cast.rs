//! CAST-128 (RFC 2144), also called CAST5: blocks of 64 bits, keys of 40 to 128; 12 rounds up to 80 bits, 16 above.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "cast5",
    version: "0.12.0",
    timing: Timing::TableLookups,
    algorithm: Algorithm::Cast,
};

const FAMILY: Card = Card {
    family: "cast",
    key_bits: Sizes::every(8, 40, 128),
    block_bits: 64,
    iv_bits: 64,
    source: "RFC 2144, 1997",
    codes: &[CODE],
    vectors: include_str!("../../../python/wattlock/data/vectors/cast.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] = five_modes!(FAMILY, "cast", ["cast{key}"], ["cast40", "cast80", "cast128"]);

primitive!(::cast5::Cast5);
