//! Cycles that a counter on a board told.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

/// One case, timed by the board's own counter of cycles: with its flash, its caches and its clock as they are.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardRecord {
    /// Number of the case in the run.
    pub case: u32,
    /// Number of the process in the run.
    pub process: u32,
    /// The core, as the board's file has it.
    pub core: String,
    /// The board's file.
    pub board: String,
    /// The clock that the board's file names.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub clock_Hz: u64,
    /// SHA-256 of the image as it was built.
    pub image_sha256: String,
    /// One call each, without what the clock's own reading takes; none where the clock is not the core's (the header's
    /// `emulator` says by what that was noticed).
    pub board_cycles: Vec<u64>,
    /// Flash of the key schedule and the operation, with all that they can reach: functions, constants.
    pub flash_B: u64,
    /// RAM that a key takes between two messages, with the variables that the operation can reach.
    pub ram_B: u64,
    /// Stack below the counted call, at its deepest.
    pub stack_B: u64,
    /// Flash of the whole image: the family in all its modes, their proof and vectors.
    pub image_flash_B: u64,
}
