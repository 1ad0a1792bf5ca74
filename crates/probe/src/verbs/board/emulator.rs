//! The emulator: found, started with an image, listened to, and ended where the image hangs.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wattlock_terminal::failure::Failure;

use super::cores::Core;
use super::elf::Layout;

/// An emulator that can count.
pub struct Emulator {
    core: &'static Core,
    /// What it says of itself: `QEMU emulator version 7.2.22 ...`.
    pub version: String,
    /// The plugin that writes what ran.
    plugin: PathBuf,
    limit: Duration,
}

/// How an image came to its end.
pub enum Ended {
    /// It said that it was done.
    Done,
    /// It said nothing more, for so long.
    Hung(Duration),
    /// The emulator ended, with these last words.
    Gone(String),
}

/// What an image did.
pub struct Run {
    /// Its lines.
    pub lines: Vec<String>,
    /// How it ended.
    pub ended: Ended,
    /// What the plugin wrote.
    pub trace: Vec<u8>,
}

impl Emulator {
    /// The emulator of a core, tried.
    ///
    /// # Errors
    /// Code 10, that it is missing, with the command that brings it.
    pub fn find(
        core: &'static Core,
        plugin: impl FnOnce(&str) -> Result<PathBuf, Failure>,
        limit: Duration,
    ) -> Result<Self, Failure> {
        let missing = |why: String| {
            let hint = format!("get it with `apt install {}`", core.package);
            Failure::new(10, format!("{} {why}", core.emulator)).hint(hint)
        };
        let answer = Command::new(core.emulator).arg("--version").output();
        let answer = answer.map_err(|error| missing(format!("doesn't run ({error}), which {} needs", core.name)))?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let version = text.lines().next().filter(|line| line.starts_with("QEMU emulator version "));
        let version = version.ok_or_else(|| missing("does not say its version".to_owned()))?.to_owned();
        let plugin = plugin(&version)?;
        Ok(Self { core, version, plugin, limit })
    }

    /// The plugin's file.
    pub fn plugin(&self) -> &Path {
        &self.plugin
    }

    /// Runs an image up to its end or its limit.
    ///
    /// * `loads`: the trace holds the loads from addresses from the one to below the other.
    ///
    /// # Errors
    /// That it can't be started.
    pub fn run(&self, layout: &Layout, image: &[u8], loads: Option<(u32, u32)>) -> Result<Run, String> {
        let folder = tempfile::Builder::new().prefix("wattlock-board-").tempdir().map_err(|error| error.to_string())?;
        let (file, trace) = (folder.path().join("image.elf"), folder.path().join("trace"));
        fs::write(&file, image).map_err(|error| error.to_string())?;
        let markers = [layout.address("wattlock_count_begin")?, layout.address("wattlock_count_end")?];
        let loads = loads.map(|(low, high)| format!(",loads={low:#x}:{high:#x}")).unwrap_or_default();
        let plugin = format!(
            "{},out={},begin={:#x},end={:#x}{loads}",
            self.plugin.display(),
            trace.display(),
            markers[0],
            markers[1]
        );
        let mut child = Command::new(self.core.emulator)
            .args(["-M", self.core.machine])
            .args(self.core.options)
            .args(["-display", "none", "-serial", "null", "-monitor", "none", "-icount", "shift=0"])
            .args(["-chardev", "stdio,id=console,signal=off"])
            .args(["-semihosting-config", "enable=on,target=native,chardev=console"])
            .args(["-plugin", &plugin, "-kernel"])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.core.emulator))?;
        let (lines, ended) = self.listen(&mut child);
        let _ = child.wait();
        Ok(Run { lines, ended, trace: fs::read(&trace).unwrap_or_default() })
    }

    fn listen(&self, child: &mut Child) -> (Vec<String>, Ended) {
        let heard = lines_of(child);
        let last_words = last_words_of(child);
        let mut lines: Vec<String> = Vec::new();
        let is_hung = loop {
            match heard.recv_timeout(self.limit) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Timeout) => break true,
                Err(RecvTimeoutError::Disconnected) => break false,
            }
        };
        if is_hung {
            let _ = child.kill();
        }
        let _ = child.wait();
        let last_words = last_words.join().unwrap_or_default();
        let ended = match (is_hung, lines.last().map(String::as_str)) {
            (true, _) => Ended::Hung(self.limit),
            (false, Some("done")) => Ended::Done,
            (false, _) => Ended::Gone(last_words),
        };
        (lines, ended)
    }
}

/// The lines that a child writes, as they come.
pub fn lines_of(child: &mut Child) -> Receiver<String> {
    let (send, heard) = channel();
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                if send.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() {
                    break;
                }
            }
        });
    }
    heard
}

/// The last line that a child writes to its standard error, when it has ended; empty where it writes none.
pub fn last_words_of(child: &mut Child) -> JoinHandle<String> {
    let errors = child.stderr.take();
    thread::spawn(move || {
        let mut text = String::new();
        let _ = errors.map(|mut errors| errors.read_to_string(&mut text));
        text.trim().lines().next_back().unwrap_or_default().to_owned()
    })
}
