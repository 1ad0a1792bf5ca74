//! Cortex-M0 and M0+: each instruction's cycles stand in a table, and none overlap.

use super::pipeline::{Pipeline, follows};
use crate::error::Error;
use crate::instruction::{Class, Form, Instruction, Registers};
use crate::rules::Rules;

pub struct Table {
    arithmetic: u64,
    multiply: u64,
    load: u64,
    store: u64,
    multiple_first: u64,
    multiple_to_pc: u64,
    branch_not_taken: u64,
    branch_taken: u64,
    branch_direct: u64,
    branch_indirect: u64,
    call: u64,
    call_indirect: u64,
    special: u64,
    cycles: u64,
    previous: Option<Instruction>,
}

impl Table {
    pub fn new(rules: &mut Rules) -> Result<Self, Error> {
        Ok(Self {
            arithmetic: rules.take("arithmetic")?,
            multiply: rules.take("multiply")?,
            load: rules.take("load")?,
            store: rules.take("store")?,
            multiple_first: rules.take("multiple_first")?,
            multiple_to_pc: rules.take("multiple_to_pc")?,
            branch_not_taken: rules.take("branch_not_taken")?,
            branch_taken: rules.take("branch_taken")?,
            branch_direct: rules.take("branch_direct")?,
            branch_indirect: rules.take("branch_indirect")?,
            call: rules.take("call")?,
            call_indirect: rules.take("call_indirect")?,
            special: rules.take("special")?,
            cycles: 0,
            previous: None,
        })
    }

    fn cost(&self, instruction: &Instruction) -> u64 {
        let transfers = u64::from(instruction.transfers);
        match (instruction.class, instruction.form) {
            (Class::Multiply, _) => self.multiply,
            (Class::Load, _) => self.load,
            (Class::Store, _) => self.store,
            (Class::LoadMultiple, _) if instruction.writes.meets(Registers::PC) => self.multiple_to_pc + transfers,
            (Class::LoadMultiple | Class::StoreMultiple, _) => self.multiple_first + transfers,
            (Class::Branch, Form::Conditional) => self.branch_not_taken,
            (Class::Branch, Form::Call) => self.call,
            (Class::Branch, Form::IndirectCall) => self.call_indirect,
            (Class::Branch, Form::Indirect) => self.branch_indirect,
            (Class::Branch, _) => self.branch_direct,
            (Class::System, Form::Special) => self.special,
            _ => self.arithmetic,
        }
    }
}

impl Pipeline for Table {
    fn step(&mut self, instruction: &Instruction) {
        let was_taken = |before: &Instruction| before.form == Form::Conditional && !follows(before, instruction);
        if self.previous.as_ref().is_some_and(was_taken) {
            self.cycles += self.branch_taken - self.branch_not_taken;
        }
        self.cycles += self.cost(instruction);
        self.previous = Some(*instruction);
    }

    fn wait(&mut self, cycles: u64) {
        self.cycles += cycles;
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }

    fn open(&self) -> u64 {
        0
    }
}
