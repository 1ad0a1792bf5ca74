//! What a verb says where it gives up, and what it prints.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::process::ExitCode;
use std::sync::OnceLock;

use wattlock_records::LONGEST_QUOTE;

use crate::text::harmless;

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
        writeln!(f, "error: {}", harmless(&self.message))?;
        self.hint.iter().try_for_each(|hint| writeln!(f, "hint: {}", harmless(hint)))
    }
}

/// Standard output, where it was kept from what a library prints.
static KEPT: OnceLock<File> = OnceLock::new();

/// Keeps standard output for this program's own words: what a library prints there goes to standard error from now on.
///
/// # Errors
/// What the system says.
pub fn keep_stdout() -> io::Result<()> {
    if KEPT.get().is_none() && !is_closed() {
        let kept = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        nix::unistd::dup2_stdout(io::stderr())?;
        let _ = KEPT.set(kept);
    }
    Ok(())
}

/// What takes this program's own words on standard output.
pub fn stdout() -> Box<dyn Write> {
    match KEPT.get() {
        Some(kept) => Box::new(kept),
        None => Box::new(io::stdout().lock()),
    }
}

/// The descriptor of [`stdout`].
pub(crate) fn stdout_fd() -> BorrowedFd<'static> {
    static OUT: OnceLock<io::Stdout> = OnceLock::new();
    KEPT.get().map_or_else(|| OUT.get_or_init(io::stdout).as_fd(), |kept| kept.as_fd())
}

/// Writes `bytes` to standard output; a reader that went away ends the program quietly.
///
/// # Errors
/// Any other reason for which standard output can't be written.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = stdout();
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
    let mut out = stdout();
    out.write_all(bytes).and_then(|()| out.flush()).or_else(|error| lost(&error.to_string()))
}

/// Whether standard output was closed when the program began. Rust then puts `/dev/null` in its place, open for reading
/// and writing, as no shell's `> /dev/null` is.
pub(crate) fn is_closed() -> bool {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    let out = stdout_fd();
    let both_ways = fcntl(out, FcntlArg::F_GETFL)
        .is_ok_and(|flags| OFlag::from_bits_truncate(flags) & OFlag::O_ACCMODE == OFlag::O_RDWR);
    let null = nix::sys::stat::stat("/dev/null").map(|file| file.st_rdev);
    both_ways && nix::sys::stat::fstat(out).is_ok_and(|file| Ok(file.st_rdev) == null)
}

/// The command line of `program`, read; or how it ends, with the help or what is wrong already said.
///
/// # Errors
/// The exit code of [`wrong_usage`].
pub fn command_line<A: clap::Parser>(program: &str) -> Result<A, ExitCode> {
    A::try_parse().map_err(|error| {
        let verb = std::env::args().nth(1).filter(|verb| A::command().find_subcommand(verb).is_some());
        wrong_usage(program, &error, verb.as_deref())
    })
}

/// Says what is wrong with the command line as every other error is said, in two lines.
///
/// * `program`: its name. `verb`: which of its verbs was called, where it was one.
pub fn wrong_usage(program: &str, error: &clap::Error, verb: Option<&str>) -> ExitCode {
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
    let call = verb.map_or_else(|| program.to_owned(), |verb| format!("{program} {verb}"));
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
