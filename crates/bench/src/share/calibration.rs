//! How many calls fill a batch, and where a call that is longer than that is cut.

use alloc::boxed::Box;

use wattlock_engine::{Case, Clock, Ticks, calls_for};
use wattlock_records::{PlannedCase, Readiness};

use crate::constants::WHOLE_PAYLOAD_B;
use crate::prepared::Prepared;

/// A single call longer than this many batches is cut into segments.
const LONGEST_CALL_BATCHES: u64 = 2;
/// The first cut of a long input, from which the length of a segment is found.
const TRIAL_SEGMENT_B: usize = 2048;

/// Calls that fill a batch; a call that is longer than two batches is cut into segments that each fill about one, or as
/// an earlier process of the run cut it.
pub(super) fn calibrate(
    body: &mut Box<dyn Prepared>,
    planned: &PlannedCase,
    batch: Ticks,
    clock: &mut impl Clock,
) -> u32 {
    if planned.readiness == Readiness::AfterPause {
        // Its code has run once; each batch is a call of its own.
        body.run(0, 1);
        return 1;
    }
    match planned.cut_B {
        Some(0) => return fill(body, batch, clock),
        Some(segment_B) if body.cut(usize::try_from(segment_B).unwrap_or(usize::MAX)) => return 1,
        _ => {}
    }
    if planned.payload_B > WHOLE_PAYLOAD_B && body.cut(TRIAL_SEGMENT_B) {
        let trial = (0..3).map(|_| time(body, 1, clock)).min().unwrap_or(1);
        let whole = u128::from(trial) * u128::from(planned.payload_B) / TRIAL_SEGMENT_B as u128;
        if whole > u128::from(LONGEST_CALL_BATCHES * batch) {
            let fitting = TRIAL_SEGMENT_B as u128 * u128::from(batch) / u128::from(trial.max(1));
            body.cut(usize::try_from(fitting).unwrap_or(usize::MAX).next_power_of_two());
            return 1;
        }
        body.cut(usize::MAX);
    }
    fill(body, batch, clock)
}

/// Calls that fill a batch of so many ticks.
pub fn fill(body: &mut impl Case, batch: Ticks, clock: &mut impl Clock) -> u32 {
    let mut calls = 1;
    loop {
        let ticks = (0..2).map(|_| time(body, calls, clock)).min().unwrap_or(1);
        if ticks * 8 >= batch || calls >= 1 << 24 {
            return calls_for(batch, calls, ticks);
        }
        calls *= 4;
    }
}

fn time(body: &mut impl Case, calls: u32, clock: &mut impl Clock) -> Ticks {
    let start = clock.ticks();
    body.run(0, calls);
    clock.ticks().saturating_sub(start)
}
