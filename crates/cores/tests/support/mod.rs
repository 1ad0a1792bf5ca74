//! Images and traces that a test writes byte by byte, so that no compiler is wanted.
#![allow(dead_code, reason = "each test file uses some of it")]

use wattlock_cores::{Core, Instruction, thumb};

/// An ELF file for Arm with one segment and the two markers.
pub fn elf(start: u32, code: &[u8], begin: u32, end: u32) -> Vec<u8> {
    let names = b"\0wattlock_count_begin\0wattlock_count_end\0";
    let sections = b"\0.text\0.symtab\0.strtab\0.shstrtab\0";
    let mut symbols = vec![0; 16];
    for (name, address) in [(1_u32, begin), (22, end)] {
        words(&mut symbols, &[name, address | 1, 2]);
        symbols.extend([0x12, 0, 1, 0]);
    }
    let at = |length: usize| u32::try_from(length).expect("a small file");
    let code_at = 52 + 32;
    let symbols_at = code_at + at(code.len()).next_multiple_of(4);
    let names_at = symbols_at + at(symbols.len());
    let sections_at = names_at + at(names.len());
    let headers_at = (sections_at + at(sections.len())).next_multiple_of(4);

    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([2, 0, 40, 0]);
    words(&mut file, &[1, start | 1, 52, headers_at, 0x0500_0000]);
    file.extend([52, 0, 32, 0, 1, 0, 40, 0, 5, 0, 4, 0]);
    words(&mut file, &[1, code_at, start, start, at(code.len()), at(code.len()), 7, 4]);
    file.extend(code);
    file.resize(symbols_at as usize, 0);
    file.extend(symbols);
    file.extend(names);
    file.extend(sections);
    file.resize(headers_at as usize, 0);
    words(&mut file, &[0; 10]);
    words(&mut file, &[1, 1, 6, start, code_at, at(code.len()), 0, 0, 4, 0]);
    words(&mut file, &[7, 2, 0, 0, symbols_at, 48, 3, 1, 4, 16]);
    words(&mut file, &[15, 3, 0, 0, names_at, at(names.len()), 0, 0, 1, 0]);
    words(&mut file, &[23, 3, 0, 0, sections_at, at(sections.len()), 0, 0, 1, 0]);
    file
}

fn words(into: &mut Vec<u8>, words: &[u32]) {
    into.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// A trace of these words.
pub fn trace(entries: &[u32]) -> Vec<u8> {
    let mut file = b"WLTRACE1".to_vec();
    words(&mut file, entries);
    file
}

/// Halfwords as bytes.
pub fn halves(code: &[u16]) -> Vec<u8> {
    code.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// `bl` over so many bytes, counted from behind it.
pub fn call(distance: u16) -> [u16; 2] {
    [0xf000, 0xf800 | distance >> 1]
}

/// Instructions that stand one behind the other.
pub fn decoded(start: u32, code: &[u16]) -> Vec<Instruction> {
    let bytes = halves(code);
    let mut found = Vec::new();
    let mut at = 0;
    let mut conditional = 0_u32;
    while at < bytes.len() {
        let address = start + u32::try_from(at).expect("little code");
        let instruction = thumb::decode(address, &bytes[at..], conditional > 0).expect("an instruction");
        conditional = thumb::it_length(&bytes[at..]).max(conditional.saturating_sub(1));
        at += usize::from(instruction.length_B);
        found.push(instruction);
    }
    found
}

/// Cycles of instructions that run one after the other.
pub fn cycles<'i>(core: &str, run: impl IntoIterator<Item = &'i Instruction>) -> u64 {
    let core = Core::named(core).expect("a known core");
    let mut pipeline = core.pipeline().expect("right rules").expect("rules");
    for instruction in run {
        pipeline.step(instruction);
    }
    pipeline.cycles()
}
