//! SiFive E31: five stages, in order, one instruction a cycle, and a branch predictor.

use std::collections::{BTreeMap, VecDeque};

use super::pipeline::{Pipeline, Range, Ready, follows};
use crate::error::Error;
use crate::instruction::{Class, Form, Instruction};
use crate::rules::Rules;

pub struct Scalar {
    rules: Numbers,
    next: u64,
    ready: Ready,
    multiplier_free: u64,
    open: u64,
    previous: Option<Instruction>,
    predictor: Predictor,
}

#[derive(Clone, Debug)]
struct Numbers {
    latency: u64,
    latency_word: u64,
    latency_narrow: u64,
    latency_multiply: u64,
    latency_special: u64,
    divide: Range,
    misprediction: u64,
}

/// A buffer of targets, a table of directions and a stack of returns, all of the manual's sizes.
#[derive(Debug)]
struct Predictor {
    targets: VecDeque<(u32, u32)>,
    target_entries: u64,
    /// How often each branch was taken lately, 0 to 3.
    directions: BTreeMap<u64, u8>,
    direction_entries: u64,
    returns: Vec<u32>,
    return_entries: u64,
}

impl Predictor {
    /// Whether the jump, or its absence, from one instruction to another was foreseen; learns from it.
    fn foresaw(&mut self, from: &Instruction, to: &Instruction) -> bool {
        let taken = !follows(from, to);
        match from.form {
            Form::Call | Form::IndirectCall => {
                self.returns.push(from.next_address());
                if self.returns.len() as u64 > self.return_entries {
                    self.returns.remove(0);
                }
                self.target(from.address, to.address)
            }
            Form::Indirect if from.reads.0 & (1 << 1 | 1 << 5) != 0 => self.returns.pop() == Some(to.address),
            Form::Conditional => {
                let place = u64::from(from.address >> 1) % self.direction_entries;
                let seen = self.directions.entry(place).or_insert(0);
                let foreseen = *seen >= 2;
                *seen = if taken { (*seen + 1).min(3) } else { seen.saturating_sub(1) };
                let known = self.targets.iter().any(|(branch, _)| *branch == from.address);
                if taken {
                    self.target(from.address, to.address);
                }
                (foreseen && known) == taken
            }
            _ => self.target(from.address, to.address),
        }
    }

    fn target(&mut self, from: u32, to: u32) -> bool {
        let known = self.targets.iter().position(|(branch, _)| *branch == from);
        if let Some(place) = known {
            let was = self.targets[place].1;
            self.targets[place].1 = to;
            return was == to;
        }
        self.targets.push_back((from, to));
        if self.targets.len() as u64 > self.target_entries {
            self.targets.pop_front();
        }
        false
    }
}

impl Scalar {
    pub fn new(rules: &mut Rules) -> Result<Self, Error> {
        let predictor = Predictor {
            targets: VecDeque::new(),
            target_entries: rules.take("target_entries")?,
            directions: BTreeMap::new(),
            direction_entries: rules.take("direction_entries")?.max(1),
            returns: Vec::new(),
            return_entries: rules.take("return_entries")?,
        };
        let numbers = Numbers {
            latency: rules.take("latency")?,
            latency_word: rules.take("latency_word")?,
            latency_narrow: rules.take("latency_narrow")?,
            latency_multiply: rules.take("latency_multiply")?,
            latency_special: rules.take("latency_special")?,
            divide: Range::take(rules, "divide")?,
            misprediction: rules.take("misprediction")?,
        };
        Ok(Self {
            rules: numbers,
            next: 0,
            ready: Ready::new(),
            multiplier_free: 0,
            open: 0,
            previous: None,
            predictor,
        })
    }
}

impl Pipeline for Scalar {
    fn step(&mut self, instruction: &Instruction) {
        if let Some(before) = self.previous
            && before.class == Class::Branch
            && !self.predictor.foresaw(&before, instruction)
        {
            self.next += self.rules.misprediction;
        }
        // A result that is still to come may not be overtaken by another of the same register.
        let hazards = instruction.reads.and(instruction.writes);
        let is_product = matches!(instruction.class, Class::Multiply | Class::Divide);
        let free = if is_product { self.multiplier_free } else { 0 };
        let issued = self.next.max(self.ready.of(hazards)).max(free);
        let latency = match (instruction.class, instruction.form) {
            (Class::Load, Form::Word) => self.rules.latency_word,
            (Class::Load, _) => self.rules.latency_narrow,
            (Class::Multiply, _) => self.rules.latency_multiply,
            (Class::Divide, _) => {
                self.open += self.rules.divide.open();
                self.rules.divide.middle()
            }
            (Class::System, _) => self.rules.latency_special,
            _ => self.rules.latency,
        };
        self.ready.set(instruction.writes, issued + latency);
        if is_product {
            self.multiplier_free = issued + latency;
        }
        self.next = issued + 1;
        self.previous = Some(*instruction);
    }

    fn wait(&mut self, cycles: u64) {
        self.next += cycles;
    }

    fn cycles(&self) -> u64 {
        self.next
    }

    fn open(&self) -> u64 {
        self.open
    }

    fn learns(&self) -> bool {
        true
    }

    fn rewind(&mut self) {
        (self.next, self.multiplier_free, self.open) = (0, 0, 0);
        self.ready = Ready::new();
        self.previous = None;
    }
}
