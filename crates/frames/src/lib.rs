//! Protection of IEEE 802.11 frames, byte for byte: an MPDU in, a protected MPDU out, and back.
//!
//! [`Frame`] is a view on an MPDU without its FCS. A [`Key`] protects and unprotects by WEP, TKIP, CCMP or GCMP; a
//! [`Replay`] beside it refuses a packet number that was there before. [`handshake`] makes the keys of a passphrase and
//! of what a 4-way handshake shows; [`authentication`] writes the frames that come before.
//!
//! Nothing allocates and nothing panics, whatever the bytes are. Tags are compared in constant time. A key's bytes and
//! schedule are overwritten when it is dropped. WEP and TKIP are broken: they are here to be measured, not to be used.
//!
//! Clause numbers are of IEEE Std 802.11-2020.
#![no_std]
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `body_B` counts bytes")]

mod aad;
pub mod authentication;
mod error;
pub mod fragments;
mod frame;
pub mod handshake;
mod key;
mod opened;
mod protocol;
mod replay;
pub mod tkip;
mod wep;

pub use error::{Error, Malformed};
pub use frame::{Address, Frame, Kind};
pub use key::Key;
pub use opened::{Msdu, Opened};
pub use protocol::{Protocol, fitting};
pub use replay::Replay;

/// Octets of the frame check sequence, which stands behind an MPDU on the air.
pub const FCS_B: usize = 4;
/// The most octets that a protection adds to one MPDU: 8 of Michael, 8 of the head, 16 of the tail.
pub const MAX_EXPANSION_B: usize = 32;

/// The frame check sequence of an MPDU.
///
/// # Source
/// 9.2.4.8: the CRC-32 of ISO/IEC 3309, least octet first here.
#[must_use]
pub fn fcs(mpdu: &[u8]) -> [u8; FCS_B] {
    crc32fast::hash(mpdu).to_le_bytes()
}
