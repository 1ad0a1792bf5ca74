//! The records: plan lines in, record lines out, one JSON object a line. They are the contract between the instrument and
//! everything that studies its measurements.
//!
//! | line | is |
//! |---|---|
//! | [`PlanLine`] | what one process is asked for: the plan, files of payloads, cases, cases that ended a process before |
//! | [`Record`] | what it answers: a header, batches or blocks of energy or levels of a battery, failures, the end |
//!
//! Integers where exact. Unknown fields are ignored on the way in; an unknown schema version is refused. A path is text
//! here, as JSON has it: whoever opens a file makes a path of it.
//!
//! Needs no operating system: a microcontroller and a page in a browser write the same lines. The feature `schema` gives
//! the JSON Schema of every type, from which `data/records.schema.json` is generated; `clap` lets a command line take
//! an [`Encoding`].
#![no_std]
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

extern crate alloc;
// What clap derives names it.
#[cfg(feature = "clap")]
extern crate std;

mod battery;
mod code_path;
mod energy;
mod fingerprint;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

pub use battery::{BatteryLevel, BatteryPlan, GaugeReading};
pub use code_path::CodePath;
pub use energy::{Baseline, BlockRole, EnergyBlockRecord, EnergyPlan, MeterRecord};
pub use fingerprint::{Build, Cache, Fingerprint, Hardware, Kernel, Load, Power, Temperature, Virtualisation};

/// The version of the records. It rises when a field changes its meaning or goes.
pub const SCHEMA: u32 = 2;

/// A name that somebody gave is repeated at no greater length, characters.
pub const LONGEST_QUOTE: usize = 80;

/// A name that somebody gave, in quotes, its first 80 characters.
#[must_use]
pub fn quoted(name: &str) -> String {
    match name.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{:?}", format!("{}...", &name[..end])),
        None => format!("{name:?}"),
    }
}

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

/// A case that ended a process before.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedCase {
    /// Number of the case in the run.
    pub case: u32,
    /// How.
    pub error: String,
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

/// What a case is measured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The study's own case.
    Study,
    /// The case beside which all others stand.
    Reference,
    /// The reference once more: the same function on the same buffer.
    AaTest,
    /// The reference with 61 calls for each 60 claimed.
    InjectedSlowdown,
    /// Nothing behind the same entry: the cost of the loop itself.
    Empty,
}

/// What is done in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A whole message from plaintext to ciphertext.
    Encrypt,
    /// A whole message from ciphertext to plaintext.
    Decrypt,
    /// The key schedule alone.
    KeySetup,
    /// A whole message from plaintext to ciphertext and tag.
    Seal,
    /// A whole message from ciphertext and tag to plaintext.
    Open,
    /// A message whose tag is wrong, up to its refusal.
    OpenForged,
    /// A new pair of keys.
    Generate,
    /// A shared secret from one's own key and the other's public one.
    Agree,
    /// A signature of 32 bytes.
    Sign,
    /// A signature of 32 bytes verified.
    Verify,
    /// A shared secret drawn and sealed to a public key.
    Encapsulate,
    /// A sealed secret opened.
    Decapsulate,
    /// A frame of IEEE 802.11 protected: header read, number put in, body encrypted and authenticated.
    Protect,
    /// A protected frame verified and decrypted.
    Unprotect,
}

impl fmt::Display for Operation {
    /// As records name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Operation {
    /// Whether it starts from a ciphertext.
    #[must_use]
    pub fn is_backward(self) -> bool {
        matches!(self, Self::Decrypt | Self::Open | Self::OpenForged | Self::Unprotect)
    }
}

/// When the key schedule runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Keying {
    /// Before the batch.
    Ready,
    /// In every packet.
    Each,
}

/// What is made of the ciphertext; the encoder's time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Bytes as they are.
    Raw,
    /// RFC 4648, section 4, with padding.
    Base64,
    /// RFC 4648, section 8, lower case.
    Hex,
}

/// Where packets lie before they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Placement {
    /// One packet over and over.
    #[serde(rename = "hot")]
    Hot,
    /// A ring of packets of 512 KiB together.
    #[serde(rename = "L2")]
    L2,
    /// Packets of 128 MiB together, in random order.
    #[serde(rename = "DRAM")]
    Dram,
}

/// Whether a packet depends on the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Every packet has the same IV: packets may overlap in the processor (throughput).
    Independent,
    /// A packet's IV is the last block of the packet before; in ECB that block begins the packet (latency).
    Chained,
}

/// One case as planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedCase {
    /// Number of the case in the run.
    pub case: u32,
    /// What it is measured for.
    pub role: Role,
    /// The cipher's id.
    pub cipher: String,
    /// Whose code.
    pub provider: String,
    /// What is done.
    pub operation: Operation,
    /// When the key schedule runs.
    pub keying: Keying,
    /// What is made of the ciphertext.
    pub encoding: Encoding,
    /// Where packets lie.
    pub placement: Placement,
    /// Whether packets depend on one another.
    pub pattern: Pattern,
    /// Plaintext of one call, bytes; 0 for a key setup.
    pub payload_B: u64,
    /// Associated data of one call of an AEAD, bytes.
    #[serde(default)]
    pub aad_B: u64,
    /// `random`, `none`, or the label of a data line.
    pub data: String,
    /// Rounds in which it is visited; only in plans.
    #[serde(default, skip_serializing)]
    pub visits: u32,
    /// Bytes of a segment as an earlier process of the run cut this case's calls, 0 where it did not; null in the first
    /// process, which finds it. Only in plans.
    #[serde(default, skip_serializing)]
    pub cut_B: Option<u64>,
}

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
    /// The battery while one case is repeated.
    BatteryLevel(BatteryLevel),
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
    /// Rate of the tick counter.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub ticks_per_second: u64,
    /// Core cycles of one canary; null where the multiplier's latency is not known.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub canary_cycles: Option<u64>,
    /// What a burst took on this core when nothing shared it, in millionths of a canary.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub quiet_ppm: Option<u32>,
    /// What two reads of the tick counter take.
    pub timer_ticks: u64,
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

/// One case as measured.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Case {
    /// As planned.
    #[serde(flatten)]
    pub planned: PlannedCase,
    /// Family of the cipher.
    pub family: String,
    /// Mode of operation.
    pub mode: String,
    /// Path that the code takes on this processor; null where it is not known.
    pub path: Option<CodePath>,
    /// Which part of the provider the code is of, as OpenSSL's `legacy`; null where it has none.
    pub of: Option<String>,
    /// Version of the implementation.
    pub version: String,
    /// Bits of the key given.
    pub key_bits: u32,
    /// Bits of a block; 8 for a stream cipher.
    pub block_bits: u32,
    /// Rounds, where they are a parameter.
    pub rounds: Option<u32>,
    /// Bits of the tag; null without one.
    pub tag_bits: Option<u32>,
    /// Calls in one batch.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub calls: u32,
    /// Segments of one visit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub segments: u32,
    /// Bytes of a segment; null where a call is not cut.
    pub segment_B: Option<u64>,
    /// Kind of the core, where the processor has several; null where they are alike.
    pub core_class: Option<String>,
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
    /// The depth of the stack at which the visit began, in frames; null in schema 1.
    pub place: Option<u32>,
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
}

impl From<wattlock_engine::Cause> for Cause {
    fn from(cause: wattlock_engine::Cause) -> Self {
        match cause {
            wattlock_engine::Cause::Switch => Self::Switch,
            wattlock_engine::Cause::Migration => Self::Migration,
            wattlock_engine::Cause::Clock => Self::Clock,
            wattlock_engine::Cause::Neighbour => Self::Neighbour,
        }
    }
}

/// A case that can't be measured, and why.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// Number of the process in the run.
    pub process: u32,
    /// Number of the case in the run.
    pub case: u32,
    /// Why.
    pub error: String,
    /// What follows.
    pub follows: Follows,
}

/// What follows from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Follows {
    /// The block is measured again.
    RepeatBlock,
    /// The case is given up, the run goes on.
    SkipCase,
    /// Nothing more can be measured.
    EndRun,
}

impl From<wattlock_engine::Follows> for Follows {
    fn from(follows: wattlock_engine::Follows) -> Self {
        match follows {
            wattlock_engine::Follows::RepeatBatch => Self::RepeatBlock,
            wattlock_engine::Follows::SkipCase => Self::SkipCase,
            wattlock_engine::Follows::EndRun => Self::EndRun,
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
