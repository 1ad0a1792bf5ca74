//! Bytes that nobody meant, for what reads captures and frames: what is run on them, and what has to hold whatever they are.
//! [`harness`] runs such targets, those of other crates too.
//!
//! Each target takes bytes and gives a number that stands for what came of them: bytes that give one that was not there
//! before are worth going on from. What is wrong is a panic.
#![allow(non_snake_case, reason = "the unit is the suffix of the name, as in the workspace")]

mod air;
mod capture;
mod frame;
pub mod harness;
pub mod seeds;
mod unprotect;

pub use capture::capture;
pub use frame::frame;
pub use harness::Target;
pub use unprotect::{step, unprotect};

/// All there is.
pub const TARGETS: [Target; 3] = [
    ("capture", capture, seeds::captures),
    ("frame", frame, seeds::frames),
    ("unprotect", unprotect, seeds::conversations),
];
