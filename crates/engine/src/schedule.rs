//! The order of a round: every entry that is due, shuffled anew, so that no case always follows the same other one
//! and slow drifts of the machine fall on all cases alike.

/// A small seeded generator for orders and offsets; never used for keys.
///
/// # Source
/// Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that gives the same sequence for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 where `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        let product = u64::from(bound) * (self.next_u64() >> 32);
        #[allow(clippy::cast_possible_truncation)] // the upper half of a product of two 32-bit numbers
        let upper = (product >> 32) as u32;
        upper
    }

    /// Puts `things`, fewer than 2^32, in an order drawn anew.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            #[allow(clippy::cast_possible_truncation)] // as promised
            let other = self.below(last as u32 + 1) as usize;
            things.swap(last, other);
        }
    }
}

/// One entry of a round's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Entry {
    /// Index of the slot.
    pub slot: u32,
    /// The round that it is of.
    pub round: u32,
    /// Which of its visits this is, from 0.
    pub visit: u32,
    /// A batch of half the calls: T(2n) / T(n) = 2 is checked on these.
    pub half: bool,
    /// Where its buffers and its stack lie: the two of a pair have one seed.
    pub seed: u64,
    /// Tries of a batch of it so far.
    pub tries: u32,
}

/// Which of its `visits` visits in `rounds` rounds a slot has in `round`, from 0; `None` where it is not due.
///
/// Over all rounds exactly `visits` rounds are due (all of them where `visits` exceeds `rounds`), spread evenly, and
/// each number is given once; `phase` shifts the pattern.
#[must_use]
pub fn visit_in(round: u32, rounds: u32, visits: u32, phase: u32) -> Option<u32> {
    if rounds == 0 {
        return None;
    }
    let (rounds, visits) = (u64::from(rounds), u64::from(visits.min(rounds)));
    let at = (u64::from(round) + u64::from(phase)) % rounds;
    let before = at * visits / rounds;
    ((at + 1) * visits / rounds > before).then(|| u32::try_from(before).ok()).flatten()
}

/// The entries of one round in a buffer of the caller's, and behind them those of earlier rounds that are kept for later.
pub struct Order<'a> {
    entries: &'a mut [Entry],
    len: usize,
    /// The entry that is taken next, and how many of those that were taken are put aside, at the front.
    next: usize,
    aside: usize,
    /// How many are kept, at the back.
    kept: usize,
}

impl<'a> Order<'a> {
    /// An empty order; the buffer must hold two entries a slot, further ones are not taken. In what room it has beyond
    /// those of a round, entries are kept.
    #[must_use]
    pub fn new(entries: &'a mut [Entry]) -> Self {
        Self { entries, len: 0, next: 0, aside: 0, kept: 0 }
    }

    /// Forgets all entries but those that are kept.
    pub fn clear(&mut self) {
        (self.len, self.next, self.aside) = (0, 0, 0);
    }

    /// Adds an entry, in place of one that is kept where the buffer is full; gives `false` where it holds none.
    pub fn push(&mut self, entry: Entry) -> bool {
        match self.entries.get_mut(self.len) {
            Some(place) => {
                *place = entry;
                self.len += 1;
                self.kept = self.kept.min(self.entries.len() - self.len);
                true
            }
            None => false,
        }
    }

    /// Shuffles the entries: each order is equally likely (Fisher and Yates).
    pub fn shuffle(&mut self, random: &mut SplitMix64) {
        random.shuffle(&mut self.entries[..self.len]);
    }

    /// Puts the partner of each entry that has one beside it, as often before it as after it; the buffer must hold all.
    ///
    /// * `partner`: the slot that an entry's visits are taken in turn with.
    pub fn pair(&mut self, random: &mut SplitMix64, partner: impl Fn(&Entry) -> Option<u32>) {
        let mut end = self.len + self.entries().iter().filter(|entry| partner(entry).is_some()).count();
        let all = end;
        // From the last one on, so that none is written over before it has moved.
        for at in (0..self.len).rev() {
            let entry = self.entries[at];
            let other = partner(&entry).map(|slot| Entry { slot, ..entry });
            let turned = other.is_some() && random.below(2) == 1;
            let (first, second) = if turned { (other, Some(entry)) } else { (Some(entry), other) };
            for moved in [second, first].into_iter().flatten() {
                end -= 1;
                self.entries[end] = moved;
            }
        }
        self.len = all;
        self.kept = self.kept.min(self.entries.len() - all);
    }

    /// The next entry, or `None` at the end: those that were put aside are then the order, to be taken once more.
    pub fn take(&mut self) -> Option<Entry> {
        if self.next == self.len {
            (self.len, self.next, self.aside) = (self.aside, 0, 0);
            return None;
        }
        self.next += 1;
        Some(self.entries[self.next - 1])
    }

    /// Puts an entry aside that was taken. There is room: its own place is free.
    pub fn put_aside(&mut self, entry: Entry) {
        if self.aside < self.next {
            self.entries[self.aside] = entry;
            self.aside += 1;
        }
    }

    /// Whether nothing is left to be taken, now or once more.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next == self.len && self.aside == 0
    }

    /// Keeps what is left for a later round.
    pub fn keep(&mut self) {
        self.entries.copy_within(self.next..self.len, self.aside);
        let left = self.aside + self.len - self.next;
        self.kept = left;
        self.entries.copy_within(..self.kept, self.entries.len() - self.kept);
        self.clear();
    }

    /// Adds what earlier rounds kept.
    pub fn recall(&mut self) {
        self.entries.copy_within(self.entries.len() - self.kept.., self.len);
        self.len += self.kept;
        self.kept = 0;
    }

    /// The entries in their order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries[..self.len]
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_due_as_often_as_it_has_visits_and_evenly() {
        for rounds in [1, 7, 24, 96] {
            for visits in 0..=rounds {
                for phase in [0, 5, 23] {
                    let mut numbers = [0_u32; 96];
                    for visit in (0..rounds).filter_map(|r| visit_in(r, rounds, visits, phase)) {
                        numbers[visit as usize] += 1;
                    }
                    assert!(numbers[..visits as usize].iter().all(|n| *n == 1), "{visits} of {rounds}");
                    assert!(numbers[visits as usize..].iter().all(|n| *n == 0), "{visits} of {rounds}");
                }
            }
        }
        let due: [bool; 8] = core::array::from_fn(|r| visit_in(r as u32, 8, 4, 0).is_some());
        assert_eq!(due, [false, true, false, true, false, true, false, true]);
    }

    #[test]
    fn more_visits_than_rounds_are_all_rounds() {
        assert!((0..5).all(|r| visit_in(r, 5, 9, 1).is_some()));
    }

    #[test]
    fn a_shuffle_keeps_every_entry_once_and_differs_from_seed_to_seed() {
        let mut orders = [[0; 50]; 2];
        for (seed, order) in orders.iter_mut().enumerate() {
            let mut buffer = [Entry::default(); 50];
            let mut round = Order::new(&mut buffer);
            for slot in 0..50 {
                assert!(round.push(Entry { slot, ..Entry::default() }));
            }
            assert!(!round.push(Entry::default()));
            round.shuffle(&mut SplitMix64::new(seed as u64));
            for (place, entry) in order.iter_mut().zip(round.entries()) {
                *place = entry.slot;
            }
        }
        assert_ne!(orders[0], orders[1]);
        for mut order in orders {
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..50));
        }
    }

    /// Takes all entries once, puts the odd slots aside, and gives the slots.
    fn pass(order: &mut Order<'_>) -> [u32; 6] {
        let mut taken = [99; 6];
        let mut places = taken.iter_mut();
        while let Some(entry) = order.take() {
            *places.next().unwrap_or(&mut 0) = entry.slot;
            if entry.slot % 2 == 1 && entry.tries < 2 {
                order.put_aside(Entry { tries: entry.tries + 1, ..entry });
            }
        }
        taken
    }

    #[test]
    fn what_is_put_aside_is_taken_again_in_its_order_and_at_last_nothing_is_left() {
        let mut buffer = [Entry::default(); 6];
        let mut order = Order::new(&mut buffer);
        (0..6).for_each(|slot| assert!(order.push(Entry { slot, ..Entry::default() })));
        assert_eq!(pass(&mut order), [0, 1, 2, 3, 4, 5]);
        assert!(!order.is_empty());
        assert_eq!(pass(&mut order), [1, 3, 5, 99, 99, 99]);
        assert_eq!(pass(&mut order), [1, 3, 5, 99, 99, 99]);
        assert!(order.is_empty());
    }

    #[test]
    fn what_is_kept_is_recalled_at_the_end_of_a_later_round_as_far_as_that_left_room_for_it() {
        for (new, recalled) in [(0, [1, 3, 5]), (6, [1, 3, 5]), (7, [3, 5, 99]), (9, [99; 3])] {
            let mut buffer = [Entry::default(); 9];
            let mut order = Order::new(&mut buffer);
            (0..6).for_each(|slot| assert!(order.push(Entry { slot, ..Entry::default() })));
            pass(&mut order);
            order.keep();
            assert!(order.is_empty());
            (0..new).for_each(|slot| assert!(order.push(Entry { slot: 2 * slot, ..Entry::default() })));
            pass(&mut order);
            order.recall();
            assert_eq!(pass(&mut order)[..3], recalled, "after {new} others");
        }
    }

    #[test]
    fn all_orders_of_two_and_of_three_entries_occur_alike() {
        let mut random = SplitMix64::new(7);
        let (mut pairs, mut triples) = ([0_u32; 2], [0_u32; 6]);
        for _ in 0..60_000 {
            let (mut pair, mut triple) = ([0_usize, 1], [0_usize, 1, 2]);
            random.shuffle(&mut pair);
            random.shuffle(&mut triple);
            pairs[pair[0]] += 1;
            triples[2 * triple[0] + usize::from(triple[1] > triple[2])] += 1;
        }
        // Five standard deviations of a count: 5 * sqrt(n p (1 - p)).
        assert!(pairs.iter().all(|count| count.abs_diff(30_000) < 612), "{pairs:?}");
        assert!(triples.iter().all(|count| count.abs_diff(10_000) < 456), "{triples:?}");
    }

    #[test]
    fn the_generator_gives_the_published_sequences() {
        // Seed 0 as in Vigna's splitmix64.c and Java's SplittableRandom, 1234567 as in Rosetta Code.
        let mut random = SplitMix64::new(0);
        assert_eq!(
            [(); 3].map(|()| random.next_u64()),
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]
        );
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(
            [(); 5].map(|()| random.next_u64()),
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn numbers_below_a_bound_reach_every_value_about_equally() {
        let mut random = SplitMix64::new(1);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}
