//! A message in a mode, from what most libraries have of it: begin at an IV, go on with whole blocks.
//!
//! The last block is padded here and given to the library as a second call, so that a message shorter than a block is one
//! call of it.
#![forbid(unsafe_code)]

use wattlock_ciphers::{Cipher, Error, Mode, Spec};

use super::next_iv;

/// A library's object with its key. Lengths are checked before it is called.
pub trait Handle: 'static {
    /// Begins a message at `iv`, which is as long as the spec says; not called where there is no IV.
    ///
    /// # Errors
    /// The library's.
    fn start(&mut self, decrypts: bool, iv: &[u8]) -> Result<(), Error>;

    /// Goes on with the message: whole blocks in ECB and CBC. `output` is as long as `input`, which is not empty.
    ///
    /// # Errors
    /// The library's.
    fn run(&mut self, decrypts: bool, input: &[u8], output: &mut [u8]) -> Result<(), Error>;

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
        // CCM's nonce leaves few bytes for the length of a message (RFC 3610, 2.1).
        let is_ccm = spec.card.family.starts_with("aes-ccm");
        let length_B = 15_usize.saturating_sub(spec.iv_B());
        let most_B = if is_ccm && length_B < 8 { (1 << (8 * length_B)) - 1 } else { u64::MAX };
        let (block_B, iv_B, tag_B) = (spec.block_B(), spec.iv_B(), spec.tag_B());
        Self { mode: spec.card.mode, block_B, iv_B, tag_B, most_B, handle }
    }

    #[inline]
    fn fits(&self, iv: &[u8]) -> Result<(), Error> {
        let (given_B, right_B) = (iv.len(), self.iv_B);
        if given_B == right_B { Ok(()) } else { Err(Error::WrongIvLength { given_B, right_B }) }
    }

    #[inline]
    fn pads(&self) -> bool {
        matches!(self.mode, Mode::Ecb | Mode::Cbc)
    }

    #[inline]
    fn whole_blocks(&self, input: &[u8]) -> Result<(), Error> {
        let (given_B, block_B) = (input.len(), self.block_B);
        let is_whole = match block_B {
            8 => given_B.is_multiple_of(8),
            16 => given_B.is_multiple_of(16),
            _ => given_B.is_multiple_of(block_B),
        };
        if !self.pads() || is_whole { Ok(()) } else { Err(Error::NotWholeBlocks { given_B, block_B }) }
    }

    /// The text's length of a sealed message, and that it is not longer than the nonce allows.
    #[inline]
    fn not_too_long(&self, text_B: usize) -> Result<(), Error> {
        let (given_B, most_B) = (text_B as u64, self.most_B);
        if given_B <= most_B { Ok(()) } else { Err(Error::TooLong { given_B, most_B }) }
    }
}

#[inline]
fn room(output: &mut [u8], needed_B: usize) -> Result<&mut [u8], Error> {
    let given_B = output.len();
    output.get_mut(..needed_B).ok_or(Error::OutputTooSmall { given_B, needed_B })
}

impl<H: Handle> Moded<H> {
    /// Begins where there is an IV to begin at, and goes on where there is something to go on with.
    #[inline]
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
        self.fits(iv)?;
        self.whole_blocks(input)?;
        let output = room(output, input.len())?;
        self.pass(decrypts, iv, input, output)?;
        next_iv::go_on(self.mode, decrypts, iv, input, output);
        Ok(())
    }
}

impl<H: Handle> Moded<H> {
    /// A message in ECB or CBC; PKCS#7: each byte of the padding is their number, which is at most a block's.
    #[inline]
    fn padded<const BLOCK_B: usize>(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let (_, rest) = input.as_chunks::<BLOCK_B>();
        let (whole, _) = input.split_at(input.len() - rest.len());
        let (body, end) = room(output, whole.len() + BLOCK_B)?.split_at_mut(whole.len());
        // Padded first: a block that is read just after it was put together waits for its bytes to reach the cache.
        let mut last = [u8::try_from(BLOCK_B - rest.len()).unwrap_or(0); BLOCK_B];
        last[..rest.len()].copy_from_slice(rest);
        self.pass(false, iv, whole, body)?;
        self.handle.run(false, &last, end)?;
        Ok(whole.len() + BLOCK_B)
    }
}

impl<H: Handle> Cipher for Moded<H> {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.mode == Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        self.fits(iv)?;
        if !self.pads() {
            self.pass(false, iv, input, room(output, input.len())?)?;
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
        self.fits(iv)?;
        self.whole_blocks(input)?;
        let output = room(output, input.len())?;
        self.pass(true, iv, input, output)?;
        if self.pads() { unpadded(output, self.block_B) } else { Ok(input.len()) }
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
        self.fits(nonce)?;
        self.not_too_long(input.len())?;
        let (text, tag) = room(output, input.len() + self.tag_B)?.split_at_mut(input.len());
        self.handle.seal(nonce, aad, input, text, tag)?;
        Ok(input.len() + self.tag_B)
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.mode != Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        self.fits(nonce)?;
        let text_B = input.len().checked_sub(self.tag_B).ok_or(Error::Forged)?;
        self.not_too_long(text_B)?;
        let (text, tag) = input.split_at(text_B);
        let output = room(output, text_B)?;
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
