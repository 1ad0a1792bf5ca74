//! What is asked of lengths before a library is given a pointer.
#![forbid(unsafe_code)]

use wattlock_ciphers::{Error, Mode, Spec};

/// # Errors
/// [`Error::WrongKeyLength`].
#[inline]
pub fn key(spec: &Spec, key: &[u8]) -> Result<(), Error> {
    let wrong = Error::WrongKeyLength { given_bits: key.len() * 8, right_bits: spec.key_bits };
    if key.len() == spec.key_B() { Ok(()) } else { Err(wrong) }
}

/// # Errors
/// [`Error::WrongIvLength`], of nonces too.
#[inline]
pub fn iv(iv: &[u8], right_B: usize) -> Result<(), Error> {
    let given_B = iv.len();
    if given_B == right_B { Ok(()) } else { Err(Error::WrongIvLength { given_B, right_B }) }
}

/// The part of `output` that a result fills.
///
/// # Errors
/// [`Error::OutputTooSmall`].
#[inline]
pub fn room(output: &mut [u8], needed_B: usize) -> Result<&mut [u8], Error> {
    let given_B = output.len();
    output.get_mut(..needed_B).ok_or(Error::OutputTooSmall { given_B, needed_B })
}

/// Whether messages of this mode are padded.
#[inline]
pub fn pads(mode: Mode) -> bool {
    matches!(mode, Mode::Ecb | Mode::Cbc)
}

/// Bytes of a message with its PKCS#7 padding.
#[inline]
pub fn padded_B(block_B: usize, message_B: usize) -> usize {
    // A block's length that the compiler knows spares a division.
    match block_B {
        8 => (message_B / 8 + 1) * 8,
        16 => (message_B / 16 + 1) * 16,
        _ => (message_B / block_B + 1) * block_B,
    }
}

/// Whole blocks where the mode wants them.
///
/// # Errors
/// [`Error::NotWholeBlocks`].
#[inline]
pub fn whole_blocks(mode: Mode, block_B: usize, input: &[u8]) -> Result<(), Error> {
    let given_B = input.len();
    // A block's length that the compiler knows spares a division.
    let is_whole = match block_B {
        8 => given_B.is_multiple_of(8),
        16 => given_B.is_multiple_of(16),
        _ => given_B.is_multiple_of(block_B),
    };
    if !pads(mode) || is_whole { Ok(()) } else { Err(Error::NotWholeBlocks { given_B, block_B }) }
}

/// The longest message under one nonce: that of CCM leaves few bytes for the length (RFC 3610, 2.1).
#[inline]
pub fn most_B(spec: &Spec) -> u64 {
    let is_ccm = spec.card.family.starts_with("aes-ccm");
    let length_B = 15_usize.saturating_sub(spec.iv_B());
    if is_ccm && length_B < 8 { (1 << (8 * length_B)) - 1 } else { u64::MAX }
}

/// # Errors
/// [`Error::TooLong`].
#[inline]
pub fn not_too_long(message_B: usize, most_B: u64) -> Result<(), Error> {
    let given_B = message_B as u64;
    if given_B <= most_B { Ok(()) } else { Err(Error::TooLong { given_B, most_B }) }
}
