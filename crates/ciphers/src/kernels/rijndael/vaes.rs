//! Rijndael with the AES instructions on wide registers.

use core::arch::x86_64::{
    __m256i, __m512i, _mm_load_si128, _mm256_aesdec_epi128, _mm256_aesdeclast_epi128, _mm256_aesenc_epi128,
    _mm256_aesenclast_epi128, _mm256_blendv_epi8, _mm256_broadcastsi128_si256, _mm256_castsi256_si128,
    _mm256_extracti128_si256, _mm256_load_si256, _mm256_set_m128i, _mm256_shuffle_epi8, _mm256_xor_si256,
    _mm512_aesdec_epi128, _mm512_aesdeclast_epi128, _mm512_aesenc_epi128, _mm512_aesenclast_epi128,
    _mm512_broadcast_i32x4, _mm512_broadcast_i64x4, _mm512_load_si512, _mm512_loadu_si512, _mm512_mask_storeu_epi32,
    _mm512_maskz_compress_epi32, _mm512_maskz_expand_epi32, _mm512_maskz_loadu_epi32, _mm512_permutexvar_epi8,
    _mm512_storeu_si512, _mm512_xor_si512,
};

use super::aesni::{Group, Work, Xmm, chain_by};
use super::schedule::{Rijndael, RoundKey};
use crate::modes::sliced::Feedback;

/// Two blocks: their first halves, their second halves.
#[derive(Clone, Copy)]
struct Ymm(__m256i, __m256i);

impl<const B: usize> Group<B> for Ymm {
    const BLOCKS: usize = 2;

    #[inline(always)]
    unsafe fn load(from: *const [u8; B]) -> Self {
        // SAFETY: the caller promises two blocks.
        unsafe {
            let (one, two) = (<Xmm as Group<B>>::load(from).halves(), <Xmm as Group<B>>::load(from.add(1)).halves());
            Self(_mm256_set_m128i(two.0, one.0), _mm256_set_m128i(two.1, one.1))
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; B]) {
        // SAFETY: the caller promises two blocks.
        unsafe {
            let one = Xmm::of(_mm256_castsi256_si128(self.0), _mm256_castsi256_si128(self.1));
            let two = Xmm::of(_mm256_extracti128_si256::<1>(self.0), _mm256_extracti128_si256::<1>(self.1));
            Group::<B>::store(one, to);
            Group::<B>::store(two, to.add(1));
        }
    }

    #[inline(always)]
    unsafe fn key(key: &RoundKey) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let (first, second) = <Xmm as Group<B>>::key(key).halves();
            Self(_mm256_broadcastsi128_si256(first), _mm256_broadcastsi128_si256(second))
        }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self(_mm256_xor_si256(self.0, other.0), _mm256_xor_si256(self.1, other.1)) }
    }

    /// What to blend, how to shuffle.
    type Arrangement = (__m256i, __m256i);

    #[inline(always)]
    unsafe fn arrangement<const BACK: bool>() -> Self::Arrangement {
        // SAFETY: the caller's promise.
        unsafe {
            let (blend, shuffle) = <Xmm as Group<B>>::arrangement::<BACK>();
            (_mm256_broadcastsi128_si256(blend), _mm256_broadcastsi128_si256(shuffle))
        }
    }

    #[inline(always)]
    unsafe fn arrange(self, (blend, shuffle): Self::Arrangement) -> Self {
        if B == 16 {
            return self;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let first = _mm256_blendv_epi8(self.0, self.1, blend);
            let second = _mm256_blendv_epi8(self.1, self.0, blend);
            Self(_mm256_shuffle_epi8(first, shuffle), _mm256_shuffle_epi8(second, shuffle))
        }
    }

    #[inline(always)]
    unsafe fn round<const BACK: bool>(self, key: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            if BACK {
                Self(_mm256_aesdec_epi128(self.0, key.0), _mm256_aesdec_epi128(self.1, key.1))
            } else {
                Self(_mm256_aesenc_epi128(self.0, key.0), _mm256_aesenc_epi128(self.1, key.1))
            }
        }
    }

    #[inline(always)]
    unsafe fn last_round<const BACK: bool>(self, key: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            if BACK {
                Self(_mm256_aesdeclast_epi128(self.0, key.0), _mm256_aesdeclast_epi128(self.1, key.1))
            } else {
                Self(_mm256_aesenclast_epi128(self.0, key.0), _mm256_aesenclast_epi128(self.1, key.1))
            }
        }
    }
}

/// Four blocks of 128 bits, or two larger ones, the halves of each side by side.
#[derive(Clone, Copy)]
struct Zmm(__m512i);

/// The columns of two blocks of 192 bits, in words of memory and in their lanes.
const PACKED: u16 = 0x0fff;
const IN_LANES: u16 = 0x7777;

impl<const B: usize> Group<B> for Zmm {
    const BLOCKS: usize = if B == 16 { 4 } else { 2 };

    #[inline(always)]
    unsafe fn load(from: *const [u8; B]) -> Self {
        // SAFETY: the caller promises 64 bytes, or 48, which the mask keeps to.
        unsafe {
            if B == 24 {
                Self(_mm512_maskz_expand_epi32(IN_LANES, _mm512_maskz_loadu_epi32(PACKED, from.cast())))
            } else {
                Self(_mm512_loadu_si512(from.cast()))
            }
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; B]) {
        // SAFETY: as of `load`.
        unsafe {
            if B == 24 {
                // Two instructions: the one that writes to memory itself takes far longer on Zen 4.
                _mm512_mask_storeu_epi32(to.cast(), PACKED, _mm512_maskz_compress_epi32(IN_LANES, self.0));
            } else {
                _mm512_storeu_si512(to.cast(), self.0);
            }
        }
    }

    #[inline(always)]
    unsafe fn key(key: &RoundKey) -> Self {
        // SAFETY: a key has 32 bytes and is aligned to them.
        unsafe {
            if B == 16 {
                Self(_mm512_broadcast_i32x4(_mm_load_si128((&raw const key.0).cast())))
            } else {
                Self(_mm512_broadcast_i64x4(_mm256_load_si256((&raw const key.0).cast())))
            }
        }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self(_mm512_xor_si512(self.0, other.0)) }
    }

    /// The permutation.
    type Arrangement = __m512i;

    #[inline(always)]
    unsafe fn arrangement<const BACK: bool>() -> Self::Arrangement {
        // SAFETY: the array has 64 bytes, and is aligned to them.
        unsafe { _mm512_load_si512((&raw const Rijndael::<B>::order::<BACK>().permute).cast()) }
    }

    #[inline(always)]
    unsafe fn arrange(self, arrangement: Self::Arrangement) -> Self {
        if B == 16 {
            return self;
        }
        // SAFETY: the caller's promise.
        unsafe { Self(_mm512_permutexvar_epi8(arrangement, self.0)) }
    }

    #[inline(always)]
    unsafe fn round<const BACK: bool>(self, key: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            if BACK { Self(_mm512_aesdec_epi128(self.0, key.0)) } else { Self(_mm512_aesenc_epi128(self.0, key.0)) }
        }
    }

    #[inline(always)]
    unsafe fn last_round<const BACK: bool>(self, key: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            if BACK {
                Self(_mm512_aesdeclast_epi128(self.0, key.0))
            } else {
                Self(_mm512_aesenclast_epi128(self.0, key.0))
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx2,vaes,aes,sse4.1")]
pub(super) fn blocks512<const B: usize, const BACK: bool>(
    schedule: &Rijndael<B>,
    input: &[[u8; B]],
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) {
    let mut work = Work::of(input, add, output);
    // SAFETY: the instructions of `Zmm` and `Xmm` are enabled here.
    unsafe {
        work.by::<Zmm, 24, 12, BACK>(schedule);
        work.by::<Zmm, 6, 6, BACK>(schedule);
        work.by::<Zmm, 1, 1, BACK>(schedule);
        work.by::<Xmm, 1, 1, BACK>(schedule);
    }
}

#[target_feature(enable = "avx2,vaes,aes,sse4.1")]
pub(super) fn blocks256<const B: usize, const BACK: bool>(
    schedule: &Rijndael<B>,
    input: &[[u8; B]],
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) {
    let mut work = Work::of(input, add, output);
    // SAFETY: the instructions of `Ymm` and `Xmm` are enabled here.
    unsafe {
        work.by::<Ymm, 5, 5, BACK>(schedule);
        work.by::<Ymm, 1, 1, BACK>(schedule);
        work.by::<Xmm, 1, 1, BACK>(schedule);
    }
}

/// In xmm registers too: in a wider one the permutation across lanes takes as long as a blend and a shuffle.
#[target_feature(enable = "avx2,vaes,aes,sse4.1")]
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
