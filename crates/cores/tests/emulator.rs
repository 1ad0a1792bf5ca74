//! The plugin in QEMU: exact counts, also of blocks that end early, and alike in every run.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{call, elf, halves};
use wattlock_cores::{Core, Region, count};
use wattlock_test_tools::{is_installed, own};

/// Where the parts of the image stand.
const CODE: u32 = 0x40;
const BEGINS: u32 = 0x80;
const ENDS: u32 = 0x84;

/// Two regions: a loop of 100 rounds, and a load that faults in the middle of a block, whose handler steps over it.
fn image() -> Vec<u8> {
    let to =
        |from: usize, target: u32| call(u16::try_from(target - (CODE + 2 * u32::try_from(from).unwrap() + 4)).unwrap());
    let mut code: Vec<u16> = Vec::new();
    code.extend(to(0, BEGINS));
    code.extend([0x2064, 0x3801, 0xd1fd]); // movs r0, #100; subs r0, #1; bne
    code.extend(to(code.len(), ENDS));
    code.extend(to(code.len(), BEGINS));
    code.extend([0xbf00, 0x210f, 0x0709, 0x6808, 0xbf00]); // nop; movs r1, #15; lsls r1, #28; ldr r0, [r1]; nop
    code.extend(to(code.len(), ENDS));
    code.extend([0x2018, 0x2102, 0x0409, 0x3126, 0xbeab, 0xe7fe]); // semihosting: the application ends
    code.resize(usize::try_from(BEGINS - CODE).unwrap() / 2, 0xbf00);
    code.extend([0x4770, 0xbf00, 0x4770, 0xbf00]);
    code.extend([0x9806, 0x3002, 0x9006, 0x4770]); // the handler: two bytes further, return
    let mut vectors = vec![0x2000_4000, CODE | 1];
    vectors.resize(16, 0x89);
    let mut bytes: Vec<u8> = vectors.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    bytes.extend(halves(&code));
    elf(0, &bytes, BEGINS, ENDS)
}

/// The plugin, built for this test; nothing where a program is missing.
fn plugin(name: &str) -> Option<PathBuf> {
    if !is_installed("cc", "gcc") || !is_installed("qemu-system-arm", "qemu-system-arm") {
        return None;
    }
    let plugin = own(name);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin/trace.c");
    let built = Command::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&plugin).arg(source).status();
    assert!(built.unwrap().success());
    Some(plugin)
}

fn run(plugin: &Path, name: &str, options: &[&str]) -> (Vec<u8>, Vec<Region>) {
    let (file, out) = (own(&format!("{name}.elf")), own(&format!("{name}.trace")));
    std::fs::write(&file, image()).unwrap();
    let loaded = format!("{},out={},begin={BEGINS:#x},end={ENDS:#x}", plugin.display(), out.display());
    let ended = Command::new("qemu-system-arm")
        .args(["-M", "mps2-an386", "-display", "none", "-serial", "null", "-monitor", "none"])
        .args(["-semihosting-config", "enable=on,target=native", "-plugin", &loaded])
        .args(options)
        .arg("-kernel")
        .arg(file)
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let bytes = std::fs::read(out).unwrap();
    let regions = count(&image(), &bytes[..], &Core::named("cortex-m4").unwrap(), None).unwrap();
    (bytes, regions)
}

#[test]
fn a_loop_of_a_hundred_rounds_has_201_instructions_and_a_fault_counts_its_handler() {
    let Some(plugin) = plugin("counts.so") else { return };
    let (_, regions) = run(&plugin, "counts", &["-icount", "shift=0"]);
    assert_eq!(regions.iter().map(|region| region.instructions).collect::<Vec<_>>(), [201, 9]);
    assert!(regions[0].core_cycles.is_some());
    // What an exception costs is not known to the rules.
    assert_eq!(regions[1].core_cycles, None);
}

#[test]
fn blocks_of_one_instruction_give_the_same_counts() {
    let Some(plugin) = plugin("single.so") else { return };
    let (_, regions) = run(&plugin, "blocks", &["-icount", "shift=0"]);
    let (_, single) = run(&plugin, "single", &["-icount", "shift=0", "-singlestep"]);
    let counted = |regions: &[Region]| -> Vec<_> {
        regions.iter().map(|region| (region.instructions, region.by_class.clone())).collect()
    };
    assert_eq!(counted(&regions), counted(&single));
    assert_eq!(regions[0].core_cycles, single[0].core_cycles);
}

#[test]
fn twenty_runs_give_the_same_bytes() {
    let Some(plugin) = plugin("again.so") else { return };
    let (first, _) = run(&plugin, "again", &["-icount", "shift=0"]);
    for _ in 1..20 {
        assert!(run(&plugin, "again", &["-icount", "shift=0"]).0 == first);
    }
}
