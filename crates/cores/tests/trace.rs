//! The trace's reader and the counting, on images and traces that are written by hand.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use support::{elf, halves, trace};
use wattlock_cores::{Class, Core, Error, Image, Region, count};

const BEGIN: u32 = 0xc000_0000;
const END: u32 = 0xc000_0001;
const SHORT: u32 = 0xc000_0002;
const WINDOW: u32 = 0xc000_0003;
const WHOLE: u32 = 0xc000_0004;
const BLOCK: u32 = 0x8000_0000;

/// movs r0, #3; subs r0, #1; bne to the subs; bl of something; the markers
fn image() -> Vec<u8> {
    elf(0x100, &halves(&[0x2003, 0x3801, 0xd1fd, 0xf000, 0xf800, 0x4770, 0x4770]), 0x10a, 0x10c)
}

fn counted(entries: &[u32]) -> Result<Vec<Region>, Error> {
    count(&image(), &trace(entries)[..], &Core::named("cortex-m0").unwrap(), None)
}

#[test]
fn a_loop_of_three_rounds_counts_its_instructions_without_the_end_markers_call() {
    let loop_ = [BLOCK, 0x100, 3, BLOCK + 1, 0x102, 2, BLOCK + 2, 0x106, 1, BEGIN, 0, 1, 1, 2, END, WHOLE];
    let regions = counted(&loop_).unwrap();
    assert_eq!(regions.len(), 1);
    assert_eq!(regions[0].instructions, 7);
    assert_eq!(regions[0].by_class[&Class::Arithmetic], 4);
    assert_eq!(regions[0].by_class[&Class::Branch], 3);
    // Moves and subtractions 1, two branches taken 3, one not taken 1 (DDI 0432C, table 3-1).
    assert_eq!(regions[0].core_cycles, Some(4 + 3 + 3 + 1));
}

#[test]
fn what_runs_outside_of_a_region_is_not_counted() {
    let regions = counted(&[BLOCK, 0x100, 3, 0, 0, BEGIN, 0, END, 0, 0, WHOLE]).unwrap();
    assert_eq!(regions.len(), 1);
    assert_eq!(regions[0].instructions, 2);
}

#[test]
fn an_empty_region_has_no_instructions_and_no_cycles() {
    let regions = counted(&[BLOCK, 0x106, 1, BEGIN, 0, END, WHOLE]).unwrap();
    assert_eq!((regions[0].instructions, regions[0].core_cycles), (0, Some(0)));
}

#[test]
fn a_block_that_ended_early_counts_what_ran_and_the_region_has_no_cycles() {
    let regions = counted(&[BLOCK, 0x100, 3, BLOCK + 1, 0x106, 1, BEGIN, 0, SHORT, 2, 1, END, WHOLE]).unwrap();
    assert_eq!((regions[0].instructions, regions[0].core_cycles), (2, None));
}

#[test]
fn a_trace_that_is_cut_anywhere_is_refused() {
    let whole = trace(&[WINDOW, 0, 16, BLOCK, 0x100, 3, BEGIN, 0, END, WHOLE]);
    for length in 0..whole.len() {
        let found = count(&image(), &whole[..length], &Core::named("cortex-m0").unwrap(), None);
        assert!(matches!(found, Err(Error::CutShort | Error::NoTrace)), "{length}: {found:?}");
    }
    assert!(count(&image(), &whole[..], &Core::named("cortex-m0").unwrap(), None).is_ok());
}

#[test]
fn a_trace_that_contradicts_itself_is_refused() {
    let wrong: [&[u32]; 6] = [
        &[BEGIN, 7, END, WHOLE],
        &[END, WHOLE],
        &[BEGIN, BEGIN, WHOLE],
        &[BEGIN, WHOLE],
        &[BEGIN, SHORT, 1, END, WHOLE],
        &[0xc000_0005, WHOLE],
    ];
    for entries in wrong {
        assert!(matches!(counted(entries), Err(Error::Malformed(_))), "{entries:x?}");
    }
}

#[test]
fn code_that_the_image_does_not_hold_is_named_by_its_address() {
    assert!(matches!(counted(&[BEGIN, BLOCK, 0x9000, 1, 0, END, WHOLE]), Err(Error::Undecodable(0x9000))));
}

#[test]
fn markers_that_the_linker_folded_are_refused() {
    let folded = elf(0x100, &halves(&[0x4770]), 0x100, 0x100);
    assert!(matches!(Image::read(&folded), Err(Error::MarkersAreOne(0x100))));
}

#[test]
fn an_image_for_arm_does_not_run_on_a_risc_v_core() {
    let found = count(&image(), &trace(&[WHOLE])[..], &Core::named("sifive-e31").unwrap(), None);
    assert!(matches!(found, Err(Error::OtherSet { .. })));
}

#[test]
fn every_known_core_has_a_file_that_holds_and_one_without_rules_has_no_pipeline() {
    for id in Core::ids() {
        let core = Core::named(id).unwrap();
        assert_eq!(core.id, id);
        assert_eq!(core.pipeline().unwrap().is_none(), id == "esp32-c3");
    }
    assert!(matches!(Core::named("cortex-m99"), Err(Error::NoCore(_))));
}

#[test]
fn a_rule_that_is_missing_unknown_or_without_a_source_is_named() {
    let known = include_str!("../../../python/wattlock/data/cores/cortex-m0.toml");
    let changes = [
        ("[rules.load]", "[rules.lode]", "rules.load"),
        ("[rules.load]", "[rules.loaf]\nvalue = 1\nsource = \"x\"\n[rules.load]", "rules.loaf"),
        ("value = 1\nsource = \"", "value = 1\nsource = \"\"\n#", "no source"),
        ("pipeline = \"table\"", "pipeline = \"chart\"", "chart"),
        ("set = \"thumb\"", "set = \"arm\"", "arm"),
    ];
    for (was, is, named) in changes {
        let problem = Core::from_toml(&known.replacen(was, is, 1)).unwrap_err().to_string();
        assert!(problem.contains(named), "{problem}");
    }
}
