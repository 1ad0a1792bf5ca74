//! Meters that show power instead of energy: a thread of its own samples it, and trapezoids make joules of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use wattlock_engine::{Meter, MeterDescription, MeterError, Nanojoules, Nanoseconds, Reading};

use super::Time;

/// What shows power.
pub trait Gauge: Send {
    /// The power just now, nanowatts.
    ///
    /// # Errors
    /// Why there is no value; never 0 in its place.
    fn power_nW(&mut self) -> Result<u64, MeterError>;
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
    error: Option<MeterError>,
}

impl Samples {
    /// Takes a sample of `gauge`; an error stays until a read has told it.
    pub fn take(&mut self, gauge: &mut dyn Gauge, time: &impl Time) {
        let before = time.now();
        match gauge.power_nW() {
            Ok(power) => self.integral.push(before.midpoint(time.now()), power),
            Err(error) => self.error = Some(error),
        }
    }

    /// The energy up to the last sample.
    ///
    /// # Errors
    /// What went wrong since the read before; that nothing was sampled yet.
    pub fn reading(&mut self, suspended: Nanoseconds) -> Result<Reading, MeterError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let at = self.integral.at().ok_or(MeterError::Unreadable)?;
        Ok(Reading { counter: self.integral.energy(), before: at, after: at, suspended })
    }
}

/// A meter whose gauge a thread samples.
pub struct Sampled<T> {
    shared: Arc<Mutex<Samples>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    description: MeterDescription,
    time: T,
}

impl<T: Time + Clone + Send + 'static> Sampled<T> {
    /// Starts the thread, on another processor than this one where there is one, and waits for its first sample.
    ///
    /// # Errors
    /// What the first sample says.
    pub fn start(mut gauge: impl Gauge + 'static, description: MeterDescription, time: T) -> Result<Self, MeterError> {
        let shared = Arc::new(Mutex::new(Samples::default()));
        let stop = Arc::new(AtomicBool::new(false));
        lock(&shared).take(&mut gauge, &time);
        lock(&shared).reading(0)?;
        let elsewhere = another_processor();
        let thread = std::thread::spawn({
            let (shared, stop, time) = (Arc::clone(&shared), Arc::clone(&stop), time.clone());
            let pause = Duration::from_nanos(description.update_period);
            move || {
                // Where it can't be pinned it samples from where it is.
                let _ = elsewhere.map(crate::clock::pin);
                while !stop.load(Ordering::Relaxed) {
                    std::thread::sleep(pause);
                    lock(&shared).take(&mut gauge, &time);
                }
            }
        });
        Ok(Self { shared, stop, thread: Some(thread), description, time })
    }
}

/// A thread that panicked leaves whole samples behind.
fn lock(shared: &Mutex<Samples>) -> MutexGuard<'_, Samples> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
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
        lock(&self.shared).reading(self.time.suspended())
    }
}

impl<T> Drop for Sampled<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
