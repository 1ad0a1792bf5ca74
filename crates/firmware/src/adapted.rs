//! Code of others as a suite: an adapter's functions with the lengths that they trust checked before.
#![forbid(unsafe_code)]

use core::cell::Cell;

use wattlock_ciphers::{Cipher, Direction, Error, Mode, Spec, Suite};

use crate::board::adapter::{self, Context};

/// What the header's functions return.
const FORGED: i32 = -3;
const BAD_PADDING: i32 = -4;

/// The adapter that is linked in, for one cipher.
#[derive(Clone)]
pub struct Adapted {
    spec: Spec,
    contexts: [Context; 2],
    /// The context that the next key gets. Two keys at most are in use at a time: a case's, and one of its packet.
    next: Cell<usize>,
}

impl Adapted {
    /// The adapter's code of a cipher.
    pub fn of(spec: &Spec) -> Self {
        Self { spec: *spec, contexts: adapter::contexts(), next: Cell::new(0) }
    }
}

/// An adapter's cipher with its key.
pub struct AdaptedCipher {
    context: Context,
    iv_B: usize,
    /// What padding or a tag may add.
    added_B: usize,
}

impl Suite for Adapted {
    type Cipher = AdaptedCipher;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<AdaptedCipher, Error> {
        let spec = &self.spec;
        if key.len() != spec.key_B() {
            return Err(Error::WrongKeyLength { given_bits: key.len() * 8, right_bits: spec.key_bits });
        }
        let context = self.contexts[self.next.replace(1 - self.next.get()) & 1];
        let added_B = match spec.card.mode {
            Mode::Ecb | Mode::Cbc => spec.block_B(),
            _ => spec.tag_B(),
        };
        match adapter::key_setup(context, key, i32::from(direction == Direction::Decrypt)) {
            0 => Ok(AdaptedCipher { context, iv_B: spec.iv_B(), added_B }),
            _ => Err(Error::Library { function: "wattlock_key_setup" }),
        }
    }
}

impl AdaptedCipher {
    #[inline(always)]
    fn process(&self, is_backward: bool, message: adapter::Message<'_>, output: &mut [u8]) -> Result<usize, Error> {
        let (iv, input, _) = message;
        if iv.len() != self.iv_B {
            return Err(Error::WrongIvLength { given_B: iv.len(), right_B: self.iv_B });
        }
        let needed_B = input.len() + if is_backward { 0 } else { self.added_B };
        if output.len() < needed_B {
            return Err(Error::OutputTooSmall { given_B: output.len(), needed_B });
        }
        let written = adapter::process(self.context, is_backward, message, output);
        match (usize::try_from(written), written) {
            (Ok(written_B), _) if written_B <= needed_B => Ok(written_B),
            (_, FORGED) => Err(Error::Forged),
            (_, BAD_PADDING) => Err(Error::BadPadding),
            _ if is_backward => Err(Error::Library { function: "wattlock_decrypt" }),
            _ => Err(Error::Library { function: "wattlock_encrypt" }),
        }
    }
}

impl Cipher for AdaptedCipher {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.process(false, (iv, input, &[]), output)
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.process(true, (iv, input, &[]), output)
    }

    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.process(false, (nonce, input, aad), output)
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.process(true, (nonce, input, aad), output)
    }
}
