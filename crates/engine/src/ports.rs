//! The three ports through which the engine meets the world.

use core::fmt;

use crate::{Microjoules, Nanoseconds, Ticks};

/// What is timed: one combination of factors, ready to be called.
pub trait Cell {
    /// How many segments one visit has; more than one where a single call is longer than a batch.
    fn segments(&self) -> u32 {
        1
    }

    /// Moves buffers to other places before a visit, drawn from `seed`: what a layout costs or saves is then spread over
    /// the visits of one process instead of telling processes apart.
    fn settle(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Carries out `calls` calls of segment `segment`, back to back, with nothing else in between.
    fn run(&mut self, segment: u32, calls: u32);
}

/// What a clock knows beside its ticks: asked before and after a batch, outside the timed region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Context switches of this thread so far, voluntary and not; `None` where the system does not tell.
    pub switches: Option<u64>,
    /// The processor that the thread is on; `None` where the system does not tell.
    pub cpu: Option<u32>,
}

/// What tells the time.
pub trait Clock {
    /// The tick counter, ordered against the instructions before and after the read.
    fn ticks(&mut self) -> Ticks;

    /// CPU time of this thread; `None` where the system does not tell.
    fn cpu_time(&mut self) -> Option<Nanoseconds>;

    /// Runs the canary, a chain of dependent multiplications, and gives the ticks it took.
    fn canary(&mut self) -> Ticks;

    /// Runs a burst of independent additions, as many as the core can issue, and gives the ticks it took. A thread
    /// that shares the core's units slows the burst and not the chain.
    fn burst(&mut self) -> Ticks;

    /// Context switches and the processor.
    fn moment(&mut self) -> Moment;
}

/// What a meter is, in the terms in which its errors are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterDescription {
    /// The counter's value after which it starts from 0 again; `None` where it is unreadable.
    pub range: Option<Microjoules>,
    /// The time between two updates of the counter.
    pub update_period: Nanoseconds,
    /// The shortest time in which the counter can pass its whole range.
    pub round_trip: Nanoseconds,
}

/// One read of an energy counter, with the time before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The counter.
    pub counter: Microjoules,
    /// The time just before the read.
    pub before: Nanoseconds,
    /// The time just after the read.
    pub after: Nanoseconds,
}

/// What tells the energy: a counter that only rises, and wraps.
pub trait Meter {
    /// What this meter is.
    fn description(&self) -> MeterDescription;

    /// Reads the counter.
    ///
    /// # Errors
    /// [`MeterError::Unreadable`] where the system refuses; never a value of 0 in its place.
    fn read(&mut self) -> Result<Reading, MeterError>;
}

/// What follows from an error of measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The block is measured again.
    RepeatBatch,
    /// The cell is given up, the run goes on.
    SkipCell,
    /// Nothing more can be measured.
    EndRun,
}

/// Why a block of energy has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeterError {
    /// The counter can't be read.
    Unreadable,
    /// The window is so long that the counter may have wrapped more than once.
    WrapAmbiguous {
        /// Time between the two reads.
        window: Nanoseconds,
        /// Shortest time in which the counter passes its range.
        round_trip: Nanoseconds,
    },
    /// The counter fell, and its range is unknown: a wrap can't be told from a reset.
    WentBackwards {
        /// The counter at the start.
        from: Microjoules,
        /// The counter at the end.
        to: Microjoules,
    },
    /// The counter is above the range that it states.
    BeyondRange {
        /// The counter.
        counter: Microjoules,
        /// The stated range.
        range: Microjoules,
    },
    /// The window holds too few updates of the counter.
    WindowTooShort {
        /// Time between the two reads.
        window: Nanoseconds,
        /// The least that would do.
        least: Nanoseconds,
    },
}

impl MeterError {
    /// What follows from this error.
    #[must_use]
    pub fn follows(&self) -> Follows {
        match self {
            Self::Unreadable | Self::BeyondRange { .. } => Follows::EndRun,
            Self::WrapAmbiguous { .. } | Self::WindowTooShort { .. } => Follows::SkipCell,
            Self::WentBackwards { .. } => Follows::RepeatBatch,
        }
    }
}

impl fmt::Display for MeterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => write!(f, "the energy counter can't be read"),
            Self::WrapAmbiguous { window, round_trip } => {
                write!(f, "{window} ns between two reads, but the counter may wrap every {round_trip} ns")
            }
            Self::WentBackwards { from, to } => {
                write!(f, "the counter fell from {from} to {to} uJ and its range is unknown")
            }
            Self::BeyondRange { counter, range } => {
                write!(f, "the counter stands at {counter} uJ, above its range of {range} uJ")
            }
            Self::WindowTooShort { window, least } => {
                write!(f, "a window of {window} ns holds too few counter updates, {least} ns is the least")
            }
        }
    }
}

impl core::error::Error for MeterError {}
