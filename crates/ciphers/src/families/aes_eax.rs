//! AES-EAX (Bellare, Rogaway, Wagner 2004): keys of 128 and 256 bits.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, aes_eax::Way};
use crate::card::{Card, Code, Sizes, Timing};
use crate::modes::{AEAD, Aead};
use crate::visit::ways;

static EAX: [Card; 1] = [Card {
    id: "aes-eax",
    family: "aes-eax",
    templates: &["aes{key}-eax"],
    listed: &["aes128-eax", "aes256-eax"],
    key_bits: Sizes::every(128, 128, 256),
    iv_bits: 128,
    most_B: 1 << 36, // where the crate stops
    source: "Bellare, Rogaway, Wagner, The EAX Mode of Operation, 2004; nonces of 16 bytes",
    codes: &[Code::of_crate("eax", "0.6.1", Timing::Constant, Algorithm::aes_eax(Way::Crate)).on(super::aes::path)],
    vectors: include_str!("../../vectors/aes-eax.txt"),
    ..AEAD
}];

pub(crate) const CARDS: &[&[Card]] = &[&EAX];

ways! { Crate => visit_by_two_keys::<Aead<::eax::Eax<::aes::Aes128>>, Aead<::eax::Eax<::aes::Aes256>>> }
