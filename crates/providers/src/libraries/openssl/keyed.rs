//! OpenSSL's ciphers as suites.
#![forbid(unsafe_code)]

use wattlock_ciphers::{Cipher, Direction, Error, Mode, Spec, Suite};

use crate::adapter::keeping::{AEAD_KEY_B, EachWay};
use crate::adapter::{lengths, next_iv};
use crate::libraries::libcrypto::{Aead, AeadContext, Context, Evp};

/// Effective key bits that RC2 has where none are set.
const RC2_DEFAULT_BITS: u16 = 128;
/// OpenSSL's IV of ChaCha20: a counter of 32 bits, little-endian, then the nonce of RFC 8439 (EVP_chacha20(3)).
pub(super) const CHACHA20_IV_B: usize = 16;
const CHACHA20_NONCE_B: usize = 12;

/// A cipher of the library, ready to take keys.
#[derive(Clone)]
pub struct EvpSuite {
    pub(super) spec: Spec,
    pub(super) evp: &'static Evp,
}

impl Suite for EvpSuite {
    type Cipher = Keyed;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Keyed, Error> {
        let Self { spec, evp } = *self;
        lengths::key(&spec, key)?;
        let decrypts = direction == Direction::Decrypt;
        let contexts = EachWay::new(key, decrypts, evp.context(key, effective(&spec), decrypts)?);
        let stream = match spec.card.family {
            "rc4" => Some(Stream::GoesOn),
            "chacha20" => Some(Stream::ChaCha20),
            _ => None,
        };
        Ok(Keyed { spec, evp, stream, contexts })
    }
}

/// Where a message of a stream begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    /// Where the last one ended (RC4).
    GoesOn,
    /// At its nonce, with the counter 0.
    ChaCha20,
}

/// An EVP cipher with its key.
pub struct Keyed {
    spec: Spec,
    evp: &'static Evp,
    stream: Option<Stream>,
    contexts: EachWay<Context>,
}

impl Keyed {
    /// The context for a direction; a key stream has one for both, CFB works in two directions.
    #[inline]
    fn context(&mut self, decrypts: bool) -> Result<&mut Context, Error> {
        if self.stream.is_some() || matches!(self.spec.card.mode, Mode::Ctr | Mode::Ofb) {
            return Ok(self.contexts.ready());
        }
        let Self { spec, evp, .. } = *self;
        self.contexts.get(decrypts, |key| evp.context(key, effective(&spec), decrypts))
    }

    #[inline(always)]
    fn message(&mut self, decrypts: bool, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        match self.stream {
            None => self.context(decrypts)?.message(iv, input, output),
            Some(Stream::GoesOn) => self.contexts.ready().go_on(iv, input, output).map(|()| input.len()),
            Some(Stream::ChaCha20) => {
                lengths::iv(iv, CHACHA20_NONCE_B)?;
                let mut from_zero = [0; CHACHA20_IV_B];
                from_zero[CHACHA20_IV_B - CHACHA20_NONCE_B..].copy_from_slice(iv);
                self.contexts.ready().message(&from_zero, input, output)
            }
        }
    }

    #[inline]
    fn part(&mut self, decrypts: bool, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        match self.stream {
            None => {
                self.context(decrypts)?.part(iv, input, output)?;
                next_iv::go_on(self.spec.card.mode, decrypts, iv, input, output);
                Ok(())
            }
            Some(Stream::GoesOn) => self.contexts.ready().go_on(iv, input, output),
            Some(Stream::ChaCha20) => Err(Error::NoSuchOperation),
        }
    }
}

impl Cipher for Keyed {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.message(false, iv, input, output)
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.message(true, iv, input, output)
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

/// An authenticated cipher of the library, ready to take keys.
#[derive(Clone)]
pub struct AeadSuite {
    pub(super) spec: Spec,
    pub(super) aead: Aead,
}

impl Suite for AeadSuite {
    type Cipher = KeyedAead;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<KeyedAead, Error> {
        lengths::key(&self.spec, key)?;
        let decrypts = direction == Direction::Decrypt;
        let contexts = EachWay::new(key, decrypts, self.aead.context(key, decrypts)?);
        Ok(KeyedAead { aead: self.aead, contexts })
    }
}

/// An authenticated cipher with its key.
pub struct KeyedAead {
    aead: Aead,
    contexts: EachWay<AeadContext, AEAD_KEY_B>,
}

impl KeyedAead {
    #[inline]
    fn context(&mut self, decrypts: bool) -> Result<&mut AeadContext, Error> {
        let aead = self.aead;
        self.contexts.get(decrypts, |key| aead.context(key, decrypts))
    }
}

impl Cipher for KeyedAead {
    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.context(false)?.seal(nonce, aad, input, output)
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.context(true)?.open(nonce, aad, input, output)
    }
}

/// RC2's effective bits where the library must be told.
#[inline]
fn effective(spec: &Spec) -> Option<u16> {
    (spec.card.family == "rc2" && spec.effective_bits != RC2_DEFAULT_BITS).then_some(spec.effective_bits)
}
