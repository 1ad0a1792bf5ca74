//! Ascon-AEAD128 (NIST SP 800-232).
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, ascon::Way};
use crate::card::{Card, Code, Sizes, Timing};
use crate::modes::{AEAD, Aead};
use crate::visit::ways;

static ASCON: [Card; 1] = [Card {
    id: "ascon-aead128",
    family: "ascon-aead128",
    templates: &["ascon-aead128"],
    listed: &["ascon-aead128"],
    key_bits: Sizes::only(128),
    iv_bits: 128,
    source: "NIST SP 800-232, 2025",
    codes: &[Code::of_crate("ascon-aead", "0.6.0", Timing::Constant, Algorithm::ascon(Way::Crate))],
    vectors: include_str!("../../vectors/ascon-aead128.txt"),
    ..AEAD
}];

pub(crate) const CARDS: &[&[Card]] = &[&ASCON];

ways! { Crate => visit_built_in::<Aead<::ascon_aead::AsconAead128>> }
