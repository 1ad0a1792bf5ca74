//! What a process answers: a header, what it measured, the end.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::Serialize;

use crate::battery::BatteryLevel;
use crate::board::BoardRecord;
use crate::case::Case;
use crate::count::CountRecord;
use crate::energy::{EnergyBlockRecord, MarkerRecord, MeterRecord};
use crate::failure::Failure;
use crate::fingerprint::Fingerprint;

/// One record line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// What is measured, and where; the first line of a process.
    Header(Box<Header>),
    /// One timed loop.
    Batch(BatchRecord),
    /// Work between two edges of an energy counter.
    EnergyBlock(Box<EnergyBlockRecord>),
    /// A pattern of load by which a recording is aligned.
    Marker(MarkerRecord),
    /// The battery while one case is repeated.
    BatteryLevel(BatteryLevel),
    /// Instructions of one case, counted on an emulated core.
    Count(Box<CountRecord>),
    /// Cycles of one case by the counter of a board.
    Board(Box<BoardRecord>),
    /// A case that can't be measured.
    Failure(Failure),
    /// The process has measured all that it was asked for; the last line.
    End(End),
}

/// What is measured, and where.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Header {
    /// Version of the records.
    pub schema: u32,
    /// Number of the process in the run.
    pub process: u32,
    /// Seed of the process.
    pub seed: u64,
    /// The machine, the build, the state.
    pub fingerprint: Fingerprint,
    /// Rate of the tick counter; null where instructions are counted and no clock is read.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub ticks_per_second: Option<u64>,
    /// Core cycles of one canary; null where the multiplier's latency is not known.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub canary_cycles: Option<u64>,
    /// What a burst took on this core when nothing shared it, in millionths of a canary.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub quiet_ppm: Option<u32>,
    /// What a burst on wide vectors took on this core where it granted their width; left out where no case works on any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted_ppm: Option<GrantedLevels>,
    /// The step of the tick counter, by which canaries and bursts may be off; left out where it is too fine to matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub step_ticks: Option<u64>,
    /// What two reads of the tick counter take; null without a clock.
    pub timer_ticks: Option<u64>,
    /// What two reads of the CPU time take; null where there is none.
    pub cpu_timer_ns: Option<u64>,
    /// Processor pinned to; null where not pinned.
    pub pinned_cpu: Option<u32>,
    /// The energy meter; null where time is measured.
    pub meter: Option<MeterRecord>,
    /// The battery that this process discharges, as a meter; null where it discharges none.
    pub battery: Option<MeterRecord>,
    /// The cases, resolved.
    pub cases: Vec<Case>,
}

/// What a witness takes where the core grants its width, in millionths of a canary, by bits.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrantedLevels {
    /// Of 256 bits.
    #[serde(rename = "256", skip_serializing_if = "Option::is_none")]
    pub bits256_ppm: Option<u32>,
    /// Of 512 bits.
    #[serde(rename = "512", skip_serializing_if = "Option::is_none")]
    pub bits512_ppm: Option<u32>,
}

impl GrantedLevels {
    /// As the engine has them; `None` where none is known.
    #[must_use]
    pub fn of(granted: wattlock_engine::Granted) -> Option<Self> {
        let wattlock_engine::Granted { bits256_ppm, bits512_ppm } = granted;
        bits256_ppm.or(bits512_ppm).map(|_| Self { bits256_ppm, bits512_ppm })
    }
}

/// One timed loop of a case between two canaries.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchRecord {
    /// Number of the case in the run.
    pub case: u32,
    /// Number of the process in the run.
    pub process: u32,
    /// Round, from 0.
    pub round: u32,
    /// The 16-byte slot of a cache line at which the visit's stack began: a depth in frames in earlier runs, of which the
    /// remainder by 4 tells as much; null in schema 1.
    pub place: Option<u32>,
    /// Where the visit's stack began: its address modulo 1 MiB; null in earlier runs.
    pub stack_B: Option<u64>,
    /// Where what was read began: its address modulo 1 MiB; null in earlier runs.
    pub input_B: Option<u64>,
    /// Where what was written began: its address modulo 1 MiB; null in earlier runs.
    pub output_B: Option<u64>,
    /// 0 for the first try.
    pub attempt: u32,
    /// Segment, from 0.
    pub segment: u32,
    /// Where the segment begins in the payload.
    pub offset_B: u64,
    /// Calls.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub calls: u32,
    /// Time of the batch.
    pub wall_ns: u64,
    /// CPU time of the batch; null where the system does not tell.
    pub cpu_ns: Option<u64>,
    /// Ticks of the batch.
    pub ticks: u64,
    /// Ticks of the canary just before.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub canary_before_ticks: u64,
    /// Ticks of the canary just after.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub canary_after_ticks: u64,
    /// Ticks of the burst of independent additions just before.
    pub burst_before_ticks: u64,
    /// Ticks of the burst just after.
    pub burst_after_ticks: u64,
    /// Ticks of the witness just before, a burst on wide vectors; left out of a case that works on none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness_before_ticks: Option<u64>,
    /// Ticks of the witness just after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness_after_ticks: Option<u64>,
    /// Whether the batch counts.
    pub clean: bool,
    /// Why it does not.
    pub cause: Option<Cause>,
}

/// Why a batch does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The thread was switched out.
    Switch,
    /// The thread changed its processor.
    Migration,
    /// The core changed its clock.
    Clock,
    /// Another thread used the core's units.
    Neighbour,
    /// The core held back the width of vectors that the case works on.
    Licence,
}

impl From<wattlock_engine::Cause> for Cause {
    fn from(cause: wattlock_engine::Cause) -> Self {
        match cause {
            wattlock_engine::Cause::Switch => Self::Switch,
            wattlock_engine::Cause::Migration => Self::Migration,
            wattlock_engine::Cause::Clock => Self::Clock,
            wattlock_engine::Cause::Neighbour => Self::Neighbour,
            wattlock_engine::Cause::Licence => Self::Licence,
        }
    }
}

/// The last line of a process.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct End {
    /// Number of the process in the run.
    pub process: u32,
    /// Batch lines written.
    pub batches: u64,
    /// Lines of energy blocks written.
    pub energy_blocks: u64,
    /// Time from the first batch or block to the last.
    pub wall_ns: u64,
}
