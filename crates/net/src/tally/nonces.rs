//! Where the nonces of resumptions come from.

use std::io;

/// Gives each number once in the life of a pair, also after a crash: the nonces of one side's resumptions.
pub trait Nonces {
    /// The next number; whoever calls may use it once this has returned.
    ///
    /// # Errors
    /// What keeps it from being used safely.
    fn next(&mut self) -> io::Result<u64>;
}
