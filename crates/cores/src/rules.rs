//! A core's numbers, as its pipeline takes them.

use std::collections::BTreeMap;

use crate::error::Error;

/// Numbers by name, taken one after the other; none may be left.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Whose they are, for messages.
    pub of: String,
    /// The numbers.
    pub values: BTreeMap<String, u32>,
}

impl Rules {
    /// One of them.
    ///
    /// # Errors
    /// Where it is missing.
    pub fn take(&mut self, name: &str) -> Result<u64, Error> {
        self.values.remove(name).map(u64::from).ok_or_else(|| self.wrong(format!("rules.{name} is missing")))
    }

    /// One that switches a rule on.
    ///
    /// # Errors
    /// Where it is missing, or neither 0 nor 1.
    pub fn take_switch(&mut self, name: &str) -> Result<bool, Error> {
        match self.take(name)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.wrong(format!("rules.{name} is {other}: 0 or 1"))),
        }
    }

    /// # Errors
    /// Where some were not taken: nobody would follow them.
    pub fn finish(self) -> Result<(), Error> {
        match self.values.keys().next() {
            Some(name) => Err(self.wrong(format!("rules.{name} is unknown"))),
            None => Ok(()),
        }
    }

    /// An error of this core's.
    #[must_use]
    pub fn wrong(&self, problem: String) -> Error {
        Error::Rules { of: self.of.clone(), problem }
    }
}
