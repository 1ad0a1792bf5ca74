//! Cortex-M33: in order, one instruction a cycle and a second, short one beside it in few cases; results of loads, products
//! and shifted operands come a cycle later.

use super::pipeline::{Pipeline, Range, Ready, follows};
use crate::error::Error;
use crate::instruction::{Class, Form, Instruction, Registers};
use crate::rules::Rules;

pub struct Dual {
    rules: Numbers,
    /// When the next instruction may issue.
    next: u64,
    /// Values for any use.
    ready: Ready,
    /// Values for a sum's third operand and for a store's data.
    ready_late: Ready,
    open: u64,
    previous: Option<Instruction>,
    /// Whether the one before issued beside its own predecessor, and whether that had set the flags.
    paired: Option<bool>,
}

#[derive(Clone, Debug)]
struct Numbers {
    arithmetic: u64,
    latency: u64,
    latency_two_stages: u64,
    latency_load: u64,
    latency_load_to_store: u64,
    two_stages_with_flags: u64,
    divide: Range,
    load: u64,
    store: u64,
    multiple_first: u64,
    branch_not_taken: u64,
    refill: u64,
    refill_paired: u64,
    refill_paired_after_flags: u64,
    refill_indirect: u64,
    refill_load: u64,
    table_branch: u64,
    special: u64,
}

impl Dual {
    pub fn new(rules: &mut Rules) -> Result<Self, Error> {
        let numbers = Numbers {
            arithmetic: rules.take("arithmetic")?,
            latency: rules.take("latency")?,
            latency_two_stages: rules.take("latency_two_stages")?,
            latency_load: rules.take("latency_load")?,
            latency_load_to_store: rules.take("latency_load_to_store")?,
            two_stages_with_flags: rules.take("two_stages_with_flags")?,
            divide: Range::take(rules, "divide")?,
            load: rules.take("load")?,
            store: rules.take("store")?,
            multiple_first: rules.take("multiple_first")?,
            branch_not_taken: rules.take("branch_not_taken")?,
            refill: rules.take("refill")?,
            refill_paired: rules.take("refill_paired")?,
            refill_paired_after_flags: rules.take("refill_paired_after_flags")?,
            refill_indirect: rules.take("refill_indirect")?,
            refill_load: rules.take("refill_load")?,
            table_branch: rules.take("table_branch")?,
            special: rules.take("special")?,
        };
        Ok(Self {
            rules: numbers,
            next: 0,
            ready: Ready::new(),
            ready_late: Ready::new(),
            open: 0,
            previous: None,
            paired: None,
        })
    }

    /// Cycles until the next instruction may issue.
    fn cost(&mut self, instruction: &Instruction) -> u64 {
        let rules = &self.rules;
        let transfers = u64::from(instruction.transfers);
        let sets_flags = instruction.writes.meets(Registers::FLAGS);
        match (instruction.class, instruction.form) {
            (Class::Divide, _) => {
                self.open += rules.divide.open();
                rules.divide.middle()
            }
            (Class::Load | Class::Store, _) if transfers > 1 => transfers,
            (Class::Load, _) => rules.load,
            (Class::Store, _) => rules.store,
            (Class::LoadMultiple | Class::StoreMultiple, _) => rules.multiple_first + transfers,
            (Class::Branch, Form::Table) => rules.table_branch,
            (Class::Branch, _) => rules.branch_not_taken,
            (Class::System, Form::Special) => rules.special,
            (Class::Multiply, Form::Product) | (Class::Arithmetic, Form::ShiftedConstant) if sets_flags => {
                rules.two_stages_with_flags
            }
            _ => rules.arithmetic,
        }
    }

    fn is_two_stages(instruction: &Instruction) -> bool {
        instruction.class == Class::Multiply
            || matches!(
                instruction.form,
                Form::ShiftedRegister | Form::ShiftedConstant | Form::ExtendAdd | Form::Parallel
            )
    }

    /// Whether the value comes out of the stage of sums, from where a sum or a store takes it early.
    fn is_sum(instruction: &Instruction) -> bool {
        instruction.class == Class::Multiply
            || matches!(instruction.form, Form::ShiftedRegister | Form::ShiftedConstant | Form::ExtendAdd)
    }

    /// What may issue beside a short instruction before it.
    fn may_pair(&self, instruction: &Instruction) -> bool {
        let Some(before) = &self.previous else { return false };
        let is_second = matches!(instruction.form, Form::Nop | Form::IfThen) || instruction.class == Class::Branch;
        let is_call = matches!(instruction.form, Form::IndirectCall | Form::Call);
        is_second
            && !is_call
            && !instruction.is_wide()
            && !before.is_wide()
            && self.paired.is_none()
            && follows(before, instruction)
            && before.class != Class::Branch
    }

    fn write(&mut self, instruction: &Instruction, issued: u64) {
        let rules = &self.rules;
        let results = instruction.writes.without(instruction.write_back).without(Registers::FLAGS);
        match instruction.class {
            Class::Load => {
                self.ready.set(results, issued + rules.latency_load);
                self.ready_late.set(results, issued + rules.latency_load_to_store);
            }
            Class::LoadMultiple => {
                for (place, number) in (0..).zip(results.numbers()) {
                    let loaded = Registers(1 << number);
                    self.ready.set(loaded, issued + place + rules.latency_load);
                    self.ready_late.set(loaded, issued + place + rules.latency_load_to_store);
                }
            }
            _ => {
                let two = Self::is_two_stages(instruction);
                let latency = if two { rules.latency_two_stages } else { rules.latency };
                let late = if Self::is_sum(instruction) { rules.latency } else { latency };
                self.ready.set(results, issued + latency);
                self.ready_late.set(results, issued + late);
            }
        }
        self.ready.set(instruction.write_back, issued + rules.latency);
        self.ready_late.set(instruction.write_back, issued + rules.latency);
        if instruction.writes.meets(Registers::FLAGS) {
            let is_late = instruction.form == Form::ShiftedRegister;
            let latency = if is_late { rules.latency_two_stages } else { rules.latency };
            self.ready.set(Registers::FLAGS, issued + latency);
        }
    }
}

impl Pipeline for Dual {
    fn step(&mut self, instruction: &Instruction) {
        if let Some(before) = self.previous
            && !follows(&before, instruction)
        {
            self.next += match (before.form, self.paired) {
                _ if before.loads_pc() => self.rules.refill_load,
                (Form::Table, _) => 0,
                (Form::Indirect | Form::IndirectCall, None) => self.rules.refill_indirect,
                (_, Some(true)) => self.rules.refill_paired_after_flags,
                (_, Some(false)) => self.rules.refill_paired,
                (_, None) => self.rules.refill,
            };
        }
        if self.may_pair(instruction) {
            self.paired = self.previous.as_ref().map(|before| before.writes.meets(Registers::FLAGS));
            self.previous = Some(*instruction);
            return;
        }
        let is_store = matches!(instruction.class, Class::Store | Class::StoreMultiple);
        let late = if is_store { instruction.reads.without(instruction.address_reads) } else { instruction.sum_reads };
        let early = if is_store { instruction.address_reads } else { instruction.reads.without(instruction.sum_reads) };
        let issued = self.next.max(self.ready.of(early)).max(self.ready_late.of(late));
        self.next = issued + self.cost(instruction);
        self.write(instruction, issued);
        self.paired = None;
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
}
