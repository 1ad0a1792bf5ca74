//! AWS-LC through the crate `aws-lc-rs`, built in behind the feature of that name.
//!
//! Its block modes work in place: a message is copied to the output and encrypted there, which is counted, because a
//! program that keeps its plaintext pays for it too.
#![forbid(unsafe_code)]

use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{self, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Cipher, Direction, Error, Mode, Spec, Suite};

use crate::adapter::mode_adapter::unpadded;
use crate::adapter::{lengths, next_iv};
use crate::library::Library;

/// AWS-LC.
struct AwsLc;

/// The provider of this file.
pub fn libraries() -> Vec<Box<dyn Library>> {
    vec![Box::new(AwsLc)]
}

impl Library for AwsLc {
    fn name(&self) -> &str {
        "aws-lc-rs"
    }

    fn open(&self) -> Result<About, String> {
        Ok(About::of(aws_lc_rs::awslc_version().to_owned()))
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let (family, key_bits) = (spec.card.family, spec.key_bits);
        if let Some(algorithm) = aead_of(family, key_bits) {
            return Ok(Box::new(Found::of_path(AeadSuite { spec: *spec, algorithm }, None)));
        }
        let algorithm = match key_bits {
            _ if family != "aes" => return Err("aws-lc-rs has no cipher of this family".to_owned()),
            128 => &cipher::AES_128,
            192 => &cipher::AES_192,
            _ => &cipher::AES_256,
        };
        Ok(Box::new(Found::of_path(AesSuite { spec: *spec, algorithm }, None)))
    }
}

fn aead_of(family: &str, key_bits: u16) -> Option<&'static aead::Algorithm> {
    Some(match (family, key_bits) {
        ("aes-gcm", 128) => &aead::AES_128_GCM,
        ("aes-gcm", 192) => &aead::AES_192_GCM,
        ("aes-gcm", 256) => &aead::AES_256_GCM,
        ("aes-gcm-siv", 128) => &aead::AES_128_GCM_SIV,
        ("aes-gcm-siv", 256) => &aead::AES_256_GCM_SIV,
        ("chacha20-poly1305", _) => &aead::CHACHA20_POLY1305,
        _ => return None,
    })
}

/// An authenticated cipher, ready to take keys.
#[derive(Clone)]
struct AeadSuite {
    spec: Spec,
    algorithm: &'static aead::Algorithm,
}

impl Suite for AeadSuite {
    type Cipher = KeyedAead;

    #[inline]
    fn key_setup(&self, key: &[u8], _direction: Direction) -> Result<KeyedAead, Error> {
        lengths::key(&self.spec, key)?;
        let key = UnboundKey::new(self.algorithm, key).map_err(|_| failed("UnboundKey::new"))?;
        Ok(KeyedAead { tag_B: self.spec.tag_B(), key: LessSafeKey::new(key) })
    }
}

struct KeyedAead {
    tag_B: usize,
    key: LessSafeKey,
}

impl Cipher for KeyedAead {
    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let nonce = right_nonce(nonce)?;
        let needed_B = input.len() + self.tag_B;
        let (sealed, tag) = lengths::room(output, needed_B)?.split_at_mut(input.len());
        let done = self.key.seal_out_of_place_scatter(nonce, Aad::from(aad), input, sealed, &[], tag);
        done.map(|()| needed_B).map_err(|_| failed("seal_out_of_place_scatter"))
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let nonce = right_nonce(nonce)?;
        let message_B = input.len().checked_sub(self.tag_B).ok_or(Error::Forged)?;
        let (sealed, tag) = input.split_at(message_B);
        let output = lengths::room(output, message_B)?;
        match self.key.open_separate_gather(nonce, Aad::from(aad), sealed, tag, output) {
            Ok(()) => Ok(message_B),
            Err(_) => {
                output.fill(0);
                Err(Error::Forged)
            }
        }
    }
}

/// AES in a mode, ready to take keys.
#[derive(Clone)]
struct AesSuite {
    spec: Spec,
    algorithm: &'static cipher::Algorithm,
}

impl AesSuite {
    #[inline]
    fn encrypting(&self, key: &[u8]) -> Result<EncryptingKey, Error> {
        let key = UnboundCipherKey::new(self.algorithm, key).map_err(|_| failed("UnboundCipherKey::new"))?;
        let keyed = match self.spec.card.mode {
            Mode::Ecb => EncryptingKey::ecb(key),
            Mode::Cbc => EncryptingKey::cbc(key),
            Mode::Ctr => EncryptingKey::ctr(key),
            Mode::Cfb => EncryptingKey::cfb128(key),
            _ => EncryptingKey::ofb(key),
        };
        keyed.map_err(|_| failed("EncryptingKey"))
    }

    #[inline]
    fn decrypting(&self, key: &[u8]) -> Result<DecryptingKey, Error> {
        let key = UnboundCipherKey::new(self.algorithm, key).map_err(|_| failed("UnboundCipherKey::new"))?;
        let keyed = match self.spec.card.mode {
            Mode::Ecb => DecryptingKey::ecb(key),
            Mode::Cbc => DecryptingKey::cbc(key),
            Mode::Ctr => DecryptingKey::ctr(key),
            Mode::Cfb => DecryptingKey::cfb128(key),
            _ => DecryptingKey::ofb(key),
        };
        keyed.map_err(|_| failed("DecryptingKey"))
    }
}

impl Suite for AesSuite {
    type Cipher = Keyed;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Keyed, Error> {
        lengths::key(&self.spec, key)?;
        let mut kept = [0; AES_KEY_B];
        kept[..key.len()].copy_from_slice(key);
        let (encrypts, decrypts) = match direction {
            Direction::Encrypt => (Some(self.encrypting(key)?), None),
            Direction::Decrypt => (None, Some(self.decrypting(key)?)),
        };
        Ok(Keyed { suite: self.clone(), key: kept, encrypts, decrypts })
    }
}

/// Bytes of AES's longest key.
const AES_KEY_B: usize = 32;

/// AES with its key; what the other direction needs is made when it is first used.
struct Keyed {
    suite: AesSuite,
    key: [u8; AES_KEY_B],
    encrypts: Option<EncryptingKey>,
    decrypts: Option<DecryptingKey>,
}

impl Keyed {
    fn pads(&self) -> bool {
        matches!(self.suite.spec.card.mode, Mode::Ecb | Mode::Cbc)
    }

    /// Encrypts or decrypts in place; whole blocks in ECB and CBC.
    #[inline]
    fn in_place(&mut self, decrypts: bool, iv: &[u8], text: &mut [u8]) -> Result<(), Error> {
        let (given_B, right_B) = (iv.len(), self.suite.spec.iv_B());
        let wrong = Error::WrongIvLength { given_B, right_B };
        let key_B = self.suite.spec.key_B();
        let iv = match right_B {
            _ if given_B != right_B => return Err(wrong),
            0 => None,
            _ => Some(FixedLength::<16>::from(<&[u8; 16]>::try_from(iv).map_err(|_| wrong)?)),
        };
        if decrypts {
            let context = iv.map_or(DecryptionContext::None, DecryptionContext::Iv128);
            let key = match &mut self.decrypts {
                Some(key) => key,
                none => none.insert(self.suite.decrypting(&self.key[..key_B])?),
            };
            key.decrypt(text, context).map(|_| ()).map_err(|_| failed("DecryptingKey::decrypt"))
        } else {
            let context = iv.map_or(EncryptionContext::None, EncryptionContext::Iv128);
            let key = match &mut self.encrypts {
                Some(key) => key,
                none => none.insert(self.suite.encrypting(&self.key[..key_B])?),
            };
            key.less_safe_encrypt(text, context).map(|_| ()).map_err(|_| failed("EncryptingKey::less_safe_encrypt"))
        }
    }

    #[inline]
    fn part(&mut self, decrypts: bool, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        lengths::whole_blocks(self.suite.spec.card.mode, self.suite.spec.block_B(), input)?;
        let output = lengths::room(output, input.len())?;
        output.copy_from_slice(input);
        self.in_place(decrypts, iv, output)?;
        next_iv::go_on(self.suite.spec.card.mode, decrypts, iv, input, output);
        Ok(())
    }
}

impl Cipher for Keyed {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let block_B = self.suite.spec.block_B();
        let padding_B = if self.pads() { block_B - input.len() % block_B } else { 0 };
        let output = lengths::room(output, input.len() + padding_B)?;
        let (text, padding) = output.split_at_mut(input.len());
        text.copy_from_slice(input);
        // PKCS#7: each byte of the padding is their number, which is at most a block's.
        padding.fill(u8::try_from(padding_B).unwrap_or(0));
        self.in_place(false, iv, output).map(|()| output.len())
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        lengths::whole_blocks(self.suite.spec.card.mode, self.suite.spec.block_B(), input)?;
        let output = lengths::room(output, input.len())?;
        output.copy_from_slice(input);
        self.in_place(true, iv, output)?;
        if self.pads() { unpadded(output, self.suite.spec.block_B()) } else { Ok(input.len()) }
    }

    #[inline]
    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.part(false, iv, input, output)
    }

    #[inline]
    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.part(true, iv, input, output)
    }
}

fn failed(function: &'static str) -> Error {
    Error::Library { function }
}

#[inline]
fn right_nonce(nonce: &[u8]) -> Result<Nonce, Error> {
    let wrong = Error::WrongIvLength { given_B: nonce.len(), right_B: aead::NONCE_LEN };
    Nonce::try_assume_unique_for_key(nonce).map_err(|_| wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::agreement;

    #[test]
    fn every_cipher_that_aws_lc_has_passes_the_proof_of_its_card() {
        let ids =
            ["aes128-ecb", "aes192-cbc", "aes256-ctr", "aes128-cfb", "aes256-ofb", "aes128-gcm", "aes256-gcm-siv"];
        agreement::proves_all(&AwsLc, &ids);
    }

    #[test]
    fn aws_lc_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
        agreement::agrees_with_what_is_built_in(&AwsLc);
    }
}
