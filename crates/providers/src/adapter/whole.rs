//! A message in a mode, from a library that takes whole messages and pads them itself.
#![forbid(unsafe_code)]

use wattlock_ciphers::{Cipher, Error, Mode, Spec};

use super::{lengths, next_iv};

/// A library's objects with their key. Lengths are checked before it is called. What is left out it does not have:
/// [`Error::NoSuchOperation`].
pub trait Messages: 'static {
    /// What it was made for.
    fn spec(&self) -> &Spec;

    /// One whole message, padded or its padding removed in ECB and CBC; gives the bytes written.
    ///
    /// # Errors
    /// [`Error::BadPadding`], the library's.
    fn message(&mut self, _decrypts: bool, _iv: &[u8], _input: &[u8], _output: &mut [u8]) -> Result<usize, Error> {
        Err(Error::NoSuchOperation)
    }

    /// A part without padding, at `iv`: whole blocks in ECB and CBC, never empty. The IV of the next part is the caller's
    /// to find.
    ///
    /// # Errors
    /// The library's.
    fn part(&mut self, _decrypts: bool, _iv: &[u8], _input: &[u8], _output: &mut [u8]) -> Result<(), Error> {
        Err(Error::NoSuchOperation)
    }

    /// Seals one message: text and then tag.
    ///
    /// # Errors
    /// The library's.
    fn seal(&mut self, _nonce: &[u8], _aad: &[u8], _input: &[u8], _output: &mut [u8]) -> Result<(), Error> {
        Err(Error::NoSuchOperation)
    }

    /// Opens one message; what it leaves in `output` where the tag is wrong is wiped by the caller.
    ///
    /// * `input`: text and then tag; `output` is as long as the text.
    ///
    /// # Errors
    /// [`Error::Forged`], the library's.
    fn open(&mut self, _nonce: &[u8], _aad: &[u8], _input: &[u8], _output: &mut [u8]) -> Result<(), Error> {
        Err(Error::NoSuchOperation)
    }
}

/// [`Messages`] behind their checks.
pub struct Whole<M> {
    messages: M,
    mode: Mode,
    block_B: usize,
    iv_B: usize,
    tag_B: usize,
    most_B: u64,
}

impl<M: Messages> Whole<M> {
    /// * `messages`: with their key.
    #[inline]
    pub fn new(messages: M) -> Self {
        let spec = messages.spec();
        let (mode, most_B) = (spec.card.mode, lengths::most_B(spec));
        let (block_B, iv_B, tag_B) = (spec.block_B(), spec.iv_B(), spec.tag_B());
        Self { messages, mode, block_B, iv_B, tag_B, most_B }
    }

    #[inline]
    fn part(&mut self, decrypts: bool, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        if self.mode == Mode::Aead || (self.mode == Mode::Stream && self.iv_B > 0) {
            return Err(Error::NoSuchOperation); // no IV can say where such a stream stands
        }
        lengths::iv(iv, self.iv_B)?;
        lengths::whole_blocks(self.mode, self.block_B, input)?;
        let output = lengths::room(output, input.len())?;
        if !input.is_empty() {
            self.messages.part(decrypts, iv, input, output)?;
            next_iv::go_on(self.mode, decrypts, iv, input, output);
        }
        Ok(())
    }
}

impl<M: Messages> Cipher for Whole<M> {
    #[inline(always)]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.mode == Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        lengths::iv(iv, self.iv_B)?;
        let pads = lengths::pads(self.mode);
        let needed_B = if pads { lengths::padded_B(self.block_B, input.len()) } else { input.len() };
        self.messages.message(false, iv, input, lengths::room(output, needed_B)?)
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.mode == Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        lengths::iv(iv, self.iv_B)?;
        lengths::whole_blocks(self.mode, self.block_B, input)?;
        if lengths::pads(self.mode) && input.is_empty() {
            return Err(Error::BadPadding);
        }
        self.messages.message(true, iv, input, lengths::room(output, input.len())?)
    }

    #[inline]
    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.part(false, iv, input, output)
    }

    #[inline]
    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.part(true, iv, input, output)
    }

    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.mode != Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        lengths::iv(nonce, self.iv_B)?;
        lengths::not_too_long(input.len(), self.most_B)?;
        let sealed = lengths::room(output, input.len() + self.tag_B)?;
        self.messages.seal(nonce, aad, input, sealed)?;
        Ok(sealed.len())
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.mode != Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        lengths::iv(nonce, self.iv_B)?;
        let message_B = input.len().checked_sub(self.tag_B).ok_or(Error::Forged)?;
        lengths::not_too_long(message_B, self.most_B)?;
        let message = lengths::room(output, message_B)?;
        let opened = self.messages.open(nonce, aad, input, message);
        if opened.is_err() {
            message.fill(0);
        }
        opened.map(|()| message_B)
    }
}
