//! `supervise`: carries out another verb for as long as somebody far away keeps saying that it is still there.
//!
//! A program that is started over a network outlives its connection: it sees that nobody reads only when it writes. This
//! parent reads the other end's beats, sleeps meanwhile, and ends the child when they cease.
//!
//! Standard input: the length of the child's input as a decimal line, that input, then beats (any bytes) until the end.
#![forbid(unsafe_code)]

use std::io::{self, BufRead, Read, Write};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use wattlock_terminal::failure::Failure;
use wattlock_terminal::parent::SUPERVISED;

/// What a shell adds to a signal's number in an exit code.
const SIGNALLED: i32 = 128;

const CHUNK_B: usize = 65_536;

/// Carries out another verb until it ends, or standard input is closed or silent.
#[derive(clap::Args)]
pub struct Options {
    /// Without a beat for so long the verb is ended.
    #[arg(long, value_name = "SECONDS", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=3600))]
    silence_s: u64,
    /// The verb and its options.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

enum Event {
    /// Something came from the other end.
    Beat,
    /// The child's whole input.
    Input(Vec<u8>),
    /// The other end is gone, or says what nobody can read.
    Gone,
    /// The child ended.
    Ended(io::Result<ExitStatus>),
}

/// Gives the child's exit code; 128 and its signal's number where one ended it.
///
/// # Errors
/// A child that can't be started (9); an input without its length, or cut off (2).
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let (events, heard) = channel();
    let beats = events.clone();
    thread::spawn(move || listen(&beats));
    let silence = Duration::from_secs(options.silence_s);
    let input = input_from(&heard, silence)?;
    let mut child = started(&options.words).map_err(|error| Failure::new(9, format!("the probe: {error}")))?;
    let pid = child.id();
    let stdin = child.stdin.take();
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    thread::spawn(move || events.send(Event::Ended(child.wait())));
    loop {
        match heard.recv_timeout(silence) {
            Ok(Event::Beat | Event::Input(_)) => {}
            Ok(Event::Ended(status)) => return Ok(code_of(status)),
            Ok(Event::Gone) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                end(pid);
                return Ok(ExitCode::FAILURE);
            }
        }
    }
}

fn started(words: &[String]) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words).env(SUPERVISED, std::process::id().to_string()).stdin(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Ends the child and what it started.
#[cfg(unix)]
fn end(pid: u32) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    // One that ended meanwhile is not there any more.
    let _ = i32::try_from(pid).map(|pid| killpg(Pid::from_raw(pid), Signal::SIGKILL));
}

#[cfg(not(unix))]
fn end(_pid: u32) {}

fn code_of(status: io::Result<ExitStatus>) -> ExitCode {
    let Ok(status) = status else { return ExitCode::FAILURE };
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    let code = status.code().or_else(|| signal.map(|signal| SIGNALLED + signal));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The child's input, once all of it is here.
fn input_from(heard: &Receiver<Event>, silence: Duration) -> Result<Vec<u8>, Failure> {
    loop {
        match heard.recv_timeout(silence) {
            Ok(Event::Input(input)) => return Ok(input),
            Ok(Event::Beat) => {}
            _ => return Err(Failure::new(2, "the input of the verb did not come").hint("`wattlock` says it by itself")),
        }
    }
}

/// Reads standard input to its end. Who is told may have gone.
fn listen(events: &Sender<Event>) {
    let _ = hear(&mut io::stdin().lock(), events);
    let _ = events.send(Event::Gone);
}

/// The input, then beats. `None` where they end, or nobody takes them.
fn hear(from: &mut impl BufRead, events: &Sender<Event>) -> Option<()> {
    let mut line = String::new();
    from.by_ref().take(32).read_line(&mut line).ok()?;
    let length: usize = line.trim().parse().ok()?;
    let mut input = Vec::new();
    while input.len() < length {
        let piece = (length - input.len()).min(CHUNK_B) as u64;
        if from.by_ref().take(piece).read_to_end(&mut input).ok()? == 0 {
            return None;
        }
        events.send(Event::Beat).ok()?;
    }
    events.send(Event::Input(input)).ok()?;
    let mut beat = [0; 64];
    while from.read(&mut beat).ok()? > 0 {
        events.send(Event::Beat).ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &[u8]) -> Vec<String> {
        let (events, heard) = channel();
        let _ = hear(&mut io::BufReader::new(text), &events);
        drop(events);
        let name = |event| match event {
            Event::Beat => "beat".to_owned(),
            Event::Input(input) => String::from_utf8_lossy(&input).into_owned(),
            Event::Gone | Event::Ended(_) => "end".to_owned(),
        };
        heard.iter().map(name).collect()
    }

    #[test]
    fn an_input_comes_whole_and_then_beats() {
        assert_eq!(heard(b"5\nplan\n..."), ["beat", "plan\n", "beat"]);
        assert_eq!(heard(b"0\n"), [""]);
    }

    #[test]
    fn an_input_that_is_cut_off_or_has_no_length_never_comes() {
        assert_eq!(heard(b"9\nplan\n"), ["beat"]);
        assert!(heard(b"plan\n").is_empty() && heard(b"").is_empty());
    }
}
