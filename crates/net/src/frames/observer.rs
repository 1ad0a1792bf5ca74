//! Takes protection off as somebody who listens and has keys: which key a frame needs, what handshakes teach, what waits
//! for the rest of its MSDU.

use std::collections::{HashMap, VecDeque};

use serde::Serialize;
use wattlock_frames::handshake::{
    Akm, DirectLink, Handshake, KeyFrame, Known, Learned, Master, Temporal, Transition, asked_for, network_name,
};
use wattlock_frames::tkip::{Countermeasures, Event};
use wattlock_frames::{Address, Error, Frame, Key, Malformed, Msdu, Opened, Protocol, Replay, fitting};
use zeroize::Zeroizing;

use super::handshakes::{Exchange, Handshakes, because};

/// Pairs of stations whose handshakes are followed at once, and transmitters whose numbers are.
const MOST_PAIRS: usize = 65_536;
/// Keys that a pair or a group keeps: late frames come under the key from before.
const KEPT_KEYS: usize = 8;
/// Fragments that wait for the rest of their MSDUs.
const MOST_WAITING: usize = 4096;
/// Their octets.
const MOST_WAITING_B: usize = 16 << 20;

/// Why frames were not written, and how many.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// The ICV of WEP or TKIP was wrong.
    pub icv: u64,
    /// The MIC of CCMP or GCMP was wrong.
    pub mic: u64,
    /// The Michael of the MSDU was wrong.
    pub michael: u64,
    /// The packet number was there before.
    pub replay: u64,
    /// No key is known that it could be under.
    pub no_key: u64,
    /// No frame that could be meant: cut, damaged, an incomplete MSDU.
    pub malformed: u64,
}

impl Failed {
    /// Counts frames that failed alike.
    pub fn count(&mut self, refusal: Refusal, frames: u64) {
        *match refusal {
            Refusal::NoKey => &mut self.no_key,
            Refusal::Because(Error::Icv) => &mut self.icv,
            Refusal::Because(Error::Mic) => &mut self.mic,
            Refusal::Because(Error::Michael) => &mut self.michael,
            Refusal::Because(Error::Replay) => &mut self.replay,
            Refusal::Because(_) => &mut self.malformed,
        } += frames;
    }
}

/// Why one frame is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No key is known that it could be under.
    NoKey,
    /// What is wrong.
    Because(Error),
}

impl Refusal {
    /// Of several keys' refusals the one that knows most counts: the others had the wrong key.
    fn weight(self) -> u8 {
        match self {
            Self::NoKey => 0,
            Self::Because(Error::Malformed(_)) => 1,
            Self::Because(Error::Icv) => 2,
            Self::Because(Error::Mic) => 3,
            Self::Because(Error::Replay) => 4,
            Self::Because(_) => 5,
        }
    }
}

/// Keys that keys of pairs are made of.
#[derive(Default)]
pub struct Masters {
    /// Of passphrases: PSKs.
    pub of_passphrases: Vec<Zeroizing<Vec<u8>>>,
    /// Pairwise master keys; of a fast transition what its keys are made of.
    pub given: Vec<Zeroizing<Vec<u8>>>,
    /// Names that networks may have, beside those that are heard.
    pub names: Vec<Vec<u8>>,
}

impl Masters {
    fn all(&self) -> Vec<Master<'_>> {
        let of_passphrases = self.of_passphrases.iter().map(|key| Master { key, of_passphrase: true });
        of_passphrases.chain(self.given.iter().map(|key| Master { key, of_passphrase: false })).collect()
    }
}

struct Secret {
    bytes: Zeroizing<Vec<u8>>,
    /// Where the handshake showed it, or the user.
    protocols: Option<[Protocol; 2]>,
}

struct Receiver {
    key: Key,
    replay: Replay,
}

type Pair = (Address, Address);
/// Transmitter, receiver, traffic identifier, sequence number.
type Fragmented = (Address, Address, u8, u16);

struct Waiting<T> {
    of: Fragmented,
    mpdu: Vec<u8>,
    with: T,
}

/// What becomes of a frame; `T` is what goes with it to where it is written.
pub enum Outcome<T> {
    /// It was not protected, and is passed on as it is.
    Clear(T),
    /// These verified, in order: one frame, or all fragments of an MSDU.
    Verified(Vec<(Vec<u8>, T)>),
    /// It verified as far as it goes, and waits for the rest of its MSDU.
    Waits,
    /// It is not written; with it go fragments that waited.
    Refused(Refusal, u64),
}

/// Somebody who listens.
pub struct Observer<T> {
    /// By numbers that are never given twice.
    secrets: HashMap<usize, Secret>,
    next: usize,
    common: Vec<usize>,
    pairs: HashMap<Pair, VecDeque<usize>>,
    groups: HashMap<(Address, u8), VecDeque<usize>>,
    masters: Masters,
    /// Of access points.
    names: HashMap<Address, Vec<u8>>,
    /// What stations asked for as they associated.
    asked_for: HashMap<Pair, Akm>,
    under_way: HashMap<Pair, Handshake>,
    receivers: HashMap<(usize, Protocol, Address), Receiver>,
    waiting: VecDeque<Waiting<T>>,
    waiting_B: usize,
    countermeasures: HashMap<Address, Countermeasures>,
    clear: Vec<u8>,
    /// Fragments whose MSDU was given up.
    given_up: u64,
    /// What handshakes were, and what they taught.
    pub handshakes: Handshakes,
    /// Keys that handshakes taught.
    pub keys_learned: u64,
    /// How often TKIP's countermeasures would have switched it off.
    pub countermeasures_taken: u64,
}

impl<T> Observer<T> {
    /// With these keys: of WEP, temporal ones, and pairwise master keys.
    pub fn new(wep: &[Vec<u8>], temporal: &[Vec<u8>], masters: Masters) -> Self {
        let of_wep = |bytes: &Vec<u8>| Secret {
            bytes: Zeroizing::new(bytes.clone()),
            protocols: Some([Protocol::Wep40, Protocol::Wep104]),
        };
        let of_temporal = |bytes: &Vec<u8>| Secret { bytes: Zeroizing::new(bytes.clone()), protocols: None };
        let secrets: HashMap<_, _> =
            wep.iter().map(of_wep).chain(temporal.iter().map(of_temporal)).enumerate().collect();
        Self {
            common: (0..secrets.len()).collect(),
            next: secrets.len(),
            secrets,
            pairs: HashMap::new(),
            groups: HashMap::new(),
            masters,
            names: HashMap::new(),
            asked_for: HashMap::new(),
            under_way: HashMap::new(),
            receivers: HashMap::new(),
            waiting: VecDeque::new(),
            waiting_B: 0,
            countermeasures: HashMap::new(),
            clear: Vec::new(),
            given_up: 0,
            handshakes: Handshakes::default(),
            keys_learned: 0,
            countermeasures_taken: 0,
        }
    }

    /// Hears one frame.
    pub fn hear(&mut self, frame: &Frame<'_>, time_ns: u64, with: T) -> Outcome<T> {
        if !frame.is_protected() {
            self.learn(frame);
            return Outcome::Clear(with);
        }
        let mut clear = std::mem::take(&mut self.clear);
        clear.resize(frame.mpdu().len(), 0);
        let opened = self.unprotect(frame, &mut clear);
        let outcome = match opened {
            Ok(opened) => self.opened(frame, opened, &clear, with),
            Err(refusal) => {
                let is_michael = refusal == Refusal::Because(Error::Michael);
                let lost = if is_michael { self.take_waiting(frame).len() as u64 } else { 0 };
                if is_michael {
                    self.michael_failed(frame, time_ns);
                }
                Outcome::Refused(refusal, 1 + lost)
            }
        };
        self.clear = clear;
        outcome
    }

    /// Frames whose MSDU was given up, or is not whole yet.
    pub fn waiting(&self) -> u64 {
        self.waiting.len() as u64 + self.given_up
    }

    fn michael_failed(&mut self, frame: &Frame<'_>, time_ns: u64) {
        if self.countermeasures.len() == MOST_PAIRS {
            self.countermeasures.clear();
        }
        let event = self.countermeasures.entry(frame.receiver()).or_default().failed(time_ns);
        self.countermeasures_taken += u64::from(matches!(event, Event::Off { .. }));
    }

    fn opened(&mut self, frame: &Frame<'_>, opened: Opened, clear: &[u8], with: T) -> Outcome<T> {
        let mpdu = &clear[..opened.length_B];
        let Ok(plain) = Frame::parse(mpdu) else {
            return Outcome::Refused(Refusal::Because(Malformed::Header.into()), 1);
        };
        if plain.is_forged_aggregate() {
            return Outcome::Refused(Refusal::Because(Malformed::Aggregate.into()), 1);
        }
        match opened.msdu {
            Msdu::UnderWay => {
                if frame.fragment() == 0 {
                    self.given_up += self.take_waiting(frame).len() as u64;
                }
                while self.waiting.len() == MOST_WAITING || self.waiting_B + mpdu.len() > MOST_WAITING_B {
                    let Some(oldest) = self.waiting.pop_front() else { break };
                    self.waiting_B -= oldest.mpdu.len();
                    self.given_up += 1;
                }
                self.waiting_B += mpdu.len();
                self.waiting.push_back(Waiting { of: of(frame), mpdu: mpdu.to_vec(), with });
                Outcome::Waits
            }
            Msdu::Whole { cut_before_B } => {
                self.learn(&plain);
                let mut frames = if frame.fragment() > 0 { self.take_waiting(frame) } else { Vec::new() };
                if let Some((before, _)) = frames.last_mut() {
                    before.truncate(before.len().saturating_sub(cut_before_B));
                }
                frames.push((mpdu.to_vec(), with));
                Outcome::Verified(frames)
            }
        }
    }

    fn take_waiting(&mut self, frame: &Frame<'_>) -> Vec<(Vec<u8>, T)> {
        let (taken, kept) = self.waiting.drain(..).partition(|waiting: &Waiting<T>| waiting.of == of(frame));
        self.waiting = kept;
        let taken: VecDeque<Waiting<T>> = taken;
        self.waiting_B -= taken.iter().map(|waiting| waiting.mpdu.len()).sum::<usize>();
        taken.into_iter().map(|waiting| (waiting.mpdu, waiting.with)).collect()
    }

    /// The keys that a frame may be under, the newest first.
    fn candidates(&self, frame: &Frame<'_>) -> Vec<usize> {
        let own = if frame.is_group_addressed() {
            let key_id = frame.body().get(3).map_or(0, |octet| octet >> 6);
            self.groups.get(&(frame.transmitter(), key_id))
        } else {
            self.pairs.get(&pair(frame.transmitter(), frame.receiver()))
        };
        own.into_iter().flatten().chain(&self.common).copied().collect()
    }

    fn unprotect(&mut self, frame: &Frame<'_>, clear: &mut [u8]) -> Result<Opened, Refusal> {
        if frame.body().len() < 4 {
            return Err(Refusal::Because(Malformed::Protection.into()));
        }
        let mut refusal = Refusal::NoKey;
        for at in self.candidates(frame) {
            let Some(secret) = self.secrets.get(&at) else { continue };
            let allowed = secret.protocols;
            let fitting = fitting(frame, secret.bytes.len());
            for protocol in fitting.filter(|protocol| allowed.is_none_or(|allowed| allowed.contains(protocol))) {
                match self.try_key(at, protocol, frame, clear) {
                    Ok(opened) => return Ok(opened),
                    // It has verified: another key may be the same one, with counters that have not seen it.
                    Err(Error::Replay) => return Err(Refusal::Because(Error::Replay)),
                    Err(error) if Refusal::Because(error).weight() > refusal.weight() => {
                        refusal = Refusal::Because(error);
                    }
                    Err(_) => {}
                }
            }
        }
        Err(refusal)
    }

    fn try_key(&mut self, at: usize, protocol: Protocol, frame: &Frame<'_>, clear: &mut [u8]) -> Result<Opened, Error> {
        let of = (at, protocol, frame.transmitter());
        if let Some(receiver) = self.receivers.get_mut(&of) {
            return receiver.key.unprotect(frame, Some(&mut receiver.replay), clear);
        }
        // Somebody is remembered from the first frame that verifies: nobody's guesses fill the memory.
        let Some(secret) = self.secrets.get(&at) else { return Err(Malformed::NothingToDo.into()) };
        let mut receiver = Receiver { key: Key::new(protocol, &secret.bytes)?, replay: Replay::new() };
        let opened = receiver.key.unprotect(frame, Some(&mut receiver.replay), clear)?;
        if self.receivers.len() >= MOST_PAIRS {
            // Whoever is not remembered could be replayed.
            clear.fill(0);
            return Err(Malformed::TooLong.into());
        }
        self.receivers.insert(of, receiver);
        Ok(opened)
    }

    fn learn(&mut self, frame: &Frame<'_>) {
        if let Some((access_point, name)) = network_name(frame)
            && (self.names.len() < MOST_PAIRS || self.names.contains_key(&access_point))
        {
            self.names.insert(access_point, name.to_vec());
        }
        if let Some(akm) = asked_for(frame)
            && self.asked_for.len() < MOST_PAIRS
        {
            self.asked_for.insert((frame.receiver(), frame.transmitter()), akm);
        }
        if let Some(transition) = Transition::parse(frame) {
            let (access_point, station) = (transition.access_point, transition.station);
            let taught = self.with_known(access_point, |known| transition.keys(known));
            let at = self.handshakes.at(Exchange::FastTransition, access_point, station);
            let number = if frame.subtype() == 2 { 1 } else { 2 };
            let why = taught.as_ref().err().map(|why| because(*why, Some(transition.akm)));
            self.handshakes.hear(at, transition.akm, number, why);
            self.take(at, access_point, station, taught.unwrap_or_default());
        }
        if let Some(link) = DirectLink::parse(frame) {
            let (initiator, responder) = (link.initiator, link.responder);
            let at = self.handshakes.at(Exchange::DirectLink, responder, initiator);
            let taught = link.key();
            let why = taught.as_ref().err().map(|_| "the MIC of its setup is wrong".to_owned());
            self.handshakes.hear(at, Akm::TDLS, link.number(), why);
            let learned = Learned { pairwise: taught.ok(), group: None };
            self.take(at, responder, initiator, learned);
        }
        if let Some(Ok(Some(key_frame))) = frame.eapol().map(KeyFrame::parse) {
            self.key_frame(frame, &key_frame);
        }
    }

    fn key_frame(&mut self, frame: &Frame<'_>, key_frame: &KeyFrame<'_>) {
        let (mut access_point, mut station) = (frame.transmitter(), frame.receiver());
        if !key_frame.is_from_authenticator() {
            (access_point, station) = (station, access_point);
        }
        let pair = (access_point, station);
        if self.under_way.len() >= MOST_PAIRS && !self.under_way.contains_key(&pair) {
            return;
        }
        let mut handshake = self.under_way.remove(&pair).unwrap_or_else(|| Handshake::new(access_point, station));
        if let Some(akm) = self.asked_for.get(&pair) {
            handshake.suppose(*akm);
        }
        let learned = self.with_known(access_point, |known| handshake.hear(key_frame, known));
        let at = self.handshakes.at(Exchange::FourWay, access_point, station);
        self.handshakes.hear_all(at, &handshake);
        self.under_way.insert(pair, handshake);
        self.take(at, access_point, station, learned.unwrap_or_default());
    }

    /// Does something with the keys and names that are known at an access point.
    fn with_known<R>(&self, access_point: Address, act: impl FnOnce(&Known<'_>) -> R) -> R {
        let masters = self.masters.all();
        let heard = self.names.get(&access_point).into_iter();
        let names: Vec<&[u8]> = heard.chain(&self.masters.names).map(Vec::as_slice).collect();
        act(&Known { masters: &masters, names: &names })
    }

    /// Installs what was taught.
    fn take(&mut self, at: Option<usize>, access_point: Address, station: Address, learned: Learned) {
        let before = self.keys_learned;
        if let Some(pairwise) = learned.pairwise {
            self.install(Owner::Pair(pair(access_point, station)), &pairwise);
        }
        if let Some((key_id, group)) = learned.group {
            self.install(Owner::Group(access_point, key_id), &group);
        }
        self.handshakes.count(at, self.keys_learned - before);
    }

    /// Installs a key, if it is not there already: a key that is installed once more would begin its numbers anew.
    fn install(&mut self, owner: Owner, temporal: &Temporal) {
        let keys = match owner {
            Owner::Pair(pair) => self.pairs.entry(pair).or_default(),
            Owner::Group(access_point, key_id) => self.groups.entry((access_point, key_id)).or_default(),
        };
        let secrets = &mut self.secrets;
        let is_there = |at: &usize| secrets.get(at).is_some_and(|secret| secret.bytes.as_slice() == temporal.bytes());
        if keys.iter().chain(&self.common).any(is_there) {
            return;
        }
        let protocols = temporal.protocol.map(|protocol| [protocol; 2]);
        let mut install = |bytes: &[u8]| {
            keys.push_front(self.next);
            secrets.insert(self.next, Secret { bytes: Zeroizing::new(bytes.to_vec()), protocols });
            self.next += 1;
        };
        install(temporal.bytes());
        if let (None, Some((short, [_, ..]))) = (protocols, temporal.bytes().split_at_checked(16)) {
            // The handshake did not say how long its key is.
            install(short);
        }
        self.keys_learned += 1;
        if keys.len() > KEPT_KEYS {
            let forgotten = keys.split_off(KEPT_KEYS);
            secrets.retain(|at, _| !forgotten.contains(at));
            self.receivers.retain(|(at, _, _), _| !forgotten.contains(at));
        }
    }
}

/// Whose a key is.
enum Owner {
    Pair(Pair),
    /// Of an access point, which of four.
    Group(Address, u8),
}

fn pair(one: Address, other: Address) -> Pair {
    (one.min(other), one.max(other))
}

fn of(frame: &Frame<'_>) -> Fragmented {
    (frame.transmitter(), frame.receiver(), frame.tid(), frame.sequence())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [5; 32];

    fn mpdu(flags: u8, sequence: u16, body: &[u8]) -> Vec<u8> {
        let mut mpdu = vec![0x08, flags, 0, 0];
        mpdu.extend([2; 18]);
        mpdu.extend((sequence << 4).to_le_bytes());
        mpdu.extend(body);
        mpdu
    }

    fn hear(observer: &mut Observer<()>, protocol: Protocol, mpdu: &[u8], number: u64) -> Option<Outcome<()>> {
        let mut sealed = vec![0; mpdu.len() + wattlock_frames::MAX_EXPANSION_B];
        let mut key = Key::new(protocol, &KEY[..protocol.key_B()]).ok()?;
        let length_B = key.protect(&Frame::parse(mpdu).ok()?, number, 0, &mut sealed).ok()?;
        Some(observer.hear(&Frame::parse(&sealed[..length_B]).ok()?, 0, ()))
    }

    #[test]
    fn a_replay_is_refused_though_its_key_was_given_twice() {
        let mut observer = Observer::new(&[], &[KEY[..16].to_vec(), KEY[..16].to_vec()], Masters::default());
        let first = hear(&mut observer, Protocol::Ccmp128, &mpdu(1, 1, b"body"), 1);
        assert!(matches!(first, Some(Outcome::Verified(_))));
        let again = hear(&mut observer, Protocol::Ccmp128, &mpdu(1, 1, b"body"), 1);
        assert!(matches!(again, Some(Outcome::Refused(Refusal::Because(Error::Replay), 1))));
    }

    #[test]
    fn fragments_that_wait_are_given_up_where_they_grow_too_large_together() {
        let mut observer = Observer::new(&[], &[KEY.to_vec()], Masters::default());
        // First fragments, each of another MSDU, of 64 KiB.
        for sequence in 0..300_u16 {
            let mpdu = mpdu(5, sequence, &[7; 1 << 16]);
            let heard = hear(&mut observer, Protocol::Tkip, &mpdu, u64::from(sequence) + 1);
            assert!(matches!(heard, Some(Outcome::Waits)));
            assert!(observer.waiting.iter().map(|waiting| waiting.mpdu.len()).sum::<usize>() <= MOST_WAITING_B);
        }
        assert_eq!(observer.waiting(), 300);
        assert!(observer.given_up > 0);
    }
}
