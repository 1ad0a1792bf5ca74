//! Messages that a gateway holds until they are verified, doubted or too old.

use zeroize::Zeroize;

use crate::sealing::Tag;

/// Where a held message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// In no report yet.
    Unreported,
    /// In a report that no later message has confirmed.
    Frozen,
    /// In the transcript of the keys in use; so many later messages have opened with them.
    Attested {
        /// Messages that opened later.
        acceptances: u32,
    },
    /// Verified, and waiting to be received.
    Verified {
        /// A forgery could be here with at most 2 to the power of minus this.
        bits: u32,
    },
    /// In a transcript that both ends don't share: it may be forged.
    Doubted,
    /// The sensor says that it never sealed this: it is forged.
    Refuted,
    /// No report could cover it in time: it stays as strong as its short tag.
    Expired,
}

impl Standing {
    fn is_provisional(self) -> bool {
        matches!(self, Self::Unreported | Self::Frozen | Self::Attested { .. })
    }
}

/// A message that opened.
#[derive(Clone)]
pub struct Entry<const PAYLOAD_B: usize> {
    pub counter: u32,
    pub standing: Standing,
    pub tag: Tag,
    pub length_B: usize,
    pub payload: [u8; PAYLOAD_B],
}

impl<const PAYLOAD_B: usize> Drop for Entry<PAYLOAD_B> {
    fn drop(&mut self) {
        self.tag.zeroize();
        self.payload.zeroize();
    }
}

/// The messages that are held.
#[cfg_attr(feature = "copies", derive(Clone))]
pub struct Held<const HELD: usize, const PAYLOAD_B: usize> {
    entries: [Option<Entry<PAYLOAD_B>>; HELD],
}

impl<const HELD: usize, const PAYLOAD_B: usize> Held<HELD, PAYLOAD_B> {
    /// None.
    pub fn new() -> Self {
        Self { entries: [const { None }; HELD] }
    }

    /// Holds one more, and returns the counter and standing of the oldest, which it pushed out if all places are taken:
    /// one that is not verified, if there is any.
    pub fn add(&mut self, entry: Entry<PAYLOAD_B>) -> Option<(u32, Standing)> {
        let empty = self.entries.iter().position(Option::is_none);
        let place = empty
            .or_else(|| self.oldest(|standing| !matches!(standing, Standing::Verified { .. })))
            .or_else(|| self.oldest(|_| true));
        let pushed_out = self.entries.get_mut(place?)?.replace(entry)?;
        Some((pushed_out.counter, pushed_out.standing))
    }

    /// All that are held, in no order.
    pub fn each(&self) -> impl Iterator<Item = &Entry<PAYLOAD_B>> {
        self.entries.iter().flatten()
    }

    /// Changes the standing of each provisional message.
    pub fn restand(&mut self, mut standing: impl FnMut(u32, Standing) -> Standing) {
        for entry in self.entries.iter_mut().flatten().filter(|entry| entry.standing.is_provisional()) {
            entry.standing = standing(entry.counter, entry.standing);
        }
    }

    /// The provisional messages.
    pub fn provisional(&self) -> impl Iterator<Item = &Entry<PAYLOAD_B>> {
        self.each().filter(|entry| entry.standing.is_provisional())
    }

    /// Takes the oldest message whose standing is wanted.
    pub fn take(&mut self, wanted: impl Fn(Standing) -> bool) -> Option<Entry<PAYLOAD_B>> {
        let place = self.oldest(wanted)?;
        self.entries.get_mut(place)?.take()
    }

    /// The place of the oldest message whose standing is wanted: a refuted one may have the counter of a genuine one.
    fn oldest(&self, wanted: impl Fn(Standing) -> bool) -> Option<usize> {
        let counter_at = |place: &usize| {
            let entry = self.entries[*place].as_ref().filter(|entry| wanted(entry.standing));
            entry.map(|entry| entry.counter)
        };
        (0..HELD).filter(|place| counter_at(place).is_some()).min_by_key(counter_at)
    }
}
