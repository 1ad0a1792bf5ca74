//! Where the nonces of resumptions come from.

use std::io;

use wattlock_tally::Nonce;

/// Gives the nonces of one side's resumptions: each number once in the life of a pair, also after a crash, and random octets
/// that are drawn anew each time, so that a nonce comes once also where numbers are restored from a copy.
pub trait Nonces {
    /// The next nonce; whoever calls may use it once this has returned.
    ///
    /// # Errors
    /// What keeps it from being used safely.
    fn next(&mut self) -> io::Result<Nonce>;
}
