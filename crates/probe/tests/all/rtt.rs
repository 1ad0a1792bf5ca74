//! `wattlock-probe board --rtt` from outside: a program in the place of probe-rs, whose board has something wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use object::read::elf::ElfFile32;
use object::{LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _};
use serde_json::{Value, json};
use wattlock_test_tools as tools;

use crate::board::{board, board_behind, of_kind};
use crate::serial::{has_target, xor};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all");
const BOARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/wattlock/data/boards/nrf52840-dk.toml");
const ARGUMENTS: [&str; 6] = ["--rtt", "nRF52840_xxAA", "--board", BOARD, "--limit", "2"];

/// A folder with a `probe-rs` whose board does this in its first case.
fn programs(what: &str) -> PathBuf {
    programs_by(what, &format!("{HERE}/fake_probe_rs.py {what}"))
}

/// A folder with a `probe-rs` that a program of Python plays.
fn programs_by(name: &str, program_of_python: &str) -> PathBuf {
    let folder = tools::own(&format!("probe-rs-{name}"));
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("probe-rs");
    let text = format!("#!/bin/sh\nexec python3 {program_of_python} {} \"$@\"\n", folder.display());
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// What comes of three cases, and the folder of the program.
fn carried_out(what: &str) -> Option<(Output, PathBuf)> {
    if !(has_target("thumbv7em-none-eabi") && tools::is_installed("python3", "python3")) {
        return None;
    }
    let folder = programs(what);
    Some((board_behind(Some(&folder), &ARGUMENTS, &[xor(0), xor(1), xor(2)]), folder))
}

fn records(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[test]
fn each_case_is_repeated_and_the_image_has_a_block_that_a_debug_probe_finds() {
    let Some((output, folder)) = carried_out("good") else { return };
    let found = records(&output);
    let boards = of_kind(&found, "board");
    assert_eq!(boards.len(), 3, "{found:?}");
    assert_eq!(boards[0]["board_cycles"], json!([1001, 1002, 1003, 1004, 1005]));
    assert_eq!(boards[2]["board_cycles"], json!([1011, 1012, 1013, 1014, 1015]));
    let words = fs::read_to_string(folder.join("words")).unwrap();
    assert_eq!(words, "run --chip nRF52840_xxAA --no-timestamps --no-catch-hardfault");
    let bytes = fs::read(folder.join("image.elf")).unwrap();
    let image: ElfFile32<'_, LittleEndian> = ElfFile32::parse(&*bytes).unwrap();
    let block = image.symbols().find(|symbol| symbol.name() == Ok("_SEGGER_RTT")).unwrap();
    let data = image.section_by_name(".data").unwrap();
    let from = usize::try_from(block.address() - data.address()).unwrap();
    let words: Vec<_> = data.data().unwrap()[from..from + 48].chunks(4).collect();
    assert_eq!(words[..4].concat(), b"SEGGER RTT\0\0\0\0\0\0");
    let number = |at: usize| u32::from_le_bytes(words[at].try_into().unwrap());
    // Channels up and down, the ring's size, nothing written or read, and that it waits while it is full.
    assert_eq!([4, 5, 8, 9, 10, 11].map(number), [1, 0, 1024, 0, 0, 2]);
    assert!((0x2000_0000..0x2004_0000).contains(&number(7)), "{:#x}", number(7));
}

#[test]
fn an_image_on_a_machine_of_qemu_is_heard_by_its_ring() {
    let has_programs =
        tools::is_installed("python3", "python3") && tools::is_installed("qemu-system-arm", "qemu-system-arm");
    if !(has_target("thumbv7em-none-eabi") && has_programs) {
        return;
    }
    let folder = programs_by("qemu", &format!("{HERE}/qemu_probe_rs.py"));
    let file = BOARD.replace("nrf52840-dk", "qemu-netduinoplus2");
    let arguments = ["--rtt", "netduinoplus2", "--board", &file, "--limit", "20"];
    let output = board_behind(Some(&folder), &arguments, &[xor(0), xor(1)]);
    if let Ok(pid) = fs::read_to_string(folder.join("pid")) {
        let _ = Command::new("kill").arg(pid.trim()).status();
    }
    let found = records(&output);
    let boards = of_kind(&found, "board");
    assert_eq!(boards.len(), 2, "{found:?}");
    for record in boards {
        assert_eq!(record["board_cycles"], json!([]), "an emulator's clock is no core's");
        assert!(record["stack_B"].as_u64().unwrap() > 0 && record["flash_B"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_board_on_a_debug_probe_that_goes_wrong_in_a_case_fails_that_case_alone() {
    for (what, reason) in [
        ("hang", "the board said nothing for 2 s"),
        ("fault", "the board's stack is too small"),
        ("gone", "probe-rs ended: Error: the probe was unplugged"),
        ("lose", "the line lost bytes"),
        ("long", "more than the board's clock of 24 bits counts"),
    ] {
        let Some((output, _)) = carried_out(what) else { return };
        let found = records(&output);
        let failures = of_kind(&found, "failure");
        assert_eq!(failures.len(), 1, "{what}: {found:?}");
        assert!(failures[0]["error"].as_str().unwrap().contains(reason), "{what}: {failures:?}");
        let cases: Vec<_> = of_kind(&found, "board").iter().map(|record| record["case"].clone()).collect();
        assert_eq!(cases, [1, 2], "{what}");
    }
}

#[test]
fn without_a_debug_probe_each_case_says_what_probe_rs_said() {
    let Some((output, _)) = carried_out("absent") else { return };
    let found = records(&output);
    let failures = of_kind(&found, "failure");
    assert_eq!(failures.len(), 3);
    assert!(failures[0]["error"].as_str().unwrap().contains("No connected probes were found"), "{failures:?}");
}

#[test]
fn without_probe_rs_the_command_that_installs_it_is_named() {
    if !has_target("thumbv7em-none-eabi") || Command::new("probe-rs").arg("--version").output().is_ok() {
        return;
    }
    let output = board(&ARGUMENTS, &[xor(0)]);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(10) && complaint.contains("cargo install probe-rs-tools"), "{complaint}");
}
