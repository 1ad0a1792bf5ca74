//! RC6-32/20: words of 32 bits, so blocks of 128, 20 rounds, keys of 128, 192 and 256 bits.

use crate::card::{Algorithm, Card, Code, Mode, RUSTCRYPTO, Sizes, Timing};
use crate::modes::Primitive;
use crate::spec::Spec;
use ::cipher::KeyInit;
use ::cipher::consts::{U16, U20, U24, U32};

pub(crate) type Key128 = ::rc6::RC6<u32, U20, U16>;
pub(crate) type Key192 = ::rc6::RC6<u32, U20, U24>;
pub(crate) type Key256 = ::rc6::RC6<u32, U20, U32>;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "rc6",
    version: "0.1.0",
    timing: Timing::DataRotations,
    algorithm: Algorithm::Rc6,
};

const RC6: Card = Card {
    id: "rc6",
    family: "rc6",
    mode: Mode::Ecb,
    templates: &[],
    listed: &[],
    key_bits: Sizes::every(64, 128, 256),
    effective_bits: None,
    full_rounds: None,
    rounds: Some(Sizes::only(20)),
    block_bits: 128,
    iv_bits: 128,
    tag_bits: 0,
    proof: "",
    source: "Rivest, Robshaw, Sidney, Yin, The RC6 Block Cipher, 1998",
    codes: &[CODE],
    definition: None,
    vectors: include_str!("../../../python/wattlock/data/vectors/rc6.txt"),
};

pub(crate) static CBC: Card = Card {
    id: "rc6-cbc",
    mode: Mode::Cbc,
    proof: "vectors computed with libtomcrypt; the mode compared block by block with its definition",
    templates: &["rc6-{rounds}-{key}-cbc"],
    listed: &["rc6-20-128-cbc", "rc6-20-192-cbc", "rc6-20-256-cbc"],
    ..RC6
};

pub(crate) static CTR: Card = Card {
    id: "rc6-ctr",
    mode: Mode::Ctr,
    proof: "vectors computed with libtomcrypt; the mode compared block by block with its definition",
    templates: &["rc6-{rounds}-{key}-ctr"],
    listed: &["rc6-20-128-ctr", "rc6-20-192-ctr", "rc6-20-256-ctr"],
    ..RC6
};

pub(crate) static ECB: Card = Card {
    id: "rc6-ecb",
    mode: Mode::Ecb,
    proof: "published vectors of each key length (the AES submission); the mode compared block by block with its definition",
    templates: &["rc6-{rounds}-{key}-ecb"],
    listed: &["rc6-20-128-ecb", "rc6-20-192-ecb", "rc6-20-256-ecb"],
    iv_bits: 0,
    ..RC6
};

impl Primitive for Key128 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

impl Primitive for Key192 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

impl Primitive for Key256 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}
