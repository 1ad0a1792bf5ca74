//! The quiet level: what a burst takes beside its canary where nothing shares the core.

use alloc::vec::Vec;

use wattlock_engine::{Clock, burst_ppm, clock_changed};

/// Samples of the burst from which the quiet level is found.
const LEAST_SAMPLES: usize = 100;

/// What a burst takes just now, in millionths of a canary; `None` where the two canaries around it do not agree.
pub(super) fn sample(clock: &mut impl Clock) -> Option<u32> {
    let (before, burst, after) = (clock.canary(), clock.burst(), clock.canary());
    if clock_changed(before, after) { None } else { burst_ppm(burst, before.midpoint(after)) }
}

/// Takes samples until there are enough.
pub(super) fn complete(samples: &mut Vec<u32>, clock: &mut impl Clock) {
    samples.extend((samples.len()..LEAST_SAMPLES).filter_map(|_| sample(clock)));
}

/// The quiet level of the core just now; `None` where the clock changed too often to tell.
pub fn now(clock: &mut impl Clock) -> Option<u32> {
    let mut samples = Vec::new();
    complete(&mut samples, clock);
    of(&mut samples)
}

/// The quiet tenth of the samples; `None` of too few.
pub(super) fn of(samples: &mut [u32]) -> Option<u32> {
    samples.sort_unstable();
    (samples.len() >= LEAST_SAMPLES / 4).then(|| samples.get(samples.len() / 10).copied()).flatten()
}
