//! The handshake pattern NNpsk0 of the Noise protocol framework, revision 34, with X25519, ChaCha20-Poly1305 and SHA-256.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce, Tag};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::Error;

/// Octets of a hash, a key, a public key and of the secret that a pair shares.
pub const KEY_B: usize = 32;
/// Octets of a tag.
pub const TAG_B: usize = 16;

const NAME: &[u8] = b"Noise_NNpsk0_25519_ChaChaPoly_SHA256";

/// The state of either side: 5.2 and 5.3 of the framework.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Noise {
    chaining_key: [u8; KEY_B],
    hash: [u8; KEY_B],
    key: [u8; KEY_B],
    /// Messages under this key.
    messages: u64,
}

impl Noise {
    /// The state before the first message, whose token `psk` stands before all others.
    pub fn new(prologue: &[&[u8]], secret: &[u8; KEY_B]) -> Self {
        let hash: [u8; KEY_B] = Sha256::digest(NAME).into();
        let mut noise = Self { chaining_key: hash, hash, key: [0; KEY_B], messages: 0 };
        noise.mix_hash(prologue);
        let [mut chaining_key, mut mixed, mut key] = derive(&noise.chaining_key, secret);
        noise.mix_hash(&[&mixed]);
        (noise.chaining_key, noise.key) = (chaining_key, key);
        chaining_key.zeroize();
        mixed.zeroize();
        key.zeroize();
        noise
    }

    /// The token `e`: a public key that is sent in the clear.
    pub fn mix_ephemeral(&mut self, public: &[u8; KEY_B]) {
        self.mix_hash(&[public]);
        self.mix_key(public);
    }

    /// The token `ee`.
    pub fn mix_exchange(&mut self, ephemeral: &[u8; KEY_B], public: &[u8; KEY_B]) -> Result<(), Error> {
        let shared = StaticSecret::from(*ephemeral).diffie_hellman(&PublicKey::from(*public));
        if !shared.was_contributory() {
            return Err(Error::Tag);
        }
        self.mix_key(shared.as_bytes());
        Ok(())
    }

    /// Encrypts a payload in place and returns its tag.
    pub fn seal(&mut self, payload: &mut [u8]) -> Result<[u8; TAG_B], Error> {
        let tag = self
            .cipher()
            .encrypt_inout_detached(&self.nonce(), &self.hash, payload.into())
            .map_err(|_| Error::Length)?;
        self.messages += 1;
        self.mix_hash(&[payload, &tag]);
        Ok(tag.into())
    }

    /// Decrypts a payload in place.
    pub fn open(&mut self, payload: &mut [u8], tag: &[u8; TAG_B]) -> Result<(), Error> {
        let mut hash = Sha256::new_with_prefix(self.hash);
        hash.update(&*payload);
        hash.update(tag);
        let tag = Tag::from(*tag);
        self.cipher()
            .decrypt_inout_detached(&self.nonce(), &self.hash, payload.into(), &tag)
            .map_err(|_| Error::Tag)?;
        self.messages += 1;
        self.hash = hash.finalize().into();
        Ok(())
    }

    /// The keys of both directions, at the end.
    pub fn split(&self) -> [[u8; KEY_B]; 2] {
        let [up, down, mut unused] = derive(&self.chaining_key, &[]);
        unused.zeroize();
        [up, down]
    }

    /// The hash of all that was said.
    #[cfg(test)]
    pub fn hash(&self) -> [u8; KEY_B] {
        self.hash
    }

    fn mix_hash(&mut self, parts: &[&[u8]]) {
        let mut hash = Sha256::new_with_prefix(self.hash);
        parts.iter().for_each(|part| hash.update(part));
        self.hash = hash.finalize().into();
    }

    fn mix_key(&mut self, input: &[u8]) {
        let [mut chaining_key, mut key, mut unused] = derive(&self.chaining_key, input);
        (self.chaining_key, self.key, self.messages) = (chaining_key, key, 0);
        chaining_key.zeroize();
        key.zeroize();
        unused.zeroize();
    }

    fn cipher(&self) -> ChaCha20Poly1305 {
        ChaCha20Poly1305::new(&self.key.into())
    }

    fn nonce(&self) -> Nonce {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&self.messages.to_le_bytes());
        nonce.into()
    }
}

/// The public key of an ephemeral one.
pub fn public(ephemeral: &[u8; KEY_B]) -> [u8; KEY_B] {
    PublicKey::from(&StaticSecret::from(*ephemeral)).to_bytes()
}

/// HKDF of the framework, 4.3, with three outputs; whoever needs two takes the first two.
fn derive(chaining_key: &[u8; KEY_B], input: &[u8]) -> [[u8; KEY_B]; 3] {
    let mut extracted = mac(chaining_key, &[input]);
    let first = mac(&extracted, &[&[1]]);
    let second = mac(&extracted, &[&first, &[2]]);
    let third = mac(&extracted, &[&second, &[3]]);
    extracted.zeroize();
    [first, second, third]
}

fn mac(key: &[u8; KEY_B], parts: &[&[u8]]) -> [u8; KEY_B] {
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&(hmac_block(key)).into());
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// A key of 32 octets as HMAC pads it to SHA-256's block.
fn hmac_block(key: &[u8; KEY_B]) -> [u8; 64] {
    let mut block = [0; 64];
    block[..KEY_B].copy_from_slice(key);
    block
}
