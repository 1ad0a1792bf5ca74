//! A library is opened in a process of its own first: one that crashes takes that process with it and not a run.
#![forbid(unsafe_code)]

use std::env;
use std::io;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::WORKS;

/// Set in the environment of a child that tries a library.
pub const IN_CHILD: &str = "WATTLOCK_TRIES_A_LIBRARY";
/// A library that takes longer hangs. The slowest that was seen takes 60 ms.
const LIMIT: Duration = Duration::from_secs(20);
/// As long as a case of a user's own library may take at least.
const OWN_LIMIT: Duration = Duration::from_secs(5);

/// Opens the library in a child of this program, which encrypts one message with it.
///
/// * `arguments`: what the child must be told besides its name. `is_own`: the library is the user's.
///
/// # Errors
/// What the child said, or how it died.
pub fn in_a_child(library: &str, arguments: &[String], is_own: bool) -> Result<(), String> {
    let program =
        env::current_exe().map_err(|error| format!("{library} can't be tried in a process of its own: {error}"))?;
    let limit = if is_own { OWN_LIMIT } else { LIMIT };
    watch(library, Command::new(program).args(["open-library", library]).args(arguments).env(IN_CHILD, "1"), limit)
}

fn watch(library: &str, command: &mut Command, limit: Duration) -> Result<(), String> {
    let output = output(command, limit)
        .map_err(|error| format!("{library} can't be tried in a process of its own: {error}"))?
        .ok_or_else(|| format!("{library}: the process that tried it did not end within {} s", limit.as_secs_f32()))?;
    if output.status.success() && output.stdout.starts_with(WORKS.as_bytes()) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    match said.lines().find_map(|line| line.strip_prefix("error: ")) {
        Some(error) if !output.status.success() => Err(error.to_owned()),
        _ => Err(format!("{library}: the process that tried it {}", end(output.status))),
    }
}

/// What a program says that ends within the limit; one that does not is ended, and gives nothing.
fn output(command: &mut Command, limit: Duration) -> io::Result<Option<Output>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (started, mut pause) = (Instant::now(), Duration::from_millis(1));
    // A child says a line or two: a pipe holds them until it is read.
    while child.try_wait()?.is_none() {
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    child.wait_with_output().map(Some)
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
    let output = output(child.args(["open-library", library]).env(variable, "1"), LIMIT).ok()??;
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
        watch("somelib", Command::new("sh").args(["-c", script]), Duration::from_secs(20))
    }

    #[test]
    fn a_library_that_crashes_its_child_is_refused_with_the_signal() {
        assert_eq!(of("kill -SEGV $$").unwrap_err(), "somelib: the process that tried it crashed with signal 11");
        assert!(of("echo works: 1; kill -ABRT $$").unwrap_err().contains("signal 6"));
    }

    #[test]
    fn a_library_that_hangs_is_given_up() {
        let mut command = Command::new("sleep");
        let said = watch("somelib", command.arg("60"), Duration::from_millis(50)).unwrap_err();
        assert!(said.contains("did not end within 0.05 s"), "{said}");
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
