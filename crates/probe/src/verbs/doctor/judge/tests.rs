use Verdict::{Fail, NotVisible, Ok, Warn};

use super::*;

/// `count` canaries around 10 000 ticks that end `rise` ticks later than they began.
fn canaries(count: u64, rise: u64) -> Vec<u64> {
    (0..count).map(|at| 10_000 + at * 13 % 40 + rise * at / count).collect()
}

#[test]
fn a_clock_that_wanders_by_more_than_a_tenth_is_warned_of() {
    assert_eq!(clock_spread(&canaries(1000, 0)).verdict, Ok);
    let wandering = |high| [vec![10_000; 900], vec![high; 100]].concat();
    assert_eq!(clock_spread(&wandering(10_300)), Check::seen("core clock, p95/p5", "1.030".to_owned(), Ok, ""));
    let some = clock_spread(&wandering(10_900));
    assert!(some.verdict == Ok && some.advice.is_some());
    assert_eq!(clock_spread(&wandering(11_010)).verdict, Warn);
    assert_eq!(clock_spread(&[]).verdict, NotVisible);
    assert_eq!(clock_spread(&[0, 0, 0]).verdict, NotVisible);
}

#[test]
fn a_clock_that_slows_down_is_throttling_and_one_that_speeds_up_is_not() {
    assert_eq!(clock_trend(&canaries(1000, 500)).verdict, Ok, "a rise of 4 % between the fifths");
    assert_eq!(clock_trend(&canaries(1000, 800)).verdict, Warn);
    let mut warming_up = canaries(1000, 800);
    warming_up.reverse();
    assert_eq!(clock_trend(&warming_up).verdict, Ok);
    assert_eq!(clock_trend(&canaries(50, 800)).verdict, NotVisible);
}

#[test]
fn gaps_and_dirty_batches_are_judged_by_their_share() {
    assert_eq!(gap_loss(4_999, 1_000_000).verdict, Ok);
    assert!(gap_loss(5_000, 1_000_000).advice.is_some());
    assert_eq!(gap_loss(31_000, 1_000_000).verdict, Warn);
    assert_eq!(gap_loss(0, 0).verdict, NotVisible);
    let dirty = |clock, switch| BTreeMap::from([("clock".to_owned(), clock), ("switch".to_owned(), switch)]);
    assert_eq!(dirty_share(&dirty(40, 9), 1000).verdict, Ok);
    assert_eq!(dirty_share(&dirty(40, 10), 1000).verdict, Warn);
    assert_eq!(dirty_share(&dirty(400, 0), 1000).verdict, Warn);
    let many = dirty_share(&dirty(400, 1), 1000);
    assert_eq!((many.verdict, many.value.as_deref()), (Fail, Some("40.1 % (clock 400, switch 1) of 1000")));
    assert_eq!(dirty_share(&BTreeMap::new(), 10).value.as_deref(), Some("0.0 % of 10"));
    assert_eq!(dirty_share(&BTreeMap::new(), 0).verdict, NotVisible);
    assert_eq!(timer_cost(99, 10_000).verdict, Ok);
    assert_eq!(timer_cost(100, 10_000).verdict, Warn);
}

#[test]
fn a_guest_without_siblings_may_have_some_that_it_does_not_see() {
    assert_eq!(smt(Some(&[]), Some(true)).verdict, NotVisible);
    assert_eq!(smt(Some(&[]), Some(false)).verdict, Ok);
    assert_eq!(smt(Some(&[4, 12]), Some(true)).value.as_deref(), Some("4, 12"));
}

#[test]
fn what_was_not_seen_is_never_ok() {
    let blind = [
        governor(None),
        boost(None),
        smt(None, None),
        mains(None, None),
        saver(None),
        temperatures(None, None),
        aslr(None),
        constant_ticks("x86_64", None),
    ];
    for check in blind {
        assert_eq!((check.verdict, &check.value), (NotVisible, &None), "{}", check.check);
    }
}

#[test]
fn a_fixed_memory_layout_fails_because_processes_would_not_differ() {
    assert_eq!(aslr(Some(0)).verdict, Fail);
    assert_eq!(aslr(Some(1)).verdict, Warn);
    assert_eq!(aslr(Some(2)).verdict, Ok);
}

#[test]
fn the_state_of_the_power_is_judged_as_it_was_told() {
    assert_eq!(governor(Some("performance")).verdict, Ok);
    assert_eq!(governor(Some("schedutil")).verdict, Warn);
    assert_eq!(boost(Some(true)).verdict, Warn);
    assert_eq!(mains(Some(false), Some(41)).value.as_deref(), Some("no mains, battery at 41 %"));
    assert_eq!(saver(Some("low-power")).verdict, Warn);
    assert_eq!(saver(Some("balanced")).verdict, Ok);
    let sensor = |milli_C| vec![Temperature { sensor: "cpu".to_owned(), milli_C }];
    assert_eq!(temperatures(Some(&sensor(41_500)), Some(&sensor(90_000))).verdict, Warn);
    assert_eq!(
        temperatures(Some(&sensor(41_500)), Some(&sensor(60_000))).value.as_deref(),
        Some("41 C before, 60 C after")
    );
    assert_eq!(constant_ticks("x86_64", Some(&["aes".to_owned()])).verdict, Warn);
    assert_eq!(constant_ticks("aarch64", None).verdict, Ok);
}
