//! libcrypto's authenticated ciphers.

use std::ffi::c_int;
use std::ptr;

use wattlock_ciphers::Error;

use super::{Evp, Raw, SAME_DIRECTION, failed, has_room, length};

/// `EVP_CTRL_AEAD_SET_IVLEN` of `openssl/evp.h`.
const SET_NONCE_LENGTH: c_int = 0x9;
/// `EVP_CTRL_AEAD_GET_TAG`.
const GET_TAG: c_int = 0x10;
/// `EVP_CTRL_AEAD_SET_TAG`: the tag to verify; without one its length.
const SET_TAG: c_int = 0x11;

/// How an authenticated cipher of the library is used.
#[derive(Clone, Copy)]
pub struct Aead {
    /// The cipher.
    pub evp: &'static Evp,
    /// Bytes of the nonce.
    pub nonce_B: usize,
    /// Bytes of the tag.
    pub tag_B: usize,
    /// The mode wants to know how long the message is before it begins (CCM); it verifies while it decrypts.
    pub is_ccm: bool,
    /// The length of the tag is told before the key (CCM, OCB).
    pub sets_tag_length: bool,
}

impl Aead {
    /// A context with this key, for one direction.
    ///
    /// # Errors
    /// [`Error::WrongKeyLength`], [`Error::Library`].
    #[inline]
    pub fn context(self, key: &[u8], decrypts: bool) -> Result<AeadContext, Error> {
        let Evp { library, object, iv_B, key_B, .. } = self.evp;
        if key.len() != *key_B {
            return Err(failed("EVP_CIPHER_get_key_length"));
        }
        let mut raw = Raw::new(&library.functions)?;
        let (direction, cipher) = (c_int::from(!decrypts), object.as_ptr().cast_const());
        let mut cipher_to_set = cipher;
        if self.nonce_B != *iv_B || self.sets_tag_length {
            // SAFETY: the cipher is live.
            unsafe { raw.init(cipher, ptr::null(), ptr::null(), direction) }?;
            cipher_to_set = ptr::null();
            if self.nonce_B != *iv_B {
                // SAFETY: this control takes no pointer.
                unsafe { raw.control(SET_NONCE_LENGTH, number(self.nonce_B)?, ptr::null_mut()) }?;
            }
            if self.sets_tag_length {
                // SAFETY: without a pointer this control takes the length only.
                unsafe { raw.control(SET_TAG, number(self.tag_B)?, ptr::null_mut()) }?;
            }
        }
        // SAFETY: the cipher is null or live; the key is as long as the library's cipher says.
        unsafe { raw.init(cipher_to_set, key.as_ptr(), ptr::null(), direction) }?;
        Ok(AeadContext { aead: self, raw })
    }

    /// The longest message under one nonce (RFC 3610, 2.1: a length of 15 bytes less the nonce).
    fn most_B(&self) -> u64 {
        let length_B = 15_usize.saturating_sub(self.nonce_B);
        if self.is_ccm && length_B < 8 { (1 << (8 * length_B)) - 1 } else { u64::MAX }
    }
}

/// An authenticated cipher with its key and a direction.
pub struct AeadContext {
    aead: Aead,
    raw: Raw,
}

impl AeadContext {
    /// Begins a message with its nonce.
    #[inline]
    fn start(&mut self, nonce: &[u8], message: &[u8]) -> Result<(), Error> {
        let (given_B, right_B) = (nonce.len(), self.aead.nonce_B);
        if given_B != right_B {
            return Err(Error::WrongIvLength { given_B, right_B });
        }
        let (given_B, most_B) = (message.len() as u64, self.aead.most_B());
        if given_B > most_B {
            return Err(Error::TooLong { given_B, most_B });
        }
        // SAFETY: the nonce is as long as the context takes it to be: by its default, or because it was told so.
        unsafe { self.raw.init(ptr::null(), ptr::null(), nonce.as_ptr(), SAME_DIRECTION) }
    }

    /// What comes after the nonce and, when a message is opened, the tag.
    #[inline]
    fn associate(&mut self, aad: &[u8], message: &[u8]) -> Result<(), Error> {
        if self.aead.is_ccm {
            let mut ignored = 0;
            let update = self.raw.functions.EVP_CipherUpdate;
            let pointer = self.raw.pointer.as_ptr();
            // SAFETY: without input and output a length is told (EVP_EncryptInit(3), "CCM Mode").
            let done = unsafe { update(pointer, ptr::null_mut(), &raw mut ignored, ptr::null(), length(message)?) };
            super::check(done, "EVP_CipherUpdate")?;
        }
        if !aad.is_empty() {
            // SAFETY: without an output the input is associated data.
            unsafe { self.raw.update(aad, ptr::null_mut()) }?;
        }
        Ok(())
    }

    /// One whole message: the ciphertext, then the tag; gives the bytes written.
    ///
    /// # Errors
    /// As of [`wattlock_ciphers::Cipher::seal`].
    #[inline]
    pub fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let tag_B = self.aead.tag_B;
        has_room(output, input.len() + tag_B)?;
        self.start(nonce, input)?;
        self.associate(aad, input)?;
        // SAFETY: all of the ciphertext is as long as the message, and the output has room for it and for the tag.
        let written_B = unsafe { self.raw.update(input, output.as_mut_ptr()) }?;
        let rest = output.get_mut(written_B..).ok_or(failed("EVP_CipherUpdate"))?;
        // SAFETY: as above.
        let written_B = written_B + unsafe { self.raw.finish(rest.as_mut_ptr()) }?;
        let tag = output.get_mut(written_B..written_B + tag_B).ok_or(failed("EVP_CipherFinal_ex"))?;
        // SAFETY: the tag has room for as many bytes as are asked for.
        unsafe { self.raw.control(GET_TAG, number(tag_B)?, tag.as_mut_ptr()) }?;
        Ok(written_B + tag_B)
    }

    /// Verifies and decrypts what [`AeadContext::seal`] made; gives the bytes of the message.
    ///
    /// # Errors
    /// As of [`wattlock_ciphers::Cipher::open`].
    #[inline]
    pub fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let tag_B = self.aead.tag_B;
        let message_B = input.len().checked_sub(tag_B).ok_or(Error::Forged)?;
        let (sealed, tag) = input.split_at(message_B);
        has_room(output, message_B)?;
        self.start(nonce, sealed)?;
        // SAFETY: the library copies the tag, which is as long as said; it writes nothing to it.
        unsafe { self.raw.control(SET_TAG, number(tag_B)?, tag.as_ptr().cast_mut()) }?;
        self.associate(aad, sealed)?;
        self.verify(sealed, output).inspect_err(|_| output[..message_B].fill(0))
    }

    #[inline]
    fn verify(&mut self, sealed: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        // SAFETY: all of the message is as long as its ciphertext, and the output has room for it.
        let written_B = match unsafe { self.raw.update(sealed, output.as_mut_ptr()) } {
            Err(_) if self.aead.is_ccm => return Err(Error::Forged),
            written => written?,
        };
        let rest = output.get_mut(written_B..).ok_or(failed("EVP_CipherUpdate"))?;
        // SAFETY: as above.
        let rest_B = unsafe { self.raw.finish(rest.as_mut_ptr()) }.map_err(|_| Error::Forged)?;
        Ok(written_B + rest_B)
    }
}

#[inline]
fn number(size_B: usize) -> Result<c_int, Error> {
    c_int::try_from(size_B).map_err(|_| failed("int for a length"))
}
