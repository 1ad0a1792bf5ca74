//! Meters that count energy themselves: they are asked when they are read, and not in between.

use wattlock_engine::{Meter, MeterDescription, MeterError, Nanojoules, Reading};

use super::file::NoNumber;
use super::time::Time;

/// A counter behind `ask`.
pub struct Counted<A, T> {
    ask: A,
    description: MeterDescription,
    time: T,
    said: Option<String>,
}

impl<A: FnMut() -> Result<Nanojoules, NoNumber>, T: Time> Counted<A, T> {
    /// Asks nothing yet.
    pub fn new(ask: A, description: MeterDescription, time: T) -> Self {
        Self { ask, description, time, said: None }
    }
}

impl<A: FnMut() -> Result<Nanojoules, NoNumber>, T: Time> Meter for Counted<A, T> {
    fn description(&self) -> MeterDescription {
        self.description
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        let suspended = self.time.suspended();
        let before = self.time.now();
        self.said = None;
        let asked = (self.ask)();
        let after = self.time.now();
        match asked {
            Ok(counter) => Ok(Reading { counter, before, after, suspended }),
            Err(NoNumber { cause, said }) => {
                self.said = Some(said);
                Err(cause)
            }
        }
    }

    fn said(&self) -> Option<&str> {
        self.said.as_deref().filter(|said| !said.is_empty())
    }
}
