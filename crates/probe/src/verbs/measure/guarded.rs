//! A library of the user's own is measured in a child of the process that was asked: one that crashes, hangs or ends its
//! process takes no other provider's cases with it, and the failure names library, case and signal.
//!
//! The plan is the child's standard input, a file without a name. In the head of that file the child notes which case is
//! at work and how long it may be: a write that wakes nobody, outside of what is timed.
#![forbid(unsafe_code)]

use std::cell::{Cell as Held, RefCell};
use std::collections::HashSet;
use std::env;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use wattlock_bench::prepared::Prepared;
use wattlock_bench::share::ports;
use wattlock_engine::{Case, Nanoseconds};
use wattlock_providers::GUARDED as CHILD;
use wattlock_records::{FailedCase, Failure as FailureRecord, Follows, Plan, PlanLine, PlannedCase, Record};
use wattlock_terminal::failure::{Failure, print};

/// The head of the file, before the plan.
const HEAD_B: u64 = 64;
/// No limit is shorter.
const LEAST_LIMIT: Duration = Duration::from_secs(5);
/// A visit may last as long as so many of the first batch.
const LIMIT_BATCHES: u32 = 10;
/// What preparing a case may take beside the least limit, for each byte of its payload: slower than any cipher by ten.
const PREPARATION_NS_PER_B: u64 = 10_000;
/// Processes that a library ends before the timing may cost so much together; then its other cases are not tried.
const MOST_LOST: Duration = Duration::from_secs(8);
/// A case that says that it is still at work does so this often.
const BEAT: Duration = Duration::from_millis(500);

/// How far the child is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Preparing = 0,
    /// The header is written.
    Timing = 1,
    /// All that is to be written is.
    Done = 2,
    /// A cipher is proven, before its cases are prepared.
    Proving = 3,
}

/// What the child says of itself.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Note {
    /// It counts up.
    number: u32,
    stage: u32,
    /// The case of a user's library that worked last.
    case: u32,
    /// Zero where none is at work.
    limit_ms: u32,
}

/// Calls are looked at for so long once more after the timing, and what is remembered.
const AFTERWARDS_NS: u64 = 10_000_000;
/// Why that is no case.
const STARTS: &str = "what they do is in no number, so it is not measured";

/// No case has worked yet.
const NONE: u32 = u32::MAX;

impl Note {
    const FIRST: Self = Self { number: 0, stage: Stage::Preparing as u32, case: NONE, limit_ms: 0 };

    fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let words = [self.number, self.stage, self.case, self.limit_ms];
        bytes.chunks_mut(4).zip(words).for_each(|(chunk, word)| chunk.copy_from_slice(&word.to_le_bytes()));
        bytes
    }

    fn read(file: &File) -> io::Result<Self> {
        let mut bytes = [0; 16];
        file.read_exact_at(&mut bytes, 0)?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Ok(Self { number: word(0), stage: word(4), case: word(8), limit_ms: word(12) })
    }
}

/// The child's side: where it notes what it does.
#[derive(Clone)]
pub(super) struct Watch {
    file: Rc<File>,
    note: Rc<Held<Note>>,
    others: Rc<Others>,
}

/// Other threads than this one, which no library may start: what they do is in no number.
#[derive(Default)]
struct Others {
    /// Threads of this process; none before the first library is opened.
    threads: Held<Option<usize>>,
    /// CPU time that they took, those that have ended included.
    cpu_ns: Held<u64>,
    /// Whose code is at work.
    at_work: RefCell<String>,
    /// Libraries that started some.
    blamed: RefCell<HashSet<String>>,
}

/// As much CPU time as two clocks that are read one after the other do not differ by.
const OTHERS_NS: u64 = 2_000_000;

impl Others {
    /// Before the code of `provider` is at work, or after it; of no library, before any is opened.
    fn count(&self, provider: &str) {
        // Where the system does not tell there are none.
        let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
        let cpu_ns = others_cpu_ns();
        // A meter's own thread is there before, and takes CPU time as long as it is.
        let more_time = self.threads.get() == Some(1) && cpu_ns > self.cpu_ns.get().saturating_add(OTHERS_NS);
        if self.threads.get().is_some_and(|before| threads > before) || more_time {
            self.blamed.borrow_mut().insert(self.at_work.borrow().clone());
        }
        if self.threads.get().is_none() || more_time {
            self.cpu_ns.set(cpu_ns);
        }
        self.threads.set(Some(self.threads.get().unwrap_or(threads).max(threads)));
        provider.clone_into(&mut self.at_work.borrow_mut());
    }

    /// Whether this library started some, or one that was opened while no case of it was at work.
    fn are_of(&self, provider: &str) -> bool {
        let blamed = self.blamed.borrow();
        blamed.contains(provider) || blamed.contains("")
    }
}

/// CPU time of this process less that of this thread.
fn others_cpu_ns() -> u64 {
    use nix::time::{ClockId, clock_gettime};
    let time = |clock| clock_gettime(clock).map(Duration::from).unwrap_or_default();
    let here = time(ClockId::CLOCK_THREAD_CPUTIME_ID);
    let nanos = time(ClockId::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(here).as_nanos();
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

impl Watch {
    /// In the child; `None` in a process that nobody watches.
    pub(super) fn here() -> io::Result<Option<Self>> {
        if env::var_os(CHILD).is_none() {
            return Ok(None);
        }
        // Nobody is left to end a child that hangs when its parent is gone.
        #[cfg(target_os = "linux")]
        nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        Ok(Some(Self { file: Rc::new(file), note: Rc::new(Held::new(Note::FIRST)), others: Rc::default() }))
    }

    fn write(&self, change: impl FnOnce(&mut Note)) {
        let mut note = self.note.get();
        change(&mut note);
        note.number = note.number.wrapping_add(1);
        self.note.set(note);
        // A note that can't be written is one that is not taken: the parent then sees a case that lasts too long.
        let _ = self.file.write_all_at(&note.bytes(), 0);
    }

    fn is_at_work(&self, case: u32, limit: Duration) {
        let limit_ms = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
        self.write(|note| (note.case, note.limit_ms) = (case, limit_ms));
    }

    /// No library's code is at work now.
    pub(super) fn rests(&self) {
        self.write(|note| note.limit_ms = 0);
    }

    /// All that is no library's is open: threads that are there are a meter's.
    pub(super) fn begins(&self) {
        self.others.count("");
    }

    /// Everything is written: what a library does when its process ends counts no more.
    pub(super) fn ends(&self) {
        let limit_ms = u32::try_from(LEAST_LIMIT.as_millis()).unwrap_or(u32::MAX);
        self.write(|note| (note.stage, note.limit_ms) = (Stage::Done as u32, limit_ms));
    }
}

impl ports::Watch for Watch {
    fn prepares(&self, planned: &PlannedCase) {
        self.others.count(&planned.provider);
        let more = Duration::from_nanos(planned.payload_B.saturating_mul(PREPARATION_NS_PER_B));
        self.note.set(Note { stage: Stage::Preparing as u32, ..self.note.get() });
        self.is_at_work(planned.case, LEAST_LIMIT + more);
    }

    fn proves(&self, planned: &PlannedCase) {
        self.note.set(Note { stage: Stage::Proving as u32, ..self.note.get() });
        self.is_at_work(planned.case, LEAST_LIMIT);
    }

    fn works(&self, body: Box<dyn Prepared>, planned: &PlannedCase, first: Nanoseconds) -> Box<dyn Prepared> {
        self.others.count(&planned.provider);
        let limit = (Duration::from_nanos(first) * LIMIT_BATCHES).max(LEAST_LIMIT);
        let (case, provider) = (planned.case, planned.provider.clone());
        Box::new(Watched { body, case, provider, limit, watch: self.clone(), last: Instant::now() })
    }

    fn rests(&self) {
        Watch::rests(self);
    }

    fn times(&self) {
        self.write(|note| (note.stage, note.limit_ms) = (Stage::Timing as u32, 0));
    }
}

/// A case of a user's library: it notes each visit.
struct Watched {
    body: Box<dyn Prepared>,
    case: u32,
    provider: String,
    limit: Duration,
    watch: Watch,
    last: Instant,
}

impl Watched {
    fn note(&mut self) {
        self.last = Instant::now();
        self.watch.is_at_work(self.case, self.limit);
    }
}

impl Case for Watched {
    fn segments(&self) -> u32 {
        self.body.segments()
    }

    fn settle(&mut self, seed: u64) {
        self.watch.others.count(&self.provider);
        self.note();
        self.body.settle(seed);
    }

    fn run(&mut self, segment: u32, calls: u32) {
        self.body.run(segment, calls);
    }
}

impl Prepared for Watched {
    fn cut(&mut self, segment_B: usize) -> bool {
        self.body.cut(segment_B)
    }

    fn offset(&self, segment: u32) -> u64 {
        self.body.offset(segment)
    }

    fn prove(&mut self) -> Result<(), String> {
        self.note();
        self.body.prove()
    }

    fn prove_often(&mut self, now: &mut dyn FnMut() -> u64, limit: u64) -> Result<(), String> {
        self.note();
        self.body.prove_often(now, limit)
    }

    fn check(&mut self) -> Result<(), String> {
        self.note();
        let begun = Instant::now();
        let mut now = || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let checked = self.body.check().and_then(|()| self.body.prove_often(&mut now, AFTERWARDS_NS));
        self.watch.others.count(&self.provider);
        self.watch.rests();
        let is_blamed = self.watch.others.are_of(&self.provider);
        if is_blamed { Err(format!("library {} starts threads: {STARTS}", self.provider)) } else { checked }
    }

    fn beat(&mut self) {
        if self.last.elapsed() >= BEAT {
            self.note();
        }
    }
}

/// What the parent knows of a plan: its first line, and the cases of the user's own libraries.
pub(super) struct Guarded {
    head: Plan,
    cases: Vec<PlannedCase>,
}

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
        cases.retain(|case: &PlannedCase| head.libraries.iter().any(|library| library.name == case.provider));
        (!cases.is_empty()).then_some(Self { head, cases })
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
            let (note, end) = self.child(plan, &failed).map_err(|error| {
                Failure::new(12, format!("a library can't be measured in a process of its own: {error}"))
            })?;
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
        text[..16].copy_from_slice(&Note::FIRST.bytes());
        text.extend_from_slice(plan.as_bytes());
        for one in failed {
            writeln!(text, "\n{}", json!({"kind": "failed", "case": one.case, "error": one.error}))?;
        }
        file.write_all(&text)?;
        file.seek(SeekFrom::Start(HEAD_B))?;
        let mut command = Command::new(env::current_exe()?);
        let mut child = command.arg("measure").env(CHILD, "1").stdin(Stdio::from(file.try_clone()?)).spawn()?;
        let end = watch(&mut child, &file)?;
        Ok((Note::read(&file)?, end))
    }
}

/// How a child ended.
struct End {
    status: ExitStatus,
    /// It was ended after this time.
    hung: Option<Duration>,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.hung, self.status.signal(), self.status.code()) {
            (Some(limit), ..) => write!(f, "did not come back within {} s", limit.as_secs()),
            (None, Some(signal), _) => {
                let name = nix::sys::signal::Signal::try_from(signal).map_or("unknown", |signal| signal.as_str());
                write!(f, "crashed with signal {signal} ({name})")
            }
            (None, None, code) => write!(f, "ended its process with exit code {}", code.unwrap_or_default()),
        }
    }
}

/// Waits until the child ends, or ends it where a case is at work for longer than its limit.
fn watch(child: &mut Child, file: &File) -> io::Result<End> {
    let (mut seen, mut since, mut pause) = (Note::FIRST, Instant::now(), Duration::from_millis(1));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End { status, hung: None });
        }
        let note = Note::read(file)?;
        if note != seen {
            (seen, since) = (note, Instant::now());
        }
        let limit = Duration::from_millis(note.limit_ms.into());
        if !limit.is_zero() && since.elapsed() > limit {
            child.kill()?;
            return Ok(End { status: child.wait()?, hung: Some(limit) });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// `aes128-cbc encrypt 1024 B`.
fn named(case: &PlannedCase) -> String {
    format!("{} {} {} B", case.cipher, case.operation, case.payload_B)
}
