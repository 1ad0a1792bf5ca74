//! The processor's own energy counters (RAPL), as the kernel's `powercap` shows them.
//!
//! # Source
//! Linux, Documentation/power/powercap/powercap.rst; Intel SDM volume 3B, 16.10 (the counters and their update).

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use wattlock_engine::Nanojoules;
use wattlock_records::MeterRecord;

use super::counted::Counted;
use super::file::{NoNumber, counter_nJ, number, text};
use super::kind::{Found, Kind, LIST, Missing, Open, Opened};
use super::time::{SystemTime, Time};
use super::topology::Place;

/// Counters behind model-specific registers.
pub const KIND: &str = "powercap";
/// The same counters behind memory-mapped ones.
pub const MMIO: &str = "powercap-mmio";
/// How it is found and opened.
pub(crate) const METER: Kind = Kind {
    names: &[KIND, MMIO],
    found,
    open: Open::Files(|wanted| open(wanted.root, wanted.kind, wanted.domain, SystemTime)),
};

/// "approximately every 1 millisecond" (Intel SDM volume 3B, 16.10.3).
const UPDATE_PERIOD_NS: u64 = 1_000_000;
/// Five hundred updates without a new value.
const PATIENCE_NS: u64 = 500_000_000;
/// 2^-14 J, the unit of most processors since Sandy Bridge; some servers' memory counts in 15.3 uJ.
pub const QUANTUM_NJ: f64 = 61_035.156_25;
/// What a zone is taken to draw at most where it does not say: more than a package of today, so that no wrap is missed.
const MOST_W: u64 = 1000;
/// See [`GAIN_SOURCE`].
pub const GAIN: f64 = 0.05;
/// Where [`GAIN`] is from.
pub const GAIN_SOURCE: &str = "ours: counters of Haswell and later follow wall power closely but for an offset (Khan et al., \
                           RAPL in Action, ACM TOMPECS 3(2), 2018); no maker states a limit";
/// An advice, not an act of ours.
pub const GRANT: &str = "only root may read it, because it tells secrets of other programs (CVE-2020-8694, PLATYPUS): on \
                         a machine of your own a udev rule grants it to a group: SUBSYSTEM==\"powercap\", ACTION==\"add\", \
                         RUN+=\"/bin/chgrp -R power /sys%p\", RUN+=\"/bin/chmod -R g+r /sys%p\"";

/// One zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    /// [`KIND`] or [`MMIO`].
    pub kind: &'static str,
    /// Its name below that of its parent: `package-0/core`. Never its index, which another kernel may give to another.
    pub domain: String,
    folder: PathBuf,
}

impl Zone {
    /// As the meter is asked for.
    pub fn name(&self) -> String {
        format!("{}:{}", self.kind, self.domain)
    }

    fn is_whole_machine(&self) -> bool {
        self.domain.starts_with("psys")
    }

    /// Whether one counts energy that the other counts too: a twin behind other registers, a part and its whole, and
    /// the whole machine with everything.
    fn overlaps(&self, other: &Self) -> bool {
        let within = |part: &Self, whole: &Self| {
            // Memory stands below its package and is not counted in it.
            part.domain.strip_prefix(&whole.domain).is_some_and(|rest| rest.starts_with('/') && rest != "/dram")
        };
        self.domain == other.domain
            || within(self, other)
            || within(other, self)
            || self.is_whole_machine() != other.is_whole_machine()
    }
}

/// All zones below `root`, by name.
pub fn zones(root: &Path) -> Vec<Zone> {
    let Ok(entries) = std::fs::read_dir(root.join("class/powercap")) else { return Vec::new() };
    let names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let folder = |name: &str| root.join("class/powercap").join(name);
    let called = |name: &str| text(&folder(name).join("name")).ok();
    let mut zones: Vec<Zone> = names
        .iter()
        .filter_map(|entry| {
            let kind = match entry.split_once(':')?.0 {
                "intel-rapl" => KIND,
                "intel-rapl-mmio" => MMIO,
                _ => return None,
            };
            // `intel-rapl:0:1` is the second zone within `intel-rapl:0`.
            let depth = entry.matches(':').count();
            let domain = match entry.rsplit_once(':') {
                Some((parent, _)) if depth > 1 => format!("{}/{}", called(parent)?, called(entry)?),
                _ => called(entry)?,
            };
            Some(Zone { kind, domain, folder: folder(entry) })
        })
        .collect();
    zones.sort_by_key(Zone::name);
    zones
}

/// Why there is no zone where there are links to some: a container has them without what they lead to.
fn dangling(root: &Path) -> Option<Missing> {
    let folder = root.join("class/powercap");
    let is_link = |path: &Path| path.is_symlink() && !path.exists();
    let mut entries = std::fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.path());
    entries.any(|path| is_link(&path)).then(|| Missing {
        why: format!("{}: the zones are links whose target isn't mounted", folder.display()),
        hint:
            "a container hides devices/virtual/powercap, because it tells secrets of other programs (CVE-2020-8694): \
               measure outside of it, or start it with --security-opt unmask=/sys/devices/virtual/powercap (Podman) or \
               --security-opt systempaths=unconfined (Docker)"
                .to_owned(),
    })
}

/// What a zone is; whether it can be read is another question.
pub fn describe(zone: &Zone, all: &[Zone]) -> MeterRecord {
    let range_nJ = number(&zone.folder.join("max_energy_range_uj")).and_then(|range| range.checked_mul(1000));
    let others = all.iter().filter(|other| *other != zone && zone.overlaps(other));
    MeterRecord {
        name: zone.name(),
        kind: zone.kind.to_owned(),
        domain: zone.domain.clone(),
        scope: scope(&zone.domain).to_owned(),
        unit: "uJ".to_owned(),
        quantum_nJ: QUANTUM_NJ,
        update_period_ns: UPDATE_PERIOD_NS,
        range_nJ,
        round_trip_ns: range_nJ.map(|range| range / most_W(zone)),
        gain_relative_uncertainty: GAIN,
        gain_source: GAIN_SOURCE.to_owned(),
        overlaps: others.map(Zone::name).collect(),
        read_ns: None,
    }
}

fn scope(domain: &str) -> &'static str {
    let last = domain.rsplit('/').next().unwrap_or(domain);
    match last.split('-').next().unwrap_or(last) {
        "package" => "the processor's package: cores, caches, memory controller, graphics; not memory, board or supply",
        "core" => "the cores of the package, all programs on them",
        "uncore" => "what shares the package with the cores, on most machines the graphics",
        "dram" => "memory",
        "psys" => "the platform as its maker wired it, on many laptops all but the screen",
        _ => "as the kernel names it",
    }
}

/// The most that the zone draws, watts: its highest limit, twice, for short peaks.
fn most_W(zone: &Zone) -> u64 {
    let limit = |at: u32| number(&zone.folder.join(format!("constraint_{at}_max_power_uw")));
    let most_uW = (0..3).filter_map(limit).max().unwrap_or(0);
    if most_uW == 0 { MOST_W } else { (most_uW * 2).div_ceil(1_000_000).min(MOST_W) }
}

/// What there is.
pub fn found(root: &Path) -> Vec<Found> {
    let all = zones(root);
    let one = |zone: &Zone| {
        let path = zone.folder.join("energy_uj");
        let missing = match text(&path) {
            Err(error) => Some(refused(&path, &error)),
            Ok(counter) if counter.parse() == Ok(0_u64) => Some(Missing {
                why: format!("{} stands at 0: the counter does not count", path.display()),
                hint: "the machine's firmware or hypervisor hides it; another meter".to_owned(),
            }),
            Ok(_) => None,
        };
        Found { record: with_mirrors(zone, &all), missing }
    };
    let hidden = dangling(root).filter(|_| all.is_empty()).map(|missing| {
        let nowhere = Zone { kind: KIND, domain: String::new(), folder: root.join("class/powercap") };
        Found { record: MeterRecord { name: KIND.to_owned(), ..describe(&nowhere, &[]) }, missing: Some(missing) }
    });
    all.iter().map(one).chain(hidden).collect()
}

/// What a zone is. Zones that show one value twice, at two reads, are mirrors of one counter and overlap.
fn with_mirrors(zone: &Zone, all: &[Zone]) -> MeterRecord {
    let mut record = describe(zone, all);
    for other in all.iter().filter(|other| *other != zone) {
        let shown = |zone: &Zone| number(&zone.folder.join("energy_uj")).filter(|counter| *counter > 0);
        let is_mirror = (0..2).all(|_| shown(zone).is_some_and(|counter| shown(other) == Some(counter)));
        if is_mirror && !record.overlaps.contains(&other.name()) {
            record.overlaps.push(other.name());
        }
    }
    record
}

/// Refuses meters that all count other packages than the one that holds processor `cpu`.
///
/// # Errors
/// They do, and which one would not.
pub fn refuse_elsewhere(root: &Path, cpu: u32, meters: &[&MeterRecord]) -> Result<(), Missing> {
    let place = |meter: &&MeterRecord| {
        let is_zone = [KIND, MMIO].contains(&meter.kind.as_str());
        is_zone.then(|| meter.domain.split('/').next().and_then(Place::named)).flatten()
    };
    let (Some(here), Some(places)) =
        (Place::of(root, cpu), meters.iter().map(place).collect::<Option<Vec<_>>>().filter(|all| !all.is_empty()))
    else {
        return Ok(());
    };
    if places.iter().any(|place| place.holds(here)) {
        return Ok(());
    }
    let names: Vec<&str> = meters.iter().map(|meter| meter.name.as_str()).collect();
    let all = zones(root);
    let right = all.iter().find(|zone| {
        meters.iter().any(|meter| zone.kind == meter.kind)
            && Place::named(&zone.domain).is_some_and(|at| at.holds(here))
    });
    Err(Missing {
        why: format!("{}: the load is pinned to processor {cpu}, which is in {here}", names.join("+")),
        hint: right.map_or_else(|| LIST.to_owned(), |zone| format!("name {}, or the sum of both", zone.name())),
    })
}

fn refused(path: &Path, error: &io::Error) -> Missing {
    let hint = if error.kind() == io::ErrorKind::PermissionDenied { GRANT } else { LIST };
    Missing { why: format!("{}: {error}", path.display()), hint: hint.to_owned() }
}

/// Opens the zone with this domain.
///
/// # Errors
/// There is none, or it may not be read.
pub fn open(root: &Path, kind: &str, domain: &str, time: impl Time + 'static) -> Result<Opened, Missing> {
    let all = zones(root);
    let ours: Vec<&Zone> = all.iter().filter(|zone| zone.kind == kind).collect();
    let packages: Vec<&Zone> = ours.iter().copied().filter(|zone| Place::named(&zone.domain).is_some()).collect();
    let zone = match (domain, &packages[..], &ours[..]) {
        ("", [only], _) | ("", [], [only]) => only,
        ("", [_, _, ..], _) => {
            let names: Vec<String> = packages.iter().map(|zone| zone.name()).collect();
            return Err(Missing {
                why: format!("there are {} packages: {}", names.len(), names.join(", ")),
                hint: format!("name the one of the processor, such as {}, or their sum {}", names[1], names.join("+")),
            });
        }
        _ => match ours.iter().find(|zone| zone.domain == domain) {
            Some(zone) => zone,
            None if all.is_empty() => {
                if let Some(missing) = dangling(root) {
                    return Err(missing);
                }
                let hint = "virtual machines hide it; on a machine of your own load the kernel's module \
                            intel_rapl_msr";
                let why = format!("there is no powercap below {}", root.display());
                return Err(Missing { why, hint: hint.to_owned() });
            }
            None => {
                let names: Vec<String> = all.iter().map(Zone::name).collect();
                let why = format!("there is no zone {domain:?}: there are {}", names.join(", "));
                return Err(Missing { why, hint: LIST.to_owned() });
            }
        },
    };
    let path = zone.folder.join("energy_uj");
    let mut file = File::open(&path).map_err(|error| refused(&path, &error))?;
    let description = with_mirrors(zone, &all);
    let in_engine = description.in_engine(PATIENCE_NS);
    let meter = Counted::new(move || again(&mut file, &path), in_engine, time);
    Ok(Opened { description, meter: Box::new(meter) })
}

/// The counter of an open file, read from its start.
fn again(file: &mut File, path: &Path) -> Result<Nanojoules, NoNumber> {
    let mut digits = [0; 24];
    let length = file.rewind().and_then(|()| file.read(&mut digits)).map_err(|error| NoNumber::unread(path, &error))?;
    counter_nJ(path, &String::from_utf8_lossy(&digits[..length]))
}
