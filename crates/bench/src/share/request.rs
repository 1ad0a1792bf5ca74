//! What a process is asked for.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use wattlock_records::{Plan, PlannedCase};

/// The plan of a process, its cases, and those that are not measured again.
pub struct Share {
    /// What holds for all of it.
    pub plan: Plan,
    /// The cases.
    pub cases: Vec<PlannedCase>,
    /// What ended a process before, by case.
    pub failed: BTreeMap<u32, String>,
}
