//! Published facts of each core's pipeline on short sequences of instructions: the fact is the test's name.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use support::{cycles, decoded};
use wattlock_cores::{Core, Instruction, rv32};

const LOAD: u16 = 0x6808; // ldr r0, [r1]
const LOAD_2: u16 = 0x681a; // ldr r2, [r3]
const LOAD_4: u16 = 0x682c; // ldr r4, [r5]
const LOAD_BY_LOADED: u16 = 0x6802; // ldr r2, [r0]
const STORE: u16 = 0x6008; // str r0, [r1]
const STORE_BY_REGISTER: u16 = 0x5088; // str r0, [r1, r2]
const MOVE: u16 = 0x2600; // movs r6, #0
const NOP: u16 = 0xbf00;
const COUNT_DOWN: u16 = 0x3f01; // subs r7, #1

fn straight(core: &str, code: &[u16]) -> u64 {
    cycles(core, &decoded(0x100, code))
}

/// Rounds of a loop, as many cycles as one more of them takes.
fn round(core: &str, code: &[u16]) -> u64 {
    let body = decoded(0x100, code);
    let run = |rounds| cycles(core, std::iter::repeat_n(&body, rounds).flatten());
    run(10) - run(9)
}

#[test]
fn m0_takes_the_tables_cycles() {
    for (code, m0, m0plus) in [
        (&[MOVE][..], 1, 1),
        (&[LOAD], 2, 2),
        (&[STORE], 2, 2),
        (&[0x4348], 1, 1),         // muls r0, r1
        (&[0xb5f0], 6, 6),         // push {r4-r7, lr}
        (&[0xbdf0], 9, 8),         // pop {r4-r7, pc}
        (&[0xc93c], 5, 5),         // ldmia r1!, {r2-r5}
        (&[0xd0fe, MOVE], 2, 2),   // beq, not taken
        (&[0x4770], 3, 2),         // bx lr
        (&[0xf000, 0xf800], 4, 3), // bl
        (&[0x4788], 3, 2),         // blx r1
        (&[0xf3bf, 0x8f6f], 4, 3), // isb
    ] {
        assert_eq!((straight("cortex-m0", code), straight("cortex-m0plus", code)), (m0, m0plus), "{code:x?}");
    }
    assert_eq!(round("cortex-m0", &[COUNT_DOWN, 0xd1fd]), 4);
    assert_eq!(round("cortex-m0plus", &[COUNT_DOWN, 0xd1fd]), 3);
}

#[test]
fn m3_and_m4_take_two_cycles_for_a_load_three_for_two_and_four_for_three() {
    for core in ["cortex-m3", "cortex-m4"] {
        assert_eq!(straight(core, &[LOAD]), 2);
        assert_eq!(straight(core, &[LOAD, LOAD_2]), 3);
        assert_eq!(straight(core, &[LOAD, LOAD_2, LOAD_4]), 4);
        assert_eq!(straight(core, &[LOAD, LOAD_2, LOAD_4, MOVE]), 5);
        assert_eq!(straight(core, &[LOAD, MOVE, LOAD_2, MOVE]), 6);
    }
}

#[test]
fn m3_and_m4_do_not_overlap_a_load_with_one_that_needs_its_address_from_it() {
    assert_eq!(straight("cortex-m3", &[LOAD, LOAD_BY_LOADED]), 4);
    assert_eq!(straight("cortex-m4", &[LOAD, LOAD_BY_LOADED]), 4);
}

#[test]
fn m3_and_m4_stall_a_cycle_for_an_address_that_was_computed_just_before() {
    for core in ["cortex-m3", "cortex-m4"] {
        assert_eq!(straight(core, &[0x3104, LOAD]), 4); // adds r1, #4
        assert_eq!(straight(core, &[0x3104, MOVE, LOAD]), 4);
    }
}

#[test]
fn m3_and_m4_store_in_one_cycle_by_a_constant_and_in_two_by_a_register() {
    for core in ["cortex-m3", "cortex-m4"] {
        assert_eq!(straight(core, &[STORE, MOVE]), 2);
        assert_eq!(straight(core, &[STORE_BY_REGISTER, MOVE]), 3);
        assert_eq!(straight(core, &[STORE_BY_REGISTER, NOP]), 2);
        assert_eq!(straight(core, &[LOAD, STORE, MOVE]), 3);
        assert_eq!(straight(core, &[STORE, LOAD, MOVE]), 5);
    }
}

#[test]
fn m3_and_m4_let_a_load_eat_a_nop_and_nothing_else() {
    for core in ["cortex-m3", "cortex-m4"] {
        assert_eq!(straight(core, &[LOAD, NOP]), 2);
        assert_eq!(straight(core, &[LOAD, 0x4296]), 3); // cmp r6, r2
    }
}

#[test]
fn m3_and_m4_take_a_branch_in_two_cycles_and_one_more_to_an_unaligned_wide_instruction() {
    for core in ["cortex-m3", "cortex-m4"] {
        assert_eq!(round(core, &[COUNT_DOWN, 0xd1fd]), 3);
        let target = |at: u32| {
            let mut run = decoded(0x200, &[0xe7fe]);
            run.extend(decoded(at, &[0xf04f, 0x0600])); // mov.w r6, #0
            cycles(core, &run)
        };
        assert_eq!((target(0x100), target(0x102)), (3, 4));
    }
}

#[test]
fn m4_multiplies_long_in_one_cycle_and_m3_in_three_to_five() {
    let product = decoded(0x100, &[0xfba2, 0x0103]); // umull r0, r1, r2, r3
    assert_eq!(cycles("cortex-m4", &product), 1);
    let mut m3 = Core::named("cortex-m3").unwrap().pipeline().unwrap().unwrap();
    m3.step(&product[0]);
    assert_eq!((m3.cycles(), m3.open()), (4, 1));
}

#[test]
fn m33_takes_a_branch_in_two_cycles_and_in_one_beside_an_instruction_without_flags() {
    assert_eq!(round("cortex-m33", &[COUNT_DOWN, 0xd1fd]), 3);
    assert_eq!(round("cortex-m33", &[COUNT_DOWN, 0x4408, 0xd1fc]), 3); // add r0, r1
    assert_eq!(round("cortex-m33", &[COUNT_DOWN, 0xce0f, 0xd1fc]), 6); // ldmia r6!, {r0-r3}
    assert_eq!(straight("cortex-m33", &[COUNT_DOWN, 0xd1fd, MOVE]), 2);
}

#[test]
fn m33_waits_a_cycle_for_a_load_a_shifted_operand_or_a_product_but_not_to_store_or_to_add_them() {
    let eor_ror = [0xea81, 0x2032]; // eor.w r0, r1, r2, ror #8
    let mla = [0xfb01, 0x0002]; // mla r0, r1, r2, r0
    assert_eq!(straight("cortex-m33", &[LOAD, 0x1c42]), 3); // adds r2, r0, #1
    assert_eq!(straight("cortex-m33", &[LOAD, MOVE]), 2);
    assert_eq!(straight("cortex-m33", &[LOAD, 0x6010]), 2); // str r0, [r2]
    assert_eq!(straight("cortex-m33", &[eor_ror[0], eor_ror[1], 0x1c43]), 3); // adds r3, r0, #1
    assert_eq!(straight("cortex-m33", &[eor_ror[0], eor_ror[1], MOVE]), 2);
    assert_eq!(straight("cortex-m33", &[eor_ror[0], eor_ror[1], 0x6018]), 2); // str r0, [r3]
    assert_eq!(straight("cortex-m33", &[mla[0], mla[1], mla[0], mla[1]]), 2);
    assert_eq!(straight("cortex-m33", &[0x4348, MOVE]), 3); // muls r0, r1
}

#[test]
fn e31_gives_a_word_after_two_cycles_a_byte_after_three_and_a_product_after_five() {
    let run = |first: u32| {
        let code = [first, 0x0015_0513]; // addi a0, a0, 1
        let found: Vec<Instruction> =
            (0..).zip(code).map(|(place, word)| rv32::decode(4 * place, &word.to_le_bytes()).unwrap()).collect();
        cycles("sifive-e31", &found)
    };
    assert_eq!(run(0x0005_a503), 3); // lw a0, 0(a1)
    assert_eq!(run(0x0005_c503), 4); // lbu a0, 0(a1)
    assert_eq!(run(0x02c5_8533), 6); // mul a0, a1, a2
    assert_eq!(run(0x0015_0513), 2);
}

#[test]
fn e31_foresees_a_loop_that_it_has_seen_once_but_for_its_end() {
    let word = |at: u32, code: u32| rv32::decode(at, &code.to_le_bytes()).unwrap();
    let body = [word(0x100, 0xfff5_0513), word(0x104, 0xfe05_1ee3)]; // addi a0, a0, -1; bnez a0 to it
    let mut pipeline = Core::named("sifive-e31").unwrap().pipeline().unwrap().unwrap();
    let mut run = || {
        pipeline.rewind();
        std::iter::repeat_n(&body, 100)
            .flatten()
            .chain(&[word(0x108, 0x0000_0013)])
            .for_each(|step| pipeline.step(step));
        pipeline.cycles()
    };
    let (first, second, third) = (run(), run(), run());
    assert!(first > second, "{first} and {second}");
    assert_eq!((second, third), (200 + 3 + 1, 200 + 3 + 1));
}
