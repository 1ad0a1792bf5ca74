//! Instructions that were counted on an emulated core, and the cycles that its rules make of them.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::Serialize;

/// One case, counted. What is counted is one call of the operation, with its arguments; of a key in every packet two.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountRecord {
    /// Number of the case in the run.
    pub case: u32,
    /// Number of the process in the run.
    pub process: u32,
    /// The core.
    pub core: String,
    /// The part whose flash is modelled; null without one.
    pub part: Option<String>,
    /// The clock by which its wait states go.
    pub part_clock_Hz: Option<u64>,
    /// SHA-256 of the image as it was built.
    pub image_sha256: String,
    /// SHA-256 of the emulator's plugin that wrote what ran.
    pub plugin_sha256: String,
    /// Instructions.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub instructions: u64,
    /// The same by their class.
    pub by_class: BTreeMap<String, u64>,
    /// Cycles of the core by its pipeline's rules, its memory without wait states; null where the core has no rules.
    pub core_cycles: Option<u64>,
    /// By how much they may be more or fewer because operands decide, as in a division.
    pub open_cycles: u64,
    /// 95 % of the published figures that the rules were held against lie within so many percent; null where there is none.
    pub core_error_percent: Option<f64>,
    /// Cycles with the part's flash and caches modelled; null without a part, or where its model is not good enough.
    pub part_cycles: Option<u64>,
    /// Flash of the key schedule and the operation, with all that they can reach: functions, constants.
    pub flash_B: u64,
    /// RAM that a key takes between two messages, with the variables that the operation can reach.
    pub ram_B: u64,
    /// Stack below the counted call, at its deepest.
    pub stack_B: u64,
    /// Flash of the whole image: the family in all its modes, their proof and vectors.
    pub image_flash_B: u64,
    /// Whose code it is, where it is not the catalogue's: how it was compiled, and where it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Box<AdapterRecord>>,
}

/// Code of others that was compiled for a core and linked into an image.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdapterRecord {
    /// What it is.
    pub title: String,
    /// What it is written in.
    pub language: String,
    /// Where its source is kept.
    pub source: String,
    /// Its licence.
    pub licence: String,
    /// What compiled it.
    pub compiler: String,
    /// How.
    pub flags: String,
}
