//! DES (FIPS 46-3), and DES three times with three keys or two (NIST SP 800-67): blocks of 64 bits.

use crate::card::{Algorithm, Card, Code, Mode, RUSTCRYPTO, Sizes, Timing};
use crate::modes::Primitive;
use crate::spec::Spec;
use ::cipher::KeyInit;
use ::des::{Des, TdesEde2, TdesEde3};

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "des",
    version: "0.9.0",
    timing: Timing::TableLookups, // the S-boxes
    algorithm: Algorithm::Des,
};

const DES: Card = Card {
    id: "des",
    family: "des",
    mode: Mode::Ecb,
    templates: &[],
    listed: &[],
    key_bits: Sizes::only(64),
    effective_bits: None,
    rounds: None,
    full_rounds: None,
    block_bits: 64,
    iv_bits: 64,
    tag_bits: 0,
    proof: "",
    source: "NIST FIPS 46-3, 1999",
    codes: &[CODE],
    definition: None,
    vectors: include_str!("../../../python/wattlock/data/vectors/des.txt"),
};

const TRIPLE: Card = Card {
    family: "3des",
    key_bits: Sizes::only(192),
    source: "NIST SP 800-67 Rev. 2, 2017, keying option 1",
    codes: &[Code { algorithm: Algorithm::TripleDes, ..CODE }],
    ..DES
};

const TWO_KEY: Card = Card {
    family: "3des2",
    key_bits: Sizes::only(128),
    source: "NIST SP 800-67 Rev. 1, 2012, keying option 2",
    codes: &[Code { algorithm: Algorithm::TripleDesTwoKey, ..CODE }],
    ..DES
};

pub(crate) static CBC: Card = Card {
    id: "des-cbc",
    mode: Mode::Cbc,
    proof: "a published vector (NIST FIPS 81); the mode compared block by block with its definition",
    templates: &["des-cbc"],
    listed: &["des-cbc"],
    ..DES
};

pub(crate) static CTR: Card = Card {
    id: "des-ctr",
    mode: Mode::Ctr,
    proof: "vectors computed with pycryptodome and libtomcrypt; the mode compared block by block with its definition",
    templates: &["des-ctr"],
    listed: &["des-ctr"],
    ..DES
};

pub(crate) static ECB: Card = Card {
    id: "des-ecb",
    mode: Mode::Ecb,
    proof: "published vectors (NIST SP 800-17, FIPS 81); the mode compared block by block with its definition",
    templates: &["des-ecb"],
    listed: &["des-ecb"],
    iv_bits: 0,
    ..DES
};

pub(crate) static TRIPLE_CBC: Card = Card {
    id: "3des-cbc",
    mode: Mode::Cbc,
    proof: "a published vector (NIST example values); the mode compared block by block with its definition",
    templates: &["3des-cbc"],
    listed: &["3des-cbc"],
    ..TRIPLE
};

pub(crate) static TRIPLE_CTR: Card = Card {
    id: "3des-ctr",
    mode: Mode::Ctr,
    proof: "vectors computed with pycryptodome and libtomcrypt; the mode compared block by block with its definition",
    templates: &["3des-ctr"],
    listed: &["3des-ctr"],
    ..TRIPLE
};

pub(crate) static TRIPLE_ECB: Card = Card {
    id: "3des-ecb",
    mode: Mode::Ecb,
    proof: "published vectors (NIST SP 800-67, example values); the mode compared block by block with its definition",
    templates: &["3des-ecb"],
    listed: &["3des-ecb"],
    iv_bits: 0,
    ..TRIPLE
};

pub(crate) static TWO_KEY_CBC: Card = Card {
    id: "3des2-cbc",
    mode: Mode::Cbc,
    proof: "a published vector (NIST example values); the mode compared block by block with its definition",
    templates: &["3des2-cbc"],
    listed: &["3des2-cbc"],
    ..TWO_KEY
};

pub(crate) static TWO_KEY_CTR: Card = Card {
    id: "3des2-ctr",
    mode: Mode::Ctr,
    proof: "vectors computed with pycryptodome and libtomcrypt; the mode compared block by block with its definition",
    templates: &["3des2-ctr"],
    listed: &["3des2-ctr"],
    ..TWO_KEY
};

pub(crate) static TWO_KEY_ECB: Card = Card {
    id: "3des2-ecb",
    mode: Mode::Ecb,
    proof: "a published vector (NIST example values); the mode compared block by block with its definition",
    templates: &["3des2-ecb"],
    listed: &["3des2-ecb"],
    iv_bits: 0,
    ..TWO_KEY
};

impl Primitive for Des {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

impl Primitive for TdesEde3 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

impl Primitive for TdesEde2 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}
