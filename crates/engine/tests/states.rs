//! States of a core in virtual time: a core that takes back the licence of wide vectors and throttles until it has granted
//! it again, a clock that rises from idle, and a core without states. One tick is one nanosecond.
#![allow(clippy::unwrap_used, missing_docs)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wattlock_engine::*;

const US: u64 = 1_000;
/// The licence is taken back so long after the last wide instruction, as seen on an Ice Lake server.
const KEPT: u64 = 700 * US;
/// It is granted again after so long at least, and at most.
const GRANTED: (u64, u64) = (150 * US, 1_700 * US);
/// Throttled code takes so many tenths of its time.
const THROTTLED_TENTHS: u64 = 31;
const CANARY: u64 = 9 * US;
const BURST: u64 = 3 * US;
const WITNESS: u64 = 3 * US;
const QUIET_PPM: u32 = 333_333;

/// What the core does while the engine measures: time passes only when something runs.
struct Core {
    now: u64,
    random: SplitMix64,
    /// Whether it takes back the licence of wide vectors.
    takes_back: bool,
    wide_until: u64,
    throttled_until: u64,
    /// Whether a neighbour is there at a time.
    neighbour: fn(u64) -> bool,
    /// Its clock stands at half its rate until then, as a phone's after it idled.
    slow_until: u64,
    /// A round that is written idles so long, and the clock is slow for as long after it.
    idles: u64,
    /// Time of work by case.
    worked: BTreeMap<usize, u64>,
}

impl Core {
    /// Lets what of `time` a slow clock reaches pass; gives the rest of it.
    fn slowly(&mut self, time: u64) -> u64 {
        let slow = self.slow_until.saturating_sub(self.now).min(time * 2);
        self.now += slow;
        time - slow / 2
    }

    /// Code that takes `time` of a core that grants all and that nobody shares.
    fn run(&mut self, time: u64, is_wide: bool) {
        let mut left = time;
        if is_wide && self.takes_back {
            if self.now >= self.wide_until + KEPT {
                let (least, most) = GRANTED;
                let range = u32::try_from(most - least).unwrap();
                self.throttled_until = self.now + least + u64::from(self.random.below(range));
            }
            let slow = self.throttled_until.saturating_sub(self.now).min(left * THROTTLED_TENTHS / 10);
            self.now += slow;
            left -= slow * 10 / THROTTLED_TENTHS;
        }
        left = self.slowly(left);
        let shared = (self.neighbour)(self.now);
        self.now += if shared { left * 14 / 10 } else { left };
        if is_wide {
            self.wide_until = self.now;
        }
    }
}

type Shared = Rc<RefCell<Core>>;

fn core(takes_back: bool) -> Shared {
    Rc::new(RefCell::new(Core {
        now: 10_000 * US,
        random: SplitMix64::new(11),
        takes_back,
        wide_until: 0,
        throttled_until: 0,
        neighbour: |_| false,
        slow_until: 0,
        idles: 0,
        worked: BTreeMap::new(),
    }))
}

struct Scripted {
    core: Shared,
    /// Whether there is a witness of 512 bits.
    sees: bool,
}

impl Scripted {
    fn timed(&mut self, time: u64, is_wide: bool) -> Ticks {
        let mut core = self.core.borrow_mut();
        let start = core.now;
        core.run(time, is_wide);
        core.now - start
    }
}

impl Clock for Scripted {
    fn ticks(&mut self) -> Ticks {
        self.core.borrow().now
    }
    fn cpu_time(&mut self) -> Option<Nanoseconds> {
        None
    }
    fn canary(&mut self) -> Ticks {
        // A chain leaves room for a neighbour.
        let mut core = self.core.borrow_mut();
        let start = core.now;
        let left = core.slowly(CANARY);
        core.now += left;
        core.now - start
    }
    fn burst(&mut self) -> Ticks {
        self.timed(BURST, false)
    }
    fn witness(&mut self, width: Width) -> Option<Ticks> {
        (self.sees && width == Width::Bits512).then(|| self.timed(WITNESS, true))
    }
    fn moment(&mut self) -> Moment {
        Moment { switches: None, cpu: None }
    }
}

struct Load {
    core: Shared,
    case: usize,
    call: u64,
    is_wide: bool,
}

impl Case for Load {
    fn run(&mut self, _segment: u32, calls: u32) {
        let mut core = self.core.borrow_mut();
        let start = core.now;
        core.run(self.call * u64::from(calls), self.is_wide);
        let took = core.now - start;
        *core.worked.entry(self.case).or_default() += took;
    }
}

struct Kept(Vec<Batch>, Shared);

impl Sink for Kept {
    type Error = ();
    fn batch(&mut self, batch: &Batch) {
        self.0.push(*batch);
    }
    fn round_ended(&mut self, _round: u32) -> Result<(), ()> {
        let mut core = self.1.borrow_mut();
        core.now += core.idles;
        core.slow_until = core.now + core.idles;
        Ok(())
    }
}

/// How a shard is carried out.
#[derive(Clone, Copy)]
struct Way {
    /// What is known of the witness of 512 bits.
    granted_ppm: Option<u32>,
    state_ticks: Ticks,
    has_paces: bool,
    quiet_ppm: u32,
}

const WHOLE: Way = Way { granted_ppm: Some(333_333), state_ticks: 2_000 * US, has_paces: true, quiet_ppm: QUIET_PPM };
const WITHOUT: Way = Way { granted_ppm: None, state_ticks: 0, has_paces: false, quiet_ppm: QUIET_PPM };

const CASES: usize = 24;
const ROUNDS: u32 = 24;

/// A shard of wide and narrow cases in turn; each batch takes 100 us where the core grants all.
fn measured(core: &Shared, sees: bool, way: Way) -> Vec<Batch> {
    let call = |case: usize| US * (case as u64 % 5 + 1);
    let is_wide = |case: usize| case.is_multiple_of(6);
    let load = |case| Load { core: Rc::clone(core), case, call: call(case), is_wide: is_wide(case) };
    let mut bodies: Vec<Load> = (0..CASES).map(load).collect();
    let slot = |case: usize| {
        let calls = u32::try_from(100 * US / call(case)).unwrap();
        let width = (sees && is_wide(case)).then_some(Width::Bits512);
        let number = u32::try_from(case).unwrap();
        Slot { case: number, body: case, calls, claimed_calls: calls, visits: ROUNDS, width, ..Slot::default() }
    };
    let slots: Vec<Slot> = (0..CASES).map(slot).collect();
    let mut kept = Kept(Vec::new(), Rc::clone(core));
    let work = Shard {
        bodies: &mut bodies,
        slots: &slots,
        order: &mut vec![Entry::default(); 2 * CASES + 500],
        rounds: ROUNDS,
        seed: 5,
        paces: &mut vec![Pace::default(); if way.has_paces { CASES } else { 0 }],
        warm_ticks: 20 * US,
        state_ticks: way.state_ticks,
        quiet_ppm: Some(way.quiet_ppm),
        granted: Granted { bits512_ppm: way.granted_ppm, ..Granted::default() },
    };
    shard(work, &mut Scripted { core: Rc::clone(core), sees }, &mut kept).unwrap();
    kept.0
}

fn is_wide(batch: &Batch) -> bool {
    batch.case.is_multiple_of(6)
}

/// How far the mean of the undisturbed batches of a case is from what it costs, in percent, the worst of all cases.
fn worst_percent(batches: &[Batch], of: impl Fn(&Batch) -> bool) -> f64 {
    let mut sums = BTreeMap::<u32, (f64, u32)>::new();
    for batch in batches.iter().filter(|batch| batch.cause.is_none() && of(batch)) {
        let truth = f64::from(batch.calls) * f64::from((batch.case % 5 + 1) * 1_000);
        let (sum, count) = sums.entry(batch.case).or_default();
        *sum += batch.ticks as f64 / truth;
        *count += 1;
    }
    assert!(sums.values().all(|(_, count)| *count >= 20), "{sums:?}");
    sums.values().map(|(sum, count)| (sum / f64::from(*count) - 1.0).abs() * 100.0).fold(0.0, f64::max)
}

#[test]
fn beside_narrow_cases_wide_ones_cost_what_they_do_where_the_core_grants_them() {
    let held = core(true);
    let batches = measured(&held, true, WHOLE);
    assert!(worst_percent(&batches, is_wide) < 0.5, "{} %", worst_percent(&batches, is_wide));
    assert!(worst_percent(&batches, |batch| !is_wide(batch)) < 1e-9);
    // The narrow ones take not more of the core than on one that holds nothing back.
    let free = core(false);
    measured(&free, true, WHOLE);
    let narrow = |core: &Shared| -> u64 {
        core.borrow().worked.iter().filter(|(case, _)| *case % 6 != 0).map(|(_, ticks)| ticks).sum()
    };
    assert_eq!(narrow(&held), narrow(&free));
    assert!(batches.iter().all(|batch| batch.witness_before.is_some() == is_wide(batch)));
}

#[test]
fn without_the_wait_and_the_cause_wide_cases_are_off_by_far_and_no_batch_says_so() {
    let batches = measured(&core(true), true, WITHOUT);
    assert!(worst_percent(&batches, is_wide) > 20.0, "{} %", worst_percent(&batches, is_wide));
    assert!(batches.iter().all(|batch| batch.cause.is_none()));
}

#[test]
fn without_the_wait_throttled_batches_are_marked_and_those_that_are_left_cost_what_they_do() {
    let batches = measured(&core(true), true, Way { state_ticks: 0, ..WHOLE });
    let marked = batches.iter().filter(|batch| batch.cause == Some(Cause::Licence)).count();
    assert!(marked > 50, "{marked} batches");
    let whole = |batch: &&Batch| is_wide(batch) && batch.ticks > 101 * US;
    assert!(batches.iter().filter(whole).all(|batch| batch.cause == Some(Cause::Licence)));
    assert!(batches.iter().filter(|batch| batch.cause == Some(Cause::Licence)).all(is_wide));
    assert!(batches.iter().filter(|batch| batch.cause == Some(Cause::Licence)).all(|batch| batch.attempt < TRIES));
}

#[test]
fn where_no_witness_is_written_the_pace_of_the_case_waits_for_the_state() {
    let batches = measured(&core(true), false, WHOLE);
    // The first round has no best batch to be compared with.
    let later = |batch: &Batch| is_wide(batch) && batch.round > 0;
    assert!(worst_percent(&batches, later) < 3.0, "{} %", worst_percent(&batches, later));
    let without = measured(&core(true), false, WITHOUT);
    assert!(worst_percent(&without, later) > 20.0);
}

#[test]
fn a_core_without_states_takes_less_than_a_hundredth_more_time() {
    let time = |way| {
        let core = core(false);
        measured(&core, false, way);
        core.borrow().now - 10_000 * US
    };
    let (whole, without) = (time(WHOLE), time(WITHOUT));
    assert!(whole * 100 < without * 101, "{whole} and {without} ns");
}

#[test]
fn beside_a_neighbour_that_slows_everything_no_visit_waits_for_a_state() {
    let time = |way| {
        let core = core(false);
        core.borrow_mut().neighbour = |now| now > 30_000 * US;
        let batches = measured(&core, true, way);
        assert!(batches.iter().filter(|batch| batch.round > 8).all(|batch| batch.cause == Some(Cause::Neighbour)));
        core.borrow().now - 10_000 * US
    };
    let (whole, without) = (time(WHOLE), time(WITHOUT));
    assert!(whole * 100 < without * 102, "{whole} and {without} ns");
}

#[test]
fn a_clock_that_rises_from_idle_is_seen_by_the_canary_and_waited_for_by_no_visit() {
    let phone = core(false);
    phone.borrow_mut().idles = 1_500 * US;
    let batches = measured(&phone, false, WHOLE);
    let slow = batches.iter().filter(|batch| batch.cause.is_none() && batch.canary_before == 2 * CANARY).count();
    assert!(slow > 100, "{slow} undisturbed batches at half the clock");
    for batch in batches.iter().filter(|batch| batch.cause.is_none()) {
        let canaries = 2 * u64::from(batch.calls) * u64::from(batch.case % 5 + 1) * US / CANARY;
        let found = 4 * batch.ticks / (batch.canary_before + batch.canary_after);
        assert!(found.abs_diff(canaries) <= 1, "{batch:?}");
    }
    let without = core(false);
    without.borrow_mut().idles = 1_500 * US;
    measured(&without, false, WITHOUT);
    let [whole, without] = [&phone, &without].map(|core| core.borrow().now);
    assert!(whole * 100 < without * 101, "{whole} and {without} ns");
}

#[test]
fn beside_a_neighbour_that_stays_no_time_goes_into_tries_that_it_disturbs_as_well() {
    let time = |quiet_ppm| {
        let core = core(false);
        core.borrow_mut().neighbour = |_| true;
        let batches = measured(&core, true, Way { quiet_ppm, granted_ppm: None, ..WHOLE });
        (batches.len(), core.borrow().now - 10_000 * US)
    };
    // By a burst that is never too long there are no neighbours, and no tries.
    let ((tries, took), (batches, without)) = (time(QUIET_PPM), time(10 * QUIET_PPM));
    assert_eq!(tries, batches);
    assert!(took * 100 <= without * 115, "{took} and {without} ns");
}

#[test]
fn beside_a_neighbour_that_comes_for_10_ms_at_a_time_nearly_all_visits_get_an_undisturbed_batch() {
    let core = core(false);
    core.borrow_mut().neighbour = |now| now % (60_000 * US) < 10_000 * US;
    let batches = measured(&core, true, WHOLE);
    let disturbed = batches.iter().filter(|batch| batch.cause == Some(Cause::Neighbour)).count();
    assert!(disturbed > 50, "{disturbed} batches");
    let undisturbed: BTreeSet<_> = batches.iter().filter(|b| b.cause.is_none()).map(|b| (b.case, b.round)).collect();
    assert!(undisturbed.len() * 100 > CASES * ROUNDS as usize * 98, "{} visits", undisturbed.len());
    let mut tries = BTreeMap::<_, Vec<u32>>::new();
    for batch in &batches {
        tries.entry((batch.case, batch.round)).or_default().push(batch.attempt);
    }
    assert!(tries.values().all(|tries| tries.iter().copied().eq(0..u32::try_from(tries.len()).unwrap())));
    assert!(tries.values().all(|tries| tries.len() <= TRIES as usize));
}

#[test]
fn a_case_after_a_pause_is_called_once_after_2_ms_of_other_work_and_costs_what_a_core_takes_that_holds_its_width_back()
{
    let core = core(true);
    let load = |case, is_wide| Load { core: Rc::clone(&core), case, call: 20 * US, is_wide };
    let mut bodies = [load(0, true), load(1, false)];
    let pausing = |case: u32| Slot {
        case,
        body: case as usize,
        calls: 1,
        claimed_calls: 1,
        visits: ROUNDS,
        width: (case == 0).then_some(Width::Bits512),
        after_pause: true,
        ..Slot::default()
    };
    let mut kept = Kept(Vec::new(), Rc::clone(&core));
    let work = Shard {
        bodies: &mut bodies,
        slots: &[pausing(0), pausing(1)],
        order: &mut [Entry::default(); 4],
        rounds: ROUNDS,
        seed: 5,
        paces: &mut [Pace::default(); 2],
        warm_ticks: 20 * US,
        state_ticks: 2_000 * US,
        quiet_ppm: Some(QUIET_PPM),
        granted: Granted { bits512_ppm: Some(333_333), ..Granted::default() },
    };
    let begun = core.borrow().now;
    shard(work, &mut Scripted { core: Rc::clone(&core), sees: true }, &mut kept).unwrap();
    assert_eq!(kept.0.len(), 2 * ROUNDS as usize);
    for batch in &kept.0 {
        assert_eq!((batch.calls, batch.cause, batch.witness_before, batch.witness_after), (1, None, None, None));
        let tenths = if batch.case == 0 { THROTTLED_TENTHS } else { 10 };
        assert!(batch.ticks.abs_diff(20 * US * tenths / 10) <= 1, "{batch:?}");
    }
    let worked: u64 = core.borrow().worked.values().sum();
    let timed = kept.0.iter().map(|batch| batch.ticks).sum::<u64>();
    assert!((2 * timed..=3 * timed).contains(&worked), "each visit warms up once: {worked} of {timed}");
    let took = core.borrow().now - begun;
    assert!((96_000 * US..120_000 * US).contains(&took), "{took} ns");
}
