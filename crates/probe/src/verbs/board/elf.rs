//! An image as a file: its symbols, its sections, its plan, and what a function can reach.

use std::collections::{BTreeMap, BTreeSet};

use object::elf::{
    R_ARM_ABS32, R_ARM_THM_MOVT_ABS, R_ARM_THM_MOVW_ABS_NC, R_RISCV_PCREL_LO12_I, R_RISCV_PCREL_LO12_S, R_RISCV_RELAX,
};
use object::read::elf::ElfFile32;
use object::{
    Architecture, LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags, RelocationTarget,
    SectionKind, SymbolKind,
};

/// What a firmware does when it panics is its own affair: a cipher that checks a bound does not bring it along.
const NOT_FOLLOWED: [&str; 2] = ["panicking", "rust_begin_unwind"];

/// A piece of memory: from, to below.
type Range = (u64, u64);

/// What an image holds, as far as it is looked at.
#[derive(Default)]
pub struct Layout {
    functions: BTreeMap<u64, (u64, bool)>,
    /// Constants and variables that have a name: from, to below.
    objects: BTreeMap<u64, u64>,
    symbols: BTreeMap<String, Range>,
    /// Sections that are flash, and those that are RAM.
    flash: Vec<Range>,
    ram: Vec<Range>,
    /// Who refers to what: place, target.
    references: BTreeMap<u64, Vec<u64>>,
    /// Every address that is referred to, and the ends of sections: where pieces of data begin and end.
    borders: BTreeSet<u64>,
    plan_at: Option<(usize, usize)>,
}

/// Flash and RAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Code and constants, and what variables start with.
    pub flash_B: u64,
    /// Variables.
    pub ram_B: u64,
}

impl Layout {
    /// Reads an image.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let file: ElfFile32<'_, LittleEndian> =
            ElfFile32::parse(bytes).map_err(|error| format!("the image is no ELF file of 32 bits: {error}"))?;
        let is_arm = file.architecture() == Architecture::Arm;
        let mut layout = Self::default();
        for symbol in file.symbols().filter(|symbol| symbol.is_definition() || symbol.size() > 0) {
            let name = symbol.name().unwrap_or_default();
            // The lowest bit of a function's address says Thumb.
            let start =
                if is_arm && symbol.kind() == SymbolKind::Text { symbol.address() & !1 } else { symbol.address() };
            layout.symbols.insert(name.to_owned(), (start, start + symbol.size()));
            if symbol.kind() == SymbolKind::Text && symbol.size() > 0 {
                let is_followed = !NOT_FOLLOWED.iter().any(|part| name.contains(part));
                layout.functions.insert(start, (start + symbol.size(), is_followed));
            }
            if symbol.kind() == SymbolKind::Data && symbol.size() > 0 {
                layout.objects.insert(start, start + symbol.size());
            }
        }
        for section in file.sections() {
            layout.add(&file, &section, is_arm)?;
        }
        Ok(layout)
    }

    fn add<'d>(
        &mut self,
        file: &ElfFile32<'d, LittleEndian>,
        section: &object::read::elf::ElfSection32<'d, '_, LittleEndian>,
        is_arm: bool,
    ) -> Result<(), String> {
        let range = (section.address(), section.address() + section.size());
        match (section.name().unwrap_or_default(), section.kind()) {
            (".stack", _) => return Ok(()),
            // Where all constants can be merged, the linker calls them strings.
            (_, SectionKind::Text | SectionKind::ReadOnlyData | SectionKind::ReadOnlyString) => self.flash.push(range),
            (_, SectionKind::Data) => {
                self.flash.push(range);
                self.ram.push(range);
            }
            (_, SectionKind::UninitializedData) => self.ram.push(range),
            _ => return Ok(()),
        }
        self.borders.insert(range.1);
        let data = section.data().map_err(|error| error.to_string())?;
        if section.name() == Ok(".plan") {
            let offset = section.file_range().map_or(0, |(offset, _)| offset);
            self.plan_at = usize::try_from(offset).ok().zip(usize::try_from(section.size()).ok());
        }
        let mut lower_halves = BTreeMap::new();
        for (place, relocation) in section.relocations() {
            let RelocationTarget::Symbol(index) = relocation.target() else { continue };
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let Ok(symbol) = file.symbol_by_index(index) else { continue };
            let at = usize::try_from(place.wrapping_sub(section.address())).unwrap_or(usize::MAX);
            let word = data.get(at..).and_then(|bytes| bytes.first_chunk()).map(|bytes| u32::from_le_bytes(*bytes));
            let target = match (is_arm, r_type, word) {
                (true, R_ARM_ABS32, Some(word)) => u64::from(word),
                // The two halves of an address, an instruction each: the register says which belong together.
                (true, R_ARM_THM_MOVW_ABS_NC, Some(word)) => {
                    lower_halves.insert(register_of(word), immediate_of(word));
                    continue;
                }
                (true, R_ARM_THM_MOVT_ABS, Some(word)) => {
                    let lower = lower_halves.get(&register_of(word)).copied().unwrap_or_default();
                    u64::from(immediate_of(word) << 16 | lower)
                }
                (true, ..) => symbol.address(),
                // These name the instruction that has the upper part, or nothing.
                (false, R_RISCV_PCREL_LO12_I | R_RISCV_PCREL_LO12_S | R_RISCV_RELAX, _) => continue,
                (false, ..) => symbol.address().wrapping_add_signed(relocation.addend()),
            };
            let target = if is_arm && self.functions.contains_key(&(target & !1)) { target & !1 } else { target };
            self.references.entry(place).or_default().push(target);
            self.borders.insert(target);
        }
        Ok(())
    }

    /// The address of a symbol.
    ///
    /// # Errors
    /// That the image has none of this name.
    pub fn address(&self, name: &str) -> Result<u64, String> {
        self.symbols.get(name).map(|(start, _)| *start).ok_or_else(|| format!("the image has no symbol {name}"))
    }

    /// All that the image takes, its stack and its room for the plan left out.
    pub fn sizes(&self) -> Sizes {
        let sum = |ranges: &[Range]| ranges.iter().map(|(from, to)| to - from).sum::<u64>();
        let plan_B = self.plan_at.map_or(0, |(_, size)| size as u64);
        Sizes { flash_B: sum(&self.flash).saturating_sub(plan_B), ram_B: sum(&self.ram) }
    }

    /// A copy of the image's bytes with a plan; the lines end in a zero byte.
    ///
    /// # Errors
    /// That the plan is too long for its room.
    pub fn with_plan(&self, image: &[u8], plan: &str) -> Result<Vec<u8>, String> {
        let (offset, size) = self.plan_at.ok_or("the image has no section .plan")?;
        if plan.len() >= size {
            return Err(format!("a plan of {} B, the image has room for {size} B", plan.len()));
        }
        let mut copy = image.to_vec();
        let room = copy.get_mut(offset..offset + size).ok_or("the section .plan lies outside of the image")?;
        room.fill(0);
        room[..plan.len()].copy_from_slice(plan.as_bytes());
        Ok(copy)
    }

    /// Bytes of the plan's room.
    pub fn plan_room_B(&self) -> usize {
        self.plan_at.map_or(0, |(_, size)| size)
    }

    /// What functions take with all that they can reach: what they call, the constants and variables that they name.
    ///
    /// What has a name is taken whole; a constant without one ends where the next one that anybody refers to begins.
    pub fn reach(&self, functions: &[u64]) -> Sizes {
        let (mut seen, mut next) = (BTreeSet::new(), functions.to_vec());
        let mut sizes = Sizes::default();
        while let Some(address) = next.pop() {
            let address = if self.function(address & !1).is_some() { address & !1 } else { address };
            let (from, to) = match (self.function(address), self.object(address)) {
                (Some((_, _, false)), _) => continue,
                (Some((from, to, true)), _) | (None, Some((from, to))) => (from, to),
                (None, None) => {
                    let Some(end) = self.borders.range(address + 1..).next() else { continue };
                    (address, *end)
                }
            };
            if !seen.insert(from) {
                continue;
            }
            let holds = |ranges: &[Range]| ranges.iter().any(|(low, high)| (low..high).contains(&&from));
            sizes.flash_B += if holds(&self.flash) { to - from } else { 0 };
            sizes.ram_B += if holds(&self.ram) { to - from } else { 0 };
            next.extend(self.references.range(from..to).flat_map(|(_, targets)| targets));
        }
        sizes
    }

    /// The function around an address: from, to below, whether it is followed.
    fn function(&self, address: u64) -> Option<(u64, u64, bool)> {
        let (from, (to, is_followed)) = self.functions.range(..=address).next_back()?;
        (address < *to).then_some((*from, *to, *is_followed))
    }

    /// The named constant or variable around an address.
    fn object(&self, address: u64) -> Option<Range> {
        let (from, to) = self.objects.range(..=address).next_back()?;
        (address < *to).then_some((*from, *to))
    }
}

/// The register of MOVW or MOVT (encoding T3, T1), as its two halfwords stand in memory.
fn register_of(word: u32) -> u32 {
    word >> 24 & 0xf
}

/// Its constant: imm4:i:imm3:imm8.
fn immediate_of(word: u32) -> u32 {
    let (first, second) = (word & 0xffff, word >> 16);
    (first & 0xf) << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_of_an_address_are_read_from_their_instructions() {
        // movw r3, #0x1234 and movt r3, #0x2000 (GNU as for Cortex-M4: f241 2334, f2c2 0300).
        let (movw, movt) = (0x2334_f241, 0x0300_f2c2);
        assert_eq!((register_of(movw), immediate_of(movw)), (3, 0x1234));
        assert_eq!((register_of(movt), immediate_of(movt)), (3, 0x2000));
    }

    #[test]
    fn a_table_that_has_a_name_is_taken_whole_and_once_wherever_it_is_referred_to() {
        // A function of 16 B that refers into a table of 4 KiB twice, and to 8 B without a name.
        let layout = Layout {
            functions: BTreeMap::from([(0x100, (0x110, true))]),
            objects: BTreeMap::from([(0x1000, 0x2000)]),
            flash: vec![(0x100, 0x2010)],
            references: BTreeMap::from([(0x104, vec![0x1000]), (0x108, vec![0x1400]), (0x10c, vec![0x2000])]),
            borders: BTreeSet::from([0x1000, 0x1400, 0x2000, 0x2008]),
            ..Layout::default()
        };
        assert_eq!(layout.reach(&[0x101]), Sizes { flash_B: 16 + 4096 + 8, ram_B: 0 });
    }

    #[test]
    fn what_is_no_image_is_refused() {
        assert!(Layout::read(b"#!/bin/sh\n").is_err_and(|error| error.starts_with("the image is no ELF file")));
    }
}
