//! Blowfish: blocks of 64 bits, keys of 4 to 56 bytes.

use crate::card::{Algorithm, Card, Code, Mode, RUSTCRYPTO, Sizes, Timing};
use crate::modes::Primitive;
use crate::spec::Spec;
use ::cipher::KeyInit;

/// Blowfish as published, with big-endian words.
pub(crate) type Blowfish = ::blowfish::Blowfish;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "blowfish",
    version: "0.10.0",
    timing: Timing::TableLookups, // the S-boxes
    algorithm: Algorithm::Blowfish,
};

const BLOWFISH: Card = Card {
    id: "blowfish",
    family: "blowfish",
    mode: Mode::Ecb,
    templates: &[],
    listed: &[],
    key_bits: Sizes::every(8, 32, 448),
    effective_bits: None,
    rounds: None,
    full_rounds: None,
    block_bits: 64,
    iv_bits: 64,
    tag_bits: 0,
    proof: "",
    source: "Schneier, Description of a New Variable-Length Key, 64-Bit Block Cipher (Blowfish), 1994",
    codes: &[CODE],
    definition: None,
    vectors: include_str!("../../../python/wattlock/data/vectors/blowfish.txt"),
};

pub(crate) static CBC: Card = Card {
    id: "blowfish-cbc",
    mode: Mode::Cbc,
    proof: "a published vector of 128 bits (Eric Young), vectors computed with pycryptodome and libtomcrypt of the other listed sizes; the mode compared block by block with its definition; any other size by that comparison alone",
    templates: &["blowfish{key}-cbc"],
    listed: &["blowfish32-cbc", "blowfish64-cbc", "blowfish128-cbc", "blowfish256-cbc", "blowfish448-cbc"],
    ..BLOWFISH
};

pub(crate) static CTR: Card = Card {
    id: "blowfish-ctr",
    mode: Mode::Ctr,
    proof: "vectors computed with pycryptodome and libtomcrypt of the listed sizes; the mode compared block by block with its definition; any other size by that comparison alone",
    templates: &["blowfish{key}-ctr"],
    listed: &["blowfish32-ctr", "blowfish64-ctr", "blowfish128-ctr", "blowfish256-ctr", "blowfish448-ctr"],
    ..BLOWFISH
};

pub(crate) static ECB: Card = Card {
    id: "blowfish-ecb",
    mode: Mode::Ecb,
    proof: "published vectors of 32 to 192 bits (Eric Young) and 448 (PostgreSQL), computed with pycryptodome and libtomcrypt of 256; the mode compared block by block with its definition; any other size by that comparison alone",
    templates: &["blowfish{key}-ecb"],
    listed: &["blowfish32-ecb", "blowfish64-ecb", "blowfish128-ecb", "blowfish256-ecb", "blowfish448-ecb"],
    iv_bits: 0,
    ..BLOWFISH
};

impl Primitive for Blowfish {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}
