//! Meters that show power instead of energy: a thread of its own samples it, and trapezoids make joules of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use wattlock_engine::{Meter, MeterDescription, MeterError, Nanojoules, Nanoseconds, Reading};

use super::file::NoNumber;
use super::time::Time;

/// What shows power.
pub trait Gauge: Send {
    /// The power just now, nanowatts.
    ///
    /// # Errors
    /// Why there is no value; never 0 in its place.
    fn power_nW(&mut self) -> Result<u64, NoNumber>;
}

/// Joules by trapezoids between samples of power.
#[derive(Debug, Clone, Default)]
pub struct Integral {
    last: Option<(Nanoseconds, u64)>,
    /// Twice the energy in nW ns.
    doubled: u128,
}

impl Integral {
    /// Takes one sample.
    pub fn push(&mut self, at: Nanoseconds, power_nW: u64) {
        if let Some((before, power_before)) = self.last {
            let sum = u128::from(power_before) + u128::from(power_nW);
            self.doubled += sum * u128::from(at.saturating_sub(before));
        }
        self.last = Some((at, power_nW));
    }

    /// The energy so far.
    pub fn energy(&self) -> Nanojoules {
        u64::try_from(self.doubled / 2_000_000_000).unwrap_or(u64::MAX)
    }

    /// When the last sample was taken.
    pub fn at(&self) -> Option<Nanoseconds> {
        self.last.map(|(at, _)| at)
    }
}

/// What the thread and the meter share.
#[derive(Debug, Default)]
pub struct Samples {
    integral: Integral,
    error: Option<NoNumber>,
}

impl Samples {
    /// Takes a sample; an error stays until a read has told it.
    pub fn push(&mut self, at: Nanoseconds, power_nW: Result<u64, NoNumber>) {
        match power_nW {
            Ok(power) => self.integral.push(at, power),
            Err(error) => self.error = Some(error),
        }
    }

    /// The energy up to the last sample.
    ///
    /// # Errors
    /// What went wrong since the read before; that nothing was sampled yet.
    pub fn reading(&mut self, suspended: Nanoseconds) -> Result<Reading, NoNumber> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let at = self.integral.at().ok_or(MeterError::Unreadable)?;
        Ok(Reading { counter: self.integral.energy(), before: at, after: at, suspended })
    }

    fn is_new(&self) -> bool {
        self.integral.at().is_none() && self.error.is_none()
    }
}

/// Takes one sample of `gauge`, which may take its time: nobody waits for it behind a lock.
pub fn sample(gauge: &mut dyn Gauge, time: &impl Time) -> (Nanoseconds, Result<u64, NoNumber>) {
    let before = time.now();
    let power_nW = gauge.power_nW();
    (before.midpoint(time.now()), power_nW)
}

/// Samples, and what wakes who waits for the first one.
#[derive(Debug, Default)]
struct Shared {
    samples: Mutex<Samples>,
    came: Condvar,
}

impl Shared {
    /// A thread that panicked leaves whole samples behind.
    fn lock(&self) -> MutexGuard<'_, Samples> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A meter whose gauge a thread samples.
pub struct Sampled<T> {
    shared: Arc<Shared>,
    stop: Arc<AtomicBool>,
    thread: Thread,
    description: MeterDescription,
    time: T,
    said: Option<String>,
}

impl<T: Time + Clone + Send + 'static> Sampled<T> {
    /// Starts the thread, on another processor than this one where there is one, and waits for its first sample.
    ///
    /// # Errors
    /// What the first sample says; that there is none within the meter's patience.
    pub fn start(mut gauge: impl Gauge + 'static, description: MeterDescription, time: T) -> Result<Self, NoNumber> {
        let (shared, stop) = (Arc::new(Shared::default()), Arc::new(AtomicBool::new(false)));
        let elsewhere = another_processor();
        let handle = std::thread::spawn({
            let (shared, stop, time) = (Arc::clone(&shared), Arc::clone(&stop), time.clone());
            let pause = Duration::from_nanos(description.update_period);
            move || {
                // Where it can't be pinned it samples from where it is.
                let _ = elsewhere.map(crate::thread::pin);
                while !stop.load(Ordering::Relaxed) {
                    let (at, power_nW) = sample(&mut gauge, &time);
                    shared.lock().push(at, power_nW);
                    shared.came.notify_all();
                    std::thread::park_timeout(pause);
                }
            }
        });
        let sampled = Self { shared, stop, thread: handle.thread().clone(), description, time, said: None };
        let patience = Duration::from_nanos(description.patience);
        let waited = sampled.shared.came.wait_timeout_while(sampled.shared.lock(), patience, |all| all.is_new());
        let (mut samples, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return Err(MeterError::NoAnswer { waited: description.patience }.into());
        }
        samples.reading(0)?;
        drop(samples);
        Ok(sampled)
    }
}

#[cfg(target_os = "linux")]
fn another_processor() -> Option<u32> {
    let here = nix::sched::sched_getcpu().ok()?;
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let all = std::fs::read_to_string("/proc/cpuinfo").map_or(count, |text| text.matches("processor\t").count());
    (0..all).find(|cpu| *cpu != here).and_then(|cpu| u32::try_from(cpu).ok())
}

#[cfg(not(target_os = "linux"))]
fn another_processor() -> Option<u32> {
    None
}

impl<T: Time> Meter for Sampled<T> {
    fn description(&self) -> MeterDescription {
        self.description
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        self.said = None;
        let reading = self.shared.lock().reading(self.time.suspended()).map_err(|error| {
            self.said = Some(error.said);
            error.cause
        })?;
        let waited = self.time.now().saturating_sub(reading.after);
        if waited > self.description.patience {
            return Err(MeterError::NoAnswer { waited });
        }
        Ok(reading)
    }

    fn said(&self) -> Option<&str> {
        self.said.as_deref().filter(|said| !said.is_empty())
    }
}

impl<T> Drop for Sampled<T> {
    /// Nobody waits for the thread: a driver that hangs holds it.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_is_sampled_on_another_processor_than_the_one_that_is_weighed() {
        // Those of the first eight that this thread may use.
        for here in (0..8).filter(|cpu| crate::thread::pin(*cpu).is_ok()) {
            let other = another_processor();
            assert!(other.is_none_or(|other| other != here), "{other:?} beside {here}");
            assert_eq!(other.is_some(), count_of_processors() > 1, "beside {here}");
        }
    }

    fn count_of_processors() -> usize {
        std::fs::read_to_string("/proc/cpuinfo").map_or(1, |text| text.matches("processor\t").count())
    }
}
