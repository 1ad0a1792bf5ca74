//! Two loads timed by the engine on this machine's own clock, interleaved and each beside its canary.
//!
//! `cargo run --release -p wattlock-engine --example two_loads`

use std::hint::black_box;
use std::time::Instant;

use wattlock_engine::{Batch, Case, Clock, Entry, Granted, Moment, Nanoseconds, Pace, Shard, Sink, Slot, Ticks, shard};

/// Sums so many numbers a call.
struct Sum {
    numbers: u64,
}

impl Case for Sum {
    fn run(&mut self, _segment: u32, calls: u32) {
        for _ in 0..calls {
            black_box((0..black_box(self.numbers)).fold(0, |sum: u64, number| sum.wrapping_mul(31) ^ number));
        }
    }
}

/// A clock whose tick is a nanosecond. A real one also knows the thread's time, its switches and its processor.
struct Wall(Instant);

impl Wall {
    /// What `operation` takes when it is repeated.
    fn timed(&mut self, operation: impl Fn(u64) -> u64) -> Ticks {
        let begun = self.ticks();
        black_box((0..12_000).fold(black_box(1), |value, _| operation(value)));
        self.ticks() - begun
    }
}

impl Clock for Wall {
    fn ticks(&mut self) -> Ticks {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(Ticks::MAX)
    }
    fn cpu_time(&mut self) -> Option<Nanoseconds> {
        None
    }
    fn canary(&mut self) -> Ticks {
        self.timed(|value| black_box(value.wrapping_mul(3)))
    }
    fn burst(&mut self) -> Ticks {
        self.timed(|value| value.wrapping_add(1))
    }
    fn moment(&mut self) -> Moment {
        Moment { switches: None, cpu: None }
    }
}

/// Nanoseconds of a call, of each batch that nothing disturbed, by case.
#[derive(Default)]
struct Kept([Vec<f64>; 2]);

impl Sink for Kept {
    type Error = &'static str;

    fn batch(&mut self, batch: &Batch) {
        if batch.cause.is_none() {
            self.0[batch.case as usize].push(batch.ticks as f64 / f64::from(batch.calls));
        }
    }
    fn round_ended(&mut self, _round: u32) -> Result<(), Self::Error> {
        Ok(())
    }
}

fn main() -> Result<(), &'static str> {
    let mut bodies = [Sum { numbers: 1_000 }, Sum { numbers: 2_000 }];
    let slots = [0, 1].map(|case: u32| Slot {
        case,
        body: case as usize,
        calls: 100,
        claimed_calls: 100,
        visits: 50,
        ..Slot::default()
    });
    let mut order = [Entry::default(); 4];
    let mut kept = Kept::default();
    let work = Shard {
        bodies: &mut bodies,
        slots: &slots,
        order: &mut order,
        rounds: 50,
        seed: 7,
        paces: &mut [Pace::default(); 2],
        warm_ticks: 20_000,
        state_ticks: 2_000_000,
        quiet_ppm: None,
        granted: Granted::default(),
    };
    shard(work, &mut Wall(Instant::now()), &mut kept)?;
    for (case, mut batches) in kept.0.into_iter().enumerate() {
        batches.sort_by(f64::total_cmp);
        let median = batches.get(batches.len() / 2).ok_or("no batch was left undisturbed")?;
        println!("case {case}: {} undisturbed batches, median {median:.1} ns a call", batches.len());
    }
    Ok(())
}
