//! Serpent (Anderson, Biham, Knudsen 1998): blocks of 128 bits, keys of 128, 192 and 256; bytes in the order of NESSIE.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "serpent",
    version: "0.6.0",
    timing: Timing::Constant, // bit-sliced
    algorithm: Algorithm::Serpent,
};

const FAMILY: Card = Card {
    family: "serpent",
    key_bits: Sizes::every(64, 128, 256),
    source: "Anderson, Biham, Knudsen, Serpent: A Proposal for the Advanced Encryption Standard, 1998",
    codes: &[CODE],
    vectors: include_str!("../../../python/wattlock/data/vectors/serpent.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] =
    five_modes!(FAMILY, "serpent", ["serpent{key}"], ["serpent128", "serpent192", "serpent256"]);

primitive!(::serpent::Serpent);
