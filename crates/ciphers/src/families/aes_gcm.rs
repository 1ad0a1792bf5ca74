//! AES-GCM (NIST SP 800-38D): keys of 128, 192 and 256 bits.
#![forbid(unsafe_code)]

use crate::Spec;
use crate::algorithm::{Algorithm, aes_gcm::Way};
use crate::card::{Card, Code, Sizes, Timing};
use crate::modes::{AEAD, Aead};
use crate::visit::Visitor;

static GCM: [Card; 1] = [Card {
    id: "aes-gcm",
    family: "aes-gcm",
    templates: &["aes{key}-gcm"],
    listed: &["aes128-gcm", "aes192-gcm", "aes256-gcm"],
    key_bits: Sizes::every(64, 128, 256),
    most_B: (1 << 36) - 32, // NIST SP 800-38D, 5.2.1.1
    source: "NIST SP 800-38D, 2007",
    codes: &[Code::of_crate("aes-gcm", "0.11.1", Timing::Constant, Algorithm::aes_gcm(Way::Crate)).on(super::aes::path)],
    vectors: include_str!("../../vectors/aes-gcm.txt"),
    ..AEAD
}];

pub(crate) const CARDS: &[&[Card]] = &[&GCM];

impl Way {
    #[inline]
    pub(crate) fn visit<V: Visitor>(self, spec: &Spec, visitor: V) -> V::Output {
        match spec.key_bits {
            128 => spec.visit_built_in::<Aead<::aes_gcm::Aes128Gcm>, V>(visitor),
            192 => spec.visit_built_in::<Aead<::aes_gcm::AesGcm<::aes::Aes192, ::cipher::consts::U12>>, V>(visitor),
            _ => spec.visit_built_in::<Aead<::aes_gcm::Aes256Gcm>, V>(visitor),
        }
    }
}
