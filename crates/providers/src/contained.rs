//! A process in which a library is at work: what it writes and what it takes of memory is bounded, and what it leaves
//! running ends.
//!
//! It writes into files without names, whose every byte is appended: no program that it leaves behind keeps a pipe open that
//! somebody reads to its end, and nobody who does not read makes it wait.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};

/// A library may print so much in one process.
pub const MOST_PRINTED_B: u64 = 8 << 20;
/// A process may take so much memory beside what its cases need.
pub const MOST_MEMORY_B: u64 = 1 << 30;
/// Of what was printed so much is shown: its last words.
const SHOWN_B: u64 = 16 << 10;

/// By this variable of its environment a program is known that such a process left behind.
const MARK: &str = "WATTLOCK_CONTAINED";
/// How many were started.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// What is said of one that printed more.
#[must_use]
pub fn printed_too_much() -> String {
    format!("printed more than {} MiB", MOST_PRINTED_B >> 20)
}

/// A process with a library in it.
pub struct Contained {
    child: Child,
    mark: String,
    most_memory_B: u64,
    /// What it says on standard output.
    pub said: File,
    /// What it prints on standard error.
    pub printed: File,
}

impl Contained {
    /// Starts it.
    ///
    /// # Errors
    /// That there can be no file without a name, or no process.
    pub fn start(command: &mut Command, most_memory_B: u64) -> io::Result<Self> {
        // What a process leaves behind becomes a child of this one.
        #[cfg(target_os = "linux")]
        nix::sys::prctl::set_child_subreaper(true)?;
        let (said, printed) = (appended()?, appended()?);
        let mark = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        command.env(MARK, &mark).stdout(said.try_clone()?).stderr(printed.try_clone()?);
        Ok(Self { child: command.spawn()?, mark, most_memory_B, said, printed })
    }

    /// How it ended; `None` while it is at work.
    ///
    /// # Errors
    /// What the system says.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// What it takes too much of while it is at work, as the end of a sentence that begins with its name.
    ///
    /// * `said_B`: what it was to say so far.
    ///
    /// # Errors
    /// What the system says.
    pub fn excess(&self, said_B: u64) -> io::Result<Option<String>> {
        // Twice as much, so that it is the code at work that wrote half of it: less is seen between two pieces of work.
        if self.printed.metadata()?.len() > 2 * MOST_PRINTED_B {
            return Ok(Some(printed_too_much()));
        }
        if self.said.metadata()?.len() > said_B + 2 * MOST_PRINTED_B {
            return Ok(Some(format!("wrote more than {} MiB into a file of the probe's", MOST_PRINTED_B >> 20)));
        }
        let is_too_much = resident_B(self.child.id()).is_some_and(|resident_B| resident_B > self.most_memory_B);
        Ok(is_too_much.then(|| format!("needs more than {} MiB", self.most_memory_B >> 20)))
    }

    /// Ends it.
    ///
    /// # Errors
    /// What the system says.
    pub fn end(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }

    /// Ends what it left running once it has ended itself; whether there was any.
    #[must_use]
    pub fn left_any(&self) -> bool {
        let mut is_any = false;
        // What they started in turn becomes this process's once they have ended.
        loop {
            let marked: Vec<i32> = children().into_iter().filter(|id| self.is_marked(*id)).collect();
            if marked.is_empty() {
                return is_any;
            }
            is_any = true;
            marked.into_iter().for_each(end_of);
        }
    }

    fn is_marked(&self, id: i32) -> bool {
        let mark = format!("{MARK}={}", self.mark);
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
    }

    /// The last words that it printed.
    ///
    /// # Errors
    /// What the system says.
    pub fn last_words(&self) -> io::Result<Vec<u8>> {
        let from = self.printed.metadata()?.len().saturating_sub(SHOWN_B);
        read(&self.printed, from, SHOWN_B)
    }
}

/// At most `most_B` bytes of a file.
///
/// # Errors
/// What the system says.
pub fn read(file: &File, from: u64, most_B: u64) -> io::Result<Vec<u8>> {
    let there_B = file.metadata()?.len().saturating_sub(from).min(most_B);
    let mut bytes = vec![0; usize::try_from(there_B).unwrap_or_default()];
    #[cfg(unix)]
    std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, from)?;
    Ok(bytes)
}

/// A file without a name at whose end is written, wherever the writer stands.
fn appended() -> io::Result<File> {
    let file = tempfile::tempfile()?;
    #[cfg(unix)]
    nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_APPEND))?;
    Ok(file)
}

/// Main memory that a process has; `None` where the system does not tell.
fn resident_B(id: u32) -> Option<u64> {
    let pages: u64 = std::fs::read_to_string(format!("/proc/{id}/statm")).ok()?.split(' ').nth(1)?.parse().ok()?;
    #[cfg(unix)]
    let page_B = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok()??;
    #[cfg(not(unix))]
    let page_B = 4096;
    Some(pages * u64::try_from(page_B).ok()?)
}

/// Ends all programs that were started in this process and that nobody has waited for; whether there were any. With those
/// that they started, where this process is told to be their parent then (`PR_SET_CHILD_SUBREAPER`).
#[must_use]
pub fn end_children() -> bool {
    let mut is_any = false;
    while has_children() {
        is_any = true;
        let ids = children();
        if ids.is_empty() {
            // The system does not name them.
            break;
        }
        ids.into_iter().for_each(end_of);
    }
    is_any
}

#[cfg(target_os = "linux")]
fn has_children() -> bool {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    waitid(Id::All, WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn has_children() -> bool {
    false
}

/// The children of this process.
fn children() -> Vec<i32> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()).collect()
}

#[cfg(unix)]
fn end_of(id: i32) {
    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::waitpid;
    let id = nix::unistd::Pid::from_raw(id);
    // One that ended meanwhile is only waited for.
    let _ = kill(id, Signal::SIGKILL);
    let _ = waitpid(id, None);
}

#[cfg(not(unix))]
fn end_of(_: i32) {}
