//! The ends of tally under hostile datagrams, on a stable compiler: [`wattlock_fuzz::harness`] says how it is called.

use std::process::ExitCode;

use peak_alloc::PeakAlloc;
use wattlock_fuzz::harness;
use wattlock_tally_fuzz::TARGETS;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() -> ExitCode {
    harness::run(&TARGETS, &MEMORY)
}
