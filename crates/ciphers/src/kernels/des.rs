//! DES (NIST FIPS 46-3) by tables in which each S-box and the permutation P are one look-up, as libraries had it when the
//! papers were written, and Triple DES, between whose passes the initial and the final permutation cancel out. Its time
//! depends on the cache, and so on key and data: for history, not for use.
//!
//! # Source
//! The permutations at both ends as exchanges of bits: Hoey and Outerbridge, in Schneier, Applied Cryptography, 2nd ed.,
//! part V.
#![forbid(unsafe_code)]

use core::array::from_fn;

use crate::Spec;
use crate::kernels::words::OnWords;

/// The S-boxes, by their rows (FIPS 46-3, appendix 1).
const S_BOXES: [[[u8; 16]; 4]; 8] = [
    [
        [14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7],
        [0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8],
        [4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0],
        [15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13],
    ],
    [
        [15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10],
        [3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5],
        [0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15],
        [13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9],
    ],
    [
        [10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8],
        [13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1],
        [13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7],
        [1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12],
    ],
    [
        [7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15],
        [13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9],
        [10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4],
        [3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14],
    ],
    [
        [2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9],
        [14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6],
        [4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14],
        [11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3],
    ],
    [
        [12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11],
        [10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8],
        [9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6],
        [4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13],
    ],
    [
        [4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1],
        [13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6],
        [1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2],
        [6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12],
    ],
    [
        [13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7],
        [1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2],
        [7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8],
        [2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11],
    ],
];

/// The permutation P: the bit that comes to each place, both counted from 1, the most significant.
const P: [u32; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4,
    25,
];

/// Permuted choice 2, counted likewise: the bits of C that make the keys of the S-boxes 1 to 4.
const PC2_OF_C: [u32; 24] = [14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2];

/// The same of D, which is counted on, for 5 to 8.
const PC2_OF_D: [u32; 24] =
    [41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32];

/// How far the halves of the key are turned before each round.
const TURNS: [u32; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];

/// A half of a block is held turned right by this: then each six bits that enter the S-boxes 1, 3, 5, 7 are the low ones
/// of a byte, and of 2, 4, 6, 8 once it is turned left by 4.
const TURNED: u32 = 3;

/// What each S-box adds to the other half, by its six bits.
static SP: [[u32; 64]; 8] = {
    let (mut tables, mut number) = ([[0; 64]; 8], 0);
    while number < 8 {
        let mut bits = 0;
        while bits < 64 {
            let row = ((bits >> 4) & 2) | (bits & 1);
            // The four bits of the S-box's result, where P finds them.
            let result = (S_BOXES[number][row][(bits >> 1) & 15] as u32) << (28 - 4 * number);
            let (mut permuted, mut place) = (0, 0);
            while place < 32 {
                permuted |= ((result >> (32 - P[place])) & 1) << (31 - place);
                place += 1;
            }
            tables[number][bits] = permuted.rotate_right(TURNED);
            bits += 1;
        }
        number += 1;
    }
    tables
};

/// Permuted choice 2 by seven bits of a half of the key at once, the first ones first: for its first and third S-box in
/// the high half of a word, for its second and fourth in the low half.
type Choice = [[u32; 128]; 4];

/// * `chosen`: what permuted choice 2 takes from one half; `first`: the number of that half's first bit.
const fn choice(chosen: &[u32; 24], first: u32) -> Choice {
    let (mut tables, mut place) = ([[0; 128]; 4], 0);
    while place < 24 {
        let from = chosen[place] - first;
        let (number, bit) = (place / 6, 5 - place % 6);
        let to = bit + [24, 8, 16, 0][number];
        let mut bits = 0;
        while bits < 128 {
            if (bits >> (6 - from % 7)) & 1 == 1 {
                tables[from as usize / 7][bits] |= 1 << to;
            }
            bits += 1;
        }
        place += 1;
    }
    tables
}

static OF_C: Choice = choice(&PC2_OF_C, 1);
static OF_D: Choice = choice(&PC2_OF_D, 29);

/// A round's key: for the S-boxes 1, 3, 5, 7, and for 2, 4, 6, 8.
type RoundKey = [u32; 2];
type Pass = [RoundKey; 16];

/// Exchanges the bits of `right` under `mask` with those of `left` that lie `distance` higher.
#[inline(always)]
fn exchange([left, right]: [u32; 2], distance: u32, mask: u32) -> [u32; 2] {
    let differing = ((left >> distance) ^ right) & mask;
    [left ^ (differing << distance), right ^ differing]
}

/// The initial permutation, and both halves turned.
#[inline(always)]
fn initial(halves: [u32; 2]) -> [u32; 2] {
    let [left, right] = exchange(exchange(halves, 4, 0x0f0f_0f0f), 16, 0x0000_ffff);
    let [right, left] = exchange(exchange([right, left], 2, 0x3333_3333), 8, 0x00ff_00ff);
    exchange([left, right], 1, 0x5555_5555).map(|half| half.rotate_right(TURNED))
}

/// The inverse of [`initial`].
#[inline(always)]
fn last(halves: [u32; 2]) -> [u32; 2] {
    let [left, right] = exchange(halves.map(|half| half.rotate_left(TURNED)), 1, 0x5555_5555);
    let [right, left] = exchange(exchange([right, left], 8, 0x00ff_00ff), 2, 0x3333_3333);
    exchange(exchange([left, right], 16, 0x0000_ffff), 4, 0x0f0f_0f0f)
}

/// What a half adds to the other.
#[inline(always)]
fn mixed(half: u32, key: RoundKey) -> u32 {
    let (odd, even) = (half ^ key[0], half.rotate_left(4) ^ key[1]);
    let by = |number: usize, word: u32, shift: u32| SP[number][(word >> shift) as usize & 63];
    let odd = (by(0, odd, 24) ^ by(2, odd, 16)) ^ (by(4, odd, 8) ^ by(6, odd, 0));
    let even = (by(1, even, 24) ^ by(3, even, 16)) ^ (by(5, even, 8) ^ by(7, even, 0));
    odd ^ even
}

/// Sixteen rounds; the halves that come out change sides.
#[inline(always)]
fn pass<const IS_BACK: bool>(keys: &Pass, [mut left, mut right]: [u32; 2]) -> [u32; 2] {
    for two in 0..8 {
        let (first, second) = if IS_BACK { (15 - 2 * two, 14 - 2 * two) } else { (2 * two, 2 * two + 1) };
        left ^= mixed(right, keys[first]);
        right ^= mixed(left, keys[second]);
    }
    [right, left]
}

/// The keys of the rounds.
#[inline]
fn expand(key: [u8; 8]) -> Pass {
    let exchange = |bits: u64, distance: u32, mask: u64| {
        let differing = ((bits >> distance) ^ bits) & mask;
        bits ^ differing ^ (differing << distance)
    };
    // Permuted choice 1 takes the bits of the key by columns, the last byte first.
    let matrix = u64::from_le_bytes(key);
    let matrix = exchange(exchange(matrix, 7, 0x00aa_00aa_00aa_00aa), 14, 0x0000_cccc_0000_cccc);
    let [first, second, third, fourth, fifth, sixth, seventh, _] = exchange(matrix, 28, 0xf0f0_f0f0).to_be_bytes();
    let mut c = u32::from_be_bytes([first, second, third, fourth]) >> 4;
    let mut d = (u32::from_be_bytes([0, seventh, sixth, fifth]) << 4) | u32::from(fourth & 15);
    TURNS.map(|turn| {
        let turned = |half: u32| ((half << turn) | (half >> (28 - turn))) & 0x0fff_ffff;
        (c, d) = (turned(c), turned(d));
        let chosen = |of: &Choice, half: u32| {
            let by = |number: usize, shift: u32| of[number][(half >> shift) as usize & 127];
            (by(0, 21) | by(1, 14)) | (by(2, 7) | by(3, 0))
        };
        let (of_c, of_d) = (chosen(&OF_C, c), chosen(&OF_D, d));
        [(of_c & 0xffff_0000) | (of_d >> 16), (of_c << 16) | (of_d & 0xffff)]
    })
}

/// A key schedule of so many passes: 1 of DES, 3 of Triple DES.
pub(crate) struct Des<const PASSES: usize> {
    keys: [Pass; PASSES],
}

impl<const PASSES: usize> OnWords<8> for Des<PASSES> {
    /// Its halves.
    type Block = [u32; 2];
    type Keys = [Pass; PASSES];

    /// Two keys make three passes: the third has the first key again.
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        let (keys, rest) = key.as_chunks::<8>();
        let is_right = rest.is_empty() && if PASSES == 1 { keys.len() == 1 } else { matches!(keys.len(), 2 | 3) };
        is_right.then(|| Self { keys: from_fn(|pass| expand(keys[pass % keys.len()])) })
    }

    #[inline(always)]
    fn read([a, b, c, d, e, f, g, h]: &[u8; 8]) -> [u32; 2] {
        [u32::from_be_bytes([*a, *b, *c, *d]), u32::from_be_bytes([*e, *f, *g, *h])]
    }

    #[inline(always)]
    fn write(block: [u32; 2], bytes: &mut [u8; 8]) {
        for (bytes, half) in bytes.as_chunks_mut().0.iter_mut().zip(block) {
            *bytes = half.to_be_bytes();
        }
    }

    #[inline(always)]
    fn sum(left: [u32; 2], right: [u32; 2]) -> [u32; 2] {
        [left[0] ^ right[0], left[1] ^ right[1]]
    }

    #[inline(always)]
    fn forth(&self) -> &[Pass; PASSES] {
        &self.keys
    }

    #[inline(always)]
    fn back(&self) -> &[Pass; PASSES] {
        &self.keys
    }

    #[inline(always)]
    fn encrypted(keys: &[Pass; PASSES], block: [u32; 2]) -> [u32; 2] {
        let mut halves = initial(block);
        for (number, keys) in keys.iter().enumerate() {
            halves = if number % 2 == 0 { pass::<false>(keys, halves) } else { pass::<true>(keys, halves) };
        }
        last(halves)
    }

    #[inline(always)]
    fn decrypted(keys: &[Pass; PASSES], block: [u32; 2]) -> [u32; 2] {
        let mut halves = initial(block);
        for (number, keys) in keys.iter().enumerate().rev() {
            halves = if number % 2 == 0 { pass::<true>(keys, halves) } else { pass::<false>(keys, halves) };
        }
        last(halves)
    }
}

#[cfg(test)]
mod tests {
    use ::cipher::KeyInit;
    use ::cipher::block::{BlockCipherDecrypt, BlockCipherEncrypt};
    use ::des::{TdesEde2, TdesEde3};
    use proptest::prelude::{any, proptest};
    use proptest::prop_assert_eq;

    use super::*;

    /// A block encrypted and a block decrypted.
    fn by_tables<const PASSES: usize>(keys: [Pass; PASSES], block: [u8; 8]) -> [[u8; 8]; 2] {
        let words = Des::<PASSES>::read(&block);
        [Des::encrypted(&keys, words), Des::decrypted(&keys, words)].map(|words| {
            let mut bytes = [0; 8];
            Des::<PASSES>::write(words, &mut bytes);
            bytes
        })
    }

    fn by_crate(
        cipher: &(impl BlockCipherEncrypt<BlockSize = ::cipher::consts::U8> + BlockCipherDecrypt),
        block: [u8; 8],
    ) -> [[u8; 8]; 2] {
        let (mut forth, mut back) = (block.into(), block.into());
        cipher.encrypt_block(&mut forth);
        cipher.decrypt_block(&mut back);
        [forth.into(), back.into()]
    }

    proptest! {
        #[test]
        fn a_block_is_that_of_the_des_crate(keys in any::<[[u8; 8]; 3]>(), block in any::<[u8; 8]>()) {
            let [first, second, third] = keys.map(expand);
            let des = ::des::Des::new(&keys[0].into());
            prop_assert_eq!(by_tables([first], block), by_crate(&des, block));
            let two: [u8; 16] = core::array::from_fn(|at| keys[at / 8][at % 8]);
            prop_assert_eq!(by_tables([first, second, first], block), by_crate(&TdesEde2::new(&two.into()), block));
            let three: [u8; 24] = core::array::from_fn(|at| keys[at / 8][at % 8]);
            prop_assert_eq!(by_tables([first, second, third], block), by_crate(&TdesEde3::new(&three.into()), block));
        }

        #[test]
        fn the_final_permutation_undoes_the_initial_one(halves in any::<[u32; 2]>()) {
            prop_assert_eq!(last(initial(halves)), halves);
        }
    }
}
