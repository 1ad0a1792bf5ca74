//! Authentication before an association: open system and shared key (12.3.3, 9.3.3.11).

use subtle::ConstantTimeEq;

use crate::{Address, Error, Frame, Key, Kind, Malformed};

/// Octets of a challenge (12.3.3.3.3).
pub const CHALLENGE_B: usize = 128;
/// Octets of a frame without and with a challenge; the third one of a shared key has 8 of WEP beside. No FCS.
pub const PLAIN_B: usize = 30;
/// With a challenge.
pub const WITH_CHALLENGE_B: usize = PLAIN_B + 2 + CHALLENGE_B;
/// The element that carries a challenge (9.4.2.8).
const CHALLENGE_ELEMENT: u8 = 16;
const AUTHENTICATION: u8 = 0xb0;
const HEADER_B: usize = 24;

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Two frames; it authenticates nobody.
    OpenSystem,
    /// Four frames; it shows a key stream to whoever listens.
    SharedKey,
}

/// One authentication frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authentication<'a> {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// 1 or 2 of an open system, 1 to 4 of a shared key.
    pub step: u16,
    /// 0 is success.
    pub status: u16,
    /// The challenge, in steps 2 and 3 of a shared key.
    pub challenge: Option<&'a [u8; CHALLENGE_B]>,
}

/// Who sends to whom in which network, and the sequence number.
#[derive(Debug, Clone, Copy)]
pub struct Between {
    /// Address 1.
    pub receiver: Address,
    /// Address 2.
    pub transmitter: Address,
    /// Address 3.
    pub bssid: Address,
    /// 0 to 4095.
    pub sequence: u16,
}

impl<'a> Authentication<'a> {
    /// Writes it as a frame in the clear; step 3 of a shared key is protected with WEP after that.
    ///
    /// * Returns its octets: 30 or 160.
    ///
    /// # Errors
    /// [`Error::OutputTooSmall`].
    pub fn write(&self, between: &Between, output: &mut [u8]) -> Result<usize, Error> {
        let needed_B = if self.challenge.is_some() { WITH_CHALLENGE_B } else { PLAIN_B };
        let given_B = output.len();
        let output = output.get_mut(..needed_B).ok_or(Error::OutputTooSmall { given_B, needed_B })?;
        output[..4].copy_from_slice(&[AUTHENTICATION, 0, 0, 0]);
        output[4..10].copy_from_slice(&between.receiver);
        output[10..16].copy_from_slice(&between.transmitter);
        output[16..22].copy_from_slice(&between.bssid);
        output[22..24].copy_from_slice(&(between.sequence << 4).to_le_bytes());
        let algorithm: u16 = if self.algorithm == Algorithm::SharedKey { 1 } else { 0 };
        for (field, value) in output[HEADER_B..PLAIN_B].chunks_exact_mut(2).zip([algorithm, self.step, self.status]) {
            field.copy_from_slice(&value.to_le_bytes());
        }
        if let Some(challenge) = self.challenge {
            output[PLAIN_B..PLAIN_B + 2].copy_from_slice(&[CHALLENGE_ELEMENT, 128]);
            output[PLAIN_B + 2..].copy_from_slice(challenge);
        }
        Ok(needed_B)
    }

    /// Reads it from a frame in the clear.
    ///
    /// # Errors
    /// [`Malformed::NothingToDo`] of any other frame, [`Malformed::Header`] where it ends early.
    pub fn parse(frame: &Frame<'a>) -> Result<Self, Error> {
        if frame.kind() != Kind::Management || frame.subtype() != AUTHENTICATION >> 4 || frame.is_protected() {
            return Err(Malformed::NothingToDo.into());
        }
        let (fields, elements) = frame.body().split_first_chunk::<6>().ok_or(Malformed::Header)?;
        let [a, b, c, d, e, f] = *fields;
        let algorithm = match u16::from_le_bytes([a, b]) {
            0 => Algorithm::OpenSystem,
            1 => Algorithm::SharedKey,
            _ => return Err(Malformed::NothingToDo.into()),
        };
        let challenge = elements.strip_prefix(&[CHALLENGE_ELEMENT, 128]).and_then(<[u8]>::first_chunk);
        let (step, status) = (u16::from_le_bytes([c, d]), u16::from_le_bytes([e, f]));
        Ok(Self { algorithm, step, status, challenge })
    }
}

/// What the access point does with step 3 of a shared key: whether it answers the challenge.
///
/// # Errors
/// [`Error::Icv`] of another key, [`Error::Malformed`] of what is no such frame.
pub fn answers(key: &mut Key, third: &Frame<'_>, challenge: &[u8; CHALLENGE_B]) -> Result<bool, Error> {
    let mut clear = [0; 512];
    let opened = key.unprotect(third, None, &mut clear)?;
    let clear = Frame::parse(&clear[..opened.length_B])?;
    let answer = Authentication::parse(&clear)?;
    let is_third = answer.algorithm == Algorithm::SharedKey && answer.step == 3;
    Ok(is_third && answer.challenge.is_some_and(|given| bool::from(given.ct_eq(challenge))))
}
