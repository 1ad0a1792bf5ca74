//! A battery run: one case repeated until a level or a number of calls, the level logged over time.

use std::io::{self, Write};
use std::time::{Duration, SystemTime as Wall, UNIX_EPOCH};

use wattlock_engine::Nanoseconds;
use wattlock_meters::battery::Battery;
use wattlock_meters::{SystemTime, Time, for_a_record};
use wattlock_records::{BatteryLevel, BatteryPlan, Record};

use super::Output;

/// What a battery run needs to know of its process.
pub(super) struct Emptying<'a> {
    pub plan: &'a BatteryPlan,
    pub process: u32,
    pub battery: &'a Battery,
}

/// Repeats `calls` (which carries out some calls and says how many) until the level or the repeats are reached, the
/// battery is charged, or it tells no level to end at. Every line is flushed.
pub(super) fn empty<W: Write>(
    run: &Emptying<'_>,
    mut calls: impl FnMut() -> u64,
    output: &mut Output<'_, W>,
) -> io::Result<()> {
    let time = SystemTime;
    let every = u64::from(run.plan.log_every_s) * 1_000_000_000;
    let mut done = run.plan.done;
    loop {
        let line = run.line(done, &time);
        let ends = line.error.is_some() || run.is_over(&line);
        output.push(&Record::BatteryLevel(line))?;
        output.flush()?;
        if ends {
            return Ok(());
        }
        let start: Nanoseconds = time.now();
        while time.now().saturating_sub(start) < every && run.plan.repeats.is_none_or(|repeats| done < repeats) {
            done += calls();
        }
    }
}

impl Emptying<'_> {
    fn is_over(&self, line: &BatteryLevel) -> bool {
        let is_empty = self.plan.until_percent.zip(line.level_percent).is_some_and(|(until, level)| level <= until);
        is_empty || self.plan.repeats.is_some_and(|repeats| line.repeats_done >= repeats)
    }

    fn line(&self, done: u64, time: &impl Time) -> BatteryLevel {
        let level = self.battery.level();
        let untold = self.plan.until_percent.is_some() && level.percent.is_none();
        let error = match self.battery.discharging() {
            Err(error) => Some(for_a_record(&error.to_string(), self.plan.sys_root.as_deref())),
            Ok(()) if untold => Some("the battery tells no level, and the run was to end at one".to_owned()),
            Ok(()) => None,
        };
        let unix = Wall::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        BatteryLevel {
            process: self.process,
            case: self.plan.case,
            t_ns: time.now().saturating_add(time.suspended()),
            unix_ns: u64::try_from(unix.as_nanos()).unwrap_or(u64::MAX),
            level_percent: level.percent,
            voltage_uV: level.voltage_uV,
            energy_nJ: level.energy_nJ,
            charge_uAh: level.charge_uAh,
            status: level.status,
            repeats_done: done,
            error,
        }
    }
}
