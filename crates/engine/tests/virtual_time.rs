//! The engine in virtual time: a scripted clock and a simulated load, no waiting.
#![allow(clippy::unwrap_used, missing_docs)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use wattlock_engine::*;

/// What the machine does while the engine measures: time passes only when something runs.
#[derive(Default)]
struct Machine {
    now: u64,
    switches: u64,
    cpu: u32,
    /// Whether another thread uses the core's units.
    neighbour: bool,
    /// Ticks that the canary takes: the reciprocal of the core's clock.
    canary: u64,
    /// The step in which the tick counter rises, somewhere within it as a browser's does; 0 where it rises by one.
    step: u64,
    /// What happens at the n-th run of a body (counted over all bodies, warm-up included).
    events: HashMap<u64, fn(&mut Machine)>,
    runs: u64,
    log: Vec<(usize, u32, u32)>,
}

type Shared = Rc<RefCell<Machine>>;

struct Load {
    machine: Shared,
    body: usize,
    ticks_a_call: u64,
    segments: u32,
}

impl Case for Load {
    fn segments(&self) -> u32 {
        self.segments
    }
    fn run(&mut self, segment: u32, calls: u32) {
        let mut machine = self.machine.borrow_mut();
        machine.runs += 1;
        let event = machine.runs;
        // A slower core stretches the work just as it stretches the canary.
        machine.now += self.ticks_a_call * u64::from(calls) * machine.canary / 1000;
        machine.log.push((self.body, segment, calls));
        if let Some(happens) = machine.events.get(&event).copied() {
            happens(&mut machine);
        }
    }
}

struct Scripted(Shared);

impl Scripted {
    fn read(&self) -> Ticks {
        let machine = self.0.borrow();
        let step = machine.step.max(1);
        let (steps, rest) = (machine.now / step, machine.now % step);
        if rest > SplitMix64::new(steps).next_u64() % step { (steps + 1) * step } else { steps * step }
    }

    /// What the tick counter tells of so many ticks.
    fn passes(&self, ticks: Ticks) -> Ticks {
        let start = self.read();
        self.0.borrow_mut().now += ticks;
        self.read() - start
    }
}

impl Clock for Scripted {
    fn ticks(&mut self) -> Ticks {
        self.read()
    }
    fn step(&self) -> Ticks {
        self.0.borrow().step
    }
    fn cpu_time(&mut self) -> Option<Nanoseconds> {
        Some(self.0.borrow().now)
    }
    fn canary(&mut self) -> Ticks {
        let ticks = self.0.borrow().canary;
        self.passes(ticks)
    }
    fn burst(&mut self) -> Ticks {
        let (ticks, neighbour) = (self.0.borrow().canary, self.0.borrow().neighbour);
        self.passes(ticks * if neighbour { 1400 } else { 1000 } / 1000)
    }
    fn moment(&mut self) -> Moment {
        let machine = self.0.borrow();
        Moment { switches: Some(machine.switches), cpu: Some(machine.cpu) }
    }
}

#[derive(Default)]
struct Kept {
    batches: Vec<Batch>,
    rounds: Vec<usize>,
    full_after: Option<usize>,
}

impl Sink for Kept {
    type Error = &'static str;
    fn batch(&mut self, batch: &Batch) {
        self.batches.push(*batch);
    }
    fn round_ended(&mut self, _round: u32) -> Result<(), Self::Error> {
        self.rounds.push(self.batches.len());
        if self.full_after.is_some_and(|rounds| self.rounds.len() >= rounds) { Err("disk full") } else { Ok(()) }
    }
}

fn machine() -> Shared {
    Rc::new(RefCell::new(Machine { canary: 1000, ..Machine::default() }))
}

fn loads(machine: &Shared, ticks: &[(u64, u32)]) -> Vec<Load> {
    let load = |(body, &(ticks_a_call, segments))| Load { machine: Rc::clone(machine), body, ticks_a_call, segments };
    ticks.iter().enumerate().map(load).collect()
}

fn slot(case: u32, body: usize, calls: u32, visits: u32) -> Slot {
    Slot { case, body, calls, claimed_calls: calls, visits, ..Slot::default() }
}

fn measure(
    machine: &Shared,
    bodies: &mut [Load],
    slots: &[Slot],
    rounds: u32,
    sink: &mut Kept,
) -> Result<(), &'static str> {
    let mut order = vec![Entry::default(); slots.len() * 2];
    let work = Shard {
        bodies,
        slots,
        order: &mut order,
        rounds,
        seed: 7,
        paces: &mut vec![Pace::default(); slots.len()],
        warm_ticks: 200,
        state_ticks: 20_000,
        quiet_ppm: Some(1_000_000),
        granted: Granted::default(),
    };
    shard(work, &mut Scripted(Rc::clone(machine)), sink)
}

#[test]
fn each_slot_is_visited_as_often_as_it_asks_and_rounds_are_handed_over_whole() {
    let machine = machine();
    let mut bodies = loads(&machine, &[(10, 1), (20, 1)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 100, 8), slot(1, 1, 50, 2)], 8, &mut kept).unwrap();
    assert_eq!(kept.batches.iter().filter(|b| b.case == 0).count(), 8);
    assert_eq!(kept.batches.iter().filter(|b| b.case == 1).count(), 2);
    assert_eq!(kept.rounds.len(), 8);
    assert!(kept.batches.iter().all(|b| b.ticks == 1000 && b.cause.is_none() && b.attempt == 0));
}

#[test]
fn the_order_changes_from_round_to_round() {
    let machine = machine();
    let mut bodies = loads(&machine, &[(10, 1); 12]);
    let slots: Vec<Slot> = (0..12).map(|i| slot(i, i as usize, 10, 6)).collect();
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &slots, 6, &mut kept).unwrap();
    let orders: Vec<Vec<u32>> = kept.batches.chunks(12).map(|r| r.iter().map(|b| b.case).collect()).collect();
    assert_eq!(orders.len(), 6);
    assert!(orders.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn the_two_of_a_pair_follow_one_another_in_each_visit_at_one_place_and_either_goes_first_about_as_often() {
    let machine = machine();
    let ticks = [(10, 1), (20, 1), (30, 1), (40, 1), (50, 1), (60, 1)];
    let mut slots: Vec<Slot> = (0..6).map(|index| slot(index, index as usize, 20, 100)).collect();
    for (index, other) in [(1, 4), (4, 1), (5, 2), (2, 5)] {
        slots[index].pair = Some(other);
    }
    let slots: Vec<Slot> = slots.into_iter().map(|slot| Slot { halves: true, ..slot }).collect();
    let mut kept = Kept::default();
    measure(&machine, &mut loads(&machine, &ticks), &slots, 400, &mut kept).unwrap();
    for pair in [[1, 4], [2, 5]] {
        let mut firsts = [0, 0];
        let whole: Vec<(usize, &Batch)> = kept.batches.iter().enumerate().filter(|(_, b)| b.calls == 20).collect();
        let of_pair: Vec<_> = whole.into_iter().filter(|(_, batch)| pair.contains(&batch.case)).collect();
        assert_eq!(of_pair.len(), 200, "each has its 100 visits");
        for two in of_pair.chunks(2) {
            let ((at, first), (next, second)) = (two[0], two[1]);
            assert_eq!(next, at + 1, "nothing between them");
            assert_eq!((first.round, first.place, first.stack), (second.round, second.place, second.stack));
            assert_ne!(first.case, second.case);
            firsts[usize::from(first.case == pair[1])] += 1;
        }
        // Five standard deviations of a fair coin thrown 100 times.
        assert!(firsts.iter().all(|count: &i32| count.abs_diff(50) <= 25), "{firsts:?}");
    }
}

#[test]
fn a_slot_whose_partner_does_not_name_it_is_visited_alone() {
    let machine = machine();
    let slots =
        [Slot { pair: Some(1), ..slot(0, 0, 10, 4) }, slot(1, 1, 10, 4), Slot { pair: Some(2), ..slot(2, 0, 10, 4) }];
    let mut kept = Kept::default();
    measure(&machine, &mut loads(&machine, &[(10, 1), (20, 1)]), &slots, 4, &mut kept).unwrap();
    let of = |case| kept.batches.iter().filter(|batch| batch.case == case).count();
    assert_eq!([0, 1, 2].map(of), [4; 3]);
}

#[test]
fn a_switched_batch_is_kept_with_its_cause_and_tried_again() {
    let machine = machine();
    // Run 1 is warm-up (10 of 160 calls, 100 ticks), run 2 ends it, run 3 is the batch.
    machine.borrow_mut().events.insert(3, |w| w.switches += 1);
    let mut bodies = loads(&machine, &[(10, 1)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 160, 1)], 1, &mut kept).unwrap();
    let seen: Vec<_> = kept.batches.iter().map(|b| (b.attempt, b.cause)).collect();
    assert_eq!(seen, [(0, Some(Cause::Switch)), (1, None)]);
}

#[test]
fn a_batch_that_stays_dirty_is_given_up_after_three_tries() {
    let machine = machine();
    for run in 3..20 {
        machine.borrow_mut().events.insert(run, |w| w.cpu = 1 - w.cpu);
    }
    let mut bodies = loads(&machine, &[(10, 1)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 160, 1)], 1, &mut kept).unwrap();
    let seen: Vec<_> = kept.batches.iter().map(|b| (b.attempt, b.cause)).collect();
    assert_eq!(seen, [(0, Some(Cause::Migration)), (1, Some(Cause::Migration)), (2, Some(Cause::Migration))]);
}

#[test]
fn a_batch_beside_a_neighbour_on_the_core_is_dirty_and_a_slower_clock_alone_is_not() {
    let machine = machine();
    machine.borrow_mut().events.insert(3, |w| w.neighbour = true);
    let mut bodies = loads(&machine, &[(10, 1)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 160, 1)], 1, &mut kept).unwrap();
    let seen: Vec<_> = kept.batches.iter().map(|b| b.cause).collect();
    assert_eq!(seen, [Some(Cause::Neighbour)], "a neighbour that stays");

    (machine.borrow_mut().canary, machine.borrow_mut().neighbour) = (2000, false);
    kept.batches.clear();
    measure(&machine, &mut bodies, &[slot(0, 0, 160, 1)], 1, &mut kept).unwrap();
    assert_eq!(kept.batches[0].cause, None);
}

#[test]
fn a_visit_of_segments_that_a_neighbour_disturbed_is_taken_again_as_a_whole_once_it_has_left() {
    let machine = machine();
    // Run 1 warms up; the neighbour comes in the second segment and leaves in the last.
    machine.borrow_mut().events.insert(3, |w| w.neighbour = true);
    machine.borrow_mut().events.insert(5, |w| w.neighbour = false);
    let mut bodies = loads(&machine, &[(500, 4)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 1, 1)], 1, &mut kept).unwrap();
    let seen: Vec<_> = kept.batches.iter().map(|b| (b.segment, b.attempt, b.cause.is_some())).collect();
    let first = [(0, 0, false), (1, 0, true), (2, 0, true), (3, 0, true)];
    let again = [0, 1, 2, 3].map(|segment| (segment, 1, false));
    assert_eq!(seen, [first, again].concat());
    let runs: Vec<u32> = machine.borrow().log.iter().map(|(_, segment, _)| *segment).collect();
    assert_eq!(runs, [0, 0, 1, 2, 3, 0, 0, 1, 2, 3], "each segment follows the one before it");
}

/// What became of 2,000 visits to a load by a clock whose step is a 60th of a canary, from the 1,000th on disturbed.
fn by_a_coarse_clock(disturbed: fn(&mut Machine)) -> Vec<Option<Cause>> {
    // No multiple of the step: a visit begins anywhere between two of them.
    let machine = Rc::new(RefCell::new(Machine { canary: 300_017, step: 5_000, ..Machine::default() }));
    let mut bodies = loads(&machine, &[(1_009, 1)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 1_000, 1_000)], 1_000, &mut kept).unwrap();
    disturbed(&mut machine.borrow_mut());
    measure(&machine, &mut bodies, &[slot(0, 0, 1_000, 1_000)], 1_000, &mut kept).unwrap();
    kept.batches.iter().filter(|batch| batch.attempt == 0).map(|batch| batch.cause).collect()
}

#[test]
fn a_clock_of_coarse_steps_calls_no_quiet_batch_disturbed() {
    let causes = by_a_coarse_clock(|_| ());
    assert_eq!((causes.len(), causes.iter().flatten().count()), (2_000, 0));
}

#[test]
fn by_coarse_steps_a_neighbour_that_slows_bursts_by_two_fifths_is_told_each_time() {
    let causes = by_a_coarse_clock(|machine| machine.neighbour = true);
    assert!(causes[1_000..].iter().all(|cause| *cause == Some(Cause::Neighbour)));
}

#[test]
fn by_coarse_steps_a_clock_that_changes_by_a_tenth_within_a_batch_is_told_each_time() {
    let causes = by_a_coarse_clock(|machine| {
        for run in machine.runs..machine.runs + 20_000 {
            machine.events.insert(run, |machine| machine.canary = 600_034 * 21 / 20 - machine.canary);
        }
    });
    assert!(causes[1_000..].iter().all(|cause| *cause == Some(Cause::Clock)));
}

#[test]
fn an_outlier_without_a_cause_is_never_dropped() {
    let machine = machine();
    machine.borrow_mut().events.insert(3, |w| w.now += 1_000_000);
    let mut bodies = loads(&machine, &[(10, 1)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 160, 1)], 1, &mut kept).unwrap();
    assert_eq!(kept.batches.len(), 1);
    assert_eq!(kept.batches[0].cause, None);
    assert_eq!(kept.batches[0].ticks, 1_001_600);
}

#[test]
fn cycles_stay_when_the_core_slows_down_and_a_change_inside_a_batch_is_dirty() {
    let machine = machine();
    machine.borrow_mut().events.insert(3, |w| w.canary = 1500);
    let mut bodies = loads(&machine, &[(10, 1)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 160, 3)], 3, &mut kept).unwrap();
    let dirty: Vec<_> = kept.batches.iter().filter(|b| b.cause.is_some()).collect();
    assert_eq!(dirty.len(), 1);
    assert_eq!(dirty[0].cause, Some(Cause::Clock));
    for batch in kept.batches.iter().filter(|b| b.cause.is_none()) {
        assert_eq!(batch.ticks, 2400);
        // Core cycles are batch ticks over canary ticks, of canaries of 1000 cycles: 1600 at either clock.
        assert_eq!(batch.ticks * 2 * 1000, 1600 * (batch.canary_before + batch.canary_after));
    }
}

#[test]
fn segments_follow_one_another_and_a_switch_costs_a_segment_and_not_the_file() {
    let machine = machine();
    machine.borrow_mut().events.insert(4, |w| w.switches += 1);
    let mut bodies = loads(&machine, &[(500, 4)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 1, 1)], 1, &mut kept).unwrap();
    let seen: Vec<_> = kept.batches.iter().map(|b| (b.segment, b.attempt, b.cause.is_some())).collect();
    assert_eq!(seen, [(0, 0, false), (1, 0, false), (2, 0, true), (2, 1, false), (3, 0, false)]);
    assert_eq!(kept.batches[1].canary_before, kept.batches[0].canary_after);
}

#[test]
fn half_batches_are_interleaved_and_claim_half_the_calls() {
    let machine = machine();
    let mut bodies = loads(&machine, &[(10, 1)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[Slot { halves: true, ..slot(0, 0, 100, 24) }], 24, &mut kept).unwrap();
    let halves: Vec<_> = kept.batches.iter().filter(|b| b.calls == 50).collect();
    assert_eq!(halves.len(), 4);
    assert!(halves.iter().all(|b| b.ticks == 500));
    assert_eq!(kept.batches.len(), 28);
}

#[test]
fn the_self_check_with_a_injected_slowdown_carries_out_61_calls_and_claims_60() {
    let machine = machine();
    let mut bodies = loads(&machine, &[(10, 1)]);
    let mut kept = Kept::default();
    let self_check = Slot { claimed_calls: 60, ..slot(1, 0, 61, 2) };
    measure(&machine, &mut bodies, &[slot(0, 0, 60, 2), self_check], 2, &mut kept).unwrap();
    for batch in &kept.batches {
        assert_eq!(batch.calls, 60);
        assert_eq!(batch.ticks, if batch.case == 1 { 610 } else { 600 });
    }
}

#[test]
fn a_sink_that_fails_ends_the_shard_after_a_whole_round() {
    let machine = machine();
    let mut bodies = loads(&machine, &[(10, 1), (10, 1)]);
    let mut kept = Kept { full_after: Some(2), ..Kept::default() };
    let ended = measure(&machine, &mut bodies, &[slot(0, 0, 10, 5), slot(1, 1, 10, 5)], 5, &mut kept);
    assert_eq!(ended, Err("disk full"));
    assert_eq!(kept.batches.len(), 4);
}

#[test]
fn every_batch_is_warmed_up_first() {
    let machine = machine();
    let mut bodies = loads(&machine, &[(1, 1)]);
    let mut kept = Kept::default();
    measure(&machine, &mut bodies, &[slot(0, 0, 160, 1)], 1, &mut kept).unwrap();
    let machine = machine.borrow();
    let warm: u32 = machine.log[..machine.log.len() - 1].iter().map(|(_, _, calls)| calls).sum();
    assert!(warm >= 200, "200 ticks of one tick a call, not {warm}");
}

#[test]
fn a_batch_is_as_long_as_asked_and_never_empty() {
    assert_eq!(calls_for(100_000, 10, 50), 20_000);
    assert_eq!(calls_for(100_000, 1, 1_000_000), 1);
    assert_eq!(calls_for(100_000, 10, 0), 1_000_000);
}

// Energy ---------------------------------------------------------------------------------------------------------------

/// A counter fed by the machine's time: 3 uJ each microsecond, updated each millisecond, wrapping after its range.
struct Counter {
    machine: Shared,
    range: Option<u64>,
    offset: u64,
    fails: Option<MeterError>,
    /// From this time on the counter stands still.
    stops: u64,
}

impl Meter for Counter {
    fn description(&self) -> MeterDescription {
        let (update_period, round_trip, patience) = (1_000_000, 1_000_000_000, 50_000_000);
        MeterDescription { range: self.range, update_period, round_trip, patience }
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        if let Some(error) = self.fails {
            return Err(error);
        }
        let mut machine = self.machine.borrow_mut();
        let before = machine.now;
        machine.now += 2_000;
        let updated = before.min(self.stops) / 1_000_000 * 1_000_000;
        let energy = self.offset + updated * 3;
        let counter = self.range.map_or(energy, |range| energy % range);
        Ok(Reading { counter, before, after: machine.now, suspended: machine.switches })
    }
}

/// Calls of 1000 ns, as many as fill the time.
struct Calls(Shared);

impl wattlock_engine::Load for Calls {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        let calls = (time / 1000).max(1);
        let mut machine = self.0.borrow_mut();
        machine.now += calls * 1000;
        machine.runs += calls;
        calls
    }
}

fn counter(machine: &Shared) -> Counter {
    Counter { machine: Rc::clone(machine), range: Some(4_000_000_000), offset: 0, fails: None, stops: u64::MAX }
}

fn block_of(meter: &mut Counter, least: u64) -> Result<EnergyBlock, MeterError> {
    energy_block(&mut Calls(Rc::clone(&meter.machine)), least, meter)
}

#[test]
fn a_block_holds_the_energy_between_its_edges_and_the_calls_between_its_reads() {
    let machine = machine();
    let block = block_of(&mut counter(&machine), 10_000_000).unwrap();
    let window = block.end.moment() - block.start.moment();
    assert!(window.abs_diff(block.gross / 3) < 60_000, "{window} ns hold {} nJ", block.gross);
    assert_eq!(block.gross % 3_000_000, 0, "whole updates");
    // All that is not reading is calls.
    let reads = block.run - block.calls * 1000;
    assert!(reads > 0 && reads < 100_000, "{reads} ns of reading");
    assert!(machine.borrow().runs > block.calls, "the load runs before the first edge");
}

#[test]
fn a_counter_that_wrapped_once_is_unrolled() {
    let mut meter = counter(&machine());
    meter.offset = 3_990_000_000;
    let wrapped = block_of(&mut meter, 10_000_000).unwrap();
    assert!(wrapped.end.counter < wrapped.start.counter);
    assert_eq!(wrapped.gross, block_of(&mut counter(&self::machine()), 10_000_000).unwrap().gross);
}

fn at(moment: u64, counter: u64) -> Edge {
    Edge { not_before: moment, not_after: moment, counter, suspended: 0 }
}

#[test]
fn a_counter_that_wrapped_with_an_unreadable_range_is_an_error_and_never_zero() {
    let meter = MeterDescription { range: None, update_period: 1_000_000, round_trip: u64::MAX, patience: 1 };
    let error = counter_since(at(0, 500), at(9_000_000, 400), meter).unwrap_err();
    assert_eq!(error, MeterError::WentBackwards { from: 500, to: 400 });
    assert_eq!(error.follows(), Follows::RepeatBatch);
}

#[test]
fn a_fall_that_as_a_wrap_would_be_more_than_the_counter_can_rise_by_is_a_reset() {
    let meter =
        MeterDescription { range: Some(1_000_000), update_period: 1_000_000, round_trip: 100_000_000, patience: 1 };
    // In 9 of the 100 ms of a round trip it rises by 90,000 at most.
    assert_eq!(counter_since(at(0, 950_000), at(9_000_000, 30_000), meter), Ok(80_000));
    let error = counter_since(at(0, 500_000), at(9_000_000, 30_000), meter).unwrap_err();
    assert_eq!(error, MeterError::WentBackwards { from: 500_000, to: 30_000 });
}

#[test]
fn a_counter_above_its_range_is_refused() {
    let meter = MeterDescription { range: Some(450), update_period: 1_000_000, round_trip: u64::MAX, patience: 1 };
    let error = counter_since(at(0, 500), at(9_000_000, 400), meter).unwrap_err();
    assert_eq!(error, MeterError::BeyondRange { counter: 500, range: 450 });
}

#[test]
fn a_window_that_may_hold_two_wraps_is_refused() {
    let error = block_of(&mut counter(&machine()), 1_000_000_000).unwrap_err();
    assert!(matches!(error, MeterError::WrapAmbiguous { round_trip: 1_000_000_000, .. }), "{error}");
}

#[test]
fn a_window_of_fewer_than_five_updates_is_refused() {
    let error = block_of(&mut counter(&machine()), 2_500_000).unwrap_err();
    assert!(matches!(error, MeterError::WindowTooShort { least: 5_000_000, .. }), "{error}");
    assert_eq!(error.follows(), Follows::SkipCase);
}

#[test]
fn a_counter_stuck_at_zero_is_an_error_and_never_zero_joules() {
    let mut meter = counter(&machine());
    meter.stops = 0;
    let error = block_of(&mut meter, 10_000_000).unwrap_err();
    assert!(matches!(error, MeterError::Stuck { counter: 0, .. }), "{error}");
    assert_eq!(error.follows(), Follows::EndRun);
}

#[test]
fn a_suspend_inside_a_block_is_seen_by_the_clock_that_counts_it() {
    let meter = MeterDescription { range: None, update_period: 1_000_000, round_trip: u64::MAX, patience: 1 };
    let end = Edge { suspended: 7_000_000, ..at(9_000_000, 400) };
    assert_eq!(counter_since(at(0, 100), end, meter), Err(MeterError::Suspended { suspended: 7_000_000 }));
}

#[test]
fn a_superblock_is_a_palindrome_between_baselines() {
    let mut order = [3, 4, 5, 6];
    let steps: Vec<Step> = superblock(&mut order, &mut SplitMix64::new(1)).collect();
    assert!(steps.iter().eq(steps.iter().rev()));
    for place in [0, 5, 10] {
        assert_eq!(steps[place], Step::Baseline);
    }
    let mut cases: Vec<Step> = steps[1..5].to_vec();
    cases.sort_by_key(|step| if let Step::Case(case) = step { *case } else { 0 });
    assert_eq!(cases, [3, 4, 5, 6].map(Step::Case));
}

#[test]
fn an_unreadable_meter_ends_the_run() {
    let mut meter = counter(&machine());
    meter.fails = Some(MeterError::Unreadable);
    let error = block_of(&mut meter, 10_000_000).unwrap_err();
    assert_eq!(error.follows(), Follows::EndRun);
}

#[test]
fn what_went_wrong_with_a_meter_is_told_in_units_for_the_eye() {
    for (error, said) in [
        (MeterError::Stuck { counter: 1_500_000_000, waited: 500_000_000 }, "stood at 1.5 J for 500 ms:"),
        (MeterError::Stuck { counter: 0, waited: 180_000_000_000 }, "stood at 0 J for 180 s:"),
        (MeterError::WrapAmbiguous { window: 1_320_000_000_000, round_trip: 61_035 }, "1320 s between"),
        (MeterError::WrapAmbiguous { window: 1, round_trip: 61_035 }, "wrap every 61.035 us"),
        (MeterError::WentBackwards { from: 2_040_000_000, to: 61_035_156 }, "fell from 2.04 J to 61.035 mJ,"),
        (MeterError::WindowTooShort { window: 999, least: 5_000_000 }, "window of 999 ns holds"),
    ] {
        assert!(error.to_string().contains(said), "{error}");
    }
}
