//! `wattlock-probe board --serial` from outside: machines of QEMU whose line is a pseudo terminal stand in for boards, one for
//! each kind of UART, and a program that answers as a board with something wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::elf::ElfFile32;
use object::{LittleEndian, Object as _, ObjectSection as _};
use serde_json::Value;
use wattlock_test_tools as tools;

use crate::board::{board, case, failure, of_kind, records};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all");
const BOARDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/wattlock/data/boards");

/// A folder with a board's port; the board ends with it.
struct Desk(PathBuf);

impl Desk {
    fn new(name: &str) -> Self {
        let folder = tools::own(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// The probe's arguments for a board's file, which `command` starts.
    fn arguments(&self, file: &str, command: &str, beside: &[&str]) -> Vec<String> {
        let folder = self.0.display();
        let flash = format!("{HERE}/start_board.sh {folder} {command}");
        let port = format!("{folder}/port");
        let given =
            ["--serial", &port, "--board", &format!("{BOARDS}/{file}.toml"), "--flash", &flash].map(str::to_owned);
        given.into_iter().chain(beside.iter().map(|word| (*word).to_owned())).collect()
    }

    fn carry_out(&self, file: &str, command: &str, beside: &[&str], cases: &[Value]) -> Vec<Value> {
        let arguments = self.arguments(file, command, beside);
        records(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), cases)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if let Ok(pid) = fs::read_to_string(self.0.join("pid")) {
            let _ = Command::new("kill").arg(pid.trim()).status();
        }
    }
}

pub fn has_target(target: &str) -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap().stdout;
    let root = String::from_utf8(sysroot).unwrap();
    let has = Path::new(root.trim()).join("lib/rustlib").join(target).is_dir();
    if !has {
        tools::missing(&format!("the Rust target {target} (rustup target add {target})"));
    }
    has
}

pub fn xor(number: usize) -> Value {
    case(number, "xor", "wattlock", "encrypt", 64)
}

/// Carries a case out on a machine of QEMU, through its UART.
fn machine_carries_a_case_out(file: &str, target: &str, emulator: &str) {
    if !(has_target(target) && tools::is_installed(emulator, emulator)) {
        return;
    }
    let text = fs::read_to_string(format!("{BOARDS}/{file}.toml")).unwrap();
    let command = text.lines().find_map(|line| line.strip_prefix("flash_command = \"")).unwrap().trim_end_matches('"');
    let desk = Desk::new(file);
    let found = desk.carry_out(file, command, &[], &[xor(0), xor(1)]);
    let header = of_kind(&found, "header")[0];
    let noticed = header["fingerprint"]["virtualisation"]["emulator"].as_str().unwrap();
    assert!(noticed.contains("of the board's clock"), "{noticed}");
    let boards = of_kind(&found, "board");
    assert_eq!(boards.len(), 2, "{found:?}");
    for record in boards {
        assert_eq!(record["board"], file);
        assert_eq!(record["board_cycles"], serde_json::json!([]), "an emulator's clock is no core's");
        assert!(record["stack_B"].as_u64().unwrap() > 0 && record["flash_B"].as_u64().unwrap() > 0);
    }
}

#[test]
fn the_uart_of_nrf_carries_cases() {
    machine_carries_a_case_out("qemu-microbit", "thumbv6m-none-eabi", "qemu-system-arm");
}

#[test]
fn the_usart_of_stm32_carries_cases() {
    machine_carries_a_case_out("qemu-netduinoplus2", "thumbv7em-none-eabi", "qemu-system-arm");
}

#[test]
fn the_pl011_carries_cases() {
    machine_carries_a_case_out("qemu-lm3s6965evb", "thumbv7m-none-eabi", "qemu-system-arm");
}

#[test]
fn the_uart_of_cmsdk_carries_cases() {
    machine_carries_a_case_out("qemu-mps2-an385", "thumbv7m-none-eabi", "qemu-system-arm");
}

#[test]
fn a_16550_carries_cases() {
    machine_carries_a_case_out("qemu-virt", "riscv32imc-unknown-none-elf", "qemu-system-riscv32");
}

/// What a board that misbehaves in its first of three cases makes of them.
fn misbehaving(what: &str) -> Option<Vec<Value>> {
    if !(has_target("thumbv7em-none-eabi") && tools::is_installed("python3", "python3")) {
        return None;
    }
    let desk = Desk::new(&format!("fake-board-{what}"));
    let command = format!("python3 {HERE}/fake_board.py {what} {{elf}}");
    Some(desk.carry_out("nrf52840-dk", &command, &["--limit", "2"], &[xor(0), xor(1), xor(2)]))
}

#[test]
fn a_board_that_goes_wrong_in_a_case_fails_that_case_alone() {
    for (what, reason) in [
        ("hang", "the board said nothing for 2 s"),
        ("half", "the line lost bytes 3 times"),
        ("reset", "the board was reset in this case"),
        ("fault", "the board's stack is too small"),
        ("lose", "the line lost bytes 3 times"),
        ("long", "more than the board's clock of 24 bits counts"),
    ] {
        let Some(found) = misbehaving(what) else { return };
        assert!(failure(&found).contains(reason), "{what}: {}", failure(&found));
        let cases: Vec<_> = of_kind(&found, "board").iter().map(|record| record["case"].clone()).collect();
        assert_eq!(cases, [1, 2], "{what}");
    }
}

#[test]
fn a_line_that_was_lost_once_is_asked_for_again() {
    for what in ["lose-once", "deaf"] {
        let Some(found) = misbehaving(what) else { return };
        let boards = of_kind(&found, "board");
        assert_eq!(boards.len(), 3, "{what}: {found:?}");
        // Its clock says one more with each call, 1000 + the call, and its own reading takes 2.
        assert_eq!(boards[0]["board_cycles"], serde_json::json!([1002, 1003, 1004, 1005, 1006]), "{what}");
        assert!(of_kind(&found, "header")[0]["fingerprint"]["virtualisation"]["emulator"].is_null());
    }
}

#[test]
fn a_board_with_another_image_is_told_which_to_flash() {
    let Some(found) = misbehaving("other") else { return };
    let failures = of_kind(&found, "failure");
    assert_eq!(failures.len(), 3);
    let reason = failures[0]["error"].as_str().unwrap();
    assert!(reason.contains("has the image aes-0000000000000000") && reason.contains("probe-rs download"), "{reason}");
}

/// CRC-32 of 252 bytes as the ROM of an RP2040 makes it: not reflected, nothing added at the end.
///
/// # Source
/// Raspberry Pi, RP2040 Datasheet, 2.8.1.3.1.
fn crc_of_rom(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |so_far, byte| {
        let mixed = so_far ^ (u32::from(*byte) << 24);
        (0..8).fold(mixed, |crc, _| if crc >> 31 == 0 { crc << 1 } else { (crc << 1) ^ 0x04c1_1db7 })
    })
}

#[test]
fn an_image_for_a_pico_begins_with_what_its_rom_loads_and_its_vectors_behind_that() {
    if !(has_target("thumbv6m-none-eabi") && tools::is_installed("python3", "python3")) {
        return;
    }
    let desk = Desk::new("pico");
    let command = format!("sh {HERE}/keep_image.sh {} python3 {HERE}/fake_board.py good {{elf}}", desk.0.display());
    let found = desk.carry_out("raspberry-pi-pico", &command, &[], &[xor(0)]);
    assert_eq!(of_kind(&found, "board").len(), 1, "{found:?}");
    let bytes = fs::read(desk.0.join("image.elf")).unwrap();
    let image: ElfFile32<'_, LittleEndian> = ElfFile32::parse(&*bytes).unwrap();
    let section = |name: &str| image.section_by_name(name).unwrap();
    let boot = section(".boot2").data().unwrap();
    assert_eq!((section(".boot2").address(), boot.len()), (0x1000_0000, 256));
    let sum = u32::from_le_bytes(*boot.last_chunk().unwrap());
    assert!(sum == crc_of_rom(&boot[..252]) && boot.iter().any(|byte| *byte != 0));
    let start = section(".start");
    let vectors: Vec<_> =
        start.data().unwrap().chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(start.address(), 0x1000_0100);
    assert!((0x2000_0000..=0x2004_2000).contains(&vectors[0]), "{:#x}", vectors[0]);
    assert!((0x1000_0100..0x1020_0000).contains(&vectors[1]) && vectors[1] & 1 == 1, "{:#x}", vectors[1]);
}

#[test]
fn a_port_or_a_board_that_is_not_there_is_named() {
    for (port, file, code, named) in [
        ("/dev/ttyNONE", "nrf52840-dk", 10, "`ls /dev/ttyACM* /dev/ttyUSB*`"),
        ("/dev/null", "nrf52840-dk", 10, "is no serial port"),
        ("/dev/null", "nrf99", 3, "wattlock/data/boards"),
    ] {
        if !has_target("thumbv7em-none-eabi") {
            return;
        }
        let output = board(&["--serial", port, "--board", &format!("{BOARDS}/{file}.toml")], &[xor(0)]);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && complaint.contains(named), "{complaint}");
    }
}
