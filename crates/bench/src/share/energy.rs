//! Blocks of energy in place of batches: superblocks of all cases around a baseline.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::{black_box, spin_loop};

use wattlock_engine::{
    self as engine, Case as _, EnergyBlock, Load, MeterError, Nanoseconds, RecordedBlock, Slot, SplitMix64, Step,
    energy_block, recorded_block,
};
use wattlock_records::{Baseline, BlockRole, EdgeRecord, EnergyBlockRecord, EnergyPlan, Follows, Record};

use super::marker::mark;
use super::ports::{Clocks, EnergyMeter, Records};
use crate::prepared::Prepared;

/// Tries of one block, the first included.
const TRIES: u32 = 3;
/// A pause of the idle baseline between two looks for an edge, at least.
const LEAST_PAUSE: Nanoseconds = 20_000;
/// A thread that had less of its processor, percent, shared the block with other programs: their joules are in it.
const LEAST_CPU_PERCENT: u64 = 90;
/// A recorded block is surrounded by its own load for this long, and for at least so many samples of the instrument.
const GUARD: Nanoseconds = 5_000_000;
const GUARD_SAMPLES: u64 = 5;
/// What a baseline of memcpy copies.
const COPY_B: usize = 64 * 1024;

/// What all blocks of a process share.
pub(super) struct Measurement<'a, C> {
    pub plan: &'a EnergyPlan,
    pub process: u32,
    pub seed: u64,
    pub slots: &'a [Slot],
    pub bodies: &'a mut [Box<dyn Prepared>],
    pub clock: &'a mut C,
    pub meter: &'a mut dyn EnergyMeter,
}

impl<C: Clocks> Measurement<'_, C> {
    /// Measures all superblocks, between two markers where an instrument beside the device records; gives the lines of
    /// blocks.
    ///
    /// # Errors
    /// Those of the sink of records.
    pub(super) fn carry_out<R: Records>(&mut self, records: &mut R) -> Result<u64, R::Error> {
        let Some(chip) = self.meter.chip().filter(|_| self.plan.superblocks > 0) else { return self.measure(records) };
        records.write(&Record::Marker(mark(self.clock, self.meter, chip, (self.process, 0))))?;
        let written = self.measure(records)?;
        records.write(&Record::Marker(mark(self.clock, self.meter, chip, (self.process, 1))))?;
        records.flush()?;
        Ok(written)
    }

    /// Measures all superblocks; gives the lines written. A meter that fails for good ends it.
    fn measure<R: Records>(&mut self, records: &mut R) -> Result<u64, R::Error> {
        let mut random = SplitMix64::new(self.seed);
        let mut order: Vec<u32> = (0..).take(self.slots.len()).collect();
        let mut baseline = Resting::of(self.plan.baseline);
        let mut written = 0;
        for superblock in 0..self.plan.superblocks {
            for (position, step) in (0..).zip(engine::superblock(&mut order, &mut random)) {
                for attempt in 0..TRIES {
                    let mut record = self.block(step, &mut baseline, &mut random);
                    (record.superblock, record.position, record.attempt) = (superblock, position, attempt);
                    let follows = record.follows;
                    records.write(&Record::EnergyBlock(Box::new(record)))?;
                    written += 1;
                    match follows {
                        Some(Follows::EndRun) => {
                            records.flush()?;
                            return Ok(written);
                        }
                        Some(Follows::RepeatBlock) => {}
                        _ => break,
                    }
                }
            }
            records.flush()?;
        }
        Ok(written)
    }

    fn block(&mut self, step: Step, baseline: &mut Resting, random: &mut SplitMix64) -> EnergyBlockRecord {
        let least = self.plan.block_ns;
        let canary_before_ticks = self.clock.canary();
        let (start, cpu_start) = (self.clock.now(), self.clock.cpu_time());
        let slot = match step {
            Step::Case(at) => self.slots.get(at as usize),
            Step::Baseline => None,
        };
        let body = slot.and_then(|slot| Some((slot, self.bodies.get_mut(slot.body)?)));
        let (role, case, block) = match body {
            Some((slot, body)) => {
                body.settle(random.next_u64());
                let mut load = Calls { body, calls: slot.calls, clock: &mut *self.clock };
                (BlockRole::Case, Some(slot.case), block_of(&mut load, least, self.meter))
            }
            None => {
                let mut load = Rest { baseline, clock: &mut *self.clock };
                (BlockRole::Baseline, None, block_of(&mut load, least, self.meter))
            }
        };
        let wall_ns = self.clock.now().saturating_sub(start);
        let cpu_ns = self.clock.cpu_time().zip(cpu_start).map(|(end, start)| end.saturating_sub(start));
        let canary_after_ticks = self.clock.canary();
        let (error, follows) = self.judge(role, block, wall_ns, cpu_ns);
        let block = block.ok();
        EnergyBlockRecord {
            process: self.process,
            superblock: 0,
            position: 0,
            attempt: 0,
            role,
            case,
            calls: block.map_or(0, |block| block.calls),
            run_ns: block.map(|block| block.run),
            start: block.map(|block| block.start),
            end: block.map(|block| block.end),
            gross_nJ: block.and_then(|block| block.gross),
            alignment_u_nJ: None,
            error,
            follows,
            wall_ns,
            cpu_ns,
            canary_before_ticks,
            canary_after_ticks,
        }
    }

    /// Why a block does not count, and what follows.
    fn judge(
        &self,
        role: BlockRole,
        block: Result<Block, MeterError>,
        wall_ns: Nanoseconds,
        cpu_ns: Option<Nanoseconds>,
    ) -> (Option<String>, Option<Follows>) {
        match (block, cpu_ns) {
            (Err(error), _) => (Some(self.meter.message(error)), Some(error.follows().into())),
            (Ok(_), Some(cpu_ns)) if role == BlockRole::Case && cpu_ns * 100 < wall_ns * LEAST_CPU_PERCENT => {
                let percent = cpu_ns * 100 / wall_ns.max(1);
                let error = format!("other programs took part: {percent} % of the processor was left");
                (Some(error), Some(Follows::RepeatBlock))
            }
            _ => (None, None),
        }
    }
}

/// A block as it is written: with the joules between its edges, or without where they are in a recording.
#[derive(Clone, Copy)]
struct Block {
    calls: u64,
    run: Nanoseconds,
    start: EdgeRecord,
    end: EdgeRecord,
    gross: Option<u64>,
}

fn block_of(load: &mut impl Load, least: Nanoseconds, meter: &mut dyn EnergyMeter) -> Result<Block, MeterError> {
    if meter.chip().is_some() {
        let guard = GUARD.max(GUARD_SAMPLES * meter.description().update_period);
        let RecordedBlock { calls, start, end } = recorded_block(load, least, guard, meter)?;
        let run = end.before.saturating_sub(start.after);
        return Ok(Block { calls, run, start: start.into(), end: end.into(), gross: None });
    }
    let EnergyBlock { calls, run, start, end, gross } = energy_block(load, least, meter)?;
    Ok(Block { calls, run, start: start.into(), end: end.into(), gross: Some(gross) })
}

/// Calls of a case, back to back; the clock is read between groups of them that fill part of a batch.
struct Calls<'a, C> {
    body: &'a mut Box<dyn Prepared>,
    calls: u32,
    clock: &'a mut C,
}

impl<C: Clocks> Load for Calls<'_, C> {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        let (least, start) = (self.clock.ticks_of(time), self.clock.ticks());
        let mut done = 0;
        loop {
            self.body.beat();
            for segment in 0..self.body.segments() {
                self.body.run(segment, self.calls);
            }
            done += u64::from(self.calls);
            if self.clock.ticks().saturating_sub(start) >= least {
                return done;
            }
        }
    }
}

/// What the processor does while no case runs.
enum Resting {
    Idle,
    Spin,
    Memcpy(Box<[u8]>, Box<[u8]>),
}

impl Resting {
    fn of(baseline: Baseline) -> Self {
        let buffer = || vec![0x5a; COPY_B].into_boxed_slice();
        match baseline {
            Baseline::Idle => Self::Idle,
            Baseline::Spin => Self::Spin,
            Baseline::Memcpy => Self::Memcpy(buffer(), buffer()),
        }
    }
}

/// The baseline as a load.
struct Rest<'a, C> {
    baseline: &'a mut Resting,
    clock: &'a mut C,
}

impl<C: Clocks> Load for Rest<'_, C> {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        let start = self.clock.now();
        let mut is_over = || self.clock.now().saturating_sub(start) >= time;
        match self.baseline {
            Resting::Idle => self.clock.sleep(time.max(LEAST_PAUSE)),
            Resting::Spin => {
                while !is_over() {
                    (0..100).for_each(|_| spin_loop());
                }
            }
            Resting::Memcpy(from, to) => {
                let mut copies = 0;
                while copies == 0 || !is_over() {
                    black_box(&mut *to).copy_from_slice(black_box(from));
                    copies += 1;
                }
                return copies;
            }
        }
        0
    }
}
