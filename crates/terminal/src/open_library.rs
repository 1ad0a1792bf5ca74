//! `open-library`: opens a library of the system and uses it once. A program calls itself so before it opens one in a
//! process that goes on.

use std::process::ExitCode;

use wattlock_providers::{WORKS, library_file};
use wattlock_records::LibraryFile;

use crate::ciphers::providers;
use crate::failure::{Failure, keep_stdout, print};

/// Opens a library of the system and encrypts one message with it.
#[derive(clap::Args)]
pub struct Options {
    /// The provider that needs it.
    provider: String,
    /// Where it is, if it is the user's own.
    #[arg(long, value_name = "NAME=PATH", value_parser = library_file)]
    library: Vec<LibraryFile>,
    /// The cipher that is used; without it the first that it has.
    #[arg(long, value_name = "ID")]
    cipher: Option<String>,
}

/// Prints the library's version.
///
/// # Errors
/// That it can't be opened or does not work (11), that standard output can't be kept (9).
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    // A library that hangs is ended with the program that tries it.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    // Its first word is the program's, whatever the library prints.
    keep_stdout().map_err(|error| Failure::new(9, format!("standard output: {error}")))?;
    let version = providers(&options.library)?
        .open_here(&options.provider, options.cipher.as_deref())
        .map_err(|error| Failure::new(11, error))?;
    print(format!("{} {} {version}\n", WORKS, options.provider).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
