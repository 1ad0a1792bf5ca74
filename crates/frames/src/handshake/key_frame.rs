//! A key frame (12.7.2), as an EAPOL packet carries it.

use aes_kw::{KeyInit as _, KwAes128, KwAes256};
use rc4::StreamCipher;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::akm::{Hash, Integrity};
use super::keys::{MadeWith, NONCE_B, Ptk, mic};
use crate::{Error, Malformed, wep};

/// The most key data that is read.
pub(super) const MOST_KEY_DATA_B: usize = 1024;
/// Octets before the MIC.
const MIC_AT: usize = 81;
/// What a MIC may have, the usual first (table 12-11); none under FILS.
const MICS_B: [usize; 4] = [16, 24, 32, 0];
const MOST_MIC_B: usize = 32;
const PAIRWISE: u16 = 0x0008;
const ACK: u16 = 0x0080;
const MIC: u16 = 0x0100;
const ENCRYPTED: u16 = 0x1000;

/// A key frame.
#[derive(Debug, Clone, Copy)]
pub struct KeyFrame<'a> {
    packet: &'a [u8],
    mic_B: usize,
}

/// Which of the frames of its handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Of the four of a pair: 1 to 4.
    Pair(u8),
    /// The first of the two of a group.
    Group,
    /// Another one.
    Other,
}

impl<'a> KeyFrame<'a> {
    /// Reads an EAPOL packet; `None` of one that is no key frame.
    ///
    /// How long its MIC is, the packet does not say: it is of the length with which the key data end where the packet does.
    ///
    /// # Errors
    /// [`Malformed::KeyFrame`] where it ends early.
    pub fn parse(eapol: &'a [u8]) -> Result<Option<Self>, Error> {
        let &[_version, kind, a, b, descriptor, ..] = eapol else { return Ok(None) };
        if kind != 3 || !matches!(descriptor, 2 | 254) {
            return Ok(None);
        }
        let packet = eapol.get(..4 + usize::from(u16::from_be_bytes([a, b]))).ok_or(Malformed::KeyFrame)?;
        let with = |mic_B| Self { packet, mic_B };
        let usual = with(MICS_B[0]);
        let fits = |frame: &Self| {
            frame.data().is_ok_and(|data| MIC_AT + frame.mic_B + 2 + data.len() == packet.len())
                && (frame.mic_B == usual.mic_B || frame.version() == 0)
        };
        let frame = MICS_B.into_iter().map(with).find(fits).unwrap_or(usual);
        frame.data().map(|_| Some(frame))
    }

    pub(super) fn data(&self) -> Result<&'a [u8], Error> {
        let behind = self.packet.get(MIC_AT + self.mic_B..).ok_or(Malformed::KeyFrame)?;
        let (length_B, data) = behind.split_first_chunk().ok_or(Malformed::KeyFrame)?;
        Ok(data.get(..usize::from(u16::from_be_bytes(*length_B))).ok_or(Malformed::KeyFrame)?)
    }

    fn information(&self) -> u16 {
        u16::from_be_bytes([self.packet[5], self.packet[6]])
    }

    fn has(&self, bit: u16) -> bool {
        self.information() & bit != 0
    }

    /// Whether the authenticator, in a network with an access point that one, sends it: it asks for an answer.
    #[must_use]
    pub fn is_from_authenticator(&self) -> bool {
        self.has(ACK)
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.has(ENCRYPTED)
    }

    /// WPA's from before the standard.
    pub(super) fn is_wpa(&self) -> bool {
        self.packet[4] == 254
    }

    /// Its key's number and octets, of WPA's group key.
    pub(super) fn wpa_key(&self) -> (u8, usize) {
        let key_id = ((self.information() >> 4) & 3) as u8;
        (key_id, usize::from(u16::from_be_bytes([self.packet[7], self.packet[8]])))
    }

    pub(super) fn version(&self) -> u16 {
        self.information() & 0x07
    }

    /// Whether it has room for a MIC at all.
    pub(super) fn has_mic_field(&self) -> bool {
        self.mic_B > 0
    }

    pub(super) fn nonce(&self) -> [u8; NONCE_B] {
        let mut nonce = [0; NONCE_B];
        nonce.copy_from_slice(&self.packet[17..49]);
        nonce
    }

    pub(super) fn step(&self) -> Step {
        let has_data = self.data().is_ok_and(|data| !data.is_empty());
        match (self.has(PAIRWISE), self.has(ACK), self.has(MIC) || self.mic_B == 0) {
            (true, true, _) if self.mic_B == 0 => Step::Pair(if self.is_encrypted() { 3 } else { 1 }),
            (true, true, false) => Step::Pair(1),
            (true, true, true) => Step::Pair(3),
            (true, false, true) => Step::Pair(if has_data { 2 } else { 4 }),
            (false, true, true) => Step::Group,
            _ => Step::Other,
        }
    }

    /// Verifies its MIC under the KCK of a pair.
    ///
    /// # Errors
    /// [`Error::Mic`]; [`Malformed::KeyFrame`] of a version that there is not.
    pub fn verify(&self, ptk: &Ptk) -> Result<(), Error> {
        let keys = ptk.keys();
        let made_with = match (self.version(), keys.integrity) {
            (1, _) => MadeWith::Md5,
            (2, _) => MadeWith::Hmac(Hash::Sha1),
            (3, _) | (0, Integrity::Cmac) => MadeWith::Cmac,
            (0, Integrity::Hmac) => MadeWith::Hmac(keys.hash),
            _ => return Err(Malformed::KeyFrame.into()),
        };
        if self.mic_B == 0 || self.mic_B != keys.mic_B {
            return Err(Error::Mic);
        }
        let (before, rest) = self.packet.split_at(MIC_AT);
        let (given, after) = rest.split_at(self.mic_B);
        let mut right = [0; MOST_MIC_B];
        mic(made_with, ptk.kck(), &[before, &[0; MOST_MIC_B][..self.mic_B], after], &mut right[..self.mic_B])?;
        if bool::from(right[..self.mic_B].ct_eq(given)) { Ok(()) } else { Err(Error::Mic) }
    }

    /// Decrypts its key data under the KEK of a pair; gives the octets in `output`.
    pub(super) fn decrypt<'o>(&self, ptk: &Ptk, output: &'o mut [u8; MOST_KEY_DATA_B]) -> Result<&'o [u8], Error> {
        let (kek, data) = (ptk.kek(), self.data()?);
        if self.version() != 1 {
            return unwrap(kek, data, output);
        }
        let room = output.get_mut(..data.len()).ok_or(Malformed::KeyFrame)?;
        let mut seed = Zeroizing::new([0; 32]);
        seed[..16].copy_from_slice(&self.packet[49..65]);
        seed[16..].copy_from_slice(kek.get(..16).ok_or(Malformed::KeyFrame)?);
        let mut stream = wep::rc4(&*seed)?;
        // The first 256 octets of the stream are dropped (12.7.2).
        stream.apply_keystream(&mut [0; 256]);
        room.copy_from_slice(data);
        stream.apply_keystream(room);
        Ok(room)
    }
}

/// Unwraps keys by AES under a KEK of 16 or 32 octets (RFC 3394).
pub(super) fn unwrap<'o>(kek: &[u8], wrapped: &[u8], output: &'o mut [u8; MOST_KEY_DATA_B]) -> Result<&'o [u8], Error> {
    let room = output.get_mut(..wrapped.len()).ok_or(Malformed::KeyFrame)?;
    let bad = |_| Malformed::KeyFrame;
    let unwrapped = if kek.len() == 32 {
        KwAes256::new_from_slice(kek).map_err(bad)?.unwrap_key(wrapped, room)
    } else {
        KwAes128::new_from_slice(kek).map_err(bad)?.unwrap_key(wrapped, room)
    };
    unwrapped.map_err(|_| Error::Mic)
}
