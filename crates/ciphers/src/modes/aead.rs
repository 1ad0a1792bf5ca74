//! Authenticated encryption with associated data (RFC 5116): the ciphertext, then the tag.
#![forbid(unsafe_code)]

use ::aead::{AeadInOut, KeyInit};

use crate::card::{BLANK, Card, Mode};
use crate::cipher::{BuiltIn, Cipher};
use crate::modes::{beside, check_key, has_room, wrong_key};
use crate::{Error, Spec};

/// What the card of an AEAD starts from.
pub(crate) const AEAD: Card = Card { mode: Mode::Aead, block_bits: 128, iv_bits: 96, tag_bits: 128, ..BLANK };

/// One of the crates' AEADs with its key.
pub(crate) struct Aead<A> {
    cipher: A,
    tag_B: usize,
    most_B: u64,
}

impl<A: AeadInOut + KeyInit + 'static> BuiltIn for Aead<A> {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        check_key(spec, key)?;
        let cipher = A::new_from_slice(key).map_err(|_| wrong_key(spec, key))?;
        Ok(Self { cipher, tag_B: spec.tag_B(), most_B: spec.card.most_B })
    }
}

impl<A> Aead<A> {
    #[inline]
    fn too_long(&self, given_B: usize) -> Error {
        Error::TooLong { given_B: given_B as u64, most_B: self.most_B }
    }
}

#[inline]
fn nonce_of<A: AeadInOut>(nonce: &[u8]) -> Result<&::aead::Nonce<A>, Error> {
    let right_B = size_of::<::aead::Nonce<A>>();
    nonce.try_into().map_err(|_| Error::WrongIvLength { given_B: nonce.len(), right_B })
}

impl<A: AeadInOut + KeyInit + 'static> Cipher for Aead<A> {
    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let nonce = nonce_of::<A>(nonce)?;
        if input.len() as u64 > self.most_B {
            return Err(self.too_long(input.len()));
        }
        let whole_B = input.len() + self.tag_B;
        let (text, room) = has_room(output, whole_B)?.split_at_mut(input.len());
        let sealed = self.cipher.encrypt_inout_detached(nonce, aad, beside(input, text)?);
        let tag = sealed.map_err(|_| self.too_long(input.len()))?;
        room.copy_from_slice(&tag);
        Ok(whole_B)
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let nonce = nonce_of::<A>(nonce)?;
        let text_B = input.len().checked_sub(self.tag_B).ok_or(Error::Forged)?;
        if text_B as u64 > self.most_B {
            return Err(self.too_long(text_B));
        }
        let (text, tag) = input.split_at(text_B);
        let tag = tag.try_into().map_err(|_| Error::Forged)?;
        let opened = self.cipher.decrypt_inout_detached(nonce, aad, beside(text, output)?, tag);
        if opened.is_err() {
            // Whatever of the plaintext is there already is nobody's to read.
            has_room(output, text_B)?.fill(0);
            return Err(Error::Forged);
        }
        Ok(text_B)
    }
}
