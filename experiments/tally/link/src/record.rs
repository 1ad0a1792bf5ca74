//! Frames on the air: their kinds, their nonces, and what stands before a record.

use subtle::ConstantTimeEq;

use crate::error::Error;
use crate::keys::Root;
use crate::parameters::Hint;
use crate::sealing::{NONCE_B, TAG_B};
use crate::watched::verdict;
use crate::window::Window;

/// Octets of a report: head 1, base 1, bitmap 4, tag 8.
pub const REPORT_B: usize = 14;
/// Octets of a request for a rescue: head 1, tag 8.
pub const REQUEST_B: usize = 9;
/// Octets of a rescue record without its hint: generation 4, next counter 4, confirmation 16, tag 16.
pub const RESCUE_B: usize = 40;
/// Octets of the tag of what a gateway sends.
pub const DOWN_TAG_B: usize = 8;
/// Octets of a report's body.
pub const REPORT_BODY_B: usize = 5;

/// Turns of the hint's six bits that are tried for a whole tag, which no number of tries makes weak.
const TURNS: u32 = 16;
/// Counters around the expected one whose hints of two octets are looked for.
const REACH: u32 = 32;
/// Kinds and counters that are kept of one frame; what comes after them is dropped.
const MOST_CANDIDATES: usize = 16;

/// The kind of what a sensor sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A record with a short tag.
    Short = 0,
    /// A record with a whole tag.
    Whole = 1,
    /// The sensor's side of a rescue.
    Rescue = 2,
}

/// The kind of what a gateway sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Down {
    /// A report.
    Report = 0,
    /// A report that asks for whole tags until the next.
    ReportWhole = 1,
    /// A request for a rescue.
    Request = 2,
}

/// The nonce of a counter, of a generation's report or of a rescue; `kind` tells apart what has one key.
#[must_use]
pub fn nonce(kind: u8, counter: u32) -> [u8; NONCE_B] {
    let mut nonce = [0; NONCE_B];
    nonce[0] = kind;
    nonce[12..].copy_from_slice(&counter.to_be_bytes());
    nonce
}

/// A head octet: two bits of kind, the lowest six of a number.
#[must_use]
pub fn head(kind: u8, number: u32) -> u8 {
    kind << 6 | low(number, 0x3f)
}

/// The lowest bits of a number.
#[must_use]
pub fn low(number: u32, mask: u8) -> u8 {
    number.to_be_bytes()[3] & mask
}

/// Writes what stands before a record, and returns its octets.
pub fn write_hint(hint: Hint, root: &Root, kind: Kind, counter: u32, frame: &mut [u8]) -> Result<usize, Error> {
    match hint {
        Hint::None => Ok(0),
        Hint::Octet => {
            *frame.first_mut().ok_or(Error::Buffer)? = head(kind as u8, counter);
            Ok(1)
        }
        Hint::Pair => {
            frame.get_mut(..2).ok_or(Error::Buffer)?.copy_from_slice(&root.hint(kind as u8, counter));
            Ok(2)
        }
    }
}

/// What a frame may be: kinds and counters, and where its body begins.
pub struct Candidates {
    found: Found,
    /// Octets of the hint.
    pub hint_B: usize,
}

enum Found {
    /// The kind, the least counter, and how many turns of the hint may lie above it.
    Turns(Kind, u32, u32),
    /// Kinds and counters, and how many they are.
    Each([(Kind, u32); MOST_CANDIDATES], u32),
}

impl Candidates {
    /// What a frame may be to a gateway with this window that has seen so many rescues.
    ///
    /// * `told`: kind and counter (of a rescue its number) as the lower layer tells them, where nothing stands before.
    pub fn of(
        frame: &[u8],
        hint: Hint,
        told: Option<(Kind, u32)>,
        root: &Root,
        window: &Window,
        rescues: u32,
    ) -> Result<Self, Error> {
        match (hint, told) {
            (Hint::None, Some((kind, counter))) => Ok(Self { found: Found::Turns(kind, counter, 1), hint_B: 0 }),
            (Hint::None, None) => Err(Error::Unexpected),
            (Hint::Octet, _) => Self::of_octet(*frame.first().ok_or(Error::Length)?, window, rescues),
            (Hint::Pair, _) => Self::of_pair(frame.get(..2).ok_or(Error::Length)?, root, window, rescues),
        }
    }

    /// Each kind and counter, the likeliest first.
    pub fn each(&self) -> impl Iterator<Item = (Kind, u32)> {
        let (Found::Turns(.., count) | Found::Each(_, count)) = self.found;
        (0..count).filter_map(|number| match &self.found {
            Found::Turns(kind, least, _) => Some((*kind, least.saturating_add(number << 6))),
            Found::Each(found, _) => found.get(number as usize).copied(),
        })
    }

    fn of_octet(octet: u8, window: &Window, rescues: u32) -> Result<Self, Error> {
        let counter = window.nearest(u32::from(octet & 0x3f), 6);
        let found = match octet >> 6 {
            0 => Found::Turns(Kind::Short, counter, 1),
            1 => Found::Turns(Kind::Whole, counter, TURNS),
            2 if octet & 0x3f == low(rescues + 1, 0x3f) => Found::Turns(Kind::Rescue, rescues + 1, 1),
            _ => return Err(Error::Unexpected),
        };
        Ok(Self { found, hint_B: 1 })
    }

    fn of_pair(octets: &[u8], root: &Root, window: &Window, rescues: u32) -> Result<Self, Error> {
        let lowest = window.next.saturating_sub(REACH);
        let ahead = window.next..window.next.saturating_add(REACH);
        let around = ahead.chain((lowest..window.next).rev());
        let near = around.flat_map(|counter| [(Kind::Short, counter), (Kind::Whole, counter)]);
        // Without a report each eighth tag is whole: so the link comes back after an outage.
        let far = (window.next.saturating_add(REACH)..window.next.saturating_add((TURNS << 6) - REACH))
            .filter(|counter| counter.is_multiple_of(8))
            .map(|counter| (Kind::Whole, counter));
        let all = near.chain(far).chain([(Kind::Rescue, rescues + 1)]);
        let mut found = [(Kind::Short, 0); MOST_CANDIDATES];
        let mut count = 0;
        let hinted = all.filter(|(kind, counter)| verdict(root.hint(*kind as u8, *counter)[..].ct_eq(octets).into()));
        for (place, candidate) in found.iter_mut().zip(hinted) {
            *place = candidate;
            count += 1;
        }
        if count == 0 { Err(Error::Unexpected) } else { Ok(Self { found: Found::Each(found, count), hint_B: 2 }) }
    }
}

/// A body and its tag, apart.
pub fn body_and_tag(record: &[u8], tag_B: usize) -> Result<(&[u8], &[u8]), Error> {
    debug_assert!(tag_B <= TAG_B);
    let body_B = record.len().checked_sub(tag_B).ok_or(Error::Length)?;
    Ok(record.split_at(body_B))
}
