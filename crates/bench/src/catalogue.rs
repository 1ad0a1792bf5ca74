//! The catalogue as rows: what each provider has of what can be measured, and what it lacks, with the reason.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};

use serde::Serialize;
use wattlock_ciphers::nearest_of;
use wattlock_records::{CodePath, Operation};

use crate::subject::{Description, Sources, Subject};
use crate::subjects::REGISTRY;

/// One cipher of one provider.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its id: `aes128-cbc`.
    pub id: String,
    card: &'static str,
    family: &'static str,
    mode: String,
    /// Whose code.
    pub provider: String,
    /// Whether it can be measured.
    pub available: bool,
    /// Why it is not available.
    reason: Option<String>,
    /// A library of the user's own lists it, and it can't be used.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub broken: bool,
    version: Option<String>,
    path: Option<CodePath>,
    of: Option<String>,
    /// File of the library and its hash.
    file: Option<String>,
    file_sha256: Option<String>,
    key_bits: u16,
    effective_bits: u16,
    block_bits: u16,
    rounds: Option<u8>,
    iv_B: usize,
    tag_bits: u16,
    timing: Option<String>,
    proof: String,
    source: &'static str,
    /// Of key establishment: what can be done, and bytes on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<&'static [Operation]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key_B: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_B: Option<u16>,
}

/// A program that asks for many ids wants to hear of all of them.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum JsonRow {
    /// One that is known.
    Known(Box<Row>),
    /// An id that nobody knows.
    Unknown {
        /// The id.
        id: String,
        /// Why there is none.
        error: String,
        /// The listed id that looks most like it.
        nearest: Option<String>,
    },
}

impl JsonRow {
    /// An id that nobody knows, and why.
    #[must_use]
    pub fn stranger((id, error): (String, String)) -> Self {
        let nearest = nearest_of(&id, REGISTRY.ids()).map(str::to_owned);
        Self::Unknown { id, error, nearest }
    }
}

impl Row {
    /// A subject by one of its providers.
    #[must_use]
    pub fn of(subject: &dyn Subject, provider: String, sources: &dyn Sources) -> Self {
        let proof = subject.proof(&provider, sources);
        let (variant, reason) = match subject.variant(&provider, sources) {
            Ok(variant) => (Some(variant), None),
            Err(reason) => (None, Some(reason)),
        };
        let about = variant.as_ref().and_then(|variant| variant.about());
        let Description { id, card, family, mode, key_bits, effective_bits, block_bits, rounds, iv_B, .. } =
            subject.description();
        let Description { tag_bits, source, operations, public_key_B, message_B, .. } = subject.description();
        Self {
            id,
            card,
            family,
            mode,
            provider,
            available: reason.is_none(),
            reason,
            broken: false,
            version: variant.as_ref().map(|variant| variant.version()),
            path: variant.as_ref().and_then(|variant| variant.path()),
            of: variant.as_ref().and_then(|variant| variant.of()),
            file: about.as_ref().and_then(|about| about.file.clone()),
            file_sha256: about.and_then(|about| about.file_sha256),
            key_bits,
            effective_bits,
            block_bits,
            rounds,
            iv_B,
            tag_bits,
            timing: variant.and_then(|variant| variant.timing()).map(|timing| timing.to_string()),
            proof,
            source,
            operations,
            public_key_B,
            message_B,
        }
    }
}
