//! Plan lines as a share.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use wattlock_bench::share::Share;
use wattlock_records::{FailedCase, PlanLine, SCHEMA};

/// Reads the lines of a plan.
///
/// # Errors
/// The line that can't be read; what a page has not: files, libraries, meters, named batteries, processors.
pub fn read(text: &str) -> Result<Share, String> {
    let (mut head, mut cases, mut failed) = (None, Vec::new(), BTreeMap::new());
    for (number, line) in (1..).zip(text.lines()) {
        match serde_json::from_str(line).map_err(|error| format!("plan line {number}: {error}"))? {
            PlanLine::Plan(plan) => head = Some(plan),
            PlanLine::Data(file) => {
                return Err(format!("plan line {number}: data {:?}: a page has no files", file.data));
            }
            PlanLine::Case(case) => cases.push(case),
            PlanLine::Failed(FailedCase { case, error }) => {
                failed.insert(case, error);
            }
        }
    }
    let plan = head.ok_or("the plan has no line of kind \"plan\"")?;
    if plan.schema != SCHEMA {
        return Err(format!("records of version {} are not known, {SCHEMA} is", plan.schema));
    }
    let lacking = [
        ("cpu", plan.cpu.is_some()),
        ("libraries", !plan.libraries.is_empty()),
        ("energy", plan.energy.is_some()),
        ("a battery by name", plan.battery.as_ref().is_some_and(|battery| battery.name.is_some())),
    ];
    match lacking.iter().find(|(_, is_there)| *is_there) {
        Some((name, _)) => Err(format!("the plan has {name}: a page has none")),
        None => Ok(Share { plan, cases, failed }),
    }
}
