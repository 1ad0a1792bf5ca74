//! What a file of a kind of meter hands over: how its meters are found and opened, and why one can't be read.

use std::path::{Path, PathBuf};

use wattlock_engine::{Meter, MeterError};
use wattlock_records::MeterRecord;

use super::file::NoNumber;

/// Where the system keeps its devices.
pub(crate) const SYS: &str = "/sys";

/// What a hint says where a name is wrong.
pub const LIST: &str = "`wattlock meters` lists those of this machine";

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
    pub(crate) names: &'static [&'static str],
    /// Those of a tree; none of what somebody has to name.
    pub(crate) found: fn(&Path) -> Vec<Found>,
    pub(crate) open: Open,
}

/// How one is opened.
pub(crate) enum Open {
    /// From files below the root, or by a call of the system.
    Files(fn(&Wanted) -> Result<Opened, Missing>),
    /// From a device that sends bytes, or its recording.
    Stream(fn(&Wanted, &Path) -> Result<Opened, Missing>),
    /// Nothing is read: an instrument beside the device records, and a file may show the marker on a pin.
    Beside(fn(&Wanted, Option<&Path>) -> Result<Opened, Missing>),
}

/// The meter that a plan names.
pub(crate) struct Wanted<'a> {
    /// What stands for `/sys`.
    pub(crate) root: &'a Path,
    /// One of the names of its kind.
    pub(crate) kind: &'a str,
    /// What stands behind the colon.
    pub(crate) domain: &'a str,
    /// The processor that the load is pinned to.
    pub(crate) cpu: Option<u32>,
}

/// What stands for `/sys`.
pub fn root(asked: Option<&str>) -> PathBuf {
    PathBuf::from(asked.unwrap_or(SYS))
}

/// Why an open meter can't be used, and what would mend it.
pub fn refused(opened: &Opened, cause: MeterError) -> Missing {
    let cause_text = described(cause, &*opened.meter);
    Missing { why: format!("{}: {cause_text}", opened.description.name), hint: mends(cause).to_owned() }
}

/// An error of a meter, with what its last read found.
pub fn described(cause: MeterError, meter: &dyn Meter) -> String {
    NoNumber { cause, said: meter.said().unwrap_or_default().to_owned() }.to_string()
}

/// What a record may hold of it: where the user keeps a tree is not told.
pub fn for_a_record(error: &str, sys_root: Option<&str>) -> String {
    error.replace(&*root(sys_root).to_string_lossy(), SYS)
}

/// What would mend a meter that gives no value.
pub(crate) fn mends(cause: MeterError) -> &'static str {
    match cause {
        MeterError::NotDischarging => "unplug the charger, and wait until status is Discharging",
        MeterError::NoValue { .. } => "wait until its driver has a value (`dmesg` tells of it), or take another meter",
        MeterError::Stuck { .. } => "its firmware or hypervisor hides it, or nothing draws from it: take another meter",
        MeterError::NoAnswer { .. } => "its driver hangs: `dmesg` may tell why; or take another meter",
        _ => "its driver gives no value: `dmesg` may tell why; or take another meter",
    }
}
