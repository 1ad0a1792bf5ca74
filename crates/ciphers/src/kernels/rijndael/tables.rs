//! Rijndael by tables of words, as libraries had it when no processor had instructions for it: a round of a column is four
//! look-ups and four additions. Its time depends on the cache, and so on key and data: for history, not for use.
//!
//! # Source
//! AES Proposal: Rijndael, version 2, 5.2.1, for the tables; FIPS 197, 5.3.5, for the way back.
#![forbid(unsafe_code)]

use core::cell::OnceCell;

use super::schedule::{MOST_ROUNDS, Rijndael};
use crate::Spec;
use crate::kernels::words::OnWords;

/// The product in GF(2^8) (AES Proposal, 2.1.2).
const fn times(left: u32, right: u32) -> u32 {
    let (mut product, mut bit) = (0, 8);
    while bit > 0 {
        bit -= 1;
        product = (product << 1) ^ (0x11b * (product >> 7)) ^ (left * ((right >> bit) & 1));
    }
    product
}

/// SubByte (AES Proposal, 4.2.1): the affine map of the inverse in GF(2^8).
const S_BOX: [u8; 256] = {
    let mut s_box = [0x63; 256];
    // 3 generates the field, and 0xf6 is its inverse: all pairs of inverses are powers of the two.
    let (mut power, mut inverse, mut step) = (1_u32, 1_u32, 0);
    while step < 255 {
        let mapped = inverse ^ (inverse << 1) ^ (inverse << 2) ^ (inverse << 3) ^ (inverse << 4);
        s_box[power as usize] = (0x63 ^ mapped ^ (mapped >> 8)).to_le_bytes()[0];
        (power, inverse) = (times(power, 3), times(inverse, 0xf6));
        step += 1;
    }
    s_box
};

/// The inverse of SubByte.
const INVERSE_S_BOX: [u8; 256] = {
    let (mut inverse, mut byte) = ([0; 256], 0_u32);
    while byte < 256 {
        inverse[S_BOX[byte as usize] as usize] = byte.to_le_bytes()[0];
        byte += 1;
    }
    inverse
};

/// Four tables of 256 words, one for each row: what a substituted byte adds to the four bytes of a column.
type Tables = [[u32; 256]; 4];

/// * The substitution, and the column of the matrix by which a byte of the first row is multiplied.
const fn tables(substitution: &[u8; 256], column: [u32; 4]) -> Tables {
    let (mut tables, mut byte) = ([[0; 256]; 4], 0);
    while byte < 256 {
        let substituted = substitution[byte] as u32;
        let [a, b, c, d] = column;
        let mut word = times(substituted, a)
            | (times(substituted, b) << 8)
            | (times(substituted, c) << 16)
            | (times(substituted, d) << 24);
        let mut row = 0;
        while row < 4 {
            tables[row][byte] = word;
            word = word.rotate_left(8);
            row += 1;
        }
        byte += 1;
    }
    tables
}

static S: [u8; 256] = S_BOX;
static INVERSE_S: [u8; 256] = INVERSE_S_BOX;
static FORTH: Tables = tables(&S_BOX, [2, 1, 1, 3]);
static BACK: Tables = tables(&INVERSE_S_BOX, [14, 9, 13, 11]);

/// Byte `row` of a word.
#[inline(always)]
fn byte(word: u32, row: usize) -> usize {
    (word >> (8 * row)) as usize & 0xff
}

type Keys<const N: usize> = [[u32; N]; MOST_ROUNDS + 1];

/// A key schedule for blocks of `B` bytes in `N` columns: 16 in 4, 24 in 6 or 32 in 8.
pub(crate) struct TableRijndael<const B: usize, const N: usize> {
    /// At most [`MOST_ROUNDS`].
    rounds: usize,
    forth: Keys<N>,
    /// Made when a block is first decrypted.
    back: OnceCell<Keys<N>>,
}

impl<const B: usize, const N: usize> TableRijndael<B, N> {
    /// The schedule; `None` for no rounds or more than there are, or a key of another length than 16, 24 or 32 bytes.
    #[inline]
    pub(super) fn of(rounds: usize, key: &[u8]) -> Option<Self> {
        if !(1..=MOST_ROUNDS).contains(&rounds) || !matches!(key.len(), 16 | 24 | 32) {
            return None;
        }
        let mut forth = [[0; N]; MOST_ROUNDS + 1];
        let substitute = |word: u32| u32::from_le_bytes(word.to_le_bytes().map(|byte| S[usize::from(byte)]));
        Rijndael::<B>::expand(rounds, key, substitute, |round, column, word| forth[round][column] = word);
        Some(Self { rounds, forth, back: OnceCell::new() })
    }

    /// The keys of the equivalent inverse cipher, in the order of its rounds.
    fn inverse_keys(&self) -> Keys<N> {
        let mut back = [[0; N]; MOST_ROUNDS + 1];
        for (at, (back, forth)) in back.iter_mut().zip(self.forth[..=self.rounds].iter().rev()).enumerate() {
            *back = *forth;
            if at != 0 && at != self.rounds {
                for word in back {
                    let unmixed = |row: usize| BACK[row][usize::from(S[byte(*word, row)])];
                    *word = unmixed(0) ^ unmixed(1) ^ unmixed(2) ^ unmixed(3);
                }
            }
        }
        back
    }

    /// The bytes that the rows shift to a column.
    #[inline(always)]
    fn shifted<const IS_BACK: bool>(state: &[u32; N], column: usize) -> [usize; 4] {
        let [_, b, c, d] = Rijndael::<B>::SHIFTS;
        let word = |shift: usize| state[(column + if IS_BACK { N - shift } else { shift }) % N];
        [byte(state[column], 0), byte(word(b), 1), byte(word(c), 2), byte(word(d), 3)]
    }

    #[inline(always)]
    fn through<const IS_BACK: bool>(rounds: &[[u32; N]], mut state: [u32; N]) -> [u32; N] {
        let [first, middle @ .., last] = rounds else { return state };
        let (tables, substitution) = if IS_BACK { (&BACK, &INVERSE_S) } else { (&FORTH, &S) };
        state = sum(state, *first);
        for key in middle {
            let mut next = *key;
            for (column, next) in next.iter_mut().enumerate() {
                let [a, b, c, d] = Self::shifted::<IS_BACK>(&state, column);
                *next ^= (tables[0][a] ^ tables[1][b]) ^ (tables[2][c] ^ tables[3][d]);
            }
            state = next;
        }
        // The last round has no MixColumn.
        let mut next = *last;
        for (column, next) in next.iter_mut().enumerate() {
            let [a, b, c, d] = Self::shifted::<IS_BACK>(&state, column);
            *next ^= u32::from_le_bytes([substitution[a], substitution[b], substitution[c], substitution[d]]);
        }
        next
    }
}

#[inline(always)]
fn sum<const N: usize>(mut left: [u32; N], right: [u32; N]) -> [u32; N] {
    for (left, right) in left.iter_mut().zip(right) {
        *left ^= right;
    }
    left
}

impl<const B: usize, const N: usize> OnWords<B> for TableRijndael<B, N> {
    type Block = [u32; N];
    type Keys = [[u32; N]];

    /// AES has the rounds of its key.
    #[inline]
    fn schedule(spec: &Spec, key: &[u8]) -> Option<Self> {
        Self::of(spec.rounds.map_or(key.len() / 4 + 6, usize::from), key)
    }

    #[inline(always)]
    fn read(bytes: &[u8; B]) -> [u32; N] {
        let mut words = [0; N];
        for (column, word) in words.iter_mut().enumerate() {
            let at = 4 * column;
            *word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        }
        words
    }

    #[inline(always)]
    fn write(block: [u32; N], bytes: &mut [u8; B]) {
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(block) {
            *bytes = word.to_le_bytes();
        }
    }

    #[inline(always)]
    fn sum(left: [u32; N], right: [u32; N]) -> [u32; N] {
        sum(left, right)
    }

    #[inline(always)]
    fn forth(&self) -> &[[u32; N]] {
        &self.forth[..=self.rounds]
    }

    #[inline(always)]
    fn back(&self) -> &[[u32; N]] {
        &self.back.get_or_init(|| self.inverse_keys())[..=self.rounds]
    }

    #[inline(always)]
    fn encrypted(keys: &[[u32; N]], block: [u32; N]) -> [u32; N] {
        Self::through::<false>(keys, block)
    }

    #[inline(always)]
    fn decrypted(keys: &[[u32; N]], block: [u32; N]) -> [u32; N] {
        Self::through::<true>(keys, block)
    }
}
