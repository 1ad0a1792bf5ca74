//! AES-OCB3 (RFC 7253): keys of 128 and 256 bits.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, aes_ocb3::Way};
use crate::card::{Card, Code, Sizes, Timing};
use crate::modes::{AEAD, Aead};
use crate::visit::ways;

static OCB3: [Card; 1] = [Card {
    id: "aes-ocb3",
    family: "aes-ocb3",
    templates: &["aes{key}-ocb3"],
    listed: &["aes128-ocb3", "aes256-ocb3"],
    key_bits: Sizes::every(128, 128, 256),
    most_B: (1 << 30) - 1, // the crate has a table for less than 2^26 blocks
    source: "RFC 7253, 2014",
    codes: &[Code::of_crate("ocb3", "0.2.0", Timing::Constant, Algorithm::aes_ocb3(Way::Crate)).on(super::aes::path)],
    vectors: include_str!("../../vectors/aes-ocb3.txt"),
    ..AEAD
}];

pub(crate) const CARDS: &[&[Card]] = &[&OCB3];

ways! { Crate => visit_by_two_keys::<Aead<::ocb3::Ocb3<::aes::Aes128>>, Aead<::ocb3::Ocb3<::aes::Aes256>>> }
