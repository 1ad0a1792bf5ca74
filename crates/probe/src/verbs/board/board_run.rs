//! What a run on a board has in common, whichever way its image speaks: what it said of its clock, and its records.

use std::collections::BTreeMap;

use wattlock_records::{BoardRecord, Case, Plan};

use super::console::Counted;
use super::elf::Layout;
use super::images::{Image, Images, Made};
use super::plan::BoardCase;
use super::serial_board::Board;

/// How often a case is carried out: their spread is what the board's flash, caches and clock do.
pub const REPEATS: usize = 5;
/// No core here takes less for a loop's round of a subtraction and a taken branch, nor varies by more.
const LEAST_CYCLES_A_ROUND: u32 = 2;
const GREATEST_SPREAD_PERCENT: u32 = 2;

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

/// A plan on a board.
pub struct BoardRun<'s> {
    /// Its file.
    pub board: &'s Board,
    /// The plan.
    pub plan: &'s Plan,
    /// Where images come from.
    pub images: &'s Images,
    /// The stack of a call; 0 for all that there is.
    pub stack_B: u32,
}

impl BoardRun<'_> {
    /// What one repetition's clock said, where the call did not take more than it counts.
    ///
    /// # Errors
    /// That it did.
    pub fn tick(tick: u32) -> Result<u32, String> {
        if tick == u32::MAX {
            return Err("a call takes more than the board's clock of 24 bits counts".to_owned());
        }
        Ok(tick)
    }

    /// Why an image ended in a case, by its last line.
    pub fn last_words(&self, word: &str, rest: &str) -> String {
        match (word, rest.starts_with("stack"), self.stack_B) {
            ("panic", ..) => format!("the image panicked: {rest}"),
            (_, true, 0) => "the board's stack is too small".to_owned(),
            (_, true, stack_B) => format!("the stack of {stack_B} B is too small"),
            _ => format!("the processor faulted, exception {}", rest.trim_start_matches("other ")),
        }
    }

    /// The record of a case.
    ///
    /// * `hello`: what the image said of its clock. `ticks`: one repetition each.
    pub fn record(
        &self,
        hello: &Hello,
        (image, layout): (&Image, &Layout),
        case: &BoardCase<'_>,
        counted: &Counted,
        ticks: &[u32],
    ) -> BoardRecord {
        let reach = layout.reach(&counted.functions);
        let cycles = ticks.iter().map(|tick| tick.saturating_sub(hello.empty).into());
        BoardRecord {
            case: case.planned.case,
            process: self.plan.process,
            core: self.board.core.clone(),
            board: self.board.name.clone(),
            clock_Hz: self.board.clock_Hz,
            image_sha256: image.sha256.clone(),
            board_cycles: if hello.emulator().is_some() { Vec::new() } else { cycles.collect() },
            flash_B: reach.flash_B,
            ram_B: counted.state_B + reach.ram_B,
            stack_B: counted.stack_B,
            image_flash_B: layout.sizes().flash_B,
        }
    }
}

/// What an image says of itself and its clock: `board IMAGE EMPTY ROUNDS TICKS TICKS TICKS`.
pub struct Hello {
    /// The name of the image.
    pub image: String,
    empty: u32,
    rounds: u32,
    loops: Vec<u32>,
}

impl Hello {
    /// Parses the line.
    pub fn read(line: &str) -> Option<Self> {
        let mut fields = line.split(' ').skip(1);
        let image = fields.next()?.to_owned();
        let mut number = || fields.next()?.parse::<u32>().ok();
        let (empty, rounds) = (number()?, number()?);
        let loops = vec![number()?, number()?, number()?];
        Some(Self { image, empty, rounds, loops })
    }

    /// By what it is seen that the clock is not the core's: one of an emulator follows the host's time.
    pub fn emulator(&self) -> Option<String> {
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
