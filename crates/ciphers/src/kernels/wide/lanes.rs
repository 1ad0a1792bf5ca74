//! What a cipher gives so that its blocks go side by side.

#[cfg(target_arch = "x86_64")]
use super::vector::Vector;
use super::way::Way;

/// A word of a block, its bytes little-endian.
pub(in crate::kernels) trait Word: Copy + Default + core::ops::BitXor<Output = Self> {
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

/// A block cipher with its key schedule: blocks of `B` bytes and `R` words, and as many registers for a group of them.
pub(in crate::kernels) trait Lanes<const B: usize, const R: usize> {
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

/// What is encrypted or decrypted.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "there is the scalar way only"))]
pub(super) enum Source<'s, const B: usize> {
    Blocks(&'s [[u8; B]]),
    /// From this on, the low number last.
    Counters([u64; 2]),
}
