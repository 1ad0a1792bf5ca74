//! PRESENT (Bogdanov and others 2007): blocks of 64 bits, keys of 80 and 128, 31 rounds; ours, because no crate of it is
//! kept.
//!
//! The S-box is computed on bit planes, sixteen nibbles at once, so that no address depends on the data. The planes are
//! the 16-bit groups that the bit permutation makes anyway.
#![forbid(unsafe_code)]

use ::cipher::consts::U8;

use crate::Spec;
use crate::algorithm::{Algorithm, present::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::modes::{Primitive, block_cipher};
use crate::visit::ways;

const CODE: Code = Code::ours(Timing::Constant, Algorithm::present(Way::Ours));

const FAMILY: Card = Card {
    family: "present",
    key_bits: Sizes::every(48, 80, 128),
    block_bits: 64,
    iv_bits: 64,
    source: "Bogdanov, Knudsen, Leander, Paar, Poschmann, Robshaw, Seurin, Vikkelsoe, PRESENT: An Ultra-Lightweight Block Cipher, 2007; ISO/IEC 29192-2:2019",
    codes: &[CODE],
    vectors: include_str!("../../vectors/present.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(FAMILY, "present", ["present{key}"], ["present80", "present128"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! { Ours => visit_mode::<Present> }

const ROUNDS: usize = 31;

/// A round key for each round and one at the end.
pub(crate) struct Present([u64; ROUNDS + 1]);

impl Primitive for Present {
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        // The register stands in the high bits of a word, so that its left end is the word's.
        let bits = u32::try_from(key.len() * 8).ok()?;
        let mut register = key.iter().fold(0_u128, |sum, byte| (sum << 8) | u128::from(*byte)) << (128 - bits);
        let mask = u128::MAX << (128 - bits);
        let (boxes, counter_at) = if bits == 80 { (1, 128 - 80 + 15) } else { (2, 62) };
        let mut keys = [0; ROUNDS + 1];
        for (number, key) in (1_u128..).zip(&mut keys) {
            *key = u64::try_from(register >> 64).ok()?;
            register = ((register << 61) | (register >> (bits - 61))) & mask;
            for nibble in 0..boxes {
                let at = 124 - 4 * nibble;
                let value = s_box(u64::try_from((register >> at) & 15).ok()?);
                register = (register & !(15 << at)) | (u128::from(value) << at);
            }
            register ^= number << counter_at;
        }
        Some(Self(keys))
    }
}

/// One nibble, as planes of one bit.
fn s_box(nibble: u64) -> u64 {
    let planes = substitute([nibble & 1, (nibble >> 1) & 1, (nibble >> 2) & 1, (nibble >> 3) & 1]);
    (planes[0] & 1) | ((planes[1] & 1) << 1) | ((planes[2] & 1) << 2) | ((planes[3] & 1) << 3)
}

/// The S-box on four bit planes, the least significant first: its algebraic normal form.
#[inline]
fn substitute([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    let (bc, bd) = (b & c, b & d);
    let (abc, abd, acd) = (a & bc, a & bd, a & c & d);
    [
        a ^ c ^ bc ^ d,
        b ^ abc ^ d ^ bd ^ abd ^ (c & d) ^ acd,
        !((a & b) ^ c ^ d ^ (a & d) ^ bd ^ abd ^ acd),
        !(a ^ b ^ bc ^ abc ^ d ^ abd ^ acd),
    ]
}

/// The inverse S-box in the same form.
#[inline]
fn restore([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    let (ab, ac, bc, bd) = (a & b, a & c, b & c, b & d);
    let (abc, abd, acd) = (a & bc, a & bd, ac & d);
    [
        !(a ^ c ^ bd),
        a ^ b ^ ac ^ abc ^ d ^ bd ^ abd ^ (c & d) ^ acd,
        !(ab ^ ac ^ bc ^ abc ^ d ^ (a & d) ^ bd ^ abd ^ acd),
        a ^ b ^ ab ^ c ^ abc ^ d ^ acd,
    ]
}

/// The bits of the text at 4i, 4i + 1, 4i + 2, 4i + 3 as four planes of sixteen bits.
#[inline]
fn planes(text: u64) -> [u64; 4] {
    core::array::from_fn(|at| {
        let mut bits = (text >> at) & 0x1111_1111_1111_1111;
        bits = (bits | (bits >> 3)) & 0x0303_0303_0303_0303;
        bits = (bits | (bits >> 6)) & 0x000f_000f_000f_000f;
        bits = (bits | (bits >> 12)) & 0x0000_00ff_0000_00ff;
        (bits | (bits >> 24)) & 0xffff
    })
}

/// What [`planes`] takes apart.
#[inline]
fn text(planes: [u64; 4]) -> u64 {
    (0..4).zip(planes).fold(0, |text, (at, plane)| {
        let mut bits = plane & 0xffff;
        bits = (bits | (bits << 24)) & 0x0000_00ff_0000_00ff;
        bits = (bits | (bits << 12)) & 0x000f_000f_000f_000f;
        bits = (bits | (bits << 6)) & 0x0303_0303_0303_0303;
        bits = (bits | (bits << 3)) & 0x1111_1111_1111_1111;
        text | (bits << at)
    })
}

impl Present {
    #[inline]
    fn encrypt_one(&self, block: [u8; 8]) -> [u8; 8] {
        let mut state = u64::from_be_bytes(block);
        for key in &self.0[..ROUNDS] {
            // The permutation puts bit 4i + j to 16j + i: plane j becomes the j-th group of sixteen bits.
            let [a, b, c, d] = substitute(planes(state ^ key)).map(|plane| plane & 0xffff);
            state = a | (b << 16) | (c << 32) | (d << 48);
        }
        (state ^ self.0[ROUNDS]).to_be_bytes()
    }

    #[inline]
    fn decrypt_one(&self, block: [u8; 8]) -> [u8; 8] {
        let mut state = u64::from_be_bytes(block) ^ self.0[ROUNDS];
        for key in self.0[..ROUNDS].iter().rev() {
            state = text(restore([state, state >> 16, state >> 32, state >> 48])) ^ key;
        }
        state.to_be_bytes()
    }
}

block_cipher!(Present, U8);
