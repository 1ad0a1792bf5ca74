//! Michael, the integrity code of an MSDU under TKIP (12.5.2.3), and what follows from a wrong one (12.5.2.4).

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::Frame;
use crate::protocol::MICHAEL_B;

/// Michael over bytes that come in parts.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Michael {
    left: u32,
    right: u32,
    part: [u8; 4],
    part_B: usize,
}

impl Michael {
    /// Begins under a key.
    #[must_use]
    pub fn new(key: &[u8; MICHAEL_B]) -> Self {
        let [a, b, c, d, e, f, g, h] = *key;
        Self {
            left: u32::from_le_bytes([a, b, c, d]),
            right: u32::from_le_bytes([e, f, g, h]),
            part: [0; 4],
            part_B: 0,
        }
    }

    /// Begins under a key with what stands for an MSDU's header: destination, source, priority.
    #[must_use]
    pub fn of(key: &[u8; MICHAEL_B], frame: &Frame<'_>) -> Self {
        let mut michael = Self::new(key);
        michael.update(&frame.destination());
        michael.update(&frame.source());
        michael.update(&[frame.tid(), 0, 0, 0]);
        michael
    }

    fn word(&mut self, word: u32) {
        let (mut l, mut r) = (self.left ^ word, self.right);
        r ^= l.rotate_left(17);
        l = l.wrapping_add(r);
        r ^= l.swap_bytes().rotate_left(16);
        l = l.wrapping_add(r);
        r ^= l.rotate_left(3);
        l = l.wrapping_add(r);
        r ^= l.rotate_right(2);
        l = l.wrapping_add(r);
        (self.left, self.right) = (l, r);
    }

    /// Goes on with more bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while self.part_B > 0 || bytes.len() < 4 {
            let Some((first, rest)) = bytes.split_first() else { return };
            self.part[self.part_B] = *first;
            self.part_B += 1;
            bytes = rest;
            if self.part_B == 4 {
                self.part_B = 0;
                self.word(u32::from_le_bytes(self.part));
            }
        }
        let mut words = bytes.chunks_exact(4);
        for word in words.by_ref() {
            self.word(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        }
        for byte in words.remainder() {
            self.part[self.part_B] = *byte;
            self.part_B += 1;
        }
    }

    /// The code of all bytes: they are followed by 0x5a and by four to seven zeros.
    #[must_use]
    pub fn finish(mut self) -> [u8; MICHAEL_B] {
        let padding_B = 8 - self.part_B;
        self.update(&[0x5a, 0, 0, 0, 0, 0, 0, 0][..padding_B]);
        let mut code = [0; MICHAEL_B];
        code[..4].copy_from_slice(&self.left.to_le_bytes());
        code[4..].copy_from_slice(&self.right.to_le_bytes());
        code
    }
}

/// Michael over bytes that come in parts and end with their code, which may lie across two parts.
#[derive(Clone)]
pub struct Checked {
    michael: Michael,
    held: [u8; MICHAEL_B],
    held_B: usize,
}

impl Checked {
    /// Begins where the header is done.
    #[must_use]
    pub fn new(michael: Michael) -> Self {
        Self { michael, held: [0; MICHAEL_B], held_B: 0 }
    }

    /// Goes on with more bytes; the last eight are held back, as they may be the code.
    pub fn update(&mut self, bytes: &[u8]) {
        let free_B = self.held_B + bytes.len();
        let spilled_B = free_B.saturating_sub(MICHAEL_B);
        let from_held_B = spilled_B.min(self.held_B);
        self.michael.update(&self.held[..from_held_B]);
        self.held.copy_within(from_held_B..self.held_B, 0);
        self.held_B -= from_held_B;
        let (done, kept) = bytes.split_at(spilled_B - from_held_B);
        self.michael.update(done);
        self.held[self.held_B..self.held_B + kept.len()].copy_from_slice(kept);
        self.held_B += kept.len();
    }

    /// Whether the last eight bytes are the code of all before.
    #[must_use]
    pub fn is_right(self) -> bool {
        self.held_B == MICHAEL_B && bool::from(self.michael.finish().ct_eq(&self.held))
    }
}

/// How long after a wrong Michael a second one counts, and how long TKIP then stays off.
const MINUTE_NS: u64 = 60_000_000_000;

/// What a wrong Michael means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The first one for a minute: it is reported.
    Reported,
    /// The second one within a minute: the keys go, and TKIP is off up to this time.
    Off {
        /// When TKIP may be used again.
        until_ns: u64,
    },
    /// TKIP is off: nothing may be received.
    StillOff,
}

/// The countermeasures of one station.
#[derive(Debug, Clone, Copy, Default)]
pub struct Countermeasures {
    last_ns: Option<u64>,
    off_until_ns: Option<u64>,
}

impl Countermeasures {
    /// Notes a wrong Michael at a time; times don't go back.
    pub fn failed(&mut self, at_ns: u64) -> Event {
        if self.is_off(at_ns) {
            return Event::StillOff;
        }
        let second = self.last_ns.is_some_and(|last| at_ns.saturating_sub(last) <= MINUTE_NS);
        if second {
            let until_ns = at_ns.saturating_add(MINUTE_NS);
            *self = Self { last_ns: None, off_until_ns: Some(until_ns) };
            Event::Off { until_ns }
        } else {
            self.last_ns = Some(at_ns);
            Event::Reported
        }
    }

    /// Whether TKIP is off at a time.
    #[must_use]
    pub fn is_off(&self, at_ns: u64) -> bool {
        self.off_until_ns.is_some_and(|until| at_ns < until)
    }
}
