//! The battery's own gauge, as the kernel's `power_supply` shows it.
//!
//! # Source
//! Linux, Documentation/ABI/testing/sysfs-class-power (uWh, uAh, uW, uA, uV; a negative current flows out).

use std::path::{Path, PathBuf};

use wattlock_engine::{Meter, MeterError, Nanojoules};
use wattlock_records::{GaugeReading, MeterRecord};

use super::counted::Counted;
use super::file::{NoNumber, level, size, text};
use super::kind::{Found, Kind, LIST, Missing, Open, Opened};
use super::sampled::{Gauge, Sampled};
use super::time::{SystemTime, Time};

/// The kind.
pub const KIND: &str = "battery";
/// How it is found and opened.
pub(crate) const METER: Kind =
    Kind { names: &[KIND], found, open: Open::Files(|wanted| open(wanted.root, wanted.domain, SystemTime)) };
/// Gauges are asked once a second or less often; what lies between is a value kept.
const UPDATE_PERIOD_NS: u64 = 1_000_000_000;
/// At 1 W a step of 10 mWh takes 36 s.
const PATIENCE_NS: u64 = 180_000_000_000;
/// A step of 10 mWh.
const QUANTUM_NJ: f64 = 3.6e10;
const NJ_A_UWH: u64 = 3_600_000;
/// Where a counter made of a falling level begins: far above any battery.
const TOP_NJ: u64 = 1 << 60;
const GAIN: f64 = 0.05;
const GAIN_SOURCE: &str = "ours: gauges learn their scale from full cycles; no maker states a limit for a part of one";
/// A current that would empty the battery in a tenth of an hour is power in the wrong file.
const MOST_C_RATE: u64 = 10;

/// How a battery tells its energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// `energy_now`.
    Energy,
    /// `charge_now`, its steps at the voltage of the moment.
    Charge,
    /// `power_now`, sampled.
    Power,
    /// `current_now` and `voltage_now`, sampled.
    Current,
}

/// One battery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Battery {
    /// Its name: `BAT0`.
    pub domain: String,
    folder: PathBuf,
    supplies: PathBuf,
}

impl Battery {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A number of the battery that has no sign; currents and powers alone have one.
    ///
    /// # Errors
    /// It can't be read, is negative, or stands for none.
    fn shown(&self, name: &str) -> Result<u64, NoNumber> {
        level(&self.file(name))
    }

    fn beyond(&self, name: &str, shown: u64) -> NoNumber {
        NoNumber::of(MeterError::Unreadable, &self.file(name), &shown.to_string(), ", more than any battery holds")
    }

    /// How it tells its energy, the surest way first.
    pub fn by(&self) -> Option<By> {
        let has = |name: &str| self.file(name).exists();
        match () {
            () if has("energy_now") => Some(By::Energy),
            () if has("charge_now") && has("voltage_now") => Some(By::Charge),
            () if has("power_now") => Some(By::Power),
            () if has("current_now") && has("voltage_now") => Some(By::Current),
            () => None,
        }
    }

    /// All that the gauge says.
    pub fn level(&self) -> GaugeReading {
        GaugeReading {
            percent: self.shown("capacity").ok().and_then(|percent| u8::try_from(percent).ok()),
            voltage_uV: self.shown("voltage_now").ok(),
            energy_nJ: self.shown("energy_now").ok().and_then(|energy| energy.checked_mul(NJ_A_UWH)),
            charge_uAh: self.shown("charge_now").ok(),
            status: text(&self.file("status")).ok(),
        }
    }

    /// Whether the machine runs from this battery alone.
    ///
    /// # Errors
    /// It does not: its status is not Discharging, or a charger is plugged in.
    pub fn discharging(&self) -> Result<(), NoNumber> {
        let path = self.file("status");
        let status = text(&path).map_err(|error| NoNumber::unread(&path, &error))?;
        if status != "Discharging" {
            return Err(NoNumber::of(MeterError::NotDischarging, &path, &status, ""));
        }
        let supplies = std::fs::read_dir(&self.supplies).into_iter().flatten().flatten();
        for supply in supplies.map(|entry| entry.path()).filter(|path| *path != self.folder) {
            let charges = |kind: String| kind == "Mains" || kind == "Wireless" || kind.starts_with("USB");
            let path = supply.join("online");
            let online = text(&path).unwrap_or_default();
            // 1 is a fixed voltage, 2 a programmable one, as USB PD has it.
            if text(&supply.join("type")).is_ok_and(charges) && !["", "0"].contains(&online.as_str()) {
                return Err(NoNumber::of(MeterError::NotDischarging, &path, &online, ""));
            }
        }
        Ok(())
    }

    /// What it draws just now.
    pub fn gauge(self, by: By) -> Draw {
        Draw { battery: self, by }
    }

    /// What it is as a meter, whether or not it counts energy.
    pub fn record(&self) -> MeterRecord {
        self.describe(self.by().unwrap_or(By::Energy))
    }

    fn describe(&self, by: By) -> MeterRecord {
        let (unit, quantum_nJ) = match by {
            By::Energy => ("uWh", QUANTUM_NJ),
            By::Charge => ("uAh", QUANTUM_NJ),
            // 1 mW, as most gauges round, over one sample.
            By::Power => ("uW", 1e6),
            By::Current => ("uA, uV", 1e6),
        };
        MeterRecord {
            name: format!("{KIND}:{}", self.domain),
            kind: KIND.to_owned(),
            domain: self.domain.clone(),
            scope: "all that the battery feeds: the whole machine, its screen and radios".to_owned(),
            unit: unit.to_owned(),
            quantum_nJ,
            update_period_ns: UPDATE_PERIOD_NS,
            range_nJ: None,
            round_trip_ns: None,
            gain_relative_uncertainty: GAIN,
            gain_source: GAIN_SOURCE.to_owned(),
            overlaps: Vec::new(),
            read_ns: None,
        }
    }
}

/// The batteries of the machine; those of mice and pens are left out.
pub fn batteries(root: &Path) -> Vec<Battery> {
    let supplies = root.join("class/power_supply");
    let entries = std::fs::read_dir(&supplies).into_iter().flatten().flatten();
    let mut found: Vec<Battery> = entries
        .filter(|entry| text(&entry.path().join("type")).is_ok_and(|kind| kind == "Battery"))
        .filter(|entry| !text(&entry.path().join("scope")).is_ok_and(|scope| scope == "Device"))
        .map(|entry| Battery {
            domain: entry.file_name().to_string_lossy().into_owned(),
            folder: entry.path(),
            supplies: supplies.clone(),
        })
        .collect();
    found.sort_by(|a, b| a.domain.cmp(&b.domain));
    found
}

/// The battery with this name; the only one where none is named.
///
/// # Errors
/// There is none, or there are several.
pub fn named(root: &Path, domain: &str) -> Result<Battery, Missing> {
    let all = batteries(root);
    let names: Vec<String> = all.iter().map(|battery| battery.domain.clone()).collect();
    let mut matching = all.into_iter().filter(|battery| domain.is_empty() || battery.domain == domain);
    match (matching.next(), matching.next()) {
        (Some(battery), None) => Ok(battery),
        (None, _) if names.is_empty() => Err(Missing {
            why: format!("there is no battery below {}", root.display()),
            hint: "another meter, or another machine".to_owned(),
        }),
        _ => Err(Missing { why: format!("battery {domain:?}: there are {}", names.join(", ")), hint: LIST.to_owned() }),
    }
}

/// What there is.
pub fn found(root: &Path) -> Vec<Found> {
    let one = |battery: Battery| {
        let by = battery.by();
        let missing = match (by, battery.discharging()) {
            (None, _) => Some(("it shows neither energy, charge, power nor current".to_owned(), "another meter")),
            (_, Err(error)) => Some((error.to_string(), "unplug the charger, and wait until status is Discharging")),
            (_, Ok(())) => None,
        };
        let missing = missing.map(|(why, hint)| Missing { why, hint: hint.to_owned() });
        Found { record: battery.record(), missing }
    };
    batteries(root).into_iter().map(one).collect()
}

/// Opens a battery.
///
/// # Errors
/// As of [`named`]; it is not being discharged, or tells nothing.
pub fn open<T: Time + Clone + Send + 'static>(root: &Path, domain: &str, time: T) -> Result<Opened, Missing> {
    let battery = named(root, domain)?;
    let refused = |why: String| Missing { why, hint: "unplug the charger, and see the battery's files".to_owned() };
    let by = battery.by().ok_or_else(|| refused(format!("{} tells no energy", battery.domain)))?;
    battery.discharging().map_err(|error| refused(format!("{}: {error}", battery.domain)))?;
    let description = battery.describe(by);
    let in_engine = description.in_engine(PATIENCE_NS);
    let meter: Box<dyn Meter> = match by {
        By::Energy => Box::new(Counted::new(move || fallen_nJ(&battery), in_engine, time)),
        By::Charge => {
            let mut charge = Charge { battery, last: None, counter_nJ: i128::from(TOP_NJ) };
            Box::new(Counted::new(move || charge.counter_nJ(), in_engine, time))
        }
        By::Power | By::Current => {
            let name = description.name.clone();
            let sampled = Sampled::start(battery.gauge(by), in_engine, time);
            Box::new(sampled.map_err(|error| refused(format!("{name}: {error}")))?)
        }
    };
    Ok(Opened { description, meter })
}

/// `energy_now`: a level that falls, as a counter that rises.
fn fallen_nJ(battery: &Battery) -> Result<Nanojoules, NoNumber> {
    battery.discharging()?;
    let energy_uWh = battery.shown("energy_now")?;
    TOP_NJ.checked_sub(energy_uWh.saturating_mul(NJ_A_UWH)).ok_or_else(|| battery.beyond("energy_now", energy_uWh))
}

/// `charge_now`: each step times the mean voltage of its ends. Charge times voltage as a level would fall with the
/// voltage alone, as soon as a load begins.
struct Charge {
    battery: Battery,
    /// uAh and uV.
    last: Option<(u64, u64)>,
    counter_nJ: i128,
}

impl Charge {
    fn counter_nJ(&mut self) -> Result<Nanojoules, NoNumber> {
        self.battery.discharging()?;
        let now = (self.battery.shown("charge_now")?, self.battery.shown("voltage_now")?);
        if let Some((charge_uAh, voltage_uV)) = self.last.replace(now) {
            let fallen_uAh = i128::from(charge_uAh) - i128::from(now.0);
            // 1 uAh at 1 uV is 3.6 nJ.
            self.counter_nJ += fallen_uAh * (i128::from(voltage_uV) + i128::from(now.1)) / 2 * 36 / 10;
        }
        u64::try_from(self.counter_nJ).map_err(|_| self.battery.beyond("charge_now", now.0))
    }
}

/// `power_now`, or `current_now` times `voltage_now`.
pub struct Draw {
    battery: Battery,
    by: By,
}

#[cfg(test)]
impl Draw {
    /// The only battery of a tree by its current.
    pub fn of(root: &Path) -> Option<Self> {
        named(root, "").ok().map(|battery| Self { battery, by: By::Current })
    }
}

impl Gauge for Draw {
    fn power_nW(&mut self) -> Result<u64, NoNumber> {
        let battery = &self.battery;
        battery.discharging()?;
        if self.by == By::Power {
            return Ok(size(&battery.file("power_now"))?.saturating_mul(1000));
        }
        let path = battery.file("current_now");
        let (current_uA, voltage_uV) = (size(&path)?, battery.shown("voltage_now")?);
        let full_uAh = ["charge_full", "charge_full_design"].iter().find_map(|name| battery.shown(name).ok());
        let cause = MeterError::NoValue { shown: i64::try_from(current_uA).unwrap_or(i64::MAX) };
        if full_uAh.is_some_and(|full| current_uA > full.saturating_mul(MOST_C_RATE)) {
            let why = " uA, which would empty the battery in six minutes: it may be power";
            return Err(NoNumber::of(cause, &path, &current_uA.to_string(), why));
        }
        if voltage_uV == 0 {
            return Err(NoNumber::of(cause, &battery.file("voltage_now"), "0", ""));
        }
        Ok(u64::try_from(u128::from(current_uA) * u128::from(voltage_uV) / 1000).unwrap_or(u64::MAX))
    }
}
