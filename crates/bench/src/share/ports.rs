//! What a share needs of the device that carries it out.

use alloc::boxed::Box;
use alloc::string::String;

use wattlock_engine::{Clock, Meter, MeterError, Nanoseconds, Ticks};
use wattlock_records::{Fingerprint, GaugeReading, MeterRecord, PlannedCase, Record};

use crate::prepared::Prepared;
use crate::subject::{Payloads, Registry, Sources};

/// All that a share needs.
pub struct Ports<'p, C, R> {
    /// The clocks.
    pub clock: &'p mut C,
    /// Where records go.
    pub records: &'p mut R,
    /// What can be measured.
    pub registry: Registry<'p>,
    /// Whose code there is.
    pub sources: &'p dyn Sources,
    /// The payloads that the plan names.
    pub payloads: &'p dyn Payloads,
    /// The meter that the plan asks for.
    pub meter: Option<&'p mut dyn EnergyMeter>,
    /// The battery that the plan discharges.
    pub battery: Option<&'p mut dyn Battery>,
    /// Who ends a library of the user's own that hangs.
    pub watch: Option<&'p dyn Watch>,
    /// The device, its state and the build, as they are now.
    pub fingerprint: &'p dyn Fn() -> Fingerprint,
}

/// The clocks of a device: that of the batches, and those of the day.
pub trait Clocks: Clock {
    /// Rate of the ticks.
    fn ticks_per_second(&self) -> u64;

    /// Core cycles of one canary; `None` where the multiplier's latency is not known.
    fn canary_cycles(&self) -> Option<u64>;

    /// The monotonic clock, which stands still while the device is suspended.
    fn now(&mut self) -> Nanoseconds;

    /// How long the device has been suspended since it started; 0 where that is not told.
    fn suspended(&mut self) -> Nanoseconds;

    /// Time since 1970-01-01 UTC.
    fn unix(&mut self) -> Nanoseconds;

    /// Lets the processor rest.
    fn sleep(&mut self, time: Nanoseconds);

    /// Nanoseconds of `ticks`.
    fn nanoseconds(&self, ticks: Ticks) -> Nanoseconds {
        scale(ticks, 1_000_000_000, self.ticks_per_second())
    }

    /// Ticks of `time`.
    fn ticks_of(&self, time: Nanoseconds) -> Ticks {
        scale(time, self.ticks_per_second(), 1_000_000_000)
    }

    /// What two reads of the tick counter take: the least of 100.
    fn timer_ticks(&mut self) -> Ticks {
        (0..100).map(|_| self.ticks().abs_diff(self.ticks())).min().unwrap_or(0)
    }

    /// What two reads of the CPU time take: the mean of 100.
    fn cpu_timer(&mut self) -> Option<Nanoseconds> {
        let start = self.cpu_time()?;
        for _ in 0..99 {
            self.cpu_time();
        }
        Some((self.cpu_time()? - start) / 100)
    }
}

/// `value` by `by` over `over`, at most what fits.
#[must_use]
pub fn scale(value: u64, by: u64, over: u64) -> u64 {
    u64::try_from(u128::from(value) * u128::from(by) / u128::from(over.max(1))).unwrap_or(u64::MAX)
}

/// Where records are written, in order.
pub trait Records {
    /// Why no more can be written.
    type Error;

    /// Writes a record, which `flush` brings to its place at the latest.
    ///
    /// # Errors
    /// That it can't be a line.
    fn write(&mut self, record: &Record) -> Result<(), Self::Error>;

    /// Brings what was written to its place.
    ///
    /// # Errors
    /// Whatever hinders the writing; it ends the share.
    fn flush(&mut self) -> Result<(), Self::Error>;
}

/// An energy meter that can describe itself in a record.
pub trait EnergyMeter: Meter {
    /// What it is.
    fn record(&self) -> MeterRecord;

    /// An error of it for a record, with what its last read found.
    fn message(&self, cause: MeterError) -> String;
}

/// A battery that is discharged.
pub trait Battery {
    /// What it is, as a meter.
    fn record(&self) -> MeterRecord;

    /// All that the gauge says.
    fn level(&mut self) -> GaugeReading;

    /// Whether the device runs from this battery alone.
    ///
    /// # Errors
    /// Why it does not, for a record.
    fn discharging(&mut self) -> Result<(), String>;
}

/// Who is told which case of a library of the user's own is at work, and ends it where that lasts too long.
pub trait Watch {
    /// This case is prepared now.
    fn prepares(&self, planned: &PlannedCase);

    /// What this case measures is proven now.
    fn proves(&self, planned: &PlannedCase);

    /// The case, so that each of its visits is told.
    ///
    /// * `first`: what its first batch took, all segments of one call together where it is cut.
    fn works(&self, body: Box<dyn Prepared>, planned: &PlannedCase, first: Nanoseconds) -> Box<dyn Prepared>;

    /// No library's code is at work now.
    fn rests(&self);

    /// The header is written.
    fn times(&self);
}
