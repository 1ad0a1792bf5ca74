//! The targets on a stable compiler: [`wattlock_fuzz::harness`] says how it is called.

use std::process::ExitCode;

use peak_alloc::PeakAlloc;
use wattlock_fuzz::{TARGETS, harness};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() -> ExitCode {
    harness::run(&TARGETS, &MEMORY)
}
