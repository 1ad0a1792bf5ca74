//! AES-CCM (NIST SP 800-38C) with tags of 16 and of 8 bytes: keys of 128 and 256 bits.
#![forbid(unsafe_code)]

use ::aes::{Aes128, Aes256};
use ::cipher::consts::{U8, U13, U16};

use crate::algorithm::{Algorithm, aes_ccm::Way};
use crate::card::{Card, Code, Sizes, Timing};
use crate::modes::{AEAD, Aead};
use crate::visit::ways;

static CCM: [Card; 1] = [Card {
    id: "aes-ccm",
    family: "aes-ccm",
    templates: &["aes{key}-ccm"],
    listed: &["aes128-ccm", "aes256-ccm"],
    key_bits: Sizes::every(128, 128, 256),
    iv_bits: 104,
    most_B: 0xffff, // two bytes count the message where the nonce has 13 (NIST SP 800-38C, A.1)
    source: "NIST SP 800-38C, 2004; nonces of 13 bytes, as in IEEE 802.11 CCMP",
    codes: &[Code::of_crate("ccm", "0.6.1", Timing::Constant, Algorithm::aes_ccm(Way::Tag16)).on(super::aes::path)],
    vectors: include_str!("../../vectors/aes-ccm.txt"),
    ..AEAD
}];

static CCM8: [Card; 1] = [Card {
    id: "aes-ccm8",
    family: "aes-ccm8",
    templates: &["aes{key}-ccm8"],
    listed: &["aes128-ccm8", "aes256-ccm8"],
    key_bits: Sizes::every(128, 128, 256),
    iv_bits: 104,
    tag_bits: 64,
    most_B: 0xffff,
    source: "NIST SP 800-38C, 2004, with a tag of 64 bits; nonces of 13 bytes, as in IEEE 802.11 CCMP (RFC 6655's have 12)",
    codes: &[Code::of_crate("ccm", "0.6.1", Timing::Constant, Algorithm::aes_ccm(Way::Tag8)).on(super::aes::path)],
    vectors: include_str!("../../vectors/aes-ccm.txt"),
    ..AEAD
}];

pub(crate) const CARDS: &[&[Card]] = &[&CCM, &CCM8];

/// Nonces of 13 bytes.
type Ccm<C, Tag> = ::ccm::Ccm<C, Tag, U13>;

ways! {
    Tag16 => visit_by_two_keys::<Aead<Ccm<Aes128, U16>>, Aead<Ccm<Aes256, U16>>>,
    Tag8 => visit_by_two_keys::<Aead<Ccm<Aes128, U8>>, Aead<Ccm<Aes256, U8>>>,
}
