//! The real clock of this machine, behind the engine's port.
//!
//! Ticks are the processor's own constant-rate counter where it has one that programs may read, else the system's
//! monotonic clock. Where ticks are coarse canary and burst are longer.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod portable;
#[cfg(target_arch = "riscv64")]
mod riscv64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as counter;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
use portable as counter;
#[cfg(target_arch = "riscv64")]
use riscv64 as counter;
#[cfg(target_arch = "x86_64")]
use x86_64 as counter;

use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use wattlock_bench::share::ports::{Clocks, scale};
use wattlock_engine::{Clock, Moment, Nanoseconds, Ticks, Width};
use wattlock_meters::{SystemTime, Time as _, thread};

/// What the tick counter is.
pub use counter::COUNTER;

/// Multiplications of one canary where ticks are fine: 9 us on a core of 4 GHz, 36 us at 1 GHz.
const CANARY_MULTIPLICATIONS: u64 = 12_000;

/// Additions of one burst where ticks are fine: about 3 us on a core of 4 GHz that issues four a cycle.
const BURST_ADDITIONS: u64 = 48_000;

/// A canary and a burst last so many ticks at least, so that one tick is 0.1 % where 2 % decides.
const LEAST_TICKS: u64 = 1_000;

/// The shortest that a canary and a burst can be: two cycles a multiplication, four additions a cycle.
const LEAST_CANARY_CYCLES: u64 = CANARY_MULTIPLICATIONS * 2;
const LEAST_BURST_CYCLES: u64 = BURST_ADDITIONS / 4;

/// What a core runs at most where the system does not tell.
const FASTEST_HZ: u64 = 5_000_000_000;

/// The least of so many canaries is one that nothing interrupted.
const CANARIES_COUNTED: usize = 20;

/// The real clock.
pub struct RealClock {
    /// Rate of the ticks.
    pub ticks_per_second: u64,
    multiplications: u64,
    additions: u64,
}

/// The real clock of a processor, its rate taken against the system's monotonic clock in 2 ms where it does not tell.
///
/// * `cpu`: the processor that is measured on; the first one stands for all where it is not said. Its highest frequency
///   and the rate of the ticks set the length of canary and burst, so that they are the same in all processes of a run.
#[must_use]
pub fn real(cpu: Option<u32>) -> RealClock {
    let told = counter::rate();
    let ticks_per_second = told.unwrap_or_else(|| rate_against_system(Duration::from_millis(2)));
    // A rate that was measured is not the same twice; counters that don't tell theirs are fine ones.
    let times = |least_cycles| told.map_or(1, |rate| lengthened(least_cycles, rate, fastest_Hz(cpu.unwrap_or(0))));
    RealClock {
        ticks_per_second,
        multiplications: CANARY_MULTIPLICATIONS * times(LEAST_CANARY_CYCLES),
        additions: BURST_ADDITIONS * times(LEAST_BURST_CYCLES),
    }
}

/// The rate of the ticks where the counter tells it.
#[must_use]
pub fn told_rate() -> Option<u64> {
    counter::rate()
}

/// Whether a hypervisor says that it emulates this processor.
#[must_use]
pub fn is_emulated() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86_64::is_emulated();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// How many times as long work must be that takes `least_cycles` at least, to last `LEAST_TICKS` on a core of `core_Hz`.
fn lengthened(least_cycles: u64, ticks_per_second: u64, core_Hz: u64) -> u64 {
    let enough = u128::from(LEAST_TICKS) * u128::from(core_Hz);
    let each = u128::from(least_cycles) * u128::from(ticks_per_second);
    u64::try_from(enough.div_ceil(each.max(1))).unwrap_or(u64::MAX).clamp(1, 10_000)
}

/// The highest frequency of a processor, by the system.
fn fastest_Hz(cpu: u32) -> u64 {
    let file = PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"));
    let in_kHz = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse::<u64>().ok());
    in_kHz.and_then(|kHz| kHz.checked_mul(1_000)).filter(|hertz| *hertz > 0).unwrap_or(FASTEST_HZ)
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
        counter::multiply_chain(self.multiplications);
        counter::ticks().saturating_sub(start)
    }

    fn burst(&mut self) -> Ticks {
        let start = counter::ticks();
        counter::add_burst(self.additions);
        counter::ticks().saturating_sub(start)
    }

    fn witness(&mut self, width: Width) -> Option<Ticks> {
        #[cfg(target_arch = "x86_64")]
        {
            let burst = x86_64::witness(width)?;
            let start = counter::ticks();
            burst.run();
            Some(counter::ticks().saturating_sub(start))
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = width;
            None
        }
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
        let known = counter::multiply_latency_cycles(current_cpu());
        known.or_else(|| self.counted_latency()).map(|latency| latency * self.multiplications)
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

impl RealClock {
    /// The multiplier's latency by the kernel's counter of cycles; `None` where it may not be opened, or what it counts is
    /// no whole number of cycles a multiplication within 2 %.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few cycles"
    )]
    fn counted_latency(&self) -> Option<u64> {
        let count = || thread::user_cycles(|| counter::multiply_chain(self.multiplications));
        let least = (0..CANARIES_COUNTED).map(|_| count()).collect::<Option<Vec<_>>>()?.into_iter().min()?;
        let latency = least as f64 / self.multiplications as f64;
        let whole = latency.round();
        (whole >= 1.0 && (latency / whole - 1.0).abs() < 0.02).then_some(whole as u64)
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
        let of = |ticks_per_second| RealClock { ticks_per_second, multiplications: 0, additions: 0 };
        let clock = of(2_596_000_000);
        assert_eq!(clock.nanoseconds(2_596_000_000), 1_000_000_000);
        assert_eq!(clock.ticks_of(1_000), 2_596);
        assert_eq!(of(0).nanoseconds(1), 1_000_000_000);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_canary_is_twelve_thousand_multiplications_of_the_known_latency() {
        if let Some(latency) = counter::multiply_latency_cycles(current_cpu()) {
            assert_eq!((latency, real(None).canary_cycles()), (3, Some(36_000)));
        }
        // The chain is as long as it is asked to be: that many multiplications take that many times one.
        let chain = |count: u64| {
            let ticks = || {
                let start = counter::ticks();
                counter::multiply_chain(count);
                counter::ticks().saturating_sub(start)
            };
            (0..200).map(|_| ticks()).min().unwrap_or(0)
        };
        let mut clock = real(None);
        let canary = (0..200).map(|_| clock.canary()).min().unwrap_or(0);
        let twelve = chain(12_000);
        assert!(canary * 19 < twelve * 20 && twelve * 19 < canary * 20, "{canary} and {twelve} ticks");
    }

    #[test]
    fn the_canary_is_as_long_as_its_multiplications_take() {
        let mut clock = real(None);
        let twice = |clock: &mut RealClock| {
            let start = clock.ticks();
            counter::multiply_chain(2 * clock.multiplications);
            clock.ticks() - start
        };
        // Side by side, and until both were undisturbed: a neighbour may have the core for all of some milliseconds.
        let (mut single, mut double) = (u64::MAX, u64::MAX);
        let is_twice = |single: u64, double: u64| single * 19 < double * 10 && double * 10 < single * 21;
        let is_seen = (0..20_000).any(|round| {
            single = single.min(clock.canary());
            double = double.min(twice(&mut clock));
            round >= 200 && is_twice(single, double)
        });
        assert!(is_seen, "{single} and {double} ticks");
    }

    #[test]
    fn a_canary_and_a_burst_last_a_thousand_ticks_at_least_on_any_counter() {
        for (ticks_per_second, core_Hz) in
            [(19_200_000, 1_400_000_000), (24_000_000, 3_500_000_000), (54_000_000, 1_800_000_000), (1, 5_000_000_000)]
        {
            for least_cycles in [LEAST_CANARY_CYCLES, LEAST_BURST_CYCLES] {
                let times = lengthened(least_cycles, ticks_per_second, core_Hz);
                let ticks = u128::from(times * least_cycles) * u128::from(ticks_per_second) / u128::from(core_Hz);
                assert!(ticks >= 1_000 || times == 10_000, "{ticks} ticks at {ticks_per_second} Hz");
                assert!(times == 1 || ticks < 2_000 || times == 10_000, "{ticks} ticks at {ticks_per_second} Hz");
            }
        }
        assert_eq!(lengthened(LEAST_CANARY_CYCLES, 2_600_000_000, 5_000_000_000), 1);
        assert_eq!(lengthened(LEAST_BURST_CYCLES, 2_600_000_000, 5_000_000_000), 1);
    }

    #[test]
    fn the_counted_latency_is_the_known_one_where_cycles_can_be_counted() {
        let clock = real(None);
        if let Some((counted, known)) = clock.counted_latency().zip(counter::multiply_latency_cycles(current_cpu())) {
            assert_eq!(counted, known);
        }
    }

    #[test]
    fn cpu_time_does_not_run_backwards() {
        let mut clock = real(None);
        let first = clock.cpu_time();
        clock.canary();
        assert!(clock.cpu_time() >= first);
    }
}
