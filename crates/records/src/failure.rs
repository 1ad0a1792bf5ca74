//! A case that can't be measured, and what follows.

use alloc::string::String;

use serde::Serialize;

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
