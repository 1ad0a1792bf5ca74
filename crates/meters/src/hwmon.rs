//! Sensors on the board as the kernel's `hwmon` shows them: INA2xx, INA3221 and others.
//!
//! # Source
//! Linux, Documentation/hwmon/sysfs-interface.rst (uJ, uW, mV, mA), ina2xx.rst, ina3221.rst.

use std::path::{Path, PathBuf};

use wattlock_engine::{Meter, MeterDescription};
use wattlock_records::MeterRecord;

use super::counted::Counted;
use super::file::{NoNumber, counter_nJ, level, number, size, text};
use super::kind::{Found, Kind, LIST, Missing, Open, Opened, mends};
use super::sampled::{Gauge, Sampled};
use super::time::{SystemTime, Time};

/// The kind.
pub const KIND: &str = "hwmon";
/// How it is found and opened.
pub(crate) const METER: Kind =
    Kind { names: &[KIND], found, open: Open::Files(|wanted| open(wanted.root, wanted.domain, SystemTime)) };
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
    /// The time over which the driver averages: nothing where it does not, an error where it does not tell.
    average_ms: Option<Result<u64, NoNumber>>,
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
        let interval = folder.join(format!("power{at}_average_interval"));
        let (what, shown) = match (input("energy", at), power, input("in", at).zip(input("curr", at))) {
            (Some(path), ..) => ("energy", Shown::Energy(path)),
            (None, Some(path), _) => ("power", Shown::Power(path)),
            (None, None, Some((voltage, current))) => ("curr", Shown::VoltageCurrent(voltage, current)),
            _ => continue,
        };
        let label = text(&folder.join(format!("{what}{at}_label"))).unwrap_or_else(|_| format!("{what}{at}"));
        let is_average = matches!(&shown, Shown::Power(path) if path.ends_with(format!("power{at}_average")));
        let average_ms = is_average.then(|| level(&interval));
        let domain = format!("{chip}{place}/{label}");
        found.push(Channel { chip: chip.clone(), domain, shown, update_ms, average_ms });
    }
    found
}

impl Channel {
    fn describe(&self, all: &[Self]) -> MeterRecord {
        let average_ms = self.average_ms.clone().and_then(Result::ok);
        let update_ms = average_ms.or(self.update_ms);
        let update_period_ns = update_ms.map_or(UPDATE_PERIOD_NS, |ms| ms.max(1).saturating_mul(1_000_000));
        let averaged = average_ms.map_or_else(String::new, |ms| format!("; each value is an average over {ms} ms"));
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
            scope: format!(
                "what the board's maker wired behind this sensor's shunt; rails may feed one another{averaged}"
            ),
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

/// What there is; whether it answers is seen where it is opened, which waits no longer than its patience.
pub fn found(root: &Path) -> Vec<Found> {
    let all = channels(root);
    all.iter().map(|channel| Found { record: channel.describe(&all), missing: None }).collect()
}

/// Opens the channel with this domain; the only one where none is named.
///
/// # Errors
/// There is none, there are several, or it can't be read.
pub fn open<T: Time + Clone + Send + 'static>(root: &Path, domain: &str, time: T) -> Result<Opened, Missing> {
    let all = channels(root);
    let matching: Vec<&Channel> = all.iter().filter(|c| domain.is_empty() || c.domain == domain).collect();
    if all.is_empty() {
        return Err(Missing {
            why: format!("there is no sensor of power below {}", root.display()),
            hint: "load the driver of the board's chip (ina2xx, ina3221), or take another meter".to_owned(),
        });
    }
    let [channel] = matching[..] else {
        let names: Vec<&str> = all.iter().map(|channel| channel.domain.as_str()).collect();
        let why = format!("{} sensors match {domain:?}: there are {}", matching.len(), names.join(", "));
        return Err(Missing { why, hint: LIST.to_owned() });
    };
    let description = channel.describe(&all);
    if let Some(Err(error)) = &channel.average_ms {
        return Err(Missing {
            why: format!("{}: an average over a time that is not told: {}", description.name, error.said),
            hint: "without its interval nobody knows what an average holds: take another meter".to_owned(),
        });
    }
    let in_engine = description.in_engine(PATIENCE_NS.max(description.update_period_ns.saturating_mul(10)));
    let meter: Box<dyn Meter> = match &channel.shown {
        Shown::Energy(path) => {
            let path = path.clone();
            Box::new(Counted::new(move || energy_nJ(&path), in_engine, time))
        }
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
        Err(error) => Err(Missing { why: format!("{name}: {error}"), hint: mends(error.cause).to_owned() }),
    }
}

/// `energyN_input`, microjoules.
fn energy_nJ(path: &Path) -> Result<u64, NoNumber> {
    let text = text(path).map_err(|error| NoNumber::unread(path, &error))?;
    counter_nJ(path, &text)
}

/// `powerN_input`, microwatts.
pub struct Power(pub PathBuf);

impl Gauge for Power {
    fn power_nW(&mut self) -> Result<u64, NoNumber> {
        size(&self.0).map(|power_uW| power_uW.saturating_mul(1000))
    }
}

/// `inN_input` in millivolts and `currN_input` in milliamperes; current of either sign is current drawn.
pub struct VoltageCurrent(pub PathBuf, pub PathBuf);

impl Gauge for VoltageCurrent {
    fn power_nW(&mut self) -> Result<u64, NoNumber> {
        let (voltage_mV, current_mA) = (size(&self.0)?, size(&self.1)?);
        Ok(voltage_mV.saturating_mul(current_mA).saturating_mul(1000))
    }
}
