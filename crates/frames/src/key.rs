//! A key of one protocol: protects an MPDU and unprotects it.

use aead::{AeadInOut, KeyInit};
use aes::{Aes128, Aes256};
use ccm::Ccm;
use ccm::consts::{U8, U13, U16};
use zeroize::Zeroizing;

use crate::aad::{Aad, ccmp_nonce, gcmp_nonce};
use crate::protocol::EXTENDED_IV;
use crate::tkip::Tkip;
use crate::{Error, Frame, Kind, Malformed, Msdu, Opened, Protocol, Replay, wep};

use crate::frame::PROTECTED;

/// A key, made ready.
pub struct Key {
    protocol: Protocol,
    inner: Inner,
}

#[allow(clippy::large_enum_variant, reason = "nothing here allocates")]
enum Inner {
    /// The seed: three octets of IV, then the key.
    Wep(Zeroizing<[u8; 16]>),
    Tkip(Tkip),
    Ccmp128(Ccm<Aes128, U8, U13>),
    Ccmp256(Ccm<Aes256, U16, U13>),
    Gcmp128(aes_gcm::Aes128Gcm),
    Gcmp256(aes_gcm::Aes256Gcm),
}

impl Drop for Key {
    fn drop(&mut self) {
        // The schedules of AES are written over in place with those of a key of zeros: `aes` does it by itself only with a
        // feature, which would be on for every other user of the crate too, and change what they cost.
        match &mut self.inner {
            Inner::Wep(_) | Inner::Tkip(_) => {}
            Inner::Ccmp128(cipher) => *cipher = Ccm::new(&Default::default()),
            Inner::Ccmp256(cipher) => *cipher = Ccm::new(&Default::default()),
            Inner::Gcmp128(cipher) => *cipher = KeyInit::new(&Default::default()),
            Inner::Gcmp256(cipher) => *cipher = KeyInit::new(&Default::default()),
        }
        core::hint::black_box(&self.inner);
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Key({})", self.protocol)
    }
}

impl Key {
    /// Makes a key ready.
    ///
    /// * `key`: [`Protocol::key_B`] bytes. TKIP's are the temporal key, then the Michael key of what the authenticator
    ///   sends, then that of what the supplicant sends.
    ///
    /// # Errors
    /// [`Error::WrongKeyLength`].
    pub fn new(protocol: Protocol, key: &[u8]) -> Result<Self, Error> {
        let wrong = Error::WrongKeyLength { given_B: key.len(), right_B: protocol.key_B() };
        if key.len() != protocol.key_B() {
            return Err(wrong);
        }
        let inner = match protocol {
            Protocol::Wep40 | Protocol::Wep104 => {
                let mut seed = Zeroizing::new([0; 16]);
                seed[3..3 + key.len()].copy_from_slice(key);
                Inner::Wep(seed)
            }
            Protocol::Tkip => Inner::Tkip(Tkip::new(key.try_into().map_err(|_| wrong)?)),
            Protocol::Ccmp128 => Inner::Ccmp128(Ccm::new_from_slice(key).map_err(|_| wrong)?),
            Protocol::Ccmp256 => Inner::Ccmp256(Ccm::new_from_slice(key).map_err(|_| wrong)?),
            Protocol::Gcmp128 => Inner::Gcmp128(KeyInit::new_from_slice(key).map_err(|_| wrong)?),
            Protocol::Gcmp256 => Inner::Gcmp256(KeyInit::new_from_slice(key).map_err(|_| wrong)?),
        };
        Ok(Self { protocol, inner })
    }

    /// By which protocol.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Protects one MPDU.
    ///
    /// Under TKIP the fragments of an MSDU come in order, and Michael goes behind the last one.
    ///
    /// * `frame`: a data frame with data, or a management frame with a body, not protected yet.
    /// * `number`: its packet number, never used before with this key by this transmitter.
    /// * `key_id`: 0 to 3; what is above is cut off.
    /// * `output`: room for the frame and [`MAX_EXPANSION_B`](crate::MAX_EXPANSION_B).
    /// * Returns the octets of the protected MPDU, without an FCS.
    ///
    /// # Errors
    /// [`Error::NumberTooLarge`], [`Error::OutputTooSmall`], [`Error::Malformed`].
    pub fn protect(&mut self, frame: &Frame<'_>, number: u64, key_id: u8, output: &mut [u8]) -> Result<usize, Error> {
        let most = self.protocol.largest_number();
        if number > most {
            return Err(Error::NumberTooLarge { given: number, most });
        }
        let has_body = match frame.kind() {
            Kind::Data => frame.carries_data(),
            Kind::Management => !frame.body().is_empty(),
            Kind::Control | Kind::Extension => false,
        };
        if frame.is_protected() || !has_body {
            return Err(Malformed::NothingToDo.into());
        }
        let michael = match &mut self.inner {
            Inner::Tkip(tkip) => tkip.msdu_tail(frame)?,
            _ => None,
        };
        let michael = michael.as_ref().map_or(&[][..], |code| &code[..]);
        let (header, body, key_id) = (frame.header(), frame.body(), key_id & 3);
        let (head_B, tail_B) = (self.protocol.head_B(), self.protocol.tail_B());
        let needed_B = frame.mpdu().len() + head_B + michael.len() + tail_B;
        let output = room(output, needed_B)?;
        let (out_header, rest) = output.split_at_mut(header.len());
        let (head, text) = rest.split_at_mut(head_B);
        out_header.copy_from_slice(header);
        out_header[1] |= PROTECTED;
        text[..body.len()].copy_from_slice(body);
        text[body.len()..body.len() + michael.len()].copy_from_slice(michael);
        let text_B = body.len() + michael.len();
        match &mut self.inner {
            Inner::Wep(seed) => {
                let [.., a, b, c] = number.to_be_bytes();
                seed[..3].copy_from_slice(&[a, b, c]);
                head.copy_from_slice(&[a, b, c, key_id << 6]);
                wep::seal(&seed[..3 + self.protocol.key_B()], text)?;
            }
            Inner::Tkip(tkip) => head.copy_from_slice(&tkip.seal(frame, number, key_id, text)?),
            inner => {
                let [_, _, pn5, pn4, pn3, pn2, pn1, pn0] = number.to_be_bytes();
                head.copy_from_slice(&[pn0, pn1, 0, key_id << 6 | EXTENDED_IV, pn2, pn3, pn4, pn5]);
                let (text, tag) = text.split_at_mut(text_B);
                match inner {
                    Inner::Ccmp128(cipher) => seal(cipher, &ccmp_nonce(frame, number), frame, text, tag)?,
                    Inner::Ccmp256(cipher) => seal(cipher, &ccmp_nonce(frame, number), frame, text, tag)?,
                    Inner::Gcmp128(cipher) => seal(cipher, &gcmp_nonce(frame, number), frame, text, tag)?,
                    Inner::Gcmp256(cipher) => seal(cipher, &gcmp_nonce(frame, number), frame, text, tag)?,
                    Inner::Wep(_) | Inner::Tkip(_) => {}
                }
            }
        }
        Ok(needed_B)
    }

    /// Verifies one protected MPDU and takes its protection off.
    ///
    /// Where anything is wrong, no octet of the body is left in `output`, and `replay` is as it was. An MSDU under TKIP
    /// whose fragments come one by one is [`Msdu::UnderWay`] up to the last one.
    ///
    /// * `replay`: the counters of this transmitter; `None` looks at no number. WEP has none.
    /// * `output`: room for the frame.
    ///
    /// # Errors
    /// [`Error::Icv`], [`Error::Mic`], [`Error::Michael`], [`Error::Replay`], [`Error::OutputTooSmall`],
    /// [`Error::Malformed`].
    pub fn unprotect(
        &mut self,
        frame: &Frame<'_>,
        replay: Option<&mut Replay>,
        output: &mut [u8],
    ) -> Result<Opened, Error> {
        let may_be = frame.carries_data() || frame.kind() == Kind::Management;
        if !frame.is_protected() || !may_be {
            return Err(Malformed::NothingToDo.into());
        }
        let (header, body) = (frame.header(), frame.body());
        let (head_B, tail_B) = (self.protocol.head_B(), self.protocol.tail_B());
        let body_B = body.len().checked_sub(head_B + tail_B).ok_or(Malformed::Protection)?;
        let (head, text) = body.split_at(head_B);
        if (head[3] & EXTENDED_IV != 0) != (head_B == 8) {
            return Err(Malformed::Protection.into());
        }
        let number = number(self.protocol, head);
        let output = room(output, header.len() + text.len())?;
        let (out_header, out_text) = output.split_at_mut(header.len());
        out_header.copy_from_slice(header);
        out_header[1] &= !PROTECTED;
        out_text.copy_from_slice(text);
        let length_B = header.len() + body_B;
        let opened = Opened { length_B, number, key_id: head[3] >> 6, msdu: Msdu::Whole { cut_before_B: 0 } };
        let done = self.open(frame, opened, replay.as_deref(), out_text);
        match done {
            Ok(opened) => {
                if let Some(replay) = replay.filter(|_| self.protocol.head_B() == 8)
                    && opened.msdu != Msdu::UnderWay
                {
                    replay.note(frame, number);
                }
                Ok(opened)
            }
            Err(error) => {
                out_text.fill(0);
                Err(error)
            }
        }
    }

    fn open(
        &mut self,
        frame: &Frame<'_>,
        opened: Opened,
        replay: Option<&Replay>,
        text: &mut [u8],
    ) -> Result<Opened, Error> {
        let number = opened.number;
        match &mut self.inner {
            Inner::Wep(seed) => {
                let [.., a, b, c] = number.to_be_bytes();
                seed[..3].copy_from_slice(&[a, b, c]);
                return wep::open(&seed[..3 + self.protocol.key_B()], text).map(|()| opened);
            }
            Inner::Tkip(tkip) => return tkip.open(frame, opened, replay, text),
            Inner::Ccmp128(cipher) => open(cipher, &ccmp_nonce(frame, number), frame, text),
            Inner::Ccmp256(cipher) => open(cipher, &ccmp_nonce(frame, number), frame, text),
            Inner::Gcmp128(cipher) => open(cipher, &gcmp_nonce(frame, number), frame, text),
            Inner::Gcmp256(cipher) => open(cipher, &gcmp_nonce(frame, number), frame, text),
        }?;
        match replay {
            Some(replay) if !replay.is_new(frame, number) => Err(Error::Replay),
            _ => Ok(opened),
        }
    }
}

fn number(protocol: Protocol, head: &[u8]) -> u64 {
    let octet = |at: usize| head.get(at).copied().unwrap_or(0);
    let of = |places: [usize; 6]| {
        let [a, b, c, d, e, f] = places.map(octet);
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    };
    match protocol {
        Protocol::Wep40 | Protocol::Wep104 => u64::from_be_bytes([0, 0, 0, 0, 0, octet(0), octet(1), octet(2)]),
        Protocol::Tkip => of([7, 6, 5, 4, 0, 2]),
        _ => of([7, 6, 5, 4, 1, 0]),
    }
}

fn room(output: &mut [u8], needed_B: usize) -> Result<&mut [u8], Error> {
    let given_B = output.len();
    output.get_mut(..needed_B).ok_or(Error::OutputTooSmall { given_B, needed_B })
}

#[inline]
fn seal<A: AeadInOut>(
    cipher: &A,
    nonce: &[u8],
    frame: &Frame<'_>,
    text: &mut [u8],
    tag_room: &mut [u8],
) -> Result<(), Error> {
    let nonce = nonce.try_into().map_err(|_| Malformed::Protection)?;
    let tag = cipher.encrypt_inout_detached(nonce, Aad::of(frame).bytes(), text.into());
    tag_room.copy_from_slice(&tag.map_err(|_| Malformed::TooLong)?);
    Ok(())
}

/// Of `text` the last bytes are the tag.
#[inline]
fn open<A: AeadInOut>(cipher: &A, nonce: &[u8], frame: &Frame<'_>, text: &mut [u8]) -> Result<(), Error> {
    let nonce = nonce.try_into().map_err(|_| Malformed::Protection)?;
    let tag_B = size_of::<aead::Tag<A>>();
    let (text, tag) = text.split_at_mut_checked(text.len().saturating_sub(tag_B)).ok_or(Malformed::Protection)?;
    let tag = (&*tag).try_into().map_err(|_| Malformed::Protection)?;
    cipher.decrypt_inout_detached(nonce, Aad::of(frame).bytes(), text.into(), tag).map_err(|_| Error::Mic)
}
