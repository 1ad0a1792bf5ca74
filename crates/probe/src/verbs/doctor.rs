//! `wattlock-probe doctor`: whether this machine, now, is fit to be measured.
//!
//! This file watches, [`judge`] decides: pure functions on what was seen. What can't be seen is "not visible".
#![forbid(unsafe_code)]

mod judge;

use std::convert::Infallible;
use std::hint::black_box;
use std::process::ExitCode;

use wattlock_bench::share::calibration::fill;
use wattlock_bench::share::ports::Clocks as _;
use wattlock_bench::share::quiet_level;
use wattlock_engine::{Batch, Case, Clock, Entry, Granted, Shard, Sink, Slot, Ticks, shard};
use wattlock_meters::thread;
use wattlock_terminal::failure::Failure;
use wattlock_terminal::table::{Format, print_rows};

use self::judge::{Check, Seen, Verdict};
use crate::clock::{self, RealClock};
use crate::fingerprint;

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-probe doctor
  wattlock-probe doctor --seconds 30 --cpu 1 --format json

Exit codes: 1 where a check fails, 8 where the processor can't be pinned to.";

const COLUMNS: &[&str] = &["check", "verdict", "value", "advice"];

/// Length of a batch: as in a run.
const BATCH_NS: u64 = 100_000;
/// Batches and spins take turns, so that both see the whole time.
const SPIN_NS: u64 = 40_000_000;
const BATCHES_A_TURN: u32 = 60;
/// A spin that stands still for longer was interrupted.
const GAP_NS: u64 = 1_000;

/// Checks whether this machine is fit to be measured, and says what to do where it is not.
#[derive(clap::Args)]
pub struct Options {
    /// How the checks are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// How long the processor is watched.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
    /// The processor to be watched; without it the one on which the program happens to be.
    #[arg(long, value_name = "NUMBER")]
    cpu: Option<u32>,
}

/// Watches, judges, prints.
///
/// # Errors
/// A processor that can't be pinned to (8), standard output that can't be written (9).
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let mut clock = clock::real(options.cpu);
    let pinned = pin(options.cpu, &mut clock)?;
    let before = fingerprint::take(pinned);
    let seen = watch(&mut clock, options.seconds);
    let after = fingerprint::take(pinned);
    let checks: Vec<Check> = judge::all(&seen, &before, &after, pinned);
    print_rows(&checks, COLUMNS, options.format)?;
    let failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Pins to the processor asked for, else to the one on which the thread is, where that can be done.
fn pin(asked: Option<u32>, clock: &mut RealClock) -> Result<Option<u32>, Failure> {
    if let Some(cpu) = asked {
        let pinned = thread::pin(cpu).map_err(|error| Failure::new(8, format!("processor {cpu}: {error}")));
        return pinned.map(|()| Some(cpu)).map_err(|failure| failure.hint("`taskset -p $$` tells which may be used"));
    }
    Ok(clock.moment().cpu.filter(|cpu| thread::pin(*cpu).is_ok()))
}

/// Lets a loop spin and the engine measure in turns, until the time is over.
fn watch(clock: &mut RealClock, seconds: u32) -> Seen {
    let batch_ticks = clock.ticks_of(BATCH_NS);
    let mut body = [Multiplications(3)];
    let calls = fill(&mut body[0], batch_ticks, clock);
    let mut seen = Seen { timer_ticks: clock.timer_ticks(), batch_ticks, ..Seen::default() };
    let quiet_ppm = quiet_level::now(clock);
    let (spin, gap) = (clock.ticks_of(SPIN_NS), clock.ticks_of(GAP_NS));
    let end = clock.ticks().saturating_add(clock.ticks_per_second.saturating_mul(seconds.into()));
    while clock.ticks() < end {
        let (lost, spun) = gaps(clock, spin, gap);
        seen.lost_ticks += lost;
        seen.spun_ticks += spun;
        let slot = Slot { case: 0, body: 0, calls, claimed_calls: calls, visits: BATCHES_A_TURN, ..Slot::default() };
        let work = Shard {
            bodies: &mut body,
            slots: &[slot],
            order: &mut [Entry::default(); 2],
            rounds: BATCHES_A_TURN,
            seed: 0,
            paces: &mut [],
            warm_ticks: 0,
            state_ticks: 0,
            quiet_ppm,
            granted: Granted::default(),
        };
        let Ok(()) = shard(work, clock, &mut Tally(&mut seen));
    }
    seen
}

/// Spins for `spin` ticks; gives the ticks lost in steps longer than `gap`, and all ticks.
fn gaps<C: Clock>(clock: &mut C, spin: Ticks, gap: Ticks) -> (Ticks, Ticks) {
    let start = clock.ticks();
    let (mut last, mut lost) = (start, 0);
    while last - start < spin {
        let now = clock.ticks().max(last);
        if now - last > gap {
            lost += now - last;
        }
        last = now;
    }
    (lost, last - start)
}

/// What is timed: a chain of multiplications, bound to the core and to nothing else.
struct Multiplications(u64);

impl Case for Multiplications {
    fn run(&mut self, _segment: u32, calls: u32) {
        for _ in 0..calls {
            self.0 = black_box(self.0.wrapping_mul(self.0));
        }
    }
}

/// Takes what the engine saw.
struct Tally<'a>(&'a mut Seen);

impl Sink for Tally<'_> {
    type Error = Infallible;

    fn batch(&mut self, batch: &Batch) {
        self.0.batches += 1;
        if let Some(cause) = batch.cause {
            *self.0.dirty_batches.entry(format!("{cause:?}").to_lowercase()).or_default() += 1;
        }
        self.0.canaries.push(batch.canary_after);
    }

    fn round_ended(&mut self, _round: u32) -> Result<(), Infallible> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wattlock_engine::{Moment, Nanoseconds};

    /// A clock that steps by ten, and once in a hundred reads by a thousand.
    struct Interrupted(u64);

    impl Clock for Interrupted {
        fn ticks(&mut self) -> Ticks {
            self.0 += 1;
            self.0 * 10 + self.0 / 100 * 990
        }
        fn cpu_time(&mut self) -> Option<Nanoseconds> {
            None
        }
        fn canary(&mut self) -> Ticks {
            0
        }
        fn burst(&mut self) -> Ticks {
            0
        }
        fn moment(&mut self) -> Moment {
            Moment { switches: None, cpu: None }
        }
    }

    #[test]
    fn time_lost_in_gaps_is_told_from_time_spun() {
        let (lost, spun) = gaps(&mut Interrupted(0), 199_000, 100);
        assert_eq!((lost, spun), (100_000, 199_000));
        assert_eq!(gaps(&mut Interrupted(0), 199_000, 1_000).0, 0, "a step of just the limit is no gap");
    }
}
