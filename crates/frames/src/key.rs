//! A key of one protocol: protects an MPDU and unprotects it.

#[cfg(feature = "aead")]
use aead::{AeadInOut, KeyInit};
#[cfg(feature = "wep")]
use zeroize::Zeroizing;

#[cfg(feature = "aead")]
use crate::aad::{self, Aad};
use crate::frame::PROTECTED;
use crate::protocol::{EXTENDED_IV, MICHAEL_B};
#[cfg(feature = "tkip")]
use crate::tkip::Tkip;
#[cfg(feature = "wep")]
use crate::wep;
use crate::{Error, Frame, Kind, Malformed, Msdu, Opened, Protocol, Replay};

/// A key, made ready.
pub struct Key {
    protocol: Protocol,
    inner: Inner,
}

#[allow(clippy::large_enum_variant, reason = "nothing here allocates")]
enum Inner {
    /// The seed: three octets of IV, then the key.
    #[cfg(feature = "wep")]
    Wep(Zeroizing<[u8; 16]>),
    #[cfg(feature = "tkip")]
    Tkip(Tkip),
    #[cfg(feature = "ccmp128")]
    Ccmp128(ccm::Ccm<aes::Aes128, ccm::consts::U8, ccm::consts::U13>),
    #[cfg(feature = "ccmp256")]
    Ccmp256(ccm::Ccm<aes::Aes256, ccm::consts::U16, ccm::consts::U13>),
    #[cfg(feature = "gcmp128")]
    Gcmp128(aes_gcm::Aes128Gcm),
    #[cfg(feature = "gcmp256")]
    Gcmp256(aes_gcm::Aes256Gcm),
}

impl Drop for Key {
    fn drop(&mut self) {
        // The schedules of AES are written over in place with those of a key of zeros: `aes` does it by itself only with a
        // feature, which would be on for every other user of the crate too, and change what they cost.
        match &mut self.inner {
            #[cfg(feature = "wep")]
            Inner::Wep(_) => {}
            #[cfg(feature = "tkip")]
            Inner::Tkip(_) => {}
            #[cfg(feature = "ccmp128")]
            Inner::Ccmp128(cipher) => *cipher = KeyInit::new(&Default::default()),
            #[cfg(feature = "ccmp256")]
            Inner::Ccmp256(cipher) => *cipher = KeyInit::new(&Default::default()),
            #[cfg(feature = "gcmp128")]
            Inner::Gcmp128(cipher) => *cipher = KeyInit::new(&Default::default()),
            #[cfg(feature = "gcmp256")]
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
    /// [`Error::WrongKeyLength`], [`Error::LeftOut`].
    pub fn new(protocol: Protocol, key: &[u8]) -> Result<Self, Error> {
        let wrong = Error::WrongKeyLength { given_B: key.len(), right_B: protocol.key_B() };
        if key.len() != protocol.key_B() {
            return Err(wrong);
        }
        let inner = match protocol {
            #[cfg(feature = "wep")]
            Protocol::Wep40 | Protocol::Wep104 => {
                let mut seed = Zeroizing::new([0; 16]);
                seed[3..3 + key.len()].copy_from_slice(key);
                Inner::Wep(seed)
            }
            #[cfg(feature = "tkip")]
            Protocol::Tkip => Inner::Tkip(Tkip::new(key.try_into().map_err(|_| wrong)?)),
            #[cfg(feature = "ccmp128")]
            Protocol::Ccmp128 => Inner::Ccmp128(KeyInit::new_from_slice(key).map_err(|_| wrong)?),
            #[cfg(feature = "ccmp256")]
            Protocol::Ccmp256 => Inner::Ccmp256(KeyInit::new_from_slice(key).map_err(|_| wrong)?),
            #[cfg(feature = "gcmp128")]
            Protocol::Gcmp128 => Inner::Gcmp128(KeyInit::new_from_slice(key).map_err(|_| wrong)?),
            #[cfg(feature = "gcmp256")]
            Protocol::Gcmp256 => Inner::Gcmp256(KeyInit::new_from_slice(key).map_err(|_| wrong)?),
            #[allow(unreachable_patterns, reason = "where every protocol is built in")]
            _ => return Err(Error::LeftOut(protocol.id())),
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
        let michael: Option<[u8; MICHAEL_B]> = match &mut self.inner {
            #[cfg(feature = "tkip")]
            Inner::Tkip(tkip) => tkip.msdu_tail(frame)?,
            #[allow(unreachable_patterns, reason = "where TKIP is the only protocol")]
            _ => None,
        };
        let michael = michael.as_ref().map_or(&[][..], |code| &code[..]);
        let (header, body, key_id) = (frame.header(), frame.body(), key_id & 3);
        let (head_B, tail_B) = (self.protocol.head_B(), self.protocol.tail_B());
        let needed_B = frame.mpdu().len() + head_B + michael.len() + tail_B;
        let (out_header, rest) = room(output, needed_B)?.split_at_mut(header.len());
        let (head, text) = rest.split_at_mut(head_B);
        out_header.copy_from_slice(header);
        out_header[1] |= PROTECTED;
        text[..body.len()].copy_from_slice(body);
        text[body.len()..body.len() + michael.len()].copy_from_slice(michael);
        match &mut self.inner {
            #[cfg(feature = "wep")]
            Inner::Wep(seed) => {
                let [.., a, b, c] = number.to_be_bytes();
                seed[..3].copy_from_slice(&[a, b, c]);
                head.copy_from_slice(&[a, b, c, key_id << 6]);
                wep::seal(&seed[..3 + self.protocol.key_B()], text)?;
            }
            #[cfg(feature = "tkip")]
            Inner::Tkip(tkip) => head.copy_from_slice(&tkip.seal(frame, number, key_id, text)?),
            #[cfg(feature = "ccmp128")]
            Inner::Ccmp128(cipher) => {
                head.copy_from_slice(&aead_head(number, key_id));
                seal(cipher, &aad::ccmp_nonce(frame, number), frame, text)?;
            }
            #[cfg(feature = "ccmp256")]
            Inner::Ccmp256(cipher) => {
                head.copy_from_slice(&aead_head(number, key_id));
                seal(cipher, &aad::ccmp_nonce(frame, number), frame, text)?;
            }
            #[cfg(feature = "gcmp128")]
            Inner::Gcmp128(cipher) => {
                head.copy_from_slice(&aead_head(number, key_id));
                seal(cipher, &aad::gcmp_nonce(frame, number), frame, text)?;
            }
            #[cfg(feature = "gcmp256")]
            Inner::Gcmp256(cipher) => {
                head.copy_from_slice(&aead_head(number, key_id));
                seal(cipher, &aad::gcmp_nonce(frame, number), frame, text)?;
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
        let replay = replay.filter(|_| head_B == 8);
        let done = self.open(frame, opened, replay.as_deref(), out_text);
        match done {
            Ok(opened) => {
                if let Some(replay) = replay
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

    #[allow(unreachable_code, reason = "where TKIP is the only protocol, which looks at the number before Michael")]
    fn open(
        &mut self,
        frame: &Frame<'_>,
        opened: Opened,
        replay: Option<&Replay>,
        text: &mut [u8],
    ) -> Result<Opened, Error> {
        match &mut self.inner {
            #[cfg(feature = "wep")]
            Inner::Wep(seed) => {
                let [.., a, b, c] = opened.number.to_be_bytes();
                seed[..3].copy_from_slice(&[a, b, c]);
                wep::open(&seed[..3 + self.protocol.key_B()], text)?;
            }
            #[cfg(feature = "tkip")]
            Inner::Tkip(tkip) => return tkip.open(frame, opened, replay, text),
            #[cfg(feature = "ccmp128")]
            Inner::Ccmp128(cipher) => open(cipher, &aad::ccmp_nonce(frame, opened.number), frame, text)?,
            #[cfg(feature = "ccmp256")]
            Inner::Ccmp256(cipher) => open(cipher, &aad::ccmp_nonce(frame, opened.number), frame, text)?,
            #[cfg(feature = "gcmp128")]
            Inner::Gcmp128(cipher) => open(cipher, &aad::gcmp_nonce(frame, opened.number), frame, text)?,
            #[cfg(feature = "gcmp256")]
            Inner::Gcmp256(cipher) => open(cipher, &aad::gcmp_nonce(frame, opened.number), frame, text)?,
        }
        match replay {
            Some(replay) if !replay.is_new(frame, opened.number) => Err(Error::Replay),
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

/// The header of CCMP and GCMP (12.5.3.2, 12.5.5.2).
#[cfg(feature = "aead")]
fn aead_head(number: u64, key_id: u8) -> [u8; 8] {
    let [_, _, pn5, pn4, pn3, pn2, pn1, pn0] = number.to_be_bytes();
    [pn0, pn1, 0, key_id << 6 | EXTENDED_IV, pn2, pn3, pn4, pn5]
}

/// Of `text` the last bytes are room for the tag.
#[cfg(feature = "aead")]
#[inline]
fn seal<A: AeadInOut>(cipher: &A, nonce: &[u8], frame: &Frame<'_>, text: &mut [u8]) -> Result<(), Error> {
    let nonce = nonce.try_into().map_err(|_| Malformed::Protection)?;
    let (text, room) = split_tag::<A>(text)?;
    let tag = cipher.encrypt_inout_detached(nonce, Aad::of(frame).bytes(), text.into());
    room.copy_from_slice(&tag.map_err(|_| Malformed::TooLong)?);
    Ok(())
}

/// Of `text` the last bytes are the tag.
#[cfg(feature = "aead")]
#[inline]
fn open<A: AeadInOut>(cipher: &A, nonce: &[u8], frame: &Frame<'_>, text: &mut [u8]) -> Result<(), Error> {
    let nonce = nonce.try_into().map_err(|_| Malformed::Protection)?;
    let (text, tag) = split_tag::<A>(text)?;
    let tag = (&*tag).try_into().map_err(|_| Malformed::Protection)?;
    cipher.decrypt_inout_detached(nonce, Aad::of(frame).bytes(), text.into(), tag).map_err(|_| Error::Mic)
}

#[cfg(feature = "aead")]
fn split_tag<A: AeadInOut>(text: &mut [u8]) -> Result<(&mut [u8], &mut [u8]), Error> {
    let tag_B = size_of::<aead::Tag<A>>();
    Ok(text.split_at_mut_checked(text.len().saturating_sub(tag_B)).ok_or(Malformed::Protection)?)
}
