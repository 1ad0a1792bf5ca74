//! Authenticated encryption with associated data (RFC 5116): the ciphertext, then the tag.
#![forbid(unsafe_code)]

use ::aead::{AeadInOut, KeyInit};

use crate::card::{Algorithm, BLANK, Card, Code, Mode, RUSTCRYPTO, Sizes, Timing};
use crate::cipher::{BuiltIn, Cipher};
use crate::modes::{beside, check_key, has_room, wrong_key};
use crate::{Error, Spec};

/// One implementation for each card; their time depends on lengths alone.
const fn code(algorithm: Algorithm, crate_name: &'static str, version: &'static str) -> Code {
    Code { provider: RUSTCRYPTO, crate_name, version, timing: Timing::Constant, algorithm }
}

const AEAD: Card = Card { mode: Mode::Aead, block_bits: 128, iv_bits: 96, tag_bits: 128, ..BLANK };

#[cfg(feature = "aes-gcm")]
pub(crate) static GCM: [Card; 1] = [Card {
    id: "aes-gcm",
    family: "aes-gcm",
    templates: &["aes{key}-gcm"],
    listed: &["aes128-gcm", "aes192-gcm", "aes256-gcm"],
    key_bits: Sizes::every(64, 128, 256),
    source: "NIST SP 800-38D, 2007",
    codes: &[code(Algorithm::AesGcm, "aes-gcm", "0.11.1")],
    vectors: include_str!("../../../python/wattlock/data/vectors/aes-gcm.txt"),
    ..AEAD
}];

#[cfg(feature = "aes-ccm")]
pub(crate) static CCM: [Card; 1] = [Card {
    id: "aes-ccm",
    family: "aes-ccm",
    templates: &["aes{key}-ccm"],
    listed: &["aes128-ccm", "aes256-ccm"],
    key_bits: Sizes::every(128, 128, 256),
    iv_bits: 104,
    source: "NIST SP 800-38C, 2004; nonces of 13 bytes, as in IEEE 802.11 CCMP",
    codes: &[code(Algorithm::AesCcm, "ccm", "0.6.1")],
    vectors: include_str!("../../../python/wattlock/data/vectors/aes-ccm.txt"),
    ..AEAD
}];

#[cfg(feature = "aes-ccm")]
pub(crate) static CCM8: [Card; 1] = [Card {
    id: "aes-ccm8",
    family: "aes-ccm8",
    templates: &["aes{key}-ccm8"],
    listed: &["aes128-ccm8", "aes256-ccm8"],
    key_bits: Sizes::every(128, 128, 256),
    iv_bits: 104,
    tag_bits: 64,
    source: "NIST SP 800-38C, 2004, with a tag of 64 bits; nonces of 13 bytes, as in IEEE 802.11 CCMP (RFC 6655's have 12)",
    codes: &[code(Algorithm::AesCcm8, "ccm", "0.6.1")],
    vectors: include_str!("../../../python/wattlock/data/vectors/aes-ccm.txt"),
    ..AEAD
}];

#[cfg(feature = "aes-gcm-siv")]
pub(crate) static GCM_SIV: [Card; 1] = [Card {
    id: "aes-gcm-siv",
    family: "aes-gcm-siv",
    templates: &["aes{key}-gcm-siv"],
    listed: &["aes128-gcm-siv", "aes256-gcm-siv"],
    key_bits: Sizes::every(128, 128, 256),
    source: "RFC 8452, 2019",
    codes: &[code(Algorithm::AesGcmSiv, "aes-gcm-siv", "0.12.1")],
    vectors: include_str!("../../../python/wattlock/data/vectors/aes-gcm-siv.txt"),
    ..AEAD
}];

#[cfg(feature = "aes-ocb3")]
pub(crate) static OCB3: [Card; 1] = [Card {
    id: "aes-ocb3",
    family: "aes-ocb3",
    templates: &["aes{key}-ocb3"],
    listed: &["aes128-ocb3", "aes256-ocb3"],
    key_bits: Sizes::every(128, 128, 256),
    source: "RFC 7253, 2014",
    codes: &[code(Algorithm::AesOcb3, "ocb3", "0.2.0")],
    vectors: include_str!("../../../python/wattlock/data/vectors/aes-ocb3.txt"),
    ..AEAD
}];

#[cfg(feature = "aes-eax")]
pub(crate) static EAX: [Card; 1] = [Card {
    id: "aes-eax",
    family: "aes-eax",
    templates: &["aes{key}-eax"],
    listed: &["aes128-eax", "aes256-eax"],
    key_bits: Sizes::every(128, 128, 256),
    iv_bits: 128,
    source: "Bellare, Rogaway, Wagner, The EAX Mode of Operation, 2004; nonces of 16 bytes",
    codes: &[code(Algorithm::AesEax, "eax", "0.6.1")],
    vectors: include_str!("../../../python/wattlock/data/vectors/aes-eax.txt"),
    ..AEAD
}];

#[cfg(feature = "chacha20-poly1305")]
pub(crate) static CHACHA: [Card; 1] = [Card {
    id: "chacha20-poly1305",
    family: "chacha20-poly1305",
    templates: &["chacha20-poly1305"],
    listed: &["chacha20-poly1305"],
    key_bits: Sizes::only(256),
    block_bits: 8,
    source: "RFC 8439, 2018",
    codes: &[code(Algorithm::ChaCha20Poly1305, "chacha20poly1305", "0.11.0")],
    vectors: include_str!("../../../python/wattlock/data/vectors/chacha20-poly1305.txt"),
    ..AEAD
}];

#[cfg(feature = "chacha20-poly1305")]
pub(crate) static XCHACHA: [Card; 1] = [Card {
    id: "xchacha20-poly1305",
    family: "xchacha20-poly1305",
    templates: &["xchacha20-poly1305"],
    listed: &["xchacha20-poly1305"],
    key_bits: Sizes::only(256),
    block_bits: 8,
    iv_bits: 192,
    source: "draft-irtf-cfrg-xchacha-03, 2020",
    codes: &[code(Algorithm::XChaCha20Poly1305, "chacha20poly1305", "0.11.0")],
    vectors: include_str!("../../../python/wattlock/data/vectors/xchacha20-poly1305.txt"),
    ..AEAD
}];

#[cfg(feature = "ascon")]
pub(crate) static ASCON: [Card; 1] = [Card {
    id: "ascon-aead128",
    family: "ascon-aead128",
    templates: &["ascon-aead128"],
    listed: &["ascon-aead128"],
    key_bits: Sizes::only(128),
    iv_bits: 128,
    source: "NIST SP 800-232, 2025",
    codes: &[code(Algorithm::AsconAead128, "ascon-aead", "0.6.0")],
    vectors: include_str!("../../../python/wattlock/data/vectors/ascon-aead128.txt"),
    ..AEAD
}];

#[cfg(feature = "aes-ccm")]
pub(crate) type Ccm<C> = ::ccm::Ccm<C, ::cipher::consts::U16, ::cipher::consts::U13>;
#[cfg(feature = "aes-ccm")]
pub(crate) type Ccm8<C> = ::ccm::Ccm<C, ::cipher::consts::U8, ::cipher::consts::U13>;
#[cfg(feature = "aes-gcm")]
pub(crate) type Aes192Gcm = ::aes_gcm::AesGcm<::aes::Aes192, ::cipher::consts::U12>;

/// The most bytes under one nonce.
///
/// # Source
/// NIST SP 800-38C, A.1 (two bytes count the message where the nonce has 13); SP 800-38D, 5.2.1.1; RFC 8439, 2.8;
/// RFC 8452, 6. OCB3 and EAX are cut by their crates: ocb3 has a table for less than 2^26 blocks, eax stops at 2^36 bytes.
/// Ascon counts nothing.
fn most_B(spec: &Spec) -> u64 {
    match spec.card.family {
        "aes-ccm" | "aes-ccm8" => 0xffff,
        "aes-gcm" => (1 << 36) - 32,
        "aes-gcm-siv" | "aes-eax" => 1 << 36,
        "aes-ocb3" => (1 << 30) - 1,
        "chacha20-poly1305" | "xchacha20-poly1305" => (1 << 38) - 64,
        _ => u64::MAX,
    }
}

/// One of the crates' AEADs with its key.
pub(crate) struct Aead<A> {
    cipher: A,
    tag_B: usize,
    most_B: u64,
}

impl<A: AeadInOut + KeyInit + 'static> BuiltIn for Aead<A> {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        check_key(spec, key)?;
        let cipher = A::new_from_slice(key).map_err(|_| wrong_key(spec, key))?;
        Ok(Self { cipher, tag_B: spec.tag_B(), most_B: most_B(spec) })
    }
}

impl<A> Aead<A> {
    #[inline]
    fn too_long(&self, given_B: usize) -> Error {
        Error::TooLong { given_B: given_B as u64, most_B: self.most_B }
    }
}

#[inline]
fn nonce_of<A: AeadInOut>(nonce: &[u8]) -> Result<&::aead::Nonce<A>, Error> {
    let right_B = size_of::<::aead::Nonce<A>>();
    nonce.try_into().map_err(|_| Error::WrongIvLength { given_B: nonce.len(), right_B })
}

impl<A: AeadInOut + KeyInit + 'static> Cipher for Aead<A> {
    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let nonce = nonce_of::<A>(nonce)?;
        if input.len() as u64 > self.most_B {
            return Err(self.too_long(input.len()));
        }
        let whole_B = input.len() + self.tag_B;
        let (text, room) = has_room(output, whole_B)?.split_at_mut(input.len());
        let sealed = self.cipher.encrypt_inout_detached(nonce, aad, beside(input, text)?);
        let tag = sealed.map_err(|_| self.too_long(input.len()))?;
        room.copy_from_slice(&tag);
        Ok(whole_B)
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let nonce = nonce_of::<A>(nonce)?;
        let text_B = input.len().checked_sub(self.tag_B).ok_or(Error::Forged)?;
        if text_B as u64 > self.most_B {
            return Err(self.too_long(text_B));
        }
        let (text, tag) = input.split_at(text_B);
        let tag = tag.try_into().map_err(|_| Error::Forged)?;
        let opened = self.cipher.decrypt_inout_detached(nonce, aad, beside(text, output)?, tag);
        if opened.is_err() {
            // Whatever of the plaintext is there already is nobody's to read.
            has_room(output, text_B)?.fill(0);
            return Err(Error::Forged);
        }
        Ok(text_B)
    }
}
