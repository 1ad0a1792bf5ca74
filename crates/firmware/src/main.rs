//! The image for a microcontroller: it proves the codes of one family by the catalogue's own vectors, carries out
//! the cases that its plan names, each between two markers, and says how each went.
//!
//! | file | holds |
//! |---|---|
//! | `board` | start, faults, stack, markers, console: all that the processor and the emulator decide |
//! | `plan` | the cases, as the host writes them into the image |
//! | `cases` | a case of a cipher made ready, carried out and checked |
//! | `exchanges` | the same of key establishment and signatures |
//! | `frames` | the same of protected frames |
//! | `trial`, `outcome` | what both have: random bytes, a stack of its own; how a case went |
//! | `counted` | the functions that are called between the markers |
//! | `adapted` | code of others that was linked in (`include/wattlock_board.h`), as a cipher |
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

#[cfg(feature = "adapter")]
mod adapted;
mod board;
mod cases;
mod counted;
mod exchanges;
#[cfg(feature = "frames")]
mod frames;
mod outcome;
#[cfg_attr(all(on_board, not(on_rtt)), allow(dead_code, reason = "lines come over the line"))]
mod plan;
mod trial;

use core::fmt::Write as _;
use core::panic::PanicInfo;

use board::Console;

board::entry!(run);

/// Carries the plan out that stands in the image.
#[cfg(not(on_board))]
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

/// Carries the plan out that stands in the image, and says what the clock told of each case.
#[cfg(on_rtt)]
fn run() -> ! {
    board::start();
    let _ = writeln!(Console, "wattlock-firmware {} {}", env!("CARGO_PKG_VERSION"), board::IMAGE);
    introduce();
    if let Some(memory) = board::memory() {
        let mut bench = cases::Bench::new(memory);
        for line in plan::lines(board::plan()) {
            bench.carry_out(line);
            say_ticks();
        }
        let _ = writeln!(Console, "done");
    }
    board::exit(true)
}

/// Says what the clock told of the last case.
#[cfg(on_board)]
fn say_ticks() {
    let [first, second] = board::ticks();
    let _ = writeln!(Console, "ticks {first} {second}");
    let _ = writeln!(Console, "end");
}

/// Carries out what comes over the line, a case a time.
#[cfg(all(on_board, not(on_rtt)))]
fn run() -> ! {
    board::start();
    let _ = writeln!(Console, "wattlock-firmware {} {}", env!("CARGO_PKG_VERSION"), board::IMAGE);
    if let Some(memory) = board::memory() {
        let mut bench = cases::Bench::new(memory);
        let mut buffer = [0; board::LONGEST_LINE_B];
        loop {
            match board::line(&mut buffer) {
                None => {
                    let _ = writeln!(Console, "again");
                }
                Some("hello") => introduce(),
                Some(line) => {
                    bench.carry_out(line);
                    say_ticks();
                }
            }
        }
    }
    board::exit(false)
}

/// What the host has to know of the clock: an empty region, and a loop of two instructions a round.
#[cfg(on_board)]
fn introduce() {
    board::between_markers(|| ());
    board::between_markers(|| ());
    let [_, empty] = board::ticks();
    let loops = [board::known_loop(), board::known_loop(), board::known_loop()];
    let [first, second, third] = loops;
    let rounds = board::KNOWN_ROUNDS;
    let _ = writeln!(Console, "board {} {empty} {rounds} {first} {second} {third}", board::IMAGE);
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Console, "panic {info}");
    board::exit(false)
}
