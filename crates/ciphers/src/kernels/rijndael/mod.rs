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
mod schedule;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vaes;
mod way;

use self::schedule::Key;
use crate::Spec;
use crate::modes::sliced::{Feedback, Kernel};

pub(crate) use self::schedule::{MOST_ROUNDS, Rijndael};
pub(crate) use self::tables::TableRijndael;
pub(crate) use self::way::{Way, path};

impl<const B: usize> Rijndael<B> {
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
