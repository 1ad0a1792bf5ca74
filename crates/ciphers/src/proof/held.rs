//! What every part of a proof works with: a suite without its type, verdicts, bytes that look random.

use crate::cipher::{Cipher, Direction, Suite};
use crate::{Code, Error, Spec};

/// Refused, or else the operation that gave something else.
pub(super) type Verdict = Result<Result<(), &'static str>, Error>;

/// The next trial, unless the one before found something.
pub(super) fn and_then(verdict: Verdict, next: impl FnOnce() -> Verdict) -> Verdict {
    match verdict {
        Ok(Ok(())) => next(),
        found => found,
    }
}

/// A suite without its type, so that the proof is compiled once.
pub(super) trait Held {
    /// Hands a cipher with this key to `work`.
    fn with_key(&self, key: &[u8], direction: Direction, work: &mut dyn FnMut(&mut dyn Cipher) -> Verdict) -> Verdict;
}

impl<S: Suite> Held for S {
    fn with_key(&self, key: &[u8], direction: Direction, work: &mut dyn FnMut(&mut dyn Cipher) -> Verdict) -> Verdict {
        work(&mut self.key_setup(key, direction)?)
    }
}

/// No vector's text is longer.
pub(super) const TEXT_B: usize = 160;

pub(super) fn first_code(spec: &Spec) -> Result<&'static Code, Error> {
    spec.card.codes.first().ok_or(Error::UnknownCipher)
}

/// Fills `bytes` with what looks random and is the same each time (SplitMix64).
pub(super) fn scatter(bytes: &mut [u8], seed: u64) {
    let mut state = seed;
    for chunk in bytes.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
    }
}
