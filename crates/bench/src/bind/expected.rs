//! What a case must give: as another implementation says, or by coming back.

use alloc::borrow::ToOwned as _;
use alloc::rc::Rc;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;

use wattlock_ciphers::proof::Message;
use wattlock_ciphers::{Error, MAX_PADDING_B, Mode, Spec};

use super::loops::Loops;

/// What another implementation makes of a message, written to the buffer, and how long that is; `None` where there is none.
pub type Oracle = Rc<dyn Fn(Message<'_>, &mut [u8]) -> Result<Option<usize>, Error>>;

/// What the message must become: as another implementation says, or else as this one does, which then has to bring it back.
pub(super) fn right(
    loops: &mut dyn Loops,
    spec: &Spec,
    message: Message<'_>,
    oracle: &Oracle,
) -> Result<Vec<u8>, String> {
    let mut sealed = vec![0; message.text.len() + MAX_PADDING_B];
    let written = match oracle(message, &mut sealed).map_err(text)? {
        Some(written) => written,
        None => there_and_back(loops, spec, message, &mut sealed)?,
    };
    sealed.truncate(written);
    Ok(sealed)
}

/// A message through its cipher and back; gives the bytes of the ciphertext.
///
/// # Errors
/// That it does not come back, or the cipher's own error.
pub(super) fn there_and_back(
    loops: &mut dyn Loops,
    spec: &Spec,
    message: Message<'_>,
    sealed: &mut [u8],
) -> Result<usize, String> {
    let Message { key, iv, aad, text: plain } = message;
    let is_aead = spec.card.mode == Mode::Aead;
    let mut opened = vec![0; plain.len() + 2 * MAX_PADDING_B];
    loops.key(key).map_err(text)?;
    let cipher = loops.cipher();
    let written = if is_aead { cipher.seal(iv, aad, plain, sealed) } else { cipher.encrypt(iv, plain, sealed) };
    let sealed = &sealed[..written.map_err(text)?];
    loops.key(key).map_err(text)?;
    let cipher = loops.cipher();
    let back =
        if is_aead { cipher.open(iv, aad, sealed, &mut opened) } else { cipher.decrypt(iv, sealed, &mut opened) };
    if opened[..back.map_err(text)?] == *plain {
        Ok(sealed.len())
    } else {
        Err("decryption does not give the plaintext back".to_owned())
    }
}

/// FNV-1a of 64 bits: outputs are compared with the right ones by it, and nobody chooses them.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// An error as the text that a failure holds.
pub(super) fn text(error: Error) -> String {
    error.to_string()
}
