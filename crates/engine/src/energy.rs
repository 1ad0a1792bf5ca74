//! Energy of a block: the counter at its edges and nothing read inside.

use crate::{Meter, MeterDescription, MeterError, Nanojoules, Nanoseconds, Reading, SplitMix64};

/// A block holds at least this many updates of the counter.
const LEAST_UPDATES: u64 = 5;
/// Reads in one update period while an edge is looked for.
const READS_A_PERIOD: u64 = 20;
/// The two clocks that tell a suspend are read one after the other.
const LEAST_SUSPEND: Nanoseconds = 1_000_000;

/// The moment at which the counter took a new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// It had the value before at this time.
    pub not_before: Nanoseconds,
    /// It had this one at this time.
    pub not_after: Nanoseconds,
    /// The new value.
    pub counter: Nanojoules,
    /// How long the machine had been suspended.
    pub suspended: Nanoseconds,
}

impl Edge {
    /// The middle of the time in which it can have been.
    #[must_use]
    pub fn moment(&self) -> Nanoseconds {
        self.not_before.midpoint(self.not_after)
    }
}

/// One block of work between two edges of an energy counter: gross, the idle power is not taken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnergyBlock {
    /// Calls carried out from the read that showed the first edge to the one that showed the last.
    pub calls: u64,
    /// The time that these calls took, the reads at the edges included.
    pub run: Nanoseconds,
    /// The edge before.
    pub start: Edge,
    /// The edge after.
    pub end: Edge,
    /// Energy between the edges.
    pub gross: Nanojoules,
}

/// What the counter rose by between two edges, a single wrap unrolled.
///
/// # Errors
/// A window shorter than five updates or longer than the counter's round trip, a counter that fell and no single wrap
/// explains it, one above its range, a suspend. None of them is ever 0 J.
pub fn counter_since(start: Edge, end: Edge, meter: MeterDescription) -> Result<Nanojoules, MeterError> {
    let suspended = end.suspended.saturating_sub(start.suspended);
    if suspended > LEAST_SUSPEND {
        return Err(MeterError::Suspended { suspended });
    }
    let window: Nanoseconds = end.moment().saturating_sub(start.moment());
    // Four of five: the counter's own period varies.
    let least = LEAST_UPDATES.saturating_mul(meter.update_period);
    if window < least / 5 * 4 {
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
        if to < from {
            let wrapped = range - from + to;
            // By its range it can't have risen faster than `range` in a round trip: a counter that starts anew from 0
            // would.
            let most = u128::from(range) * u128::from(window) / u128::from(meter.round_trip.max(1));
            return if u128::from(wrapped) <= most { Ok(wrapped) } else { Err(MeterError::WentBackwards { from, to }) };
        }
    }
    to.checked_sub(from).ok_or(MeterError::WentBackwards { from, to })
}

/// What a block is made of: it works for about the time that it is given and says how many calls that were.
pub trait Load {
    /// Works for `time`; never less than one call.
    fn work(&mut self, time: Nanoseconds) -> u64;
}

/// Works until an edge, for `least`, and on to the next edge: what runs between the edges is the load and nothing else,
/// and it has run before the first one.
///
/// The meter is read before `least` begins and after it has passed, some twenty times an update period, and not inside.
///
/// # Errors
/// Those of the meter and of [`counter_since`].
pub fn energy_block<L: Load + ?Sized, M: Meter + ?Sized>(
    load: &mut L,
    least: Nanoseconds,
    meter: &mut M,
) -> Result<EnergyBlock, MeterError> {
    let description = meter.description();
    let (start, _) = next_edge(load, meter)?;
    let calls = load.work(least);
    let (end, more) = next_edge(load, meter)?;
    let gross = counter_since(start, end, description)?;
    Ok(EnergyBlock { calls: calls + more, run: end.not_after.saturating_sub(start.not_after), start, end, gross })
}

/// One block of work that an instrument beside the device records: its times alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedBlock {
    /// Calls carried out in it.
    pub calls: u64,
    /// When it began.
    pub start: Reading,
    /// When it ended.
    pub end: Reading,
}

/// Works for `guard`, for `least`, and for `guard` again; what lies between the two guards is the block. Its ends are
/// surrounded by the same load, so that a small error of the two clocks takes nothing else into it.
///
/// # Errors
/// Those of the meter; a suspend.
pub fn recorded_block<L: Load + ?Sized, M: Meter + ?Sized>(
    load: &mut L,
    least: Nanoseconds,
    guard: Nanoseconds,
    meter: &mut M,
) -> Result<RecordedBlock, MeterError> {
    load.work(guard);
    let start = meter.read()?;
    let calls = load.work(least);
    let end = meter.read()?;
    load.work(guard);
    let suspended = end.suspended.saturating_sub(start.suspended);
    if suspended > LEAST_SUSPEND {
        return Err(MeterError::Suspended { suspended });
    }
    Ok(RecordedBlock { calls, start, end })
}

/// The next edge, and the calls until it was seen.
///
/// # Errors
/// Those of the meter; a counter that stands still for longer than its patience.
pub fn next_edge<L: Load + ?Sized, M: Meter + ?Sized>(load: &mut L, meter: &mut M) -> Result<(Edge, u64), MeterError> {
    let description = meter.description();
    let between = description.update_period / READS_A_PERIOD;
    let (mut last, mut calls): (Reading, u64) = (meter.read()?, 0);
    let first = last;
    loop {
        calls += load.work(between);
        let now = meter.read()?;
        if now.counter != last.counter {
            let Reading { counter, after, suspended, .. } = now;
            return Ok((Edge { not_before: last.before, not_after: after, counter, suspended }, calls));
        }
        let waited = now.after.saturating_sub(first.before);
        if waited > description.patience {
            return Err(MeterError::Stuck { counter: now.counter, waited });
        }
        last = now;
    }
}

/// One block of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// What the cases are compared with.
    Baseline,
    /// The case of this number.
    Case(u32),
}

/// The blocks of one superblock: the baseline, the cases in an order drawn anew, the baseline, the cases backwards, the
/// baseline. Each kind has its middle at the same moment, so that a steady drift falls on all alike.
pub fn superblock<'o>(order: &'o mut [u32], random: &mut SplitMix64) -> impl Iterator<Item = Step> + use<'o> {
    random.shuffle(order);
    let order: &[u32] = order;
    let forth = order.iter().map(|case| Step::Case(*case));
    let back = order.iter().rev().map(|case| Step::Case(*case));
    let baseline = || core::iter::once(Step::Baseline);
    baseline().chain(forth).chain(baseline()).chain(back).chain(baseline())
}
