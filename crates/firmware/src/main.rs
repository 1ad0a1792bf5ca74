//! The image for a microcontroller: it proves the codes of one cipher family by the catalogue's own vectors, carries out
//! the cases that its plan names, each between two markers, and says how each went.
//!
//! | file | holds |
//! |---|---|
//! | `board` | start, faults, stack, markers, console: all that the processor and the emulator decide |
//! | `plan` | the cases, as the host writes them into the image |
//! | `cases` | a case made ready, carried out and checked |
//! | `counted` | the functions that are called between the markers |
//!
//! The host (`wattlock-probe board`) writes the plan into the section `.plan` of a copy of the image, so that no image is
//! built for another length, key or operation, and reads the console:
//!
//! | line | says |
//! |---|---|
//! | `wattlock-firmware VERSION` | it started |
//! | `case NUMBER` | a case begins |
//! | `counted NUMBER PATH STATE_B STACK_B REGION FUNCTION FUNCTION` | it was carried out twice and checked: what a key takes, the stack, the region of the second time, the functions by address |
//! | `failed NUMBER REASON` | it can't be carried out |
//! | `panic TEXT`, `fault stack NUMBER`, `fault other NUMBER` | the image ends in the middle of a case |
//! | `done` | all cases were tried |
#![no_std]
#![no_main]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

mod board;
mod cases;
mod counted;
mod plan;

use core::fmt::Write as _;
use core::panic::PanicInfo;

use board::Console;

board::entry!(run);

/// Carries the plan out.
fn run() -> ! {
    let _ = writeln!(Console, "wattlock-firmware {}", env!("CARGO_PKG_VERSION"));
    // What the markers themselves take: the host takes it off.
    board::between_markers(|| ());
    if let Some(memory) = board::memory() {
        let mut bench = cases::Bench::new(memory);
        for line in plan::lines(board::plan()) {
            bench.carry_out(line);
        }
        let _ = writeln!(Console, "done");
    }
    board::exit(true)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Console, "panic {info}");
    board::exit(false)
}
