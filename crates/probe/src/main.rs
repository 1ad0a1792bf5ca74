//! `wattlock-probe`: the program that measures this machine. Plan lines in, record lines out.
//!
//! Data goes to standard output, words to standard error. It is started afresh for each shard of a run, because a
//! fresh process, with its own memory layout, is the unit of replication.
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

mod clock;
mod fingerprint;
mod verbs;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
#[cfg(feature = "board")]
use verbs::board;
use verbs::{apply, catalogue, doctor, facts, measure, meters, schema, selftest, supervise};
use wattlock_terminal::failure::command_line;
use wattlock_terminal::{open_library, parent};

const NAME: &str = "wattlock-probe";

#[derive(Parser)]
#[command(name = NAME, version, about = "Measures what ciphers cost on this machine", long_about = None)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    #[command(after_help = measure::EXAMPLE)]
    Measure(measure::Options),
    #[command(after_help = catalogue::EXAMPLE)]
    Catalogue(catalogue::Options),
    #[command(after_help = selftest::EXAMPLE)]
    Selftest(selftest::Options),
    #[command(after_help = apply::EXAMPLE)]
    Apply(apply::Options),
    #[command(after_help = meters::EXAMPLE)]
    Meters(meters::Options),
    #[command(after_help = doctor::EXAMPLE)]
    Doctor(doctor::Options),
    #[command(after_help = facts::EXAMPLE)]
    Facts(facts::Options),
    #[command(after_help = schema::EXAMPLE)]
    Schema(schema::Options),
    #[cfg(feature = "board")]
    #[command(after_help = board::EXAMPLE)]
    Board(board::Options),
    #[command(hide = true)]
    Supervise(supervise::Options),
    #[command(hide = true)]
    OpenLibrary(open_library::Options),
}

fn main() -> ExitCode {
    parent::end_with_it();
    let arguments = match command_line::<Arguments>(NAME) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let done = match arguments.verb {
        Verb::Measure(options) => measure::run(options),
        Verb::Catalogue(options) => catalogue::run(options),
        Verb::Selftest(options) => selftest::run(options),
        Verb::Apply(options) => apply::run(options),
        Verb::Meters(options) => meters::run(options),
        Verb::Doctor(options) => doctor::run(options),
        Verb::Facts(options) => facts::run(options),
        Verb::Schema(options) => schema::run(options),
        #[cfg(feature = "board")]
        Verb::Board(options) => board::run(options),
        Verb::Supervise(options) => supervise::run(options),
        Verb::OpenLibrary(options) => open_library::run(options),
    };
    done.unwrap_or_else(|failure| failure.report())
}
