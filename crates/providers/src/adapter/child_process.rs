//! A library is opened in a process of its own first: one that crashes takes that process with it and not a run.
#![forbid(unsafe_code)]

use std::env;
use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::WORKS;
use crate::contained::{self, Contained, MOST_MEMORY_B, MOST_PRINTED_B};

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
    let answer = answer(command, limit)
        .map_err(|error| format!("{library} can't be tried in a process of its own: {error}"))?
        .map_err(|cause| format!("{library}: the process that tried it {cause}"))?;
    let works = answer.said.starts_with(WORKS.as_bytes());
    if answer.status.success() && works && answer.said.iter().filter(|byte| **byte == b'\n').count() == 1 {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&answer.printed);
    match said.lines().find_map(|line| line.strip_prefix("error: ")) {
        Some(error) if !answer.status.success() => Err(error.to_owned()),
        _ if answer.status.success() && String::from_utf8_lossy(&answer.said).contains(WORKS) => {
            Err(format!("{library} writes into a file of the program that tried it"))
        }
        _ => Err(format!("{library}: the process that tried it {}", end(answer.status))),
    }
}

/// What a program said and how it ended.
struct Answer {
    status: ExitStatus,
    said: Vec<u8>,
    /// Its last words on standard error.
    printed: Vec<u8>,
}

/// A program says a line or two.
const ANSWER_B: u64 = 1 << 16;

/// What a program says; or what it did that it may not, as the end of a sentence. It has ended, and all that it started.
fn answer(command: &mut Command, limit: Duration) -> io::Result<Result<Answer, String>> {
    let mut child = Contained::start(command.stdin(Stdio::null()), MOST_MEMORY_B)?;
    let (started, mut pause) = (Instant::now(), Duration::from_millis(1));
    let status = loop {
        if let Some(status) = child.ended()? {
            break status;
        }
        let is_late = started.elapsed() > limit;
        let late = is_late.then(|| format!("did not end within {} s", limit.as_secs_f32()));
        if let Some(cause) = late.map_or_else(|| child.excess(0), |late| Ok(Some(late)))? {
            child.end()?;
            let _ = child.left_any();
            return Ok(Err(cause));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    if child.left_any() {
        return Ok(Err("left another program running".to_owned()));
    }
    if child.printed.metadata()?.len() > MOST_PRINTED_B {
        return Ok(Err(contained::printed_too_much()));
    }
    let said = contained::read(&child.said, 0, ANSWER_B)?;
    Ok(Ok(Answer { status, said, printed: child.last_words()? }))
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
    let answer = answer(child.args(["open-library", library]).env(variable, "1"), LIMIT).ok()?.ok()?;
    answer.status.success().then(|| String::from_utf8_lossy(&answer.printed).into_owned())
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
    fn a_library_that_prints_without_end_writes_into_the_answer_or_takes_all_memory_is_refused_by_the_cause() {
        for (script, words) in [
            ("yes >&2", "the process that tried it printed more than 8 MiB"),
            ("yes", "the process that tried it wrote more than 8 MiB into a file of the probe's"),
            ("echo mine; echo works: 1", "somelib writes into a file of the program that tried it"),
            ("exec tail /dev/zero", "the process that tried it needs more than 1024 MiB"),
        ] {
            let said = of(script).unwrap_err();
            assert!(said.contains(words), "{script}: {said}");
        }
        assert_eq!(of("yes | head -c 200000 >&2; echo works: 1"), Ok(()));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_that_leaves_a_program_running_is_refused_at_once_and_the_program_has_ended() {
        let mark = format!("{}.5", 1000 + std::process::id());
        for script in [format!("sleep {mark} & echo works: 1"), format!("setsid sleep {mark} & echo works: 1")] {
            let begun = Instant::now();
            let said = of(&script).unwrap_err();
            assert!(said.contains("left another program running") && begun.elapsed() < LIMIT, "{said}");
            let seen = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
                std::fs::read_to_string(entry.path().join("cmdline"))
                    .is_ok_and(|line| line == format!("sleep\0{mark}\0"))
            });
            assert!(!seen, "{script}");
        }
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
