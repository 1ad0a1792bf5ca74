//! RC2 (RFC 2268): blocks of 64 bits, keys of 1 to 128 bytes, 1 to 1024 effective bits.
#![forbid(unsafe_code)]

use ::rc2::Rc2;

use crate::Spec;
use crate::card::{Algorithm, BLANK, Card, Code, OUR_VERSION, OURS, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::Primitive;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "rc2",
    version: "0.9.0",
    timing: Timing::TableLookups, // mashing reads the key table where the data says
    algorithm: Algorithm::Rc2,
};

/// Many blocks at once.
const WIDE: Code = Code {
    provider: OURS,
    crate_name: "wattlock-ciphers",
    version: OUR_VERSION,
    algorithm: Algorithm::Rc2Wide,
    ..CODE
};

const FAMILY: Card = Card {
    family: "rc2",
    key_bits: Sizes::every(8, 8, 1024),
    effective_bits: Some(Sizes::every(1, 1, 1024)),
    block_bits: 64,
    iv_bits: 64,
    source: "RFC 2268, 1998",
    codes: &[CODE, WIDE],
    vectors: include_str!("../../../python/wattlock/data/vectors/rc2.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] =
    five_modes!(FAMILY, "rc2", ["rc2-{key}", "rc2-{key}-e{effective}"], ["rc2-40", "rc2-64", "rc2-128", "rc2-128-e64"]);

impl Primitive for Rc2 {
    #[inline]
    fn schedule(spec: &Spec, key: &[u8]) -> Option<Self> {
        Some(Self::new_with_eff_key_len(key, usize::from(spec.effective_bits)))
    }
}
