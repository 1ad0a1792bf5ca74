//! `tally`: the two ends of an experimental link over UDP, and a proxy that loses datagrams.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use wattlock_tally_program::options::{NAME, Options, run};
use wattlock_terminal::failure::command_line;

fn main() -> ExitCode {
    match command_line::<Options>(NAME) {
        Ok(options) => run(options).unwrap_or_else(|failure| failure.report()),
        Err(code) => code,
    }
}
