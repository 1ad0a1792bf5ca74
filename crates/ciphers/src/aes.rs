//! AES (FIPS 197): blocks of 128 bits, keys of 128, 192 and 256.
#![forbid(unsafe_code)]

use crate::card::{Algorithm, BLANK, Card, Code, RUSTCRYPTO, Sizes, Timing, five_modes};
use crate::modes::primitive;

pub(crate) const HARDWARE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "aes",
    version: "0.9.4",
    timing: Timing::Constant, // the AES instructions, or else bit-sliced without a table
    algorithm: Algorithm::Aes,
};

/// A build without `--cfg aes_force_soft` would take the AES instructions here too: it has no such code.
#[cfg(feature = "aes-soft")]
pub(crate) const CODES: &[Code] = if cfg!(aes_force_soft) { &[HARDWARE, crate::aes_soft::CODE] } else { &[HARDWARE] };
#[cfg(not(feature = "aes-soft"))]
pub(crate) const CODES: &[Code] = &[HARDWARE];

const FAMILY: Card = Card {
    family: "aes",
    key_bits: Sizes::every(64, 128, 256),
    source: "NIST FIPS 197, 2001",
    codes: CODES,
    vectors: include_str!("../../../python/wattlock/data/vectors/aes.txt"),
    ..BLANK
};

pub(crate) static CARDS: [Card; 5] = five_modes!(FAMILY, "aes", ["aes{key}"], ["aes128", "aes192", "aes256"]);

primitive!(::aes::Aes128, ::aes::Aes192, ::aes::Aes256);

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
