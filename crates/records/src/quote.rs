//! Names that somebody gave, as messages repeat them.

use alloc::format;
use alloc::string::String;

/// A name that somebody gave is repeated at no greater length, characters.
pub const LONGEST_QUOTE: usize = 80;

/// A name that somebody gave, in quotes, its first 80 characters.
#[must_use]
pub fn quoted(name: &str) -> String {
    match name.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{:?}", format!("{}...", &name[..end])),
        None => format!("{name:?}"),
    }
}
