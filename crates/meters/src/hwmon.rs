//! Sensors on the board as the kernel's `hwmon` shows them: INA2xx, INA3221 and others.
//!
//! # Source
//! Linux, Documentation/hwmon/sysfs-interface.rst (uJ, uW, mV, mA); for each driver its page, in `hwmon.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wattlock_engine::{Meter, MeterDescription, MeterError};
use wattlock_records::MeterRecord;

use super::battery::{self, Battery, By};
use super::counted::Counted;
use super::drivers::{self, Driver};
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
    /// What the chip shows of a battery is what the battery shows itself.
    Battery(Battery, By),
}

/// One channel of one chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    chip: String,
    domain: String,
    /// The file that tells it from others of the same label: `power2`.
    stem: String,
    shown: Shown,
    update_ms: Option<u64>,
    /// The time over which the driver averages: nothing where it does not, an error where it does not tell.
    average_ms: Option<Result<u64, NoNumber>>,
    /// Those whose power it is: it counts while they are discharged.
    batteries: Vec<Battery>,
    /// Why it is no meter, whatever its files say.
    unfit: Option<Missing>,
}

/// All channels below `root`, by the names of chip and channel, never by the number that the kernel gave the chip.
pub fn channels(root: &Path) -> Vec<Channel> {
    let folder = root.join("class/hwmon");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let mut found: Vec<Channel> =
        folders.iter().filter_map(|folder| Chip::read(root, folder)).flat_map(|chip| chip.channels()).collect();
    // Chips that nothing else tells apart are told apart by their order.
    distinguish(&mut found, |channel, at| format!("{}~{}", channel.domain, at + 1));
    found.sort_by(|a, b| a.domain.cmp(&b.domain));
    found
}

/// Renames those whose domain another has too.
fn distinguish(all: &mut [Channel], renamed: impl Fn(&Channel, usize) -> String) {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    all.iter().for_each(|channel| counts.entry(channel.domain.clone()).or_default().0 += 1);
    for channel in all {
        if let Some((2.., at)) = counts.get_mut(&channel.domain) {
            channel.domain = renamed(channel, *at);
            *at += 1;
        }
    }
}

/// One chip: its files by kind and number.
struct Chip<'a> {
    root: &'a Path,
    folder: &'a Path,
    name: String,
    /// Two chips of one kind differ by their place on the bus: `@1-0040`.
    place: String,
    driver: Option<&'static Driver>,
    /// `(kind, number)` of each channel with a value.
    shown: Vec<(String, u32)>,
    supply: Supply,
}

/// What the kernel shows a chip for.
enum Supply {
    Board,
    Battery(Battery),
    /// A charger, or the battery of a mouse.
    Other(String),
}

impl<'a> Chip<'a> {
    fn read(root: &'a Path, folder: &'a Path) -> Option<Self> {
        let name = text(&folder.join("name")).ok()?;
        let device = std::fs::canonicalize(folder.join("device")).ok();
        let place = device.as_deref().and_then(Path::file_name).map(|name| format!("@{}", name.to_string_lossy()));
        let entries = std::fs::read_dir(folder).ok()?.flatten();
        let mut shown: Vec<(String, u32)> =
            entries.filter_map(|entry| shown(&entry.file_name().to_string_lossy())).collect();
        shown.sort_unstable();
        shown.dedup();
        let supply = supply(root, &name, device.as_deref());
        let driver = drivers::of_chip(&name);
        Some(Self { root, folder, name, place: place.unwrap_or_default(), driver, shown, supply })
    }

    fn numbers(&self, kind: &str) -> Vec<u32> {
        self.shown.iter().filter(|(shown, _)| shown == kind).map(|(_, at)| *at).collect()
    }

    fn has(&self, kind: &str, at: u32) -> bool {
        self.shown.iter().any(|(shown, number)| shown == kind && *number == at)
    }

    fn file(&self, kind: &str, at: u32, suffix: &str) -> PathBuf {
        self.folder.join(format!("{kind}{at}_{suffix}"))
    }

    fn label(&self, kind: &str, at: u32) -> Option<String> {
        let is_name = |label: &String| !label.is_empty() && !label.contains(char::is_control);
        let written = text(&self.file(kind, at, "label")).ok().filter(is_name);
        written.or_else(|| self.driver.and_then(|driver| driver.names.get(&format!("{kind}{at}")).cloned()))
    }

    /// Whether two channels may be of one rail: their labels, if both have some, are the same.
    fn may_be_alike(&self, left: (&str, u32), right: (&str, u32)) -> bool {
        self.label(left.0, left.1).zip(self.label(right.0, right.1)).is_none_or(|(left, right)| left == right)
    }

    fn channels(&self) -> Vec<Channel> {
        let is_off = |kind: &str, at: u32| number(&self.file(kind, at, "enable")) == Some(0);
        let counts = |at: &u32| !is_off("energy", *at);
        let energies: Vec<u32> = self.numbers("energy").into_iter().filter(counts).collect();
        let is_counted = |at: u32| energies.contains(&at) && self.may_be_alike(("energy", at), ("power", at));
        let mut found: Vec<Channel> = energies
            .iter()
            .map(|at| self.channel("energy", *at, None, Shown::Energy(self.file("energy", *at, "input"))))
            .collect();
        found.extend(self.numbers("power").into_iter().filter(|at| !is_counted(*at)).map(|at| {
            let input = self.file("power", at, "input");
            let path = if input.exists() { input } else { self.file("power", at, "average") };
            self.channel("power", at, None, Shown::Power(path))
        }));
        let rails = self.rails();
        found.extend(rails.iter().map(|(voltage, current, label)| {
            let shown = Shown::VoltageCurrent(self.file("in", *voltage, "input"), self.file("curr", *current, "input"));
            let label = label.clone().or_else(|| self.label("in", *voltage));
            let mut channel = self.channel("curr", *current, label, shown);
            if let Some((kind, at)) =
                [("in", *voltage), ("curr", *current)].into_iter().find(|file| is_off(file.0, file.1))
            {
                channel.unfit = Some(Missing {
                    why: format!("{} holds 0: the channel is switched off", self.file(kind, at, "enable").display()),
                    hint: "its driver switches it on where somebody writes 1 there".to_owned(),
                });
            }
            channel
        }));
        if found.is_empty() && self.driver.is_none() && self.has_both() {
            let at = self.numbers("curr").first().copied().unwrap_or(0);
            let mut channel = self.channel("curr", at, None, Shown::Power(self.file("curr", at, "input")));
            channel.unfit = Some(Missing {
                why: format!("which voltage of the driver {} belongs to which current is not known", self.name),
                hint: "a sensor with labels, another meter, or an instrument's recording (--meter recording)"
                    .to_owned(),
            });
            found.push(channel);
        }
        let left_out = self.driver.map_or(&[][..], |driver| &driver.leave_out);
        found.retain(|channel| !left_out.contains(&channel.stem));
        distinguish(&mut found, |channel, _| format!("{}#{}", channel.domain, channel.stem));
        found
    }

    fn has_both(&self) -> bool {
        ["in", "curr"].iter().all(|kind| !self.numbers(kind).is_empty())
    }

    /// Voltage and current of a rail that shows no power, and what the rail is called.
    fn rails(&self) -> Vec<(u32, u32, Option<String>)> {
        let numbered = |channel: &str, kind: &str| channel.strip_prefix(kind)?.parse::<u32>().ok();
        let without_power = |current: u32| !self.has("power", current) && !self.has("energy", current);
        let there = |voltage: u32, current: u32| self.has("in", voltage) && self.has("curr", current);
        if let Supply::Battery(_) | Supply::Other(_) = self.supply {
            return if there(0, 1) && without_power(1) { vec![(0, 1, None)] } else { Vec::new() };
        }
        if let Some(rails) = self.driver.and_then(|driver| driver.rails.as_ref()) {
            let pairs = rails
                .iter()
                .filter_map(|(voltage, current)| Some((numbered(voltage, "in")?, numbered(current, "curr")?, None)));
            return pairs.filter(|rail| there(rail.0, rail.1) && without_power(rail.1)).collect();
        }
        let labelled = |kind| self.numbers(kind).into_iter().filter_map(move |at| Some((at, self.label(kind, at)?)));
        let powers: Vec<String> = labelled("power").map(|(_, label)| label).collect();
        let mut found = Vec::new();
        for (current, of_current) in labelled("curr") {
            let rail = of_current.strip_prefix('i');
            let alike =
                |of_voltage: &str| of_voltage == of_current || rail.is_some() && of_voltage.strip_prefix('v') == rail;
            let voltages: Vec<(u32, String)> = labelled("in").filter(|(_, label)| alike(label)).collect();
            let [(voltage, of_voltage)] = &voltages[..] else { continue };
            let name = if *of_voltage == of_current { Some(&*of_current) } else { rail };
            let is_shown = |power: &String| Some(&**power) == name || power.strip_prefix('p') == name;
            if !powers.iter().any(is_shown) {
                found.push((*voltage, current, name.map(str::to_owned)));
            }
        }
        found
    }

    /// A channel, by its rail's label or its own.
    fn channel(&self, kind: &str, at: u32, label: Option<String>, shown: Shown) -> Channel {
        let stem = format!("{kind}{at}");
        let label = label.or_else(|| self.label(kind, at)).unwrap_or_else(|| stem.clone());
        let is_average = matches!(&shown, Shown::Power(path) if path.ends_with(format!("{stem}_average")));
        let average_ms = is_average.then(|| level(&self.file(kind, at, "average_interval")));
        let is_battery =
            number(&self.file(kind, at, "is_battery")) == Some(1) || label.to_lowercase().contains("battery");
        let (batteries, unfit, shown) = match &self.supply {
            Supply::Board if is_battery => (battery::batteries(self.root), None, shown),
            Supply::Board => (Vec::new(), None, shown),
            Supply::Battery(battery) => {
                let by = if matches!(shown, Shown::Power(_)) { By::Power } else { By::Current };
                (vec![battery.clone()], None, Shown::Battery(battery.clone(), by))
            }
            Supply::Other(what) => {
                let hint = LIST.to_owned();
                (
                    Vec::new(),
                    Some(Missing { why: format!("{} is {what}: not what the machine draws", self.name), hint }),
                    shown,
                )
            }
        };
        let update_ms =
            number(&self.folder.join("update_interval")).or(self.driver.and_then(|driver| driver.update_ms));
        let domain = format!("{}{}/{label}", self.name, self.place);
        Channel { chip: self.name.clone(), domain, stem, shown, update_ms, average_ms, batteries, unfit }
    }
}

/// Kind and number of the channel that a file shows: `power1_input`, or `power1_average`.
fn shown(file: &str) -> Option<(String, u32)> {
    let channel =
        file.strip_suffix("_input").or_else(|| file.strip_suffix("_average").filter(|at| at.starts_with("power")))?;
    let (kind, number) = channel.split_at(channel.find(|letter: char| letter.is_ascii_digit())?);
    Some((kind.to_owned(), number.parse().ok()?))
}

/// The power supply behind a chip: its device, or the one of its name, in which the kernel writes `_` for `-`
/// (drivers/power/supply/power_supply_hwmon.c).
fn supply(root: &Path, chip: &str, device: Option<&Path>) -> Supply {
    let supplies = root.join("class/power_supply");
    let named = || {
        let entries = std::fs::read_dir(&supplies).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().replace('-', "_") == chip))
    };
    let is_supply = |path: &PathBuf| path.parent().and_then(Path::file_name).is_some_and(|name| name == "power_supply");
    let Some(folder) = device.map(Path::to_path_buf).filter(is_supply).or_else(named) else { return Supply::Board };
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match battery::batteries(root).into_iter().find(|battery| battery.domain == name) {
        Some(battery) => Supply::Battery(battery),
        None if text(&folder.join("type")).is_ok_and(|kind| kind == "Battery") => {
            Supply::Other("the battery of a device beside the machine".to_owned())
        }
        None => Supply::Other("a charger, which tells what was agreed on".to_owned()),
    }
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
            Shown::Power(_) | Shown::Battery(_, By::Power) => ("uW", 1e-6 * as_f64(update_period_ns)),
            Shown::VoltageCurrent(..) | Shown::Battery(..) => ("mV, mA", 5e-3 * as_f64(update_period_ns)),
        };
        let driver = drivers::of_chip(&self.chip);
        let scope = driver.and_then(|driver| driver.scope.as_deref());
        let scope =
            scope.unwrap_or("what the board's maker wired behind this sensor's shunt; rails may feed one another");
        let gain = driver.and_then(|driver| driver.gain.zip(driver.gain_source.as_deref()));
        let (gain, source) = gain.unwrap_or((0.05, "ours: no statement known for this chip and its shunt"));
        let others = all.iter().filter(|other| *other != self && other.chip == self.chip);
        let record = MeterRecord {
            name: format!("{KIND}:{}", self.domain),
            kind: KIND.to_owned(),
            domain: self.domain.clone(),
            scope: format!("{scope}{averaged}"),
            unit: unit.to_owned(),
            quantum_nJ,
            update_period_ns,
            range_nJ: None,
            round_trip_ns: None,
            gain_relative_uncertainty: gain,
            gain_source: source.to_owned(),
            overlaps: others.map(|other| format!("{KIND}:{}", other.domain)).collect(),
            read_ns: None,
        };
        self.batteries.iter().map(Battery::record).fold(record, |record, of_battery| MeterRecord {
            scope: of_battery.scope,
            update_period_ns: record.update_period_ns.max(of_battery.update_period_ns),
            quantum_nJ: record.quantum_nJ.max(1e-3 * as_f64(of_battery.update_period_ns)),
            gain_relative_uncertainty: of_battery.gain_relative_uncertainty,
            gain_source: of_battery.gain_source,
            overlaps: [record.overlaps, vec![of_battery.name]].concat(),
            ..record
        })
    }

    /// Why it can't be used.
    fn missing(&self) -> Option<Missing> {
        let charged = || self.batteries.iter().find_map(|battery| battery.discharging().err());
        self.unfit.clone().or_else(|| {
            let error = charged()?;
            Some(Missing { why: error.to_string(), hint: mends(MeterError::NotDischarging).to_owned() })
        })
    }
}

#[allow(clippy::cast_precision_loss)] // an update period is far below 2^53 ns
fn as_f64(ns: u64) -> f64 {
    ns as f64
}

/// What there is; whether it answers is seen where it is opened, which waits no longer than its patience.
pub fn found(root: &Path) -> Vec<Found> {
    let all = channels(root);
    all.iter().map(|channel| Found { record: channel.describe(&all), missing: channel.missing() }).collect()
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
    if let Some(missing) = channel.missing() {
        return Err(Missing { why: format!("{KIND}:{}: {}", channel.domain, missing.why), ..missing });
    }
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
        Shown::Power(path) => {
            let gauge = WhileDischarging(channel.batteries.clone(), Power(path.clone()));
            sampled(gauge, in_engine, time, &description.name)?
        }
        Shown::VoltageCurrent(voltage, current) => {
            let gauge = WhileDischarging(channel.batteries.clone(), VoltageCurrent(voltage.clone(), current.clone()));
            sampled(gauge, in_engine, time, &description.name)?
        }
        Shown::Battery(battery, by) => sampled(battery.clone().gauge(*by), in_engine, time, &description.name)?,
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

/// The number of a channel's file, unless its `fault` is 1 (Linux, Documentation/ABI/testing/sysfs-class-hwmon).
fn sound(path: &Path) -> Result<u64, NoNumber> {
    let shown = path.file_name().unwrap_or_default().to_string_lossy();
    let fault = path.with_file_name(format!("{}_fault", shown.rsplit_once('_').map_or(&*shown, |(stem, _)| stem)));
    if number(&fault) == Some(1) {
        return Err(NoNumber::of(MeterError::Unreadable, &fault, "1", ": the driver says that the channel failed"));
    }
    size(path)
}

/// The nanowatts of microwatts that the file `path` tells.
fn of_microwatts(path: &Path, power_uW: Option<u64>) -> Result<u64, NoNumber> {
    let power_nW = power_uW.and_then(|power| power.checked_mul(1000));
    power_nW.ok_or_else(|| {
        let text = text(path).unwrap_or_default();
        NoNumber::of(MeterError::Unreadable, path, &text, ", more than any sensor measures")
    })
}

/// `powerN_input`, microwatts.
pub struct Power(pub PathBuf);

impl Gauge for Power {
    fn power_nW(&mut self) -> Result<u64, NoNumber> {
        of_microwatts(&self.0, Some(sound(&self.0)?))
    }
}

/// `inN_input` in millivolts and `currN_input` in milliamperes; current of either sign is current drawn.
pub struct VoltageCurrent(pub PathBuf, pub PathBuf);

impl Gauge for VoltageCurrent {
    fn power_nW(&mut self) -> Result<u64, NoNumber> {
        let (voltage_mV, current_mA) = (sound(&self.0)?, sound(&self.1)?);
        of_microwatts(&self.1, voltage_mV.checked_mul(current_mA))
    }
}

/// A gauge of what batteries give, which shows nothing while any of them is charged.
struct WhileDischarging<G>(Vec<Battery>, G);

impl<G: Gauge> Gauge for WhileDischarging<G> {
    fn power_nW(&mut self) -> Result<u64, NoNumber> {
        self.0.iter().try_for_each(Battery::discharging)?;
        self.1.power_nW()
    }
}
