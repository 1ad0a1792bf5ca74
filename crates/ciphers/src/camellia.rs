//! Camellia (RFC 3713): blocks of 128 bits, keys of 128, 192 and 256.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "camellia",
    version: "0.2.1",
    timing: Timing::TableLookups,
    algorithm: Algorithm::Camellia,
};

const FAMILY: Card = Card {
    family: "camellia",
    key_bits: Sizes::every(64, 128, 256),
    source: "RFC 3713, 2004; ISO/IEC 18033-3",
    codes: &[CODE],
    vectors: include_str!("../../../python/wattlock/data/vectors/camellia.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] =
    five_modes!(FAMILY, "camellia", ["camellia{key}"], ["camellia128", "camellia192", "camellia256"]);

primitive!(::camellia::Camellia128, ::camellia::Camellia192, ::camellia::Camellia256);
