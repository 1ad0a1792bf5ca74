//! Ascon-AEAD128 that hands over its whole tag, and Ascon-CXOF128.
//!
//! # Source
//! NIST SP 800-232, sections 4.1 (AEAD128) and 5.3 (CXOF128).

use ascon_core::State;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, optimization_barrier};

use crate::watched::verdict;

#[cfg(test)]
mod tests;

/// Octets of a key.
pub const KEY_B: usize = 16;
/// Octets of a whole tag.
pub const TAG_B: usize = 16;
/// Octets of a nonce.
pub const NONCE_B: usize = 16;

// Initial values, rates and the bit of domain separation of Ascon-AEAD128 and Ascon-CXOF128 (NIST SP 800-232).
const AEAD_IV: u64 = 0x0000_1000_808c_0001;
const CXOF_IV: u64 = 0x0000_0800_00cc_0004;
const AEAD_RATE_B: usize = 16;
const CXOF_RATE_B: usize = 8;
const DOMAIN: u64 = 1 << 63;

/// Overwrites octets with zeros, by words where they are aligned: `Zeroize` of a slice writes each octet by itself.
pub(crate) fn wipe(octets: &mut [u8]) {
    octets.fill(0);
    optimization_barrier(octets);
}

/// A key of 128 bits, overwritten when it is dropped.
#[derive(Clone)]
pub struct Key([u8; KEY_B]);

impl Zeroize for Key {
    fn zeroize(&mut self) {
        wipe(&mut self.0);
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for Key {}

impl Key {
    /// The key of these octets.
    #[must_use]
    pub fn new(octets: [u8; KEY_B]) -> Self {
        Self(octets)
    }

    /// Its octets, as input of a derivation.
    #[must_use]
    pub fn octets(&self) -> &[u8; KEY_B] {
        &self.0
    }

    fn words(&self) -> [u64; 2] {
        [word(&self.0[..8]), word(&self.0[8..])]
    }
}

/// A whole tag. Its octets behind those that are sent are a secret.
#[derive(Clone, Copy, Default)]
#[repr(align(8))]
pub struct Tag([u8; TAG_B]);

impl Zeroize for Tag {
    fn zeroize(&mut self) {
        wipe(&mut self.0);
    }
}

impl Tag {
    pub(crate) const ZERO: Self = Self([0; TAG_B]);

    /// The tag of these octets.
    #[must_use]
    pub fn new(octets: [u8; TAG_B]) -> Self {
        Self(octets)
    }

    /// Its octets.
    #[must_use]
    pub fn octets(&self) -> &[u8; TAG_B] {
        &self.0
    }

    /// Whether its first `bits` are those of `sent`, in a time that depends on `bits` alone.
    ///
    /// Bits of `sent` behind the first `bits` have to be zero.
    #[must_use]
    pub fn begins_with(&self, sent: &[u8], bits: usize) -> bool {
        let whole = bits / 8;
        if whole > TAG_B || sent.len() != bits.div_ceil(8) {
            return false;
        }
        let mut differing = 0;
        for (own, sent) in self.0.iter().zip(&sent[..whole]) {
            differing |= own ^ sent;
        }
        if let (Some(own), Some(sent)) = (self.0.get(whole), sent.get(whole)) {
            differing |= own & !(0xff >> (bits % 8)) ^ sent;
        }
        verdict(differing.ct_eq(&0).into())
    }

    /// The tag with all bits behind the first `bits` zero.
    #[must_use]
    pub fn cut(&self, bits: usize) -> [u8; TAG_B] {
        let mut cut = self.0;
        let whole = (bits / 8).min(TAG_B);
        if let Some(partial) = cut.get_mut(whole) {
            *partial &= !(0xff >> (bits % 8));
            cut[whole + 1..].fill(0);
        }
        cut
    }

    /// This tag and another added without carry.
    #[must_use]
    pub fn xor(&self, other: &Self) -> Self {
        let mut sum = self.0;
        for (octet, addend) in sum.iter_mut().zip(other.0) {
            *octet ^= addend;
        }
        Self(sum)
    }
}

/// Encrypts `body` in place and returns the whole tag.
#[must_use]
pub fn seal(key: &Key, nonce: &[u8; NONCE_B], associated: &[u8], body: &mut [u8]) -> Tag {
    let mut state = begin(key, nonce, associated);
    let mut blocks = body.chunks_exact_mut(AEAD_RATE_B);
    for block in &mut blocks {
        let (left, right) = block.split_at_mut(8);
        state[0] ^= word(left);
        state[1] ^= word(right);
        left.copy_from_slice(&state[0].to_le_bytes());
        right.copy_from_slice(&state[1].to_le_bytes());
        state.permute_8();
    }
    let last = blocks.into_remainder();
    absorb_last(&mut state, last);
    for (place, octet) in last.iter_mut().enumerate() {
        *octet = state[place / 8].to_le_bytes()[place % 8];
    }
    finish(state, key)
}

/// Decrypts `sealed` into `body`, which is as long, and returns the whole tag that it ought to have: the caller compares,
/// and overwrites a body whose tag is wrong.
#[must_use]
pub fn open(key: &Key, nonce: &[u8; NONCE_B], associated: &[u8], sealed: &[u8], body: &mut [u8]) -> Tag {
    let mut state = begin(key, nonce, associated);
    let mut blocks = body.chunks_exact_mut(AEAD_RATE_B);
    let mut sealed_blocks = sealed.chunks_exact(AEAD_RATE_B);
    for (block, sealed) in (&mut blocks).zip(&mut sealed_blocks) {
        let sealed = [word(&sealed[..8]), word(&sealed[8..])];
        let (left, right) = block.split_at_mut(8);
        left.copy_from_slice(&(state[0] ^ sealed[0]).to_le_bytes());
        right.copy_from_slice(&(state[1] ^ sealed[1]).to_le_bytes());
        state[0] = sealed[0];
        state[1] = sealed[1];
        state.permute_8();
    }
    let last = blocks.into_remainder();
    for (place, (octet, sealed)) in last.iter_mut().zip(sealed_blocks.remainder()).enumerate() {
        *octet = sealed ^ state[place / 8].to_le_bytes()[place % 8];
    }
    absorb_last(&mut state, last);
    finish(state, key)
}

/// Fills `output` with Ascon-CXOF128 of `parts`, one behind the other, under the customization `label`.
///
/// The parts carry no lengths: whoever calls gives each label parts of fixed lengths.
pub fn cxof(label: &[u8], parts: &[&[u8]], output: &mut [u8]) {
    let mut state = State::new(CXOF_IV, 0, 0, 0, 0);
    state.permute_12();
    state[0] ^= (label.len() as u64) << 3;
    state.permute_12();
    absorb(&mut state, &[label]);
    absorb(&mut state, parts);
    let mut blocks = output.chunks_mut(CXOF_RATE_B).peekable();
    while let Some(block) = blocks.next() {
        let squeezed = state[0].to_le_bytes();
        block.copy_from_slice(&squeezed[..block.len()]);
        if blocks.peek().is_some() {
            state.permute_12();
        }
    }
}

fn absorb(state: &mut State, parts: &[&[u8]]) {
    let mut filled_B = 0;
    for octet in parts.iter().flat_map(|part| part.iter()) {
        state[0] ^= u64::from(*octet) << (8 * filled_B);
        filled_B += 1;
        if filled_B == CXOF_RATE_B {
            state.permute_12();
            filled_B = 0;
        }
    }
    state[0] ^= 1 << (8 * filled_B);
    state.permute_12();
}

fn begin(key: &Key, nonce: &[u8; NONCE_B], associated: &[u8]) -> State {
    let words = key.words();
    let mut state = State::new(AEAD_IV, words[0], words[1], word(&nonce[..8]), word(&nonce[8..]));
    state.permute_12();
    state[3] ^= words[0];
    state[4] ^= words[1];
    if !associated.is_empty() {
        let mut blocks = associated.chunks_exact(AEAD_RATE_B);
        for block in &mut blocks {
            state[0] ^= word(&block[..8]);
            state[1] ^= word(&block[8..]);
            state.permute_8();
        }
        absorb_last(&mut state, blocks.remainder());
        state.permute_8();
    }
    state[4] ^= DOMAIN;
    state
}

/// Adds fewer octets than a block, and the padding.
fn absorb_last(state: &mut State, last: &[u8]) {
    for (place, octet) in last.iter().chain(&[1]).enumerate() {
        state[place / 8] ^= u64::from(*octet) << (8 * (place % 8));
    }
}

fn finish(mut state: State, key: &Key) -> Tag {
    let words = key.words();
    state[2] ^= words[0];
    state[3] ^= words[1];
    state.permute_12();
    let mut tag = [0; TAG_B];
    tag[..8].copy_from_slice(&(state[3] ^ words[0]).to_le_bytes());
    tag[8..].copy_from_slice(&(state[4] ^ words[1]).to_le_bytes());
    Tag(tag)
}

/// Eight octets, least first.
fn word(octets: &[u8]) -> u64 {
    octets.try_into().map_or(0, u64::from_le_bytes)
}
