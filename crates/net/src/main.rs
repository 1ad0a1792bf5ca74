//! `wattlock-net`: the toolbox of the network. Data goes to standard output, words to standard error.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use wattlock_net::verbs::{air, capture, frames, schema, transfer};
use wattlock_terminal::failure::command_line;
use wattlock_terminal::{open_library, parent};

const NAME: &str = "wattlock-net";

#[derive(Parser)]
#[command(name = NAME, version, about = "Computes what goes over the air, and carries files over a network", long_about = None)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    #[command(after_help = air::EXAMPLE)]
    Air(air::Options),
    #[command(after_help = capture::EXAMPLE)]
    Capture(capture::Options),
    #[command(after_help = frames::EXAMPLE)]
    Frames(frames::Options),
    #[command(after_help = transfer::EXAMPLE)]
    Transfer(transfer::Options),
    #[command(after_help = schema::EXAMPLE)]
    Schema(schema::Options),
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
        Verb::Air(options) => air::run(options),
        Verb::Capture(options) => capture::run(options),
        Verb::Frames(options) => frames::run(options),
        Verb::Transfer(options) => transfer::run(options),
        Verb::Schema(options) => schema::run(options),
        Verb::OpenLibrary(options) => open_library::run(options),
    };
    done.unwrap_or_else(|failure| failure.report())
}
