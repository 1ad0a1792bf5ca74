//! What a timed loop calls: a cipher with its key, and what takes keys.
#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::{Error, Spec};

/// Which way a key setup prepares.
///
/// A cipher keyed for one way does the other too; it may make what it needs for that when it is first asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
}

/// A cipher with its key.
///
/// The slices may not overlap. `output` may be longer than the result; its rest is left as it was. Block ciphers in a
/// mode and streams have the first four operations, an AEAD the last two; what a cipher does not have is
/// [`Error::NoSuchOperation`].
#[allow(unused_variables, reason = "the names document what an implementation is given")]
pub trait Cipher: 'static {
    /// Encrypts one whole message; ECB and CBC pad it by PKCS#7, by 1 to a block's bytes.
    ///
    /// RC4 goes on where the last call ended; every other cipher starts at `iv` each time.
    /// * Returns the bytes written.
    ///
    /// # Errors
    /// [`Error::WrongIvLength`], [`Error::OutputTooSmall`].
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        Err(Error::NoSuchOperation)
    }

    /// Decrypts one whole message and takes the padding off; `output` needs room for the padded message.
    ///
    /// * Returns the bytes of the message. What lies behind them in `output` is the padding.
    ///
    /// # Errors
    /// [`Error::WrongIvLength`], [`Error::OutputTooSmall`], [`Error::NotWholeBlocks`], [`Error::BadPadding`].
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        Err(Error::NoSuchOperation)
    }

    /// Encrypts a part of a message that goes on: whole blocks, no padding; any length for a stream and for the last
    /// part of CTR, CFB and OFB. `iv` becomes the IV of the next part.
    ///
    /// # Errors
    /// [`Error::WrongIvLength`], [`Error::OutputTooSmall`], [`Error::NotWholeBlocks`]; [`Error::NoSuchOperation`] of a
    /// stream whose place no IV can say.
    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        Err(Error::NoSuchOperation)
    }

    /// Decrypts a part of a message that goes on; the padding of the last part is left in place.
    ///
    /// # Errors
    /// As of [`Cipher::encrypt_part`].
    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        Err(Error::NoSuchOperation)
    }

    /// Encrypts one message and authenticates it together with `aad`: the ciphertext, then the tag.
    ///
    /// * Returns the bytes written.
    ///
    /// # Errors
    /// [`Error::WrongIvLength`], [`Error::OutputTooSmall`], [`Error::TooLong`].
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        Err(Error::NoSuchOperation)
    }

    /// Verifies and decrypts what [`Cipher::seal`] made.
    ///
    /// * Returns the bytes of the message.
    ///
    /// # Errors
    /// [`Error::Forged`], and then no byte of plaintext is left in `output`; [`Error::WrongIvLength`],
    /// [`Error::OutputTooSmall`], [`Error::TooLong`].
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        Err(Error::NoSuchOperation)
    }
}

/// One implementation of one spec with its functions found, ready to take keys.
pub trait Suite: Clone + 'static {
    /// What a key makes of it.
    type Cipher: Cipher;

    /// Key setup alone: all that a program does with a new key.
    ///
    /// # Errors
    /// [`Error::WrongKeyLength`], or the library's own.
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Self::Cipher, Error>;
}

/// A cipher of this crate, which its spec and a key make.
pub(crate) trait BuiltIn: Cipher + Sized {
    /// The schedule of `key`.
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error>;
}

/// The suite of a [`BuiltIn`].
pub(crate) struct Keyed<C> {
    spec: Spec,
    cipher: PhantomData<fn() -> C>,
}

impl<C> Keyed<C> {
    #[inline]
    pub(crate) fn of(spec: &Spec) -> Self {
        Self { spec: *spec, cipher: PhantomData }
    }
}

impl<C> Clone for Keyed<C> {
    fn clone(&self) -> Self {
        Self::of(&self.spec)
    }
}

impl<C: BuiltIn> Suite for Keyed<C> {
    type Cipher = C;

    #[inline]
    fn key_setup(&self, key: &[u8], _direction: Direction) -> Result<C, Error> {
        C::key_setup(&self.spec, key)
    }
}
