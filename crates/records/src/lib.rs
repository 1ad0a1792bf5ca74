//! The records: plan lines in, record lines out, one JSON object a line. They are the contract between the instrument and
//! everything that studies its measurements.
//!
//! | line | is |
//! |---|---|
//! | [`PlanLine`] | what one process is asked for: the plan, files of payloads, cases, cases that ended a process before |
//! | [`Facts`] | what a device says of itself before |
//! | [`Record`] | what it answers: a header, batches, blocks of energy, levels of a battery or counts, failures, the end |
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
mod board;
mod case;
mod code_path;
mod count;
mod energy;
mod facts;
mod failure;
mod fingerprint;
mod plan;
mod quote;
mod record;

pub use battery::{BatteryLevel, BatteryPlan, GaugeReading};
pub use board::BoardRecord;
pub use case::{Case, Encoding, Keying, Operation, Pattern, Placement, PlannedCase, Readiness, Role};
pub use code_path::CodePath;
pub use count::{AdapterRecord, CountRecord};
pub use energy::{Baseline, BlockRole, EdgeRecord, EnergyBlockRecord, EnergyPlan, MarkerRecord, MeterRecord};
pub use facts::{ClockFacts, CoreClass, Facts};
pub use failure::{Failure, Follows};
pub use fingerprint::{Browser, Build, Cache, Fingerprint, Hardware, Kernel, Load, Power, Temperature, Virtualisation};
pub use plan::{DataFile, FailedCase, LibraryFile, Plan, PlanLine};
pub use quote::{LONGEST_QUOTE, quoted};
pub use record::{BatchRecord, Cause, End, GrantedLevels, Header, Record};

/// The version of the records. It rises when a field changes its meaning or goes.
pub const SCHEMA: u32 = 2;
