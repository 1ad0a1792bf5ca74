//! `wattlock-probe`: the program that measures this machine. Plan lines in, record lines out.
//!
//! Data goes to standard output, words to standard error. It is started afresh for each shard of a run, because a
//! fresh process, with its own memory layout, is the unit of replication.
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

mod bind;
mod clock;
mod establish;
mod fingerprint;
mod frames;
mod keys;
mod meters;
mod packets;
mod providers;
mod records;
mod scenario;
mod transfer;
mod verbs;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use verbs::{air, apply, capture, catalogue, doctor, measure, meters as meters_verb, open_library, schema, selftest};

#[derive(Parser)]
#[command(name = "wattlock-probe", version, about = "Measures what ciphers cost on this machine", long_about = None)]
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
    #[command(after_help = air::EXAMPLE)]
    Air(air::Options),
    #[command(after_help = meters_verb::EXAMPLE)]
    Meters(meters_verb::Options),
    #[command(after_help = doctor::EXAMPLE)]
    Doctor(doctor::Options),
    #[command(after_help = schema::EXAMPLE)]
    Schema(schema::Options),
    #[command(after_help = verbs::frames::EXAMPLE)]
    Frames(verbs::frames::Options),
    #[command(after_help = verbs::transfer::EXAMPLE)]
    Transfer(verbs::transfer::Options),
    #[command(after_help = capture::EXAMPLE)]
    Capture(capture::Options),
    #[command(hide = true)]
    OpenLibrary(open_library::Options),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let verb = std::env::args().nth(1).filter(|verb| Arguments::command().find_subcommand(verb).is_some());
            return verbs::wrong_usage(&error, verb.as_deref());
        }
    };
    let done = match arguments.verb {
        Verb::Measure(options) => measure::run(options),
        Verb::Catalogue(options) => catalogue::run(options),
        Verb::Selftest(options) => selftest::run(options),
        Verb::Apply(options) => apply::run(options),
        Verb::Air(options) => air::run(options),
        Verb::Meters(options) => meters_verb::run(options),
        Verb::Doctor(options) => doctor::run(options),
        Verb::Schema(options) => schema::run(options),
        Verb::Frames(options) => verbs::frames::run(options),
        Verb::Transfer(options) => verbs::transfer::run(options),
        Verb::Capture(options) => capture::run(options),
        Verb::OpenLibrary(options) => open_library::run(options),
    };
    done.unwrap_or_else(|failure| failure.report())
}
