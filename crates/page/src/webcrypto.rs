//! The browser's own AES, by its Web Cryptography API, as a provider beside what is built in.
//!
//! Its calls answer later; the module is suspended meanwhile (WebAssembly's JavaScript Promise Integration), so that
//! proof, packets and loops are the same as for any other code. A call goes through the browser's queues, as it does for
//! any page, and what it costs there is timed.
#![forbid(unsafe_code)]

use wattlock_bench::implementation::{Found, Offer};
use wattlock_ciphers::{Cipher, Direction, Error, Mode, Spec, Suite};

/// The provider's name.
pub const NAME: &str = "webcrypto";

/// The browser's functions.
pub trait Subtle {
    /// A key for a mode; `None` where the browser refuses it.
    fn key(&self, mode: Mode, key: &[u8]) -> Option<u32>;

    /// One message; gives the bytes written, `None` where the browser refuses it.
    fn run(&self, key: u32, decrypts: bool, iv: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Option<usize>;

    /// A key is used no more.
    fn forget(&self, key: u32);
}

/// Whether the API has a cipher: AES with the keys that every browser takes (Web Cryptography API, 27 to 30).
#[must_use]
pub fn has(spec: &Spec) -> bool {
    let is_mode = match spec.card.family {
        "aes" => matches!(spec.card.mode, Mode::Cbc | Mode::Ctr),
        family => family == "aes-gcm",
    };
    is_mode && matches!(spec.key_bits, 128 | 256)
}

/// A cipher of the browser's.
#[must_use]
pub fn offer(spec: &Spec, subtle: &'static dyn Subtle) -> Offer {
    let suite = WebCrypto { spec: *spec, subtle };
    let code = Box::new(Found::of_path(suite, None));
    Offer { provider: NAME.to_owned(), version: "Web Cryptography API".to_owned(), about: None, code }
}

/// A cipher that takes keys.
#[derive(Clone)]
struct WebCrypto {
    spec: Spec,
    subtle: &'static dyn Subtle,
}

impl Suite for WebCrypto {
    type Cipher = Keyed;

    fn key_setup(&self, key: &[u8], _direction: Direction) -> Result<Keyed, Error> {
        if key.len() != self.spec.key_B() {
            return Err(Error::WrongKeyLength { given_bits: key.len() * 8, right_bits: self.spec.key_bits });
        }
        let key = self.subtle.key(self.spec.card.mode, key).ok_or(Error::Library { function: "importKey" })?;
        Ok(Keyed { spec: self.spec, subtle: self.subtle, key })
    }
}

/// A cipher with its key.
struct Keyed {
    spec: Spec,
    subtle: &'static dyn Subtle,
    key: u32,
}

impl Drop for Keyed {
    fn drop(&mut self) {
        self.subtle.forget(self.key);
    }
}

impl Keyed {
    /// One message into the first `needed_B` bytes of `output`.
    fn message(
        &self,
        decrypts: bool,
        given: (&[u8], &[u8]),
        input: &[u8],
        output: &mut [u8],
        needed_B: usize,
    ) -> Result<usize, Error> {
        let (iv, aad) = given;
        if iv.len() != self.spec.iv_B() {
            return Err(Error::WrongIvLength { given_B: iv.len(), right_B: self.spec.iv_B() });
        }
        let given_B = output.len();
        let output = output.get_mut(..needed_B).ok_or(Error::OutputTooSmall { given_B, needed_B })?;
        let refused = match self.spec.card.mode {
            Mode::Aead if decrypts => Error::Forged,
            Mode::Cbc if decrypts => Error::BadPadding,
            _ => Error::Library { function: "encrypt" },
        };
        self.subtle.run(self.key, decrypts, iv, aad, input, output).ok_or(refused)
    }

    /// Bytes of a message's ciphertext.
    fn padded_B(&self, message_B: usize) -> usize {
        let block_B = self.spec.block_B();
        if self.spec.card.mode == Mode::Cbc { (message_B / block_B + 1) * block_B } else { message_B }
    }
}

impl Cipher for Keyed {
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.spec.card.mode == Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        self.message(false, (iv, &[]), input, output, self.padded_B(input.len()))
    }

    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let (mode, block_B) = (self.spec.card.mode, self.spec.block_B());
        if mode == Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        if mode == Mode::Cbc && !input.len().is_multiple_of(block_B) {
            return Err(Error::NotWholeBlocks { given_B: input.len(), block_B });
        }
        self.message(true, (iv, &[]), input, output, input.len())
    }

    /// In CBC alone: the whole message but for its block of padding.
    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let block_B = self.spec.block_B();
        if self.spec.card.mode != Mode::Cbc {
            return Err(Error::NoSuchOperation);
        }
        if !input.len().is_multiple_of(block_B) {
            return Err(Error::NotWholeBlocks { given_B: input.len(), block_B });
        }
        let mut padded = vec![0; self.padded_B(input.len())];
        let (given_B, needed_B) = (output.len(), input.len());
        let output = output.get_mut(..needed_B).ok_or(Error::OutputTooSmall { given_B, needed_B })?;
        self.message(false, (iv, &[]), input, &mut padded, needed_B + block_B)?;
        output.copy_from_slice(&padded[..needed_B]);
        if let Some(last) = output.last_chunk::<16>() {
            iv.copy_from_slice(last);
        }
        Ok(())
    }

    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.spec.card.mode != Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        self.message(false, (nonce, aad), input, output, input.len() + self.spec.tag_B())
    }

    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.spec.card.mode != Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        let message_B = input.len().checked_sub(self.spec.tag_B()).ok_or(Error::Forged)?;
        self.message(true, (nonce, aad), input, output, message_B)
    }
}
