//! IDEA (Lai and Massey 1991): additions, sums modulo 2^16 and products modulo 2^16 + 1 of words of 16 bits, big-endian.

use super::wide::{Lanes, Way, kernel};
#[cfg(target_arch = "x86_64")]
use super::wide::{Vector, transposed};

const ROUNDS: usize = 8;

/// Keys of the rounds and of what follows them, each word twice, in both halves.
struct Keys {
    rounds: [[u32; 6]; ROUNDS],
    last: [u32; 4],
}

/// A key schedule for either direction.
pub(crate) struct Idea {
    way: Way,
    forth: Keys,
    back: Keys,
}

impl Keys {
    #[inline]
    fn of(words: [[u16; 6]; ROUNDS + 1]) -> Self {
        let mut twice = words.map(|key| key.map(|word| u32::from(word) * 0x1_0001));
        let [a, b, c, d, ..] = core::mem::take(&mut twice[ROUNDS]);
        Self { rounds: core::array::from_fn(|at| twice[at]), last: [a, b, c, d] }
    }
}

impl Idea {
    /// The schedule for one way; `None` for a way that is not here, or a key that is not 16 bytes.
    #[inline]
    pub(super) fn by(way: Way, key: &[u8]) -> Option<Self> {
        let mut key = u128::from_be_bytes(key.try_into().ok()?);
        let mut forth = [[0; 6]; ROUNDS + 1];
        for (at, word) in forth.as_flattened_mut().iter_mut().enumerate() {
            if at > 0 && at % 8 == 0 {
                key = key.rotate_left(25);
            }
            let [.., first, second] = (key >> (112 - 16 * (at % 8))).to_be_bytes();
            *word = u16::from_be_bytes([first, second]);
        }
        // What a round back undoes with its first four keys stands, of the encryption, after the round that it undoes:
        // the outermost two as they are, the others with their sums crossed.
        let back = core::array::from_fn(|at| {
            let [a, b, c, d, ..] = forth[ROUNDS - at];
            let (b, c) = if at == 0 || at == ROUNDS { (b, c) } else { (c, b) };
            let [.., e, f] = forth[(2 * ROUNDS - 1 - at) % ROUNDS];
            [a, b.wrapping_neg(), c.wrapping_neg(), d, e, f]
        });
        let back = inverted(back);
        way.is_here().then(|| Self { way, forth: Keys::of(forth), back: Keys::of(back) })
    }

    #[inline(always)]
    fn keys<const BACK: bool>(&self) -> &Keys {
        if BACK { &self.back } else { &self.forth }
    }
}

/// The product modulo 2^16 + 1, where zero stands for 2^16, without a branch; of the key the lower half counts.
#[inline(always)]
fn mul(word: u16, key: u32) -> u16 {
    let [.., high, low] = key.to_be_bytes();
    let factor = |word: u16| u64::from(word.wrapping_sub(1)) + 1;
    let product = factor(word) * factor(u16::from_be_bytes([high, low]));
    // 2^16 is -1; the sign says whether the modulus, which is 1 in the word that is kept, is to be added.
    let less = (product & 0xffff).wrapping_sub(product >> 16);
    let [.., high, low] = less.wrapping_add(less >> 63).to_be_bytes();
    u16::from_be_bytes([high, low])
}

#[inline(always)]
fn add(word: u16, key: u32) -> u16 {
    let [.., high, low] = key.to_be_bytes();
    word.wrapping_add(u16::from_be_bytes([high, low]))
}

/// Keys whose first and fourth words are inverted: one inversion for all, of their product (Montgomery 1987).
#[inline]
fn inverted(mut keys: [[u16; 6]; ROUNDS + 1]) -> [[u16; 6]; ROUNDS + 1] {
    let times = |word: u16, other: u16| mul(word, u32::from(other));
    let mut product = 1;
    let before = keys.map(|[a, _, _, d, ..]| {
        let first = product;
        let second = times(first, a);
        product = times(second, d);
        [first, second]
    });
    // To the power of 2^16 - 1 is the inverse (Fermat): each step doubles the ones of the exponent.
    let mut inverse = [1, 2, 4, 8]
        .iter()
        .fold(product, |power, ones| times((0..*ones).fold(power, |square, _| times(square, square)), power));
    for ([a, _, _, d, ..], [first, second]) in keys.iter_mut().zip(before).rev() {
        let after = times(inverse, *d);
        *d = times(inverse, second);
        inverse = times(after, *a);
        *a = times(after, first);
    }
    keys
}

impl Lanes<8, 4> for Idea {
    #[inline(always)]
    fn way(&self) -> Way {
        self.way
    }

    type Word = u16;

    #[inline(always)]
    fn one<const BACK: bool>(&self, block: [u16; 4]) -> [u16; 4] {
        let keys = self.keys::<BACK>();
        let [mut a, mut b, mut c, mut d] = block.map(u16::from_be);
        for key in &keys.rounds {
            (a, b, c, d) = (mul(a, key[0]), add(b, key[1]), add(c, key[2]), mul(d, key[3]));
            let first = mul(a ^ c, key[4]);
            let second = mul((b ^ d).wrapping_add(first), key[5]);
            let first = first.wrapping_add(second);
            (a, b, c, d) = (a ^ second, c ^ second, b ^ first, d ^ first);
        }
        let key = keys.last;
        [mul(a, key[0]), add(c, key[1]), add(b, key[2]), mul(d, key[3])].map(u16::to_be)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn groups<V: Vector, const N: usize, const BACK: bool>(&self, state: &mut [[V; 4]; N]) {
        let keys = self.keys::<BACK>();
        // SAFETY: the caller's promise.
        unsafe {
            for [a, b, c, d] in state.iter_mut() {
                [*d, *c, *b, *a] = transposed([a.reverse64(), b.reverse64(), c.reverse64(), d.reverse64()]);
            }
            for key in &keys.rounds {
                for [a, b, c, d] in state.iter_mut() {
                    *a = a.mul_modulo16(V::splat(key[0]));
                    *b = b.add16(V::splat(key[1]));
                    *c = c.add16(V::splat(key[2]));
                    *d = d.mul_modulo16(V::splat(key[3]));
                    let first = a.xor(*c).mul_modulo16(V::splat(key[4]));
                    let second = b.xor(*d).add16(first).mul_modulo16(V::splat(key[5]));
                    let first = first.add16(second);
                    (*a, *b, *c, *d) = (a.xor(second), c.xor(second), b.xor(first), d.xor(first));
                }
            }
            let key = &keys.last;
            for [a, b, c, d] in state.iter_mut() {
                *a = a.mul_modulo16(V::splat(key[0]));
                (*b, *c) = (c.add16(V::splat(key[1])), b.add16(V::splat(key[2])));
                *d = d.mul_modulo16(V::splat(key[3]));
                let [first, second, third, fourth] = transposed([*d, *c, *b, *a]);
                (*a, *b, *c, *d) = (first.reverse64(), second.reverse64(), third.reverse64(), fourth.reverse64());
            }
        }
    }
}

kernel!(Idea, 8, [3, 2], 32, |_spec, key| Self::by(Way::best(), key));
