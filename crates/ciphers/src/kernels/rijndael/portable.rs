//! Rijndael on bit planes, for every processor: no table, no branch and no address that depends on key or data.
//!
//! A state is eight planes, plane k holding bit k of every byte. In a plane each row of the block is a field, and in it the
//! columns lie side by side, so that a shift of a row is a rotation of its field, and the mixing of columns takes whole
//! rows. [`Narrow`] holds one block (two of 128 bits) in planes of 32 bits, [`Wide`] eight (sixteen) in four words of 64,
//! which compilers put into vector registers.
#![forbid(unsafe_code)]

use core::array::from_fn;
use core::ops::{BitAnd, BitXor, Not};

use super::sbox::{Bits, restore, substitute};
use super::schedule::{Key, MOST_ROUNDS, Rijndael};
use crate::modes::sliced::Feedback;

/// Whether the processor has words of 64 bits; where not, the planes of [`Wide`] only fill the stack.
const HAS_WIDE: bool = cfg!(any(target_pointer_width = "64", target_arch = "wasm32"));

/// One plane: four rows.
trait Plane: Bits {
    /// Blocks of `B` bytes in a state.
    fn blocks<const B: usize>() -> usize;
    /// The state of so many blocks or fewer; what is missing is zero.
    fn gather<const B: usize>(blocks: &[[u8; B]]) -> [Self; 8];
    /// What [`Plane::gather`] takes apart.
    fn scatter<const B: usize>(state: [Self; 8], blocks: &mut [[u8; B]]);
    /// Each row becomes the row below it.
    fn row_below(self) -> Self;
    /// Each row shifted left or, if `BACK`, right, as ShiftRow says for blocks of `B` bytes.
    fn shift_rows<const B: usize, const BACK: bool>(self) -> Self;
}

/// A field of `bits` bits, its lowest ones taken to the top; what lies above the field is cleared.
#[inline(always)]
fn rotated<const BACK: bool>(field: u64, by: usize, bits: usize) -> u64 {
    if by == 0 {
        return field;
    }
    let by = if BACK { bits - by } else { by };
    let mask = u64::MAX >> (64 - bits);
    (((field & mask) >> by) | (field << (bits - by))) & mask
}

/// Exchanges, between words whose numbers differ in bit `of_number`, the bits that lie `distance` apart.
macro_rules! exchange {
    ($words:expr, $of_number:expr, $distance:expr, $mask:expr) => {
        for low in 0..$words.len() {
            let high = low | (1 << $of_number);
            if high != low {
                let differing = (($words[low] >> $distance) ^ $words[high]) & $mask;
                $words[high] ^= differing;
                $words[low] ^= differing << $distance;
            }
        }
    };
}

/// Four rows of eight bits.
type Narrow = u32;

/// Turns eight columns into eight planes, and back.
#[inline(always)]
fn turned_narrow(mut words: [u32; 8]) -> [u32; 8] {
    exchange!(words, 0, 1, 0x5555_5555);
    exchange!(words, 1, 2, 0x3333_3333);
    exchange!(words, 2, 4, 0x0f0f_0f0f);
    words
}

/// Where a column of a block lies among the words of [`Narrow`].
#[inline(always)]
fn narrow_word<const B: usize>(block: usize, column: usize) -> usize {
    if B == 16 { 2 * column + block } else { column }
}

impl Plane for Narrow {
    #[inline(always)]
    fn blocks<const B: usize>() -> usize {
        if B == 16 { 2 } else { 1 }
    }

    #[inline(always)]
    fn gather<const B: usize>(blocks: &[[u8; B]]) -> [Self; 8] {
        let mut words = [0; 8];
        for (number, block) in blocks.iter().enumerate() {
            for (column, bytes) in block.as_chunks::<4>().0.iter().enumerate() {
                words[narrow_word::<B>(number, column)] = u32::from_le_bytes(*bytes);
            }
        }
        turned_narrow(words)
    }

    #[inline(always)]
    fn scatter<const B: usize>(state: [Self; 8], blocks: &mut [[u8; B]]) {
        let words = turned_narrow(state);
        for (number, block) in blocks.iter_mut().enumerate() {
            for (column, bytes) in block.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                *bytes = words[narrow_word::<B>(number, column)].to_le_bytes();
            }
        }
    }

    #[inline(always)]
    fn row_below(self) -> Self {
        self.rotate_right(8)
    }

    #[inline(always)]
    fn shift_rows<const B: usize, const BACK: bool>(self) -> Self {
        let each = Self::blocks::<B>();
        let bits = Rijndael::<B>::COLUMNS * each;
        let rows = self.to_le_bytes();
        let shifted = from_fn(|row| {
            let row = rotated::<BACK>(u64::from(rows[row]), Rijndael::<B>::SHIFTS[row] * each, bits);
            row.to_le_bytes()[0]
        });
        u32::from_le_bytes(shifted)
    }
}

/// Four rows of 64 bits.
#[derive(Clone, Copy)]
struct Wide([u64; 4]);

impl BitXor for Wide {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(from_fn(|row| self.0[row] ^ other.0[row]))
    }
}

impl BitAnd for Wide {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(from_fn(|row| self.0[row] & other.0[row]))
    }
}

impl Not for Wide {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(Not::not))
    }
}

/// Turns 32 pairs of columns into eight planes of four rows, and back.
#[inline(always)]
fn turn_wide(words: &mut [u64; 32]) {
    exchange!(words, 0, 8, 0x00ff_00ff_00ff_00ff);
    exchange!(words, 1, 16, 0x0000_ffff_0000_ffff);
    exchange!(words, 2, 1, 0x5555_5555_5555_5555);
    exchange!(words, 3, 2, 0x3333_3333_3333_3333);
    exchange!(words, 4, 4, 0x0f0f_0f0f_0f0f_0f0f);
}

/// Where a column of a block lies among the words of [`Wide`], and in which half of the word.
#[inline(always)]
fn wide_word<const B: usize>(block: usize, column: usize) -> (usize, usize) {
    if B == 16 {
        ((block & 7) * 4 + (column & 1) * 2 + (block >> 3), column >> 1)
    } else {
        (block * 4 + (column & 3), column >> 2)
    }
}

impl Wide {
    /// A plane of a round key, the same for every block.
    #[inline(always)]
    fn spread(plane: Narrow) -> Self {
        Self(plane.to_le_bytes().map(|row| {
            // Bit i alone in byte i, then every byte that is not zero filled with ones.
            let one_each = u64::from(row).wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
            let at_the_top = (one_each + 0x7f7f_7f7f_7f7f_7f7f) & 0x8080_8080_8080_8080;
            (at_the_top >> 7).wrapping_mul(0xff)
        }))
    }
}

impl Plane for Wide {
    #[inline(always)]
    fn blocks<const B: usize>() -> usize {
        if B == 16 { 16 } else { 8 }
    }

    #[inline(always)]
    fn gather<const B: usize>(blocks: &[[u8; B]]) -> [Self; 8] {
        let mut words = [0; 32];
        for (number, block) in blocks.iter().enumerate() {
            for (column, bytes) in block.as_chunks::<4>().0.iter().enumerate() {
                let (word, half) = wide_word::<B>(number, column);
                words[word] |= u64::from(u32::from_le_bytes(*bytes)) << (32 * half);
            }
        }
        turn_wide(&mut words);
        from_fn(|plane| Self(from_fn(|row| words[4 * plane + row])))
    }

    #[inline(always)]
    fn scatter<const B: usize>(state: [Self; 8], blocks: &mut [[u8; B]]) {
        let mut words = from_fn(|at| state[at / 4].0[at % 4]);
        turn_wide(&mut words);
        for (number, block) in blocks.iter_mut().enumerate() {
            for (column, bytes) in block.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                let (word, half) = wide_word::<B>(number, column);
                let pair = words[word].to_le_bytes();
                bytes.copy_from_slice(&pair[4 * half..4 * half + 4]);
            }
        }
    }

    #[inline(always)]
    fn row_below(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([b, c, d, a])
    }

    #[inline(always)]
    fn shift_rows<const B: usize, const BACK: bool>(self) -> Self {
        let each = Self::blocks::<B>();
        let bits = Rijndael::<B>::COLUMNS * each;
        Self(from_fn(|row| rotated::<BACK>(self.0[row], Rijndael::<B>::SHIFTS[row] * each, bits)))
    }
}

/// Every byte times x in GF(2^8).
#[inline(always)]
fn doubled<T: Bits>([x0, x1, x2, x3, x4, x5, x6, x7]: [T; 8]) -> [T; 8] {
    [x7, x0 ^ x7, x1, x2 ^ x7, x3 ^ x7, x4, x5, x6]
}

#[inline(always)]
fn added<T: Bits>(left: &[T; 8], right: &[T; 8]) -> [T; 8] {
    from_fn(|plane| left[plane] ^ right[plane])
}

#[inline(always)]
fn rows_below<P: Plane>(state: &[P; 8]) -> [P; 8] {
    state.map(P::row_below)
}

/// MixColumn: twice the row, three times the one below, once the two others.
#[inline(always)]
fn mixed<P: Plane>(state: &[P; 8]) -> [P; 8] {
    let below = rows_below(state);
    let both = added(state, &below);
    added(&added(&doubled(both), &below), &rows_below(&rows_below(&both)))
}

/// The inverse of [`mixed`], which is [`mixed`] after 5, 0, 4, 0 (Daemen and Rijmen, The Design of Rijndael, 4.1.3).
#[inline(always)]
fn unmixed<P: Plane>(state: &[P; 8]) -> [P; 8] {
    let opposite = added(state, &rows_below(&rows_below(state)));
    mixed(&added(state, &doubled(doubled(opposite))))
}

#[inline(always)]
fn encrypted<P: Plane, const B: usize>(keys: &[Key<[P; 8]>], mut state: [P; 8]) -> [P; 8] {
    let Some(([first, middle @ ..], last)) = keys.split_last().map(|(last, rest)| (rest, last)) else { return state };
    state = added(&state, &first.0);
    for key in middle {
        let shifted = substitute(state).map(P::shift_rows::<B, false>);
        state = added(&mixed(&shifted), &key.0);
    }
    added(&substitute(state).map(P::shift_rows::<B, false>), &last.0)
}

#[inline(always)]
fn decrypted<P: Plane, const B: usize>(keys: &[Key<[P; 8]>], mut state: [P; 8]) -> [P; 8] {
    let Some(([first, middle @ ..], last)) = keys.split_last().map(|(last, rest)| (rest, last)) else { return state };
    state = restore(added(&state, &last.0).map(P::shift_rows::<B, true>));
    for key in middle.iter().rev() {
        let unmixed = unmixed(&added(&state, &key.0));
        state = restore(unmixed.map(P::shift_rows::<B, true>));
    }
    added(&state, &first.0)
}

fn substituted_word(word: u32) -> u32 {
    turned_narrow(substitute(turned_narrow([word, 0, 0, 0, 0, 0, 0, 0])))[0]
}

/// Sets the planes of each round key, twice each column where a state holds two blocks.
pub(super) fn key_setup<const B: usize>(schedule: &mut Rijndael<B>, key: &[u8]) {
    let forth = &mut schedule.forth;
    Rijndael::<B>::expand(schedule.rounds, key, substituted_word, |round, column, word| {
        for block in 0..Narrow::blocks::<B>() {
            forth[round].0[narrow_word::<B>(block, column)] = word;
        }
    });
    for Key(words) in forth {
        *words = turned_narrow(*words);
    }
}

/// A state's worth of blocks or fewer.
#[inline(always)]
fn batch<P: Plane, const B: usize, const BACK: bool>(
    keys: &[Key<[P; 8]>],
    input: &[[u8; B]],
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) {
    let state = P::gather(input);
    let done = if BACK { decrypted::<P, B>(keys, state) } else { encrypted::<P, B>(keys, state) };
    P::scatter(done, output);
    if let Some(add) = add {
        for (output, add) in output.as_flattened_mut().iter_mut().zip(add.as_flattened()) {
            *output ^= add;
        }
    }
}

fn batches<P: Plane, const B: usize, const BACK: bool>(
    keys: &[Key<[P; 8]>],
    input: &[[u8; B]],
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) {
    let many = P::blocks::<B>();
    for (at, (input, output)) in input.chunks(many).zip(output.chunks_mut(many)).enumerate() {
        batch::<P, B, BACK>(keys, input, add.and_then(|add| add.get(at * many..)), output);
    }
}

pub(super) fn blocks<const B: usize, const BACK: bool>(
    schedule: &Rijndael<B>,
    input: &[[u8; B]],
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) {
    let keys = &schedule.forth[..=schedule.rounds];
    // A wide state takes as long as four narrow ones, and its keys must be spread first.
    if !HAS_WIDE || input.len() < Wide::blocks::<B>() {
        return batches::<Narrow, B, BACK>(keys, input, add, output);
    }
    let wide: [Key<[Wide; 8]>; MOST_ROUNDS + 1] =
        from_fn(|round| Key(keys.get(round).map_or([Wide([0; 4]); 8], |key| key.0.map(Wide::spread))));
    batches::<Wide, B, BACK>(&wide[..=schedule.rounds], input, add, output);
}

pub(super) fn chain<const B: usize>(
    schedule: &Rijndael<B>,
    feedback: Feedback,
    chain: &mut [u8; B],
    input: &[[u8; B]],
    output: &mut [[u8; B]],
) {
    let keys = &schedule.forth[..=schedule.rounds];
    for (input, output) in input.iter().zip(output) {
        if feedback == Feedback::Cbc {
            chain.iter_mut().zip(input).for_each(|(c, i)| *c ^= i);
        }
        let state = Narrow::gather(core::slice::from_ref(chain));
        Narrow::scatter(encrypted::<Narrow, B>(keys, state), core::slice::from_mut(chain));
        *output = *chain;
        if feedback != Feedback::Cbc {
            output.iter_mut().zip(input).for_each(|(o, i)| *o ^= i);
        }
        if feedback == Feedback::Cfb {
            *chain = *output;
        }
    }
}
