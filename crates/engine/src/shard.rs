//! The timed loop: rounds of shuffled visits; a visit is warm-up, canary, batch, canary.
//!
//! A visit waits until the core grants what the case asks of it: [`state`](crate::state).

use core::hint::black_box;
use core::mem::MaybeUninit;

use crate::batch::{Edge, cause};
use crate::state::Trial;
use crate::{
    Batch, Case, Cause, Clock, Entry, Granted, Order, Pace, SplitMix64, Ticks, Width, core_shared, throttled, visit_in,
};

/// Tries of one discarded batch, the first included: at once, or at the end of the round where a neighbour has left.
pub const TRIES: u32 = 3;
/// A visit's share of half batches is one in this many, at least [`LEAST_HALVES`].
pub const VISITS_A_HALF: u32 = 6;
/// Half batches of a case in one process, where it has that many visits.
pub const LEAST_HALVES: u32 = 4;

/// Pages over which the stack and the buffers of visits are spread.
///
/// A core compares addresses by their lower bits: code whose stack or buffers lie on some of the pages may take a fifth
/// more. Spread over one page only, that would tell processes apart, which each have their own; spread over many, it is
/// part of each process's mean. Where there is no operating system there are no pages, and no room for them.
pub const SPREAD_PAGES: u32 = if cfg!(target_os = "none") { 1 } else { 64 };
/// Bytes of a page.
const PAGE_B: usize = 4096;
/// Small frames of the stack of which a visit takes a random number: together they pass a page.
const STACK_FRAMES: u32 = 96;
/// The 16-byte slots of a cache line, at one of which a visit's stack begins.
const PLACES: u32 = 4;
/// Small frames in which each of the slots is met: each frame is of an odd number of 16 bytes, or of 64.
const FRAMES_TO_A_PLACE: u32 = 8;

/// One case's place in the schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The case's number in the plan.
    pub case: u32,
    /// Index of what is called; two slots may share one (A/A test, injected slowdown).
    pub body: usize,
    /// Calls in a batch, as carried out.
    pub calls: u32,
    /// Calls in a batch, as claimed: the same, but for the injected slowdown.
    pub claimed_calls: u32,
    /// Visits among the rounds.
    pub visits: u32,
    /// Whether batches of half the calls are interleaved, to check that time is proportional to calls.
    pub halves: bool,
    /// Index of the slot that its whole batches are taken in turn with, which names this one in return and has as many
    /// visits: both in each round that either is due in, one just after the other, at one place of the stack.
    pub pair: Option<u32>,
    /// The width of vectors that the code works on, where a core may hold it back and the clock has a witness of it.
    pub width: Option<Width>,
    /// Each batch is the first call after other work: once the case is warm, canaries for as long as a state takes to go,
    /// then `calls` calls, which are 1.
    pub after_pause: bool,
}

/// What one process measures.
pub struct Shard<'a, B> {
    /// What is called.
    pub bodies: &'a mut [B],
    /// The cases' places in the schedule.
    pub slots: &'a [Slot],
    /// Room for the order of one round: two entries a slot. In what more there is, visits that a neighbour disturbed wait
    /// for the end of a round at which it has left.
    pub order: &'a mut [Entry],
    /// Rounds.
    pub rounds: u32,
    /// The seed of the order.
    pub seed: u64,
    /// Room for how fast each slot is; where it has less room, no slot beyond it is waited for by its pace.
    pub paces: &'a mut [Pace],
    /// Ticks of warm-up before a visit's first batch.
    pub warm_ticks: Ticks,
    /// Ticks in which a core grants a state to code that runs, and takes back that of code that does not: a visit waits no
    /// longer for it, and a pause lasts as long.
    pub state_ticks: Ticks,
    /// What a burst takes on this core when nothing shares it, in millionths of a canary; `None` where not known.
    pub quiet_ppm: Option<u32>,
    /// What a witness takes where its width is granted.
    pub granted: Granted,
}

/// What receives the batches.
pub trait Sink {
    /// Why no more can be received.
    type Error;

    /// Takes one batch; called between batches, so it must not write.
    fn batch(&mut self, batch: &Batch);

    /// A round has ended: the place to write.
    ///
    /// # Errors
    /// Whatever hinders the writing; it ends the shard.
    fn round_ended(&mut self, round: u32) -> Result<(), Self::Error>;
}

/// Calls that fill `batch` ticks at `ticks` for `calls` calls: at least 1.
#[must_use]
pub fn calls_for(batch: Ticks, calls: u32, ticks: Ticks) -> u32 {
    let wanted = u128::from(batch) * u128::from(calls) / u128::from(ticks.max(1));
    u32::try_from(wanted).unwrap_or(u32::MAX).max(1)
}

/// Carries out one shard: every slot visited as often as it asks, in an order that is shuffled each round.
///
/// # Errors
/// The first error of the sink; the rounds before it were handed over whole.
pub fn shard<B, C, S>(work: Shard<'_, B>, clock: &mut C, sink: &mut S) -> Result<(), S::Error>
where
    B: Case,
    C: Clock,
    S: Sink,
{
    let Shard { bodies, slots, order, rounds, seed, paces, warm_ticks, state_ticks, quiet_ppm, granted } = work;
    let rules = Rules { warm_ticks, state_ticks, quiet_ppm, granted, step: clock.step() };
    let mut random = SplitMix64::new(seed);
    let mut order = Order::new(order);
    for round in 0..rounds {
        order.clear();
        for (index, slot) in (0_u32..).zip(slots) {
            // The first of a pair stands for both until the order is drawn.
            let visit = visit_in(round, rounds, slot.visits, index).filter(|_| !is_second(slots, index));
            if let Some(visit) = visit {
                order.push(Entry { slot: index, round, visit, half: false, seed: random.next_u64(), tries: 0 });
            }
            let halves = if slot.halves { halves(slot.visits) } else { 0 };
            if let Some(visit) = visit_in(round, rounds, halves, index.wrapping_mul(7)) {
                order.push(Entry { slot: index, round, visit, half: true, seed: random.next_u64(), tries: 0 });
            }
        }
        order.shuffle(&mut random);
        order.pair(&mut random, |entry| if entry.half { None } else { partner(slots, entry.slot) });
        let mut take = |order: &mut Order<'_>, entry: Entry, clock: &mut C, sink: &mut S| {
            let Some(slot) = slots.get(entry.slot as usize) else { return };
            let Some(body) = bodies.get_mut(slot.body) else { return };
            let slot = if entry.half { half(slot) } else { *slot };
            let mut unknown = Pace::default();
            let pace = paces.get_mut(entry.slot as usize).unwrap_or(&mut unknown);
            let mut random = SplitMix64::new(entry.seed);
            body.settle(random.next_u64());
            // Code that keeps vectors on the stack is up to 11 % slower at some slots of a line: each is taken in turn.
            let place = entry.visit % PLACES;
            let down = Down { pages: random.below(SPREAD_PAGES), frames: random.below(STACK_FRAMES), place };
            let mut visited = Visited { body, slot, pace, rules };
            let mut tries = None;
            let at = At { round: entry.round, place, tries: entry.tries };
            deeper(down, &mut |stack| tries = visited.visit(at, stack, clock, sink));
            if let Some(tries) = tries.filter(|tries| *tries < TRIES) {
                order.put_aside(Entry { tries, ..entry });
            }
        };
        while let Some(entry) = order.take() {
            take(&mut order, entry, clock, sink);
        }
        order.recall();
        while !order.is_empty() && rules.is_quiet(clock) {
            let Some(entry) = order.take() else { continue };
            take(&mut order, entry, clock, sink);
        }
        order.keep();
        sink.round_ended(round)?;
    }
    Ok(())
}

/// The other slot of a pair; `None` where there is none, or it does not name this one.
fn partner(slots: &[Slot], index: u32) -> Option<u32> {
    let other = slots.get(index as usize)?.pair.filter(|other| *other != index)?;
    (slots.get(other as usize)?.pair == Some(index)).then_some(other)
}

/// Whether it is the later of a pair.
fn is_second(slots: &[Slot], index: u32) -> bool {
    partner(slots, index).is_some_and(|other| other < index)
}

/// How far down the stack a visit begins: so many pages and small frames, and at which 16-byte slot of a cache line.
#[derive(Clone, Copy)]
struct Down {
    pages: u32,
    frames: u32,
    place: u32,
}

/// Calls `then` with the stack pointer moved down, and tells it the address there.
fn deeper(down: Down, then: &mut dyn FnMut(usize)) {
    if down.pages == 0 { by_frames(down.frames, down.place, FRAMES_TO_A_PLACE, then) } else { by_pages(down, then) }
}

#[inline(never)]
fn by_pages(down: Down, then: &mut dyn FnMut(usize)) {
    // Nothing is written to it: zeros would drive the case's data out of the nearest cache.
    let mut frame = MaybeUninit::<[u8; PAGE_B]>::uninit();
    black_box(&mut frame);
    deeper(Down { pages: down.pages - 1, ..down }, then);
    black_box(&mut frame);
}

#[inline(never)]
fn by_frames(frames: u32, place: u32, more: u32, then: &mut dyn FnMut(usize)) {
    let mut frame = [0_u8; 16];
    black_box(&mut frame);
    let here = (&raw const frame).addr();
    if frames > 0 {
        by_frames(frames - 1, place, more, then);
    } else if more > 0 && here / 16 % PLACES as usize != place as usize {
        by_frames(0, place, more - 1, then);
    } else {
        then(here);
    }
    black_box(&mut frame);
}

fn halves(visits: u32) -> u32 {
    (visits / VISITS_A_HALF).max(LEAST_HALVES).min(visits)
}

fn half(slot: &Slot) -> Slot {
    Slot { calls: slot.calls / 2, claimed_calls: slot.claimed_calls / 2, ..*slot }
}

/// What all visits of a shard share.
#[derive(Clone, Copy)]
struct Rules {
    warm_ticks: Ticks,
    state_ticks: Ticks,
    quiet_ppm: Option<u32>,
    granted: Granted,
    step: Ticks,
}

impl Rules {
    /// Whether another thread uses the core's units.
    fn is_shared(&self, edge: Edge) -> bool {
        self.quiet_ppm.is_some_and(|quiet| core_shared(edge.burst, edge.canary, self.step, quiet))
    }

    /// Whether nothing shares the core just now.
    fn is_quiet<C: Clock>(&self, clock: &mut C) -> bool {
        let (burst, canary) = (clock.burst(), clock.canary());
        self.quiet_ppm.is_none_or(|quiet| !core_shared(burst, canary, self.step, quiet))
    }

    /// Whether the core holds back the width that the witness is of.
    fn is_held_back(&self, width: Option<Width>, edge: Edge) -> bool {
        let granted = width.and_then(|width| self.granted.of(width));
        edge.witness.zip(granted).is_some_and(|(witness, ppm)| throttled(witness, edge.canary, self.step, ppm))
    }
}

/// When and where on a cache line a visit takes place, and the tries of its batches before it.
#[derive(Clone, Copy)]
struct At {
    round: u32,
    place: u32,
    tries: u32,
}

/// A slot that is visited.
struct Visited<'a, B> {
    body: &'a mut B,
    slot: Slot,
    pace: &'a mut Pace,
    rules: Rules,
}

impl<B: Case> Visited<'_, B> {
    /// Takes the batches of all segments. One that was switched out or throttled is tried again at once; beside a neighbour
    /// or a clock that changes that would cost as much and help as little. The whole visit is then for another time: the
    /// tries of its batches so far.
    fn visit<C: Clock, S: Sink>(&mut self, at: At, stack: usize, clock: &mut C, sink: &mut S) -> Option<u32> {
        let (mut is_put_aside, mut tries) = (false, at.tries);
        let (slot, rules) = (self.slot, self.rules);
        // A witness beside the first call after other work would grant what that call has to ask for.
        let width = slot.width.filter(|_| !slot.after_pause);
        let mut trial = Some(self.warm_up(clock));
        let (mut edge, mut left) = (None, rules.state_ticks);
        for segment in 0..self.body.segments() {
            for attempt in at.tries..TRIES {
                tries = tries.max(attempt + 1);
                let before = match edge.take() {
                    _ if slot.after_pause => edge_after_pause(rules.state_ticks, clock),
                    Some(edge) => edge,
                    None => self.granted_edge(trial.take(), &mut left, clock),
                };
                let cpu_start = clock.cpu_time();
                let start = clock.ticks();
                self.body.run(segment, slot.calls);
                let ticks = clock.ticks().saturating_sub(start);
                let cpu_ns = clock.cpu_time().zip(cpu_start).map(|(end, start)| end.saturating_sub(start));
                let after = edge_after(width, clock);
                let held_back = |edge| rules.is_held_back(width, edge);
                let cause = cause(before, after, rules.step, |edge| rules.is_shared(edge), held_back);
                sink.batch(&Batch {
                    case: slot.case,
                    round: at.round,
                    place: at.place,
                    attempt,
                    segment,
                    stack,
                    buffers: self.body.buffers(),
                    calls: slot.claimed_calls,
                    ticks,
                    cpu_ns,
                    canary_before: before.canary,
                    canary_after: after.canary,
                    burst_before: before.burst,
                    burst_after: after.burst,
                    witness_before: before.witness,
                    witness_after: after.witness,
                    cause,
                });
                if cause.is_none() {
                    if segment == 0 {
                        let batch = Trial { calls: slot.calls, ticks };
                        self.pace.saw(batch, before.canary.midpoint(after.canary));
                    }
                    // The next segment begins where this one ended: one canary between them tells for both.
                    edge = Some(after);
                    break;
                }
                if matches!(cause, Some(Cause::Neighbour | Cause::Clock)) {
                    is_put_aside = true;
                    break;
                }
            }
        }
        is_put_aside.then_some(tries)
    }

    /// The edge before a batch, once the core has granted what the case asks of it: until then its own code runs.
    ///
    /// * `trial`: the last of the warm-up, where there was one.
    /// * `left`: ticks that this visit may still wait, less those that are waited.
    fn granted_edge<C: Clock>(&mut self, mut trial: Option<Trial>, left: &mut Ticks, clock: &mut C) -> Edge {
        let (rules, width, start) = (self.rules, self.slot.width, clock.ticks());
        let (mut edge, mut waited_for_pace) = (edge_before(width, clock), false);
        loop {
            let is_slow = trial.is_some_and(|trial| self.pace.is_slow(trial, edge.canary, rules.step));
            waited_for_pace |= is_slow;
            let waits = (is_slow || rules.is_held_back(width, edge)) && !rules.is_shared(edge);
            let passed = clock.ticks().saturating_sub(start);
            if !waits || passed >= *left {
                if waited_for_pace && !rules.is_shared(edge) {
                    self.pace.waited(is_slow);
                }
                *left = left.saturating_sub(passed);
                return edge;
            }
            trial = Some(self.warm_up(clock));
            edge = edge_before(width, clock);
        }
    }

    /// Runs the first segment until `warm_ticks` have passed: code and data in cache, the core at its speed.
    fn warm_up<C: Clock>(&mut self, clock: &mut C) -> Trial {
        let (calls, start) = ((self.slot.calls / 16).max(1), clock.ticks());
        let mut begun = start;
        loop {
            self.body.run(0, calls);
            let now = clock.ticks();
            if now.saturating_sub(start) >= self.rules.warm_ticks {
                return Trial { calls, ticks: now.saturating_sub(begun) };
            }
            begun = now;
        }
    }
}

/// Other work for so many ticks, narrow and bound to the core, then the edge.
fn edge_after_pause<C: Clock>(ticks: Ticks, clock: &mut C) -> Edge {
    let start = clock.ticks();
    while clock.ticks().saturating_sub(start) < ticks {
        clock.canary();
    }
    edge_before(None, clock)
}

/// The canary stands next to the batch on either side, the burst behind it, the witness behind both.
fn edge_before<C: Clock>(width: Option<Width>, clock: &mut C) -> Edge {
    let moment = clock.moment();
    let witness = width.and_then(|width| clock.witness(width));
    let burst = clock.burst();
    Edge { moment, witness, burst, canary: clock.canary() }
}

fn edge_after<C: Clock>(width: Option<Width>, clock: &mut C) -> Edge {
    let canary = clock.canary();
    let burst = clock.burst();
    let witness = width.and_then(|width| clock.witness(width));
    Edge { canary, burst, witness, moment: clock.moment() }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_visit_begins_at_the_slot_it_asks_for_and_visits_are_spread_over_all_pages_and_lines() {
        let mut random = SplitMix64::new(1);
        let (mut pages, mut lines) = (BTreeSet::new(), BTreeSet::new());
        for visit in 0..4_000 {
            let place = visit % PLACES;
            let down = Down { pages: random.below(SPREAD_PAGES), frames: random.below(STACK_FRAMES), place };
            deeper(down, &mut |stack| {
                assert_eq!(stack / 16 % PLACES as usize, place as usize, "visit {visit} at {stack:#x}");
                pages.insert(stack / PAGE_B);
                lines.insert(stack % PAGE_B / 64);
            });
        }
        assert!(pages.len() >= SPREAD_PAGES as usize, "{} pages", pages.len());
        assert_eq!(lines.len(), PAGE_B / 64);
    }
}
