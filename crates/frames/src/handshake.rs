//! From a passphrase to the keys of frames: PSK, PTK, and what the 4-way and the group key handshake carry (12.7).

use aes_kw::KwAes128;
use cmac::Cmac;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{Address, Error, Malformed, Protocol, wep};
use rc4::StreamCipher;

/// Octets of a pre-shared or pairwise master key.
pub const PMK_B: usize = 32;
/// Octets of a nonce.
pub const NONCE_B: usize = 32;
/// The rounds of PBKDF2 (J.4.1).
const ROUNDS: u32 = 4096;
/// The most key data that is read.
const MOST_KEY_DATA_B: usize = 1024;
/// KCK, KEK and a temporal key of 32 octets.
const PTK_B: usize = 64;

/// The PSK of a passphrase in a network.
///
/// # Source
/// IEEE Std 802.11-2020, J.4: PBKDF2 of HMAC-SHA-1 with 4096 rounds.
#[must_use]
pub fn psk(passphrase: &[u8], ssid: &[u8]) -> Zeroizing<[u8; PMK_B]> {
    let mut key = Zeroizing::new([0; PMK_B]);
    pbkdf2::pbkdf2_hmac::<Sha1>(passphrase, ssid, ROUNDS, &mut *key);
    key
}

/// Which hash makes a PTK of a PMK: that of the AKM suite (table 9-151).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Akm {
    /// PSK (00-0F-AC:2, and WPA's 00-50-F2:2): PRF with HMAC-SHA-1.
    Sha1,
    /// PSK with SHA-256 (00-0F-AC:6): KDF with HMAC-SHA-256.
    Sha256,
}

fn mac<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Result<M, Error> {
    let mut mac = <M as KeyInit>::new_from_slice(key);
    if let Ok(mac) = &mut mac {
        parts.iter().for_each(|part| mac.update(part));
    }
    mac.map_err(|_| Error::WrongKeyLength { given_B: key.len(), right_B: 16 })
}

/// PRF-n of 12.7.1.2, with SHA-1.
///
/// # Errors
/// None that a key of any length could cause.
pub fn prf_sha1(key: &[u8], label: &[u8], context: &[u8], output: &mut [u8]) -> Result<(), Error> {
    for (count, block) in (0..=u8::MAX).zip(output.chunks_mut(20)) {
        let whole = mac::<Hmac<Sha1>>(key, &[label, &[0], context, &[count]])?.finalize().into_bytes();
        block.copy_from_slice(&whole[..block.len()]);
    }
    Ok(())
}

/// KDF-Hash-Length of 12.7.1.7.2, with SHA-256. The length is a part of what is hashed.
///
/// # Errors
/// None that a key of any length could cause.
pub fn kdf_sha256(key: &[u8], label: &[u8], context: &[u8], output: &mut [u8]) -> Result<(), Error> {
    let bits = u16::try_from(output.len() * 8).map_err(|_| Malformed::TooLong)?;
    for (count, block) in (1..=u16::MAX).zip(output.chunks_mut(32)) {
        let parts: [&[u8]; 4] = [&count.to_le_bytes(), label, context, &bits.to_le_bytes()];
        let whole = mac::<Hmac<Sha256>>(key, &parts)?.finalize().into_bytes();
        block.copy_from_slice(&whole[..block.len()]);
    }
    Ok(())
}

/// A pairwise transient key: KCK, KEK and the temporal key (12.7.1.3).
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Ptk {
    bytes: [u8; PTK_B],
    length_B: usize,
}

impl Ptk {
    /// Derives it.
    ///
    /// * `temporal_B`: octets of the temporal key, 16 or 32.
    ///
    /// # Errors
    /// [`Error::WrongKeyLength`] where `temporal_B` is above 32.
    pub fn derive(
        akm: Akm,
        pmk: &[u8; PMK_B],
        addresses: [Address; 2],
        nonces: [&[u8; NONCE_B]; 2],
        temporal_B: usize,
    ) -> Result<Self, Error> {
        let mut context = [0; 2 * 6 + 2 * NONCE_B];
        let [one, other] = addresses;
        context[..6].copy_from_slice(&one.min(other));
        context[6..12].copy_from_slice(&one.max(other));
        context[12..44].copy_from_slice(nonces[0].min(nonces[1]));
        context[44..].copy_from_slice(nonces[0].max(nonces[1]));
        let mut ptk = Self { bytes: [0; PTK_B], length_B: 32 + temporal_B };
        let wrong = Error::WrongKeyLength { given_B: temporal_B, right_B: 32 };
        let output = ptk.bytes.get_mut(..32 + temporal_B).ok_or(wrong)?;
        match akm {
            Akm::Sha1 => prf_sha1(pmk, b"Pairwise key expansion", &context, output),
            Akm::Sha256 => kdf_sha256(pmk, b"Pairwise key expansion", &context, output),
        }?;
        Ok(ptk)
    }

    /// Confirms key frames.
    #[must_use]
    pub fn kck(&self) -> &[u8] {
        &self.bytes[..16]
    }

    /// Encrypts key data.
    #[must_use]
    pub fn kek(&self) -> &[u8] {
        &self.bytes[16..32]
    }

    /// Protects frames.
    #[must_use]
    pub fn temporal(&self) -> &[u8] {
        &self.bytes[32..self.length_B]
    }
}

/// The key that protects frames, and by which protocol.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Temporal {
    bytes: [u8; 32],
    length_B: usize,
    /// `None` where the handshake did not show it.
    #[zeroize(skip)]
    pub protocol: Option<Protocol>,
}

impl Temporal {
    fn new(bytes: &[u8], protocol: Option<Protocol>) -> Result<Self, Error> {
        let mut temporal = Self { bytes: [0; 32], length_B: bytes.len(), protocol };
        temporal.bytes.get_mut(..bytes.len()).ok_or(Malformed::KeyFrame)?.copy_from_slice(bytes);
        Ok(temporal)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length_B]
    }
}

/// A key frame (12.7.2), as an EAPOL packet carries it.
#[derive(Debug, Clone, Copy)]
pub struct KeyFrame<'a> {
    packet: &'a [u8],
    information: u16,
}

/// Octets before the key data, with a MIC of 16.
const FIXED_B: usize = 99;
const MIC_AT: usize = 81;
const PAIRWISE: u16 = 0x0008;
const ACK: u16 = 0x0080;
const MIC: u16 = 0x0100;
const ENCRYPTED: u16 = 0x1000;

impl<'a> KeyFrame<'a> {
    /// Reads an EAPOL packet; `None` of one that is no key frame.
    ///
    /// # Errors
    /// [`Malformed::KeyFrame`] where it ends early.
    pub fn parse(eapol: &'a [u8]) -> Result<Option<Self>, Error> {
        let &[_version, kind, a, b, descriptor, ..] = eapol else { return Ok(None) };
        if kind != 3 || !matches!(descriptor, 2 | 254) {
            return Ok(None);
        }
        let packet = eapol.get(..4 + usize::from(u16::from_be_bytes([a, b]))).ok_or(Malformed::KeyFrame)?;
        if packet.len() < FIXED_B {
            return Err(Malformed::KeyFrame.into());
        }
        let frame = Self { packet, information: u16::from_be_bytes([packet[5], packet[6]]) };
        frame.data().map(|_| Some(frame))
    }

    fn data(&self) -> Result<&'a [u8], Error> {
        let length_B = usize::from(u16::from_be_bytes([self.packet[97], self.packet[98]]));
        Ok(self.packet.get(FIXED_B..FIXED_B + length_B).ok_or(Malformed::KeyFrame)?)
    }

    fn has(&self, bit: u16) -> bool {
        self.information & bit != 0
    }

    /// Whether the authenticator, in a network with an access point that one, sends it: it asks for an answer.
    #[must_use]
    pub fn is_from_authenticator(&self) -> bool {
        self.has(ACK)
    }

    fn version(&self) -> u16 {
        self.information & 0x07
    }

    fn nonce(&self) -> [u8; NONCE_B] {
        let mut nonce = [0; NONCE_B];
        nonce.copy_from_slice(&self.packet[17..49]);
        nonce
    }

    /// Verifies its MIC under a KCK.
    ///
    /// # Errors
    /// [`Error::Mic`]; [`Malformed::KeyFrame`] of a version that there is not.
    pub fn verify(&self, kck: &[u8]) -> Result<(), Error> {
        let (before, rest) = self.packet.split_at(MIC_AT);
        let (mic, after) = rest.split_at(16);
        let parts: [&[u8]; 3] = [before, &[0; 16], after];
        let mut right = [0; 16];
        match self.version() {
            1 => right.copy_from_slice(&mac::<Hmac<Md5>>(kck, &parts)?.finalize().into_bytes()),
            2 => right.copy_from_slice(&mac::<Hmac<Sha1>>(kck, &parts)?.finalize().into_bytes()[..16]),
            3 => right.copy_from_slice(&mac::<Cmac<aes::Aes128>>(kck, &parts)?.finalize().into_bytes()),
            _ => return Err(Malformed::KeyFrame.into()),
        }
        if bool::from(right.ct_eq(mic)) { Ok(()) } else { Err(Error::Mic) }
    }

    /// Decrypts its key data; gives the octets in `output`.
    fn decrypt<'o>(&self, kek: &[u8], output: &'o mut [u8; MOST_KEY_DATA_B]) -> Result<&'o [u8], Error> {
        let data = self.data()?;
        let room = output.get_mut(..data.len()).ok_or(Malformed::KeyFrame)?;
        match self.version() {
            1 => {
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
            2 | 3 => {
                let kek = KwAes128::new_from_slice(kek).map_err(|_| Malformed::KeyFrame)?;
                Ok(kek.unwrap_key(data, room).map_err(|_| Error::Mic)?)
            }
            _ => Err(Malformed::KeyFrame.into()),
        }
    }
}

/// The suites that message 2 names.
#[derive(Debug, Clone, Copy, Default)]
struct Suites {
    group: Option<Protocol>,
    pairwise: Option<Protocol>,
    akm: Option<Akm>,
}

/// The protocol of a cipher suite (table 9-149); WPA has numbers of its own for the first ones.
fn protocol(suite: &[u8]) -> Option<Protocol> {
    match suite {
        [0x00, 0x0f, 0xac, number] => match number {
            1 => Some(Protocol::Wep40),
            2 => Some(Protocol::Tkip),
            4 => Some(Protocol::Ccmp128),
            5 => Some(Protocol::Wep104),
            8 => Some(Protocol::Gcmp128),
            9 => Some(Protocol::Gcmp256),
            10 => Some(Protocol::Ccmp256),
            _ => None,
        },
        [0x00, 0x50, 0xf2, number] => match number {
            1 => Some(Protocol::Wep40),
            2 => Some(Protocol::Tkip),
            4 => Some(Protocol::Ccmp128),
            5 => Some(Protocol::Wep104),
            _ => None,
        },
        _ => None,
    }
}

impl Suites {
    /// Reads the RSN element (9.4.2.24), or WPA's, which is laid out alike.
    fn of(data: &[u8]) -> Self {
        let mut suites = Self::default();
        for (id, content) in elements(data) {
            let body = match (id, content) {
                (48, [1, 0, body @ ..]) => body,
                (221, [0x00, 0x50, 0xf2, 1, 1, 0, body @ ..]) => body,
                _ => continue,
            };
            suites.group = body.get(..4).and_then(protocol);
            let Some(&[a, b]) = body.get(4..6) else { continue };
            suites.pairwise = body.get(6..10).and_then(protocol);
            let at = 6 + 4 * usize::from(u16::from_le_bytes([a, b]));
            suites.akm = match body.get(at + 2..at + 6) {
                Some([0x00, 0x0f, 0xac, 6]) => Some(Akm::Sha256),
                Some([0x00, 0x0f, 0xac, 2] | [0x00, 0x50, 0xf2, 2]) => Some(Akm::Sha1),
                _ => None,
            };
        }
        suites
    }
}

/// The elements of a list, each with its id; the list ends where one is cut.
fn elements(mut data: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    core::iter::from_fn(move || {
        let &[id, length_B, ref rest @ ..] = data else { return None };
        let (content, rest) = rest.split_at_checked(usize::from(length_B))?;
        data = rest;
        Some((id, content))
    })
}

/// What a key frame taught.
#[derive(Clone, Default)]
pub struct Learned {
    /// The key of the pair, new or the one from before.
    pub pairwise: Option<Temporal>,
    /// The key of the group, and which of four it is.
    pub group: Option<(u8, Temporal)>,
}

/// What is known of one station and its access point under one PMK.
pub struct Handshake {
    pmk: Zeroizing<[u8; PMK_B]>,
    addresses: [Address; 2],
    from_access_point: Option<[u8; NONCE_B]>,
    from_station: Option<[u8; NONCE_B]>,
    suites: Suites,
    ptk: Option<Ptk>,
}

impl Handshake {
    /// Nothing was heard yet.
    #[must_use]
    pub fn new(pmk: &[u8; PMK_B], access_point: Address, station: Address) -> Self {
        Self {
            pmk: Zeroizing::new(*pmk),
            addresses: [access_point, station],
            from_access_point: None,
            from_station: None,
            suites: Suites::default(),
            ptk: None,
        }
    }

    /// Hears a key frame of this pair. Nothing is believed whose MIC is wrong, but a first nonce, which has none.
    ///
    /// # Errors
    /// [`Error::Mic`]: another passphrase, or a frame of nobody; [`Malformed::KeyFrame`].
    pub fn hear(&mut self, frame: &KeyFrame<'_>) -> Result<Learned, Error> {
        match (frame.has(PAIRWISE), frame.has(ACK), frame.has(MIC)) {
            (true, true, false) => {
                self.from_access_point = Some(frame.nonce());
                Ok(Learned::default())
            }
            (true, false, true) if !frame.data()?.is_empty() => self.second(frame),
            (true, true, true) => self.third(frame),
            (false, true, true) => {
                let ptk = self.ptk.clone().ok_or(Error::Mic)?;
                frame.verify(ptk.kck())?;
                Ok(Learned { pairwise: None, group: self.group_key(frame, &ptk)? })
            }
            _ => Ok(Learned::default()),
        }
    }

    fn second(&mut self, frame: &KeyFrame<'_>) -> Result<Learned, Error> {
        let suites = Suites::of(frame.data()?);
        let Some(first) = self.from_access_point else {
            // The first message was missed; the third one repeats its nonce.
            (self.from_station, self.suites) = (Some(frame.nonce()), suites);
            return Ok(Learned::default());
        };
        let ptk = self.agreed(frame, &suites, &first, &frame.nonce())?;
        (self.from_station, self.suites) = (Some(frame.nonce()), suites);
        self.install(ptk)
    }

    fn third(&mut self, frame: &KeyFrame<'_>) -> Result<Learned, Error> {
        let second = self.from_station.ok_or(Error::Mic)?;
        let ptk = self.agreed(frame, &self.suites, &frame.nonce(), &second)?;
        let learned = self.install(ptk.clone())?;
        Ok(Learned { group: self.group_key(frame, &ptk)?, ..learned })
    }

    /// The PTK under which the frame's MIC is right.
    fn agreed(
        &self,
        frame: &KeyFrame<'_>,
        suites: &Suites,
        first: &[u8; NONCE_B],
        second: &[u8; NONCE_B],
    ) -> Result<Ptk, Error> {
        let akm = suites.akm.unwrap_or(if frame.version() == 3 { Akm::Sha256 } else { Akm::Sha1 });
        // The length goes into the hash of SHA-256; where no suite was shown, both are tried.
        let lengths: &[usize] = match suites.pairwise.map(Protocol::key_B) {
            Some(16) => &[16],
            Some(32) => &[32],
            _ if akm == Akm::Sha1 => &[32],
            _ => &[16, 32],
        };
        let mut outcome = Err(Error::Mic);
        for temporal_B in lengths {
            let ptk = Ptk::derive(akm, &self.pmk, self.addresses, [first, second], *temporal_B)?;
            outcome = frame.verify(ptk.kck()).map(|()| ptk);
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    fn install(&mut self, ptk: Ptk) -> Result<Learned, Error> {
        let pairwise = Some(Temporal::new(ptk.temporal(), self.suites.pairwise)?);
        self.ptk = Some(ptk);
        Ok(Learned { pairwise, group: None })
    }

    /// The group key in the key data of a frame that has verified.
    fn group_key(&self, frame: &KeyFrame<'_>, ptk: &Ptk) -> Result<Option<(u8, Temporal)>, Error> {
        let is_wpa = frame.packet[4] == 254;
        let data_B = frame.data()?.len();
        if data_B == 0 || (is_wpa && frame.has(PAIRWISE)) || !(is_wpa || frame.has(ENCRYPTED)) {
            return Ok(None);
        }
        let mut clear = Zeroizing::new([0; MOST_KEY_DATA_B]);
        let clear = frame.decrypt(ptk.kek(), &mut clear)?;
        if is_wpa {
            // WPA's key data are the key itself; which one it is stands in the information.
            let key_B = usize::from(u16::from_be_bytes([frame.packet[7], frame.packet[8]]));
            let key = clear.get(..key_B).ok_or(Malformed::KeyFrame)?;
            let key_id = ((frame.information >> 4) & 3) as u8;
            return Ok(Some((key_id, Temporal::new(key, self.suites.group)?)));
        }
        for (id, content) in elements(clear) {
            if let (221, [0x00, 0x0f, 0xac, 1, flags, _, key @ ..]) = (id, content) {
                return Ok(Some((flags & 3, Temporal::new(key, self.suites.group)?)));
            }
        }
        Ok(None)
    }
}
