//! Registers of many words: what the ciphers do to each word, and how words are put in order.

use core::arch::x86_64::{
    __m256i, __m512i, _mm_cvtsi32_si128, _mm_set_epi64x, _mm256_add_epi16, _mm256_add_epi32, _mm256_add_epi64,
    _mm256_and_si256, _mm256_andnot_si256, _mm256_blend_epi16, _mm256_blendv_epi8, _mm256_broadcastsi128_si256,
    _mm256_castps_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi16, _mm256_i32gather_epi32, _mm256_loadu_si256,
    _mm256_min_epu16, _mm256_mulhi_epu16, _mm256_mullo_epi16, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_shuffle_ps, _mm256_sll_epi32,
    _mm256_slli_epi16, _mm256_slli_epi32, _mm256_sllv_epi32, _mm256_srl_epi32, _mm256_srli_epi16, _mm256_srli_epi32,
    _mm256_srlv_epi32, _mm256_storeu_si256, _mm256_sub_epi16, _mm256_sub_epi32, _mm256_subs_epu16,
    _mm256_unpackhi_epi16, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi16, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm256_xor_si256, _mm512_add_epi16, _mm512_add_epi32, _mm512_add_epi64,
    _mm512_broadcast_i32x4, _mm512_castps_si512, _mm512_castsi512_ps, _mm512_cmpeq_epi16_mask, _mm512_cmplt_epu16_mask,
    _mm512_loadu_si512, _mm512_mask_add_epi16, _mm512_mask_sub_epi16, _mm512_mulhi_epu16, _mm512_mullo_epi16,
    _mm512_mullo_epi32, _mm512_permutex2var_epi16, _mm512_rol_epi32, _mm512_rolv_epi32, _mm512_rorv_epi32,
    _mm512_set1_epi16, _mm512_set1_epi32, _mm512_shldi_epi16, _mm512_shrdi_epi16, _mm512_shuffle_epi8,
    _mm512_shuffle_ps, _mm512_slli_epi32, _mm512_srli_epi32, _mm512_storeu_si512, _mm512_sub_epi16, _mm512_sub_epi32,
    _mm512_ternarylogic_epi32, _mm512_unpackhi_epi16, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi16, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use super::table::Table;

/// A register. Names end in the bits of a word where that matters.
///
/// # Safety
/// A processor with the instructions of the implementation must run every function, inside a caller that is compiled
/// for them.
pub(in crate::kernels) trait Vector: Copy {
    const BYTES: usize;

    /// The register with number `at` of `from`; zeros behind the end.
    unsafe fn load(from: &[u8], at: usize) -> Self;
    /// To where `load` would take it from; nothing behind the end.
    unsafe fn store(self, to: &mut [u8], at: usize);
    /// The same word in each place.
    unsafe fn splat(word: u32) -> Self;
    /// The same two numbers of 64 bits in each lane of 128.
    unsafe fn pairs(numbers: [u64; 2]) -> Self;
    /// As many of the numbers as there is room for.
    unsafe fn numbers(numbers: &[u64; 8]) -> Self;
    unsafe fn add64(self, other: Self) -> Self;
    /// The bytes of each number of 64 bits the other way round.
    unsafe fn reverse64(self) -> Self;

    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    /// Each word by the lowest five bits of the word in its place.
    unsafe fn rotate_left(self, by: Self) -> Self;
    unsafe fn rotate_right(self, by: Self) -> Self;
    unsafe fn rotate_left_by_5(self) -> Self;
    unsafe fn shift_left<const BY: u32>(self) -> Self;
    unsafe fn shift_right<const BY: u32>(self) -> Self;

    /// The bits of `yes` where those of `self` are set, else of `no`.
    unsafe fn choose(self, yes: Self, no: Self) -> Self;
    unsafe fn add16(self, other: Self) -> Self;
    unsafe fn sub16(self, other: Self) -> Self;
    /// `BY` to the left, the `REST` of 16 to the right.
    unsafe fn rotate_left16<const BY: i32, const REST: i32>(self) -> Self;
    /// The product modulo 2^16 + 1, where a word of zero stands for 2^16.
    unsafe fn mul_modulo16(self, other: Self) -> Self;
    /// What the table has at the lowest six bits of each word.
    unsafe fn look_up(self, table: &Table) -> Self;

    /// In each lane of 128 bits: the words 0 and 2 of this, then of the other.
    unsafe fn even(self, other: Self) -> Self;
    /// The words 1 and 3.
    unsafe fn odd(self, other: Self) -> Self;
    /// The words of the lower half of each lane, taken in turn with those of the other.
    unsafe fn low16(self, other: Self) -> Self;
    unsafe fn low32(self, other: Self) -> Self;
    unsafe fn low64(self, other: Self) -> Self;
    /// Of the upper half.
    unsafe fn high16(self, other: Self) -> Self;
    unsafe fn high32(self, other: Self) -> Self;
    unsafe fn high64(self, other: Self) -> Self;
}

/// Implements [`Vector`]: first the functions that are one instruction on two registers.
macro_rules! vector {
    ($name:ident($register:ty) of $bytes:literal, $load:ident, $store:ident, $splat:ident;
        $($method:ident $instruction:ident),+; $($rest:tt)*) => {
        #[derive(Clone, Copy)]
        pub(in crate::kernels) struct $name($register);

        impl Vector for $name {
            const BYTES: usize = $bytes;

            #[inline(always)]
            unsafe fn load(from: &[u8], at: usize) -> Self {
                let from = from.as_chunks::<$bytes>().0.get(at).unwrap_or(&[0; $bytes]);
                // SAFETY: a reference to as many bytes; the caller's promise.
                Self(unsafe { $load(from.as_ptr().cast()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: &mut [u8], at: usize) {
                if let Some(to) = to.as_chunks_mut::<$bytes>().0.get_mut(at) {
                    // SAFETY: a reference to as many bytes; the caller's promise.
                    unsafe { $store(to.as_mut_ptr().cast(), self.0) }
                }
            }

            #[inline(always)]
            unsafe fn splat(word: u32) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { $splat(word.cast_signed()) })
            }

            $(
                #[inline(always)]
                unsafe fn $method(self, other: Self) -> Self {
                    // SAFETY: the caller's promise.
                    Self(unsafe { $instruction(self.0, other.0) })
                }
            )+

            $($rest)*
        }
    };
}

vector! {
    Zmm(__m512i) of 64, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_set1_epi32;
    xor _mm512_xor_si512, add _mm512_add_epi32, sub _mm512_sub_epi32, mul _mm512_mullo_epi32,
    rotate_left _mm512_rolv_epi32, rotate_right _mm512_rorv_epi32, add16 _mm512_add_epi16, sub16 _mm512_sub_epi16,
    add64 _mm512_add_epi64,
    low16 _mm512_unpacklo_epi16, low32 _mm512_unpacklo_epi32, low64 _mm512_unpacklo_epi64,
    high16 _mm512_unpackhi_epi16, high32 _mm512_unpackhi_epi32, high64 _mm512_unpackhi_epi64;

    #[inline(always)]
    unsafe fn pairs([first, second]: [u64; 2]) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm512_broadcast_i32x4(_mm_set_epi64x(second.cast_signed(), first.cast_signed())) })
    }

    #[inline(always)]
    unsafe fn numbers(numbers: &[u64; 8]) -> Self {
        // SAFETY: the caller's promise; a reference to as many bytes.
        Self(unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) })
    }

    #[inline(always)]
    unsafe fn reverse64(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let order = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
            Self(_mm512_shuffle_epi8(self.0, _mm512_broadcast_i32x4(order)))
        }
    }

    #[inline(always)]
    unsafe fn rotate_left_by_5(self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm512_rol_epi32::<5>(self.0) })
    }

    #[inline(always)]
    unsafe fn shift_left<const BY: u32>(self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm512_slli_epi32::<BY>(self.0) })
    }

    #[inline(always)]
    unsafe fn shift_right<const BY: u32>(self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm512_srli_epi32::<BY>(self.0) })
    }

    // 2^16 is -1, so the product is its low half less its high one. These are equal only where both are zero, since
    // 2^16 + 1 is prime: one factor is -1 there, and 1 - a - b is the other one's negative.
    #[inline(always)]
    unsafe fn mul_modulo16(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let one = _mm512_set1_epi16(1);
            let (low, high) = (_mm512_mullo_epi16(self.0, other.0), _mm512_mulhi_epu16(self.0, other.0));
            let less = _mm512_sub_epi16(low, high);
            let borrowed = _mm512_mask_add_epi16(less, _mm512_cmplt_epu16_mask(low, high), less, one);
            let zero = _mm512_cmpeq_epi16_mask(low, high);
            Self(_mm512_mask_sub_epi16(borrowed, zero, _mm512_sub_epi16(one, other.0), self.0))
        }
    }

    #[inline(always)]
    unsafe fn choose(self, yes: Self, no: Self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm512_ternarylogic_epi32::<0xca>(self.0, yes.0, no.0) })
    }

    #[inline(always)]
    unsafe fn rotate_left16<const BY: i32, const REST: i32>(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self(if BY < REST {
                _mm512_shldi_epi16::<BY>(self.0, self.0)
            } else {
                _mm512_shrdi_epi16::<REST>(self.0, self.0)
            })
        }
    }

    #[inline(always)]
    unsafe fn look_up(self, table: &Table) -> Self {
        let from = table.words.as_ptr();
        // SAFETY: the caller's promise; 64 words of two bytes are two registers.
        unsafe {
            let (first, second) = (_mm512_loadu_si512(from.cast()), _mm512_loadu_si512(from.add(32).cast()));
            Self(_mm512_permutex2var_epi16(first, self.0, second))
        }
    }

    #[inline(always)]
    unsafe fn even(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let (this, other) = (_mm512_castsi512_ps(self.0), _mm512_castsi512_ps(other.0));
            Self(_mm512_castps_si512(_mm512_shuffle_ps::<0b10_00_10_00>(this, other)))
        }
    }

    #[inline(always)]
    unsafe fn odd(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let (this, other) = (_mm512_castsi512_ps(self.0), _mm512_castsi512_ps(other.0));
            Self(_mm512_castps_si512(_mm512_shuffle_ps::<0b11_01_11_01>(this, other)))
        }
    }
}

vector! {
    Ymm(__m256i) of 32, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_set1_epi32;
    xor _mm256_xor_si256, add _mm256_add_epi32, sub _mm256_sub_epi32, mul _mm256_mullo_epi32,
    add16 _mm256_add_epi16, sub16 _mm256_sub_epi16, add64 _mm256_add_epi64,
    low16 _mm256_unpacklo_epi16, low32 _mm256_unpacklo_epi32, low64 _mm256_unpacklo_epi64,
    high16 _mm256_unpackhi_epi16, high32 _mm256_unpackhi_epi32, high64 _mm256_unpackhi_epi64;

    #[inline(always)]
    unsafe fn pairs([first, second]: [u64; 2]) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm256_broadcastsi128_si256(_mm_set_epi64x(second.cast_signed(), first.cast_signed())) })
    }

    #[inline(always)]
    unsafe fn numbers(numbers: &[u64; 8]) -> Self {
        // SAFETY: the caller's promise; a reference to more bytes.
        Self(unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) })
    }

    #[inline(always)]
    unsafe fn reverse64(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let order = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
            Self(_mm256_shuffle_epi8(self.0, _mm256_broadcastsi128_si256(order)))
        }
    }

    // With both amounts below 32 the compiler sees a rotation and leaves out what a shift by more would need.
    #[inline(always)]
    unsafe fn rotate_left(self, by: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let five_bits = _mm256_set1_epi32(31);
            let rest = _mm256_and_si256(_mm256_sub_epi32(_mm256_setzero_si256(), by.0), five_bits);
            let by = _mm256_and_si256(by.0, five_bits);
            Self(_mm256_or_si256(_mm256_sllv_epi32(self.0, by), _mm256_srlv_epi32(self.0, rest)))
        }
    }

    #[inline(always)]
    unsafe fn rotate_right(self, by: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let five_bits = _mm256_set1_epi32(31);
            let rest = _mm256_and_si256(_mm256_sub_epi32(_mm256_setzero_si256(), by.0), five_bits);
            let by = _mm256_and_si256(by.0, five_bits);
            Self(_mm256_or_si256(_mm256_srlv_epi32(self.0, by), _mm256_sllv_epi32(self.0, rest)))
        }
    }

    #[inline(always)]
    unsafe fn rotate_left_by_5(self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm256_or_si256(_mm256_slli_epi32::<5>(self.0), _mm256_srli_epi32::<27>(self.0)) })
    }

    // The amounts are unsigned in the trait, as AVX-512 has them.
    #[inline(always)]
    unsafe fn shift_left<const BY: u32>(self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm256_sll_epi32(self.0, _mm_cvtsi32_si128(BY.cast_signed())) })
    }

    #[inline(always)]
    unsafe fn shift_right<const BY: u32>(self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm256_srl_epi32(self.0, _mm_cvtsi32_si128(BY.cast_signed())) })
    }

    // As above; the borrow is the other difference, held at zero from below and at one from above.
    #[inline(always)]
    unsafe fn mul_modulo16(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let one = _mm256_set1_epi16(1);
            let (low, high) = (_mm256_mullo_epi16(self.0, other.0), _mm256_mulhi_epu16(self.0, other.0));
            let borrow = _mm256_min_epu16(_mm256_subs_epu16(high, low), one);
            let borrowed = _mm256_add_epi16(_mm256_sub_epi16(low, high), borrow);
            let zero = _mm256_cmpeq_epi16(low, high);
            let negative = _mm256_sub_epi16(_mm256_sub_epi16(one, other.0), self.0);
            Self(_mm256_blendv_epi8(borrowed, negative, zero))
        }
    }

    #[inline(always)]
    unsafe fn choose(self, yes: Self, no: Self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm256_or_si256(_mm256_and_si256(self.0, yes.0), _mm256_andnot_si256(self.0, no.0)) })
    }

    #[inline(always)]
    unsafe fn rotate_left16<const BY: i32, const REST: i32>(self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm256_or_si256(_mm256_slli_epi16::<BY>(self.0), _mm256_srli_epi16::<REST>(self.0)) })
    }

    #[inline(always)]
    unsafe fn look_up(self, table: &Table) -> Self {
        let from = table.twice.as_ptr().cast();
        // SAFETY: the caller's promise; an index of six bits lies in a table of 64.
        unsafe {
            let six_bits = _mm256_set1_epi32(63);
            let low = _mm256_and_si256(self.0, six_bits);
            let high = _mm256_and_si256(_mm256_srli_epi32::<16>(self.0), six_bits);
            let (low, high) = (_mm256_i32gather_epi32::<4>(from, low), _mm256_i32gather_epi32::<4>(from, high));
            Self(_mm256_blend_epi16::<0b1010_1010>(low, high))
        }
    }

    #[inline(always)]
    unsafe fn even(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let (this, other) = (_mm256_castsi256_ps(self.0), _mm256_castsi256_ps(other.0));
            Self(_mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(this, other)))
        }
    }

    #[inline(always)]
    unsafe fn odd(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let (this, other) = (_mm256_castsi256_ps(self.0), _mm256_castsi256_ps(other.0));
            Self(_mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(this, other)))
        }
    }
}

/// In each lane of 128 bits: of two blocks in each register, one word of each block in each register; and back.
///
/// # Safety
/// As of [`Vector`].
#[inline(always)]
pub(in crate::kernels) unsafe fn transposed<V: Vector>([a, b, c, d]: [V; 4]) -> [V; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let (ab, cd) = (a.low16(b), c.low16(d));
        let (first_low, first_high) = (ab.low32(cd), ab.high32(cd));
        let (ab, cd) = (a.high16(b), c.high16(d));
        let (second_low, second_high) = (ab.low32(cd), ab.high32(cd));
        [
            first_low.low64(second_low),
            first_low.high64(second_low),
            first_high.low64(second_high),
            first_high.high64(second_high),
        ]
    }
}
