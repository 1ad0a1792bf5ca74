//! Twofish (Schneier and others 1998): blocks of 128 bits, keys of 128, 192 and 256.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "twofish",
    version: "0.8.0",
    timing: Timing::TableLookups, // the crate computes its key-dependent boxes anew for each block, so it is slow
    algorithm: Algorithm::Twofish,
};

const FAMILY: Card = Card {
    family: "twofish",
    key_bits: Sizes::every(64, 128, 256),
    source: "Schneier, Kelsey, Whiting, Wagner, Hall, Ferguson, Twofish: A 128-Bit Block Cipher, 1998",
    codes: &[CODE],
    vectors: include_str!("../../../python/wattlock/data/vectors/twofish.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] =
    five_modes!(FAMILY, "twofish", ["twofish{key}"], ["twofish128", "twofish192", "twofish256"]);

primitive!(::twofish::Twofish);
