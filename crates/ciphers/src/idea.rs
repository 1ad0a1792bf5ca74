//! IDEA (Lai and Massey 1991): blocks of 64 bits, keys of 128.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, OUR_VERSION, OURS, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "idea",
    version: "0.6.0",
    timing: Timing::Branches, // a multiplication by zero takes another way
    algorithm: Algorithm::Idea,
};

/// Many blocks at once.
const WIDE: Code = Code {
    provider: OURS,
    crate_name: "wattlock-ciphers",
    version: OUR_VERSION,
    timing: Timing::Constant,
    algorithm: Algorithm::IdeaWide,
};

const FAMILY: Card = Card {
    family: "idea",
    key_bits: Sizes::only(128),
    block_bits: 64,
    iv_bits: 64,
    source: "Lai and Massey, A Proposal for a New Block Encryption Standard, 1991; ISO/IEC 18033-3:2005",
    codes: &[CODE, WIDE],
    vectors: include_str!("../../../python/wattlock/data/vectors/idea.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] = five_modes!(FAMILY, "idea", ["idea"], ["idea"]);

primitive!(::idea::Idea);
