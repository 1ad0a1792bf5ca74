//! The child's side of a library of the user's own: what is at work is noted, and what it does beside its work is seen.
#![forbid(unsafe_code)]

use std::cell::{Cell as Held, RefCell};
use std::collections::{HashMap, HashSet};
use std::env;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::process;
use std::rc::Rc;
use std::time::{Duration, Instant};

use wattlock_bench::prepared::Prepared;
use wattlock_bench::share::ports;
use wattlock_engine::{Case, Nanoseconds};
use wattlock_providers::GUARDED;
use wattlock_providers::contained::{self, MOST_PRINTED_B};
use wattlock_records::PlannedCase;

use super::kept_files::KeptFiles;
use super::note::{Note, Stage};

/// No limit is shorter.
const LEAST_LIMIT: Duration = Duration::from_secs(5);
/// A visit may last as long as so many of the first batch.
const LIMIT_BATCHES: u32 = 10;
/// What preparing a case may take beside the least limit, for each byte of its payload: slower than any cipher by ten.
const PREPARATION_NS_PER_B: u64 = 10_000;
/// A case that says that it is still at work does so this often.
const BEAT: Duration = Duration::from_millis(500);
/// Calls are looked at for so long once more after the timing, and what is remembered.
const AFTERWARDS_NS: u64 = 10_000_000;
/// Why that is no case.
const STARTS: &str = "what they do is in no number, so it is not measured";
const WRITES: &str = "writes into files that it did not open, among them the probe's";

/// The child's side: where it notes what it does.
#[derive(Clone)]
pub(super) struct Watch {
    file: Rc<File>,
    note: Rc<Held<Note>>,
    others: Rc<Others>,
    kept: Rc<KeptFiles>,
    /// What cases did that they may not, as the end of a sentence that begins with the library.
    blamed: Rc<RefCell<HashMap<u32, String>>>,
    id: u32,
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
        if env::var_os(GUARDED).is_none() {
            return Ok(None);
        }
        // Nobody is left to end a child that hangs when its parent is gone. A program that a library starts is this one's
        // child, however it goes about it.
        #[cfg(target_os = "linux")]
        {
            nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
            nix::sys::prctl::set_child_subreaper(true)?;
        }
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let kept = Rc::new(KeptFiles::new(&file)?);
        let (file, note) = (Rc::new(file), Rc::new(Held::new(Note::FIRST)));
        Ok(Some(Self { file, note, others: Rc::default(), kept, blamed: Rc::default(), id: process::id() }))
    }

    fn write(&self, change: impl FnOnce(&mut Note)) {
        // A copy of this process that a library made has no part in the run.
        if process::id() != self.id {
            end_here();
        }
        let mut note = self.note.get();
        change(&mut note);
        note.number = note.number.wrapping_add(1);
        self.note.set(note);
        // A note that can't be written is one that is not taken: the parent then sees a case that lasts too long.
        let _ = self.file.write_all_at(&note.bytes(), 0);
    }

    /// Sees what the code that was at work did beside its work; its case has no number then. Programs that it started end.
    fn look(&self) {
        let note = self.note.get();
        let blame = |what: String| {
            self.blamed.borrow_mut().entry(note.case).or_insert(what);
        };
        match self.kept.restore(&self.file, note.records_B) {
            Ok(false) => {}
            Ok(true) => blame(WRITES.to_owned()),
            Err(_) => {
                self.write(|note| note.is_closed = 1);
                end_here();
            }
        }
        if contained::end_children() {
            blame(format!("starts programs: {STARTS}"));
        }
        if self.kept.printed_B() > MOST_PRINTED_B {
            end_here();
        }
    }

    /// So many bytes of records were written.
    pub(super) fn wrote(&self, records_B: usize) {
        self.write(|note| note.records_B += records_B as u64);
    }

    fn is_at_work(&self, case: u32, limit: Duration) {
        self.look();
        let limit_ms = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
        self.write(|note| (note.case, note.limit_ms) = (case, limit_ms));
    }

    /// No library's code is at work now.
    pub(super) fn rests(&self) {
        self.look();
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
        let threads = self.watch.others.are_of(&self.provider).then(|| format!("starts threads: {STARTS}"));
        let cause = threads.or_else(|| self.watch.blamed.borrow().get(&self.case).cloned());
        cause.map_or(checked, |cause| Err(format!("library {} {cause}", self.provider)))
    }

    fn beat(&mut self) {
        if self.last.elapsed() >= BEAT {
            self.note();
        }
    }
}

/// Ends this process at once.
fn end_here() -> ! {
    let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
    process::abort()
}
