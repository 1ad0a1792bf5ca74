//! What a measurement depends on beside the code under test: the machine, its state, the build.
//!
//! A fingerprint names no person and no place: no host name, no user, no path, no serial number. What can't be seen
//! is null, never a default.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

/// The machine, its state and the build, as far as they can be seen.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fingerprint {
    /// The processor.
    pub hardware: Hardware,
    /// Whether there is a machine at all.
    pub virtualisation: Virtualisation,
    /// The system.
    pub kernel: Kernel,
    /// What governs the clock of the cores.
    pub power: Power,
    /// Who else runs.
    pub load: Load,
    /// How this program was made.
    pub build: Build,
    /// The browser, where a page measures; null in a program of the system's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<Browser>,
}

/// The processor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hardware {
    /// Who made it; on ARM the implementer's number.
    pub vendor: Option<String>,
    /// Its name; on ARM the name of the board.
    pub model_name: Option<String>,
    /// Family; on ARM the architecture.
    pub family: Option<u32>,
    /// Model; on ARM the part.
    pub model: Option<u32>,
    /// Stepping; on ARM 16 times the variant, plus the revision.
    pub stepping: Option<u32>,
    /// Version of the microcode.
    pub microcode: Option<String>,
    /// Those of its features that ciphers and clocks use, in alphabetical order.
    pub flags: Option<Vec<String>>,
    /// `performance` or `efficiency`, where the system says that the cores of the machine differ so.
    pub core_type: Option<String>,
    /// `big`, `middle` or `little`, where the cores of the machine differ.
    pub core_class: Option<String>,
    /// What the core can do, of 1024 for the machine's best.
    pub core_capacity: Option<u32>,
    /// Processors on line.
    pub processors: Option<u32>,
    /// Caches of the core.
    pub caches: Option<Vec<Cache>>,
}

/// One cache of the core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cache {
    /// 1 is next to the core.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub holds: String,
    /// Its size.
    pub size_KiB: u32,
    /// Processors that share it.
    pub shared_by: Option<Vec<u32>>,
}

/// Whether there is a machine at all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Virtualisation {
    /// Whether the processor says that a hypervisor runs it; null where processors do not say so.
    pub hypervisor: Option<bool>,
    /// What the firmware calls the machine.
    pub product: Option<String>,
    /// By what an emulator of the processor was noticed; null where none was.
    pub emulator: Option<String>,
}

/// The system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kernel {
    /// `linux`, `macos`, `windows`, ...
    pub os: String,
    /// Its release.
    pub release: Option<String>,
    /// What is done against the processor's known weaknesses, by weakness.
    pub mitigations: Option<BTreeMap<String, String>>,
    /// What the system's clock reads.
    pub clock_source: Option<String>,
    /// Layout of the memory drawn at random: 2 all of it, 1 all but the heap, 0 nothing (for this process).
    pub aslr: Option<u32>,
}

/// What governs the clock of the cores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Power {
    /// Who chooses the frequency.
    pub governor: Option<String>,
    /// Who sets it.
    pub driver: Option<String>,
    /// What the governor leans to, where it can be told.
    pub preference: Option<String>,
    /// Lowest frequency allowed.
    pub least_kHz: Option<u32>,
    /// Highest frequency allowed.
    pub most_kHz: Option<u32>,
    /// Whether frequencies above the nominal one are allowed.
    pub boost: Option<bool>,
    /// Other processors on the same core.
    pub smt_siblings: Option<Vec<u32>>,
    /// Whether mains feed the machine.
    pub on_mains: Option<bool>,
    /// Charge of the battery.
    pub battery_percent: Option<u32>,
    /// Whether the battery charges.
    pub battery_status: Option<String>,
    /// `low-power`, `balanced`, `performance`, ...
    pub profile: Option<String>,
    /// Sensors in the processor.
    pub temperatures: Option<Vec<Temperature>>,
}

/// One sensor in the processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Temperature {
    /// Its name.
    pub sensor: String,
    /// Thousandths of a degree Celsius.
    pub milli_C: i64,
}

/// Who else runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Load {
    /// Share of the last 10 s in which somebody waited for a processor.
    pub pressure_10s_percent: Option<f64>,
    /// Load average of 1, 5 and 15 minutes.
    pub averages: Option<[f64; 3]>,
    /// Time since start-up that the hypervisor gave to others, over all processors.
    pub steal_ms: Option<u64>,
    /// All time since start-up, over all processors.
    pub total_ms: Option<u64>,
}

/// How this program was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// Version of the program and its engine.
    pub version: String,
    /// The commit that was checked out when it was built.
    pub commit: Option<String>,
    /// Whether the sources differed from that commit when it was built.
    pub dirty: Option<bool>,
    /// The compiler.
    pub rustc: Option<String>,
    /// What it compiled for.
    pub target: Option<String>,
    /// The instruction set.
    pub isa: String,
    /// `release` or `debug`.
    pub profile: Option<String>,
    /// Level of optimisation.
    pub opt_level: Option<String>,
    /// Optimisation of the whole program, as the manifest says.
    pub lto: Option<String>,
    /// Parts that are optimised apart, as the manifest says.
    pub codegen_units: Option<String>,
    /// Flags given to the compiler, paths left out.
    pub flags: Option<String>,
    /// SHA-256 of the lock file: the versions of all dependencies.
    pub lock_sha256: Option<String>,
    /// SHA-256 of this very program.
    pub executable_sha256: Option<String>,
    /// SHA-256 of what builds images and counts in them: the sources of both, and the compiler. Null where no image is built.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources_sha256: Option<String>,
}

/// The browser in which a page measures, as far as it tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Browser {
    /// What it calls itself.
    pub user_agent: String,
    /// Whether the page is isolated from those of other origins: without it the clock's steps are long.
    pub is_isolated: bool,
    /// Step of the clock that the page reads.
    pub clock_step_ns: u64,
    /// Whether a second thread counts between two steps of the clock.
    pub has_ticker: bool,
    /// Whether a page sees that its thread was switched out or moved: `not visible`.
    pub disturbances: String,
}
