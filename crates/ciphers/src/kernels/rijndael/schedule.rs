//! A key schedule, and how a key is expanded.

use super::way::Way;

/// The most rounds: those of a block or a key of 256 bits.
pub(crate) const MOST_ROUNDS: usize = 14;

/// A round key, where a register can take it at once.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Key<T>(pub(super) T);

/// As the chosen way wants it: two halves of a block in words of four bytes, or eight bit planes.
pub(super) type RoundKey = Key<[u32; 8]>;

pub(super) type RoundKeys = [RoundKey; MOST_ROUNDS + 1];

/// A key schedule for blocks of `B` bytes: 16, 24 or 32.
pub(crate) struct Rijndael<const B: usize> {
    pub(super) way: Way,
    /// At most [`MOST_ROUNDS`].
    pub(super) rounds: usize,
    pub(super) forth: RoundKeys,
    /// For the equivalent inverse cipher (FIPS 197, 5.3.5), which the AES instructions need.
    #[cfg(target_arch = "x86_64")]
    pub(super) back: RoundKeys,
}

impl<const B: usize> Rijndael<B> {
    pub(super) const COLUMNS: usize = B / 4;

    /// How far a row is shifted, in columns (AES Proposal, table 2).
    pub(super) const SHIFTS: [usize; 4] = if B == 32 { [0, 1, 3, 4] } else { [0, 1, 2, 3] };

    /// Expands a key: `put` is given each word with its round and its column.
    ///
    /// # Source
    /// AES Proposal: Rijndael, 4.3.1; `substitute` is SubByte on the four bytes of a word, the first the lowest.
    #[inline(always)]
    pub(super) fn expand(
        rounds: usize,
        key: &[u8],
        substitute: impl Fn(u32) -> u32,
        mut put: impl FnMut(usize, usize, u32),
    ) {
        let mut last = [0; 8];
        let (words, _) = key.as_chunks::<4>();
        let words_of_key = words.len().min(8);
        for (word, bytes) in last.iter_mut().zip(words) {
            *word = u32::from_le_bytes(*bytes);
        }
        let (mut constant, mut at) = (1_u32, 0);
        for round in 0..=rounds {
            for column in 0..Self::COLUMNS {
                if at == words_of_key {
                    let mut before = last[words_of_key - 1];
                    before = substitute(before.rotate_right(8)) ^ constant;
                    constant = (constant << 1) ^ (0x11b * (constant >> 7));
                    for (index, word) in last[..words_of_key].iter_mut().enumerate() {
                        if index == 4 && words_of_key > 6 {
                            before = substitute(before);
                        }
                        *word ^= before;
                        before = *word;
                    }
                    at = 0;
                }
                put(round, column, last[at]);
                at += 1;
            }
        }
    }
}
