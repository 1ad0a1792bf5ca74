//! AES (FIPS 197): blocks of 128 bits, keys of 128, 192 and 256.

use crate::card::{Algorithm, Card, Code, Mode, RUSTCRYPTO, Sizes, Timing};
use crate::modes::Primitive;
use crate::spec::Spec;
use ::aes::{Aes128, Aes192, Aes256};
use ::cipher::KeyInit;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "aes",
    version: "0.9.4",
    timing: Timing::Constant, // the AES instructions, or else bit-sliced without a table
    algorithm: Algorithm::Aes,
};

const AES: Card = Card {
    id: "aes",
    family: "aes",
    mode: Mode::Ecb,
    templates: &[],
    listed: &[],
    key_bits: Sizes::every(64, 128, 256),
    effective_bits: None,
    rounds: None,
    full_rounds: None,
    block_bits: 128,
    iv_bits: 128,
    tag_bits: 0,
    proof: "published vectors of each key length (NIST SP 800-38A, FIPS 197); the mode compared block by block with its definition",
    source: "NIST FIPS 197, 2001",
    codes: &[CODE],
    definition: None,
    vectors: include_str!("../../../python/wattlock/data/vectors/aes.txt"),
};

pub(crate) static CBC: Card = Card {
    id: "aes-cbc",
    mode: Mode::Cbc,
    templates: &["aes{key}-cbc"],
    listed: &["aes128-cbc", "aes192-cbc", "aes256-cbc"],
    ..AES
};

pub(crate) static CTR: Card = Card {
    id: "aes-ctr",
    mode: Mode::Ctr,
    templates: &["aes{key}-ctr"],
    listed: &["aes128-ctr", "aes192-ctr", "aes256-ctr"],
    ..AES
};

pub(crate) static ECB: Card = Card {
    id: "aes-ecb",
    mode: Mode::Ecb,
    templates: &["aes{key}-ecb"],
    listed: &["aes128-ecb", "aes192-ecb", "aes256-ecb"],
    iv_bits: 0,
    ..AES
};

impl Primitive for Aes128 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

impl Primitive for Aes192 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

impl Primitive for Aes256 {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        Self::new_from_slice(key).ok()
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
cpufeatures::new!(vaes512, "avx512f", "vaes");
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
cpufeatures::new!(vaes256, "vaes");

/// The way that the `aes` crate takes here: the order of its own choice.
pub(crate) fn backend() -> &'static str {
    if !::aes::hardware_accelerated() {
        return "soft";
    }
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if vaes512::get() {
        return "vaes512";
    } else if vaes256::get() {
        return "vaes256";
    }
    if cfg!(target_arch = "aarch64") { "armv8-aes" } else { "aesni" }
}
