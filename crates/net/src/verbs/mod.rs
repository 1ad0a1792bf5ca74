//! The verbs of the program, one file each: `Options` from the command line, `EXAMPLE` for the help, `run`.

pub mod air;
pub mod capture;
pub mod frames;
pub mod schema;
pub mod transfer;
