//! Many blocks at once, a word of each block in its place of a register: for ciphers of additions, rotations and
//! multiplications, which processors do to 8 or 16 words as fast as to one.
//!
//! Blocks that wait for each other (CBC, CFB and OFB encryption) and a last block alone take the scalar way.

mod expand;
#[cfg(target_arch = "x86_64")]
mod groups;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vector;

pub(super) use expand::expand;
#[cfg(target_arch = "x86_64")]
pub(super) use vector::{Vector, transposed};

use crate::modes::{Feedback, count_on};

/// Which instructions are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// AVX-512 as of Ice Lake and Zen 4.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Scalar,
}

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_avx512, "avx512f", "avx512bw", "avx512vbmi2", "avx2");
#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_avx2, "avx2");

impl Way {
    /// All that can be built for this architecture, the best first.
    pub(super) const ALL: &'static [Way] = &[
        #[cfg(target_arch = "x86_64")]
        Way::Avx512,
        #[cfg(target_arch = "x86_64")]
        Way::Avx2,
        Way::Scalar,
    ];

    /// Whether this processor and its system have the instructions.
    #[inline]
    pub(super) fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => has_avx512::get(),
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => has_avx2::get(),
            Way::Scalar => true,
        }
    }

    /// The best that is here.
    #[inline]
    pub(super) fn best() -> Self {
        Self::ALL.iter().copied().find(|way| way.is_here()).unwrap_or(Way::Scalar)
    }

    fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => "avx2",
            Way::Scalar => "portable",
        }
    }
}

/// The way that is taken on this machine.
pub(crate) fn path() -> &'static str {
    Way::best().name()
}

/// 64 words of 16 bits, as the ways read them.
pub(super) struct Table {
    /// One after the other.
    pub(super) words: [u16; 64],
    /// Each twice, in both halves.
    #[cfg(target_arch = "x86_64")]
    pub(super) twice: [u32; 64],
}

impl Table {
    #[inline]
    pub(super) fn of(words: [u16; 64]) -> Self {
        Self {
            words,
            #[cfg(target_arch = "x86_64")]
            twice: words.map(|word| u32::from(word) * 0x1_0001),
        }
    }
}

/// A word of a block, its bytes little-endian.
pub(super) trait Word: Copy + Default + core::ops::BitXor<Output = Self> {
    /// `None` for another number of bytes than a word has.
    fn read(bytes: &[u8]) -> Option<Self>;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! word {
    ($($of:ty),+) => {
        $(impl Word for $of {
            #[inline(always)]
            fn read(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self::from_le_bytes)
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                for (to, byte) in bytes.iter_mut().zip(self.to_le_bytes()) {
                    *to = byte;
                }
            }
        })+
    };
}

word!(u16, u32);

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

/// A block cipher with its key schedule: blocks of `B` bytes and `R` words, and as many registers for a group of them.
pub(super) trait Lanes<const B: usize, const R: usize> {
    /// The one that was seen to be here.
    fn way(&self) -> Way;

    /// Of a block.
    type Word: Word;

    /// The words of one block encrypted or, if `BACK`, decrypted.
    fn one<const BACK: bool>(&self, block: [Self::Word; R]) -> [Self::Word; R];

    /// `N` groups, each block by itself: the registers as they were loaded, and as they are to be stored.
    ///
    /// # Safety
    /// As of [`Vector`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn groups<V: Vector, const N: usize, const BACK: bool>(&self, state: &mut [[V; R]; N]);
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

/// What is encrypted or decrypted.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "there is the scalar way only"))]
enum Source<'s, const B: usize> {
    Blocks(&'s [[u8; B]]),
    /// From this on, the low number last.
    Counters([u64; 2]),
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
        impl $crate::modes::Kernel<$block_B> for $cipher {
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
                feedback: $crate::modes::Feedback,
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
