//! The engine's clock over a time that the page tells, in nanoseconds.
//!
//! Neither context switches nor the processor can be seen from a page: both are `None`, so that no batch is discarded
//! for them, and the records say so.
#![forbid(unsafe_code)]

use std::hint::black_box;

use wattlock_bench::share::ports::Clocks;
use wattlock_engine::{Clock, Moment, Nanoseconds, Ticks};

use crate::device::Device;

/// Who tells the time.
pub trait Time {
    /// The monotonic clock, as fine as there is one.
    fn now(&mut self) -> Nanoseconds;

    /// Time since 1970-01-01 UTC.
    fn unix(&mut self) -> Nanoseconds;
}

/// The clock of a page.
pub struct PageClock<T> {
    time: T,
    multiplications: u64,
    additions: u64,
    step: Ticks,
}

impl<T: Time> PageClock<T> {
    /// The clock with a canary and a burst as long as the device's steps want them.
    pub fn new(time: T, device: &Device) -> Self {
        let Device { multiplications, additions, .. } = *device;
        // A ticker counts between the steps.
        Self { time, multiplications, additions, step: if device.has_ticker { 0 } else { device.step_ns } }
    }
}

impl<T: Time> Clock for PageClock<T> {
    fn ticks(&mut self) -> Ticks {
        self.time.now()
    }

    fn step(&self) -> Ticks {
        self.step
    }

    fn cpu_time(&mut self) -> Option<Nanoseconds> {
        None
    }

    fn canary(&mut self) -> Ticks {
        let start = self.time.now();
        multiply_chain(self.multiplications);
        // A step of the clock is the least that it can tell.
        self.time.now().saturating_sub(start).max(1)
    }

    fn burst(&mut self) -> Ticks {
        let start = self.time.now();
        add_burst(self.additions);
        self.time.now().saturating_sub(start).max(1)
    }

    fn moment(&mut self) -> Moment {
        Moment { switches: None, cpu: None }
    }
}

impl<T: Time> Clocks for PageClock<T> {
    fn ticks_per_second(&self) -> u64 {
        1_000_000_000
    }

    /// The engine of a browser compiles the chain: its cycles are not known.
    fn canary_cycles(&self) -> Option<u64> {
        None
    }

    fn now(&mut self) -> Nanoseconds {
        self.time.now()
    }

    fn suspended(&mut self) -> Nanoseconds {
        0
    }

    fn unix(&mut self) -> Nanoseconds {
        self.time.unix()
    }

    /// A page can't rest while it works: it waits.
    fn sleep(&mut self, time: Nanoseconds) {
        let start = self.time.now();
        while self.time.now().saturating_sub(start) < time {
            std::hint::spin_loop();
        }
    }
}

/// So many multiplications, each of which waits for the one before.
#[inline(never)]
pub fn multiply_chain(count: u64) {
    let mut x = black_box(3_u64);
    for _ in 0..count {
        x = x.wrapping_mul(x);
    }
    black_box(x);
}

/// So many additions in eight chains, of which none waits for another.
#[inline(never)]
pub fn add_burst(count: u64) {
    let mut sums = black_box([1_u64, 2, 3, 4, 5, 6, 7, 8]);
    for round in 0..count / 16 {
        // The rotation is there so that no compiler knows the sum beforehand.
        sums.iter_mut().for_each(|sum| *sum = sum.rotate_left(7).wrapping_add(round));
    }
    black_box(sums);
}
