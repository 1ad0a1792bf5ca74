//! RC4 with an ICV, as WEP and TKIP use it (12.3.2, 12.5.2).

use rc4::{KeyInit, Rc4, StreamCipher};

use crate::Error;
#[cfg(any(feature = "tkip", feature = "wep"))]
use {crate::Malformed, subtle::ConstantTimeEq};

#[cfg(any(feature = "tkip", feature = "wep"))]
const ICV_B: usize = 4;

/// RC4 under a seed; a seed of no length, which there is not, would be refused.
pub(crate) fn rc4(seed: &[u8]) -> Result<Rc4, Error> {
    Rc4::new_from_slice(seed).map_err(|_| Error::WrongKeyLength { given_B: seed.len(), right_B: 16 })
}

/// Puts the ICV behind what stands before the last four bytes of `text`, and encrypts all of it.
#[cfg(any(feature = "tkip", feature = "wep"))]
pub(crate) fn seal(seed: &[u8], text: &mut [u8]) -> Result<(), Error> {
    let (body, icv) = text.split_last_chunk_mut::<ICV_B>().ok_or(Malformed::Protection)?;
    *icv = crc32fast::hash(body).to_le_bytes();
    rc4(seed)?.apply_keystream(text);
    Ok(())
}

/// Decrypts `text` and compares its last four bytes with the ICV of the rest.
#[cfg(any(feature = "tkip", feature = "wep"))]
pub(crate) fn open(seed: &[u8], text: &mut [u8]) -> Result<(), Error> {
    rc4(seed)?.apply_keystream(text);
    let (body, icv) = text.split_last_chunk::<ICV_B>().ok_or(Malformed::Protection)?;
    if bool::from(crc32fast::hash(body).to_le_bytes().ct_eq(icv)) { Ok(()) } else { Err(Error::Icv) }
}
