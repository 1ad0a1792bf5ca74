//! Batches of all cases, round by round, each a record.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use wattlock_engine::{self as engine, Case as _, Entry, Granted, Nanoseconds, Pace, Shard, Sink, Slot};
use wattlock_records::{BatchRecord, Plan, Record};

use super::granted::STATE_NS;
use super::ports::{Clocks, Records, scale};
use crate::prepared::Prepared;

/// Of addresses the part below this is kept: more does not tell two layouts apart.
const ADDRESSES_B: u64 = 1 << 20;
/// Warm-up before each visit.
const WARM_NS: Nanoseconds = 20_000;

/// Visits that may wait for a neighbour to leave, at most.
const WAITING: usize = 4096;

/// What is known of the core when nothing disturbs it.
#[derive(Clone, Copy)]
pub(super) struct Levels {
    /// Of the burst, as of [`Shard::quiet_ppm`].
    pub quiet_ppm: Option<u32>,
    /// Of the witnesses.
    pub granted: Granted,
}

/// Measures batches of all cases; gives the lines written.
///
/// # Errors
/// Those of the sink of records.
pub(super) fn time<C: Clocks, R: Records>(
    plan: &Plan,
    slots: &[Slot],
    bodies: &mut [Box<dyn Prepared>],
    levels: Levels,
    clock: &mut C,
    records: &mut R,
) -> Result<u64, R::Error> {
    let offsets: BTreeMap<u32, Vec<u64>> = slots
        .iter()
        .filter_map(|slot| {
            let body = bodies.get(slot.body)?;
            Some((slot.case, (0..body.segments()).map(|segment| body.offset(segment)).collect()))
        })
        .collect();
    let ticks_per_second = clock.ticks_per_second();
    let mut sink = Lines { records, process: plan.process, ticks_per_second, offsets, batches: Vec::new(), written: 0 };
    let work = Shard {
        bodies,
        slots,
        order: &mut vec![Entry::default(); slots.len() * 2 + WAITING],
        rounds: plan.rounds,
        seed: plan.seed,
        paces: &mut vec![Pace::default(); slots.len()],
        warm_ticks: clock.ticks_of(WARM_NS),
        state_ticks: clock.ticks_of(STATE_NS),
        quiet_ppm: levels.quiet_ppm,
        granted: levels.granted,
    };
    engine::shard(work, clock, &mut sink)?;
    Ok(sink.written)
}

/// Turns batches to records between the rounds.
struct Lines<'r, R> {
    records: &'r mut R,
    process: u32,
    ticks_per_second: u64,
    offsets: BTreeMap<u32, Vec<u64>>,
    batches: Vec<engine::Batch>,
    written: u64,
}

impl<R: Records> Sink for Lines<'_, R> {
    type Error = R::Error;

    fn batch(&mut self, batch: &engine::Batch) {
        self.batches.push(*batch);
    }

    fn round_ended(&mut self, _round: u32) -> Result<(), R::Error> {
        for batch in self.batches.drain(..) {
            self.written += 1;
            let offsets = self.offsets.get(&batch.case);
            self.records.write(&Record::Batch(BatchRecord {
                case: batch.case,
                process: self.process,
                round: batch.round,
                place: Some(batch.place),
                stack_B: Some(batch.stack as u64 % ADDRESSES_B),
                input_B: Some(batch.buffers.0 as u64 % ADDRESSES_B),
                output_B: Some(batch.buffers.1 as u64 % ADDRESSES_B),
                attempt: batch.attempt,
                segment: batch.segment,
                offset_B: offsets.and_then(|all| all.get(batch.segment as usize)).copied().unwrap_or(0),
                calls: batch.calls,
                wall_ns: scale(batch.ticks, 1_000_000_000, self.ticks_per_second),
                cpu_ns: batch.cpu_ns,
                ticks: batch.ticks,
                canary_before_ticks: batch.canary_before,
                canary_after_ticks: batch.canary_after,
                burst_before_ticks: batch.burst_before,
                burst_after_ticks: batch.burst_after,
                witness_before_ticks: batch.witness_before,
                witness_after_ticks: batch.witness_after,
                clean: batch.cause.is_none(),
                cause: batch.cause.map(Into::into),
            }))?;
        }
        self.records.flush()
    }
}
