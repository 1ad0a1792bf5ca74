//! RC6-32 (Rivest, Robshaw, Sidney, Yin 1998) with 4 to 24 rounds in steps of 4.

#[cfg(target_arch = "x86_64")]
use super::wide::Vector;
use super::wide::{Lanes, Way, expand, kernel};

const MOST_ROUNDS: usize = 24;

/// The words of the key that one round takes.
type Pair = [u32; 2];

/// A key schedule.
pub(crate) struct Rc6 {
    way: Way,
    /// Words of `keys`: two for each round, two before the first and two after the last.
    length: usize,
    keys: [u32; 2 * MOST_ROUNDS + 4],
}

impl Rc6 {
    /// The schedule for one way; `None` for a way that is not here, other rounds than 4, 8, 12, 16, 20 and 24, or a key
    /// that is not 4 to 32 bytes in whole words.
    #[inline]
    pub(super) fn by(way: Way, rounds: usize, key: &[u8]) -> Option<Self> {
        if !way.is_here() || !(1..=MOST_ROUNDS).contains(&rounds) || !rounds.is_multiple_of(4) {
            return None;
        }
        let mut schedule = Self { way, length: 2 * rounds + 4, keys: [0; 2 * MOST_ROUNDS + 4] };
        expand(key, schedule.keys.get_mut(..schedule.length)?)?;
        Some(schedule)
    }

    /// The two words before the first round, those of four rounds each, the two after the last.
    ///
    /// After four rounds the registers have their old names again.
    #[inline(always)]
    fn parts(&self) -> (Pair, &[[Pair; 4]], Pair) {
        match self.keys[..self.length].as_chunks::<2>().0 {
            [first, rounds @ .., last] => (*first, rounds.as_chunks().0, *last),
            _ => ([0; 2], &[], [0; 2]),
        }
    }
}

/// x (2x + 1), rotated by 5: what both of the other words are changed by.
#[inline(always)]
fn mixed(word: u32) -> u32 {
    word.wrapping_mul(word.wrapping_add(word).wrapping_add(1)).rotate_left(5)
}

/// As [`mixed`].
///
/// # Safety
/// As of [`Vector`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn mixed_all<V: Vector>(words: V, ones: V) -> V {
    // SAFETY: the caller's promise.
    unsafe { words.mul(words.add(words).add(ones)).rotate_left_by_5() }
}

impl Lanes<16, 4> for Rc6 {
    #[inline(always)]
    fn way(&self) -> Way {
        self.way
    }

    type Word = u32;

    #[inline(always)]
    fn one<const BACK: bool>(&self, [mut a, mut b, mut c, mut d]: [u32; 4]) -> [u32; 4] {
        let (first, rounds, last) = self.parts();
        if BACK {
            (a, c) = (a.wrapping_sub(last[0]), c.wrapping_sub(last[1]));
            for key in rounds.as_flattened().iter().rev() {
                (a, b, c, d) = (d, a, b, c);
                let (t, u) = (mixed(b), mixed(d));
                c = c.wrapping_sub(key[1]).rotate_right(t) ^ u;
                a = a.wrapping_sub(key[0]).rotate_right(u) ^ t;
            }
            (b, d) = (b.wrapping_sub(first[0]), d.wrapping_sub(first[1]));
        } else {
            (b, d) = (b.wrapping_add(first[0]), d.wrapping_add(first[1]));
            for key in rounds.as_flattened() {
                let (t, u) = (mixed(b), mixed(d));
                a = (a ^ t).rotate_left(u).wrapping_add(key[0]);
                c = (c ^ u).rotate_left(t).wrapping_add(key[1]);
                (a, b, c, d) = (b, c, d, a);
            }
            (a, c) = (a.wrapping_add(last[0]), c.wrapping_add(last[1]));
        }
        [a, b, c, d]
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn groups<V: Vector, const N: usize, const BACK: bool>(&self, state: &mut [[V; 4]; N]) {
        let (first, rounds, last) = self.parts();
        // SAFETY: the caller's promise.
        unsafe {
            let ones = V::splat(1);
            for group in state.iter_mut() {
                *group = transposed(*group);
            }
            let (before, after) = if BACK { (last, first) } else { (first, last) };
            let (before, after) =
                ([V::splat(before[0]), V::splat(before[1])], [V::splat(after[0]), V::splat(after[1])]);
            if BACK {
                for [a, _, c, _] in state.iter_mut() {
                    (*a, *c) = (a.sub(before[0]), c.sub(before[1]));
                }
                for keys in rounds.iter().rev() {
                    for key in keys.iter().rev() {
                        let key = [V::splat(key[0]), V::splat(key[1])];
                        for group in state.iter_mut() {
                            let [b, c, d, a] = *group;
                            let (t, u) = (mixed_all(b, ones), mixed_all(d, ones));
                            *group = [a.sub(key[0]).rotate_right(u).xor(t), b, c.sub(key[1]).rotate_right(t).xor(u), d];
                        }
                    }
                }
                for [_, b, _, d] in state.iter_mut() {
                    (*b, *d) = (b.sub(after[0]), d.sub(after[1]));
                }
            } else {
                for [_, b, _, d] in state.iter_mut() {
                    (*b, *d) = (b.add(before[0]), d.add(before[1]));
                }
                for keys in rounds {
                    for key in keys {
                        let key = [V::splat(key[0]), V::splat(key[1])];
                        for group in state.iter_mut() {
                            let [a, b, c, d] = *group;
                            let (t, u) = (mixed_all(b, ones), mixed_all(d, ones));
                            *group = [b, c.xor(u).rotate_left(t).add(key[1]), d, a.xor(t).rotate_left(u).add(key[0])];
                        }
                    }
                }
                for [a, _, c, _] in state.iter_mut() {
                    (*a, *c) = (a.add(after[0]), c.add(after[1]));
                }
            }
            for group in state.iter_mut() {
                *group = transposed(*group);
            }
        }
    }
}

/// In each lane of 128 bits: rows become columns, and back.
///
/// # Safety
/// As of [`Vector`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn transposed<V: Vector>([a, b, c, d]: [V; 4]) -> [V; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let (ab_low, ab_high, cd_low, cd_high) = (a.low32(b), a.high32(b), c.low32(d), c.high32(d));
        [ab_low.low64(cd_low), ab_low.high64(cd_low), ab_high.low64(cd_high), ab_high.high64(cd_high)]
    }
}

kernel!(Rc6, 16, [3, 2], 48, |spec, key| Self::by(Way::best(), usize::from(spec.rounds?), key));
