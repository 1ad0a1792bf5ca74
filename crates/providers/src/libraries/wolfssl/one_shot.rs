//! wolfSSL's ChaCha20-Poly1305, which takes the key in each call.

use wattlock_ciphers::{Direction, Error, Spec, Suite};

use super::functions::{Functions, failed};
use crate::adapter::lengths;
use crate::adapter::mode_adapter::{Handle, Moded};

/// Bytes of the key.
const KEY_B: usize = 32;

/// The cipher, ready to take keys.
#[derive(Clone)]
pub struct OneShot {
    pub spec: Spec,
    pub functions: &'static Functions,
}

impl Suite for OneShot {
    type Cipher = Moded<Keyed>;

    #[inline]
    fn key_setup(&self, key: &[u8], _direction: Direction) -> Result<Self::Cipher, Error> {
        lengths::key(&self.spec, key)?;
        let key = key.try_into().map_err(|_| Error::NoSuchOperation)?;
        Ok(Moded::new(&self.spec, Keyed { functions: self.functions, key }))
    }
}

/// The cipher with its key.
pub struct Keyed {
    functions: &'static Functions,
    key: [u8; KEY_B],
}

/// The library counts these bytes in 32 bits.
#[inline]
fn word(length_B: usize) -> Result<u32, Error> {
    let most_B = u64::from(u32::MAX);
    u32::try_from(length_B).map_err(|_| Error::TooLong { given_B: length_B as u64, most_B })
}

impl Handle for Keyed {
    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        let (aad_B, input_B) = (word(aad.len())?, word(input.len())?);
        let (key, nonce, aad, input) = (self.key.as_ptr(), nonce.as_ptr(), aad.as_ptr(), input.as_ptr());
        let (sealed, tag) = (output.as_mut_ptr(), tag.as_mut_ptr());
        // SAFETY: key and nonce have 32 and 12 bytes, output and tag have room for the message and for 16 bytes.
        let done = unsafe {
            (self.functions.wc_ChaCha20Poly1305_Encrypt)(key, nonce, aad, aad_B, input, input_B, sealed, tag)
        };
        if done == 0 { Ok(()) } else { Err(failed("wc_ChaCha20Poly1305_Encrypt")) }
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8], tag: &[u8]) -> Result<(), Error> {
        let (aad_B, input_B) = (word(aad.len())?, word(input.len())?);
        let (key, nonce, aad, into) = (self.key.as_ptr(), nonce.as_ptr(), aad.as_ptr(), output.as_mut_ptr());
        let (sealed, tag) = (input.as_ptr(), tag.as_ptr());
        // SAFETY: as above.
        let done =
            unsafe { (self.functions.wc_ChaCha20Poly1305_Decrypt)(key, nonce, aad, aad_B, sealed, input_B, tag, into) };
        if done == 0 { Ok(()) } else { Err(Error::Forged) }
    }
}
