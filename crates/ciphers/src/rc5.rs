//! RC5-32/r/16: words of 32 bits, so blocks of 64, and keys of 16 bytes; 8, 12, 16 or 20 rounds.

use crate::card::{Algorithm, Card, Code, Mode, RUSTCRYPTO, Sizes, Timing};
use crate::modes::Primitive;
use crate::spec::Spec;
use ::cipher::KeyInit;
use ::cipher::consts::{U8, U12, U16, U20};

pub(crate) type Rounds8 = ::rc5::RC5<u32, U8, U16>;
pub(crate) type Rounds12 = ::rc5::RC5<u32, U12, U16>;
pub(crate) type Rounds16 = ::rc5::RC5<u32, U16, U16>;
pub(crate) type Rounds20 = ::rc5::RC5<u32, U20, U16>;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "rc5",
    version: "0.1.0",
    timing: Timing::DataRotations,
    algorithm: Algorithm::Rc5,
};

const RC5: Card = Card {
    id: "rc5",
    family: "rc5",
    mode: Mode::Ecb,
    templates: &[],
    listed: &[],
    key_bits: Sizes::only(128),
    effective_bits: None,
    full_rounds: None,
    rounds: Some(Sizes::every(4, 8, 20)),
    block_bits: 64,
    iv_bits: 64,
    tag_bits: 0,
    proof: "",
    source: "Rivest, The RC5 Encryption Algorithm, 1994; RFC 2040, 1996",
    codes: &[CODE],
    definition: None,
    vectors: include_str!("../../../python/wattlock/data/vectors/rc5.txt"),
};

pub(crate) static CBC: Card = Card {
    id: "rc5-cbc",
    mode: Mode::Cbc,
    proof: "published vectors of 8, 12 and 16 rounds (RFC 2040), computed with libtomcrypt of 20; the mode compared block by block with its definition",
    templates: &["rc5-32-{rounds}-{key}-cbc"],
    listed: &["rc5-32-8-128-cbc", "rc5-32-12-128-cbc", "rc5-32-16-128-cbc", "rc5-32-20-128-cbc"],
    ..RC5
};

pub(crate) static CTR: Card = Card {
    id: "rc5-ctr",
    mode: Mode::Ctr,
    proof: "vectors computed with libtomcrypt of 12, 16 and 20 rounds, from RFC 2040 of 8; the mode compared block by block with its definition",
    templates: &["rc5-32-{rounds}-{key}-ctr"],
    listed: &["rc5-32-8-128-ctr", "rc5-32-12-128-ctr", "rc5-32-16-128-ctr", "rc5-32-20-128-ctr"],
    ..RC5
};

pub(crate) static ECB: Card = Card {
    id: "rc5-ecb",
    mode: Mode::Ecb,
    proof: "published vectors of 12 rounds (Rivest 1994) and 20 (draft-krovetz-rc6-rc5-vectors-00), computed with libtomcrypt of 16, from RFC 2040 of 8; the mode compared block by block with its definition",
    templates: &["rc5-32-{rounds}-{key}-ecb"],
    listed: &["rc5-32-8-128-ecb", "rc5-32-12-128-ecb", "rc5-32-16-128-ecb", "rc5-32-20-128-ecb"],
    iv_bits: 0,
    ..RC5
};

impl Primitive for Rounds8 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

impl Primitive for Rounds12 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

impl Primitive for Rounds16 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

impl Primitive for Rounds20 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}
