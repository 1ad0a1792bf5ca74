//! Energy meters behind the engine's port ([`wattlock_engine::Meter`]), a file a kind. The root of the file tree and the
//! clock are arguments, so that each runs as well on a copied or made-up tree and in made-up time.
//!
//! | file | meter |
//! |---|---|
//! | [`powercap`] | counters of the processor that the kernel shows as files (RAPL) |
//! | [`perf`] | the same counters as events of the kernel |
//! | [`battery`] | what a battery says of itself: charge, energy, or voltage and current |
//! | [`hwmon`] | sensors of power, of energy, of voltage and current |
//! | [`stream`], [`ppk2`] | an instrument at a serial port, or its recording |
//! | [`recording`] | an instrument beside the device that records by itself: nothing is read, blocks are marked |
//! | [`sum`] | several of them that count different energy |
//!
//! [`open`] gives the one that a plan names, [`all`] finds those of a machine, each with what keeps it from being read.
//! A meter that can't be read is an error, never 0 J. Below them: [`counted`] is a counter that is asked, [`sampled`] a
//! power that is sampled by a thread, `drivers` what the kernel's drivers of sensors say, [`file`](mod@file) how a number is read, [`topology`] where a processor is, [`thread`] what
//! this thread took.
//!
//! A new meter is a file with its `METER`, a [`Kind`], and a line for it in `KINDS` of `registry`, beside its `mod`.
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `energy_uJ` is in microjoules")]

pub mod battery;
pub mod counted;
mod drivers;
pub mod file;
pub mod hwmon;
mod kind;
pub mod perf;
pub mod powercap;
pub mod ppk2;
pub mod recording;
mod registry;
pub mod sampled;
pub mod stream;
pub mod sum;
#[cfg(test)]
mod tests;
pub mod thread;
mod time;
pub mod topology;

pub use self::kind::{Found, Kind, LIST, Missing, Opened, described, for_a_record, refused, root};
pub use self::registry::{Sleep, all, moves, open, read_cost};
pub use self::time::{SystemTime, Time};
