//! Part cycles: a flash's wait states, prefetch and cache, in the order of the accesses.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use support::{elf, halves, trace};
use wattlock_cores::{Core, Part, count};

fn part(changes: &str) -> Part {
    let text = format!(
        "greatest_Hz = 100\n[flash]\nwhere = \"inside\"\nwidth_bits = 64\n[[ranges]]\nname = \"3.3 V\"\n\
         wait_states = [{{ up_to_Hz = 20, count = 0 }}, {{ up_to_Hz = 60, count = 2 }}]\n{changes}"
    );
    Part::from_toml("made-up", &text, 50).unwrap()
}

#[test]
fn a_line_costs_its_wait_states_once() {
    let mut fetch = part("").fetch();
    let late: Vec<u64> = [0, 2, 4, 6, 8, 10, 0].map(|address| fetch.instruction(address, 2, 0)).to_vec();
    assert_eq!(late, [2, 0, 0, 0, 2, 0, 2]);
}

#[test]
fn an_instruction_over_two_lines_waits_for_both() {
    assert_eq!(part("").fetch().instruction(6, 4, 0), 4);
}

#[test]
fn a_prefetched_line_is_late_by_what_is_left_of_its_wait_states() {
    for (now, late) in [(3, 2), (4, 1), (5, 0), (9, 0)] {
        let mut fetch = part("[prefetch]\nblocks = 1\n").fetch();
        assert_eq!(fetch.instruction(0, 2, 0), 2);
        assert_eq!(fetch.instruction(8, 2, now), late, "at {now}");
    }
}

#[test]
fn a_cached_line_is_never_late_until_others_have_driven_it_out() {
    let mut fetch = part("[[caches]]\nholds = \"instructions\"\nlines = 2\nline_B = 8\n").fetch();
    let late: Vec<u64> = [0, 8, 0, 16, 0, 8].map(|address| fetch.instruction(address, 2, 0)).to_vec();
    assert_eq!(late, [2, 2, 0, 2, 0, 2]);
}

#[test]
fn a_direct_mapped_cache_of_both_loses_an_instructions_line_to_a_constant_of_the_same_place() {
    let row = "[[caches]]\nholds = \"both\"\nlines = 8\nline_B = 8\nways = 1\n";
    let mut fetch = part(row).fetch();
    assert_eq!((fetch.instruction(0, 2, 0), fetch.instruction(8, 2, 0)), (2, 2));
    assert_eq!((fetch.load(72), fetch.load(0)), (2, 0));
    assert_eq!((fetch.instruction(0, 2, 0), fetch.instruction(8, 2, 0)), (0, 2));
}

#[test]
fn every_parts_file_gives_its_flash_or_says_why_not() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/wattlock/data/parts");
    let known = ["stm32f103", "stm32f407", "stm32l476", "stm32u575", "samd21"];
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let id = path.file_stem().unwrap().to_string_lossy().into_owned();
        let found = Part::from_toml(&id, &std::fs::read_to_string(&path).unwrap(), 24_000_000);
        match found {
            Ok(_) => assert!(known.contains(&id.as_str()), "{id}"),
            Err(problem) => {
                let problem = problem.to_string();
                assert!(problem.contains("not published") || problem.contains("another vendor"), "{problem}");
                assert!(!known.contains(&id.as_str()), "{problem}");
            }
        }
    }
}

#[test]
fn code_and_constants_in_ram_are_never_late() {
    let mut fetch = part("").fetch();
    assert_eq!((fetch.instruction(0x2000_0000, 4, 0), fetch.load(0x2000_0000), fetch.load(0x100)), (0, 0, 2));
}

#[test]
fn a_part_whose_flash_was_not_published_has_no_part_cycles_and_says_why() {
    let row = "greatest_Hz = 100\n[flash]\nwhere = \"outside\"\nwidth_bits = 4\n";
    assert!(Part::from_toml("made-up", row, 50).unwrap_err().to_string().contains("another vendor"));
    let row = "greatest_Hz = 100\n[flash]\nwhere = \"inside\"\n";
    assert!(Part::from_toml("made-up", row, 50).unwrap_err().to_string().contains("not published"));
    assert!(Part::from_toml("made-up", row, 101).unwrap_err().to_string().contains("up to 100 Hz"));
}

#[test]
fn part_cycles_are_core_cycles_and_what_was_late_and_want_the_loads_in_the_trace() {
    let image = elf(0x100, &halves(&[0x2003, 0x6808, 0xf000, 0xf800, 0x4770, 0x4770]), 0x108, 0x10a);
    let core = Core::named("cortex-m0").unwrap();
    let block = [0x8000_0000, 0x100, 3, 0xc000_0000, 0];
    let end = [0xc000_0001, 0xc000_0004];
    let window = [0xc000_0003, 0, 0x2000_0000];
    let load = [0xd000_0001, 0x400];
    let run = |entries: Vec<u32>| count(&image, &trace(&entries)[..], &core, Some(&part(""))).unwrap()[0].clone();
    let whole = run([&window[..], &block, &load, &end].concat());
    assert_eq!((whole.core_cycles, whole.part_cycles), (Some(3), Some(3 + 2 + 2)));
    assert_eq!(run([&block[..], &load, &end].concat()).part_cycles, None);
}
