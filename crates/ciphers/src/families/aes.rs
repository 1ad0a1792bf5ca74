//! AES (FIPS 197): blocks of 128 bits, keys of 128, 192 and 256.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, aes::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::kernels::rijndael::TableRijndael;
use crate::modes::primitive;
use crate::modes::sliced::Sliced;
use crate::visit::ways;

#[cfg(feature = "aes-soft")]
mod soft;

/// The AES instructions, or else bit-sliced without a table.
const HARDWARE: Code = Code::of_crate("aes", "0.9.4", Timing::Constant, Algorithm::aes(Way::Hardware)).on(path);

/// As libraries had it when no processor had instructions for it.
const TABLES: Code = Code::by_tables(Algorithm::aes(Way::Tables));

/// A build without `--cfg aes_force_soft` would take the AES instructions here too: it has no such code.
#[cfg(feature = "aes-soft")]
const CODES: &[Code] = if cfg!(aes_force_soft) { &[HARDWARE, soft::CODE, TABLES] } else { &[HARDWARE, TABLES] };
#[cfg(not(feature = "aes-soft"))]
const CODES: &[Code] = &[HARDWARE, TABLES];

const FAMILY: Card = Card {
    family: "aes",
    key_bits: Sizes::every(64, 128, 256),
    source: "NIST FIPS 197, 2001",
    codes: CODES,
    vectors: include_str!("../../vectors/aes.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(FAMILY, "aes", ["aes{key}"], ["aes128", "aes192", "aes256"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! {
    Hardware => visit_by_key::<::aes::Aes128, ::aes::Aes192, ::aes::Aes256>,
    #[cfg(feature = "aes-soft")]
    Soft => visit_by_key::<soft::Soft128, soft::Soft192, soft::Soft256>,
    Tables => visit_built_in::<Sliced<TableRijndael<16, 4>, 16>>,
}

primitive!(::aes::Aes128, ::aes::Aes192, ::aes::Aes256);

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
cpufeatures::new!(vaes512, "avx512f", "vaes");
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
cpufeatures::new!(vaes256, "vaes");

/// The way that the `aes` crate takes here: the order of its own choice.
pub(crate) fn path() -> &'static str {
    if !::aes::hardware_accelerated() {
        return "fixsliced";
    }
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if vaes512::get() {
        return "vaes512";
    } else if vaes256::get() {
        return "vaes256";
    }
    if cfg!(target_arch = "aarch64") { "armv8" } else { "aesni" }
}
