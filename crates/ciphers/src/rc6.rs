//! RC6-32/r: words of 32 bits, so blocks of 128, keys of 128, 192 and 256 bits; the cipher has 20 rounds, 8 to 24 in
//! steps of 4 are here.
#![forbid(unsafe_code)]

use ::cipher::consts::{U16, U24, U32};

use crate::card::{Algorithm, BLANK, Card, Code, OUR_VERSION, OURS, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

/// By rounds, a type number.
pub(crate) type Key128<R> = ::rc6::RC6<u32, R, U16>;
pub(crate) type Key192<R> = ::rc6::RC6<u32, R, U24>;
pub(crate) type Key256<R> = ::rc6::RC6<u32, R, U32>;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "rc6",
    version: "0.1.0",
    timing: Timing::DataRotations,
    algorithm: Algorithm::Rc6,
};

/// Many blocks at once.
const WIDE: Code = Code {
    provider: OURS,
    crate_name: "wattlock-ciphers",
    version: OUR_VERSION,
    algorithm: Algorithm::Rc6Wide,
    ..CODE
};

const FAMILY: Card = Card {
    family: "rc6",
    key_bits: Sizes::every(64, 128, 256),
    rounds: Some(Sizes::every(4, 8, 24)),
    source: "Rivest, Robshaw, Sidney, Yin, The RC6 Block Cipher, 1998",
    codes: &[CODE, WIDE],
    vectors: include_str!("../../../python/wattlock/data/vectors/rc6.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] = five_modes!(
    FAMILY,
    "rc6",
    ["rc6-{rounds}-{key}"],
    ["rc6-8-128", "rc6-12-128", "rc6-16-128", "rc6-20-128", "rc6-24-128", "rc6-20-192", "rc6-20-256"]
);

macro_rules! rounds {
    ($($rounds:ident),+) => {
        $(
            primitive!(
                Key128<::cipher::consts::$rounds>,
                Key192<::cipher::consts::$rounds>,
                Key256<::cipher::consts::$rounds>
            );
        )+
    };
}

rounds!(U8, U12, U16, U20, U24);
