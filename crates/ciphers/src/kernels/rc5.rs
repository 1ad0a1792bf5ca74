//! RC5-32 (Rivest 1994) with 1 to 28 rounds.

#[cfg(target_arch = "x86_64")]
use super::wide::Vector;
use super::wide::{Lanes, Way, expand, kernel};

const MOST_ROUNDS: usize = 28;

/// A key schedule.
pub(crate) struct Rc5 {
    way: Way,
    /// Words of `keys`: two for each round, and two before the first.
    length: usize,
    keys: [u32; 2 * MOST_ROUNDS + 2],
}

impl Rc5 {
    /// The schedule for one way; `None` for a way that is not here, no rounds or more than 28, or a key that is not 4
    /// to 32 bytes in whole words.
    #[inline]
    pub(super) fn by(way: Way, rounds: usize, key: &[u8]) -> Option<Self> {
        if !way.is_here() || !(1..=MOST_ROUNDS).contains(&rounds) {
            return None;
        }
        let mut schedule = Self { way, length: 2 * rounds + 2, keys: [0; 2 * MOST_ROUNDS + 2] };
        expand(key, schedule.keys.get_mut(..schedule.length)?)?;
        Some(schedule)
    }

    /// The two words before the first round, and the pair of each round.
    #[inline(always)]
    fn pairs(&self) -> ([u32; 2], &[[u32; 2]]) {
        match self.keys[..self.length].as_chunks().0 {
            [first, rounds @ ..] => (*first, rounds),
            [] => ([0; 2], &[]),
        }
    }
}

impl Lanes<8, 2> for Rc5 {
    #[inline(always)]
    fn way(&self) -> Way {
        self.way
    }

    type Word = u32;

    #[inline(always)]
    fn one<const BACK: bool>(&self, [mut a, mut b]: [u32; 2]) -> [u32; 2] {
        let (first, rounds) = self.pairs();
        if BACK {
            for key in rounds.iter().rev() {
                b = b.wrapping_sub(key[1]).rotate_right(a) ^ a;
                a = a.wrapping_sub(key[0]).rotate_right(b) ^ b;
            }
            (a, b) = (a.wrapping_sub(first[0]), b.wrapping_sub(first[1]));
        } else {
            (a, b) = (a.wrapping_add(first[0]), b.wrapping_add(first[1]));
            for key in rounds {
                a = (a ^ b).rotate_left(b).wrapping_add(key[0]);
                b = (b ^ a).rotate_left(a).wrapping_add(key[1]);
            }
        }
        [a, b]
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn groups<V: Vector, const N: usize, const BACK: bool>(&self, state: &mut [[V; 2]; N]) {
        let (first, rounds) = self.pairs();
        // SAFETY: the caller's promise.
        unsafe {
            let first = [V::splat(first[0]), V::splat(first[1])];
            for [a, b] in state.iter_mut() {
                (*a, *b) = (a.even(*b), a.odd(*b));
            }
            if BACK {
                for key in rounds.iter().rev() {
                    let key = [V::splat(key[0]), V::splat(key[1])];
                    for [a, b] in state.iter_mut() {
                        *b = b.sub(key[1]).rotate_right(*a).xor(*a);
                    }
                    for [a, b] in state.iter_mut() {
                        *a = a.sub(key[0]).rotate_right(*b).xor(*b);
                    }
                }
                for [a, b] in state.iter_mut() {
                    (*a, *b) = (a.sub(first[0]), b.sub(first[1]));
                }
            } else {
                for [a, b] in state.iter_mut() {
                    (*a, *b) = (a.add(first[0]), b.add(first[1]));
                }
                for key in rounds {
                    let key = [V::splat(key[0]), V::splat(key[1])];
                    for [a, b] in state.iter_mut() {
                        *a = a.xor(*b).rotate_left(*b).add(key[0]);
                    }
                    for [a, b] in state.iter_mut() {
                        *b = b.xor(*a).rotate_left(*a).add(key[1]);
                    }
                }
            }
            for [a, b] in state.iter_mut() {
                (*a, *b) = (a.low32(*b), a.high32(*b));
            }
        }
    }
}

kernel!(Rc5, 8, [4, 4], 64, |spec, key| Self::by(Way::best(), usize::from(spec.rounds?), key));
