//! The same counters of the processor by way of `perf`: the PMUs `power` and, for each core, `power_core`.
//!
//! # Source
//! Linux, arch/x86/events/rapl.c (units of 2^-32 J, one processor a package); Documentation/admin-guide/sysctl/kernel.rst
//! (`perf_event_paranoid`).

use std::path::{Path, PathBuf};

use wattlock_engine::MeterError;
use wattlock_records::MeterRecord;

use super::counted::Counted;
use super::file::{NoNumber, text};
use super::kind::{Found, Kind, LIST, Missing, Open, Opened};
use super::time::{SystemTime, Time};
use super::topology::{Place, processors, threads};

/// The kind, for the package and its parts.
pub const KIND: &str = "perf";
/// The kind, for one core.
pub const CORE: &str = "perf-core";
/// How it is found and opened.
pub(crate) const METER: Kind = Kind {
    names: &[KIND, CORE],
    found,
    open: Open::Files(|wanted| open(wanted.root, wanted.kind, wanted.domain, wanted.cpu, SystemTime)),
};

const UPDATE_PERIOD_NS: u64 = 1_000_000;
const PATIENCE_NS: u64 = 500_000_000;
/// What would let it be read.
pub const GRANT: &str = "needs root, CAP_PERFMON, or `sysctl kernel.perf_event_paranoid=0`, which lets every user count \
                         what others' programs do; `setcap cap_perfmon=ep` on the program is the narrower way";

/// One event of a PMU.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    kind: &'static str,
    /// `energy-pkg`, ...
    domain: String,
    pmu: &'static str,
    scale_J: f64,
    /// One processor a package, a die or a core: that one counts for all of it.
    cpus: Vec<u32>,
}

/// The events below `root`.
pub fn events(root: &Path) -> Vec<Event> {
    let mut all: Vec<Event> =
        [(KIND, "power"), (CORE, "power_core")].into_iter().flat_map(|(kind, pmu)| of_pmu(root, kind, pmu)).collect();
    all.sort_by(|a, b| (a.kind, &a.domain).cmp(&(b.kind, &b.domain)));
    all
}

fn of_pmu(root: &Path, kind: &'static str, pmu: &'static str) -> Vec<Event> {
    let folder: PathBuf = root.join("devices").join(pmu);
    let Some(cpus) = text(&folder.join("cpumask")).ok().and_then(|mask| processors(&mask)) else { return Vec::new() };
    let entries = std::fs::read_dir(folder.join("events")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with("energy-") && !name.contains('.'))
        .filter_map(|name| {
            let file = |end: &str| text(&folder.join("events").join(format!("{name}{end}"))).ok();
            let in_joules = file(".unit").is_some_and(|unit| unit == "Joules");
            let scale_J = file(".scale")?.parse().ok().filter(|_| in_joules)?;
            Some(Event { kind, domain: name, pmu, scale_J, cpus: cpus.clone() })
        })
        .collect()
}

impl Event {
    fn name(&self) -> String {
        format!("{}:{}", self.kind, self.domain)
    }

    /// The processor that counts for the package, or the core, that `pinned` is in; the first where nothing is pinned.
    pub fn counts_for(&self, root: &Path, pinned: Option<u32>) -> Result<u32, Missing> {
        let is_near = |cpu: &u32, whole: fn(Place) -> Place| {
            let (place, pinned) = (Place::of(root, *cpu).map(whole), pinned.and_then(|cpu| Place::of(root, cpu)));
            place.zip(pinned).is_some_and(|(place, pinned)| place.holds(pinned))
        };
        let found = match (pinned, &self.cpus[..]) {
            (Some(pinned), cpus) if self.kind == CORE => {
                let core = threads(root, pinned);
                cpus.iter().find(|cpu| core.contains(cpu))
            }
            (None, cpus) => cpus.first(),
            (_, [only]) => Some(only),
            (_, cpus) => cpus
                .iter()
                .find(|cpu| is_near(cpu, |place| place))
                .or_else(|| cpus.iter().find(|cpu| is_near(cpu, Place::package))),
        };
        found.copied().ok_or_else(|| Missing {
            why: format!("{}: none of the processors {:?} counts for processor {pinned:?}", self.name(), self.cpus),
            hint: "its package or core is not among those that the kernel counts: pin to another".to_owned(),
        })
    }

    /// * `cpu`: the processor that counts.
    pub fn describe(&self, all: &[Self], root: &Path, cpu: u32) -> MeterRecord {
        let (scope, part) = match self.domain.as_str() {
            "energy-pkg" => {
                ("the processor's package: cores, caches, memory controller, graphics; not memory", Some(""))
            }
            "energy-cores" => ("the cores of the package, all programs on them", Some("/core")),
            "energy-gpu" => ("the graphics in the package", Some("/uncore")),
            "energy-ram" => ("memory", Some("/dram")),
            "energy-psys" => ("the platform as its maker wired it", None),
            "energy-core" => ("one core", Some("/core")),
            _ => ("as the kernel names it", None),
        };
        // A die's counters may be called by the die or by the package.
        let place = Place::of(root, cpu).or(Place::named("package-0"));
        let names = place.map_or_else(Vec::new, |place| vec![place.to_string(), place.package().to_string()]);
        let mut zones: Vec<String> = match part {
            Some(part) => names.iter().map(|name| format!("{name}{part}")).collect(),
            None => vec!["psys".to_owned()],
        };
        zones.dedup();
        let scope = if self.cpus.len() > 1 {
            format!("{scope}; of that which holds processor {cpu}")
        } else {
            scope.to_owned()
        };
        // What the package holds is in it, and all is in psys; memory is beside the package.
        let counts_same = |other: &Self| {
            let any = |name: &str| self.domain == name || other.domain == name;
            any("energy-psys") || (!any("energy-ram") && any("energy-pkg"))
        };
        let mut overlaps: Vec<String> =
            all.iter().filter(|other| *other != self && counts_same(other)).map(Self::name).collect();
        overlaps
            .extend(zones.iter().flat_map(|zone| ["powercap", "powercap-mmio"].map(|kind| format!("{kind}:{zone}"))));
        MeterRecord {
            name: self.name(),
            kind: self.kind.to_owned(),
            domain: self.domain.clone(),
            scope,
            unit: "J".to_owned(),
            // The kernel's unit is 2^-32 J; the register below it steps by 61 uJ.
            quantum_nJ: super::powercap::QUANTUM_NJ,
            update_period_ns: UPDATE_PERIOD_NS,
            range_nJ: None,
            round_trip_ns: None,
            gain_relative_uncertainty: super::powercap::GAIN,
            gain_source: super::powercap::GAIN_SOURCE.to_owned(),
            overlaps,
            read_ns: None,
        }
    }
}

/// What there is.
pub fn found(root: &Path) -> Vec<Found> {
    let all = events(root);
    let one = |event: &Event| {
        let cpu = event.counts_for(root, None).ok()?;
        Some(Found { record: event.describe(&all, root, cpu), missing: open_event(root, event, cpu).err() })
    };
    all.iter().filter_map(one).collect()
}

/// Opens an event of the package, or the core, that processor `pinned` is in.
///
/// # Errors
/// There is none, it may not be read, or the tree is a copy.
pub fn open(
    root: &Path,
    kind: &str,
    domain: &str,
    pinned: Option<u32>,
    time: impl Time + 'static,
) -> Result<Opened, Missing> {
    let all = events(root);
    let wanted = match (domain, kind) {
        ("", CORE) => "energy-core",
        ("", _) => "energy-pkg",
        (domain, _) => domain,
    };
    let Some(event) = all.iter().find(|event| event.kind == kind && event.domain == wanted) else {
        let names: Vec<String> = all.iter().map(Event::name).collect();
        let why = format!("there is no energy event {wanted:?}: there are [{}]", names.join(", "));
        return Err(Missing { why, hint: LIST.to_owned() });
    };
    let cpu = event.counts_for(root, pinned)?;
    let mut counter = open_event(root, event, cpu)?;
    let description = event.describe(&all, root, cpu);
    let in_engine = description.in_engine(PATIENCE_NS);
    let scale_J = event.scale_J;
    let ask = move || match counter.read() {
        Ok(count) => Ok(nanojoules(count, scale_J)),
        Err(said) => Err(NoNumber { cause: MeterError::Unreadable, said }),
    };
    let meter = Counted::new(ask, in_engine, time);
    Ok(Opened { description, meter: Box::new(meter) })
}

fn open_event(root: &Path, event: &Event, cpu: u32) -> Result<counter::Counter, Missing> {
    if root != Path::new(super::kind::SYS) {
        return Err(Missing {
            why: format!("{}: a copied tree describes the kernel's counters, it does not hold them", event.name()),
            hint: "leave --sys-root out, or take powercap, whose counters are files".to_owned(),
        });
    }
    counter::open(event.pmu, &event.domain, cpu)
        .map_err(|why| Missing { why: format!("{}: {why}", event.name()), hint: GRANT.to_owned() })
}

/// Counts in units of `scale_J` as nanojoules.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn nanojoules(count: u64, scale_J: f64) -> u64 {
    // 2^53 units of 0.23 nJ are 2 MJ, a day at 24 W; from there on it is rounded to a few units.
    (count as f64 * scale_J * 1e9) as u64
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod counter {
    use perf_event::Builder;
    use perf_event::events::Dynamic;

    /// A counter of one processor, all programs.
    pub struct Counter(perf_event::Counter);

    pub fn open(pmu: &str, event: &str, cpu: u32) -> Result<Counter, String> {
        let text = |error: std::io::Error| error.to_string();
        let cpu = usize::try_from(cpu).map_err(|error| error.to_string())?;
        let mut dynamic = Dynamic::builder(pmu).map_err(text)?;
        dynamic.event(event).map_err(text)?;
        let event = dynamic.build().map_err(|error| error.to_string())?;
        // A power PMU knows no modes: excluding the kernel would be refused.
        let mut builder = Builder::new(event);
        builder.any_pid().one_cpu(cpu).exclude_kernel(false).exclude_hv(false);
        let mut counter = builder.build().map_err(text)?;
        counter.enable().map_err(text)?;
        Ok(Counter(counter))
    }

    impl Counter {
        pub fn read(&mut self) -> Result<u64, String> {
            self.0.read().map_err(|error| error.to_string())
        }
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))))]
mod counter {
    pub struct Counter;

    pub fn open(_pmu: &str, _event: &str, _cpu: u32) -> Result<Counter, String> {
        Err("this program counts no events here".to_owned())
    }

    impl Counter {
        pub fn read(&mut self) -> Result<u64, String> {
            Err("this program counts no events here".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_two_to_the_32_in_the_kernels_units_is_a_joule() {
        let root = std::env::temp_dir().join(format!("wattlock-{}-perf-scale", std::process::id()));
        let events_folder = root.join("devices/power/events");
        let put = |path: PathBuf, text: &str| std::fs::write(path, text).map_err(|error| error.to_string());
        assert_eq!(std::fs::create_dir_all(&events_folder).map_err(|error| error.to_string()), Ok(()));
        for (file, text) in [
            ("devices/power/cpumask", "0\n"),
            ("devices/power/events/energy-pkg", "event=0x02\n"),
            // As arch/x86/events/rapl.c writes it: 2^-32.
            ("devices/power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n"),
            ("devices/power/events/energy-pkg.unit", "Joules\n"),
        ] {
            assert_eq!(put(root.join(file), text), Ok(()));
        }
        let scales: Vec<f64> = events(&root).iter().map(|event| event.scale_J).collect();
        assert_eq!(scales, [1.0 / 4_294_967_296.0]);
        assert_eq!(nanojoules(1 << 32, scales[0]), 1_000_000_000);
        assert_eq!(nanojoules(15 << 30, scales[0]), 3_750_000_000);
        let _ = std::fs::remove_dir_all(root);
    }
}
