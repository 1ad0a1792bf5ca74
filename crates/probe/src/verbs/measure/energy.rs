//! Blocks of energy in place of batches: superblocks of all cases around a baseline.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use wattlock_bench::bind::Prepared;
use wattlock_engine::{self as engine, Clock as _, Load, Nanoseconds, Slot, SplitMix64, Step, energy_block};
use wattlock_meters::{self as meters, Opened};
use wattlock_records::{Baseline, BlockRole, EnergyBlockRecord, EnergyPlan, Follows, Record};

use super::Output;
use crate::clock::RealClock;

/// Tries of one block, the first included.
const TRIES: u32 = 3;
/// A pause of the idle baseline between two looks for an edge, at least.
const LEAST_PAUSE: Duration = Duration::from_micros(20);
/// A thread that had less of its processor, percent, shared the block with other programs: their joules are in it.
const LEAST_CPU_PERCENT: u64 = 90;
/// What a baseline of memcpy copies.
const COPY_B: usize = 64 * 1024;

/// What all blocks of a process share.
pub(super) struct Weighing<'a> {
    pub plan: &'a EnergyPlan,
    pub process: u32,
    pub seed: u64,
    pub slots: &'a [Slot],
    pub bodies: &'a mut [Box<dyn Prepared>],
    pub clock: &'a mut RealClock,
}

/// Measures all superblocks; gives the lines written. A meter that fails for good ends it.
pub(super) fn weigh<W: Write>(
    work: &mut Weighing<'_>,
    opened: &mut Opened,
    output: &mut Output<'_, W>,
) -> io::Result<u64> {
    let mut random = SplitMix64::new(work.seed);
    let mut order: Vec<u32> = (0..).take(work.slots.len()).collect();
    let mut baseline = Resting::of(work.plan.baseline);
    let mut written = 0;
    for superblock in 0..work.plan.superblocks {
        for (position, step) in (0..).zip(engine::superblock(&mut order, &mut random)) {
            for attempt in 0..TRIES {
                let mut record = work.block(step, &mut baseline, opened, &mut random);
                (record.superblock, record.position, record.attempt) = (superblock, position, attempt);
                let follows = record.follows;
                output.push(&Record::EnergyBlock(Box::new(record)))?;
                written += 1;
                match follows {
                    Some(Follows::EndRun) => {
                        output.flush()?;
                        return Ok(written);
                    }
                    Some(Follows::RepeatBlock) => {}
                    _ => break,
                }
            }
        }
        output.flush()?;
    }
    Ok(written)
}

impl Weighing<'_> {
    fn block(
        &mut self,
        step: Step,
        baseline: &mut Resting,
        opened: &mut Opened,
        random: &mut SplitMix64,
    ) -> EnergyBlockRecord {
        let least = self.plan.block_ns;
        let meter = &mut *opened.meter;
        let canary_before_ticks = self.clock.canary();
        let (start, cpu_start) = (Instant::now(), self.clock.cpu_time());
        let slot = match step {
            Step::Case(at) => self.slots.get(at as usize),
            Step::Baseline => None,
        };
        let body = slot.and_then(|slot| Some((slot, self.bodies.get_mut(slot.body)?)));
        let (role, case, block) = match body {
            Some((slot, body)) => {
                body.settle(random.next_u64());
                let mut load = Calls { body, calls: slot.calls, clock: RealClock { ..*self.clock } };
                (BlockRole::Case, Some(slot.case), energy_block(&mut load, least, meter))
            }
            None => (BlockRole::Baseline, None, energy_block(baseline, least, meter)),
        };
        let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let cpu_ns = self.clock.cpu_time().zip(cpu_start).map(|(end, start)| end.saturating_sub(start));
        let canary_after_ticks = self.clock.canary();
        let (error, follows) = match (&block, cpu_ns) {
            (Err(error), _) => {
                let told = meters::told(*error, meter);
                (Some(meters::for_a_record(&told, self.plan.sys_root.as_deref())), Some(error.follows().into()))
            }
            (Ok(_), Some(cpu_ns)) if role == BlockRole::Case && cpu_ns * 100 < wall_ns * LEAST_CPU_PERCENT => {
                let percent = cpu_ns * 100 / wall_ns.max(1);
                (
                    Some(format!("other programs took part: {percent} % of the processor was left")),
                    Some(Follows::RepeatBlock),
                )
            }
            _ => (None, None),
        };
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
            start: block.map(|block| block.start.into()),
            end: block.map(|block| block.end.into()),
            gross_nJ: block.map(|block| block.gross),
            error,
            follows,
            wall_ns,
            cpu_ns,
            canary_before_ticks,
            canary_after_ticks,
        }
    }
}

/// Calls of a case, back to back; the clock is read between groups of them that fill part of a batch.
struct Calls<'a> {
    body: &'a mut Box<dyn Prepared>,
    calls: u32,
    clock: RealClock,
}

impl Load for Calls<'_> {
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

impl Load for Resting {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        let (start, time) = (Instant::now(), Duration::from_nanos(time));
        match self {
            Self::Idle => std::thread::sleep(time.max(LEAST_PAUSE)),
            Self::Spin => {
                while start.elapsed() < time {
                    (0..100).for_each(|_| std::hint::spin_loop());
                }
            }
            Self::Memcpy(from, to) => {
                let mut copies = 0;
                while start.elapsed() < time || copies == 0 {
                    black_box(&mut *to).copy_from_slice(black_box(from));
                    copies += 1;
                }
                return copies;
            }
        }
        0
    }
}
