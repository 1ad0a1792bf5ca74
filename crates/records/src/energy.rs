//! Energy: what a plan asks for, what a meter is, one block between two edges of its counter.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use wattlock_engine as engine;

use crate::failure::Follows;

/// How energy is measured; with it a process measures blocks of energy in place of batches.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnergyPlan {
    /// The meter's name, as `wattlock-probe meters` lists it.
    pub meter: String,
    /// What stands for `/sys`; never written to a record.
    #[serde(default)]
    pub sys_root: Option<String>,
    /// The serial device or the recording that the meter's bytes come from; never written to a record.
    #[serde(default)]
    pub stream: Option<String>,
    /// The least length of a block.
    pub block_ns: u64,
    /// How often each case is visited twice.
    pub superblocks: u32,
    /// What the cases are compared with.
    pub baseline: Baseline,
}

/// What the processor does while no case runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// It sleeps.
    Idle,
    /// It waits in a loop of pauses.
    Spin,
    /// It copies 64 KiB from one buffer to another.
    Memcpy,
}

/// What a meter is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeterRecord {
    /// Kind and domain: `powercap:package-0`.
    pub name: String,
    /// The driver.
    pub kind: String,
    /// The part of the machine whose energy it counts.
    pub domain: String,
    /// What that includes and what not.
    pub scope: String,
    /// The unit in which the meter counts.
    pub unit: String,
    /// The least step of its counter.
    pub quantum_nJ: f64,
    /// The time between two updates.
    pub update_period_ns: u64,
    /// The counter's value after which it starts from 0 again; null where there is none or it can't be read.
    pub range_nJ: Option<u64>,
    /// The shortest time in which the counter can pass its range; null where it has none.
    pub round_trip_ns: Option<u64>,
    /// Relative standard uncertainty of its gain, the same in all blocks of a run.
    pub gain_relative_uncertainty: f64,
    /// Where that figure comes from.
    pub gain_source: String,
    /// Other meters that count the same energy or a part of it: never to be added up.
    pub overlaps: Vec<String>,
    /// What one read costs: the median of 100 where that was measured.
    pub read_ns: Option<u64>,
}

impl MeterRecord {
    /// In the engine's terms.
    ///
    /// * `patience`: the longest time for which a counter that works may show one value.
    #[must_use]
    pub fn in_engine(&self, patience: engine::Nanoseconds) -> engine::MeterDescription {
        engine::MeterDescription {
            range: self.range_nJ,
            update_period: self.update_period_ns,
            round_trip: self.round_trip_ns.unwrap_or(u64::MAX),
            patience,
        }
    }
}

/// What runs in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlockRole {
    /// A case.
    Case,
    /// The baseline.
    Baseline,
}

/// One block of energy, or why it has no value.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnergyBlockRecord {
    /// Number of the process in the run.
    pub process: u32,
    /// Superblock, from 0: baseline, cases, baseline, cases backwards, baseline.
    pub superblock: u32,
    /// Place in the superblock, from 0.
    pub position: u32,
    /// 0 for the first try.
    pub attempt: u32,
    /// What ran.
    pub role: BlockRole,
    /// Number of the case in the run; null for the baseline.
    pub case: Option<u32>,
    /// Calls from the read that showed the first edge to the one that showed the last; in a baseline of memcpy the
    /// copies, else 0.
    pub calls: u64,
    /// The time that these calls took.
    pub run_ns: Option<u64>,
    /// The edge at which the block begins; of a block that is recorded beside the device, the moment.
    pub start: Option<EdgeRecord>,
    /// The edge at which it ends.
    pub end: Option<EdgeRecord>,
    /// Energy between the edges, the baseline not taken off; null where the meter failed, never 0 in its place. Null too
    /// until the recording of an instrument beside the device is joined to the run.
    pub gross_nJ: Option<u64>,
    /// Standard uncertainty of `gross_nJ` that the alignment of a recording leaves; null where a meter was read.
    pub alignment_u_nJ: Option<f64>,
    /// Why the block does not count.
    pub error: Option<String>,
    /// What follows from that.
    pub follows: Option<Follows>,
    /// Time of the whole try, the search for its first edge included.
    pub wall_ns: u64,
    /// CPU time of this thread in it; null where the system does not tell.
    pub cpu_ns: Option<u64>,
    /// Ticks of the canary just before.
    pub canary_before_ticks: u64,
    /// Ticks of the canary just after.
    pub canary_after_ticks: u64,
}

/// The moment at which a counter took a new value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EdgeRecord {
    /// It still had the value before; on the machine's monotonic clock.
    pub not_before_ns: u64,
    /// It had the new one.
    pub not_after_ns: u64,
    /// The new value; null where an instrument beside the device records.
    pub counter_nJ: Option<u64>,
    /// How long the machine had been suspended since it started.
    pub suspended_ns: u64,
}

impl From<engine::Edge> for EdgeRecord {
    fn from(edge: engine::Edge) -> Self {
        Self {
            not_before_ns: edge.not_before,
            not_after_ns: edge.not_after,
            counter_nJ: Some(edge.counter),
            suspended_ns: edge.suspended,
        }
    }
}

impl From<engine::Reading> for EdgeRecord {
    /// The moment of a reading that counts nothing.
    fn from(reading: engine::Reading) -> Self {
        Self {
            not_before_ns: reading.before,
            not_after_ns: reading.after,
            counter_nJ: None,
            suspended_ns: reading.suspended,
        }
    }
}

/// A pattern of load by which the recording of an instrument beside the device is aligned: 13 chips, busy or idle by the
/// Barker code of that length, with two idle chips before and after them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkerRecord {
    /// Number of the process in the run.
    pub process: u32,
    /// Number of the marker in the process, from 0.
    pub marker: u32,
    /// The planned length of a chip.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub chip_ns: u64,
    /// When each chip began, on the machine's monotonic clock, and last when the last one ended.
    pub edges_ns: Vec<u64>,
    /// Which chips were busy.
    pub busy: Vec<bool>,
    /// How long the machine had been suspended since it started.
    pub suspended_ns: u64,
    /// Why the pattern is not whole: the pin could not be set.
    pub error: Option<String>,
}
