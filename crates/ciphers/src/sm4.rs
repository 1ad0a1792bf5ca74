//! SM4 (GB/T 32907-2016): blocks of 128 bits, keys of 128.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "sm4",
    version: "0.6.0",
    timing: Timing::TableLookups,
    algorithm: Algorithm::Sm4,
};

const FAMILY: Card = Card {
    family: "sm4",
    key_bits: Sizes::only(128),
    source: "GB/T 32907-2016; ISO/IEC 18033-3:2010/Amd 1:2021",
    codes: &[CODE],
    vectors: include_str!("../../../python/wattlock/data/vectors/sm4.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] = five_modes!(FAMILY, "sm4", ["sm4"], ["sm4"]);

primitive!(::sm4::Sm4);
