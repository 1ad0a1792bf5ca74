//! Which packet numbers of one transmitter under one key were there (12.5.2.6, 12.5.3.4.4, 12.5.5.4.4).

use crate::{Frame, Kind};

/// Numbers that may come late: the longest window of a block acknowledgement (1024 in 802.11be, 256 in 802.11ax, 64
/// before), as a capture does not always show which one two stations agreed on.
const WINDOW: u64 = 1024;
const WORDS: usize = 16;
/// A counter for each traffic identifier, and one for management frames.
const COUNTERS: usize = 17;

/// The replay counters of one transmitter under one key.
///
/// Frames with QoS may be under a block acknowledgement, and then come in any order within its window. A receiver puts
/// them in order before it looks at their numbers; an observer can't, so here a number of such a frame is refused where it
/// was there before or is older than the longest window. All other frames must have rising numbers.
///
/// A new key begins with new counters; a key that is installed once more must keep them.
#[derive(Debug, Clone)]
pub struct Replay {
    counters: [Window; COUNTERS],
}

#[derive(Debug, Clone, Copy, Default)]
struct Window {
    /// The largest number so far, and one more: 0 where there was none.
    next: u64,
    /// Which of the last numbers were there: number n at bit n modulo the window.
    seen: [u64; WORDS],
}

impl Window {
    fn place(number: u64) -> (usize, u64) {
        let at = usize::try_from(number % WINDOW).unwrap_or(0);
        (at / 64, 1 << (at % 64))
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.seen[word] & bit != 0
    }

    fn set(&mut self, number: u64, was_there: bool) {
        let (word, bit) = Self::place(number);
        self.seen[word] = if was_there { self.seen[word] | bit } else { self.seen[word] & !bit };
    }
}

impl Default for Replay {
    fn default() -> Self {
        Self::new()
    }
}

impl Replay {
    /// Counters that have seen nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { counters: [Window { next: 0, seen: [0; WORDS] }; COUNTERS] }
    }

    fn counter(frame: &Frame<'_>) -> usize {
        if frame.kind() == Kind::Management { COUNTERS - 1 } else { usize::from(frame.tid()) }
    }

    /// Whether a frame with this number would be new. Nothing is noted: first the frame has to verify.
    #[must_use]
    pub fn is_new(&self, frame: &Frame<'_>, number: u64) -> bool {
        let window = &self.counters[Self::counter(frame)];
        if number >= window.next {
            return true;
        }
        let behind = window.next - 1 - number;
        let may_be_late = frame.qos_control().is_some() && !frame.is_group_addressed() && !frame.is_fragment();
        may_be_late && behind < WINDOW && !window.has(number)
    }

    /// Notes the number of a frame that has verified.
    pub fn note(&mut self, frame: &Frame<'_>, number: u64) {
        let window = &mut self.counters[Self::counter(frame)];
        if number >= window.next {
            if number - window.next >= WINDOW {
                window.seen = [0; WORDS];
            } else {
                (window.next..number).for_each(|skipped| window.set(skipped, false));
            }
            window.next = number + 1;
        }
        if window.next - number <= WINDOW {
            window.set(number, true);
        }
    }
}
