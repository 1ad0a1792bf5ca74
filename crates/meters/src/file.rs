//! Numbers in files. One that gives none tells its path and the text that was read.

use std::path::Path;
use std::{fmt, io};

use wattlock_engine::MeterError;

/// Why there is no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoNumber {
    /// In the engine's terms.
    pub cause: MeterError,
    /// The file, and its text or why it can't be read.
    pub said: String,
}

impl NoNumber {
    /// The file `path` holds `text`, and that is no number of its kind.
    pub fn of(cause: MeterError, path: &Path, text: &str, why: &str) -> Self {
        // A file that is no number may be long.
        let shown: String = text.chars().take(40).collect();
        Self { cause, said: format!("{} holds {shown:?}{why}", path.display()) }
    }

    /// The file `path` can't be read.
    pub fn unread(path: &Path, error: &io::Error) -> Self {
        Self { cause: MeterError::Unreadable, said: format!("{}: {error}", path.display()) }
    }
}

impl From<MeterError> for NoNumber {
    fn from(cause: MeterError) -> Self {
        Self { cause, said: String::new() }
    }
}

impl fmt::Display for NoNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.said.is_empty() { write!(f, "{}", self.cause) } else { write!(f, "{}: {}", self.cause, self.said) }
    }
}

/// The text of a file without the space around it.
pub fn text(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path).map(|text| text.trim().to_owned())
}

/// The number of a file, unless it is one that drivers show where they have none, and the text that it was.
fn sensible(path: &Path) -> Result<(i64, String), NoNumber> {
    const NONE: [i64; 5] = [0xffff, 0xffff_ffff, i32::MIN as i64, i32::MAX as i64, 0xffff * 1000];
    let text = text(path).map_err(|error| NoNumber::unread(path, &error))?;
    match text.parse() {
        Ok(shown) if NONE.contains(&shown) => Err(NoNumber::of(MeterError::NoValue { shown }, path, &text, "")),
        Ok(shown) => Ok((shown, text)),
        Err(_) => Err(NoNumber::of(MeterError::Unreadable, path, &text, ", which is no whole number")),
    }
}

/// The size of a number of either sign: a current or a power.
///
/// # Errors
/// There is none, or it is one that drivers show where they have none: all ones in 16 or 32 bits, the least and the
/// greatest number of 32 bits.
pub fn size(path: &Path) -> Result<u64, NoNumber> {
    sensible(path).map(|(shown, _)| shown.unsigned_abs())
}

/// A number that has no sign: an energy, a charge.
///
/// # Errors
/// As of [`size`], and where it is negative.
pub fn level(path: &Path) -> Result<u64, NoNumber> {
    let (shown, text) = sensible(path)?;
    let negative = || NoNumber::of(MeterError::NoValue { shown }, path, &text, ", and it can't be negative");
    u64::try_from(shown).map_err(|_| negative())
}

/// The nanojoules of a counter of microjoules, from the text of its file.
///
/// # Errors
/// It is no count, or more than 64 bits of nanojoules.
pub fn counter_nJ(path: &Path, text: &str) -> Result<u64, NoNumber> {
    let refused = |why| NoNumber::of(MeterError::Unreadable, path, text.trim(), why);
    let counter_uJ: u64 = text.trim().parse().map_err(|_| refused(", which is no count of microjoules"))?;
    counter_uJ.checked_mul(1000).ok_or_else(|| refused(", more microjoules than any counter holds"))
}

/// A number in a file that describes a meter.
pub(crate) fn number(path: &Path) -> Option<u64> {
    text(path).ok()?.parse().ok()
}
