//! What pipelines share: their port, and how they keep time.

use crate::error::Error;
use crate::instruction::{Instruction, Registers};
use crate::rules::Rules;

/// A pipeline under way.
pub trait Pipeline {
    /// One instruction runs. Its predecessor has jumped where the addresses don't join.
    fn step(&mut self, instruction: &Instruction);

    /// The next instruction comes so many cycles late from its memory.
    fn wait(&mut self, cycles: u64);

    /// Cycles so far.
    fn cycles(&self) -> u64;

    /// Of these, how many more or fewer it may be, because operands decide: twice this is the range.
    fn open(&self) -> u64;

    /// Whether it learns from what ran, as a branch predictor does. Then a region counts as it runs a second time: that is
    /// what boards are measured in, and every call of a function takes alike.
    fn learns(&self) -> bool {
        false
    }

    /// Sets the time back to nothing, and keeps what was learnt.
    fn rewind(&mut self) {}
}

/// The least and the most cycles of an instruction whose operands decide: counted in the middle.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Range {
    /// Takes both from a core's rules.
    pub fn take(rules: &mut Rules, name: &str) -> Result<Self, Error> {
        let range = Self { least: rules.take(&format!("{name}_least"))?, most: rules.take(&format!("{name}_most"))? };
        if range.least > range.most {
            return Err(rules.wrong(format!("rules.{name}_least is over rules.{name}_most")));
        }
        Ok(range)
    }

    /// What is counted.
    pub const fn middle(self) -> u64 {
        u64::midpoint(self.least, self.most)
    }

    /// The greatest distance from the middle.
    pub const fn open(self) -> u64 {
        self.most - self.middle()
    }
}

/// When each register may be read.
#[derive(Clone, Debug)]
pub struct Ready([u64; 33]);

impl Ready {
    /// All at once.
    pub const fn new() -> Self {
        Self([0; 33])
    }

    /// When all of these may be.
    pub fn of(&self, registers: Registers) -> u64 {
        registers.numbers().map(|number| self.0[number]).max().unwrap_or(0)
    }

    /// From when on these may be.
    pub fn set(&mut self, registers: Registers, cycle: u64) {
        for number in registers.numbers() {
            self.0[number] = cycle;
        }
    }
}

/// Whether an instruction follows another without a jump.
pub fn follows(previous: &Instruction, instruction: &Instruction) -> bool {
    previous.next_address() == instruction.address
}
