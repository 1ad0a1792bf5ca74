//! The ports of a share as this machine has them: records to standard output, payloads of files, meters and batteries.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use wattlock_bench::share::ports::{Battery, EnergyMeter, Records};
use wattlock_bench::subject::Payloads;
use wattlock_engine::{Meter, MeterDescription, MeterError, Nanoseconds, Reading};
use wattlock_meters::{self as meters, Opened};
use wattlock_records::{BatteryPlan, DataFile, EnergyPlan, GaugeReading, MeterRecord, Record};
use wattlock_terminal::failure::Failure;

use super::watched_child::Watch;

/// The payloads that the plan names, by their labels.
pub(super) struct Files(pub(super) HashMap<String, Rc<[u8]>>);

impl Payloads for Files {
    fn bytes(&self, label: &str) -> Option<Rc<[u8]>> {
        self.0.get(label).cloned()
    }
}

/// The bytes of a data line's file.
///
/// # Errors
/// Code 10 where it can't be read or has another size than it had.
pub(super) fn payload(file: &DataFile) -> Result<Rc<[u8]>, Failure> {
    let DataFile { data, path, size_B } = file;
    let bytes = std::fs::read(path).map_err(|error| Failure::new(10, format!("data {data:?}: {path}: {error}")))?;
    if bytes.len() as u64 != *size_B {
        let message = format!("data {data:?}: {path} has {} bytes, the plan says {size_B}", bytes.len());
        return Err(Failure::new(10, message).hint("the file changed since the plan was made"));
    }
    Ok(Rc::from(bytes))
}

/// Writes records, a round at a time.
pub(super) struct Output<'w, W> {
    out: W,
    buffer: Vec<u8>,
    watch: Option<&'w Watch>,
}

impl<'w, W: Write> Output<'w, W> {
    pub(super) fn of(out: W, watch: Option<&'w Watch>) -> Self {
        Self { out, buffer: Vec::new(), watch }
    }
}

impl<W: Write> Records for Output<'_, W> {
    type Error = io::Error;

    fn write(&mut self, record: &Record) -> io::Result<()> {
        serde_json::to_writer(&mut self.buffer, record)?;
        self.buffer.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Whoever reads may take his time.
        self.watch.iter().for_each(|watch| watch.rests());
        self.out.write_all(&self.buffer)?;
        self.out.flush()?;
        self.watch.iter().for_each(|watch| watch.wrote(self.buffer.len()));
        self.buffer.clear();
        Ok(())
    }
}

/// The meter that a plan asks for.
pub(super) struct PlanMeter {
    opened: Opened,
    sys_root: Option<String>,
}

impl PlanMeter {
    pub(super) fn of(opened: Opened, plan: &EnergyPlan) -> Self {
        Self { opened, sys_root: plan.sys_root.clone() }
    }
}

impl Meter for PlanMeter {
    fn description(&self) -> MeterDescription {
        self.opened.meter.description()
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        self.opened.meter.read()
    }

    fn said(&self) -> Option<&str> {
        self.opened.meter.said()
    }

    fn chip(&self) -> Option<Nanoseconds> {
        self.opened.meter.chip()
    }

    fn show(&mut self, is_busy: bool) -> Result<(), MeterError> {
        self.opened.meter.show(is_busy)
    }
}

impl EnergyMeter for PlanMeter {
    fn record(&self) -> MeterRecord {
        self.opened.description.clone()
    }

    fn message(&self, cause: MeterError) -> String {
        meters::for_a_record(&meters::described(cause, &*self.opened.meter), self.sys_root.as_deref())
    }
}

/// The battery that a plan discharges.
pub(super) struct PlanBattery {
    battery: meters::battery::Battery,
    sys_root: Option<String>,
}

impl PlanBattery {
    pub(super) fn of(battery: meters::battery::Battery, plan: &BatteryPlan) -> Self {
        Self { battery, sys_root: plan.sys_root.clone() }
    }
}

impl Battery for PlanBattery {
    fn record(&self) -> MeterRecord {
        self.battery.record()
    }

    fn level(&mut self) -> GaugeReading {
        self.battery.level()
    }

    fn discharging(&mut self) -> Result<(), String> {
        let for_a_record = |error: &str| meters::for_a_record(error, self.sys_root.as_deref());
        self.battery.discharging().map_err(|error| for_a_record(&error.to_string()))
    }
}
