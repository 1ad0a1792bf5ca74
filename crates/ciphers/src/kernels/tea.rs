//! TEA (Wheeler and Needham 1994) and XTEA (1997): 64 rounds on two words, big-endian.

#[cfg(target_arch = "x86_64")]
use super::wide::Vector;
use super::wide::{Lanes, Way, kernel};

const DELTA: u32 = 0x9e37_79b9;
/// Of two rounds each.
const CYCLES: usize = 32;

#[inline]
fn words(key: &[u8]) -> Option<[u32; 4]> {
    let (words, rest) = key.as_chunks::<4>();
    let words: &[[u8; 4]; 4] = words.try_into().ok()?;
    rest.is_empty().then(|| words.map(u32::from_be_bytes))
}

/// TEA: the sums of its cycles; the key is its own schedule.
pub(crate) struct Tea {
    way: Way,
    key: [u32; 4],
    sums: [u32; CYCLES],
}

impl Tea {
    /// The schedule for one way; `None` for a way that is not here, or a key that is not 16 bytes.
    #[inline]
    pub(super) fn by(way: Way, key: &[u8]) -> Option<Self> {
        let mut sum = 0_u32;
        let sums = core::array::from_fn(|_| {
            sum = sum.wrapping_add(DELTA);
            sum
        });
        way.is_here().then_some(Self { way, key: words(key)?, sums })
    }
}

#[inline(always)]
fn mix(word: u32, sum: u32, one: u32, other: u32) -> u32 {
    (word << 4).wrapping_add(one) ^ word.wrapping_add(sum) ^ (word >> 5).wrapping_add(other)
}

/// # Safety
/// As of [`Vector`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn mix_lanes<V: Vector>(word: V, sum: V, one: V, other: V) -> V {
    // SAFETY: the caller's promise.
    unsafe { word.shift_left::<4>().add(one).xor(word.add(sum)).xor(word.shift_right::<5>().add(other)) }
}

impl Lanes<8, 2> for Tea {
    #[inline(always)]
    fn way(&self) -> Way {
        self.way
    }

    type Word = u32;

    #[inline(always)]
    fn one<const BACK: bool>(&self, block: [u32; 2]) -> [u32; 2] {
        let [mut left, mut right] = block.map(u32::from_be);
        let [a, b, c, d] = self.key;
        if BACK {
            for sum in self.sums.iter().rev() {
                right = right.wrapping_sub(mix(left, *sum, c, d));
                left = left.wrapping_sub(mix(right, *sum, a, b));
            }
        } else {
            for sum in self.sums {
                left = left.wrapping_add(mix(right, sum, a, b));
                right = right.wrapping_add(mix(left, sum, c, d));
            }
        }
        [left, right].map(u32::to_be)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn groups<V: Vector, const N: usize, const BACK: bool>(&self, state: &mut [[V; 2]; N]) {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b, c, d] = [0, 1, 2, 3].map(|at: usize| V::splat(self.key[at]));
            split(state);
            if BACK {
                for sum in self.sums.iter().rev() {
                    let sum = V::splat(*sum);
                    for [right, left] in state.iter_mut() {
                        *right = right.sub(mix_lanes(*left, sum, c, d));
                    }
                    for [right, left] in state.iter_mut() {
                        *left = left.sub(mix_lanes(*right, sum, a, b));
                    }
                }
            } else {
                for sum in self.sums {
                    let sum = V::splat(sum);
                    for [right, left] in state.iter_mut() {
                        *left = left.add(mix_lanes(*right, sum, a, b));
                    }
                    for [right, left] in state.iter_mut() {
                        *right = right.add(mix_lanes(*left, sum, c, d));
                    }
                }
            }
            join(state);
        }
    }
}

kernel!(Tea, 8, [4, 4], 64, |_spec, key| Self::by(Way::best(), key));

/// XTEA: the sums of its 64 rounds with their words of the key.
pub(crate) struct Xtea {
    way: Way,
    keys: [[u32; 2]; CYCLES],
}

impl Xtea {
    /// The schedule for one way; `None` for a way that is not here, or a key that is not 16 bytes.
    #[inline]
    pub(super) fn by(way: Way, key: &[u8]) -> Option<Self> {
        let key = words(key)?;
        let word = |sum: u32, at: u32| sum.wrapping_add(key[(at & 3) as usize]);
        let mut sum = 0_u32;
        let keys = core::array::from_fn(|_| {
            let first = word(sum, sum);
            sum = sum.wrapping_add(DELTA);
            [first, word(sum, sum >> 11)]
        });
        way.is_here().then_some(Self { way, keys })
    }
}

#[inline(always)]
fn round(word: u32, key: u32) -> u32 {
    ((word << 4) ^ (word >> 5)).wrapping_add(word) ^ key
}

/// # Safety
/// As of [`Vector`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn round_lanes<V: Vector>(word: V, key: V) -> V {
    // SAFETY: the caller's promise.
    unsafe { word.shift_left::<4>().xor(word.shift_right::<5>()).add(word).xor(key) }
}

impl Lanes<8, 2> for Xtea {
    #[inline(always)]
    fn way(&self) -> Way {
        self.way
    }

    type Word = u32;

    #[inline(always)]
    fn one<const BACK: bool>(&self, block: [u32; 2]) -> [u32; 2] {
        let [mut left, mut right] = block.map(u32::from_be);
        if BACK {
            for [first, second] in self.keys.iter().rev() {
                right = right.wrapping_sub(round(left, *second));
                left = left.wrapping_sub(round(right, *first));
            }
        } else {
            for [first, second] in self.keys {
                left = left.wrapping_add(round(right, first));
                right = right.wrapping_add(round(left, second));
            }
        }
        [left, right].map(u32::to_be)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn groups<V: Vector, const N: usize, const BACK: bool>(&self, state: &mut [[V; 2]; N]) {
        // SAFETY: the caller's promise.
        unsafe {
            split(state);
            if BACK {
                for [first, second] in self.keys.iter().rev() {
                    let (first, second) = (V::splat(*first), V::splat(*second));
                    for [right, left] in state.iter_mut() {
                        *right = right.sub(round_lanes(*left, second));
                    }
                    for [right, left] in state.iter_mut() {
                        *left = left.sub(round_lanes(*right, first));
                    }
                }
            } else {
                for [first, second] in self.keys {
                    let (first, second) = (V::splat(first), V::splat(second));
                    for [right, left] in state.iter_mut() {
                        *left = left.add(round_lanes(*right, first));
                    }
                    for [right, left] in state.iter_mut() {
                        *right = right.add(round_lanes(*left, second));
                    }
                }
            }
            join(state);
        }
    }
}

kernel!(Xtea, 8, [4, 4], 64, |_spec, key| Self::by(Way::best(), key));

/// Of blocks as they are loaded, the right words in the first register of each group, the left ones in the second.
///
/// # Safety
/// As of [`Vector`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn split<V: Vector, const N: usize>(state: &mut [[V; 2]; N]) {
    for group in state {
        // SAFETY: the caller's promise.
        unsafe {
            let (a, b) = (group[0].reverse64(), group[1].reverse64());
            *group = [a.even(b), a.odd(b)];
        }
    }
}

/// Undoes [`split`].
///
/// # Safety
/// As of [`Vector`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn join<V: Vector, const N: usize>(state: &mut [[V; 2]; N]) {
    for group in state {
        // SAFETY: the caller's promise.
        unsafe {
            let [right, left] = *group;
            *group = [right.low32(left).reverse64(), right.high32(left).reverse64()];
        }
    }
}
