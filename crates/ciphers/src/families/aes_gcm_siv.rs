//! AES-GCM-SIV (RFC 8452): keys of 128 and 256 bits.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, aes_gcm_siv::Way};
use crate::card::{Card, Code, Sizes, Timing};
use crate::modes::{AEAD, Aead};
use crate::visit::ways;

static GCM_SIV: [Card; 1] = [Card {
    id: "aes-gcm-siv",
    family: "aes-gcm-siv",
    templates: &["aes{key}-gcm-siv"],
    listed: &["aes128-gcm-siv", "aes256-gcm-siv"],
    key_bits: Sizes::every(128, 128, 256),
    most_B: 1 << 36, // RFC 8452, 6
    source: "RFC 8452, 2019",
    codes: &[Code::of_crate("aes-gcm-siv", "0.12.1", Timing::Constant, Algorithm::aes_gcm_siv(Way::Crate))
        .on(super::aes::path)],
    vectors: include_str!("../../vectors/aes-gcm-siv.txt"),
    ..AEAD
}];

pub(crate) const CARDS: &[&[Card]] = &[&GCM_SIV];

ways! { Crate => visit_by_two_keys::<Aead<::aes_gcm_siv::Aes128GcmSiv>, Aead<::aes_gcm_siv::Aes256GcmSiv>> }
