//! Energy meters behind the engine's port, a file each. The root of the file tree and the clock are arguments, so that
//! each runs as well on a copied or made-up tree and in made-up time.
#![forbid(unsafe_code)]

pub mod battery;
pub mod hwmon;
pub mod perf;
pub mod powercap;
pub mod ppk2;
pub mod sampled;
pub mod stream;
pub mod sum;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use wattlock_engine::{Meter, MeterDescription, MeterError, Nanoseconds};

use crate::records::{EnergyPlan, MeterRecord};

/// Where the system keeps its devices.
const SYS: &str = "/sys";

/// What tells the time to a meter.
pub trait Time {
    /// The monotonic clock.
    fn now(&self) -> Nanoseconds;

    /// How long the machine has been suspended since it started; 0 where the system does not tell.
    fn suspended(&self) -> Nanoseconds;
}

/// The clocks of the system.
#[derive(Debug, Clone, Copy)]
pub struct SystemTime;

impl Time for SystemTime {
    #[cfg(unix)]
    fn now(&self) -> Nanoseconds {
        clock_ns(nix::time::ClockId::CLOCK_MONOTONIC)
    }

    #[cfg(not(unix))]
    fn now(&self) -> Nanoseconds {
        use std::sync::LazyLock;
        use std::time::Instant;
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn suspended(&self) -> Nanoseconds {
        clock_ns(nix::time::ClockId::CLOCK_BOOTTIME).saturating_sub(self.now())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn suspended(&self) -> Nanoseconds {
        0
    }
}

#[cfg(unix)]
fn clock_ns(clock: nix::time::ClockId) -> Nanoseconds {
    let time = nix::time::clock_gettime(clock).map_or((0, 0), |time| (time.tv_sec(), time.tv_nsec()));
    let (seconds, rest) = (u64::try_from(time.0).unwrap_or(0), u64::try_from(time.1).unwrap_or(0));
    seconds * 1_000_000_000 + rest
}

/// A meter that can be read.
pub struct Opened {
    /// What it is.
    pub description: MeterRecord,
    /// The meter.
    pub meter: Box<dyn Meter>,
}

/// Why a meter can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What is wrong.
    pub why: String,
    /// What would mend it.
    pub hint: String,
}

/// A meter that was found, whether or not it can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What it is.
    pub record: MeterRecord,
    /// Why it can't be read, and what would grant it; nothing where it can.
    pub missing: Option<Missing>,
}

/// All meters of the tree.
pub fn all(root: &Path) -> Vec<Found> {
    [powercap::found(root), perf::found(root), battery::found(root), hwmon::found(root)].concat()
}

/// What stands for `/sys`.
pub fn root(asked: Option<&Path>) -> PathBuf {
    asked.map_or_else(|| PathBuf::from(SYS), Path::to_path_buf)
}

/// The meter that a plan asks for.
///
/// # Errors
/// Why it can't be read, and what would mend that.
pub fn open(plan: &EnergyPlan) -> Result<Opened, Missing> {
    let mut opened = if plan.meter.contains(sum::PLUS) {
        let members = plan.meter.split(sum::PLUS).map(|name| one(plan, name));
        sum::open(members.collect::<Result<_, _>>()?)?
    } else {
        one(plan, &plan.meter)?
    };
    opened.description.read_ns = read_cost(&mut *opened.meter);
    Ok(opened)
}

fn one(plan: &EnergyPlan, name: &str) -> Result<Opened, Missing> {
    let root = root(plan.sys_root.as_deref());
    let (kind, domain) = name.split_once(':').unwrap_or((name, ""));
    match (kind, plan.stream.as_deref()) {
        (ppk2::KIND | stream::REPLAY, Some(path)) => stream::open(kind, domain, path, SystemTime),
        (ppk2::KIND | stream::REPLAY, None) => Err(Missing {
            why: format!("{kind} needs a stream"),
            hint: "the serial device (/dev/ttyACM0) or a recording".to_owned(),
        }),
        (_, Some(_)) => {
            Err(Missing { why: format!("{kind} reads files, not a stream"), hint: "leave the stream out".to_owned() })
        }
        (powercap::KIND | powercap::MMIO, None) => powercap::open(&root, kind, domain, SystemTime),
        (perf::KIND | perf::CORE, None) => perf::open(&root, kind, domain, SystemTime),
        (battery::KIND, None) => battery::open(&root, domain, SystemTime),
        (hwmon::KIND, None) => hwmon::open(&root, domain, SystemTime),
        _ => Err(Missing { why: format!("there is no meter {name:?}"), hint: LIST.to_owned() }),
    }
}

/// What a hint says where a name is wrong.
pub const LIST: &str = "`wattlock meters` lists those of this machine";

/// The median of 100 reads; `None` where one fails.
pub fn read_cost(meter: &mut dyn Meter) -> Option<Nanoseconds> {
    let time = SystemTime;
    let mut costs = [0; 100];
    for cost in &mut costs {
        let start = time.now();
        meter.read().ok()?;
        *cost = time.now().saturating_sub(start);
    }
    costs.sort_unstable();
    Some(costs[costs.len() / 2])
}

impl MeterRecord {
    /// In the engine's terms.
    ///
    /// * `patience`: the longest time for which a counter that works may show one value.
    pub fn in_engine(&self, patience: Nanoseconds) -> MeterDescription {
        MeterDescription {
            range: self.range_nJ,
            update_period: self.update_period_ns,
            round_trip: self.round_trip_ns.unwrap_or(u64::MAX),
            patience,
        }
    }
}

/// The text of a file without the space around it.
fn text(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path).map(|text| text.trim().to_owned())
}

/// A number of either sign in a file.
fn signed(path: &Path) -> Option<i64> {
    text(path).ok()?.parse().ok()
}

/// A number, unless it is one that drivers show where they have none.
///
/// # Errors
/// All ones in 16 or 32 bits, the least and the greatest number of 32 bits.
fn sensible(shown: i64) -> Result<i64, MeterError> {
    const NONE: [i64; 5] = [0xffff, 0xffff_ffff, i32::MIN as i64, i32::MAX as i64, 0xffff * 1000];
    if NONE.contains(&shown) { Err(MeterError::NoValue { shown }) } else { Ok(shown) }
}

/// A number in a file.
fn number(path: &Path) -> Option<u64> {
    text(path).ok()?.parse().ok()
}
