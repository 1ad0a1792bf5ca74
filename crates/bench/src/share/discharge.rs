//! A battery discharged by one case, repeated until a level or a number of calls; the level logged over time.

use alloc::borrow::ToOwned as _;

use wattlock_records::{BatteryLevel, BatteryPlan, Record};

use super::ports::{Battery, Clocks, Records};

/// What a discharge needs to know of its process.
pub(super) struct Discharge<'a> {
    pub plan: &'a BatteryPlan,
    pub process: u32,
    pub battery: &'a mut dyn Battery,
}

impl Discharge<'_> {
    /// Repeats `calls` (which carries out some calls and says how many) until the level or the repeats are reached, the
    /// battery is charged, or it tells no level to end at. Every line is flushed.
    ///
    /// # Errors
    /// Those of the sink of records.
    pub(super) fn carry_out<C: Clocks, R: Records>(
        &mut self,
        mut calls: impl FnMut() -> u64,
        clock: &mut C,
        records: &mut R,
    ) -> Result<(), R::Error> {
        let every = u64::from(self.plan.log_every_s) * 1_000_000_000;
        let mut done = self.plan.done;
        loop {
            let line = self.line(done, clock);
            let ends = line.error.is_some() || self.is_over(&line);
            records.write(&Record::BatteryLevel(line))?;
            records.flush()?;
            if ends {
                return Ok(());
            }
            let start = clock.now();
            let is_left = |done: u64| self.plan.repeats.is_none_or(|repeats| done < repeats);
            while clock.now().saturating_sub(start) < every && is_left(done) {
                done += calls();
            }
        }
    }

    fn is_over(&self, line: &BatteryLevel) -> bool {
        let is_empty = self.plan.until_percent.zip(line.level_percent).is_some_and(|(until, level)| level <= until);
        is_empty || self.plan.repeats.is_some_and(|repeats| line.repeats_done >= repeats)
    }

    fn line(&mut self, done: u64, clock: &mut impl Clocks) -> BatteryLevel {
        let level = self.battery.level();
        let no_level = self.plan.until_percent.is_some() && level.percent.is_none();
        let error = match self.battery.discharging() {
            Err(error) => Some(error),
            Ok(()) if no_level => Some("the battery tells no level, and the run was to end at one".to_owned()),
            Ok(()) => None,
        };
        BatteryLevel {
            process: self.process,
            case: self.plan.case,
            t_ns: clock.now().saturating_add(clock.suspended()),
            unix_ns: clock.unix(),
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
