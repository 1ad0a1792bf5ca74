//! What a cipher keeps between two messages: its key, the library's memory, a context for each direction.
#![forbid(unsafe_code)]

use std::mem::MaybeUninit;

use wattlock_ciphers::{Error, MAX_KEY_B};

/// Bytes of the longest key of an authenticated cipher here.
pub const AEAD_KEY_B: usize = 32;

/// A key, kept for contexts that are made later; of at most `MOST_B` bytes, so that a key setup copies no more than it
/// must.
#[derive(Clone, Copy)]
pub struct KeptKey<const MOST_B: usize = MAX_KEY_B> {
    bytes: [u8; MOST_B],
    length_B: usize,
}

impl<const MOST_B: usize> KeptKey<MOST_B> {
    /// * `key`: as long as a spec's.
    #[inline]
    pub fn of(key: &[u8]) -> Self {
        let mut bytes = [0; MOST_B];
        bytes[..key.len()].copy_from_slice(key);
        Self { bytes, length_B: key.len() }
    }

    /// The key.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length_B]
    }
}

/// Keying option 2 of Triple DES: the third key is the first.
#[inline]
pub fn three_keys(two: &[u8]) -> [u8; 24] {
    let mut three = [0; 24];
    three.iter_mut().zip(two.iter().chain(two)).for_each(|(to, from)| *to = *from);
    three
}

/// A key that is as long as any, for a library that refuses weak ones when it is asked what it has.
pub fn sample_key(length_B: usize) -> Vec<u8> {
    (1..=255).cycle().take(length_B).collect()
}

/// Memory of the caller's for what a library declares, aligned for whatever is in it.
pub type Room = Box<[MaybeUninit<u128>]>;

/// Memory of as many bytes, or a few more.
#[inline]
pub fn room(size_B: usize) -> Room {
    Box::<[u128]>::new_uninit_slice(size_B.div_ceil(size_of::<u128>()))
}

/// What a library makes of a key for one direction: the key setup makes that of its direction, as a program would pay for
/// one; the other is made when it is first used.
pub struct EachWay<C, const MOST_B: usize = MAX_KEY_B> {
    key: KeptKey<MOST_B>,
    decrypts: bool,
    ready: C,
    other: Option<C>,
}

impl<C, const MOST_B: usize> EachWay<C, MOST_B> {
    /// * `ready`: made of `key` for the direction of the key setup.
    #[inline]
    pub fn new(key: &[u8], decrypts: bool, ready: C) -> Self {
        Self { key: KeptKey::of(key), decrypts, ready, other: None }
    }

    /// What the key setup made, where one serves both directions.
    #[inline]
    pub fn ready(&mut self) -> &mut C {
        &mut self.ready
    }

    /// That of a direction; `make` makes one of the key.
    ///
    /// # Errors
    /// Those of `make`.
    #[inline]
    pub fn get(&mut self, decrypts: bool, make: impl FnOnce(&[u8]) -> Result<C, Error>) -> Result<&mut C, Error> {
        if decrypts == self.decrypts {
            return Ok(&mut self.ready);
        }
        match &mut self.other {
            Some(context) => Ok(context),
            none => Ok(none.insert(make(self.key.bytes())?)),
        }
    }
}
