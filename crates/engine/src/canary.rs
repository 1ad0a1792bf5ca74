//! The canary clock: a chain of dependent multiplications, whose length in core cycles is known, tells the clock of
//! the core that ran it. Batch ticks over canary ticks are core cycles, without a performance counter.
//!
//! Valid for core-bound work only: memory has a clock of its own.

use crate::Ticks;

/// Canaries before and after a batch that differ by more than this share (in percent) mean a changed clock.
const CLOCK_CHANGE_PERCENT: u64 = 2;

/// A burst that takes this share (in percent) more of its canary than on a quiet core means a neighbour.
pub const NEIGHBOUR_PERCENT: u64 = 2;

/// Whether the core's clock changed between two canaries: they differ by more than 2 %.
///
/// * `step`: as of [`Clock::step`](crate::Clock::step). Either canary may be off by one: so much is no difference.
#[must_use]
pub fn clock_changed(before: Ticks, after: Ticks, step: Ticks) -> bool {
    let least = before.min(after);
    let apart = before.abs_diff(after).saturating_sub(step.saturating_mul(2));
    apart.saturating_mul(100) > least.saturating_mul(CLOCK_CHANGE_PERCENT)
}

/// The time of a burst in millionths of its canary's: what a core that is not shared shows always alike.
#[must_use]
pub fn burst_ppm(burst: Ticks, canary: Ticks) -> Option<u32> {
    u32::try_from(burst.checked_mul(1_000_000)?.checked_div(canary)?).ok()
}

/// Whether another thread used the core's units: the burst took over 2 % more of its canary than on a quiet core.
///
/// * `step`: as of [`Clock::step`](crate::Clock::step). The burst may be too long by one, and the canary too short.
#[must_use]
pub fn core_shared(burst: Ticks, canary: Ticks, step: Ticks, quiet_ppm: u32) -> bool {
    burst_ppm(burst.saturating_sub(step), canary.saturating_add(step))
        .is_some_and(|ppm| u64::from(ppm) * 100 > u64::from(quiet_ppm) * (100 + NEIGHBOUR_PERCENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_that_is_slower_than_the_chain_allows_tells_a_neighbour() {
        assert_eq!(burst_ppm(377, 1000), Some(377_000));
        assert!(!core_shared(384, 1000, 0, 377_000));
        assert!(core_shared(385, 1000, 0, 377_000));
        assert!(!core_shared(385, 1100, 0, 377_000), "a slower clock slows both");
        assert!(!core_shared(385, 0, 0, 377_000));
    }

    #[test]
    fn a_clock_that_moves_by_two_percent_is_steady_and_by_more_is_not() {
        assert!(!clock_changed(10_000, 10_200, 0));
        assert!(clock_changed(10_000, 10_201, 0));
        assert!(clock_changed(10_201, 10_000, 0));
    }

    #[test]
    fn what_a_step_of_the_clock_may_hide_is_neither_a_change_of_the_core_nor_a_neighbour() {
        // A burst or a canary of 60 steps of 5.
        assert!(!clock_changed(300, 316, 5), "two steps and 2 %");
        assert!(clock_changed(300, 317, 5));
        assert!(!core_shared(316, 300, 5, 1_000_000), "305 ticks and 2 %");
        assert!(core_shared(317, 300, 5, 1_000_000));
    }
}
