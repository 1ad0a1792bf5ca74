//! A library of the user's own is measured in a child of the process that was asked: one that crashes, hangs or ends its
//! process takes no other provider's cases with it, and the failure names library, case and signal. So does one that
//! prints or takes memory without end, writes into the probe's own files, or starts programs.
//!
//! The plan is the child's standard input, a file without a name. In the head of that file the child notes which case is
//! at work, how long it may be and how many bytes of records are written: a write that wakes nobody, outside of what is
//! timed. The records go into such a file too, and the parent passes on what was noted: what a library writes there is
//! seen before its next visit and taken off.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::env;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use wattlock_providers::GUARDED as CHILD;
use wattlock_providers::contained::{self, Contained, MOST_MEMORY_B, MOST_PRINTED_B};
use wattlock_records::{FailedCase, Failure as FailureRecord, Follows, Placement, Plan, PlanLine, PlannedCase, Record};
use wattlock_terminal::failure::{Failure, print, stdout};

use super::note::{HEAD_B, NOTE_B, Note, Stage};

/// Processes that a library ends before the timing may cost so much together; then its other cases are not tried.
const MOST_LOST: Duration = Duration::from_secs(8);

/// What the parent knows of a plan: its first line, and the cases of the user's own libraries.
pub(super) struct Guarded {
    head: Plan,
    cases: Vec<PlannedCase>,
    most_memory_B: u64,
}

/// What the probe itself may need for a case: its packets, and what they are compared with.
fn memory_B(case: &PlannedCase) -> u64 {
    let packets_B = if case.placement == Placement::Dram { DRAM_B } else { 0 };
    packets_B.saturating_add(case.payload_B.saturating_mul(COPIES))
}
/// More than the packets of a case in main memory and their outputs have.
const DRAM_B: u64 = 512 << 20;
/// More than there are of a payload.
const COPIES: u64 = 16;

impl Guarded {
    /// `None` where the plan has no case of a user's own library, in the child itself, and where the plan can't be read,
    /// which the reader of it says.
    pub(super) fn of(plan: &str) -> Option<Self> {
        if env::var_os(CHILD).is_some() {
            return None;
        }
        let (mut head, mut cases) = (None, Vec::new());
        for line in plan.lines() {
            match serde_json::from_str(line) {
                Ok(PlanLine::Plan(plan)) => head = Some(plan),
                Ok(PlanLine::Case(case)) => cases.push(case),
                _ => {}
            }
        }
        let head: Plan = head?;
        let most_memory_B = cases.iter().map(memory_B).fold(MOST_MEMORY_B, u64::saturating_add);
        cases.retain(|case: &PlannedCase| head.libraries.iter().any(|library| library.name == case.provider));
        (!cases.is_empty()).then_some(Self { head, cases, most_memory_B })
    }

    /// Carries the plan out in a child. What ends it while a case is prepared is that case's failure, and another child
    /// goes on without the case; what ends it later ends the process's records, with the failure.
    ///
    /// # Errors
    /// That there can be no child; how it ended where no library's case was at work.
    pub(super) fn carry_out(&self, plan: &str) -> Result<ExitCode, Failure> {
        let mut failed: Vec<FailedCase> = Vec::new();
        let mut lost = Duration::ZERO;
        loop {
            let start = Instant::now();
            let (note, end) = match self.child(plan, &failed) {
                Ok(ended) => ended,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::FAILURE),
                Err(error) => {
                    let what = format!("a library can't be measured in a process of its own: {error}");
                    let hint = "make room where TMPDIR is, /tmp without it, or close other programs";
                    return Err(Failure::new(12, what).hint(hint));
                }
            };
            if note.stage == Stage::Done as u32 {
                let code = end.status.code().and_then(|code| u8::try_from(code).ok());
                return Ok(code.map_or(ExitCode::SUCCESS, ExitCode::from));
            }
            let Some(place) = self.cases.iter().position(|case| case.case == note.case) else {
                let hint = "no case of a library of your own was at work: `wattlock run --resume` goes on";
                return Err(Failure::new(12, format!("the process that measured {end}")).hint(hint));
            };
            let case = &self.cases[place];
            let is_proof = note.stage == Stage::Proving as u32;
            let during = if is_proof { format!("the proof of {}", case.cipher) } else { named(case) };
            let error = format!("library {} {end} in {during}", case.provider);
            if note.stage == Stage::Timing as u32 {
                return self.give_up(case.case, error);
            }
            lost += start.elapsed();
            let is_over = |other: &PlannedCase| other.case == case.case;
            // What a cipher does in its proof it would do again before each of its cases.
            let is_alike =
                |other: &PlannedCase| is_proof && (&other.provider, &other.cipher) == (&case.provider, &case.cipher);
            let mut known: HashSet<u32> = failed.iter().map(|failed| failed.case).collect();
            let mut fail = |other: &PlannedCase, error: String| {
                if known.insert(other.case) {
                    failed.push(FailedCase { case: other.case, error });
                }
            };
            self.cases
                .iter()
                .filter(|other| is_over(other) || is_alike(other))
                .for_each(|other| fail(other, error.clone()));
            if lost > MOST_LOST {
                self.cases[place + 1..].iter().for_each(|other| fail(other, format!("not tried: {error}")));
            }
        }
    }

    /// The record of a case that ended its process, the last of this one's.
    fn give_up(&self, case: u32, error: String) -> Result<ExitCode, Failure> {
        let record =
            Record::Failure(FailureRecord { process: self.head.process, case, error, follows: Follows::EndRun });
        let line = serde_json::to_string(&record).map_err(|error| Failure::new(9, error.to_string()))?;
        print(format!("{line}\n").as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }

    /// One child to its end: the last that it noted, and how it ended.
    fn child(&self, plan: &str, failed: &[FailedCase]) -> io::Result<(Note, End)> {
        let mut file = tempfile::tempfile()?;
        let mut text = vec![0; usize::try_from(HEAD_B).unwrap_or_default()];
        text[..NOTE_B].copy_from_slice(&Note::FIRST.bytes());
        text.extend_from_slice(plan.as_bytes());
        for one in failed {
            writeln!(text, "\n{}", json!({"kind": "failed", "case": one.case, "error": one.error}))?;
        }
        file.write_all(&text)?;
        file.seek(SeekFrom::Start(HEAD_B))?;
        let mut command = Command::new(env::current_exe()?);
        command.arg("measure").env(CHILD, "1").stdin(Stdio::from(file.try_clone()?));
        let mut child = Contained::start(&mut command, self.most_memory_B)?;
        let watched = watch(&mut child, &file);
        if watched.is_err() {
            let _ = child.end();
        }
        // Its cases have failed where it left any.
        let _ = child.left_any();
        // Nobody is left to tell where standard error is closed.
        let _ = io::stderr().write_all(&child.last_words()?);
        watched
    }
}

/// How a child ended.
struct End {
    status: ExitStatus,
    /// Why it was ended.
    cause: Option<String>,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.cause, self.status.signal(), self.status.code()) {
            (Some(cause), ..) => f.write_str(cause),
            (None, Some(signal), _) => {
                let name = nix::sys::signal::Signal::try_from(signal).map_or("unknown", |signal| signal.as_str());
                write!(f, "crashed with signal {signal} ({name})")
            }
            (None, None, code) => write!(f, "ended its process with exit code {}", code.unwrap_or_default()),
        }
    }
}

/// Waits until the child ends, or ends it where a case is at work for longer than its limit or takes too much; passes its
/// records on meanwhile. Gives the last that it noted.
fn watch(child: &mut Contained, file: &File) -> io::Result<(Note, End)> {
    let (mut seen, mut since, mut pause) = (Note::FIRST, Instant::now(), Duration::from_millis(1));
    let (mut passed_B, mut cause) = (0, None);
    loop {
        let ended = child.ended()?;
        let note = Note::read(file)?;
        passed_B += pass_on(child, passed_B, note.records_B)?;
        if let Some(status) = ended {
            return Ok((note, End { status, cause: cause.or_else(|| cause_of(child, note)) }));
        }
        if note != seen {
            (seen, since) = (note, Instant::now());
        }
        let limit = Duration::from_millis(note.limit_ms.into());
        let is_late = !limit.is_zero() && since.elapsed() > limit;
        let late = is_late.then(|| format!("did not come back within {} s", limit.as_secs()));
        cause = late.map_or_else(|| child.excess(note.records_B), |late| Ok(Some(late)))?;
        if cause.is_some() {
            child.end()?;
            continue;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Hands over the records that the child noted; gives how many bytes they are.
fn pass_on(child: &Contained, passed_B: u64, noted_B: u64) -> io::Result<u64> {
    let bytes = contained::read(&child.said, passed_B, noted_B.saturating_sub(passed_B))?;
    let mut out = stdout();
    out.write_all(&bytes)?;
    out.flush()?;
    Ok(bytes.len() as u64)
}

/// Why a child ended itself.
fn cause_of(child: &Contained, note: Note) -> Option<String> {
    let printed_B = child.printed.metadata().map_or(0, |about| about.len());
    match note.is_closed {
        0 => (printed_B > MOST_PRINTED_B).then(contained::printed_too_much),
        _ => Some("closed files of the probe's".to_owned()),
    }
}

/// `aes128-cbc encrypt 1024 B`.
fn named(case: &PlannedCase) -> String {
    format!("{} {} {} B", case.cipher, case.operation, case.payload_B)
}
