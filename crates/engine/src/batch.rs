//! One timed batch, and why it may not count.

use crate::canary::clock_changed;
use crate::{Moment, Nanoseconds, Ticks};

/// Why a batch does not count. A batch is never dropped for its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The thread was switched out.
    Switch,
    /// The thread ended on another processor than it began on.
    Migration,
    /// The core's clock changed between the two canaries.
    Clock,
    /// Another thread used the core's units: a burst was slower than the chain beside it allows.
    Neighbour,
    /// The core held back the width of vectors that the case works on: a witness of that width was throttled.
    Licence,
}

/// One timed loop of a case between two canaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The case's number in the plan.
    pub case: u32,
    /// Round, from 0.
    pub round: u32,
    /// The 16-byte slot of a cache line at which the visit's stack began: code that keeps vectors there is slower at some.
    pub place: u32,
    /// The address of the visit's stack.
    pub stack: usize,
    /// The addresses of what the visit read and of what it wrote, as [`Case::buffers`](crate::Case::buffers) has them.
    pub buffers: (usize, usize),
    /// 0 for the first try; discarded batches are tried again, and all tries are kept.
    pub attempt: u32,
    /// Segment of a long input, from 0.
    pub segment: u32,
    /// Calls in this batch, as claimed by the schedule.
    pub calls: u32,
    /// Ticks of the whole batch.
    pub ticks: Ticks,
    /// CPU time of the whole batch; `None` where the system does not tell.
    pub cpu_ns: Option<Nanoseconds>,
    /// Ticks of the canary just before.
    pub canary_before: Ticks,
    /// Ticks of the canary just after.
    pub canary_after: Ticks,
    /// Ticks of the burst just before.
    pub burst_before: Ticks,
    /// Ticks of the burst just after.
    pub burst_after: Ticks,
    /// Ticks of the witness just before; `None` where the case works on no wide vectors.
    pub witness_before: Option<Ticks>,
    /// Ticks of the witness just after.
    pub witness_after: Option<Ticks>,
    /// Why the batch does not count; `None` for a clean one.
    pub cause: Option<Cause>,
}

/// What surrounds a batch on one side.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) moment: Moment,
    pub(crate) canary: Ticks,
    pub(crate) burst: Ticks,
    pub(crate) witness: Option<Ticks>,
}

/// The first cause that applies to a batch, or `None` for a clean one.
///
/// * `shared`, `held_back`: whether an edge tells a neighbour, and a throttled witness. A neighbour slows a witness too.
pub(crate) fn cause(
    before: Edge,
    after: Edge,
    step: Ticks,
    shared: impl Fn(Edge) -> bool,
    held_back: impl Fn(Edge) -> bool,
) -> Option<Cause> {
    if before.moment.switches != after.moment.switches {
        Some(Cause::Switch)
    } else if before.moment.cpu != after.moment.cpu {
        Some(Cause::Migration)
    } else if clock_changed(before.canary, after.canary, step) {
        Some(Cause::Clock)
    } else if shared(before) || shared(after) {
        Some(Cause::Neighbour)
    } else if held_back(before) || held_back(after) {
        Some(Cause::Licence)
    } else {
        None
    }
}
