//! Counters that were there: each is released at most once.

/// Counters behind the highest that are still told apart.
pub const WINDOW: u32 = 64;

/// Which counters were there: the highest, and the 63 before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// The counter that is expected next: one more than the highest that was there.
    pub next: u32,
    /// Bit `n` is the counter `next - 1 - n`.
    pub there: u64,
}

impl Window {
    /// Whether the counter was never there, and is not so old that nobody knows.
    #[must_use]
    pub fn is_new(&self, counter: u32) -> bool {
        match self.next.checked_sub(counter) {
            None | Some(0) => true,
            Some(behind) => behind <= WINDOW && self.there >> (behind - 1) & 1 == 0,
        }
    }

    /// Notes a counter that [`Window::is_new`] allowed.
    pub fn note(&mut self, counter: u32) {
        match self.next.checked_sub(counter) {
            None | Some(0) => {
                let steps = counter - self.next + 1;
                self.there = self.there.checked_shl(steps).unwrap_or(0) | 1;
                self.next = counter.saturating_add(1);
            }
            Some(behind) => self.there |= 1_u64.checked_shl(behind - 1).unwrap_or(0),
        }
    }

    /// Nothing from `next` on was there, and all before it: what a rescue says of the sensor's counters.
    #[must_use]
    pub fn from(next: u32) -> Self {
        Self { next, there: u64::MAX }
    }

    /// The counter with these low bits that lies nearest to the one expected: at most half a turn ahead or behind.
    #[must_use]
    pub fn nearest(&self, low: u32, bits: u32) -> u32 {
        let turn = 1_u32 << bits;
        let lowest = self.next.saturating_sub(turn / 2);
        lowest.saturating_add(low.wrapping_sub(lowest) & (turn - 1))
    }
}
