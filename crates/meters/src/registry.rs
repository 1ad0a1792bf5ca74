//! The kinds of meters there are, and the one that a plan names.

use std::path::Path;

use wattlock_engine::{Load, Meter, MeterError, Nanoseconds, next_edge};
use wattlock_records::{EnergyPlan, MeterRecord};

use super::kind::{Found, Kind, LIST, Missing, Open, Opened, Wanted, refused, root};
use super::time::{SystemTime, Time};
use super::{battery, hwmon, perf, powercap, recording, stream, sum};

/// The kinds of meters, in the order in which those of a machine are listed.
const KINDS: &[Kind] = &[powercap::METER, perf::METER, battery::METER, hwmon::METER, stream::METER, recording::METER];

/// All meters of the tree.
pub fn all(root: &Path) -> Vec<Found> {
    KINDS.iter().flat_map(|kind| (kind.found)(root)).collect()
}

/// The meter that a plan asks for, read.
///
/// * `cpu`: the processor that the load is pinned to; null where it is not.
///
/// # Errors
/// Why it can't be read or gives no value, and what would mend that; a package that the processor is not in.
pub fn open(plan: &EnergyPlan, cpu: Option<u32>) -> Result<Opened, Missing> {
    let members: Result<Vec<Opened>, Missing> =
        members(&plan.meter).into_iter().map(|name| one(plan, name, cpu)).collect();
    let mut members = members?;
    if let Some(cpu) = cpu {
        let domains: Vec<&MeterRecord> = members.iter().map(|member| &member.description).collect();
        powercap::refuse_elsewhere(&root(plan.sys_root.as_deref()), cpu, &domains)?;
    }
    if members.len() > 1 && members.iter().any(|member| member.meter.chip().is_some()) {
        let why = format!("{}: a recording is not added up with another meter", plan.meter);
        return Err(Missing { why, hint: "name one of them".to_owned() });
    }
    let mut opened = match members.pop() {
        Some(only) if members.is_empty() => only,
        last => sum::open(members.into_iter().chain(last).collect())?,
    };
    let cost = read_cost(&mut *opened.meter).map_err(|cause| refused(&opened, cause));
    opened.description.read_ns = Some(cost?);
    Ok(opened)
}

/// The names of a sum. A label may have a plus too (`power +12v`): a member begins with a kind.
fn members(meter: &str) -> Vec<&str> {
    let names_kind = |rest: &str| {
        let kind = rest.split([':', sum::PLUS]).next().unwrap_or(rest);
        rest.is_empty() || KINDS.iter().any(|known| known.names.contains(&kind))
    };
    let (mut found, mut start) = (Vec::new(), 0);
    for (at, _) in meter.match_indices(sum::PLUS).filter(|(at, _)| names_kind(&meter[at + 1..])) {
        found.push(&meter[start..at]);
        start = at + 1;
    }
    found.push(&meter[start..]);
    found
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
        (Open::Beside(open), path) => open(&wanted, path.map(Path::new)),
        (Open::Stream(_), None) => {
            missing(format!("{kind} needs a stream"), "the serial device (/dev/ttyACM0) or a recording")
        }
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

/// Waits until the counter moves, for as long as its patience; a recording counts nothing here.
///
/// # Errors
/// It does not, or can't be read.
pub fn moves(opened: &mut Opened) -> Result<(), Missing> {
    if opened.meter.chip().is_some() {
        return Ok(());
    }
    next_edge(&mut Sleep, &mut *opened.meter).map(drop).map_err(|cause| refused(opened, cause))
}

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
