//! Messages that a gateway holds until they are verified, doubted or too old.
//!
//! None is moved: a record is opened into a spare place, and places are held in the order of their messages' counters.

use core::mem;

use zeroize::Zeroize;

use crate::sealing::{Tag, wipe};

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

    fn class(self) -> Class {
        match self {
            Self::Unreported | Self::Frozen => Class::Waiting,
            Self::Attested { .. } => Class::Attested,
            Self::Verified { .. } => Class::Verified,
            Self::Doubted | Self::Refuted | Self::Expired => Class::Lost,
        }
    }
}

/// What messages are counted by, so that none is looked for where there is none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Unreported or frozen.
    Waiting,
    /// Attested.
    Attested,
    /// Verified.
    Verified,
    /// Doubted, refuted or expired.
    Lost,
}

const CLASSES: usize = 4;

/// A place for a message.
#[cfg_attr(feature = "copies", derive(Clone))]
pub struct Entry<const PAYLOAD_B: usize> {
    pub counter: u32,
    pub standing: Standing,
    pub tag: Tag,
    pub length_B: usize,
    // Copied and overwritten by words.
    payload: Aligned<PAYLOAD_B>,
}

#[cfg_attr(feature = "copies", derive(Clone))]
#[repr(align(8))]
struct Aligned<const PAYLOAD_B: usize>([u8; PAYLOAD_B]);

impl<const PAYLOAD_B: usize> Entry<PAYLOAD_B> {
    const EMPTY: Self = Self {
        counter: 0,
        standing: Standing::Unreported,
        tag: Tag::ZERO,
        length_B: 0,
        payload: Aligned([0; PAYLOAD_B]),
    };

    /// The message.
    pub fn payload(&self) -> &[u8] {
        self.payload.0.get(..self.length_B).unwrap_or_default()
    }

    /// The message, to be overwritten.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        self.payload.0.get_mut(..self.length_B).unwrap_or_default()
    }

    /// Room for a message of so many octets; `None` if it is too long.
    pub fn room(&mut self, length_B: usize) -> Option<&mut [u8]> {
        let room = self.payload.0.get_mut(..length_B)?;
        self.length_B = length_B;
        Some(room)
    }

    /// Overwrites message and tag.
    pub fn wipe(&mut self) {
        self.tag.zeroize();
        wipe(self.payload_mut());
    }
}

impl<const PAYLOAD_B: usize> Drop for Entry<PAYLOAD_B> {
    fn drop(&mut self) {
        self.tag.zeroize();
        wipe(&mut self.payload.0);
    }
}

/// The messages that are held.
#[cfg_attr(feature = "copies", derive(Clone))]
pub struct Held<const HELD: usize, const PAYLOAD_B: usize> {
    /// All places but one, by their numbers.
    places: [Entry<PAYLOAD_B>; HELD],
    /// The place of number `HELD`.
    last: Entry<PAYLOAD_B>,
    /// Numbers of places: from `first` on, round the end, those of `length` held messages by their counters, the oldest
    /// first; behind them those of empty places.
    order: [u16; HELD],
    first: usize,
    length: usize,
    /// The place that is not in the order: the next record is opened there.
    spare: u16,
    /// Messages of each class.
    counts: [usize; CLASSES],
}

impl<const HELD: usize, const PAYLOAD_B: usize> Held<HELD, PAYLOAD_B> {
    /// None.
    pub fn new() -> Self {
        const { assert!(HELD > 0 && HELD < u16::MAX as usize, "a gateway holds 1 to 65,534 messages") };
        let mut order = [0; HELD];
        order.iter_mut().zip(0..).for_each(|(number, place)| *number = place);
        Self {
            places: [const { Entry::EMPTY }; HELD],
            last: Entry::EMPTY,
            order,
            first: 0,
            length: 0,
            spare: u16::try_from(HELD).unwrap_or(u16::MAX),
            counts: [0; CLASSES],
        }
    }

    /// The place into which a record is opened, and which [`Held::add`] then takes in.
    pub fn spare(&mut self) -> &mut Entry<PAYLOAD_B> {
        self.place_mut(self.spare)
    }

    /// Holds what is in the spare place, and returns the counter and standing of the oldest, which it pushed out if all
    /// places are taken: one that is not verified, if there is any.
    pub fn add(&mut self) -> Option<(u32, Standing)> {
        let pushed_out = (self.length == HELD).then(|| {
            let rank = self.each().position(|entry| entry.standing.class() != Class::Verified);
            let entry = self.remove(rank.unwrap_or(0));
            entry.wipe();
            (entry.counter, entry.standing)
        });
        let (counter, class) = (self.spare().counter, self.spare().standing.class());
        self.counts[class as usize] += 1;
        let mut rank = self.length;
        self.length += 1;
        let slot = self.slot(rank);
        let number = mem::replace(&mut self.spare, self.order[slot]);
        while rank > 0 && self.at(rank - 1).counter > counter {
            self.order[self.slot(rank)] = self.order[self.slot(rank - 1)];
            rank -= 1;
        }
        self.order[self.slot(rank)] = number;
        pushed_out
    }

    /// All that are held, those with lower counters first.
    pub fn each(&self) -> impl Iterator<Item = &Entry<PAYLOAD_B>> {
        (0..self.length).map(|rank| self.at(rank))
    }

    /// How many messages of this class are held.
    pub fn count(&self, class: Class) -> usize {
        self.counts[class as usize]
    }

    /// Changes the standing of each provisional message.
    pub fn restand(&mut self, mut standing: impl FnMut(u32, Standing) -> Standing) {
        for rank in 0..self.length {
            let number = self.order[self.slot(rank)];
            let entry = self.place_mut(number);
            if entry.standing.is_provisional() {
                let before = entry.standing;
                entry.standing = standing(entry.counter, before);
                let after = entry.standing;
                self.counts[before.class() as usize] -= 1;
                self.counts[after.class() as usize] += 1;
            }
        }
    }

    /// The provisional messages.
    pub fn provisional(&self) -> impl Iterator<Item = &Entry<PAYLOAD_B>> {
        self.each().filter(|entry| entry.standing.is_provisional())
    }

    /// Takes the oldest message of a class: who takes it wipes it. A refuted one may have the counter of a genuine one.
    pub fn take(&mut self, class: Class) -> Option<&mut Entry<PAYLOAD_B>> {
        if self.count(class) == 0 {
            return None;
        }
        let rank = self.each().position(|entry| entry.standing.class() == class)?;
        Some(self.remove(rank))
    }

    fn remove(&mut self, rank: usize) -> &mut Entry<PAYLOAD_B> {
        let number = self.order[self.slot(rank)];
        for rank in (0..rank).rev() {
            self.order[self.slot(rank + 1)] = self.order[self.slot(rank)];
        }
        // The first slot is now the last of the empty places.
        self.order[self.first] = number;
        self.first = self.slot(1);
        self.length -= 1;
        let class = self.place_mut(number).standing.class();
        self.counts[class as usize] -= 1;
        self.place_mut(number)
    }

    /// Where in the order the number of the message stands that so many others are older than.
    fn slot(&self, rank: usize) -> usize {
        (self.first + rank) % HELD
    }

    fn at(&self, rank: usize) -> &Entry<PAYLOAD_B> {
        self.places.get(usize::from(self.order[self.slot(rank)])).unwrap_or(&self.last)
    }

    fn place_mut(&mut self, number: u16) -> &mut Entry<PAYLOAD_B> {
        self.places.get_mut(usize::from(number)).unwrap_or(&mut self.last)
    }
}
