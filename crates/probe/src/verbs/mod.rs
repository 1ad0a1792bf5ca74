//! The verbs of the program, one file each: `Options` from the command line, `EXAMPLE` for the help, `run`.
#![forbid(unsafe_code)]

pub mod apply;
#[cfg(feature = "board")]
pub mod board;
pub mod catalogue;
pub mod doctor;
pub mod facts;
pub mod measure;
pub mod meters;
pub mod schema;
pub mod selftest;
pub mod supervise;
