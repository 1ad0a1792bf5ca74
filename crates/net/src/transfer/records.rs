//! Transfers: what one side measured of one file, or why there is no file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wattlock_records::{CodePath, Encoding};

/// One line of `transfer`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TransferLine {
    /// One side of one file.
    Transfer(Box<TransferRecord>),
    /// No file, and why.
    Failure(TransferFailure),
}

/// Which side measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransferSide {
    /// It encrypted, encoded and sent.
    Send,
    /// It received, decoded and decrypted.
    Receive,
}

/// What carried the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// The connection of the control messages.
    Tcp,
    /// Datagrams; the control messages stay on TCP.
    Udp,
}

/// One side of one file. Records of both sides with one `session` and `file` are of the same transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransferRecord {
    /// Version of the records.
    pub schema: u32,
    /// Which side measured.
    pub side: TransferSide,
    /// Public name of the session, hexadecimal.
    pub session: String,
    /// Number of the file in the session, from 0.
    pub file: u32,
    /// SHA-256 of the plaintext; the file's name is in no record.
    pub plain_sha256: String,
    /// The cipher's id.
    pub cipher: String,
    /// Whose code.
    pub provider: String,
    /// Path that the code takes on this processor; null where it is not known.
    pub path: Option<CodePath>,
    /// Which part of the provider the code is of; null where it has none.
    pub of: Option<String>,
    /// Version of the implementation.
    pub version: String,
    /// What was made of the ciphertext.
    pub encoding: Encoding,
    /// What carried the data.
    pub transport: Transport,
    /// Bytes of the file.
    pub plain_B: u64,
    /// Bytes of the ciphertext, padding or tag included.
    pub sealed_B: u64,
    /// Bytes of it after encoding: what was to be carried.
    pub encoded_B: u64,
    /// Bytes of data that this side handed to the transport or took from it: `encoded_B`, and over UDP the headers of 12
    /// bytes and what was sent again. Headers of TCP, UDP, IP and the link are not included.
    pub wire_B: u64,
    /// Bytes of control messages of both directions from the offer to the receiver's word that all bytes are there.
    pub control_B: u64,
    /// Time of the cipher alone: one whole message under a key that is ready.
    pub cipher_ns: u64,
    /// Time of the encoder or decoder; 0 for raw.
    pub encode_ns: u64,
    /// CPU time of both, of the one thread that works; null where the system does not tell.
    pub process_cpu_ns: Option<u64>,
    /// The sender: from its start message to the receiver's word that all bytes are there. The receiver: from that start
    /// message to the last byte.
    pub transfer_ns: u64,
    /// CPU time of this side's thread in it, the system's share in its calls included; null where the system does not tell.
    pub transfer_cpu_ns: Option<u64>,
    /// `encoded_B` over `transfer_ns`, 10^6 bytes a second.
    pub throughput_MB_s: f64,
    /// UDP alone; null over TCP.
    pub datagrams: Option<Datagrams>,
    /// Energy; null without a meter.
    pub energy: Option<TransferEnergy>,
}

/// The datagrams of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Datagrams {
    /// Bytes of data in each but the last.
    pub data_B: u32,
    /// How many make the file.
    pub needed: u64,
    /// How many this side sent, or took from the socket.
    pub handled: u64,
    /// How many the receiver asked for once more; a datagram that was lost twice counts twice.
    pub lost: u64,
    /// How many came that were there already; the sender does not know and has null.
    pub duplicates: Option<u64>,
}

/// Energy of one side by one meter, gross; `idle` says what to take off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransferEnergy {
    /// The meter's name.
    pub meter: String,
    /// What it counts.
    pub scope: String,
    /// Relative standard uncertainty of its gain.
    pub gain_relative_uncertainty: f64,
    /// The machine while this program slept, before the session.
    pub idle: EnergyWindow,
    /// Around cipher and encoding.
    pub process: EnergyWindow,
    /// Around the transfer.
    pub transfer: EnergyWindow,
}

/// Energy between two edges of a meter's counter; both edges lie outside of the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnergyWindow {
    /// Energy between the edges; null where the meter failed or the work was too short for it, never 0 in its place.
    pub gross_nJ: Option<u64>,
    /// Time between the edges: longer than the work.
    pub window_ns: Option<u64>,
    /// Why there is no energy.
    pub error: Option<String>,
}

/// Why there is no file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransferFailure {
    /// Version of the records.
    pub schema: u32,
    /// Which side tells.
    pub side: TransferSide,
    /// Number of the file in the session, from 0; null before the first offer.
    pub file: Option<u32>,
    /// The reason's name.
    pub reason: Reason,
    /// Whether the other side refused.
    pub by_peer: bool,
    /// What was wrong, with the value.
    pub error: String,
}

/// Why a transfer is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The first control message does not carry the tag of this token.
    WrongToken,
    /// A later one does not carry the tag of its place.
    ForgedControl,
    /// The received bytes are not those that were sent, or don't decrypt to the file: which of them is not told.
    ChangedData,
    /// The name is not a plain one.
    BadName,
    /// The folder has that name already, as a file, a link, or a `.part`.
    Exists,
    /// More bytes than the receiver allows.
    TooLarge,
    /// More files than the receiver allows.
    TooMany,
    /// Bytes beyond those that were announced.
    MoreThanSaid,
    /// The announced sizes don't belong to that cipher and encoding.
    WrongSizes,
    /// Silence for longer than allowed.
    Stalled,
    /// The session took longer than allowed.
    TooSlow,
    /// The connection ended early.
    Cut,
    /// Datagrams did not arrive, however often they were sent.
    Lost,
    /// The receiver does not have the cipher.
    Cipher,
    /// The receiver serves another peer.
    Busy,
    /// The other side speaks another protocol or version.
    NotWattlock,
    /// The folder, the network or the system of that side failed.
    System,
}

impl Reason {
    /// In words, for the side that is told.
    pub fn words(self) -> &'static str {
        match self {
            Self::WrongToken => "wrong token",
            Self::ForgedControl => "a control message with a wrong tag",
            Self::ChangedData => "the data arrived changed",
            Self::BadName => "the name is not a plain one",
            Self::Exists => "a file of that name exists",
            Self::TooLarge => "too large",
            Self::TooMany => "too many files",
            Self::MoreThanSaid => "more bytes than were announced",
            Self::WrongSizes => "sizes that don't belong to that cipher and encoding",
            Self::Stalled => "silence for too long",
            Self::TooSlow => "the session took too long",
            Self::Cut => "the connection ended early",
            Self::Lost => "datagrams did not arrive",
            Self::Cipher => "it does not have the cipher",
            Self::Busy => "it serves another peer",
            Self::NotWattlock => "another protocol or version",
            Self::System => "its folder, network or system failed",
        }
    }
}
