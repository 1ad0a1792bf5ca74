//! Bytes that nobody meant, for what reads captures and frames and for the ends of tally: what is run on them, and what has to hold whatever they are.
//!
//! Each target takes bytes and gives a number that stands for what came of them: bytes that give one that was not there
//! before are worth going on from. What is wrong is a panic.
#![allow(non_snake_case, reason = "the unit is the suffix of the name, as in the workspace")]

mod air;
mod capture;
mod frame;
pub mod seeds;
mod tally;
mod unprotect;

pub use capture::capture;
pub use frame::frame;
pub use tally::{tally_gateway, tally_sensor};
pub use unprotect::unprotect;

/// Name, what is run, what it begins with.
pub type Target = (&'static str, fn(&[u8]) -> u64, fn() -> Vec<Vec<u8>>);

/// All there is.
pub const TARGETS: [Target; 5] = [
    ("capture", capture, seeds::captures),
    ("frame", frame, seeds::frames),
    ("tally_gateway", tally_gateway, seeds::links),
    ("tally_sensor", tally_sensor, seeds::links),
    ("unprotect", unprotect, seeds::conversations),
];
