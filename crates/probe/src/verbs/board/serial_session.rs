//! The cases of one family on a board: its image brought there, its clock looked at, each case repeated over the line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use wattlock_records::{BoardRecord, Case, Plan};
use wattlock_terminal::failure::Failure;

use super::console::Counted;
use super::elf::Layout;
use super::images::{Held, Image, Images, Made};
use super::plan::BoardCase;
use super::serial::{Heard, Port};
use super::serial_board::Board;

/// How often a case is carried out: their spread is what the board's flash, caches and clock do.
const REPEATS: usize = 5;
/// How often a case is begun again whose lines lost bytes.
const TRIES: usize = 3;
/// For an answer to `hello`, and for a port that comes back after the board was flashed.
const ANSWER: Duration = Duration::from_secs(2);
const FLASHED: Duration = Duration::from_secs(10);
/// No core here takes less for a loop's round of a subtraction and a taken branch, nor varies by more.
const LEAST_CYCLES_A_ROUND: u32 = 2;
const GREATEST_SPREAD_PERCENT: u32 = 2;

/// A board on a port.
pub struct BoardSession<'s> {
    /// Its file.
    pub board: &'s Board,
    /// Where it is plugged in.
    pub port: &'s Path,
    /// Of the line.
    pub baud: u32,
    /// The command that brings an image onto the board; without one the user has done it.
    pub flash: Option<&'s str>,
    /// The plan.
    pub plan: &'s Plan,
    /// Where images come from.
    pub images: &'s Images,
    /// The longest silence of a case.
    pub limit: Duration,
    /// The stack of a call; 0 for all that there is.
    pub stack_B: u32,
}

/// A case as measured, or why not.
pub type Outcome = Result<(Case, BoardRecord), String>;

/// What came of a family's cases.
pub struct Family {
    /// How the image was made.
    pub made: Made,
    /// By what an emulator was noticed.
    pub emulator: Option<String>,
    /// How the cases went, by their numbers.
    pub outcomes: BTreeMap<u32, Outcome>,
}

/// An image on the board.
struct Opened {
    port: Port,
    /// What the clock's own reading takes.
    empty: u32,
    emulator: Option<String>,
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
        let image = self.images.image(held)?;
        let layout = Layout::read(&image.bytes)?;
        let first = self.open(&image)?;
        let emulator = first.emulator.clone();
        let (mut opened, mut silence) = (Some(first), String::new());
        let mut outcomes = BTreeMap::new();
        for case in cases {
            let number = case.planned.case;
            let Some(board) = &mut opened else {
                outcomes.insert(number, Err(silence.clone()));
                continue;
            };
            let outcome = match self.repeat(board, case) {
                Ok((counted, ticks)) => {
                    Ok((case.record(&counted.path), self.record(board, (&image, &layout), case, &counted, &ticks)))
                }
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
            let command = self.board.flash_command.replace("{elf}", &image.file.display().to_string());
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
                        return Ok(Opened { port, empty: hello.empty, emulator: hello.emulator() });
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
        let line = case.line(self.plan.seed, self.stack_B);
        let mut ticks = Vec::with_capacity(REPEATS);
        loop {
            let (counted, tick) = self.carry_out(&mut opened.port, case.planned.case, line.trim_end())?;
            if tick == u32::MAX {
                return Err(Stopped::Goes("a call takes more than the board's clock of 24 bits counts".to_owned()));
            }
            ticks.push(tick);
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
                    "fault" | "panic" => last_words = Some(self.last_words(word, rest)),
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

    fn last_words(&self, word: &str, rest: &str) -> String {
        match (word, rest.starts_with("stack"), self.stack_B) {
            ("panic", ..) => format!("the image panicked: {rest}"),
            (_, true, 0) => "the board's stack is too small".to_owned(),
            (_, true, stack_B) => format!("the stack of {stack_B} B is too small"),
            _ => format!("the processor faulted, exception {}", rest.trim_start_matches("other ")),
        }
    }

    fn record(
        &self,
        opened: &Opened,
        (image, layout): (&Image, &Layout),
        case: &BoardCase<'_>,
        counted: &Counted,
        ticks: &[u32],
    ) -> BoardRecord {
        let reach = layout.reach(&counted.functions);
        let cycles = ticks.iter().map(|tick| tick.saturating_sub(opened.empty).into());
        BoardRecord {
            case: case.planned.case,
            process: self.plan.process,
            core: self.board.core.clone(),
            board: self.board.name.clone(),
            clock_Hz: self.board.clock_Hz,
            image_sha256: image.sha256.clone(),
            board_cycles: if opened.emulator.is_some() { Vec::new() } else { cycles.collect() },
            flash_B: reach.flash_B,
            ram_B: counted.state_B + reach.ram_B,
            stack_B: counted.stack_B,
            image_flash_B: layout.sizes().flash_B,
        }
    }
}

/// What an image says of itself: `board IMAGE EMPTY ROUNDS TICKS TICKS TICKS`.
struct Hello {
    image: String,
    empty: u32,
    rounds: u32,
    loops: Vec<u32>,
}

impl Hello {
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split(' ').skip(1);
        let image = fields.next()?.to_owned();
        let mut number = || fields.next()?.parse::<u32>().ok();
        let (empty, rounds) = (number()?, number()?);
        let loops = vec![number()?, number()?, number()?];
        Some(Self { image, empty, rounds, loops })
    }

    /// By what it is seen that the clock is not the core's: one of an emulator follows the host's time.
    fn emulator(&self) -> Option<String> {
        let (least, most) = (self.loops.iter().min()?, self.loops.iter().max()?);
        let per_round = f64::from(*least) / f64::from(self.rounds.max(1));
        if *least < self.rounds.saturating_mul(LEAST_CYCLES_A_ROUND) {
            return Some(format!(
                "a loop's round of two instructions takes {per_round:.2} cycles of the board's clock"
            ));
        }
        let has_spread = u64::from(most - least) * 100 > u64::from(*least) * u64::from(GREATEST_SPREAD_PERCENT);
        has_spread.then(|| format!("the same loop took {least} to {most} cycles of the board's clock"))
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
    /// Board on it: its file in wattlock/data/boards.
    #[arg(long, value_name = "FILE", requires = "serial")]
    pub board: Option<PathBuf>,
    /// Rate of the line [default: the board's].
    #[arg(long, value_name = "BAUD", requires = "serial")]
    pub baud: Option<u32>,
    /// Command that brings the image {elf} onto the board [default: you have done it].
    #[arg(long, value_name = "COMMAND", requires = "serial")]
    pub flash: Option<String>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_not_the_cores_is_noticed() {
        for (loops, noticed) in [
            ("60000 60001 60000", None),
            ("80000 80000 80000", None),
            ("325 325 326", Some("0.02 cycles")),
            ("60000 60000 64000", Some("60000 to 64000")),
        ] {
            let hello = Hello::read(&format!("board aes-0 2 20000 {loops}")).unwrap();
            let emulator = hello.emulator();
            assert_eq!(emulator.is_some(), noticed.is_some(), "{loops}: {emulator:?}");
            assert!(emulator.unwrap_or_default().contains(noticed.unwrap_or_default()));
        }
        assert!(Hello::read("board aes-0 2 20000 325").is_none());
    }
}
