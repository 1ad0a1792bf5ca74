//! A case: what is measured, as planned and as resolved.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::code_path::CodePath;

/// What a case is measured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The study's own case.
    Study,
    /// The case beside which all others stand.
    Reference,
    /// The reference once more: the same function on the same buffer.
    AaTest,
    /// The reference with 61 calls for each 60 claimed.
    InjectedSlowdown,
    /// Nothing behind the same entry: the cost of the loop itself.
    Empty,
}

/// What is done in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A whole message from plaintext to ciphertext.
    Encrypt,
    /// A whole message from ciphertext to plaintext.
    Decrypt,
    /// The key schedule alone.
    KeySetup,
    /// A whole message from plaintext to ciphertext and tag.
    Seal,
    /// A whole message from ciphertext and tag to plaintext.
    Open,
    /// A message whose tag is wrong, up to its refusal.
    OpenForged,
    /// A new pair of keys.
    Generate,
    /// A shared secret from one's own key and the other's public one.
    Agree,
    /// A signature of 32 bytes.
    Sign,
    /// A signature of 32 bytes verified.
    Verify,
    /// A shared secret drawn and sealed to a public key.
    Encapsulate,
    /// A sealed secret opened.
    Decapsulate,
    /// A frame of IEEE 802.11 protected: header read, number put in, body encrypted and authenticated.
    Protect,
    /// A protected frame verified and decrypted.
    Unprotect,
}

impl fmt::Display for Operation {
    /// As records name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Operation {
    /// Whether it starts from a ciphertext.
    #[must_use]
    pub fn is_backward(self) -> bool {
        matches!(self, Self::Decrypt | Self::Open | Self::OpenForged | Self::Unprotect)
    }
}

/// When the key schedule runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Keying {
    /// Before the batch.
    Ready,
    /// In every packet.
    Each,
}

/// What is made of the ciphertext; the encoder's time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Bytes as they are.
    Raw,
    /// RFC 4648, section 4, with padding.
    Base64,
    /// RFC 4648, section 8, lower case.
    Hex,
}

/// Where packets lie before they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Placement {
    /// One packet over and over.
    #[serde(rename = "hot")]
    Hot,
    /// A ring of packets of 512 KiB together.
    #[serde(rename = "L2")]
    L2,
    /// Packets of 128 MiB together, in random order.
    #[serde(rename = "DRAM")]
    Dram,
}

/// Whether a packet depends on the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Every packet has the same IV: packets may overlap in the processor (throughput).
    Independent,
    /// A packet's IV is the last block of the packet before; in ECB that block begins the packet (latency).
    Chained,
}

/// What the core did before a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Readiness {
    /// The same calls, back to back: what code and core were warmed up for.
    #[default]
    Steady,
    /// Other work for 2 ms, narrow and bound to the core: each batch is the first call after it.
    AfterPause,
}

/// One case as planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedCase {
    /// Number of the case in the run.
    pub case: u32,
    /// What it is measured for.
    pub role: Role,
    /// The cipher's id.
    pub cipher: String,
    /// Whose code.
    pub provider: String,
    /// What is done.
    pub operation: Operation,
    /// When the key schedule runs.
    pub keying: Keying,
    /// What is made of the ciphertext.
    pub encoding: Encoding,
    /// Where packets lie.
    pub placement: Placement,
    /// Whether packets depend on one another.
    pub pattern: Pattern,
    /// Plaintext of one call, bytes; 0 for a key setup.
    pub payload_B: u64,
    /// Associated data of one call of an AEAD, bytes.
    #[serde(default)]
    pub aad_B: u64,
    /// `random`, `none`, or the label of a data line.
    pub data: String,
    /// What the core did before a call.
    #[serde(default)]
    pub readiness: Readiness,
    /// Rounds in which it is visited; only in plans.
    #[serde(default, skip_serializing)]
    pub visits: u32,
    /// Bytes of a segment as an earlier process of the run cut this case's calls, 0 where it did not; null in the first
    /// process, which finds it. Only in plans.
    #[serde(default, skip_serializing)]
    pub cut_B: Option<u64>,
    /// Number of the case that its batches are taken in turn with, which names this one in return. Only in plans.
    #[serde(default, skip_serializing)]
    pub pair: Option<u32>,
}

/// One case as measured.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Case {
    /// As planned.
    #[serde(flatten)]
    pub planned: PlannedCase,
    /// Family of the cipher.
    pub family: String,
    /// Mode of operation.
    pub mode: String,
    /// Path that the code takes on this processor; null where it is not known.
    pub path: Option<CodePath>,
    /// Which part of the provider the code is of, as OpenSSL's `legacy`; null where it has none.
    pub of: Option<String>,
    /// Version of the implementation.
    pub version: String,
    /// Bits of the key given.
    pub key_bits: u32,
    /// Bits of a block; 8 for a stream cipher.
    pub block_bits: u32,
    /// Rounds, where they are a parameter.
    pub rounds: Option<u32>,
    /// Bits of the tag; null without one.
    pub tag_bits: Option<u32>,
    /// Calls in one batch.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub calls: u32,
    /// Segments of one visit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub segments: u32,
    /// Bytes of a segment; null where a call is not cut.
    pub segment_B: Option<u64>,
    /// Kind of the core (`big`, `middle`, `little`), where the machine has several; null where they are alike.
    pub core_class: Option<String>,
}
