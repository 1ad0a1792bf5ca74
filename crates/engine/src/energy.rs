//! Energy of a block: the counter at its edges and nothing read inside.

use crate::{Cell, Meter, MeterDescription, MeterError, Microjoules, Nanoseconds, Reading};

/// A block holds at least this many updates of the counter.
const LEAST_UPDATES: u64 = 5;

/// One block of calls between two reads of an energy counter: gross, the idle power is not taken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnergyBlock {
    /// Calls carried out.
    pub calls: u64,
    /// The read before.
    pub start: Reading,
    /// The read after.
    pub end: Reading,
    /// Energy between the two.
    pub gross: Microjoules,
}

/// What the counter rose by between two reads, a single wrap unrolled.
///
/// # Errors
/// A window shorter than five updates or longer than the counter's round trip, a counter that fell without a known
/// range or stands above it. None of them is ever 0 J.
pub fn counter_since(start: Reading, end: Reading, meter: MeterDescription) -> Result<Microjoules, MeterError> {
    let window: Nanoseconds = end.before.saturating_sub(start.after);
    let least = LEAST_UPDATES.saturating_mul(meter.update_period);
    if window < least {
        return Err(MeterError::WindowTooShort { window, least });
    }
    if window >= meter.round_trip {
        return Err(MeterError::WrapAmbiguous { window, round_trip: meter.round_trip });
    }
    let (from, to) = (start.counter, end.counter);
    if let Some(range) = meter.range {
        if from.max(to) > range {
            return Err(MeterError::BeyondRange { counter: from.max(to), range });
        }
        return Ok(if to >= from { to - from } else { range - from + to });
    }
    to.checked_sub(from).ok_or(MeterError::WentBackwards { from, to })
}

/// Runs a cell's first segment in batches of `calls` until `least` has passed, between two reads of the meter.
///
/// * `now`: the time on the meter's own clock.
///
/// # Errors
/// Those of the meter and of [`counter_since`].
pub fn energy_block<B: Cell, M: Meter>(
    body: &mut B,
    calls: u32,
    least: Nanoseconds,
    meter: &mut M,
    mut now: impl FnMut() -> Nanoseconds,
) -> Result<EnergyBlock, MeterError> {
    let start = meter.read()?;
    let mut carried_out = 0_u64;
    while now().saturating_sub(start.after) < least {
        body.run(0, calls);
        carried_out += u64::from(calls);
    }
    let end = meter.read()?;
    let gross = counter_since(start, end, meter.description())?;
    Ok(EnergyBlock { calls: carried_out, start, end, gross })
}
