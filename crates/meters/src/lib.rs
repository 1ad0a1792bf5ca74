//! Energy meters behind the engine's port ([`wattlock_engine::Meter`]), a file a kind. The root of the file tree and the
//! clock are arguments, so that each runs as well on a copied or made-up tree and in made-up time.
//!
//! | file | meter |
//! |---|---|
//! | [`powercap`] | counters of the processor that the kernel shows as files (RAPL) |
//! | [`perf`] | the same counters as events of the kernel |
//! | [`battery`] | what a battery says of itself: charge, energy, or voltage and current |
//! | [`hwmon`] | sensors of power, of energy, of voltage and current |
//! | [`stream`], [`ppk2`] | an instrument at a serial port, or its recording |
//! | [`sum`] | several of them that count different energy |
//!
//! [`open`] gives the one that a plan names, [`all`] finds those of a machine, each with what keeps it from being read.
//! A meter that can't be read is an error, never 0 J. Below them: [`counted`] is a counter that is asked, [`sampled`] a
//! power that is sampled by a thread, [`file`](mod@file) how a number is read, [`topology`] where a processor is, [`thread`] what
//! this thread took.
//!
//! A new meter is a file with its `METER`, a [`Kind`], and a line for it in `KINDS`, beside its `mod`.
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `energy_uJ` is in microjoules")]

pub mod battery;
pub mod counted;
pub mod file;
pub mod hwmon;
pub mod perf;
pub mod powercap;
pub mod ppk2;
pub mod sampled;
pub mod stream;
pub mod sum;
#[cfg(test)]
mod tests;
pub mod thread;
pub mod topology;

use std::path::{Path, PathBuf};

use wattlock_engine::{Load, Meter, MeterError, Nanoseconds, next_edge};
use wattlock_records::{EnergyPlan, MeterRecord};

use self::file::NoNumber;

/// The kinds of meters, in the order in which those of a machine are listed.
const KINDS: &[Kind] = &[powercap::METER, perf::METER, battery::METER, hwmon::METER, stream::METER];

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

/// A kind of meter.
pub struct Kind {
    /// What a plan names before the colon; more than one where the same file reads them.
    names: &'static [&'static str],
    /// Those of a tree; none of what somebody has to name.
    found: fn(&Path) -> Vec<Found>,
    open: Open,
}

/// How one is opened.
enum Open {
    /// From files below the root, or by a call of the system.
    Files(fn(&Wanted) -> Result<Opened, Missing>),
    /// From a device that sends bytes, or its recording.
    Stream(fn(&Wanted, &Path) -> Result<Opened, Missing>),
}

/// The meter that a plan names.
struct Wanted<'a> {
    /// What stands for `/sys`.
    root: &'a Path,
    /// One of the names of its kind.
    kind: &'a str,
    /// What stands behind the colon.
    domain: &'a str,
    /// The processor that the load is pinned to.
    cpu: Option<u32>,
}

/// All meters of the tree.
pub fn all(root: &Path) -> Vec<Found> {
    KINDS.iter().flat_map(|kind| (kind.found)(root)).collect()
}

/// What stands for `/sys`.
pub fn root(asked: Option<&str>) -> PathBuf {
    PathBuf::from(asked.unwrap_or(SYS))
}

/// The meter that a plan asks for, read.
///
/// * `cpu`: the processor that the load is pinned to; null where it is not.
///
/// # Errors
/// Why it can't be read or gives no value, and what would mend that; a package that the processor is not in.
pub fn open(plan: &EnergyPlan, cpu: Option<u32>) -> Result<Opened, Missing> {
    let members: Result<Vec<Opened>, Missing> = plan.meter.split(sum::PLUS).map(|name| one(plan, name, cpu)).collect();
    let mut members = members?;
    if let Some(cpu) = cpu {
        let domains: Vec<&MeterRecord> = members.iter().map(|member| &member.description).collect();
        powercap::refuse_elsewhere(&root(plan.sys_root.as_deref()), cpu, &domains)?;
    }
    let mut opened = match members.pop() {
        Some(only) if members.is_empty() => only,
        last => sum::open(members.into_iter().chain(last).collect())?,
    };
    let cost = read_cost(&mut *opened.meter).map_err(|cause| refused(&opened, cause));
    opened.description.read_ns = Some(cost?);
    Ok(opened)
}

/// Why an open meter can't be used, and what would mend it.
pub fn refused(opened: &Opened, cause: MeterError) -> Missing {
    let told = told(cause, &*opened.meter);
    Missing { why: format!("{}: {told}", opened.description.name), hint: mends(cause).to_owned() }
}

/// An error of a meter, with what its last read found.
pub fn told(cause: MeterError, meter: &dyn Meter) -> String {
    NoNumber { cause, said: meter.said().unwrap_or_default().to_owned() }.to_string()
}

/// What a record may hold of it: where the user keeps a tree is not told.
pub fn for_a_record(told: &str, sys_root: Option<&str>) -> String {
    told.replace(&*root(sys_root).to_string_lossy(), SYS)
}

/// What would mend a meter that gives no value.
fn mends(cause: MeterError) -> &'static str {
    match cause {
        MeterError::NotDischarging => "unplug the charger, and wait until status is Discharging",
        MeterError::NoValue { .. } => "wait until its driver has a value (`dmesg` tells of it), or take another meter",
        MeterError::Stuck { .. } => "its firmware or hypervisor hides it, or nothing draws from it: take another meter",
        MeterError::NoAnswer { .. } => "its driver hangs: `dmesg` may tell why; or take another meter",
        _ => "its driver gives no value: `dmesg` may tell why; or take another meter",
    }
}

/// Sleeps, and how often it was asked to.
pub struct Sleep;

impl Load for Sleep {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        std::thread::sleep(std::time::Duration::from_nanos(time.max(20_000)));
        1
    }
}

/// Waits until the counter moves, for as long as its patience.
///
/// # Errors
/// It does not, or can't be read.
pub fn moves(opened: &mut Opened) -> Result<(), Missing> {
    next_edge(&mut Sleep, &mut *opened.meter).map(drop).map_err(|cause| refused(opened, cause))
}

fn one(plan: &EnergyPlan, name: &str, cpu: Option<u32>) -> Result<Opened, Missing> {
    let root = root(plan.sys_root.as_deref());
    let (kind, domain) = name.split_once(':').unwrap_or((name, ""));
    let missing = |why: String, hint: &str| Err(Missing { why, hint: hint.to_owned() });
    let Some(of) = KINDS.iter().find(|of| of.names.contains(&kind)) else {
        return missing(format!("there is no meter {name:?}"), LIST);
    };
    let wanted = Wanted { root: &root, kind, domain, cpu };
    match (&of.open, plan.stream.as_deref()) {
        (Open::Files(open), None) => open(&wanted),
        (Open::Stream(open), Some(path)) => open(&wanted, Path::new(path)),
        (Open::Files(_), Some(_)) => missing(format!("{kind} reads files, not a stream"), "leave the stream out"),
        (Open::Stream(_), None) => {
            missing(format!("{kind} needs a stream"), "the serial device (/dev/ttyACM0) or a recording")
        }
    }
}

/// What a hint says where a name is wrong.
pub const LIST: &str = "`wattlock meters` lists those of this machine";

/// The median of 100 reads.
///
/// # Errors
/// Of the first that fails.
pub fn read_cost(meter: &mut dyn Meter) -> Result<Nanoseconds, MeterError> {
    let time = SystemTime;
    let mut costs = [0; 100];
    for cost in &mut costs {
        let start = time.now();
        meter.read()?;
        *cost = time.now().saturating_sub(start);
    }
    costs.sort_unstable();
    Ok(costs[costs.len() / 2])
}

/// A number in a file that describes a meter.
fn number(path: &Path) -> Option<u64> {
    file::text(path).ok()?.parse().ok()
}
