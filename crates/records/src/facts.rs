//! What a device says of itself before anything is measured on it.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::fingerprint::{Build, Kernel};

/// The answer of the probe's verb `facts`: one line. What can't be seen is null or empty, never a default.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Facts {
    /// Version of the records that this probe writes.
    pub schema: u32,
    /// How this probe was made, with its hash.
    pub build: Build,
    /// The system.
    pub kernel: Kernel,
    /// The processor's name; of the board on ARM.
    pub model_name: Option<String>,
    /// Processors that this program may use, in rising order.
    pub processors: Vec<u32>,
    /// The kinds of cores among them, the fastest first; a single one where all are alike.
    pub core_classes: Vec<CoreClass>,
    /// Bytes of a page of memory.
    pub page_B: Option<u64>,
    /// A folder in which programs may be put and started; null where none was found.
    pub program_folder: Option<String>,
    /// The clocks.
    pub clocks: ClockFacts,
    /// The folders below `/sys` in which meters may be, where they exist.
    pub meter_roots: Vec<String>,
    /// By what an emulator was noticed; null where none was.
    pub emulator: Option<String>,
}

/// Cores of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreClass {
    /// `big`, `middle`, `little`; null where all cores are alike.
    pub class: Option<String>,
    /// Implementer and part, as `0x41 0xd08`; null where cores have no such numbers.
    pub part: Option<String>,
    /// What a core can do, of 1024 for the machine's best; null where the system does not tell.
    pub capacity: Option<u32>,
    /// Its processors.
    pub processors: Vec<u32>,
}

/// The clocks of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockFacts {
    /// What the tick counter is.
    pub counter: String,
    /// Rate of the ticks.
    pub ticks_per_second: u64,
    /// Core cycles of one canary; null where they are not known.
    pub canary_cycles: Option<u64>,
    /// Time since 1970-01-01 UTC, ns.
    pub unix_ns: u64,
}
