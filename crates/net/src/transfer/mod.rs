//! Real transfers: files through a cipher and an encoding to another machine, both sides measured.
//!
//! What is measured is the payload: the cipher may be a broken one. So the protocol trusts it with nothing. Both sides
//! hold a token of 128 bits that never travels; HKDF-SHA256 makes of it and of two nonces a key for each direction, and
//! every control message carries an HMAC-SHA256 with its number. A file is decrypted after the tag over the hash of all
//! received bytes has proven right, and gets its name after its plaintext has. `docs/transfer.md` has the messages.

pub mod control;
pub mod datagrams;
pub mod folder;
pub mod keys;
pub mod names;
pub mod receive;
pub mod records;
pub mod scale;
pub mod sealed;
pub mod send;
#[cfg(test)]
mod tests;

use std::fmt;

pub use self::records::Reason;

/// Why a transfer ends without its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its name.
    pub reason: Reason,
    /// Whether the other side said so.
    pub is_peers: bool,
    /// What is wrong, with the value.
    pub what: String,
    /// Number of the file in the session; `None` before the first.
    pub file: Option<u32>,
}

impl Refusal {
    /// A refusal of this side.
    pub fn new(reason: Reason, what: impl Into<String>) -> Self {
        Self { reason, is_peers: false, what: what.into(), file: None }
    }

    /// A refusal that the other side sent: its name only, no words of the other side's are shown.
    pub fn of_peer(reason: Reason) -> Self {
        Self { is_peers: true, ..Self::new(reason, format!("the other side refused: {}", reason.words())) }
    }

    /// Of this file.
    #[must_use]
    pub fn at(self, file: u32) -> Self {
        Self { file: Some(file), ..self }
    }

    /// What a person can do.
    pub fn hint(&self) -> &'static str {
        match self.reason {
            Reason::WrongToken => "the token that `receive` printed, of its present start; each start has a fresh one",
            Reason::ForgedControl | Reason::ChangedData => "nothing of the file was kept; send it again",
            Reason::MoreThanSaid | Reason::WrongSizes | Reason::TooMany => "the same version of wattlock on both sides",
            Reason::BadName => "rename the file: letters, digits, a dot inside",
            Reason::Exists => "files are never overwritten: move the other one, or receive --into another folder",
            Reason::TooLarge => "`receive --max-size BYTES` allows more",
            Reason::Stalled => "--timeout SECONDS waits longer, on the side that gave up",
            Reason::TooSlow => "`receive --max-time SECONDS` allows more",
            Reason::Cut => "the other side says why",
            Reason::Lost => "a better link, a smaller --datagram-B, or TCP",
            Reason::Cipher => "`wattlock-probe catalogue` lists what each provider has",
            Reason::Busy => "a receiver has one peer: wait, or start another one",
            Reason::NotWattlock => "HOST:PORT as `receive` printed it, the same version on both sides",
            Reason::System => "the folder and the network of that machine",
        }
    }
}

/// 10^6 bytes a second.
#[allow(clippy::cast_precision_loss)] // sizes and times far below 2^53
fn throughput(bytes: u64, wall_ns: u64) -> f64 {
    bytes as f64 * 1000.0 / wall_ns.max(1) as f64
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
