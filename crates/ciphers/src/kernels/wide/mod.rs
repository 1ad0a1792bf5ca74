//! Many blocks at once, a word of each block in its place of a register: for ciphers of additions, rotations and
//! multiplications, which processors do to 8 or 16 words as fast as to one.
//!
//! Blocks that wait for each other (CBC, CFB and OFB encryption) and a last block alone take the scalar way.

mod expand;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vector;

pub(super) use expand::expand;
#[cfg(target_arch = "x86_64")]
pub(super) use vector::Vector;
#[cfg(target_arch = "x86_64")]
use vector::{Ymm, Zmm};

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
            Way::Scalar => "scalar",
        }
    }
}

/// The way that is taken on this machine.
pub(crate) fn backend() -> &'static str {
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

/// A block cipher with its key schedule: blocks of `B` bytes, of as many words as a group of blocks takes registers, `R`.
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

/// Encrypts blocks or, if `BACK`, decrypts them, `N` groups at once, and adds to each the block of `add` in its place.
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
        Way::Avx512 => unsafe { avx512::<L, B, R, N, BACK>(cipher, source, add, output) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Way::Avx2 => unsafe { avx2::<L, B, R, M, BACK>(cipher, source, add, output) },
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

/// Gives how many blocks were done: all, or all but one.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2")]
unsafe fn avx512<L: Lanes<B, R>, const B: usize, const R: usize, const N: usize, const BACK: bool>(
    cipher: &L,
    source: Source<'_, B>,
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) -> usize {
    // SAFETY: compiled for these instructions.
    unsafe { all::<Zmm, L, B, R, N, BACK>(cipher, source, add, output) }
}

/// Gives how many blocks were done: all, or all but one.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<L: Lanes<B, R>, const B: usize, const R: usize, const N: usize, const BACK: bool>(
    cipher: &L,
    source: Source<'_, B>,
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) -> usize {
    // SAFETY: compiled for these instructions.
    unsafe { all::<Ymm, L, B, R, N, BACK>(cipher, source, add, output) }
}

/// Bytes of the most groups that are worked on at once: twelve registers of 64.
#[cfg(target_arch = "x86_64")]
const MOST_B: usize = 768;

/// # Safety
/// As of [`Vector`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn all<V: Vector, L: Lanes<B, R>, const B: usize, const R: usize, const N: usize, const BACK: bool>(
    cipher: &L,
    source: Source<'_, B>,
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) -> usize {
    const { assert!(N * R * V::BYTES <= MOST_B) };
    let output = output.as_flattened_mut();
    let add = add.map(<[_]>::as_flattened);
    let group_B = R * V::BYTES;
    let whole_B = output.len() - output.len() % (N * group_B);
    let (whole, tail) = output.split_at_mut(whole_B);
    // SAFETY: the caller's promise.
    unsafe {
        let mut counters = Counters::<V, B>::from(source);
        for first in (0..whole_B / V::BYTES).step_by(N * R) {
            let mut state = match source {
                Source::Blocks(input) => load::<V, R, N>(input.as_flattened(), first),
                Source::Counters(_) => counters.take(),
            };
            cipher.groups::<V, N, BACK>(&mut state);
            store(&state, add, whole, first);
        }
        if tail.len() <= B {
            return whole_B / B;
        }
        let mut buffer = [0; MOST_B];
        if let Source::Blocks(input) = source {
            buffer[..tail.len()].copy_from_slice(&input.as_flattened()[whole_B..]);
        }
        if tail.len() > group_B {
            let mut state = match source {
                Source::Blocks(_) => load::<V, R, N>(&buffer, 0),
                Source::Counters(_) => counters.take(),
            };
            cipher.groups::<V, N, BACK>(&mut state);
            store(&state, None, &mut buffer, 0);
        } else {
            let mut state = match source {
                Source::Blocks(_) => load::<V, R, 1>(&buffer, 0),
                Source::Counters(_) => counters.take(),
            };
            cipher.groups::<V, 1, BACK>(&mut state);
            store(&state, None, &mut buffer, 0);
        }
        tail.copy_from_slice(&buffer[..tail.len()]);
    }
    if let Some(add) = add {
        for (byte, add) in tail.iter_mut().zip(&add[whole_B..]) {
            *byte ^= add;
        }
    }
    (whole_B + tail.len()) / B
}

/// `N` groups, from the register with number `first` on.
///
/// # Safety
/// As of [`Vector`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn load<V: Vector, const R: usize, const N: usize>(input: &[u8], first: usize) -> [[V; R]; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut state = [[V::splat(0); R]; N];
        for (group, state) in state.iter_mut().enumerate() {
            for (at, register) in state.iter_mut().enumerate() {
                *register = V::load(input, first + group * R + at);
            }
        }
        state
    }
}

/// To where [`load`] would take them from, with what `add` has there.
///
/// # Safety
/// As of [`Vector`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn store<V: Vector, const R: usize, const N: usize>(
    state: &[[V; R]; N],
    add: Option<&[u8]>,
    output: &mut [u8],
    first: usize,
) {
    for (group, state) in state.iter().enumerate() {
        for (at, register) in state.iter().enumerate() {
            let at = first + group * R + at;
            // SAFETY: the caller's promise.
            unsafe {
                match add {
                    Some(add) => register.xor(V::load(add, at)).store(output, at),
                    None => register.store(output, at),
                }
            }
        }
    }
}

/// Counters of `B` bytes, a register of them at a time; only the low number counts on.
#[cfg(target_arch = "x86_64")]
struct Counters<V, const B: usize> {
    next: V,
    step: V,
}

#[cfg(target_arch = "x86_64")]
impl<V: Vector, const B: usize> Counters<V, B> {
    /// # Safety
    /// As of [`Vector`].
    #[inline(always)]
    unsafe fn from(source: Source<'_, B>) -> Self {
        let Source::Counters(first) = source else {
            // SAFETY: the caller's promise.
            return unsafe { Self { next: V::splat(0), step: V::splat(0) } };
        };
        let (mut ramp, mut blocks) = ([0; 8], 0);
        for number in ramp.chunks_exact_mut(B / 8) {
            if let Some(low) = number.last_mut() {
                *low = blocks;
            }
            blocks += 1;
        }
        let each = (V::BYTES / B) as u64;
        // SAFETY: the caller's promise.
        unsafe {
            let step = V::pairs(if B == 8 { [each, each] } else { [0, each] });
            Self { next: V::pairs(first).add64(V::numbers(&ramp)), step }
        }
    }

    /// # Safety
    /// As of [`Vector`].
    #[inline(always)]
    unsafe fn take<const R: usize, const N: usize>(&mut self) -> [[V; R]; N] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut state = [[V::splat(0); R]; N];
            for group in &mut state {
                for register in group {
                    *register = self.next.reverse64();
                    self.next = self.next.add64(self.step);
                }
            }
            state
        }
    }
}

/// Gives a cipher of [`Lanes`] to the modes, with so many groups at once on AVX-512 and AVX2, on the wider `$at_once` blocks.
macro_rules! kernel {
    ($cipher:ty, $block_B:literal, [$groups512:literal, $groups256:literal], $at_once:literal, |$spec:ident, $key:ident| $schedule:expr) => {
        impl $crate::modes::Kernel<$block_B> for $cipher {
            /// Whole groups on the widest way.
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
