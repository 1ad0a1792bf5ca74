//! A message in a mode, from what most libraries have of it: begin at an IV, go on with whole blocks.
//!
//! The last block is padded here and given to the library as a second call, so that a message shorter than a block is one
//! call of it.
#![forbid(unsafe_code)]

use wattlock_ciphers::{Cipher, Error, Mode, Spec};

use super::{lengths, next_iv};

/// A library's object with its key. Lengths are checked before it is called. What is left out it does not have:
/// [`Error::NoSuchOperation`].
pub trait Handle: 'static {
    /// Begins a message at `iv`, which is as long as the spec says; not called where there is no IV.
    ///
    /// # Errors
    /// The library's.
    fn start(&mut self, _decrypts: bool, _iv: &[u8]) -> Result<(), Error> {
        Err(Error::NoSuchOperation)
    }

    /// Goes on with the message: whole blocks in ECB and CBC. `output` is as long as `input`, which is not empty.
    ///
    /// # Errors
    /// The library's.
    fn run(&mut self, _decrypts: bool, _input: &[u8], _output: &mut [u8]) -> Result<(), Error> {
        Err(Error::NoSuchOperation)
    }

    /// Seals one message: `output` is as long as `input`, `tag` as the spec says.
    ///
    /// # Errors
    /// The library's; [`Error::NoSuchOperation`] where it has no such mode.
    fn seal(
        &mut self,
        _nonce: &[u8],
        _aad: &[u8],
        _input: &[u8],
        _output: &mut [u8],
        _tag: &mut [u8],
    ) -> Result<(), Error> {
        Err(Error::NoSuchOperation)
    }

    /// Opens one message; what it leaves in `output` where the tag is wrong is wiped by the caller.
    ///
    /// # Errors
    /// [`Error::Forged`], the library's, [`Error::NoSuchOperation`].
    fn open(
        &mut self,
        _nonce: &[u8],
        _aad: &[u8],
        _input: &[u8],
        _output: &mut [u8],
        _tag: &[u8],
    ) -> Result<(), Error> {
        Err(Error::NoSuchOperation)
    }
}

/// A handle and the mode that it is in.
pub struct Moded<H> {
    mode: Mode,
    block_B: usize,
    iv_B: usize,
    tag_B: usize,
    most_B: u64,
    handle: H,
}

impl<H> Moded<H> {
    /// * `spec`: what the handle was made for.
    #[inline]
    pub fn new(spec: &Spec, handle: H) -> Self {
        let most_B = lengths::most_B(spec);
        let (block_B, iv_B, tag_B) = (spec.block_B(), spec.iv_B(), spec.tag_B());
        Self { mode: spec.card.mode, block_B, iv_B, tag_B, most_B, handle }
    }
}

impl<H: Handle> Moded<H> {
    /// Begins where there is an IV to begin at, and goes on where there is something to go on with.
    #[inline(always)]
    fn pass(&mut self, decrypts: bool, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        if !iv.is_empty() {
            self.handle.start(decrypts, iv)?;
        }
        if input.is_empty() { Ok(()) } else { self.handle.run(decrypts, input, output) }
    }

    #[inline]
    fn part(&mut self, decrypts: bool, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        if self.mode == Mode::Aead || (self.mode == Mode::Stream && self.iv_B > 0) {
            return Err(Error::NoSuchOperation); // no IV can say where such a stream stands
        }
        lengths::iv(iv, self.iv_B)?;
        lengths::whole_blocks(self.mode, self.block_B, input)?;
        let output = lengths::room(output, input.len())?;
        self.pass(decrypts, iv, input, output)?;
        next_iv::go_on(self.mode, decrypts, iv, input, output);
        Ok(())
    }
}

impl<H: Handle> Moded<H> {
    /// A message in ECB or CBC; PKCS#7: each byte of the padding is their number, which is at most a block's.
    #[inline(always)]
    fn padded<const BLOCK_B: usize>(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let (_, rest) = input.as_chunks::<BLOCK_B>();
        let (whole, _) = input.split_at(input.len() - rest.len());
        let (body, end) = lengths::room(output, whole.len() + BLOCK_B)?.split_at_mut(whole.len());
        // Padded first: a block that is read just after it was put together waits for its bytes to reach the cache.
        let mut last = [u8::try_from(BLOCK_B - rest.len()).unwrap_or(0); BLOCK_B];
        last[..rest.len()].copy_from_slice(rest);
        self.pass(false, iv, whole, body)?;
        self.handle.run(false, &last, end)?;
        Ok(whole.len() + BLOCK_B)
    }
}

impl<H: Handle> Cipher for Moded<H> {
    #[inline(always)]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.mode == Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        lengths::iv(iv, self.iv_B)?;
        if !lengths::pads(self.mode) {
            self.pass(false, iv, input, lengths::room(output, input.len())?)?;
            return Ok(input.len());
        }
        // A block's length that the compiler knows spares a division and calls to copy: a third of a call of 14 bytes.
        match self.block_B {
            8 => self.padded::<8>(iv, input, output),
            16 => self.padded::<16>(iv, input, output),
            24 => self.padded::<24>(iv, input, output),
            32 => self.padded::<32>(iv, input, output),
            _ => Err(Error::NoSuchOperation),
        }
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.mode == Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        lengths::iv(iv, self.iv_B)?;
        lengths::whole_blocks(self.mode, self.block_B, input)?;
        let output = lengths::room(output, input.len())?;
        self.pass(true, iv, input, output)?;
        if lengths::pads(self.mode) { unpadded(output, self.block_B) } else { Ok(input.len()) }
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
        let (text, tag) = lengths::room(output, input.len() + self.tag_B)?.split_at_mut(input.len());
        self.handle.seal(nonce, aad, input, text, tag)?;
        Ok(input.len() + self.tag_B)
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.mode != Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        lengths::iv(nonce, self.iv_B)?;
        let text_B = input.len().checked_sub(self.tag_B).ok_or(Error::Forged)?;
        lengths::not_too_long(text_B, self.most_B)?;
        let (text, tag) = input.split_at(text_B);
        let output = lengths::room(output, text_B)?;
        let opened = self.handle.open(nonce, aad, text, output, tag);
        if opened.is_err() {
            output.fill(0);
        }
        opened.map(|()| text_B)
    }
}

/// Compares tags of one length as a program must: in a time that tells nothing.
///
/// # Errors
/// [`Error::Forged`].
#[inline]
pub fn same(right: &[u8], given: &[u8]) -> Result<(), Error> {
    let differs = right.iter().zip(given).fold(0, |differs, (one, other)| differs | (one ^ other));
    if std::hint::black_box(differs) == 0 { Ok(()) } else { Err(Error::Forged) }
}

/// Bytes of a message without its PKCS#7 padding.
#[inline]
pub fn unpadded(padded: &[u8], block_B: usize) -> Result<usize, Error> {
    let padding_B = padded.last().copied().map_or(0, usize::from);
    let message_B = padded.len().checked_sub(padding_B).ok_or(Error::BadPadding)?;
    let is_right =
        (1..=block_B).contains(&padding_B) && padded[message_B..].iter().all(|byte| usize::from(*byte) == padding_B);
    if is_right { Ok(message_B) } else { Err(Error::BadPadding) }
}
