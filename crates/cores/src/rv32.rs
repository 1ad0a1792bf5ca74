//! RV32IMC with the extensions A, Zicsr, Zifencei, Zba, Zbb and Zbs: lengths, classes and registers, from the encodings of
//! The RISC-V Instruction Set Manual, Volume I (20191213), chapters 2, 7, 16 and 24, and its Bitmanip extension 1.0.0.

use crate::instruction::{Class, Form, Instruction, Registers};

const RETURN_ADDRESS: u32 = 1;
const STACK: u32 = 2;

/// Decodes the instruction at `address`; nothing where the bytes from there on are none.
#[must_use]
pub fn decode(address: u32, code: &[u8]) -> Option<Instruction> {
    let first = u32::from(u16::from_le_bytes([*code.first()?, *code.get(1)?]));
    if first & 3 == 3 {
        let second = u32::from(u16::from_le_bytes([*code.get(2)?, *code.get(3)?]));
        return wide(address, first | second << 16);
    }
    compressed(address, first)
}

const fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

/// Register x0 is always ready and never written.
const fn x(number: u32) -> Registers {
    Registers(Registers::of(number).0 & !1)
}

fn found(address: u32, length_B: u8, class: Class, form: Form, writes: Registers, reads: Registers) -> Instruction {
    Instruction { reads, writes, ..Instruction::new(address, length_B, class, form) }
}

fn memory(address: u32, length_B: u8, is_load: bool, is_word: bool, data: u32, base: u32) -> Instruction {
    let form = if is_word { Form::Word } else { Form::Narrow };
    let class = if is_load { Class::Load } else { Class::Store };
    Instruction {
        transfers: 1,
        reads: x(base).and(x(data).when(!is_load)),
        address_reads: x(base),
        writes: x(data).when(is_load),
        ..Instruction::new(address, length_B, class, form)
    }
}

/// A jump that keeps its return address, in whichever register, is a call only where it keeps it in x1 or x5.
fn jump(address: u32, length_B: u8, link: u32, base: Option<u32>) -> Instruction {
    let is_call = matches!(link, 1 | 5);
    let form = match (base.is_some(), is_call) {
        (false, false) => Form::Direct,
        (false, true) => Form::Call,
        (true, false) => Form::Indirect,
        (true, true) => Form::IndirectCall,
    };
    found(address, length_B, Class::Branch, form, x(link), base.map_or(Registers::NONE, x))
}

fn wide(address: u32, op: u32) -> Option<Instruction> {
    let (rd, rs1, rs2) = (bits(op, 7, 5), bits(op, 15, 5), bits(op, 20, 5));
    let function = bits(op, 12, 3);
    let make = |class, form, writes, reads| Some(found(address, 4, class, form, writes, reads));
    let arithmetic = |reads| make(Class::Arithmetic, Form::Plain, x(rd), reads);
    match op & 0x7f {
        0x03 => Some(memory(address, 4, true, function == 2, rd, rs1)),
        0x23 => Some(memory(address, 4, false, function == 2, rs2, rs1)),
        0x13 => arithmetic(x(rs1)),
        0x17 | 0x37 => arithmetic(Registers::NONE),
        0x33 if bits(op, 25, 7) == 1 => {
            let (class, form) = match function {
                0 => (Class::Multiply, Form::Product),
                1..=3 => (Class::Multiply, Form::UpperProduct),
                _ => (Class::Divide, Form::Plain),
            };
            make(class, form, x(rd), x(rs1).and(x(rs2)))
        }
        0x33 => arithmetic(x(rs1).and(x(rs2))),
        0x63 => make(Class::Branch, Form::Conditional, Registers::NONE, x(rs1).and(x(rs2))),
        0x67 => Some(jump(address, 4, rd, Some(rs1))),
        0x6f => Some(jump(address, 4, rd, None)),
        0x0f => make(Class::System, Form::Special, Registers::NONE, Registers::NONE),
        0x73 => make(Class::System, Form::Special, x(rd), x(rs1).when(function & 4 == 0)),
        0x2f => Some(Instruction { writes: x(rd), ..memory(address, 4, bits(op, 27, 5) == 2, true, rs2, rs1) }),
        0x07 | 0x27 | 0x43 | 0x47 | 0x4b | 0x4f | 0x53 => {
            make(Class::Float, Form::Plain, Registers::NONE, Registers::NONE)
        }
        _ => None,
    }
}

fn compressed(address: u32, op: u32) -> Option<Instruction> {
    let (full, second) = (bits(op, 7, 5), bits(op, 2, 5));
    let (short, short_second) = (8 + bits(op, 7, 3), 8 + bits(op, 2, 3));
    let arithmetic = |rd, reads| Some(found(address, 2, Class::Arithmetic, Form::Plain, x(rd), reads));
    let on_zero = || Some(found(address, 2, Class::Branch, Form::Conditional, Registers::NONE, x(short)));
    let float = || Some(Instruction::new(address, 2, Class::Float, Form::Plain));
    match (op & 3, op >> 13) {
        (0, 0) if op == 0 => None,
        (0, 0) => arithmetic(short_second, x(STACK)),
        (0, 2) => Some(memory(address, 2, true, true, short_second, short)),
        (0, 6) => Some(memory(address, 2, false, true, short_second, short)),
        (0, 1 | 3 | 5 | 7) | (2, 1 | 3 | 5 | 7) => float(),
        (1, 0) => arithmetic(full, x(full)),
        (1, 1) => Some(jump(address, 2, RETURN_ADDRESS, None)),
        (1, 2) => arithmetic(full, Registers::NONE),
        (1, 3) => arithmetic(full, x(STACK).when(full == STACK)),
        (1, 4) => arithmetic(short, x(short).and(x(short_second).when(bits(op, 10, 2) == 3))),
        (1, 5) => Some(jump(address, 2, 0, None)),
        (1, 6 | 7) => on_zero(),
        (2, 0) => arithmetic(full, x(full)),
        (2, 2) => Some(memory(address, 2, true, true, full, STACK)),
        (2, 6) => Some(memory(address, 2, false, true, second, STACK)),
        (2, 4) => match (bits(op, 12, 1), full, second) {
            (0, _, 0) => Some(jump(address, 2, 0, Some(full))),
            (0, ..) => arithmetic(full, x(second)),
            (_, 0, 0) => Some(Instruction::new(address, 2, Class::System, Form::Special)),
            (_, _, 0) => Some(jump(address, 2, RETURN_ADDRESS, Some(full))),
            _ => arithmetic(full, x(full).and(x(second))),
        },
        _ => None,
    }
}
