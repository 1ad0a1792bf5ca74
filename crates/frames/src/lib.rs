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
//!
//! Each protocol is a Cargo feature, `handshake` another; all are on by default. A [`Key`] of a protocol that is left out
//! is refused with [`Error::LeftOut`].
//!
//! # Example
//! CCMP adds 8 octets of header and 8 of MIC, and a changed octet is noticed:
//! ```
//! use wattlock_frames::{Error, Frame, Key, Protocol};
//!
//! let mut mpdu = [0x5a; 24 + 100];
//! mpdu[..24].copy_from_slice(&[8, 1, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3, 0x10, 0]);
//! let mut key = Key::new(Protocol::Ccmp128, &[7; 16])?;
//! let mut protected = [0; 160];
//! let length_B = key.protect(&Frame::parse(&mpdu)?, 1, 0, &mut protected)?;
//! assert_eq!(length_B, mpdu.len() + 8 + 8);
//!
//! let mut clear = [0; 160];
//! let opened = key.unprotect(&Frame::parse(&protected[..length_B])?, None, &mut clear)?;
//! assert_eq!(clear[..opened.length_B], mpdu);
//!
//! protected[40] ^= 1;
//! assert_eq!(key.unprotect(&Frame::parse(&protected[..length_B])?, None, &mut clear).err(), Some(Error::Mic));
//! # Ok::<(), Error>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `body_B` counts bytes")]

#[cfg(not(any(
    feature = "ccmp128",
    feature = "ccmp256",
    feature = "gcmp128",
    feature = "gcmp256",
    feature = "tkip",
    feature = "wep"
)))]
compile_error!(
    "wattlock-frames without a protocol: take one of its features, wep, tkip, ccmp128, ccmp256, gcmp128, gcmp256"
);

#[cfg(feature = "aead")]
mod aad;
pub mod authentication;
mod error;
pub mod fragments;
mod frame;
#[cfg(feature = "handshake")]
pub mod handshake;
mod key;
mod opened;
pub mod proof;
mod protocol;
mod replay;
#[cfg(feature = "tkip")]
pub mod tkip;
#[cfg(feature = "rc4")]
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
/// The longest body: an MPDU of 11,454 octets (9.2.4.7.1, table 9-25) less a header of 26 and the FCS.
pub const MAX_BODY_B: usize = 11_424;

/// The frame check sequence of an MPDU.
///
/// # Source
/// 9.2.4.8: the CRC-32 of ISO/IEC 3309, least octet first here.
#[must_use]
pub fn fcs(mpdu: &[u8]) -> [u8; FCS_B] {
    crc32fast::hash(mpdu).to_le_bytes()
}
