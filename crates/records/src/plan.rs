//! What one process is asked for.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::battery::BatteryPlan;
use crate::case::PlannedCase;
use crate::energy::EnergyPlan;

/// One line of a plan.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanLine {
    /// What holds for the whole process; the first line.
    Plan(Plan),
    /// A file whose bytes are payloads.
    Data(DataFile),
    /// One case to be measured.
    Case(PlannedCase),
    /// A case that ended a process before: it is not measured again, and its failure is told.
    Failed(FailedCase),
}

/// What holds for one process.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Version of the records.
    pub schema: u32,
    /// Number of the process in the run, from 0.
    pub process: u32,
    /// Seed of order, keys, payloads and buffer offsets.
    pub seed: u64,
    /// Processor to be pinned to; null leaves it to the system.
    pub cpu: Option<u32>,
    /// Rounds.
    pub rounds: u32,
    /// Length of a batch.
    pub batch_ns: u64,
    /// What a burst takes on a core that nothing shares, in millionths of a canary, as earlier processes found it.
    #[serde(default)]
    pub quiet_ppm: Option<u32>,
    /// Libraries of the user's own, by whose names cases ask for them.
    #[serde(default)]
    pub libraries: Vec<LibraryFile>,
    /// With it blocks of energy are measured in place of batches.
    #[serde(default)]
    pub energy: Option<EnergyPlan>,
    /// One case is repeated while the battery discharges, in place of batches.
    #[serde(default)]
    pub battery: Option<BatteryPlan>,
}

/// A library of the user's own.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LibraryFile {
    /// The provider's name.
    pub name: String,
    /// Where it is; never written to a record.
    pub path: String,
}

/// A file whose bytes are payloads.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataFile {
    /// The label under which cases name it.
    pub data: String,
    /// Where it is; never written to a record.
    pub path: String,
    /// Its size when the plan was made.
    pub size_B: u64,
}

/// A case that ended a process before.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedCase {
    /// Number of the case in the run.
    pub case: u32,
    /// How.
    pub error: String,
}
