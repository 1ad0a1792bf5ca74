//! The decoders against GNU objdump, on the compiled core library of Rust's targets: each instruction's length and class, and
//! for the common forms the registers that it reads and writes.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::PathBuf;
use std::process::Command;

use wattlock_cores::{Class, Instruction, rv32, thumb};
use wattlock_test_tools::{is_installed, missing};

/// One line of a disassembly.
struct Line {
    bytes: Vec<u8>,
    mnemonic: String,
    operands: String,
}

/// The compiled core library of a target; nothing where it is missing.
fn library(target: &str) -> Option<PathBuf> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let folder =
        PathBuf::from(String::from_utf8(sysroot.stdout).ok()?.trim()).join("lib/rustlib").join(target).join("lib");
    let found = std::fs::read_dir(folder).ok().and_then(|files| {
        let mut paths = files.flatten().map(|file| file.path());
        paths.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libcore-")))
    });
    if found.is_none() {
        missing(&format!("the Rust target {target} (rustup target add {target})"));
    }
    found
}

fn disassembled(objdump: &str, package: &str, target: &str, of_bytes: fn(&str) -> Vec<u8>) -> Vec<Line> {
    if !is_installed(objdump, package) {
        return Vec::new();
    }
    let Some(library) = library(target) else { return Vec::new() };
    let options: &[&str] = if objdump.starts_with("riscv") { &["-d", "-M", "no-aliases"] } else { &["-d"] };
    let output = Command::new(objdump).args(options).arg(library).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|line| {
        let mut columns = line.split('\t');
        let (place, bytes, mnemonic) = (columns.next()?, columns.next()?, columns.next()?);
        let is_code = place.trim_end().ends_with(':') && !mnemonic.starts_with('.') && !mnemonic.starts_with('<');
        is_code.then(|| Line {
            bytes: of_bytes(bytes),
            mnemonic: mnemonic.trim().to_owned(),
            operands: columns.collect::<Vec<_>>().join(" "),
        })
    });
    lines.collect()
}

/// Halfwords, as objdump prints Thumb.
fn halves(text: &str) -> Vec<u8> {
    text.split_whitespace().flat_map(|half| u16::from_str_radix(half, 16).unwrap().to_le_bytes()).collect()
}

/// One number, as it prints RISC-V.
fn number(text: &str) -> Vec<u8> {
    let value = u32::from_str_radix(text.trim(), 16).unwrap().to_le_bytes();
    value[..text.trim().len() / 2].to_vec()
}

fn thumb_class(line: &Line) -> Option<Class> {
    let word = line.mnemonic.trim_end_matches(".w").trim_end_matches(".n");
    let starts = |words: &[&str]| words.iter().any(|start| word.starts_with(start));
    let class = match word {
        _ if starts(&["ldm", "pop"]) => match (word, line.operands.contains(',') || line.operands.contains('-')) {
            // `pop` of one register by a wide instruction is a load with write-back.
            ("pop", false) if line.bytes.len() == 4 => Class::Load,
            _ => Class::LoadMultiple,
        },
        _ if starts(&["stm", "push"]) => match (word, line.operands.contains(',') || line.operands.contains('-')) {
            ("push", false) if line.bytes.len() == 4 => Class::Store,
            _ => Class::StoreMultiple,
        },
        _ if starts(&["ldr", "lda"]) => Class::Load,
        _ if starts(&["str", "stl"]) => Class::Store,
        _ if starts(&["sdiv", "udiv"]) => Class::Divide,
        _ if starts(&["mul", "mla", "mls", "smul", "umul", "smla", "umla", "umaal", "smmul", "smmla", "smlal"]) => {
            Class::Multiply
        }
        _ if starts(&[
            "nop", "it", "dmb", "dsb", "isb", "udf", "bkpt", "mrs", "msr", "cps", "svc", "yield", "wf", "sev", "clrex",
            "pld",
        ]) =>
        {
            Class::System
        }
        _ if starts(&["bic", "bfi", "bfc"]) => Class::Arithmetic,
        _ if starts(&["cb", "tbb", "tbh", "b"]) => Class::Branch,
        "mov" | "add" if line.operands.starts_with("pc,") => Class::Branch,
        _ if starts(&["v"]) => return None,
        _ => Class::Arithmetic,
    };
    Some(class)
}

fn rv32_class(line: &Line) -> Class {
    let word = line.mnemonic.trim_start_matches("c.");
    match word {
        "lw" | "lh" | "lhu" | "lb" | "lbu" | "lwsp" => Class::Load,
        "sw" | "sh" | "sb" | "swsp" => Class::Store,
        "beq" | "bne" | "blt" | "bge" | "bltu" | "bgeu" | "beqz" | "bnez" | "j" | "jal" | "jr" | "jalr" => {
            Class::Branch
        }
        _ if word.starts_with("mul") => Class::Multiply,
        _ if word.starts_with("div") || word.starts_with("rem") => Class::Divide,
        _ if word.starts_with("csr") || word.starts_with("fence") || word.starts_with("e") || word == "unimp" => {
            Class::System
        }
        _ => Class::Arithmetic,
    }
}

/// The registers that an operand names, as bits.
fn registers(text: &str, number: fn(&str) -> Option<u32>) -> u64 {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter_map(number).fold(0, |found, register| found | 1 << register)
}

fn thumb_register(word: &str) -> Option<u32> {
    match word {
        "sl" => Some(10),
        "fp" => Some(11),
        "ip" => Some(12),
        "sp" => Some(13),
        "lr" => Some(14),
        _ => word.strip_prefix('r')?.parse().ok().filter(|number| *number < 13),
    }
}

fn rv32_register(word: &str) -> Option<u32> {
    let after = |letter: char, from: u32| word.strip_prefix(letter)?.parse::<u32>().ok().map(|number| number + from);
    match word {
        "ra" => Some(1),
        "sp" => Some(2),
        "gp" => Some(3),
        "tp" => Some(4),
        "t0" | "t1" | "t2" => after('t', 5),
        "s0" | "s1" => after('s', 8),
        _ => after('a', 10).filter(|_| word.len() == 2).or_else(|| after('s', 16)).or_else(|| after('t', 25)),
    }
}

/// Whether the first operand is what an instruction writes, and the others are all that it reads.
fn reads_and_writes(line: &Line, found: &Instruction, register: fn(&str) -> Option<u32>) -> bool {
    let operands = line.operands.split(['@', ';', '<', '#']).next().unwrap_or_default();
    let first = operands.split(',').next().unwrap_or_default();
    let all = registers(operands, register);
    let others = registers(operands.split_once(',').map_or("", |(_, rest)| rest), register);
    // No program counter on Arm; RISC-V's x15 is a general register.
    let pc = u64::from(register("r0").is_some()) << 15;
    let general = |set: u64| set & 0xffff_ffff & !pc;
    let written = registers(first, register);
    let (reads, writes) = (general(found.reads.0), general(found.writes.0));
    let compares = ["cmp", "cmn", "tst", "teq"].iter().any(|start| line.mnemonic.starts_with(start));
    match found.class {
        Class::Arithmetic if compares => writes == 0 && reads == all,
        Class::Arithmetic => writes == written && reads & !all & !(1 << 13 | 1 << 2) == 0 && reads & others == others,
        Class::Load if found.transfers == 1 => writes & !found.write_back.0 == written && reads & others == others,
        Class::Store if found.transfers == 1 => reads & all == all || line.mnemonic.starts_with("strex"),
        _ => true,
    }
}

#[test]
fn every_thumb_instruction_of_a_library_has_objdumps_length_class_and_registers() {
    let lines = disassembled("arm-none-eabi-objdump", "binutils-arm-none-eabi", "thumbv7em-none-eabi", halves);
    check(&lines, |bytes| thumb::decode(0, bytes, false), thumb_class, thumb_register);
}

#[test]
fn every_risc_v_instruction_of_a_library_has_objdumps_length_class_and_registers() {
    let package = "binutils-riscv64-linux-gnu";
    let lines = disassembled("riscv64-linux-gnu-objdump", package, "riscv32imc-unknown-none-elf", number);
    check(&lines, |bytes| rv32::decode(0, bytes), |line| Some(rv32_class(line)), rv32_register);
}

fn check(
    lines: &[Line],
    decode: impl Fn(&[u8]) -> Option<Instruction>,
    class: impl Fn(&Line) -> Option<Class>,
    register: fn(&str) -> Option<u32>,
) {
    let mut wrong = Vec::new();
    for line in lines {
        let Some(class) = class(line) else { continue };
        let found = decode(&line.bytes);
        let holds = found.is_some_and(|found| {
            usize::from(found.length_B) == line.bytes.len()
                && found.class == class
                && reads_and_writes(line, &found, register)
        });
        if !holds && wrong.len() < 20 {
            wrong.push(format!("{:x?} {} {}: {found:?}", line.bytes, line.mnemonic, line.operands));
        }
    }
    assert!(wrong.is_empty(), "of {}:\n{}", lines.len(), wrong.join("\n"));
    assert!(lines.is_empty() || lines.len() > 10_000, "{} instructions", lines.len());
}
