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
        /// A forgery could be here with at most 2 to the power of minus this, as of [`crate::Message::bits`].
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
#[cfg_attr(any(test, feature = "copies"), derive(Clone))]
pub struct Entry<const PAYLOAD_B: usize> {
    pub counter: u32,
    pub standing: Standing,
    pub tag: Tag,
    pub length_B: usize,
    // Copied and overwritten by words.
    payload: Aligned<PAYLOAD_B>,
}

#[cfg_attr(any(test, feature = "copies"), derive(Clone))]
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
#[cfg_attr(any(test, feature = "copies"), derive(Clone))]
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

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const HELD: usize = 5;

    impl Held<HELD, 8> {
        fn hold(&mut self, counter: u32, standing: Standing, octets: &[u8]) -> Option<(u32, Standing)> {
            let spare = self.spare();
            (spare.counter, spare.standing, spare.tag) = (counter, standing, Tag::new([0xab; 16]));
            spare.room(octets.len()).into_iter().for_each(|room| room.copy_from_slice(octets));
            self.add()
        }
    }

    impl<const HELD: usize, const PAYLOAD_B: usize> Held<HELD, PAYLOAD_B> {
        /// What is not zero of all tags and messages, of empty places too.
        pub fn written(&self) -> Vec<u8> {
            let places = self.places.iter().chain([&self.last]);
            let octets = places.flat_map(|entry| entry.tag.octets().iter().chain(&entry.payload.0));
            octets.copied().filter(|octet| *octet != 0).collect()
        }
    }

    const VERIFIED: Standing = Standing::Verified { bits: 128 };

    #[test]
    fn a_message_that_left_leaves_no_octet_behind() {
        let mut held = Held::new();
        held.hold(1, VERIFIED, &[7; 8]);
        held.hold(2, Standing::Unreported, &[7; 3]);
        assert_eq!(held.written().len(), 2 * 16 + 8 + 3);
        held.take(Class::Verified).into_iter().for_each(Entry::wipe);
        assert_eq!(held.written().len(), 16 + 3);
        for counter in 3..3 + 4 {
            assert_eq!(held.hold(counter, VERIFIED, &[]), None);
        }
        assert_eq!(held.hold(7, VERIFIED, &[]), Some((2, Standing::Unreported)));
        assert_eq!(held.written(), [0xab; 5 * 16]);
        assert!(held.spare().room(8).is_some() && held.spare().room(9).is_none());
    }

    /// Whatever is held, taken and changed: as a list that is searched would have it.
    #[test]
    fn messages_are_held_by_their_counters_in_places_that_no_two_share() {
        let standings = [
            Standing::Unreported,
            Standing::Frozen,
            Standing::Attested { acceptances: 1 },
            VERIFIED,
            Standing::Doubted,
            Standing::Refuted,
        ];
        let classes = [Class::Waiting, Class::Attested, Class::Verified, Class::Lost];
        let mut held: Held<HELD, 8> = Held::new();
        let mut listed: Vec<(u32, Standing)> = Vec::new();
        let mut state = 0x7a11_u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            usize::try_from(state >> 33).unwrap_or(0) % below
        };
        for _ in 0..20_000 {
            let (drawn, class) = (standings[draw(standings.len())], classes[draw(classes.len())]);
            match draw(8) {
                0..5 => {
                    let counter = u32::try_from(draw(9)).unwrap_or(0);
                    let pushed_out = (listed.len() == HELD).then(|| {
                        let victim = listed.iter().position(|(_, standing)| *standing != VERIFIED);
                        listed.remove(victim.unwrap_or(0))
                    });
                    let behind = listed.partition_point(|(other, _)| *other <= counter);
                    listed.insert(behind, (counter, drawn));
                    assert_eq!(held.hold(counter, drawn, &counter.to_be_bytes()), pushed_out);
                }
                5..7 => {
                    let oldest = listed.iter().position(|(_, standing)| standing.class() == class);
                    let taken = held.take(class).map(|entry| (entry.counter, entry.standing));
                    assert_eq!(taken, oldest.map(|rank| listed.remove(rank)));
                }
                _ => {
                    let change = |counter: u32, before| if counter.is_multiple_of(2) { drawn } else { before };
                    held.restand(change);
                    for (counter, standing) in listed.iter_mut().filter(|(_, standing)| standing.is_provisional()) {
                        *standing = change(*counter, *standing);
                    }
                }
            }
            let found: Vec<_> = held.each().map(|entry| (entry.counter, entry.standing)).collect();
            assert_eq!(found, listed);
            assert!(held.each().all(|entry| entry.payload() == entry.counter.to_be_bytes()));
            for class in classes {
                assert_eq!(held.count(class), listed.iter().filter(|(_, standing)| standing.class() == class).count());
            }
            let mut places: Vec<_> = held.order.iter().chain([&held.spare]).copied().collect();
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3, 4, 5]);
        }
    }
}
