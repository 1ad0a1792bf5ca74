//! Many blocks at once, a word of each block in its place of a register: for ciphers of additions, rotations and
//! multiplications, which processors do to 8 or 16 words as fast as to one.
//!
//! Blocks that wait for each other (CBC, CFB and OFB encryption) and a last block alone take the scalar way.

mod expand;
#[cfg(target_arch = "x86_64")]
mod groups;
mod lanes;
mod table;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vector;
mod way;

pub(super) use expand::expand;
pub(super) use lanes::Lanes;
pub(super) use table::Table;
#[cfg(target_arch = "x86_64")]
pub(super) use vector::{Vector, transposed};
pub(super) use way::Way;
pub(crate) use way::path;

use self::lanes::{Source, Word};
use crate::modes::sliced::{Feedback, count_on};

#[inline(always)]
fn words<W: Word, const B: usize, const R: usize>(block: &[u8; B]) -> [W; R] {
    let mut words = [W::default(); R];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(B / R)) {
        *word = W::read(bytes).unwrap_or_default();
    }
    words
}

#[inline(always)]
fn put<W: Word, const B: usize, const R: usize>(words: [W; R], block: &mut [u8; B]) {
    for (bytes, word) in block.chunks_exact_mut(B / R).zip(words) {
        word.write(bytes);
    }
}

#[inline(always)]
fn sum<W: Word, const R: usize>(mut words: [W; R], other: [W; R]) -> [W; R] {
    for (word, other) in words.iter_mut().zip(other) {
        *word = *word ^ other;
    }
    words
}

/// Encrypts blocks or, if `BACK`, decrypts them, and adds to each the block of `add` in its place.
///
/// * `N` groups are worked on at once with AVX-512, `M` with AVX2.
#[inline]
pub(super) fn blocks<
    L: Lanes<B, R>,
    const B: usize,
    const R: usize,
    const N: usize,
    const M: usize,
    const BACK: bool,
>(
    cipher: &L,
    input: &[[u8; B]],
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) {
    let done = widest::<L, B, R, N, M, BACK>(cipher, Source::Blocks(input), add, output);
    for (at, (input, output)) in input.iter().zip(output).enumerate().skip(done) {
        let mut block = cipher.one::<BACK>(words(input));
        if let Some(add) = add.and_then(|add| add.get(at)) {
            block = sum(block, words(add));
        }
        put(block, output);
    }
}

/// Adds to each block the encryption of its counter; `counter` becomes that of the next part.
#[inline]
pub(super) fn count<L: Lanes<B, R>, const B: usize, const R: usize, const N: usize, const M: usize>(
    cipher: &L,
    counter: &mut [u8; B],
    mut input: &[[u8; B]],
    mut output: &mut [[u8; B]],
) {
    while !input.is_empty() {
        let [high, low] = numbers(counter);
        // Cut where the low number runs over, for that is the only one which a register counts on.
        let few = usize::try_from(low.wrapping_neg()).unwrap_or(usize::MAX);
        let few = if few == 0 { input.len() } else { few.min(input.len()) };
        let (now, later) = output.split_at_mut(few);
        let done = widest::<L, B, R, N, M, false>(cipher, Source::Counters([high, low]), Some(&input[..few]), now);
        count_on(counter, done as u64);
        for (input, output) in input[..few].iter().zip(now).skip(done) {
            put(sum(cipher.one::<false>(words(counter)), words(input)), output);
            count_on(counter, 1);
        }
        (input, output) = (&input[few..], later);
    }
}

/// The numbers that a counter of 16 bytes is, the high one first; of 8 bytes it is both.
#[inline]
fn numbers<const B: usize>(counter: &[u8; B]) -> [u64; 2] {
    let numbers = counter.as_chunks().0;
    let number = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes));
    [number(numbers.first()), number(numbers.last())]
}

/// Gives how many blocks were done: none, all, or all but one.
#[inline]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables, reason = "there is the scalar way only"))]
fn widest<L: Lanes<B, R>, const B: usize, const R: usize, const N: usize, const M: usize, const BACK: bool>(
    cipher: &L,
    source: Source<'_, B>,
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) -> usize {
    if output.len() < 2 {
        return 0;
    }
    match cipher.way() {
        // SAFETY: the schedule was made where the instructions are.
        #[cfg(target_arch = "x86_64")]
        Way::Avx512 => unsafe { groups::avx512::<L, B, R, N, BACK>(cipher, source, add, output) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Way::Avx2 => unsafe { groups::avx2::<L, B, R, M, BACK>(cipher, source, add, output) },
        Way::Scalar => 0,
    }
}

/// One block after the other; `chain` is the IV and becomes that of the next part.
#[inline]
pub(super) fn chain<L: Lanes<B, R>, const B: usize, const R: usize>(
    cipher: &L,
    feedback: Feedback,
    chain: &mut [u8; B],
    input: &[[u8; B]],
    output: &mut [[u8; B]],
) {
    let mut last = words(chain);
    for (input, output) in input.iter().zip(output) {
        let text = words(input);
        last = cipher.one::<false>(if feedback == Feedback::Cbc { sum(last, text) } else { last });
        let result = if feedback == Feedback::Cbc { last } else { sum(last, text) };
        put(result, output);
        if feedback == Feedback::Cfb {
            last = result;
        }
    }
    put(last, chain);
}

/// Gives a cipher of [`Lanes`] to the modes.
///
/// * Groups at once with AVX-512 and with AVX2; the blocks of one such group or of some.
macro_rules! kernel {
    ($cipher:ty, $block_B:literal, [$groups512:literal, $groups256:literal], $at_once:literal,
        |$spec:ident, $key:ident| $schedule:expr) => {
        impl $crate::modes::sliced::Kernel<$block_B> for $cipher {
            const AT_ONCE: usize = $at_once;

            #[inline]
            fn schedule($spec: &$crate::Spec, $key: &[u8]) -> Option<Self> {
                $schedule
            }

            #[inline]
            fn encrypt(&self, input: &[[u8; $block_B]], add: Option<&[[u8; $block_B]]>, output: &mut [[u8; $block_B]]) {
                $crate::kernels::wide::blocks::<Self, $block_B, _, $groups512, $groups256, false>(
                    self, input, add, output,
                );
            }

            #[inline]
            fn decrypt(&self, input: &[[u8; $block_B]], add: Option<&[[u8; $block_B]]>, output: &mut [[u8; $block_B]]) {
                $crate::kernels::wide::blocks::<Self, $block_B, _, $groups512, $groups256, true>(
                    self, input, add, output,
                );
            }

            #[inline]
            fn chain(
                &self,
                feedback: $crate::modes::sliced::Feedback,
                chain: &mut [u8; $block_B],
                input: &[[u8; $block_B]],
                output: &mut [[u8; $block_B]],
            ) {
                $crate::kernels::wide::chain(self, feedback, chain, input, output);
            }

            #[inline]
            fn count(&self, counter: &mut [u8; $block_B], input: &[[u8; $block_B]], output: &mut [[u8; $block_B]]) {
                $crate::kernels::wide::count::<Self, $block_B, _, $groups512, $groups256>(self, counter, input, output);
            }
        }
    };
}
pub(super) use kernel;
