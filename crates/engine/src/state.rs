//! States of a core: what it grants to code that runs for a while, and takes back without it.
//!
//! The state that is known today is the **licence of wide vectors**. A core by Intel that has had no 512-bit code for some
//! 0.7 ms runs such code 3 times slower for 0.15 to 1.7 ms, until it has raised its voltage, and then at full speed for as
//! long as that code goes on. A shuffled round meets both at random, and canary and burst, which are no wide code, see
//! neither. What holds of it holds of any state of the kind:
//!
//! | what | how |
//! |---|---|
//! | seen | by a *witness*: a short burst of known operations of the same [`Width`]. Its time over the canary's is compared with its level where the width is granted. States that have no witness show by the [`Pace`] of the case itself |
//! | waited for | a visit warms its case up by the case's own code until the witness is granted and the case is as fast as it was, for as long as a state takes to come at most, and not beside a neighbour |
//! | told | a batch with a throttled witness at an edge has the cause [`Cause::Licence`](crate::Cause::Licence) and is tried again |
//!
//! A new state of this kind is a new witness: a value beside those of [`Width`], and what [`Clock::witness`](crate::Clock::witness)
//! does for it.

use crate::Ticks;
use crate::canary::burst_ppm;

/// A witness that takes this share (in percent) more of its canary than where its width is granted is throttled.
///
/// Above what a neighbour on the core's vector units makes of it, whom the burst of additions does not always see (up to 60 %,
/// beside batches as fast as ever, seen on a Sapphire Rapids), below the 200 to 300 % of a core that holds a width back.
pub const LICENCE_PERCENT: u64 = 75;

/// A warm-up whose last trial takes this share (in percent) more than the case's best batch is not over.
const SLOW_PERCENT: u64 = 25;
/// Waits for a case to be as fast as it was, that may fail before no more is waited for it.
const FAILURES: u8 = 2;

/// The width of vectors that code works on, where a core may hold it back: more than 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// 256 bits.
    Bits256,
    /// 512 bits.
    Bits512,
}

/// What a witness takes where its width is granted, in millionths of a canary; `None` where that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// Of 256 bits.
    pub bits256_ppm: Option<u32>,
    /// Of 512 bits.
    pub bits512_ppm: Option<u32>,
}

impl Granted {
    /// Of a width.
    #[must_use]
    pub const fn of(&self, width: Width) -> Option<u32> {
        match width {
            Width::Bits256 => self.bits256_ppm,
            Width::Bits512 => self.bits512_ppm,
        }
    }
}

/// Whether the core holds a width back: the witness took over 75 % more of its canary than where it is granted.
///
/// * `step`: as of [`Clock::step`](crate::Clock::step). The witness may be too long by one, and the canary too short.
#[must_use]
pub fn throttled(witness: Ticks, canary: Ticks, step: Ticks, granted_ppm: u32) -> bool {
    burst_ppm(witness.saturating_sub(step), canary.saturating_add(step))
        .is_some_and(|ppm| u64::from(ppm) * 100 > u64::from(granted_ppm) * (100 + LICENCE_PERCENT))
}

/// How fast one case is on this core: its best batch in canaries, by which a state shows that has no witness.
///
/// A case whose calls are of unlike lengths is slower than its best most of the time, and no waiting helps: after two waits
/// that failed no more is waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Canaries a call, times 2^32; 0 before the first batch.
    best: u64,
    failures: u8,
}

/// Calls, what they took, and the canary beside them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) calls: u32,
    pub(crate) ticks: Ticks,
}

impl Trial {
    fn canaries(self, canary: Ticks) -> u64 {
        let each = u128::from(canary.max(1)) * u128::from(self.calls.max(1));
        u64::try_from((u128::from(self.ticks) << 32) / each).unwrap_or(u64::MAX)
    }
}

impl Pace {
    /// An undisturbed batch.
    pub(crate) fn saw(&mut self, batch: Trial, canary: Ticks) {
        let canaries = batch.canaries(canary).max(1);
        self.best = if self.best == 0 { canaries } else { self.best.min(canaries) };
    }

    /// Whether a trial is slower than the case can be, and waiting has not been in vain.
    pub(crate) fn is_slow(&self, trial: Trial, canary: Ticks, step: Ticks) -> bool {
        let trial = Trial { ticks: trial.ticks.saturating_sub(step), ..trial };
        let most = u128::from(self.best) * u128::from(100 + SLOW_PERCENT);
        self.best > 0 && self.failures < FAILURES && u128::from(trial.canaries(canary)) * 100 > most
    }

    /// How a wait ended.
    pub(crate) fn waited(&mut self, in_vain: bool) {
        self.failures = if in_vain { self.failures.saturating_add(1) } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_is_throttled_from_three_quarters_above_its_granted_level_on() {
        assert!(!throttled(1_740, 3_000, 0, 333_333));
        assert!(throttled(1_760, 3_000, 0, 333_333));
        assert!(!throttled(1_760, 3_100, 0, 333_333), "a slower clock slows both");
        assert!(throttled(530, 300, 0, 1_000_000));
        assert!(!throttled(530, 300, 10, 1_000_000), "two steps of a coarse clock may hide as much");
    }

    #[test]
    fn a_case_is_slow_by_its_own_best_and_after_two_waits_in_vain_never_again() {
        let trial = |ticks| Trial { calls: 10, ticks };
        let mut pace = Pace::default();
        assert!(!pace.is_slow(trial(9_000), 1_000, 0), "nothing is known yet");
        pace.saw(trial(2_000), 1_000);
        pace.saw(trial(1_000), 1_000);
        assert!(!pace.is_slow(trial(1_249), 1_000, 0) && pace.is_slow(trial(1_260), 1_000, 0));
        assert!(!pace.is_slow(trial(2_000), 2_000, 0), "a slower clock slows both");
        pace.waited(true);
        pace.waited(false);
        pace.waited(true);
        assert!(pace.is_slow(trial(1_260), 1_000, 0));
        pace.waited(true);
        assert!(!pace.is_slow(trial(1_260), 1_000, 0));
    }
}
