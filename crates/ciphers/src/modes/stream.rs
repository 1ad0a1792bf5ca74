//! Key streams that start at a nonce, and how those of ChaCha20 and Salsa20 are defined.
#![forbid(unsafe_code)]

use ::cipher::{KeyIvInit, StreamCipher};

use crate::cipher::{BuiltIn, Cipher};
use crate::modes::{beside, check_key};
use crate::{Error, Spec};

/// A key; a message makes the stream of its nonce.
pub(crate) struct Nonced<C> {
    key: [u8; 32],
    stream: core::marker::PhantomData<fn() -> C>,
}

impl<C: KeyIvInit + StreamCipher + 'static> BuiltIn for Nonced<C> {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        check_key(spec, key)?;
        let mut kept = [0; 32];
        kept.copy_from_slice(key);
        Ok(Self { key: kept, stream: core::marker::PhantomData })
    }
}

impl<C: KeyIvInit + StreamCipher + 'static> Cipher for Nonced<C> {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let wrong = Error::WrongIvLength { given_B: iv.len(), right_B: C::iv_size() };
        let mut stream = C::new_from_slices(&self.key, iv).map_err(|_| wrong)?;
        let too_long = Error::TooLong { given_B: input.len() as u64, most_B: 64 << 32 };
        stream.try_apply_keystream_inout(beside(input, output)?).map_err(|_| too_long)?;
        Ok(input.len())
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.encrypt(iv, input, output)
    }
}

/// A key stream block by block: `rounds` of a state that is added up in the end, and whose counter goes up.
pub(crate) fn definition(
    message: &[u8],
    output: &mut [u8],
    state: impl Fn(u64) -> [u32; 16],
    round: impl Fn(&mut [u32; 16]),
) {
    for (number, (text, output)) in (0..).zip(message.chunks(64).zip(output.chunks_mut(64))) {
        let start = state(number);
        let mut words = start;
        (0..10).for_each(|_| round(&mut words));
        let stream = words.iter().zip(start).flat_map(|(word, start)| word.wrapping_add(start).to_le_bytes());
        output.iter_mut().zip(text).zip(stream).for_each(|((output, text), stream)| *output = text ^ stream);
    }
}

/// The word at `place`, little-endian; bytes that are not there count as 0.
pub(crate) fn word(bytes: &[u8], place: usize) -> u32 {
    bytes[4 * place..].iter().take(4).rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Of both ciphers: "expand 32-byte k".
pub(crate) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
