//! The three ports through which the engine meets the world.

use core::fmt;

use crate::{Nanojoules, Nanoseconds, Ticks, Width};

/// What is timed: one combination of factors, ready to be called.
pub trait Case {
    /// How many segments one visit has; more than one where a single call is longer than a batch.
    fn segments(&self) -> u32 {
        1
    }

    /// Moves buffers to other places before a visit, drawn from `seed`: what a layout costs or saves is then spread over
    /// the visits of one process instead of telling processes apart.
    fn settle(&mut self, seed: u64) {
        let _ = seed;
    }

    /// The addresses of what is read and of what is written until the next [`Case::settle`]; 0 where there is none.
    fn buffers(&self) -> (usize, usize) {
        (0, 0)
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

    /// The step in which [`ticks`](Clock::ticks) rises, where a canary lasts so few of them that two alike may differ by
    /// more than a clock that changed; 0 where it is finer.
    fn step(&self) -> Ticks {
        0
    }

    /// CPU time of this thread; `None` where the system does not tell.
    fn cpu_time(&mut self) -> Option<Nanoseconds>;

    /// Runs the canary, a chain of dependent multiplications, and gives the ticks it took.
    fn canary(&mut self) -> Ticks;

    /// Runs a burst of independent additions, as many as the core can issue, and gives the ticks it took. A thread
    /// that shares the core's units slows the burst and not the chain.
    fn burst(&mut self) -> Ticks;

    /// Runs a witness, a burst of known operations on vectors of this width that the core may hold back (the page of the
    /// states, `state.rs`), and gives the ticks it took; `None` where the processor has no such width, or none is written.
    fn witness(&mut self, width: Width) -> Option<Ticks> {
        let _ = width;
        None
    }

    /// Context switches and the processor.
    fn moment(&mut self) -> Moment;
}

/// What a meter is, in the terms in which its errors are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterDescription {
    /// The counter's value after which it starts from 0 again; `None` where it is unreadable.
    pub range: Option<Nanojoules>,
    /// The time between two updates of the counter.
    pub update_period: Nanoseconds,
    /// The shortest time in which the counter can pass its whole range.
    pub round_trip: Nanoseconds,
    /// The longest time for which a counter that works may show one value.
    pub patience: Nanoseconds,
}

/// One read of an energy counter, with the time before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The counter.
    pub counter: Nanojoules,
    /// The time just before the read, or when a value that is read later was taken.
    pub before: Nanoseconds,
    /// The time just after the read.
    pub after: Nanoseconds,
    /// How long the machine has been suspended since it started.
    pub suspended: Nanoseconds,
}

/// What tells the energy: a counter that only rises, and wraps.
pub trait Meter {
    /// What this meter is.
    fn description(&self) -> MeterDescription;

    /// Reads the counter.
    ///
    /// # Errors
    /// Why there is no value; never a value of 0 in its place.
    fn read(&mut self) -> Result<Reading, MeterError>;

    /// What the last read found where it failed: a file and its text; `None` where there is no more to say.
    fn said(&self) -> Option<&str> {
        None
    }

    /// The length of a chip of the marker, where an instrument beside the device records and nothing is counted here: the
    /// counter of every reading is 0 then, and only its times tell something. `None` for a meter that counts.
    fn chip(&self) -> Option<Nanoseconds> {
        None
    }

    /// Shows a level of the marker on a pin, where there is one.
    ///
    /// # Errors
    /// The pin can't be set.
    fn show(&mut self, is_busy: bool) -> Result<(), MeterError> {
        let _ = is_busy;
        Ok(())
    }
}

/// What follows from an error of measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The block is measured again.
    RepeatBatch,
    /// The case is given up, the run goes on.
    SkipCase,
    /// Nothing more can be measured.
    EndRun,
}

/// Why a block of energy has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeterError {
    /// The counter can't be read.
    Unreadable,
    /// The counter shows one value for longer than one that works.
    Stuck {
        /// The counter.
        counter: Nanojoules,
        /// For how long.
        waited: Nanoseconds,
    },
    /// The window is so long that the counter may have wrapped more than once.
    WrapAmbiguous {
        /// Time between the two reads.
        window: Nanoseconds,
        /// Shortest time in which the counter passes its range.
        round_trip: Nanoseconds,
    },
    /// The counter fell and its range is unknown, or a wrap would be more than it can rise by: it may have been reset.
    WentBackwards {
        /// The counter at the start.
        from: Nanojoules,
        /// The counter at the end.
        to: Nanojoules,
    },
    /// The counter is above the range that it states.
    BeyondRange {
        /// The counter.
        counter: Nanojoules,
        /// The stated range.
        range: Nanojoules,
    },
    /// The window holds too few updates of the counter.
    WindowTooShort {
        /// Time between the two reads.
        window: Nanoseconds,
        /// The least that would do.
        least: Nanoseconds,
    },
    /// The machine was suspended in the window: counters stand still, start anew, or count on.
    Suspended {
        /// For how long.
        suspended: Nanoseconds,
    },
    /// The battery is not the machine's supply: its gauge tells what the charger does.
    NotDischarging,
    /// The meter says that it does not know.
    NoValue {
        /// What it shows instead.
        shown: i64,
    },
    /// What shows the power has not answered.
    NoAnswer {
        /// For how long.
        waited: Nanoseconds,
    },
    /// Samples did not arrive.
    Lost {
        /// How many, at least.
        samples: u64,
    },
}

impl MeterError {
    /// What follows from this error.
    #[must_use]
    pub fn follows(&self) -> Follows {
        match self {
            Self::Unreadable
            | Self::BeyondRange { .. }
            | Self::NotDischarging
            | Self::Stuck { .. }
            | Self::NoAnswer { .. } => Follows::EndRun,
            Self::WrapAmbiguous { .. } | Self::WindowTooShort { .. } => Follows::SkipCase,
            Self::WentBackwards { .. } | Self::Suspended { .. } | Self::NoValue { .. } | Self::Lost { .. } => {
                Follows::RepeatBatch
            }
        }
    }
}

impl fmt::Display for MeterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => write!(f, "the energy counter can't be read"),
            Self::Stuck { counter, waited } => {
                write!(f, "the counter stood at {} for {}: it does not count", Energy(*counter), Time(*waited))
            }
            Self::WrapAmbiguous { window, round_trip } => {
                write!(f, "{} between two reads, but the counter may wrap every {}", Time(*window), Time(*round_trip))
            }
            Self::WentBackwards { from, to } => {
                let (from, to) = (Energy(*from), Energy(*to));
                write!(
                    f,
                    "the counter fell from {from} to {to}, which no single wrap explains: it was reset, or its range is \
                     unknown"
                )
            }
            Self::BeyondRange { counter, range } => {
                write!(f, "the counter stands at {}, above its range of {}", Energy(*counter), Energy(*range))
            }
            Self::WindowTooShort { window, least } => {
                let (window, least) = (Time(*window), Time(*least));
                write!(f, "a window of {window} holds too few counter updates, {least} is the least")
            }
            Self::NoAnswer { waited } => write!(f, "the driver has not answered for {}", Time(*waited)),
            Self::Suspended { suspended } => write!(f, "the machine was suspended for {}", Time(*suspended)),
            Self::NotDischarging => write!(f, "the battery is not discharging: unplug the charger"),
            Self::NoValue { shown } => write!(f, "the meter shows {shown}, which means that it does not know"),
            Self::Lost { samples } => write!(f, "{samples} samples or more did not arrive"),
        }
    }
}

impl core::error::Error for MeterError {}

/// A time for the eye: `500 ms`.
struct Time(Nanoseconds);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, &[(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")])
    }
}

/// Energy for the eye: `1.5 J`.
struct Energy(Nanojoules);

impl fmt::Display for Energy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, &[(1_000_000_000, "J"), (1_000_000, "mJ"), (1000, "uJ"), (1, "nJ")])
    }
}

/// `value` in the first of `units` that it reaches, to three decimals, without zeros at their end.
fn scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    let (scale, unit) = units.iter().find(|(scale, _)| value >= *scale).or(units.first()).copied().unwrap_or((1, ""));
    let (whole, mut rest) = (value / scale, value % scale * 1000 / scale);
    let mut digits = 3;
    while digits > 0 && rest % 10 == 0 {
        (rest, digits) = (rest / 10, digits - 1);
    }
    match digits {
        0 => write!(f, "{whole} {unit}"),
        _ => write!(f, "{whole}.{rest:0digits$} {unit}"),
    }
}
