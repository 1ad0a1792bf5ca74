//! Rijndael (Daemen and Rijmen, AES Proposal: Rijndael, version 2, 1999) with blocks of 128, 192 and 256 bits.
//!
//! Four ways lead to the same bytes: with the AES instructions on one block (`aesni`), on two (`vaes256`) or two to four
//! blocks a register (`vaes512`), and without them on bit planes (`bitsliced`), constant in time on every processor.
//! Apart from them, `tables` is what libraries had before.
//!
//! # The floor
//! AESENC shifts the rows of a block of four columns. For six and eight columns the two halves of a block lie in two
//! registers; before each round a blend takes the bytes that come from the other half, and a shuffle puts all where
//! AESENC's own shift brings them to their place.
//! * One block after the other (CBC encryption): a round takes the latencies of VPBLENDVB, VPSHUFB and AESENC, on Zen 4
//!   1 + 2 + 4 cycles: with 14 rounds and 32 bytes 14 * 7 / 32 = 3.06 cycles a byte. The two halves meet on the
//!   pipes and a bare chain of such rounds takes 8 cycles, 3.50. The whole block in one ymm register needs VPERMB,
//!   4 + 4 cycles: 3.50 too.
//! * Many blocks: a zmm register holds two, and a round is one VPERMB and one VAESENC. A zmm instruction holds its pipe
//!   for two cycles; VAESENC has the pipes 0 and 1, VPERMB 1 and 2: four halves on three pipes, 1.33 cycles a round, and
//!   14 * 1.33 / 64 = 0.29 cycles a byte. A bare loop reaches it with 18 or 24 registers; with 12, the usual number,
//!   a round takes 1.5 to 1.7.
//!
//! The latencies were measured in chains of one instruction, the pipes in loops of both, against IMUL's 3 cycles.

#[cfg(target_arch = "x86_64")]
mod aesni;
mod portable;
mod sbox;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vaes;

pub(crate) use tables::TableRijndael;

use crate::Spec;
use crate::modes::{Feedback, Kernel};

/// The most rounds: those of a block or a key of 256 bits.
pub(crate) const MOST_ROUNDS: usize = 14;

/// A round key, where a register can take it at once.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Key<T>(T);

/// As the chosen way wants it: two halves of a block in words of four bytes, or eight bit planes.
type RoundKey = Key<[u32; 8]>;
type RoundKeys = [RoundKey; MOST_ROUNDS + 1];

/// Which instructions are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    #[cfg(target_arch = "x86_64")]
    Vaes512,
    #[cfg(target_arch = "x86_64")]
    Vaes256,
    #[cfg(target_arch = "x86_64")]
    Aesni,
    Portable,
}

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_vaes512, "avx512f", "avx512bw", "avx512vbmi", "avx2", "vaes", "aes", "sse4.1");
#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_vaes256, "avx2", "vaes", "aes", "sse4.1");
#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_aesni, "aes", "sse4.1");

impl Way {
    /// All that can be built for this architecture, the best first.
    const ALL: &'static [Way] = &[
        #[cfg(target_arch = "x86_64")]
        Way::Vaes512,
        #[cfg(target_arch = "x86_64")]
        Way::Vaes256,
        #[cfg(target_arch = "x86_64")]
        Way::Aesni,
        Way::Portable,
    ];

    /// Whether this processor and its system have the instructions.
    #[inline]
    fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Way::Vaes512 => has_vaes512::get(),
            #[cfg(target_arch = "x86_64")]
            Way::Vaes256 => has_vaes256::get(),
            #[cfg(target_arch = "x86_64")]
            Way::Aesni => has_aesni::get(),
            Way::Portable => true,
        }
    }

    /// The best that is here.
    #[inline]
    fn best() -> Self {
        Self::ALL.iter().copied().find(|way| way.is_here()).unwrap_or(Way::Portable)
    }

    fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Way::Vaes512 => "vaes512",
            #[cfg(target_arch = "x86_64")]
            Way::Vaes256 => "vaes256",
            #[cfg(target_arch = "x86_64")]
            Way::Aesni => "aesni",
            Way::Portable => "bitsliced",
        }
    }
}

/// The way that is taken on this machine.
pub(crate) fn path() -> &'static str {
    Way::best().name()
}

/// A key schedule for blocks of `B` bytes: 16, 24 or 32.
pub(crate) struct Rijndael<const B: usize> {
    way: Way,
    /// At most [`MOST_ROUNDS`].
    rounds: usize,
    forth: RoundKeys,
    /// For the equivalent inverse cipher (FIPS 197, 5.3.5), which the AES instructions need.
    #[cfg(target_arch = "x86_64")]
    back: RoundKeys,
}

impl<const B: usize> Rijndael<B> {
    const COLUMNS: usize = B / 4;

    /// How far a row is shifted, in columns (AES Proposal, table 2).
    const SHIFTS: [usize; 4] = if B == 32 { [0, 1, 3, 4] } else { [0, 1, 2, 3] };

    /// The schedule for one way; `None` for a way that is not here, no rounds or more than there are, or a key of another
    /// length than 16, 24 or 32 bytes.
    #[inline]
    pub(crate) fn by(way: Way, rounds: usize, key: &[u8]) -> Option<Self> {
        if !way.is_here() || !(1..=MOST_ROUNDS).contains(&rounds) || !matches!(key.len(), 16 | 24 | 32) {
            return None;
        }
        let none = [Key([0; 8]); MOST_ROUNDS + 1];
        let mut schedule = Self {
            way,
            rounds,
            forth: none,
            #[cfg(target_arch = "x86_64")]
            back: none,
        };
        match way {
            Way::Portable => portable::key_setup(&mut schedule, key),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the instructions of each of the others are here, and AES with SSE4.1 is among them.
            _ => unsafe { aesni::key_setup(&mut schedule, key) },
        }
        Some(schedule)
    }

    /// Expands a key: `put` is given each word with its round and its column.
    ///
    /// # Source
    /// AES Proposal: Rijndael, 4.3.1; `substitute` is SubByte on the four bytes of a word, the first the lowest.
    #[inline(always)]
    fn expand(rounds: usize, key: &[u8], substitute: impl Fn(u32) -> u32, mut put: impl FnMut(usize, usize, u32)) {
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

    /// Encrypts blocks or, if `BACK`, decrypts them, and adds to each the block of `add` in its place.
    #[inline]
    fn blocks<const BACK: bool>(&self, input: &[[u8; B]], add: Option<&[[u8; B]]>, output: &mut [[u8; B]]) {
        match self.way {
            // SAFETY: `by` saw that the instructions are here.
            #[cfg(target_arch = "x86_64")]
            Way::Vaes512 => unsafe { vaes::blocks512::<B, BACK>(self, input, add, output) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Way::Vaes256 => unsafe { vaes::blocks256::<B, BACK>(self, input, add, output) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Way::Aesni => unsafe { aesni::blocks::<B, BACK>(self, input, add, output) },
            Way::Portable => portable::blocks::<B, BACK>(self, input, add, output),
        }
    }
}

impl<const B: usize> Kernel<B> for Rijndael<B> {
    /// Those of 24 registers of 64 bytes, the most that a way takes.
    const AT_ONCE: usize = 48;

    #[inline]
    fn schedule(spec: &Spec, key: &[u8]) -> Option<Self> {
        Self::by(Way::best(), usize::from(spec.rounds?), key)
    }

    #[inline]
    fn encrypt(&self, input: &[[u8; B]], add: Option<&[[u8; B]]>, output: &mut [[u8; B]]) {
        self.blocks::<false>(input, add, output);
    }

    #[inline]
    fn decrypt(&self, input: &[[u8; B]], add: Option<&[[u8; B]]>, output: &mut [[u8; B]]) {
        self.blocks::<true>(input, add, output);
    }

    #[inline]
    fn chain(&self, feedback: Feedback, chain: &mut [u8; B], input: &[[u8; B]], output: &mut [[u8; B]]) {
        match self.way {
            // SAFETY: `by` saw that the instructions are here.
            #[cfg(target_arch = "x86_64")]
            Way::Vaes512 | Way::Vaes256 => unsafe { vaes::chain(self, feedback, chain, input, output) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Way::Aesni => unsafe { aesni::chain(self, feedback, chain, input, output) },
            Way::Portable => portable::chain(self, feedback, chain, input, output),
        }
    }
}
