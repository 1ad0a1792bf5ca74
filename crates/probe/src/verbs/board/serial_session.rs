//! The cases of one family on a board: its image brought there, its clock looked at, each case repeated over the line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use wattlock_terminal::failure::Failure;

use super::board_run::{BoardRun, Family, Hello, REPEATS};
use super::console::Counted;
use super::elf::Layout;
use super::images::{Held, Image};
use super::plan::BoardCase;
use super::serial::{Heard, Port};

/// How often a case is begun again whose lines lost bytes.
const TRIES: usize = 3;
/// For an answer to `hello`, and for a port that comes back after the board was flashed.
const ANSWER: Duration = Duration::from_secs(2);
const FLASHED: Duration = Duration::from_secs(10);
/// A board on a port.
pub struct BoardSession<'s> {
    /// The board, the plan, the images.
    pub run: BoardRun<'s>,
    /// Where it is plugged in.
    pub port: &'s Path,
    /// Of the line.
    pub baud: u32,
    /// The command that brings an image onto the board; without one the user has done it.
    pub flash: Option<&'s str>,
    /// The longest silence of a case.
    pub limit: Duration,
}

/// An image on the board.
struct Opened {
    port: Port,
    hello: Hello,
}

/// Why a case failed, and whether the board goes on.
enum Stopped {
    /// The image answers.
    Goes(String),
    /// It is silent, or the port is gone.
    Silent(String),
}

impl BoardSession<'_> {
    /// Carries the cases of one image out.
    ///
    /// # Errors
    /// Why there is no image, or not on the board.
    pub fn family(&self, held: Held<'_>, cases: &[BoardCase<'_>]) -> Result<Family, String> {
        let image = self.run.images.image(held)?;
        let layout = Layout::read(&image.bytes)?;
        let first = self.open(&image)?;
        let emulator = first.hello.emulator();
        let (mut opened, mut silence) = (Some(first), String::new());
        let mut outcomes = BTreeMap::new();
        for case in cases {
            let number = case.planned.case;
            let Some(board) = &mut opened else {
                outcomes.insert(number, Err(silence.clone()));
                continue;
            };
            let outcome = match self.repeat(board, case) {
                Ok((counted, ticks)) => Ok((
                    case.record(&counted.path),
                    self.run.record(&board.hello, (&image, &layout), case, &counted, &ticks),
                )),
                Err(Stopped::Goes(reason)) => Err(reason),
                Err(Stopped::Silent(reason)) => {
                    // The port is closed before it is opened again.
                    opened = None;
                    match self.open(&image) {
                        Ok(again) => opened = Some(again),
                        Err(gone) => silence = format!("the board stopped in case {number}; {gone}"),
                    }
                    Err(reason)
                }
            };
            outcomes.insert(number, outcome);
        }
        Ok(Family { made: image.made, emulator, outcomes })
    }

    fn port(&self) -> Result<Port, String> {
        Port::open(self.port, self.baud).map_err(|failure: Failure| {
            let hint = failure.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("{}{hint}", failure.message)
        })
    }

    /// Brings the image onto the board where a command does, and looks at what answers.
    fn open(&self, image: &Image) -> Result<Opened, String> {
        if let Some(command) = self.flash {
            flash(command, &image.file)?;
        }
        let until = Instant::now() + FLASHED;
        let mut port = loop {
            match self.port() {
                Ok(port) => break port,
                Err(_) if self.flash.is_some() && Instant::now() < until => thread::sleep(Duration::from_millis(100)),
                Err(error) => return Err(error),
            }
        };
        let wanted = image.file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let by_hand = || {
            let command = self.run.board.flash_command.replace("{elf}", &image.file.display().to_string());
            format!("flash {} (`{command}`, or by --flash)", image.file.display())
        };
        for _ in 0..TRIES {
            port.say("hello")?;
            let until = Instant::now() + ANSWER;
            while Instant::now() < until {
                match port.hear(ANSWER) {
                    Heard::Line(line) if line.starts_with("board ") => {
                        let hello = Hello::read(&line).ok_or_else(|| format!("the board said {line:?}"))?;
                        if hello.image != wanted {
                            return Err(format!(
                                "the board has the image {}, these cases need {wanted}: {}",
                                hello.image,
                                by_hand()
                            ));
                        }
                        return Ok(Opened { port, hello });
                    }
                    Heard::Gone(reason) => return Err(reason),
                    Heard::Line(_) | Heard::Broken => {}
                    Heard::Nothing => break,
                }
            }
        }
        Err(format!(
            "nothing answers on {} at {} baud: reset the board, or {}",
            self.port.display(),
            self.baud,
            by_hand()
        ))
    }

    /// A case, as often as is wanted; gives what it said last, and the clock of each.
    fn repeat(&self, opened: &mut Opened, case: &BoardCase<'_>) -> Result<(Counted, Vec<u32>), Stopped> {
        let line = case.line(self.run.plan.seed, self.run.stack_B);
        let mut ticks = Vec::with_capacity(REPEATS);
        loop {
            let (counted, tick) = self.carry_out(&mut opened.port, case.planned.case, line.trim_end())?;
            ticks.push(BoardRun::tick(tick).map_err(Stopped::Goes)?);
            if ticks.len() == REPEATS {
                return Ok((counted, ticks));
            }
        }
    }

    fn carry_out(&self, port: &mut Port, number: u32, line: &str) -> Result<(Counted, u32), Stopped> {
        let mut lost = 0;
        for _ in 0..TRIES {
            port.say(line).map_err(Stopped::Silent)?;
            let (mut counted, mut tick, mut last_words, mut is_whole) = (None, None, None, true);
            loop {
                let heard = match port.hear(self.limit) {
                    Heard::Line(heard) => heard,
                    Heard::Broken => {
                        is_whole = false;
                        continue;
                    }
                    // What was lost may have been the last line.
                    Heard::Nothing if !is_whole && is_awake(port) => break,
                    Heard::Nothing => {
                        let seconds = self.limit.as_secs();
                        return Err(Stopped::Silent(format!("the board said nothing for {seconds} s")));
                    }
                    Heard::Gone(reason) => return Err(Stopped::Silent(reason)),
                };
                let (word, rest) = heard.split_once(' ').unwrap_or((&heard, ""));
                match word {
                    "again" => {
                        is_whole = false;
                        break;
                    }
                    "end" => break,
                    "counted" => counted = rest.strip_prefix(&format!("{number} ")).map(|rest| Ok(rest.to_owned())),
                    "failed" => counted = rest.strip_prefix(&format!("{number} ")).map(|rest| Err(rest.to_owned())),
                    "ticks" => tick = rest.split(' ').nth(1).and_then(|tick| tick.parse().ok()),
                    "fault" | "panic" => last_words = Some(self.run.last_words(word, rest)),
                    "wattlock-firmware" => {
                        let reason = last_words.unwrap_or_else(|| "the board was reset in this case".to_owned());
                        return Err(Stopped::Goes(reason));
                    }
                    _ => {}
                }
            }
            match (is_whole, counted, tick) {
                (true, Some(Err(reason)), _) => return Err(Stopped::Goes(reason)),
                (true, Some(Ok(text)), Some(tick)) => {
                    let counted = Counted::read(&text);
                    return counted
                        .map(|counted| (counted, tick))
                        .ok_or(Stopped::Goes(format!("the image said {text:?}")));
                }
                _ => lost += 1,
            }
        }
        Err(Stopped::Goes(format!("the line lost bytes {lost} times; a shorter cable or a lower --baud helps")))
    }
}

/// Whether an image waits for a line.
fn is_awake(port: &mut Port) -> bool {
    port.say("hello").is_ok() && matches!(port.hear(ANSWER), Heard::Line(line) if line.starts_with("board "))
}

/// Runs the command that brings an image onto the board.
fn flash(command: &str, image: &Path) -> Result<(), String> {
    let command = command.replace("{elf}", &image.display().to_string());
    let output = Command::new("sh").args(["-c", &command]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("the command of --flash: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = words.trim().lines().next_back().unwrap_or("it said nothing").to_owned();
    Err(format!("`{command}` failed: {last}"))
}

/// Where a board's port is, and what of it the options say.
#[derive(clap::Args)]
pub struct PortOptions {
    /// Serial port of a board.
    #[arg(long, value_name = "PORT", requires = "board", conflicts_with = "qemu")]
    pub serial: Option<PathBuf>,
    /// Chip on a debug probe, as probe-rs names it: its image speaks by RTT, and probe-rs flashes it.
    #[arg(long, value_name = "CHIP", requires = "board", conflicts_with_all = ["qemu", "serial"])]
    pub rtt: Option<String>,
    /// Board: its file in wattlock/data/boards.
    #[arg(long, value_name = "FILE")]
    pub board: Option<PathBuf>,
    /// Rate of the line [default: the board's].
    #[arg(long, value_name = "BAUD", requires = "serial")]
    pub baud: Option<u32>,
    /// Command that brings the image {elf} onto the board [default: you have done it].
    #[arg(long, value_name = "COMMAND", requires = "serial")]
    pub flash: Option<String>,
}
