//! ChaCha20-Poly1305 (RFC 8439) and XChaCha20-Poly1305, whose nonce has 24 bytes.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, chacha20_poly1305::Way};
use crate::card::{Card, Code, Sizes, Timing};
use crate::modes::{AEAD, Aead};
use crate::visit::ways;

static CHACHA: [Card; 1] = [Card {
    id: "chacha20-poly1305",
    family: "chacha20-poly1305",
    templates: &["chacha20-poly1305"],
    listed: &["chacha20-poly1305"],
    key_bits: Sizes::only(256),
    block_bits: 8,
    most_B: (1 << 38) - 64, // RFC 8439, 2.8
    source: "RFC 8439, 2018",
    codes: &[Code::of_crate(
        "chacha20poly1305",
        "0.11.0",
        Timing::Constant,
        Algorithm::chacha20_poly1305(Way::ChaCha20),
    )
    .on(super::chacha20::path)],
    vectors: include_str!("../../vectors/chacha20-poly1305.txt"),
    ..AEAD
}];

static XCHACHA: [Card; 1] = [Card {
    id: "xchacha20-poly1305",
    family: "xchacha20-poly1305",
    templates: &["xchacha20-poly1305"],
    listed: &["xchacha20-poly1305"],
    key_bits: Sizes::only(256),
    block_bits: 8,
    iv_bits: 192,
    most_B: (1 << 38) - 64,
    source: "draft-irtf-cfrg-xchacha-03, 2020",
    codes: &[Code::of_crate(
        "chacha20poly1305",
        "0.11.0",
        Timing::Constant,
        Algorithm::chacha20_poly1305(Way::XChaCha20),
    )
    .on(super::chacha20::path)],
    vectors: include_str!("../../vectors/xchacha20-poly1305.txt"),
    ..AEAD
}];

pub(crate) const CARDS: &[&[Card]] = &[&CHACHA, &XCHACHA];

ways! {
    ChaCha20 => visit_built_in::<Aead<::chacha20poly1305::ChaCha20Poly1305>>,
    XChaCha20 => visit_built_in::<Aead<::chacha20poly1305::XChaCha20Poly1305>>,
}
