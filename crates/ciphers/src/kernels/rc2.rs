//! RC2 (RFC 2268): keys of 1 to 128 bytes, 1 to 1024 effective bits.

use super::wide::{Lanes, Table, Way, kernel};
#[cfg(target_arch = "x86_64")]
use super::wide::{Vector, transposed};

/// A key schedule.
pub(crate) struct Rc2 {
    way: Way,
    keys: Table,
}

/// How far each word of a block is rotated.
const ROTATIONS: [u32; 4] = [1, 2, 3, 5];
/// Rounds that mix, before each round that mashes and after the last (RFC 2268, 3.3 and 4.3).
const MIXINGS: [usize; 3] = [5, 6, 5];

impl Rc2 {
    /// The schedule for one way; `None` for a way that is not here, or a key or effective bits that do not exist.
    ///
    /// # Source
    /// RFC 2268, 2.
    #[inline]
    pub(super) fn by(way: Way, effective_bits: usize, key: &[u8]) -> Option<Self> {
        if !way.is_here() || !(1..=1024).contains(&effective_bits) || key.is_empty() {
            return None;
        }
        let mut bytes = [0_u8; 128];
        bytes.get_mut(..key.len())?.copy_from_slice(key);
        for at in key.len()..bytes.len() {
            bytes[at] = PI[usize::from(bytes[at - 1].wrapping_add(bytes[at - key.len()]))];
        }
        let effective_B = effective_bits.div_ceil(8);
        let cut = bytes.len() - effective_B;
        bytes[cut] = PI[usize::from(bytes[cut] & (0xff >> (8 * effective_B - effective_bits)))];
        for at in (0..cut).rev() {
            bytes[at] = PI[usize::from(bytes[at + 1] ^ bytes[at + effective_B])];
        }
        let mut words = [0; 64];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u16::from_le_bytes(*bytes);
        }
        Some(Self { way, keys: Table::of(words) })
    }
}

impl Lanes<8, 4> for Rc2 {
    #[inline(always)]
    fn way(&self) -> Way {
        self.way
    }

    type Word = u16;

    #[inline(always)]
    fn one<const BACK: bool>(&self, mut words: [u16; 4]) -> [u16; 4] {
        let keys = &self.keys.words;
        if BACK {
            let mut rest = keys.as_chunks::<4>().0;
            for (turn, mixings) in MIXINGS.iter().rev().enumerate() {
                if turn > 0 {
                    for at in (0..4).rev() {
                        let key = keys[usize::from(words[(at + 3) % 4] & 63)];
                        words[at] = words[at].wrapping_sub(key);
                    }
                }
                let (before, now) = rest.split_at(rest.len() - mixings);
                rest = before;
                for key in now.iter().rev() {
                    for at in (0..4).rev() {
                        words[at] = words[at]
                            .rotate_right(ROTATIONS[at])
                            .wrapping_sub(key[at])
                            .wrapping_sub(chosen(&words, at));
                    }
                }
            }
        } else {
            let mut rest = keys.as_chunks::<4>().0;
            for (turn, mixings) in MIXINGS.iter().enumerate() {
                if turn > 0 {
                    for at in 0..4 {
                        let key = keys[usize::from(words[(at + 3) % 4] & 63)];
                        words[at] = words[at].wrapping_add(key);
                    }
                }
                let (now, after) = rest.split_at(*mixings);
                rest = after;
                for key in now {
                    for at in 0..4 {
                        words[at] =
                            words[at].wrapping_add(key[at]).wrapping_add(chosen(&words, at)).rotate_left(ROTATIONS[at]);
                    }
                }
            }
        }
        words
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn groups<V: Vector, const N: usize, const BACK: bool>(&self, state: &mut [[V; 4]; N]) {
        // SAFETY: the caller's promise.
        unsafe {
            for group in state.iter_mut() {
                *group = transposed(*group);
            }
            let mut rest = self.keys.twice.as_chunks::<4>().0;
            if BACK {
                for (turn, mixings) in MIXINGS.iter().rev().enumerate() {
                    if turn > 0 {
                        for [a, b, c, d] in state.iter_mut() {
                            *d = d.sub16(c.look_up(&self.keys));
                            *c = c.sub16(b.look_up(&self.keys));
                            *b = b.sub16(a.look_up(&self.keys));
                            *a = a.sub16(d.look_up(&self.keys));
                        }
                    }
                    let (before, now) = rest.split_at(rest.len() - mixings);
                    rest = before;
                    for key in now.iter().rev() {
                        let key = [V::splat(key[0]), V::splat(key[1]), V::splat(key[2]), V::splat(key[3])];
                        for [a, b, c, d] in state.iter_mut() {
                            *d = d.rotate_left16::<11, 5>().sub16(key[3]).sub16(c.choose(*b, *a));
                            *c = c.rotate_left16::<13, 3>().sub16(key[2]).sub16(b.choose(*a, *d));
                            *b = b.rotate_left16::<14, 2>().sub16(key[1]).sub16(a.choose(*d, *c));
                            *a = a.rotate_left16::<15, 1>().sub16(key[0]).sub16(d.choose(*c, *b));
                        }
                    }
                }
            } else {
                for (turn, mixings) in MIXINGS.iter().enumerate() {
                    if turn > 0 {
                        for [a, b, c, d] in state.iter_mut() {
                            *a = a.add16(d.look_up(&self.keys));
                            *b = b.add16(a.look_up(&self.keys));
                            *c = c.add16(b.look_up(&self.keys));
                            *d = d.add16(c.look_up(&self.keys));
                        }
                    }
                    let (now, after) = rest.split_at(*mixings);
                    rest = after;
                    for key in now {
                        let key = [V::splat(key[0]), V::splat(key[1]), V::splat(key[2]), V::splat(key[3])];
                        for [a, b, c, d] in state.iter_mut() {
                            *a = a.add16(key[0]).add16(d.choose(*c, *b)).rotate_left16::<1, 15>();
                            *b = b.add16(key[1]).add16(a.choose(*d, *c)).rotate_left16::<2, 14>();
                            *c = c.add16(key[2]).add16(b.choose(*a, *d)).rotate_left16::<3, 13>();
                            *d = d.add16(key[3]).add16(c.choose(*b, *a)).rotate_left16::<5, 11>();
                        }
                    }
                }
            }
            for group in state.iter_mut() {
                *group = transposed(*group);
            }
        }
    }
}

/// What a step adds to a word: of the bits of the words two and three before it, those that the word before it says.
#[inline(always)]
fn chosen(words: &[u16; 4], at: usize) -> u16 {
    let before = words[(at + 3) % 4];
    (before & words[(at + 2) % 4]).wrapping_add(!before & words[(at + 1) % 4])
}

kernel!(Rc2, 8, [3, 2], 32, |spec, key| Self::by(Way::best(), usize::from(spec.effective_bits), key));

/// A permutation of the bytes from the digits of pi (RFC 2268, 2).
#[rustfmt::skip]
const PI: [u8; 256] = [
    0xd9, 0x78, 0xf9, 0xc4, 0x19, 0xdd, 0xb5, 0xed, 0x28, 0xe9, 0xfd, 0x79, 0x4a, 0xa0, 0xd8, 0x9d,
    0xc6, 0x7e, 0x37, 0x83, 0x2b, 0x76, 0x53, 0x8e, 0x62, 0x4c, 0x64, 0x88, 0x44, 0x8b, 0xfb, 0xa2,
    0x17, 0x9a, 0x59, 0xf5, 0x87, 0xb3, 0x4f, 0x13, 0x61, 0x45, 0x6d, 0x8d, 0x09, 0x81, 0x7d, 0x32,
    0xbd, 0x8f, 0x40, 0xeb, 0x86, 0xb7, 0x7b, 0x0b, 0xf0, 0x95, 0x21, 0x22, 0x5c, 0x6b, 0x4e, 0x82,
    0x54, 0xd6, 0x65, 0x93, 0xce, 0x60, 0xb2, 0x1c, 0x73, 0x56, 0xc0, 0x14, 0xa7, 0x8c, 0xf1, 0xdc,
    0x12, 0x75, 0xca, 0x1f, 0x3b, 0xbe, 0xe4, 0xd1, 0x42, 0x3d, 0xd4, 0x30, 0xa3, 0x3c, 0xb6, 0x26,
    0x6f, 0xbf, 0x0e, 0xda, 0x46, 0x69, 0x07, 0x57, 0x27, 0xf2, 0x1d, 0x9b, 0xbc, 0x94, 0x43, 0x03,
    0xf8, 0x11, 0xc7, 0xf6, 0x90, 0xef, 0x3e, 0xe7, 0x06, 0xc3, 0xd5, 0x2f, 0xc8, 0x66, 0x1e, 0xd7,
    0x08, 0xe8, 0xea, 0xde, 0x80, 0x52, 0xee, 0xf7, 0x84, 0xaa, 0x72, 0xac, 0x35, 0x4d, 0x6a, 0x2a,
    0x96, 0x1a, 0xd2, 0x71, 0x5a, 0x15, 0x49, 0x74, 0x4b, 0x9f, 0xd0, 0x5e, 0x04, 0x18, 0xa4, 0xec,
    0xc2, 0xe0, 0x41, 0x6e, 0x0f, 0x51, 0xcb, 0xcc, 0x24, 0x91, 0xaf, 0x50, 0xa1, 0xf4, 0x70, 0x39,
    0x99, 0x7c, 0x3a, 0x85, 0x23, 0xb8, 0xb4, 0x7a, 0xfc, 0x02, 0x36, 0x5b, 0x25, 0x55, 0x97, 0x31,
    0x2d, 0x5d, 0xfa, 0x98, 0xe3, 0x8a, 0x92, 0xae, 0x05, 0xdf, 0x29, 0x10, 0x67, 0x6c, 0xba, 0xc9,
    0xd3, 0x00, 0xe6, 0xcf, 0xe1, 0x9e, 0xa8, 0x2c, 0x63, 0x16, 0x01, 0x3f, 0x58, 0xe2, 0x89, 0xa9,
    0x0d, 0x38, 0x34, 0x1b, 0xab, 0x33, 0xff, 0xb0, 0xbb, 0x48, 0x0c, 0x5f, 0xb9, 0xb1, 0xcd, 0x2e,
    0xc5, 0xf3, 0xdb, 0x47, 0xe5, 0xa5, 0x9c, 0x77, 0x0a, 0xa6, 0x20, 0x68, 0xfe, 0x7f, 0xc1, 0xad,
];
