//! Taking protection off: a conversation on the air in front of somebody who listens and has keys.
//!
//! Nobody's changed bytes get past an ICV or a MIC, so a conversation is not frames alone but what is done, step by step:
//! octets that are heard as they are, frames that a station protects, key frames that it signs and wraps.

use std::hash::{DefaultHasher, Hash, Hasher};

use wattlock_frames::handshake::Akm;
use wattlock_frames::{Frame, Key, MAX_EXPANSION_B, Protocol};
use zeroize::Zeroizing;

use crate::air::{self, ACCESS_POINT, ALL, FIXED_B, GROUP, LLC_EAPOL, PMK, STATION};
use wattlock_net::frames::observer::{Failed, Masters, Observer, Outcome};

/// What a step does; its first octet is taken modulo [`STEPS`].
pub const HEAR: u8 = 0;
/// How: protocol in three bits, key id in two, then [`SAME_NUMBER`], [`CHANGED`].
pub const PROTECT: u8 = 1;
/// How: [`UP`], [`SIGN`], [`WRAP`], [`SHA256`], [`SHORT`], [`LATER`].
pub const KEY_FRAME: u8 = 2;
/// How: as [`PROTECT`], and [`TO_ALL`].
pub const UNDER_LEARNED: u8 = 3;
const STEPS: u8 = 4;

pub const SAME_NUMBER: u8 = 0x20;
pub const CHANGED: u8 = 0x40;
pub const TO_ALL: u8 = 0x80;

pub const UP: u8 = 0x01;
pub const SIGN: u8 = 0x02;
pub const WRAP: u8 = 0x04;
pub const SHA256: u8 = 0x08;
pub const SHORT: u8 = 0x10;
/// Minutes go by before it.
pub const LATER: u8 = 0x20;

/// One step as bytes.
pub fn step(what: u8, how: u8, bytes: &[u8]) -> Vec<u8> {
    let length_B = u16::try_from(bytes.len()).expect("a step is short");
    [&[what, how][..], &length_B.to_le_bytes(), bytes].concat()
}

struct Air {
    observer: Observer<()>,
    senders: [Option<Key>; Protocol::ALL.len()],
    number: u64,
    time_ns: u64,
    /// Of the access point, of the station.
    nonces: [[u8; 32]; 2],
    akm: Akm,
    temporal_B: usize,
    sequence: u16,
    failed: Failed,
    told: DefaultHasher,
}

/// Hears a conversation.
///
/// # Panics
/// Where a frame verifies twice, or is not what was protected.
pub fn unprotect(mut bytes: &[u8]) -> u64 {
    let key: Vec<u8> = (0..32).collect();
    let keys = |sizes_B: [usize; 2]| sizes_B.map(|size_B| key[..size_B].to_vec());
    let mut air = Air {
        observer: Observer::new(
            &keys([5, 13]),
            &keys([16, 32]),
            Masters {
                of_passphrases: vec![Zeroizing::new(vec![9; 32]), Zeroizing::new(PMK.to_vec())],
                given: vec![Zeroizing::new(vec![3; 48])],
                names: vec![b"home".to_vec()],
            },
        ),
        senders: [const { None }; Protocol::ALL.len()],
        number: 1,
        time_ns: 0,
        nonces: [[0; 32]; 2],
        akm: Akm::PSK,
        temporal_B: 16,
        sequence: 0,
        failed: Failed::default(),
        told: DefaultHasher::new(),
    };
    while let &[what, how, low, high, ref rest @ ..] = bytes {
        let length_B = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (payload, rest) = rest.split_at(length_B);
        bytes = rest;
        air.time_ns += 1_000_000_000;
        match what % STEPS {
            HEAR => {
                air.hear(payload);
            }
            PROTECT => air.protect(how, payload),
            KEY_FRAME => air.key_frame(how, payload.to_vec()),
            _ => air.under_learned(how, payload),
        }
    }
    let Air { observer, failed, mut told, .. } = air;
    let alike = |count: u64| count.min(3);
    [failed.icv, failed.mic, failed.michael, failed.replay, failed.no_key, failed.malformed].map(alike).hash(&mut told);
    [observer.waiting(), observer.keys_learned, observer.countermeasures_taken].map(alike).hash(&mut told);
    told.finish()
}

impl Air {
    /// Gives the frames that verified.
    fn hear(&mut self, mpdu: &[u8]) -> Option<Vec<Vec<u8>>> {
        let frame = Frame::parse(mpdu).ok()?;
        let outcome = self.observer.hear(&frame, self.time_ns, ());
        match outcome {
            Outcome::Clear(()) => 0_u8.hash(&mut self.told),
            Outcome::Waits => 1_u8.hash(&mut self.told),
            Outcome::Refused(refusal, frames) => {
                assert!(frames > 0);
                self.failed.count(refusal, frames);
                format!("{refusal:?}").hash(&mut self.told);
            }
            Outcome::Verified(frames) => {
                let has_number = frame.body().get(3).is_some_and(|octet| octet & 0x20 != 0);
                if has_number {
                    let again = self.observer.hear(&frame, self.time_ns, ());
                    assert!(!matches!(again, Outcome::Verified(_)), "a replay has verified");
                }
                (2_u8, frames.len()).hash(&mut self.told);
                return Some(frames.into_iter().map(|(mpdu, ())| mpdu).collect());
            }
        }
        None
    }

    /// Protects a frame, and has it heard.
    fn sent(&mut self, key: &mut Key, how: u8, mpdu: &[u8]) {
        let Ok(frame) = Frame::parse(mpdu) else { return };
        self.number += u64::from(how & SAME_NUMBER == 0);
        let mut output = vec![0; mpdu.len() + MAX_EXPANSION_B];
        let Ok(length_B) = key.protect(&frame, self.number, how >> 3 & 3, &mut output) else { return };
        output.truncate(length_B);
        if how & CHANGED != 0 {
            // Under TKIP with the ICV right again, as only Michael sees (12.5.2.3): the priority of a QoS frame.
            let at = if frame.tid() > 0 { frame.header().len() - 2 } else { length_B - 1 };
            output[at] ^= 1;
        }
        let clear = self.hear(&output);
        // A wrong key's ICV may be right by chance, a MIC never.
        if let Some(last) = clear.and_then(|frames| frames.last().cloned())
            && how & CHANGED == 0
            && key.protocol().head_B() == 8
        {
            assert_eq!(last, mpdu, "{}", key.protocol());
        }
    }

    fn protocol(how: u8) -> usize {
        usize::from(how & 7) % Protocol::ALL.len()
    }

    fn protect(&mut self, how: u8, mpdu: &[u8]) {
        let at = Self::protocol(how);
        let protocol = Protocol::ALL[at];
        let bytes: Vec<u8> = (0..32).collect();
        let key = || Key::new(protocol, &bytes[..protocol.key_B()]).expect("the length is right");
        let mut key = self.senders[at].take().unwrap_or_else(key);
        self.sent(&mut key, how, mpdu);
        self.senders[at] = Some(key);
    }

    fn key_frame(&mut self, how: u8, mut packet: Vec<u8>) {
        let is_down = how & UP == 0;
        if how & LATER != 0 {
            self.time_ns += 300_000_000_000;
        }
        if packet.len() >= FIXED_B {
            self.akm = if how & SHA256 == 0 { Akm::PSK } else { Akm::PSK_SHA256 };
            self.temporal_B = if how & SHORT == 0 { 32 } else { 16 };
            let is_pairwise = packet[6] & 8 != 0;
            if is_pairwise && packet[17..49] != [0; 32] {
                self.nonces[usize::from(!is_down)].copy_from_slice(&packet[17..49]);
            }
            let ptk = air::ptk(self.akm, [&self.nonces[0], &self.nonces[1]], self.temporal_B);
            if how & WRAP != 0 {
                air::wrap(&mut packet, ptk.kek());
            }
            if how & SIGN != 0 {
                air::sign(&mut packet, ptk.kck());
            }
        }
        self.sequence = (self.sequence + 1) & 0xfff;
        let to = if is_down { STATION } else { ACCESS_POINT };
        self.hear(&air::data(is_down, to, self.sequence, None, &[&LLC_EAPOL[..], &packet].concat()));
    }

    /// A body under the pair's key, or under the group's.
    fn under_learned(&mut self, how: u8, body: &[u8]) {
        let protocol = Protocol::ALL[Self::protocol(how)];
        let ptk = air::ptk(self.akm, [&self.nonces[0], &self.nonces[1]], self.temporal_B);
        let to_all = how & TO_ALL != 0;
        let key = if to_all { &GROUP[..] } else { ptk.temporal() };
        let Some(mut key) = key.get(..protocol.key_B()).and_then(|key| Key::new(protocol, key).ok()) else { return };
        self.sequence = (self.sequence + 1) & 0xfff;
        let mpdu = air::data(true, if to_all { ALL } else { STATION }, self.sequence, None, body);
        self.sent(&mut key, how, &mpdu);
    }
}
