//! Sensors on the board as the kernel's `hwmon` shows them: INA2xx, INA3221 and others.
//!
//! # Source
//! Linux, Documentation/hwmon/sysfs-interface.rst (uJ, uW, mV, mA), ina2xx.rst, ina3221.rst.

use std::path::{Path, PathBuf};

use wattlock_engine::{Meter, MeterDescription, MeterError, Reading};

use super::sampled::{Gauge, Sampled};
use super::{Found, LIST, Missing, Opened, Time, number, signed, text};
use crate::records::MeterRecord;

/// The kind.
pub const KIND: &str = "hwmon";
/// Where a chip does not tell how often it converts; a read over I2C takes about a tenth of it.
const UPDATE_PERIOD_NS: u64 = 5_000_000;
const PATIENCE_NS: u64 = 2_000_000_000;

/// What a channel shows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shown {
    Energy(PathBuf),
    Power(PathBuf),
    VoltageCurrent(PathBuf, PathBuf),
}

/// One channel of one chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    chip: String,
    domain: String,
    shown: Shown,
    update_ms: Option<u64>,
}

/// All channels below `root`, by the names of chip and channel, never by the number that the kernel gave the chip.
pub fn channels(root: &Path) -> Vec<Channel> {
    let folder = root.join("class/hwmon");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<Channel> = entries.flatten().flat_map(|entry| of_chip(&entry.path())).collect();
    found.sort_by(|a, b| a.domain.cmp(&b.domain));
    found
}

fn of_chip(folder: &Path) -> Vec<Channel> {
    let Ok(chip) = text(&folder.join("name")) else { return Vec::new() };
    // Two chips of one kind differ by their place on the bus: `1-0040`.
    let place = std::fs::canonicalize(folder.join("device")).ok();
    let place = place.as_deref().and_then(Path::file_name).map(|name| format!("@{}", name.to_string_lossy()));
    let place = place.unwrap_or_default();
    let update_ms = number(&folder.join("update_interval"));
    let input = |what: &str, at: u32| Some(folder.join(format!("{what}{at}_input"))).filter(|path| path.exists());
    let mut found = Vec::new();
    for at in 0..=16 {
        let average = folder.join(format!("power{at}_average"));
        let power = input("power", at).or_else(|| Some(average).filter(|path| path.exists()));
        let (what, shown) = match (input("energy", at), power, input("in", at).zip(input("curr", at))) {
            (Some(path), ..) => ("energy", Shown::Energy(path)),
            (None, Some(path), _) => ("power", Shown::Power(path)),
            (None, None, Some((voltage, current))) => ("curr", Shown::VoltageCurrent(voltage, current)),
            _ => continue,
        };
        let label = text(&folder.join(format!("{what}{at}_label"))).unwrap_or_else(|_| format!("{what}{at}"));
        found.push(Channel { chip: chip.clone(), domain: format!("{chip}{place}/{label}"), shown, update_ms });
    }
    found
}

impl Channel {
    fn describe(&self, all: &[Self]) -> MeterRecord {
        let update_period_ns = self.update_ms.map_or(UPDATE_PERIOD_NS, |ms| ms.max(1) * 1_000_000);
        let (unit, quantum_nJ) = match self.shown {
            Shown::Energy(_) => ("uJ", 1000.0),
            // The least step of the files over one sample.
            Shown::Power(_) => ("uW", 1e-6 * as_f64(update_period_ns)),
            Shown::VoltageCurrent(..) => ("mV, mA", 5e-3 * as_f64(update_period_ns)),
        };
        let (gain, source) = gain(&self.chip);
        let others = all.iter().filter(|other| *other != self && other.chip == self.chip);
        MeterRecord {
            name: format!("{KIND}:{}", self.domain),
            kind: KIND.to_owned(),
            domain: self.domain.clone(),
            scope: "what the board's maker wired behind this sensor's shunt; rails may feed one another".to_owned(),
            unit: unit.to_owned(),
            quantum_nJ,
            update_period_ns,
            range_nJ: None,
            round_trip_ns: None,
            gain_relative_uncertainty: gain,
            gain_source: source.to_owned(),
            overlaps: others.map(|other| format!("{KIND}:{}", other.domain)).collect(),
            read_ns: None,
        }
    }

    fn paths(&self) -> Vec<&Path> {
        match &self.shown {
            Shown::Energy(path) | Shown::Power(path) => vec![path],
            Shown::VoltageCurrent(voltage, current) => vec![voltage, current],
        }
    }
}

#[allow(clippy::cast_precision_loss)] // an update period is far below 2^53 ns
fn as_f64(ns: u64) -> f64 {
    ns as f64
}

fn gain(chip: &str) -> (f64, &'static str) {
    match chip {
        "ina226" | "ina230" | "ina231" | "ina219" | "ina220" => (
            0.01,
            "ours: a shunt of 1 %; the chip itself errs by 0.1 % (INA226) to 1 % (INA219) at most (Texas Instruments, \
             data sheets SBOS547 and SBOS448)",
        ),
        "ina3221" => (0.01, "ours: a shunt of 1 %; the chip errs by 0.25 % at most (Texas Instruments, SBOS576)"),
        _ => (0.05, "ours: no statement known for this chip and its shunt"),
    }
}

/// What there is.
pub fn found(root: &Path) -> Vec<Found> {
    let all = channels(root);
    all.iter()
        .map(|channel| {
            let refused = channel.paths().into_iter().find_map(|path| text(path).err().map(|e| (path, e)));
            let missing = refused.map(|(path, error)| Missing {
                why: format!("{}: {error}", path.display()),
                hint: "its driver answers no read: `dmesg` tells why".to_owned(),
            });
            Found { record: channel.describe(&all), missing }
        })
        .collect()
}

/// Opens the channel with this domain; the only one where none is named.
///
/// # Errors
/// There is none, there are several, or it can't be read.
pub fn open<T: Time + Clone + Send + 'static>(root: &Path, domain: &str, time: T) -> Result<Opened, Missing> {
    let all = channels(root);
    let matching: Vec<&Channel> = all.iter().filter(|c| domain.is_empty() || c.domain == domain).collect();
    let [channel] = matching[..] else {
        let names: Vec<&str> = all.iter().map(|channel| channel.domain.as_str()).collect();
        let why = format!("{} sensors match {domain:?}: there are {}", matching.len(), names.join(", "));
        return Err(Missing { why, hint: LIST.to_owned() });
    };
    let description = channel.describe(&all);
    let in_engine = description.in_engine(PATIENCE_NS);
    let meter: Box<dyn Meter> = match &channel.shown {
        Shown::Energy(path) => Box::new(Counter { path: path.clone(), description: in_engine, time }),
        Shown::Power(path) => sampled(Power(path.clone()), in_engine, time, &description.name)?,
        Shown::VoltageCurrent(voltage, current) => {
            sampled(VoltageCurrent(voltage.clone(), current.clone()), in_engine, time, &description.name)?
        }
    };
    Ok(Opened { description, meter })
}

fn sampled<T: Time + Clone + Send + 'static>(
    gauge: impl Gauge + 'static,
    description: MeterDescription,
    time: T,
    name: &str,
) -> Result<Box<dyn Meter>, Missing> {
    match Sampled::start(gauge, description, time) {
        Ok(meter) => Ok(Box::new(meter)),
        Err(error) => Err(Missing { why: format!("{name}: {error}"), hint: LIST.to_owned() }),
    }
}

struct Counter<T> {
    path: PathBuf,
    description: MeterDescription,
    time: T,
}

impl<T: Time> Meter for Counter<T> {
    fn description(&self) -> MeterDescription {
        self.description
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        let suspended = self.time.suspended();
        let before = self.time.now();
        let energy_uJ = number(&self.path).ok_or(MeterError::Unreadable)?;
        let after = self.time.now();
        Ok(Reading { counter: energy_uJ.checked_mul(1000).ok_or(MeterError::Unreadable)?, before, after, suspended })
    }
}

/// `powerN_input`, microwatts.
pub struct Power(pub PathBuf);

impl Gauge for Power {
    fn power_nW(&mut self) -> Result<u64, MeterError> {
        let shown = super::sensible(signed(&self.0).ok_or(MeterError::Unreadable)?)?;
        Ok(shown.unsigned_abs().saturating_mul(1000))
    }
}

/// `inN_input` in millivolts and `currN_input` in milliamperes; current of either sign is current drawn.
pub struct VoltageCurrent(pub PathBuf, pub PathBuf);

impl Gauge for VoltageCurrent {
    fn power_nW(&mut self) -> Result<u64, MeterError> {
        let voltage_mV = super::sensible(signed(&self.0).ok_or(MeterError::Unreadable)?)?;
        let current_mA = super::sensible(signed(&self.1).ok_or(MeterError::Unreadable)?)?;
        Ok(voltage_mV.unsigned_abs().saturating_mul(current_mA.unsigned_abs()).saturating_mul(1000))
    }
}
