//! From a passphrase or a master key to the keys of frames: what the four-way and the group key handshake carry (12.7),
//! a fast transition (13.8), the setup of a direct link (12.7.8).
//!
//! Nothing is believed whose MIC is wrong, but a first nonce, which has none.

mod agreement;
mod akm;
mod direct;
mod elements;
mod key_frame;
mod keys;
mod learned;
mod transition;

use zeroize::Zeroizing;

pub use agreement::{Known, Master, Why};
pub use akm::{Akm, Hash};
pub use direct::DirectLink;
pub use key_frame::KeyFrame;
pub use keys::{Brought, Holders, MOST_PMK_B, NAME_B, NONCE_B, PMK_B, PmkR1, Ptk, Temporal, kdf, prf_sha1, psk};
pub use learned::Learned;
pub use transition::Transition;

use crate::{Address, Error, Frame, Kind, Malformed, Protocol};
use agreement::Shown;
use elements::{Mobility, Suites, VENDOR, elements};
use key_frame::{MOST_KEY_DATA_B, Step};

/// The station's half of a handshake: its nonce, and how keys are to be made.
#[derive(Clone, Copy)]
struct Answer {
    nonce: [u8; NONCE_B],
    suites: Suites,
    mobility: Option<Mobility>,
}

/// What is known of one station and its access point.
pub struct Handshake {
    addresses: [Address; 2],
    from_access_point: Option<[u8; NONCE_B]>,
    /// The last one whose MIC was right.
    answer: Option<Answer>,
    /// A later one whose MIC could not be looked at, or was wrong: the frame that it answers may have been missed.
    doubtful: Option<Answer>,
    ptk: Option<Ptk>,
    akm: Option<Akm>,
    heard: [bool; 4],
    why: Option<Why>,
}

impl Handshake {
    /// Nothing was heard yet.
    #[must_use]
    pub fn new(access_point: Address, station: Address) -> Self {
        Self {
            addresses: [access_point, station],
            from_access_point: None,
            answer: None,
            doubtful: None,
            ptk: None,
            akm: None,
            heard: [false; 4],
            why: None,
        }
    }

    /// The key management, where a frame has said it.
    #[must_use]
    pub fn akm(&self) -> Option<Akm> {
        self.akm
    }

    /// Takes the key management that an association has asked for, until a key frame says it.
    pub fn suppose(&mut self, akm: Akm) {
        self.akm = self.akm.or(Some(akm));
    }

    /// Which of the four frames of a pair were heard.
    #[must_use]
    pub fn heard(&self) -> [bool; 4] {
        self.heard
    }

    /// Why there is no key; `None` where there is one.
    #[must_use]
    pub fn why(&self) -> Option<Why> {
        match (&self.ptk, self.why, self.answer.or(self.doubtful)) {
            (Some(_), ..) => None,
            (None, Some(why), _) => Some(why),
            (None, None, None) => Some(Why::NoSupplicant),
            (None, None, Some(_)) => Some(Why::NoAuthenticator),
        }
    }

    /// Hears a key frame of this pair.
    ///
    /// # Errors
    /// [`Error::Mic`]: another key, or a frame of nobody; [`Malformed::KeyFrame`].
    pub fn hear(&mut self, frame: &KeyFrame<'_>, known: &Known<'_>) -> Result<Learned, Error> {
        let step = frame.step();
        if !frame.has_mic_field() {
            // Under FILS the key data have a tag in its place.
            self.why = Some(Why::NotFollowed);
        }
        if let Step::Pair(number) = step {
            self.heard[usize::from(number) - 1] = true;
        }
        match step {
            _ if !frame.has_mic_field() => Ok(Learned::default()),
            Step::Pair(1) => {
                self.from_access_point = Some(frame.nonce());
                Ok(Learned::default())
            }
            Step::Pair(2) => self.second(frame, known),
            Step::Pair(3) => self.third(frame, known),
            Step::Group => {
                let ptk = self.ptk.clone().ok_or(Error::Mic)?;
                frame.verify(&ptk)?;
                Ok(Learned { pairwise: None, group: self.group_key(frame, &ptk)? })
            }
            _ => Ok(Learned::default()),
        }
    }

    fn second(&mut self, frame: &KeyFrame<'_>, known: &Known<'_>) -> Result<Learned, Error> {
        let data = frame.data()?;
        let suites = Suites::of(data);
        self.akm = suites.akm.or(self.akm);
        let mic_B = suites.akm.map_or(16, Akm::mic_B);
        let answer = Answer { nonce: frame.nonce(), suites, mobility: Mobility::of(data, mic_B).ok() };
        // The first message may have been missed; the third one repeats its nonce.
        self.doubtful = Some(answer);
        let Some(first) = self.from_access_point else { return Ok(Learned::default()) };
        self.agree(frame, &answer, &first, known)
    }

    fn third(&mut self, frame: &KeyFrame<'_>, known: &Known<'_>) -> Result<Learned, Error> {
        self.from_access_point = Some(frame.nonce());
        let mut outcome = Err(Error::Mic);
        for answer in [self.doubtful, self.answer].into_iter().flatten() {
            outcome = self.agree(frame, &answer, &frame.nonce(), known);
            if outcome.is_ok() {
                break;
            }
        }
        let learned = outcome?;
        let ptk = self.ptk.clone().ok_or(Error::Mic)?;
        Ok(Learned { group: self.group_key(frame, &ptk)?, ..learned })
    }

    /// The key on which the pair agrees if it answered so: the one under which the frame's MIC is right.
    fn agree(
        &mut self,
        frame: &KeyFrame<'_>,
        answer: &Answer,
        first: &[u8; NONCE_B],
        known: &Known<'_>,
    ) -> Result<Learned, Error> {
        let suites = &answer.suites;
        let by_version = if frame.version() == 3 { Akm::PSK_SHA256 } else { Akm::PSK };
        let akm = suites.akm.unwrap_or(by_version);
        // The length goes into the hash of SHA-256; where no suite was shown, both are tried.
        let length_B = suites.pairwise.map(Protocol::key_B).filter(|length_B| matches!(length_B, 16 | 32));
        let any: &[usize] = if akm == Akm::PSK { &[32] } else { &[16, 32] };
        let shown = Shown {
            akm,
            mobility: answer.mobility.as_ref(),
            brought: Brought { addresses: self.addresses, nonces: [first, &answer.nonce] },
            temporal_B: length_B.as_ref().map_or(any, core::slice::from_ref),
        };
        match shown.agreed(known, |ptk| frame.verify(ptk)) {
            Ok(ptk) => {
                let pairwise = Some(Temporal::new(ptk.temporal(), suites.pairwise)?);
                (self.answer, self.doubtful, self.ptk, self.why) = (Some(*answer), None, Some(ptk), None);
                Ok(Learned { pairwise, group: None })
            }
            Err(why) => {
                self.why = Some(why);
                Err(why.into())
            }
        }
    }

    /// The group key in the key data of a frame that has verified.
    fn group_key(&self, frame: &KeyFrame<'_>, ptk: &Ptk) -> Result<Option<(u8, Temporal)>, Error> {
        let protocol = self.answer.and_then(|answer| answer.suites.group);
        let is_wpa = frame.is_wpa();
        let is_of_pair = matches!(frame.step(), Step::Pair(_));
        if frame.data()?.is_empty() || (is_wpa && is_of_pair) || !(is_wpa || frame.is_encrypted()) {
            return Ok(None);
        }
        let mut clear = Zeroizing::new([0; MOST_KEY_DATA_B]);
        let clear = frame.decrypt(ptk, &mut clear)?;
        if is_wpa {
            // WPA's key data are the key itself; which one it is stands in the information.
            let (key_id, key_B) = frame.wpa_key();
            let key = clear.get(..key_B).ok_or(Malformed::KeyFrame)?;
            return Ok(Some((key_id, Temporal::new(key, protocol)?)));
        }
        for element in elements(clear) {
            if let (VENDOR, [0x00, 0x0f, 0xac, 1, flags, _, key @ ..]) = (element.id, element.content) {
                return Ok(Some((flags & 3, Temporal::new(key, protocol)?)));
            }
        }
        Ok(None)
    }
}

/// Octets before the elements of a frame that tells of its network, and whether a station sends it (9.3.3).
fn before_elements(frame: &Frame<'_>) -> Option<(usize, bool)> {
    let is_clear = frame.kind() == Kind::Management && !frame.is_protected();
    match frame.subtype() {
        0 if is_clear => Some((4, true)),
        2 if is_clear => Some((10, true)),
        5 | 8 if is_clear => Some((12, false)),
        _ => None,
    }
}

/// The key management that a station asks for as it associates.
#[must_use]
pub fn asked_for(frame: &Frame<'_>) -> Option<Akm> {
    let (fixed_B, _) = before_elements(frame).filter(|(_, is_of_station)| *is_of_station)?;
    Suites::of(frame.body().get(fixed_B..)?).akm
}

/// The network's name that a frame tells, and whose it is: of beacons, answers to probes, and associations.
#[must_use]
pub fn network_name<'a>(frame: &Frame<'a>) -> Option<(Address, &'a [u8])> {
    let (fixed_B, is_of_station) = before_elements(frame)?;
    let access_point = if is_of_station { frame.receiver() } else { frame.transmitter() };
    let name = elements::find(frame.body().get(fixed_B..)?, 0)?.content;
    // A hidden network says nothing, or as many zeros.
    let is_one = name.len() <= 32 && name.iter().any(|octet| *octet != 0);
    is_one.then_some((access_point, name))
}
