//! Rijndael with the AES instructions: what the ways have in common, and the way of one block at a time in xmm registers.

use core::arch::x86_64::{
    __m128i, _mm_aesdec_si128, _mm_aesdeclast_si128, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_aesimc_si128,
    _mm_blend_epi16, _mm_blendv_epi8, _mm_cvtsi32_si128, _mm_cvtsi128_si32, _mm_load_si128, _mm_loadu_si128,
    _mm_setzero_si128, _mm_shuffle_epi8, _mm_shuffle_epi32, _mm_slli_si128, _mm_srli_si128, _mm_store_si128,
    _mm_storel_epi64, _mm_storeu_si128, _mm_xor_si128,
};

use super::schedule::{Key, Rijndael, RoundKey};
use crate::modes::sliced::Feedback;

/// Some blocks of `B` bytes in registers.
///
/// # Safety
/// A processor with the instructions of the implementation must run every function, inside a caller that is compiled
/// for them; the pointers of `load` and `store` must be to [`Group::BLOCKS`] blocks.
pub(super) trait Group<const B: usize>: Copy {
    /// How many.
    const BLOCKS: usize;
    unsafe fn load(from: *const [u8; B]) -> Self;
    unsafe fn store(self, to: *mut [u8; B]);
    /// A round key, the same for every block.
    unsafe fn key(key: &RoundKey) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    /// An [`Order`] in registers.
    type Arrangement: Copy;
    /// That before AESENC or, if `BACK`, AESDEC.
    unsafe fn arrangement<const BACK: bool>() -> Self::Arrangement;
    /// The bytes put where the instruction shifts them from to where Rijndael wants them.
    unsafe fn arrange(self, arrangement: Self::Arrangement) -> Self;
    unsafe fn round<const BACK: bool>(self, key: Self) -> Self;
    unsafe fn last_round<const BACK: bool>(self, key: Self) -> Self;
}

/// Columns of a block in the first register or lane; the others are in the second.
pub(super) const fn columns_of_half(block_B: usize) -> usize {
    if block_B == 16 { 4 } else { block_B / 8 }
}

/// How the bytes of two registers are put in order before a round.
#[repr(C, align(64))]
pub(super) struct Order {
    /// All at once, for the two registers side by side, twice.
    pub(super) permute: [u8; 64],
    /// The high bit set where a byte is to come from the other register; the same for both.
    pub(super) blend: [u8; 16],
    /// Where each byte comes from, after that; the high bit set for one that is not used.
    pub(super) shuffle: [u8; 16],
}

/// For AESENC or, if `back`, AESDEC.
///
/// AESENC takes the byte of row r of column q from column q + r of its four, where Rijndael takes it from column q + s of
/// its own, s being the shift of the row.
pub(super) const fn order(block_B: usize, shifts: [usize; 4], back: bool) -> Order {
    let (columns, half) = (block_B / 4, columns_of_half(block_B));
    let mut order = Order { permute: [0; 64], blend: [0; 16], shuffle: [0x80; 16] };
    let mut at = 0;
    while at < columns * 4 {
        let (row, column) = (at % 4, at / 4);
        let (lane, place) = (column / half, column % half);
        let (to, from) = if back {
            ((place + 4 - row) % 4, (column + columns - shifts[row]) % columns)
        } else {
            ((place + row) % 4, (column + shifts[row]) % columns)
        };
        let (to, from_lane, from) = (4 * to + row, from / half, 4 * (from % half) + row);
        #[allow(clippy::cast_possible_truncation, reason = "bytes of four lanes of 16")]
        {
            order.shuffle[to] = from as u8;
            order.permute[16 * lane + to] = (16 * from_lane + from) as u8;
            order.permute[32 + 16 * lane + to] = (32 + 16 * from_lane + from) as u8;
        }
        if lane != from_lane {
            order.blend[from] = 0x80;
        }
        at += 1;
    }
    order
}

impl<const B: usize> Rijndael<B> {
    const FORTH: Order = order(B, Self::SHIFTS, false);
    const BACK: Order = order(B, Self::SHIFTS, true);

    /// The order before a round, hidden from the compiler: it would take two shuffles and an addition for a blend and a
    /// shuffle, and shuffles are what the processor has fewest pipes for.
    #[inline(always)]
    pub(super) fn order<const BACK: bool>() -> &'static Order {
        core::hint::black_box(const { if BACK { &Self::BACK } else { &Self::FORTH } })
    }

    /// The keys that the rounds take, in their order.
    #[inline(always)]
    fn keys<const BACK: bool>(&self) -> &[RoundKey] {
        &(if BACK { &self.back } else { &self.forth })[..=self.rounds]
    }
}

/// Blocks that are worked on independently.
pub(super) struct Work<const B: usize> {
    input: *const [u8; B],
    /// Null where nothing is added.
    add: *const [u8; B],
    output: *mut [u8; B],
    count: usize,
    done: usize,
}

impl<const B: usize> Work<B> {
    #[inline(always)]
    pub(super) fn of(input: &[[u8; B]], add: Option<&[[u8; B]]>, output: &mut [[u8; B]]) -> Self {
        let count = input.len().min(output.len()).min(add.map_or(usize::MAX, <[_]>::len));
        let add = add.map_or(core::ptr::null(), <[_]>::as_ptr);
        Self { input: input.as_ptr(), add, output: output.as_mut_ptr(), count, done: 0 }
    }

    /// Goes on as long as there are `N` groups, `TURN` of them arranged and then encrypted in turn.
    ///
    /// # Safety
    /// As of [`Group`].
    #[inline(always)]
    pub(super) unsafe fn by<G: Group<B>, const N: usize, const TURN: usize, const BACK: bool>(
        &mut self,
        schedule: &Rijndael<B>,
    ) {
        let [first, middle @ .., last] = schedule.keys::<BACK>() else { return };
        if self.count - self.done < N * G::BLOCKS {
            return;
        }
        // SAFETY: the caller's promise.
        let arrangement = unsafe { G::arrangement::<BACK>() };
        while self.count - self.done >= N * G::BLOCKS {
            // SAFETY: the caller's promise; `count` blocks lie behind each pointer, and `add` is asked for null.
            unsafe {
                let key = G::key(first);
                let mut state = [key; N];
                for (at, state) in state.iter_mut().enumerate() {
                    *state = G::load(self.input.add(self.done + at * G::BLOCKS)).add(key);
                }
                for key in middle {
                    let key = G::key(key);
                    for turn in state.chunks_mut(TURN) {
                        turn.iter_mut().for_each(|state| *state = state.arrange(arrangement));
                        turn.iter_mut().for_each(|state| *state = state.round::<BACK>(key));
                    }
                }
                let key = G::key(last);
                for (turn, states) in state.chunks_mut(TURN).enumerate() {
                    states.iter_mut().for_each(|state| *state = state.arrange(arrangement));
                    for (at, state) in states.iter().enumerate() {
                        let at = self.done + (turn * TURN + at) * G::BLOCKS;
                        let mut block = state.last_round::<BACK>(key);
                        if !self.add.is_null() {
                            block = block.add(G::load(self.add.add(at)));
                        }
                        block.store(self.output.add(at));
                    }
                }
            }
            self.done += N * G::BLOCKS;
        }
    }
}

/// One block: its first and its second half, a column left free at the end of each half of a block of 192 bits; the
/// second is not used for one of 128.
#[derive(Clone, Copy)]
pub(super) struct Xmm(__m128i, __m128i);

impl Xmm {
    #[inline(always)]
    pub(super) fn of(first: __m128i, second: __m128i) -> Self {
        Self(first, second)
    }

    #[inline(always)]
    pub(super) fn halves(self) -> (__m128i, __m128i) {
        (self.0, self.1)
    }
}

impl<const B: usize> Group<B> for Xmm {
    const BLOCKS: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const [u8; B]) -> Self {
        // SAFETY: 16 bytes from the start, and 16 that end where the block ends.
        unsafe {
            let (first, second) = (_mm_loadu_si128(from.cast()), _mm_loadu_si128(from.byte_add(B - 16).cast()));
            Self(first, if B == 24 { _mm_srli_si128::<4>(second) } else { second })
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; B]) {
        // SAFETY: `B` bytes from the start, by parts.
        unsafe {
            if B == 24 {
                let four = _mm_blend_epi16::<0b1100_0000>(self.0, _mm_slli_si128::<12>(self.1));
                _mm_storeu_si128(to.cast(), four);
                _mm_storel_epi64(to.byte_add(16).cast(), _mm_srli_si128::<4>(self.1));
            } else {
                _mm_storeu_si128(to.cast(), self.0);
                if B == 32 {
                    _mm_storeu_si128(to.byte_add(16).cast(), self.1);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn key(key: &RoundKey) -> Self {
        let from: *const __m128i = (&raw const key.0).cast();
        // SAFETY: a key has 32 bytes and is aligned to them.
        unsafe { Self(_mm_load_si128(from), _mm_load_si128(from.add(1))) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self(_mm_xor_si128(self.0, other.0), _mm_xor_si128(self.1, other.1)) }
    }

    /// What to blend, how to shuffle.
    type Arrangement = (__m128i, __m128i);

    #[inline(always)]
    unsafe fn arrangement<const BACK: bool>() -> Self::Arrangement {
        let order = Rijndael::<B>::order::<BACK>();
        // SAFETY: the arrays have 16 bytes each, and are aligned to them.
        unsafe { (_mm_load_si128((&raw const order.blend).cast()), _mm_load_si128((&raw const order.shuffle).cast())) }
    }

    #[inline(always)]
    unsafe fn arrange(self, (blend, shuffle): Self::Arrangement) -> Self {
        if B == 16 {
            return self;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let first = _mm_blendv_epi8(self.0, self.1, blend);
            let second = _mm_blendv_epi8(self.1, self.0, blend);
            Self(_mm_shuffle_epi8(first, shuffle), _mm_shuffle_epi8(second, shuffle))
        }
    }

    #[inline(always)]
    unsafe fn round<const BACK: bool>(self, key: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            if BACK {
                Self(_mm_aesdec_si128(self.0, key.0), _mm_aesdec_si128(self.1, key.1))
            } else {
                Self(_mm_aesenc_si128(self.0, key.0), _mm_aesenc_si128(self.1, key.1))
            }
        }
    }

    #[inline(always)]
    unsafe fn last_round<const BACK: bool>(self, key: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            if BACK {
                Self(_mm_aesdeclast_si128(self.0, key.0), _mm_aesdeclast_si128(self.1, key.1))
            } else {
                Self(_mm_aesenclast_si128(self.0, key.0), _mm_aesenclast_si128(self.1, key.1))
            }
        }
    }
}

/// SubByte on the four bytes of a word: in four equal columns AESENCLAST finds no row to shift.
#[inline]
#[target_feature(enable = "aes,sse4.1")]
fn substituted_word(word: u32) -> u32 {
    let columns = _mm_shuffle_epi32::<0>(_mm_cvtsi32_si128(word.cast_signed()));
    _mm_cvtsi128_si32(_mm_aesenclast_si128(columns, _mm_setzero_si128())).cast_unsigned()
}

/// Sets the keys of both directions.
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn key_setup<const B: usize>(schedule: &mut Rijndael<B>, key: &[u8]) {
    let (rounds, half) = (schedule.rounds, columns_of_half(B));
    let forth = &mut schedule.forth;
    let substitute = |word| substituted_word(word);
    Rijndael::<B>::expand(rounds, key, substitute, |round, column, word| {
        forth[round].0[column / half * 4 + column % half] = word;
    });
    for (round, (Key(to), Key(from))) in
        schedule.back.iter_mut().zip(schedule.forth[..=rounds].iter().rev()).enumerate()
    {
        *to = *from;
        if round == 0 || round == rounds {
            continue;
        }
        for half in to.as_chunks_mut::<4>().0 {
            let half: *mut __m128i = (&raw mut *half).cast();
            // SAFETY: 16 bytes; a key is aligned to 32, its second half to 16.
            unsafe { _mm_store_si128(half, _mm_aesimc_si128(_mm_load_si128(half))) };
        }
    }
}

/// One block after the other.
///
/// # Safety
/// As of [`Group`], for `G`.
#[inline(always)]
pub(super) unsafe fn chain_by<G: Group<B>, const B: usize>(
    schedule: &Rijndael<B>,
    feedback: Feedback,
    chain: &mut [u8; B],
    input: &[[u8; B]],
    output: &mut [[u8; B]],
) {
    let [first, middle @ .., last] = schedule.keys::<false>() else { return };
    // SAFETY: the caller's promise; each pointer is to one block.
    unsafe {
        let arrangement = G::arrangement::<false>();
        let mut fed_back = G::load(chain);
        let first = G::key(first);
        let last = G::key(last);
        for (input, output) in input.iter().zip(output) {
            let text = G::load(input);
            let mut state = match feedback {
                Feedback::Cbc => fed_back.add(text.add(first)),
                _ => fed_back.add(first),
            };
            for key in middle {
                state = state.arrange(arrangement).round::<false>(G::key(key));
            }
            state = state.arrange(arrangement).last_round::<false>(last);
            let result = if feedback == Feedback::Cbc { state } else { state.add(text) };
            fed_back = if feedback == Feedback::Ofb { state } else { result };
            result.store(output);
        }
        fed_back.store(chain);
    }
}

#[target_feature(enable = "aes,sse4.1")]
pub(super) fn chain<const B: usize>(
    schedule: &Rijndael<B>,
    feedback: Feedback,
    chain: &mut [u8; B],
    input: &[[u8; B]],
    output: &mut [[u8; B]],
) {
    // SAFETY: the instructions of `Xmm` are enabled here.
    unsafe { chain_by::<Xmm, B>(schedule, feedback, chain, input, output) }
}

#[target_feature(enable = "aes,sse4.1")]
pub(super) fn blocks<const B: usize, const BACK: bool>(
    schedule: &Rijndael<B>,
    input: &[[u8; B]],
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) {
    let mut work = Work::of(input, add, output);
    // SAFETY: the instructions of `Xmm` are enabled here.
    unsafe {
        work.by::<Xmm, 4, 4, BACK>(schedule);
        work.by::<Xmm, 1, 1, BACK>(schedule);
    }
}
