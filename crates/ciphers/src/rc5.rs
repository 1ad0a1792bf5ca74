//! RC5-32/r/16: words of 32 bits, so blocks of 64, and keys of 16 bytes; 8 to 28 rounds in steps of 4.
#![forbid(unsafe_code)]

use ::cipher::consts::{U8, U12, U16, U20, U24, U28};

use crate::card::{Algorithm, BLANK, Card, Code, OUR_VERSION, OURS, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

pub(crate) type Rounds8 = ::rc5::RC5<u32, U8, U16>;
pub(crate) type Rounds12 = ::rc5::RC5<u32, U12, U16>;
pub(crate) type Rounds16 = ::rc5::RC5<u32, U16, U16>;
pub(crate) type Rounds20 = ::rc5::RC5<u32, U20, U16>;
pub(crate) type Rounds24 = ::rc5::RC5<u32, U24, U16>;
pub(crate) type Rounds28 = ::rc5::RC5<u32, U28, U16>;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "rc5",
    version: "0.1.0",
    timing: Timing::DataRotations,
    algorithm: Algorithm::Rc5,
};

/// Many blocks at once.
const WIDE: Code = Code {
    provider: OURS,
    crate_name: "wattlock-ciphers",
    version: OUR_VERSION,
    algorithm: Algorithm::Rc5Wide,
    ..CODE
};

const FAMILY: Card = Card {
    family: "rc5",
    rounds: Some(Sizes::every(4, 8, 28)),
    block_bits: 64,
    iv_bits: 64,
    source: "Rivest, The RC5 Encryption Algorithm, 1994; RFC 2040, 1996",
    codes: &[CODE, WIDE],
    vectors: include_str!("../../../python/wattlock/data/vectors/rc5.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] = five_modes!(
    FAMILY,
    "rc5",
    ["rc5-32-{rounds}-{key}"],
    ["rc5-32-8-128", "rc5-32-12-128", "rc5-32-16-128", "rc5-32-20-128", "rc5-32-24-128", "rc5-32-28-128"]
);

primitive!(Rounds8, Rounds12, Rounds16, Rounds20, Rounds24, Rounds28);
