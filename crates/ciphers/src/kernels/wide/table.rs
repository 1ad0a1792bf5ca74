//! Tables that registers are looked up in.
#![forbid(unsafe_code)]

/// 64 words of 16 bits, as the ways read them.
pub(in crate::kernels) struct Table {
    /// One after the other.
    pub(in crate::kernels) words: [u16; 64],
    /// Each twice, in both halves.
    #[cfg(target_arch = "x86_64")]
    pub(in crate::kernels) twice: [u32; 64],
}

impl Table {
    #[inline]
    pub(in crate::kernels) fn of(words: [u16; 64]) -> Self {
        Self {
            words,
            #[cfg(target_arch = "x86_64")]
            twice: words.map(|word| u32::from(word) * 0x1_0001),
        }
    }
}
