//! The measuring engine: a shuffled, interleaved schedule of timed batches, each beside a canary that tells the
//! core's clock, cleaned by cause and never by value.
//!
//! The engine knows no cipher, no operating system and no file. It meets the world through three ports:
//! [`Case`] (what is timed), [`Clock`] (what tells the time) and [`Meter`] (what tells the energy). It allocates
//! nothing, so the same loop runs on a server, in a browser and on a microcontroller, and its tests run in virtual time.
//!
//! One call of [`shard`] is one process's share of a run: `rounds` rounds over the cases that it was given.
//! Processes, looks and the stopping rule are not its business.
//!
//! # Example
//! A trial of 10 calls took 2,000 ticks; a batch shall take 100,000:
//! ```
//! assert_eq!(wattlock_engine::calls_for(100_000, 10, 2_000), 500);
//! ```
//! `examples/two_loads.rs` measures two loads with a clock of its own.
#![no_std]
#![forbid(unsafe_code)]

mod batch;
mod canary;
mod energy;
mod ports;
mod schedule;
mod shard;
mod state;

pub use batch::{Batch, Cause};
pub use canary::{NEIGHBOUR_PERCENT, burst_ppm, clock_changed, core_shared};
pub use energy::{
    Edge, EnergyBlock, Load, RecordedBlock, Step, counter_since, energy_block, next_edge, recorded_block, superblock,
};
pub use ports::{Case, Clock, Follows, Meter, MeterDescription, MeterError, Moment, Reading};
pub use schedule::{Entry, Order, SplitMix64, visit_in};
pub use shard::{LEAST_HALVES, SPREAD_PAGES, Shard, Sink, Slot, TRIES, VISITS_A_HALF, calls_for, shard};

pub use state::{Granted, LICENCE_PERCENT, Pace, Width, throttled};

/// Whole nanoseconds.
pub type Nanoseconds = u64;
/// Ticks of the clock behind the [`Clock`] port; their rate is the clock's own.
pub type Ticks = u64;
/// Whole nanojoules.
pub type Nanojoules = u64;
