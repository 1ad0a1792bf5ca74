//! Thumb and Thumb-2 of Armv6-M, Armv7-M and Armv8-M: lengths, classes and registers, from the encodings of the architecture
//! manuals (DDI 0403E.e, A5; DDI 0553B, C2).

use crate::instruction::{Class, Form, Instruction, Registers};

const STACK: u32 = 13;
const LINK: u32 = 14;

/// Decodes the instruction at `address`.
///
/// * `code`: the bytes from there on.
/// * `in_it`: whether it stands in an `it` block, where 16-bit arithmetic leaves the flags alone.
/// * Returns nothing where the bytes are no instruction of these cores.
#[must_use]
pub fn decode(address: u32, code: &[u8], in_it: bool) -> Option<Instruction> {
    let first = half(code, 0)?;
    if first >> 11 >= 0b11101 {
        return wide(address, first, half(code, 2)?).map(|found| in_condition(found, in_it));
    }
    narrow(address, first, in_it).map(|found| in_condition(found, in_it))
}

/// How many instructions an `it` instruction makes conditional; 0 where it is none.
#[must_use]
pub fn it_length(code: &[u8]) -> u32 {
    match half(code, 0) {
        Some(first) if first & 0xff00 == 0xbf00 && first & 15 != 0 => 4 - (first & 15).trailing_zeros(),
        _ => 0,
    }
}

fn half(code: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes([*code.get(at)?, *code.get(at + 1)?])))
}

fn in_condition(mut found: Instruction, in_it: bool) -> Instruction {
    found.reads = found.reads.and(Registers::FLAGS.when(in_it));
    found
}

const fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

const fn r(number: u32) -> Registers {
    Registers::of(number)
}

/// Registers of a data-processing instruction.
fn data(address: u32, length_B: u8, form: Form, writes: Registers, reads: Registers) -> Instruction {
    Instruction { reads, writes, ..Instruction::new(address, length_B, Class::Arithmetic, form) }
}

/// A load or store of `transfers` registers.
struct Memory {
    is_load: bool,
    form: Form,
    data: Registers,
    base: u32,
    offset: Option<u32>,
    has_write_back: bool,
    is_multiple: bool,
}

impl Memory {
    fn at(self, address: u32, length_B: u8) -> Instruction {
        let class = match (self.is_load, self.is_multiple) {
            (true, false) => Class::Load,
            (true, true) => Class::LoadMultiple,
            (false, false) => Class::Store,
            (false, true) => Class::StoreMultiple,
        };
        let base = if self.form == Form::Literal { Registers::NONE } else { r(self.base) };
        let address_reads = base.and(self.offset.map_or(Registers::NONE, r));
        let write_back = base.when(self.has_write_back);
        Instruction {
            transfers: u8::try_from(self.data.count()).unwrap_or(0),
            reads: address_reads.and(self.data.when(!self.is_load)),
            address_reads,
            writes: self.data.when(self.is_load).and(write_back),
            write_back,
            has_register_offset: self.offset.is_some(),
            ..Instruction::new(address, length_B, class, self.form)
        }
    }
}

fn narrow(address: u32, op: u32, in_it: bool) -> Option<Instruction> {
    let flags = Registers::FLAGS.when(!in_it);
    let (low, middle, high) = (bits(op, 0, 3), bits(op, 3, 3), bits(op, 6, 3));
    let wide_place = bits(op, 8, 3);
    let data = |form, writes, reads| Some(data(address, 2, form, writes, reads));
    match op >> 11 {
        0b00000..=0b00010 => data(Form::Plain, r(low).and(flags), r(middle)),
        0b00011 => {
            let second = r(high).when(op & 0x0400 == 0);
            data(Form::Plain, r(low).and(flags), r(middle).and(second))
        }
        0b00100 => data(Form::Plain, r(wide_place).and(flags), Registers::NONE),
        0b00101 => data(Form::Plain, Registers::FLAGS, r(wide_place)),
        0b00110 | 0b00111 => data(Form::Plain, r(wide_place).and(flags), r(wide_place)),
        0b01000 if op & 0x0400 == 0 => Some(narrow_register(address, op, flags)),
        0b01000 => narrow_special(address, op),
        0b01001 => Some(narrow_memory(address, true, Form::Literal, r(wide_place), 15, None)),
        0b01010 | 0b01011 => {
            let (is_load, form) = match bits(op, 9, 3) {
                0 => (false, Form::Word),
                1 | 2 => (false, Form::Narrow),
                4 => (true, Form::Word),
                _ => (true, Form::Narrow),
            };
            Some(narrow_memory(address, is_load, form, r(low), middle, Some(high)))
        }
        0b01100..=0b10001 => {
            let form = if op >> 12 == 0b0110 { Form::Word } else { Form::Narrow };
            Some(narrow_memory(address, op & 0x0800 != 0, form, r(low), middle, None))
        }
        0b10010 | 0b10011 => Some(narrow_memory(address, op & 0x0800 != 0, Form::Word, r(wide_place), STACK, None)),
        0b10100 => data(Form::Plain, r(wide_place), Registers::NONE),
        0b10101 => data(Form::Plain, r(wide_place), r(STACK)),
        0b10110 | 0b10111 => miscellaneous(address, op),
        0b11000 | 0b11001 => {
            let list = Registers(u64::from(op & 0xff));
            let is_load = op & 0x0800 != 0;
            let has_write_back = !is_load || !list.meets(r(wide_place));
            Some(multiple(address, 2, is_load, wide_place, list, has_write_back))
        }
        0b11010 | 0b11011 => match bits(op, 8, 4) {
            14 | 15 => Some(Instruction::new(address, 2, Class::System, Form::Special)),
            _ => Some(branch(address, 2, Form::Conditional, Registers::FLAGS)),
        },
        _ => Some(branch(address, 2, Form::Direct, Registers::NONE)),
    }
}

fn narrow_memory(
    address: u32,
    is_load: bool,
    form: Form,
    data: Registers,
    base: u32,
    offset: Option<u32>,
) -> Instruction {
    Memory { is_load, form, data, base, offset, has_write_back: false, is_multiple: false }.at(address, 2)
}

fn multiple(
    address: u32,
    length_B: u8,
    is_load: bool,
    base: u32,
    data: Registers,
    has_write_back: bool,
) -> Instruction {
    Memory { is_load, form: Form::Word, data, base, offset: None, has_write_back, is_multiple: true }
        .at(address, length_B)
}

fn branch(address: u32, length_B: u8, form: Form, reads: Registers) -> Instruction {
    let is_call = matches!(form, Form::Call | Form::IndirectCall);
    Instruction { reads, writes: r(LINK).when(is_call), ..Instruction::new(address, length_B, Class::Branch, form) }
}

/// Data processing on low registers: `ands` to `mvns`.
fn narrow_register(address: u32, op: u32, flags: Registers) -> Instruction {
    let (rd, rm) = (r(bits(op, 0, 3)), r(bits(op, 3, 3)));
    let (writes, reads) = match bits(op, 6, 4) {
        5 | 6 => (rd.and(flags), rd.and(rm).and(Registers::FLAGS)),
        8 | 10 | 11 => (Registers::FLAGS, rd.and(rm)),
        9 | 15 => (rd.and(flags), rm),
        _ => (rd.and(flags), rd.and(rm)),
    };
    let mut found = data(address, 2, Form::Plain, writes, reads);
    if bits(op, 6, 4) == 13 {
        found.class = Class::Multiply;
        found.form = Form::Product;
    }
    found
}

/// `add`, `cmp`, `mov` on all registers, `bx`, `blx`.
fn narrow_special(address: u32, op: u32) -> Option<Instruction> {
    let (rd, rm) = (bits(op, 7, 1) << 3 | bits(op, 0, 3), bits(op, 3, 4));
    let found = match bits(op, 8, 2) {
        0 if rd == 15 => branch(address, 2, Form::Indirect, r(rm)),
        0 => data(address, 2, Form::Plain, r(rd), r(rd).and(r(rm)).without(Registers::PC)),
        1 => data(address, 2, Form::Plain, Registers::FLAGS, r(rd).and(r(rm))),
        2 if rd == 15 => branch(address, 2, Form::Indirect, r(rm)),
        2 => data(address, 2, Form::Plain, r(rd), r(rm).without(Registers::PC)),
        _ if op & 0x80 == 0 => branch(address, 2, Form::Indirect, r(rm)),
        _ => branch(address, 2, Form::IndirectCall, r(rm)),
    };
    Some(found)
}

/// The encodings that begin with 1011.
fn miscellaneous(address: u32, op: u32) -> Option<Instruction> {
    let (rd, rm) = (r(bits(op, 0, 3)), r(bits(op, 3, 3)));
    if op & 0xf500 == 0xb100 {
        return Some(branch(address, 2, Form::Conditional, rd));
    }
    let list = Registers(u64::from(op & 0xff));
    let special = |form| Some(Instruction::new(address, 2, Class::System, form));
    match op & 0xff00 {
        0xb000 => Some(data(address, 2, Form::Plain, r(STACK), r(STACK))),
        0xb200 => Some(data(address, 2, Form::Plain, rd, rm)),
        0xb400 | 0xb500 => Some(multiple(address, 2, false, STACK, list.and(r(LINK).when(op & 0x100 != 0)), true)),
        0xbc00 | 0xbd00 => Some(multiple(address, 2, true, STACK, list.and(Registers::PC.when(op & 0x100 != 0)), true)),
        0xb600 | 0xbe00 => special(Form::Special),
        0xba00 if bits(op, 6, 2) == 2 => special(Form::Special),
        0xba00 => Some(data(address, 2, Form::Plain, rd, rm)),
        0xbf00 if op & 15 != 0 => special(Form::IfThen),
        0xbf00 => special(if op & 0xff == 0 { Form::Nop } else { Form::Special }),
        _ => None,
    }
}

fn wide(address: u32, first: u32, second: u32) -> Option<Instruction> {
    let operation = bits(first, 4, 7);
    match bits(first, 11, 2) {
        1 if operation & 0x64 == 0x00 => Some(wide_multiple(address, first, second)),
        1 if operation & 0x64 == 0x04 => Some(dual_or_exclusive(address, first, second)),
        1 if operation & 0x60 == 0x20 => Some(shifted_register(address, first, second)),
        2 if second & 0x8000 != 0 => Some(wide_branch(address, first, second)),
        2 if operation & 0x20 == 0 => Some(modified_constant(address, first, second)),
        2 => plain_constant(address, first, second),
        3 if operation & 0x71 == 0x00 => wide_single(address, first, second, false),
        3 if matches!(operation & 0x67, 1 | 3 | 5) => wide_single(address, first, second, true),
        3 if operation & 0x70 == 0x20 => register_or_parallel(address, first, second),
        3 if operation & 0x70 == 0x30 => multiply_or_divide(address, first, second),
        _ if operation & 0x40 != 0 => Some(Instruction::new(address, 4, Class::Float, Form::Plain)),
        _ => None,
    }
}

fn wide_multiple(address: u32, first: u32, second: u32) -> Instruction {
    let list = Registers(u64::from(second));
    multiple(address, 4, first & 0x10 != 0, bits(first, 0, 4), list, first & 0x20 != 0)
}

fn dual_or_exclusive(address: u32, first: u32, second: u32) -> Instruction {
    let (base, rt) = (bits(first, 0, 4), bits(second, 12, 4));
    let is_load = first & 0x10 != 0;
    let memory = |data, form, has_write_back| {
        Memory { is_load, form, data, base, offset: None, has_write_back, is_multiple: false }.at(address, 4)
    };
    if first & 0xfff0 == 0xe8d0 && second & 0xffe0 == 0xf000 {
        let reads = r(base).and(r(bits(second, 0, 4)));
        return Instruction { address_reads: reads, ..branch(address, 4, Form::Table, reads) };
    }
    // `sg`; `tt` and its kin
    if (first == 0xe97f && second == 0xe97f) || (first & 0xfff0 == 0xe840 && rt == 15) {
        return Instruction::new(address, 4, Class::System, Form::Special);
    }
    if first & 0x0120 == 0 {
        let mut found = memory(r(rt), Form::Narrow, false);
        let is_word = first & 0xffe0 == 0xe840;
        if is_word {
            found.form = Form::Word;
        }
        // A store that tells whether it took place.
        let status = if is_word { bits(second, 8, 4) } else { bits(second, 0, 4) };
        if !is_load && status != 15 {
            found.writes = found.writes.and(r(status));
        }
        return found;
    }
    let both = r(rt).and(r(bits(second, 8, 4)));
    let form = if base == 15 { Form::Literal } else { Form::Word };
    memory(both, form, first & 0x20 != 0)
}

fn shifted_register(address: u32, first: u32, second: u32) -> Instruction {
    let (rn, rd, rm) = (bits(first, 0, 4), bits(second, 8, 4), bits(second, 0, 4));
    let sets_flags = first & 0x10 != 0;
    let operation = bits(first, 5, 4);
    let is_shifted = second & 0x70f0 != 0;
    let writes = r(rd).when(rd != 15).and(Registers::FLAGS.when(sets_flags));
    let first_operand = r(rn).when(rn != 15);
    let carry = Registers::FLAGS.when(matches!(operation, 10 | 11) || second & 0x70f0 == 0x30);
    let form = match operation {
        6 => Form::Parallel,
        // A shift, or a move of a register.
        2 if rn == 15 => Form::Plain,
        _ if is_shifted => Form::ShiftedRegister,
        _ => Form::Plain,
    };
    data(address, 4, form, writes, first_operand.and(r(rm)).and(carry))
}

fn modified_constant(address: u32, first: u32, second: u32) -> Instruction {
    let (rn, rd) = (bits(first, 0, 4), bits(second, 8, 4));
    let operation = bits(first, 5, 4);
    let writes = r(rd).when(rd != 15).and(Registers::FLAGS.when(first & 0x10 != 0));
    let is_rotated = first & 0x0400 != 0 || second & 0x4000 != 0;
    let form = if is_rotated { Form::ShiftedConstant } else { Form::Plain };
    let carry = Registers::FLAGS.when(matches!(operation, 10 | 11));
    data(address, 4, form, writes, r(rn).when(rn != 15).and(carry))
}

fn plain_constant(address: u32, first: u32, second: u32) -> Option<Instruction> {
    let (rn, rd) = (r(bits(first, 0, 4)).without(Registers::PC), r(bits(second, 8, 4)));
    let found = match bits(first, 4, 5) {
        0 | 10 => data(address, 4, Form::Plain, rd, rn),
        4 => data(address, 4, Form::Plain, rd, Registers::NONE),
        12 => data(address, 4, Form::Plain, rd, rd),
        16 | 18 | 24 | 26 => data(address, 4, Form::Parallel, rd, rn),
        20 | 28 => data(address, 4, Form::Plain, rd, rn),
        22 => data(address, 4, Form::Plain, rd, rd.and(rn)),
        _ => return None,
    };
    Some(found)
}

fn wide_branch(address: u32, first: u32, second: u32) -> Instruction {
    let special = |form| Instruction::new(address, 4, Class::System, form);
    match second & 0x5000 {
        0x5000 | 0x4000 => branch(address, 4, Form::Call, Registers::NONE),
        0x1000 => branch(address, 4, Form::Direct, Registers::NONE),
        _ if bits(first, 7, 3) != 7 => branch(address, 4, Form::Conditional, Registers::FLAGS),
        _ if first == 0xf3af && second == 0x8000 => special(Form::Nop),
        _ if first & 0xffe0 == 0xf3e0 => Instruction { writes: r(bits(second, 8, 4)), ..special(Form::Special) },
        _ if first & 0xffe0 == 0xf380 => {
            Instruction { reads: r(bits(first, 0, 4)), writes: Registers::FLAGS, ..special(Form::Special) }
        }
        _ => special(Form::Special),
    }
}

fn wide_single(address: u32, first: u32, second: u32, is_load: bool) -> Option<Instruction> {
    let (base, rt) = (bits(first, 0, 4), bits(second, 12, 4));
    let is_word = bits(first, 5, 2) == 2;
    if is_load && !is_word && rt == 15 {
        // `pld`, `pli`
        return Some(Instruction::new(address, 4, Class::System, Form::Special));
    }
    let form = match (base, is_word) {
        (15, _) if is_load => Form::Literal,
        (_, true) => Form::Word,
        _ => Form::Narrow,
    };
    let has_short_offset = first & 0x80 == 0 && base != 15;
    let offset = (has_short_offset && second & 0x0fc0 == 0).then(|| bits(second, 0, 4));
    if has_short_offset && offset.is_none() && second & 0x0800 == 0 {
        return None;
    }
    let has_write_back = has_short_offset && offset.is_none() && second & 0x0100 != 0;
    Some(Memory { is_load, form, data: r(rt), base, offset, has_write_back, is_multiple: false }.at(address, 4))
}

fn register_or_parallel(address: u32, first: u32, second: u32) -> Option<Instruction> {
    let (rn, rd, rm) = (bits(first, 0, 4), bits(second, 8, 4), bits(second, 0, 4));
    if second & 0xf000 != 0xf000 {
        return None;
    }
    let (one, two) = (bits(first, 4, 4), bits(second, 4, 4));
    let both = r(rn).and(r(rm));
    let found = match (one, two) {
        (0..8, 0) => data(address, 4, Form::Plain, r(rd).and(Registers::FLAGS.when(one & 1 == 1)), both),
        (0..6, 8..) if rn == 15 => data(address, 4, Form::Plain, r(rd), r(rm)),
        (0..6, 8..) => Instruction { sum_reads: r(rn), ..data(address, 4, Form::ExtendAdd, r(rd), both) },
        // Parallel sums set the flags that `sel` reads.
        (8.., 0..8) => data(address, 4, Form::Parallel, r(rd).and(Registers::FLAGS), both),
        (8, 8..12) => data(address, 4, Form::Parallel, r(rd), both),
        (9, 8..12) | (11, 8..12) => data(address, 4, Form::Plain, r(rd), r(rm)),
        (10, 8..12) => data(address, 4, Form::Parallel, r(rd), both.and(Registers::FLAGS)),
        _ => return None,
    };
    Some(found)
}

fn multiply_or_divide(address: u32, first: u32, second: u32) -> Option<Instruction> {
    let (rn, ra, rd, rm) = (bits(first, 0, 4), bits(second, 12, 4), bits(second, 8, 4), bits(second, 0, 4));
    let both = r(rn).and(r(rm));
    let product = |form, writes, sum: Registers| {
        Some(Instruction {
            reads: both.and(sum),
            sum_reads: sum,
            writes,
            ..Instruction::new(address, 4, Class::Multiply, form)
        })
    };
    if first & 0x80 == 0 {
        return match (bits(first, 4, 3), ra) {
            (7, 15) => product(Form::Parallel, r(rd), Registers::NONE),
            (7, _) => product(Form::ProductSum, r(rd), r(ra)),
            (_, 15) => product(Form::Product, r(rd), Registers::NONE),
            _ => product(Form::ProductSum, r(rd), r(ra)),
        };
    }
    let pair = r(ra).and(r(rd));
    match bits(first, 4, 3) {
        0 | 2 => product(Form::LongProduct, pair, Registers::NONE),
        1 | 3 => {
            Some(Instruction { reads: both, writes: r(rd), ..Instruction::new(address, 4, Class::Divide, Form::Plain) })
        }
        4..=6 => product(Form::LongProductSum, pair, pair),
        _ => None,
    }
}
