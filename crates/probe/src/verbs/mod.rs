//! The verbs of the program, one file each: `Options` from the command line, `EXAMPLE` for the help, `run`.
#![forbid(unsafe_code)]

pub mod air;
pub mod apply;
pub mod capture;
pub mod catalogue;
pub mod doctor;
pub mod frames;
pub mod measure;
pub mod meters;
pub mod open_library;
pub mod schema;
pub mod selftest;
pub mod table;
pub mod transfer;

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use wattlock_ciphers::{Spec, cards, listed, nearest_of};
use wattlock_frames::Protocol;

use crate::establish;
use crate::providers::{LONGEST_QUOTE, Providers, quoted};
use crate::records::LibraryFile;

/// Why a verb gave up: what is wrong with which value, what to do, and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// What is wrong, with the value.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// Exit code of the program.
    pub code: u8,
}

impl Failure {
    /// A failure without a hint.
    #[must_use]
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code }
    }

    /// The same failure with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Prints it to standard error; gives the exit code.
    #[must_use]
    pub fn report(&self) -> ExitCode {
        // Nothing is left to tell anybody where standard error is closed.
        let _ = write!(io::stderr(), "{self}");
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        self.hint.iter().try_for_each(|hint| writeln!(f, "hint: {hint}"))
    }
}

/// Writes `bytes` to standard output; a reader that went away ends the program quietly.
///
/// # Errors
/// Any other reason for which standard output can't be written.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(9, format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes `bytes`, which somebody has to get: a reader that went away is an error here, and so is an output that was closed.
///
/// # Errors
/// Code 9.
pub fn deliver(bytes: &[u8]) -> Result<(), Failure> {
    let lost = |why: &str| {
        let hint = "what was to be written is lost: give it a file or a program that reads to the end";
        Err(Failure::new(9, format!("standard output: {why}")).hint(hint))
    };
    if !bytes.is_empty() && is_closed() {
        return lost("it is closed");
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).or_else(|error| lost(&error.to_string()))
}

/// Whether standard output was closed when the program began. Rust then puts `/dev/null` in its place, open for reading
/// and writing, as no shell's `> /dev/null` is.
fn is_closed() -> bool {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    let out = io::stdout();
    let both_ways = fcntl(&out, FcntlArg::F_GETFL)
        .is_ok_and(|flags| OFlag::from_bits_truncate(flags) & OFlag::O_ACCMODE == OFlag::O_RDWR);
    let null = nix::sys::stat::stat("/dev/null").map(|file| file.st_rdev);
    both_ways && nix::sys::stat::fstat(&out).is_ok_and(|file| Ok(file.st_rdev) == null)
}

/// Says what is wrong with the command line as every other error is said, in two lines.
pub fn wrong_usage(error: &clap::Error, verb: Option<&str>) -> ExitCode {
    if !error.use_stderr() {
        // The help or the version, which was asked for.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let told = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let (tips, words): (Vec<_>, Vec<_>) =
        told.map(str::trim).filter(|line| !line.is_empty()).partition(|line| line.starts_with("tip:"));
    let message = match words.join(" ").strip_prefix("error: ") {
        Some(message) => shortened(message),
        None => "no verb is given".to_owned(),
    };
    let tip = tips.first().map(|tip| shortened(tip.trim_start_matches("tip: ")) + "; ").unwrap_or_default();
    let call = verb.map_or_else(|| "wattlock-probe".to_owned(), |verb| format!("wattlock-probe {verb}"));
    Failure::new(2, message).hint(format!("{tip}`{call} --help` says how it is called")).report()
}

/// What stands in single quotes at no more than 80 characters.
fn shortened(message: &str) -> String {
    let parts = message.split('\'').enumerate().map(|(place, part)| match part.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) if place % 2 == 1 => format!("{}...", &part[..end]),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("'")
}

/// The id that looks most like `id`: of a cipher, a scheme or a protocol.
pub fn meant(id: &str) -> Option<&'static str> {
    let ciphers = cards().flat_map(|card| card.listed.iter().copied());
    let schemes = establish::SCHEMES.iter().map(|scheme| scheme.id);
    nearest_of(id, ciphers.chain(schemes).chain(Protocol::ALL.iter().map(|protocol| protocol.id())))
}

/// The cipher that `id` names.
///
/// # Errors
/// Code 3, with what may have been meant.
pub fn named(id: &str) -> Result<Spec, Failure> {
    if establish::scheme(id).is_some() {
        let why = format!("cipher {}: it establishes keys or signs, it encrypts no message of any length", quoted(id));
        return Err(Failure::new(3, why).hint("a study measures it: operation = [\"agree\"] and so on"));
    }
    if Protocol::ALL.iter().any(|protocol| protocol.id() == id) {
        let why = format!("cipher {}: it protects frames of 802.11", quoted(id));
        return Err(Failure::new(3, why).hint("`wattlock-probe frames protect` does that to a capture"));
    }
    Spec::parse(id).map_err(|error| {
        let meant = meant(id).map(|id| format!("did you mean {id:?}? ")).unwrap_or_default();
        let hint = format!("{meant}`wattlock-probe catalogue` lists all of them");
        Failure::new(3, format!("cipher {}: {error}", quoted(id))).hint(hint)
    })
}

/// The ciphers that `ids` name; all that are listed where it names none.
///
/// # Errors
/// As of [`named`].
pub fn named_or_listed(ids: &[String]) -> Result<Vec<Spec>, Failure> {
    if ids.is_empty() { Ok(listed().collect()) } else { ids.iter().map(|id| named(id)).collect() }
}

/// The providers, with the libraries that the user names.
///
/// # Errors
/// Code 3, that a name is taken.
pub fn providers(libraries: &[LibraryFile]) -> Result<Providers, Failure> {
    Providers::with(libraries).map_err(|error| Failure::new(3, error).hint("--library NAME=PATH with another name"))
}

/// Refuses a provider that there is not.
///
/// # Errors
/// Code 3, with those that there are.
pub fn known(providers: &Providers, names: &[String]) -> Result<(), Failure> {
    let there_are = providers.names();
    match names.iter().find(|name| !there_are.contains(name)) {
        Some(name) => {
            let hint = format!("there are {}", there_are.join(", "));
            Err(Failure::new(3, format!("no provider {}", quoted(name))).hint(hint))
        }
        None => Ok(()),
    }
}
