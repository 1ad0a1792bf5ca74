//! The real clock of this machine, behind the engine's port.
//!
//! Ticks are the processor's own constant-rate counter where it has one, else the system's monotonic clock.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as counter;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use portable as counter;
#[cfg(target_arch = "x86_64")]
use x86_64 as counter;

use std::time::{Duration, Instant, UNIX_EPOCH};

use wattlock_bench::share::ports::{Clocks, scale};
use wattlock_engine::{Clock, Moment, Nanoseconds, Ticks};
use wattlock_meters::{SystemTime, Time as _, thread};

/// Multiplications of one canary: 9 us on a core of 4 GHz, 36 us at 1 GHz.
const CANARY_MULTIPLICATIONS: u64 = 12_000;

/// Additions of one burst: about 3 us on a core of 4 GHz that issues four a cycle.
const BURST_ADDITIONS: u64 = 48_000;

/// The real clock.
pub struct RealClock {
    /// Rate of the ticks.
    pub ticks_per_second: u64,
}

/// The real clock, its rate taken against the system's monotonic clock in 2 ms.
#[must_use]
pub fn real() -> RealClock {
    RealClock { ticks_per_second: counter::rate().unwrap_or_else(|| rate_against_system(Duration::from_millis(2))) }
}

impl Clock for RealClock {
    #[inline]
    fn ticks(&mut self) -> Ticks {
        counter::ticks()
    }

    fn cpu_time(&mut self) -> Option<Nanoseconds> {
        thread::cpu_time()
    }

    fn canary(&mut self) -> Ticks {
        let start = counter::ticks();
        counter::multiply_chain(CANARY_MULTIPLICATIONS);
        counter::ticks().saturating_sub(start)
    }

    fn burst(&mut self) -> Ticks {
        let start = counter::ticks();
        counter::add_burst(BURST_ADDITIONS);
        counter::ticks().saturating_sub(start)
    }

    fn moment(&mut self) -> Moment {
        Moment { switches: context_switches(), cpu: current_cpu() }
    }
}

impl Clocks for RealClock {
    fn ticks_per_second(&self) -> u64 {
        self.ticks_per_second
    }

    fn canary_cycles(&self) -> Option<u64> {
        counter::multiply_latency_cycles().map(|latency| latency * CANARY_MULTIPLICATIONS)
    }

    fn now(&mut self) -> Nanoseconds {
        SystemTime.now()
    }

    fn suspended(&mut self) -> Nanoseconds {
        SystemTime.suspended()
    }

    fn unix(&mut self) -> Nanoseconds {
        let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    fn sleep(&mut self, time: Nanoseconds) {
        std::thread::sleep(Duration::from_nanos(time));
    }
}

fn rate_against_system(wait: Duration) -> u64 {
    let (start, first) = (Instant::now(), counter::ticks());
    while start.elapsed() < wait {
        std::hint::spin_loop();
    }
    let (elapsed, last) = (start.elapsed(), counter::ticks());
    scale(last - first, 1_000_000_000, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(target_os = "linux")]
fn context_switches() -> Option<u64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
    u64::try_from(usage.voluntary_context_switches() + usage.involuntary_context_switches()).ok()
}

#[cfg(not(target_os = "linux"))]
fn context_switches() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
fn current_cpu() -> Option<u32> {
    nix::sched::sched_getcpu().ok().and_then(|cpu| u32::try_from(cpu).ok())
}

#[cfg(not(target_os = "linux"))]
fn current_cpu() -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_nanoseconds_are_the_same_time() {
        let clock = RealClock { ticks_per_second: 2_596_000_000 };
        assert_eq!(clock.nanoseconds(2_596_000_000), 1_000_000_000);
        assert_eq!(clock.ticks_of(1_000), 2_596);
        assert_eq!(RealClock { ticks_per_second: 0 }.nanoseconds(1), 1_000_000_000);
    }

    #[test]
    fn a_canary_is_twelve_thousand_multiplications_of_the_known_latency() {
        assert_eq!(real().canary_cycles(), counter::multiply_latency_cycles().map(|latency| latency * 12_000));
        #[cfg(target_arch = "x86_64")]
        assert!(matches!(real().canary_cycles(), Some(36_000) | None), "{:?}", real().canary_cycles());
        // The chain is as long as it is asked to be: that many multiplications take that many times one.
        let chain = |count: u64| {
            let ticks = || {
                let start = counter::ticks();
                counter::multiply_chain(count);
                counter::ticks().saturating_sub(start)
            };
            (0..200).map(|_| ticks()).min().unwrap_or(0)
        };
        let mut clock = real();
        let canary = (0..200).map(|_| clock.canary()).min().unwrap_or(0);
        let twelve = chain(12_000);
        assert!(canary * 19 < twelve * 20 && twelve * 19 < canary * 20, "{canary} and {twelve} ticks");
    }

    #[test]
    fn the_canary_is_as_long_as_its_multiplications_take() {
        let mut clock = real();
        let twice = |clock: &mut RealClock| {
            let start = clock.ticks();
            counter::multiply_chain(2 * CANARY_MULTIPLICATIONS);
            clock.ticks() - start
        };
        let single = (0..200).map(|_| clock.canary()).min().unwrap_or(0);
        let double = (0..200).map(|_| twice(&mut clock)).min().unwrap_or(0);
        assert!(single * 19 < double * 10 && double * 10 < single * 21, "{single} and {double} ticks");
    }

    #[test]
    fn cpu_time_does_not_run_backwards() {
        let mut clock = real();
        let first = clock.cpu_time();
        clock.canary();
        assert!(clock.cpu_time() >= first);
    }
}
