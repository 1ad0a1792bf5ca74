//! A whole file through a cipher and an encoding, and back.

use data_encoding::{BASE64, HEXLOWER};
use sha2::{Digest as _, Sha256};
use wattlock_bench::implementation::Offer as Code;
use wattlock_ciphers::{Cipher, Direction, MAX_PADDING_B, Mode, Spec};
use wattlock_records::Encoding;
use zeroize::Zeroizing;

use super::keys::Key;
use super::scale::{Scale, Span};
use super::{Reason, Refusal};
use crate::transfer::records::EnergyWindow;

/// The cipher of a session and whose code it is.
pub struct Sealer<'a> {
    /// The cipher.
    pub spec: &'a Spec,
    /// The code, proven.
    pub code: &'a Code,
    /// What is made of the ciphertext.
    pub encoding: Encoding,
}

/// What came out, and what it cost.
pub struct Processed {
    /// Forward the encoded ciphertext, backward the plaintext.
    pub output: Vec<u8>,
    /// Bytes of the ciphertext.
    pub sealed_B: u64,
    /// Of the cipher.
    pub cipher: Span,
    /// Of the encoder or decoder.
    pub encode: Span,
    /// Of both together; `None` without a meter.
    pub energy: Option<EnergyWindow>,
}

impl Sealer<'_> {
    /// Bytes of the ciphertext of `plain_B` bytes.
    pub fn sealed_B(&self, plain_B: u64) -> u64 {
        let block_B = self.spec.block_B() as u64;
        match self.spec.card.mode {
            Mode::Ecb | Mode::Cbc => (plain_B / block_B + 1) * block_B,
            Mode::Aead => plain_B + self.spec.tag_B() as u64,
            _ => plain_B,
        }
    }

    /// Bytes of `sealed_B` bytes after the encoding.
    pub fn encoded_B(&self, sealed_B: u64) -> u64 {
        match self.encoding {
            Encoding::Raw => sealed_B,
            Encoding::Base64 => sealed_B.div_ceil(3) * 4,
            Encoding::Hex => sealed_B * 2,
        }
    }

    /// Encrypts and encodes a file. The key is ready and the buffers are in memory before the clock starts.
    ///
    /// # Errors
    /// What the cipher refuses.
    pub fn seal(&self, data: &Key, file: u32, plain: &[u8], scale: &mut Scale) -> Result<Processed, Refusal> {
        let (mut cipher, iv) = self.keyed(data, file, Direction::Encrypt)?;
        let mut sealed = room(plain.len() + MAX_PADDING_B);
        let mut text = room(if self.encoding == Encoding::Raw { 0 } else { 2 * sealed.len() + 4 });
        let (done, energy) = scale.weigh(|clock| {
            let start = clock.start();
            let written = match self.spec.card.mode {
                Mode::Aead => cipher.seal(&iv, &[], plain, &mut sealed),
                _ => cipher.encrypt(&iv, plain, &mut sealed),
            }?;
            let (ciphered, start) = (clock.since(start), clock.start());
            let encoded = match self.encoding {
                Encoding::Raw => written,
                Encoding::Base64 => encode(&BASE64, &sealed[..written], &mut text),
                Encoding::Hex => encode(&HEXLOWER, &sealed[..written], &mut text),
            };
            Ok::<_, wattlock_ciphers::Error>((written, encoded, ciphered, clock.since(start)))
        });
        let (written, encoded, cipher, encode) =
            done.map_err(|error| Refusal::new(Reason::Cipher, format!("{}: {error}", self.spec)))?;
        let mut output = if self.encoding == Encoding::Raw { sealed } else { text };
        output.truncate(encoded);
        Ok(Processed { output, sealed_B: written as u64, cipher, encode, energy })
    }

    /// Decodes and decrypts a file.
    ///
    /// # Errors
    /// [`Reason::ChangedData`] in the same words for text that is not of the encoding, wrong padding and a wrong tag.
    pub fn open(&self, data: &Key, file: u32, encoded: &[u8], scale: &mut Scale) -> Result<Processed, Refusal> {
        let (mut cipher, iv) = self.keyed(data, file, Direction::Decrypt)?;
        let mut text = room(if self.encoding == Encoding::Raw { 0 } else { encoded.len() });
        let mut plain = room(encoded.len() + MAX_PADDING_B);
        let (done, energy) = scale.weigh(|clock| {
            let start = clock.start();
            let sealed = match self.encoding {
                Encoding::Raw => encoded,
                Encoding::Base64 => decode(&BASE64, encoded, &mut text)?,
                Encoding::Hex => decode(&HEXLOWER, encoded, &mut text)?,
            };
            let (decoded, start) = (clock.since(start), clock.start());
            let written = match self.spec.card.mode {
                Mode::Aead => cipher.open(&iv, &[], sealed, &mut plain),
                _ => cipher.decrypt(&iv, sealed, &mut plain),
            };
            Some((written.ok()?, sealed.len() as u64, clock.since(start), decoded))
        });
        let (written, sealed_B, cipher, encode) = done.ok_or_else(changed)?;
        plain.truncate(written);
        Ok(Processed { output: plain, sealed_B, cipher, encode, energy })
    }

    fn keyed(&self, data: &Key, file: u32, direction: Direction) -> Result<(Box<dyn Cipher>, Vec<u8>), Refusal> {
        let (mut key, mut iv) = (Zeroizing::new(vec![0; self.spec.key_B()]), vec![0; self.spec.iv_B()]);
        data.cipher(file, &mut key, &mut iv)?;
        let cipher = self.code.code.key_setup(&key, direction);
        Ok((cipher.map_err(|error| Refusal::new(Reason::Cipher, format!("{}: {error}", self.spec)))?, iv))
    }
}

/// The one refusal for all that can be wrong with received bytes.
pub fn changed() -> Refusal {
    Refusal::new(Reason::ChangedData, "the data arrived changed, or don't belong to that cipher and key")
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// A buffer whose pages are there: the first touch of a page is not the cipher's cost.
fn room(length: usize) -> Vec<u8> {
    vec![0x5a; length]
}

fn encode(encoding: &data_encoding::Encoding, from: &[u8], to: &mut [u8]) -> usize {
    let length = encoding.encode_len(from.len());
    encoding.encode_mut(from, &mut to[..length]);
    length
}

fn decode<'a>(encoding: &data_encoding::Encoding, from: &[u8], to: &'a mut [u8]) -> Option<&'a [u8]> {
    let room = encoding.decode_len(from.len()).ok()?;
    let length = encoding.decode_mut(from, to.get_mut(..room)?).ok()?;
    to.get(..length)
}
