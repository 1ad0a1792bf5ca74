//! The functions that are called between the markers: each a function of its own, so that what is counted is one call.
#![forbid(unsafe_code)]

use wattlock_ciphers::establish::{Exchange, Given, Made, Refused};
use wattlock_ciphers::{Cipher, Direction, Error, Suite};
#[cfg(feature = "frames")]
use wattlock_frames::{Frame, Key, Protocol};

/// The key schedule.
#[inline(never)]
pub fn key_setup<S: Suite>(suite: &S, key: &[u8], direction: Direction) -> Result<S::Cipher, Error> {
    suite.key_setup(key, direction)
}

/// A whole message from plaintext to ciphertext.
#[inline(never)]
pub fn encrypt<C: Cipher>(cipher: &mut C, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    cipher.encrypt(iv, input, output)
}

/// A whole message from ciphertext to plaintext.
#[inline(never)]
pub fn decrypt<C: Cipher>(cipher: &mut C, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    cipher.decrypt(iv, input, output)
}

/// A whole message from plaintext to ciphertext and tag.
#[inline(never)]
pub fn seal<C: Cipher>(cipher: &mut C, iv: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    cipher.seal(iv, aad, input, output)
}

/// A whole message from ciphertext and tag to plaintext, or up to its refusal.
#[inline(never)]
pub fn open<C: Cipher>(cipher: &mut C, iv: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    cipher.open(iv, aad, input, output)
}

/// The keys of a scheme's operation, read from their bytes.
#[inline(never)]
pub fn load<E: Exchange>(given: &Given<'_>) -> Result<E::Key, Refused> {
    E::load(given)
}

/// A scheme's operation.
#[inline(never)]
pub fn exchange<E: Exchange>(key: &E::Key, given: &Given<'_>, made: Made<'_>) -> Result<(), Refused> {
    E::carry_out(key, given, made)
}

/// The key of a protocol, made ready.
#[cfg(feature = "frames")]
#[inline(never)]
pub fn frame_key(protocol: Protocol, key: &[u8]) -> Result<Key, wattlock_frames::Error> {
    Key::new(protocol, key)
}

/// A frame from the clear to its protected form.
#[cfg(feature = "frames")]
#[inline(never)]
pub fn protect(key: &mut Key, mpdu: &[u8], number: u64, output: &mut [u8]) -> Result<usize, wattlock_frames::Error> {
    key.protect(&Frame::parse(mpdu)?, number, 0, output)
}

/// A protected frame back to the clear.
#[cfg(feature = "frames")]
#[inline(never)]
pub fn unprotect(key: &mut Key, mpdu: &[u8], output: &mut [u8]) -> Result<usize, wattlock_frames::Error> {
    key.unprotect(&Frame::parse(mpdu)?, None, output).map(|opened| opened.length_B)
}
