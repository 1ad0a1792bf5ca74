//! The cases of one family on a board with a debug probe: `probe-rs run` flashes its image, whose lines come by RTT.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use wattlock_terminal::failure::Failure;

use super::board_run::{BoardRun, Family, Hello, Outcome, REPEATS};
use super::console::Counted;
use super::elf::Layout;
use super::emulator::{last_words_of, lines_of};
use super::images::{Held, Image};
use super::plan::BoardCase;
use super::serial::unframed;

const PROGRAM: &str = "probe-rs";
/// From its start to the first line: it erases, writes and verifies some hundred kB.
const FLASHED: Duration = Duration::from_secs(120);

/// A board on a debug probe.
pub struct RttSession<'s> {
    /// The board, the plan, the images.
    pub run: BoardRun<'s>,
    /// As probe-rs names it.
    pub chip: &'s str,
    /// The longest silence of a case.
    pub limit: Duration,
}

/// Looks whether probe-rs is there.
///
/// # Errors
/// Code 10: it is not, with the command that brings it.
pub fn find() -> Result<(), Failure> {
    let answer = Command::new(PROGRAM).arg("--version").output();
    answer.map(drop).map_err(|error| {
        Failure::new(10, format!("{PROGRAM} doesn't run ({error}), which RTT needs"))
            .hint("install it with `cargo install probe-rs-tools --locked` (https://probe.rs)")
    })
}

/// What is heard of the case that is under way, and of those before.
struct Hearing<'h> {
    run: &'h BoardRun<'h>,
    opened: (&'h Image, &'h Layout),
    cases: BTreeMap<u32, &'h BoardCase<'h>>,
    hello: Option<Hello>,
    current: Option<u32>,
    counted: Option<String>,
    tick: Option<u32>,
    ticks: BTreeMap<u32, Vec<u32>>,
    decided: BTreeMap<u32, Outcome>,
}

impl RttSession<'_> {
    /// Carries the cases of one image out.
    ///
    /// # Errors
    /// Why there is no image.
    pub fn family(&self, held: Held<'_>, cases: &[BoardCase<'_>]) -> Result<Family, String> {
        let image = self.run.images.image(held)?;
        let layout = Layout::read(&image.bytes)?;
        let (mut outcomes, mut emulator) = (BTreeMap::new(), None);
        loop {
            let pending: Vec<_> = cases.iter().filter(|case| !outcomes.contains_key(&case.planned.case)).collect();
            if pending.is_empty() {
                break;
            }
            match self.carry_out((&image, &layout), &pending) {
                Ok((noticed, decided)) => {
                    emulator = emulator.or(noticed);
                    outcomes.extend(decided);
                }
                // Whatever hinders the image hinders each of its cases.
                Err(error) => outcomes.extend(pending.iter().map(|case| (case.planned.case, Err(error.clone())))),
            }
        }
        Ok(Family { made: image.made, emulator, outcomes })
    }

    /// Runs an image with as many of the cases as its plan has room for; gives those that are decided, one at least.
    fn carry_out(
        &self,
        opened: (&Image, &Layout),
        pending: &[&BoardCase<'_>],
    ) -> Result<(Option<String>, BTreeMap<u32, Outcome>), String> {
        let (image, layout) = opened;
        let (mut plan, mut cases) = (String::new(), BTreeMap::new());
        for case in pending {
            let lines = case.line(self.run.plan.seed, self.run.stack_B).repeat(REPEATS);
            if plan.len() + lines.len() >= layout.plan_room_B() {
                break;
            }
            plan.push_str(&lines);
            cases.insert(case.planned.case, *case);
        }
        let file = tempfile::Builder::new().suffix(".elf").tempfile().map_err(|error| error.to_string())?;
        std::fs::write(file.path(), layout.with_plan(&image.bytes, &plan)?).map_err(|error| error.to_string())?;
        let mut child = Command::new(PROGRAM)
            .args(["run", "--chip", self.chip, "--no-timestamps", "--no-catch-hardfault"])
            .arg(file.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{PROGRAM}: {error}"))?;
        let hearing = Hearing {
            run: &self.run,
            opened,
            cases,
            hello: None,
            current: None,
            counted: None,
            tick: None,
            ticks: BTreeMap::new(),
            decided: BTreeMap::new(),
        };
        hearing.listen(&mut child, self.limit)
    }
}

impl Hearing<'_> {
    /// Listens up to the end of the plan, of the image or of the limit, then ends the child.
    fn listen(
        mut self,
        child: &mut Child,
        limit: Duration,
    ) -> Result<(Option<String>, BTreeMap<u32, Outcome>), String> {
        let heard = lines_of(child);
        let last_words = last_words_of(child);
        let why = loop {
            match heard.recv_timeout(if self.hello.is_some() { limit } else { FLASHED }) {
                // What is no line of the image is of probe-rs.
                Ok(line) => match unframed(line.as_bytes()).map(|line| self.take(&line)) {
                    Some(Some(why)) => break why,
                    _ => continue,
                },
                Err(RecvTimeoutError::Timeout) => break format!("the board said nothing for {} s", limit.as_secs()),
                Err(RecvTimeoutError::Disconnected) => break String::new(),
            }
        };
        let _ = child.kill();
        let _ = child.wait();
        let why = match (why.is_empty(), &*last_words.join().unwrap_or_default()) {
            (false, _) => why,
            (true, "") => format!("{PROGRAM} ended without a word"),
            (true, last) => format!("{PROGRAM} ended: {last}"),
        };
        if let Some(number) = self.current {
            self.decided.entry(number).or_insert(Err(why.clone()));
        }
        if self.decided.is_empty() {
            return Err(why);
        }
        Ok((self.hello.and_then(|hello| hello.emulator()), self.decided))
    }

    /// Takes a line; gives why the image is at its end, where it is.
    fn take(&mut self, line: &str) -> Option<String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "board" => self.hello = Hello::read(line),
            "case" => {
                self.current = rest.parse().ok();
                (self.counted, self.tick) = (None, None);
            }
            "counted" => self.counted = rest.split_once(' ').map(|(_, said)| said.to_owned()),
            "failed" => {
                if let Some((number, reason)) = self.current.zip(rest.split_once(' ').map(|(_, reason)| reason)) {
                    self.decided.entry(number).or_insert(Err(reason.to_owned()));
                }
            }
            "ticks" => self.tick = rest.split(' ').nth(1).and_then(|tick| tick.parse().ok()),
            "end" => self.end(),
            "fault" | "panic" => return Some(self.run.last_words(word, rest)),
            "done" => return Some("the image says nothing of the case".to_owned()),
            _ => {}
        }
        None
    }

    /// The end of one repetition; the last one decides its case.
    fn end(&mut self) {
        let Some((number, case)) = self.current.take().and_then(|number| self.cases.get_key_value(&number)) else {
            return;
        };
        let (Some(tick), Some(said), Some(hello)) = (self.tick.take(), self.counted.take(), &self.hello) else {
            self.decided.entry(*number).or_insert(Err("the line lost bytes".to_owned()));
            return;
        };
        let ticks = self.ticks.entry(*number).or_default();
        let outcome = BoardRun::tick(tick).and_then(|tick| {
            ticks.push(tick);
            let counted = Counted::read(&said).ok_or_else(|| format!("the image said {said:?}"))?;
            Ok((case.record(&counted.path), self.run.record(hello, self.opened, case, &counted, ticks)))
        });
        if outcome.is_err() || ticks.len() == REPEATS {
            self.decided.entry(*number).or_insert(outcome);
        }
    }
}
