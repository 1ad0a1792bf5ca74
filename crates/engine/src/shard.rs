//! The timed loop: rounds of shuffled visits; a visit is warm-up, canary, batch, canary.

use core::hint::black_box;
use core::mem::MaybeUninit;

use crate::batch::{Edge, cause};
use crate::{Batch, Case, Clock, Entry, Order, SplitMix64, Ticks, visit_in};

/// Tries of one discarded batch, the first included.
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
}

/// What one process measures.
pub struct Shard<'a, B> {
    /// What is called.
    pub bodies: &'a mut [B],
    /// The cases' places in the schedule.
    pub slots: &'a [Slot],
    /// Room for the order of one round: two entries a slot.
    pub order: &'a mut [Entry],
    /// Rounds.
    pub rounds: u32,
    /// The seed of the order.
    pub seed: u64,
    /// Ticks of warm-up before a visit's first batch.
    pub warm_ticks: Ticks,
    /// What a burst takes on this core when nothing shares it, in millionths of a canary; `None` where not known.
    pub quiet_ppm: Option<u32>,
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
    let Shard { bodies, slots, order, rounds, seed, warm_ticks, quiet_ppm } = work;
    let rules = Rules { warm_ticks, quiet_ppm };
    let mut random = SplitMix64::new(seed);
    let mut order = Order::new(order);
    for round in 0..rounds {
        order.clear();
        for (index, slot) in (0_u32..).zip(slots) {
            // The first of a pair stands for both until the order is drawn.
            let visit = visit_in(round, rounds, slot.visits, index).filter(|_| !is_second(slots, index));
            if let Some(visit) = visit {
                order.push(Entry { slot: index, visit, half: false, seed: random.next_u64() });
            }
            let halves = if slot.halves { halves(slot.visits) } else { 0 };
            if let Some(visit) = visit_in(round, rounds, halves, index.wrapping_mul(7)) {
                order.push(Entry { slot: index, visit, half: true, seed: random.next_u64() });
            }
        }
        order.shuffle(&mut random);
        order.pair(&mut random, |entry| if entry.half { None } else { partner(slots, entry.slot) });
        for entry in order.entries() {
            let Some(slot) = slots.get(entry.slot as usize) else { continue };
            let Some(body) = bodies.get_mut(slot.body) else { continue };
            let slot = if entry.half { half(slot) } else { *slot };
            let mut random = SplitMix64::new(entry.seed);
            body.settle(random.next_u64());
            // Code that keeps vectors on the stack is up to 11 % slower at some slots of a line: each is taken in turn.
            let place = entry.visit % PLACES;
            let down = Down { pages: random.below(SPREAD_PAGES), frames: random.below(STACK_FRAMES), place };
            deeper(down, &mut |stack| visit(body, &slot, At { round, place, stack }, rules, clock, sink));
        }
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
    quiet_ppm: Option<u32>,
}

/// When and where on the stack a visit takes place.
#[derive(Clone, Copy)]
struct At {
    round: u32,
    place: u32,
    stack: usize,
}

fn visit<B: Case, C: Clock, S: Sink>(body: &mut B, slot: &Slot, at: At, rules: Rules, clock: &mut C, sink: &mut S) {
    warm_up(body, slot.calls, rules.warm_ticks, clock);
    let mut edge = None;
    for segment in 0..body.segments() {
        for attempt in 0..TRIES {
            let before = edge.take().unwrap_or_else(|| edge_before(clock));
            let cpu_start = clock.cpu_time();
            let start = clock.ticks();
            body.run(segment, slot.calls);
            let ticks = clock.ticks().saturating_sub(start);
            let cpu_ns = clock.cpu_time().zip(cpu_start).map(|(end, start)| end.saturating_sub(start));
            let after = edge_after(clock);
            let cause = cause(before, after, clock.step(), rules.quiet_ppm);
            sink.batch(&Batch {
                case: slot.case,
                round: at.round,
                place: at.place,
                attempt,
                segment,
                stack: at.stack,
                buffers: body.buffers(),
                calls: slot.claimed_calls,
                ticks,
                cpu_ns,
                canary_before: before.canary,
                canary_after: after.canary,
                burst_before: before.burst,
                burst_after: after.burst,
                cause,
            });
            if cause.is_none() {
                // The next segment begins where this one ended: one canary between them tells for both.
                edge = Some(after);
                break;
            }
        }
    }
}

/// The canary stands next to the batch on either side, the burst behind it.
fn edge_before<C: Clock>(clock: &mut C) -> Edge {
    let moment = clock.moment();
    let burst = clock.burst();
    Edge { moment, burst, canary: clock.canary() }
}

fn edge_after<C: Clock>(clock: &mut C) -> Edge {
    let canary = clock.canary();
    let burst = clock.burst();
    Edge { canary, burst, moment: clock.moment() }
}

/// Runs the first segment until `warm_ticks` have passed: code and data in cache, the core at its speed.
fn warm_up<B: Case, C: Clock>(body: &mut B, calls: u32, warm_ticks: Ticks, clock: &mut C) {
    let start = clock.ticks();
    let some = (calls / 16).max(1);
    loop {
        body.run(0, some);
        if clock.ticks().saturating_sub(start) >= warm_ticks {
            return;
        }
    }
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
