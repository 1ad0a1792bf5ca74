//! A library is opened in a process of its own first: one that crashes takes that process with it and not a run.
#![forbid(unsafe_code)]

use std::env;
use std::process::{Command, ExitStatus, Stdio};

/// What the child says first where the library works; a program that is not this one does not say it.
pub const WORKS: &str = "works:";

/// Opens the library in a child of this program, which encrypts one message with it.
///
/// * `arguments`: what the child must be told besides its name.
///
/// # Errors
/// What the child said, or how it died.
pub fn in_a_child(library: &str, arguments: &[String]) -> Result<(), String> {
    let program =
        env::current_exe().map_err(|error| format!("{library} can't be tried in a process of its own: {error}"))?;
    watch(library, Command::new(program).args(["open-library", library]).args(arguments))
}

fn watch(library: &str, command: &mut Command) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{library} can't be tried in a process of its own: {error}"))?;
    if output.status.success() && output.stdout.starts_with(WORKS.as_bytes()) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    match said.lines().find_map(|line| line.strip_prefix("error: ")) {
        Some(error) if !output.status.success() => Err(error.to_owned()),
        _ => Err(format!("{library}: the process that tried it {}", end(output.status))),
    }
}

/// What the library writes to standard error in a child of this program where the environment has `variable`.
///
/// * Returns `None` in that child itself, and where it fails.
pub fn said(library: &str, variable: &str) -> Option<String> {
    // The program of a unit test is another one, whose arguments are names of tests.
    if cfg!(test) || env::var_os(variable).is_some() {
        return None;
    }
    let mut child = Command::new(env::current_exe().ok()?);
    let output = child.args(["open-library", library]).env(variable, "1").stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn end(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("crashed with signal {signal}");
    }
    format!("did not say that it works ({status})")
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(script: &str) -> Result<(), String> {
        watch("somelib", Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn a_library_that_crashes_its_child_is_refused_with_the_signal() {
        assert_eq!(of("kill -SEGV $$").unwrap_err(), "somelib: the process that tried it crashed with signal 11");
        assert!(of("echo works: 1; kill -ABRT $$").unwrap_err().contains("signal 6"));
    }

    #[test]
    fn what_the_child_says_is_the_error() {
        assert_eq!(of("echo 'error: no such file' >&2; exit 3").unwrap_err(), "no such file");
    }

    #[test]
    fn a_child_that_says_nothing_has_not_shown_that_the_library_works() {
        assert!(of("exit 0").unwrap_err().contains("did not say that it works"));
        assert_eq!(of("echo works: 3.0.19"), Ok(()));
    }
}
