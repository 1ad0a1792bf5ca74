//! A battery discharged by one case: what a plan asks for, and the level over time.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// How a battery is discharged: one case is repeated, in place of batches.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatteryPlan {
    /// Number of the case, one of the plan's.
    pub case: u32,
    /// The battery's name (`BAT0`); null where there is one.
    #[serde(default)]
    pub name: Option<String>,
    /// Ends at this level; null goes on to the repeats.
    #[serde(default)]
    pub until_percent: Option<u8>,
    /// Ends after so many calls, those done before included; null goes on to the level.
    #[serde(default)]
    pub repeats: Option<u64>,
    /// Calls that an earlier part of the same run carried out: its last line's `repeats_done`.
    #[serde(default)]
    pub done: u64,
    /// Time between two lines of the log.
    pub log_every_s: u32,
    /// What stands for `/sys`; never written to a record.
    #[serde(default)]
    pub sys_root: Option<String>,
}

/// The battery while one case is repeated: appended and flushed, so that a run goes on after a reboot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatteryLevel {
    /// Number of the process in the run.
    pub process: u32,
    /// Number of the case in the run.
    pub case: u32,
    /// Time since the machine started, its sleep included.
    pub t_ns: u64,
    /// Nanoseconds since 1970-01-01 UTC: what orders the parts of a run across a reboot.
    pub unix_ns: u64,
    /// Level; null where the battery does not tell.
    pub level_percent: Option<u8>,
    /// Voltage; null where the battery does not tell.
    pub voltage_uV: Option<u64>,
    /// Energy left; null where the battery counts none.
    pub energy_nJ: Option<u64>,
    /// Charge left; null where the battery counts none.
    pub charge_uAh: Option<u64>,
    /// What the battery says that it does.
    pub status: Option<String>,
    /// Calls so far, those of earlier parts included.
    pub repeats_done: u64,
    /// Why this is the last line though neither level nor repeats were reached.
    pub error: Option<String>,
}

/// What a battery's gauge says at one moment; what it does not say is `None`. The parts of [`BatteryLevel`] that are read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GaugeReading {
    /// Charge left, percent: `capacity` below `/sys/class/power_supply`, as all that follow.
    pub percent: Option<u8>,
    /// `voltage_now`.
    pub voltage_uV: Option<u64>,
    /// Energy left: `energy_now`.
    pub energy_nJ: Option<u64>,
    /// Charge left: `charge_now`.
    pub charge_uAh: Option<u64>,
    /// What the battery says that it does: `status`.
    pub status: Option<String>,
}
