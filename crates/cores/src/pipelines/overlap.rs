//! Cortex-M3 and M4: three stages, one instruction at a time, but a load's second cycle overlaps with the load or store
//! that follows it.

use super::pipeline::{Pipeline, Range, follows};
use crate::error::Error;
use crate::instruction::{Class, Form, Instruction};
use crate::rules::Rules;

pub struct Overlap {
    rules: Numbers,
    cycles: u64,
    open: u64,
    previous: Option<Instruction>,
    /// Wide instructions in a row that don't begin on a word, since one of several cycles; nothing in any other row.
    unaligned_row: Option<u64>,
}

#[derive(Clone, Debug)]
struct Numbers {
    arithmetic: u64,
    product: u64,
    product_sum: u64,
    long_product: Range,
    long_product_sum: Range,
    divide: Range,
    load: u64,
    store: u64,
    store_register_offset: u64,
    indexed_store_after_load: u64,
    multiple_first: u64,
    overlap: u64,
    indexed_loads_overlap: bool,
    nop_after_load: u64,
    address_stall: u64,
    load_after_store: u64,
    branch_not_taken: u64,
    refill_direct: u64,
    refill_indirect: u64,
    refill_load: u64,
    refill_unaligned_wide: u64,
    table_branch: u64,
    it_after_narrow: u64,
    it_after_wide: u64,
    special: u64,
    unaligned_row: u64,
    unaligned_row_stall: u64,
}

impl Overlap {
    pub fn new(rules: &mut Rules) -> Result<Self, Error> {
        let numbers = Numbers {
            arithmetic: rules.take("arithmetic")?,
            product: rules.take("product")?,
            product_sum: rules.take("product_sum")?,
            long_product: Range::take(rules, "long_product")?,
            long_product_sum: Range::take(rules, "long_product_sum")?,
            divide: Range::take(rules, "divide")?,
            load: rules.take("load")?,
            store: rules.take("store")?,
            store_register_offset: rules.take("store_register_offset")?,
            indexed_store_after_load: rules.take("indexed_store_after_load")?,
            multiple_first: rules.take("multiple_first")?,
            overlap: rules.take("overlap")?,
            indexed_loads_overlap: rules.take_switch("indexed_loads_overlap")?,
            nop_after_load: rules.take("nop_after_load")?,
            address_stall: rules.take("address_stall")?,
            load_after_store: rules.take("load_after_store")?,
            branch_not_taken: rules.take("branch_not_taken")?,
            refill_direct: rules.take("refill_direct")?,
            refill_indirect: rules.take("refill_indirect")?,
            refill_load: rules.take("refill_load")?,
            refill_unaligned_wide: rules.take("refill_unaligned_wide")?,
            table_branch: rules.take("table_branch")?,
            it_after_narrow: rules.take("it_after_narrow")?,
            it_after_wide: rules.take("it_after_wide")?,
            special: rules.take("special")?,
            unaligned_row: rules.take("unaligned_row")?,
            unaligned_row_stall: rules.take("unaligned_row_stall")?,
        };
        Ok(Self { rules: numbers, cycles: 0, open: 0, previous: None, unaligned_row: None })
    }

    fn range(&mut self, range: Range) -> u64 {
        self.open += range.open();
        range.middle()
    }

    /// An instruction by itself.
    fn cost(&mut self, instruction: &Instruction) -> u64 {
        let rules = self.rules.clone();
        let transfers = u64::from(instruction.transfers);
        match (instruction.class, instruction.form) {
            (Class::Multiply, Form::LongProduct) => self.range(rules.long_product),
            (Class::Multiply, Form::LongProductSum) => self.range(rules.long_product_sum),
            (Class::Multiply, Form::ProductSum) => rules.product_sum,
            (Class::Multiply, _) => rules.product,
            (Class::Divide, _) => self.range(rules.divide),
            (Class::Load | Class::Store, _) if transfers > 1 => rules.multiple_first + transfers,
            (Class::Load, _) => rules.load,
            (Class::Store, _) if instruction.has_register_offset => rules.store_register_offset,
            (Class::Store, _) => rules.store,
            (Class::LoadMultiple | Class::StoreMultiple, _) => rules.multiple_first + transfers,
            (Class::Branch, Form::Table) => rules.table_branch,
            (Class::Branch, _) => rules.branch_not_taken,
            (Class::System, Form::IfThen) => match &self.previous {
                Some(before) if !before.is_wide() => rules.it_after_narrow,
                _ => rules.it_after_wide,
            },
            (Class::System, Form::Special) => rules.special,
            _ => rules.arithmetic,
        }
    }

    /// While an instruction of several cycles runs, the buffer of fetched words fills up and fetching stops; a row of wide
    /// instructions that lie across words then catches up with it.
    fn follow_row(&mut self, instruction: &Instruction, cost: u64) {
        self.unaligned_row = match self.unaligned_row {
            Some(row) if instruction.is_unaligned_wide() => Some(row + 1),
            _ => (cost > 1).then_some(0),
        };
        if self.unaligned_row == Some(self.rules.unaligned_row) {
            self.cycles += self.rules.unaligned_row_stall;
        }
    }

    /// What a jump before this instruction cost beside the branch's own cycle.
    fn refill(&self, before: &Instruction, target: &Instruction) -> u64 {
        let refill = match before.form {
            _ if before.loads_pc() => self.rules.refill_load,
            Form::Table => 0,
            Form::Indirect | Form::IndirectCall => self.rules.refill_indirect,
            _ => self.rules.refill_direct,
        };
        refill + if target.is_unaligned_wide() { self.rules.refill_unaligned_wide } else { 0 }
    }

    /// Whether the load before gives its second cycle away.
    fn overlaps(&self, before: &Instruction, instruction: &Instruction) -> bool {
        let is_single = matches!(instruction.class, Class::Load | Class::Store) && instruction.transfers == 1;
        if !is_single || instruction.address_reads.meets(before.writes.without(before.write_back)) {
            return false;
        }
        if instruction.class == Class::Store {
            return true;
        }
        let same_base = instruction.write_back.meets(before.write_back);
        let is_indexed = instruction.write_back.count() > 0;
        !is_indexed || (self.rules.indexed_loads_overlap && !same_base)
    }

    /// What this instruction adds to or takes from the one before it.
    fn between(&mut self, before: &Instruction, instruction: &Instruction) -> (u64, u64) {
        let is_memory = instruction.address_reads.count() > 0;
        let is_load = matches!(instruction.class, Class::Load | Class::LoadMultiple);
        let was_single_load = before.class == Class::Load && before.transfers == 1 && !before.loads_pc();
        let (mut more, mut less) = (0, 0);
        let was_computed = matches!(before.class, Class::Arithmetic | Class::Multiply | Class::Divide);
        if is_memory && was_computed && instruction.address_reads.meets(before.writes) {
            more += self.rules.address_stall;
        }
        if was_single_load && self.overlaps(before, instruction) {
            less += self.rules.overlap;
            if instruction.class == Class::Store && instruction.write_back.count() > 0 {
                more += self.rules.indexed_store_after_load;
            }
        }
        let was_offset_store = before.class == Class::Store && before.has_register_offset;
        if (was_single_load || was_offset_store) && instruction.form == Form::Nop {
            less += self.rules.nop_after_load;
        }
        if before.class == Class::Store && !before.has_register_offset && is_load {
            more += self.rules.load_after_store;
        }
        (more, less)
    }
}

impl Pipeline for Overlap {
    fn step(&mut self, instruction: &Instruction) {
        if let Some(before) = self.previous {
            let jumped = !follows(&before, instruction);
            if jumped {
                self.cycles += self.refill(&before, instruction);
                self.unaligned_row = None;
            }
            let (more, less) = self.between(&before, instruction);
            self.cycles = (self.cycles + more).saturating_sub(less);
        }
        let cost = self.cost(instruction);
        self.follow_row(instruction, cost);
        self.cycles += cost;
        self.previous = Some(*instruction);
    }

    fn wait(&mut self, cycles: u64) {
        self.cycles += cycles;
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }

    fn open(&self) -> u64 {
        self.open
    }
}
