//! The loops that the clock times, compiled for each cipher: between two calls of a batch there is no pointer to follow
//! but those of the cipher itself.

use alloc::vec::Vec;
use core::hint::black_box;

use data_encoding::{BASE64, HEXLOWER};
use wattlock_ciphers::{Cipher, Direction, Error, Suite};
use wattlock_records::{Encoding, Keying, Operation, Pattern, PlannedCase};

use crate::keys::Keys;
use crate::packets::{Packets, Placed};

/// What all packets of a case share, and where their bytes lie.
pub(super) struct Factors {
    pub(super) plan: PlannedCase,
    pub(super) keys: Keys,
    pub(super) iv: Vec<u8>,
    pub(super) aad: Vec<u8>,
    /// The IV of the next packet: `iv`, or what the packet before left where packets are chained.
    pub(super) chain: Vec<u8>,
    /// How the first packet begins; in ECB the packets after it begin with the block before.
    pub(super) lead: Vec<u8>,
    pub(super) input: Packets,
    /// Room for the cipher's output, padding or tag included.
    pub(super) output: Placed,
    /// Room for the encoder's output, or for the decoder's.
    pub(super) text: Vec<u8>,
}

impl Factors {
    /// Whether the packet loop is the bare one: nothing but the cipher between two calls.
    pub(super) fn is_bare(&self) -> bool {
        self.plan.keying == Keying::Ready
            && self.plan.encoding == Encoding::Raw
            && self.plan.pattern == Pattern::Independent
            && self.input.is_single()
    }

    /// One packet under the key that is ready; gives the bytes that it ends as.
    #[inline]
    fn packet<C: Cipher>(&mut self, cipher: &mut C) -> Result<usize, Error> {
        let input = self.input.next_packet();
        let output = self.output.bytes_mut();
        if self.plan.operation.is_backward() {
            let sealed = match self.plan.encoding {
                Encoding::Raw => input,
                Encoding::Base64 => decode(&BASE64, input, &mut self.text),
                Encoding::Hex => decode(&HEXLOWER, input, &mut self.text),
            };
            return match self.plan.operation {
                Operation::Open => cipher.open(&self.chain, &self.aad, sealed, output),
                Operation::OpenForged => refused(cipher.open(&self.chain, &self.aad, sealed, output)),
                _ => cipher.decrypt(&self.chain, sealed, output),
            };
        }
        let written = match self.plan.operation {
            Operation::Seal => cipher.seal(&self.chain, &self.aad, input, output),
            _ => cipher.encrypt(&self.chain, input, output),
        }?;
        if self.plan.pattern == Pattern::Chained {
            let from = written.saturating_sub(self.lead.len().max(self.chain.len()));
            if self.chain.is_empty() {
                self.input.lead_with(&self.output.bytes()[from..written]);
            } else {
                self.chain.iter_mut().zip(&self.output.bytes()[from..written]).for_each(|(iv, byte)| *iv = *byte);
            }
        }
        Ok(match self.plan.encoding {
            Encoding::Raw => written,
            Encoding::Base64 => encode(&BASE64, &self.output.bytes()[..written], &mut self.text),
            Encoding::Hex => encode(&HEXLOWER, &self.output.bytes()[..written], &mut self.text),
        })
    }
}

/// A cipher's loops without its type: one indirect call a batch.
pub(super) trait Loops {
    /// Makes the key ready.
    fn key(&mut self, key: &[u8]) -> Result<(), Error>;

    /// The cipher under the key that is ready.
    fn cipher(&mut self) -> &mut dyn Cipher;

    /// One packet with all its factors, under the key that is ready; gives the bytes that it ends as.
    fn packet(&mut self, factors: &mut Factors) -> Result<usize, Error>;

    /// Key schedules alone.
    fn key_setups(&mut self, factors: &mut Factors, calls: u32) -> Result<(), Error>;

    /// Packets with nothing between two calls of the cipher.
    fn bare(&mut self, factors: &mut Factors, calls: u32) -> Result<(), Error>;

    /// Packets with all their factors.
    fn packets(&mut self, factors: &mut Factors, calls: u32) -> Result<(), Error>;
}

/// A suite and the cipher that it made of a key.
pub(super) struct Driver<S: Suite> {
    suite: S,
    direction: Direction,
    cipher: S::Cipher,
}

impl<S: Suite> Driver<S> {
    pub(super) fn new(suite: S, key: &[u8], direction: Direction) -> Result<Self, Error> {
        let cipher = suite.key_setup(key, direction)?;
        Ok(Self { suite, direction, cipher })
    }
}

impl<S: Suite> Loops for Driver<S> {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.cipher = self.suite.key_setup(key, self.direction)?;
        Ok(())
    }

    fn cipher(&mut self) -> &mut dyn Cipher {
        &mut self.cipher
    }

    #[inline(never)]
    fn packet(&mut self, factors: &mut Factors) -> Result<usize, Error> {
        factors.packet(&mut self.cipher)
    }

    #[inline(never)]
    fn key_setups(&mut self, factors: &mut Factors, calls: u32) -> Result<(), Error> {
        for _ in 0..calls {
            let cipher = black_box(&self.suite).key_setup(black_box(factors.keys.next_key()), self.direction)?;
            black_box(&cipher);
        }
        Ok(())
    }

    fn bare(&mut self, factors: &mut Factors, calls: u32) -> Result<(), Error> {
        let operation = factors.plan.operation;
        let (iv, aad, input) = (&*factors.iv, &*factors.aad, factors.input.next_packet());
        let output = &mut factors.output;
        match operation {
            Operation::Seal => seals(&mut self.cipher, iv, aad, input, output, calls),
            Operation::Open => opens(&mut self.cipher, iv, aad, input, output, calls),
            Operation::OpenForged => opens_forged(&mut self.cipher, iv, aad, input, output, calls),
            Operation::Decrypt => decrypts(&mut self.cipher, iv, input, output, calls),
            _ => encrypts(&mut self.cipher, iv, input, output, calls),
        }
    }

    #[inline(never)]
    fn packets(&mut self, factors: &mut Factors, calls: u32) -> Result<(), Error> {
        for _ in 0..calls {
            if factors.plan.keying == Keying::Each {
                self.cipher = self.suite.key_setup(black_box(factors.keys.next_key()), self.direction)?;
            }
            black_box(self.packet(factors)?);
            black_box(&mut factors.output);
        }
        Ok(())
    }
}

/// Loops of calls with nothing between them but what keeps the compiler from seeing that they are all alike; each is a
/// function of its own for each cipher.
macro_rules! bare_loops {
    ($($name:ident of $cipher:ident: ($($given:ident),+) into $output:ident, $call:expr;)+) => {$(
        #[inline(never)]
        fn $name<C: Cipher>($cipher: &mut C, $($given: &[u8],)+ output: &mut Placed, calls: u32) -> Result<(), Error> {
            let given = ($($given),+);
            let $output = output.bytes_mut();
            for _ in 0..calls {
                let ($($given),+) = *black_box(&given);
                black_box($call?);
                black_box(&mut *$output);
            }
            Ok(())
        }
    )+};
}

bare_loops! {
    encrypts of cipher: (iv, input) into output, cipher.encrypt(iv, input, output);
    decrypts of cipher: (iv, input) into output, cipher.decrypt(iv, input, output);
    seals of cipher: (nonce, aad, input) into output, cipher.seal(nonce, aad, input, output);
    opens of cipher: (nonce, aad, input) into output, cipher.open(nonce, aad, input, output);
    opens_forged of cipher: (nonce, aad, input) into output, refused(cipher.open(nonce, aad, input, output));
}

/// A forged message must be refused as one: that is the call that was asked for.
#[inline]
pub(super) fn refused(opened: Result<usize, Error>) -> Result<usize, Error> {
    match opened {
        Err(Error::Forged) => Ok(0),
        Err(error) => Err(error),
        Ok(_) => Err(Error::Library { function: "open, which took a wrong tag for a right one: it" }),
    }
}

#[inline]
pub(super) fn encode(encoding: &data_encoding::Encoding, from: &[u8], to: &mut [u8]) -> usize {
    let length = encoding.encode_len(from.len());
    encoding.encode_mut(from, &mut to[..length]);
    length
}

/// Decodes text of our own making; a wrong letter would show as a wrong output.
#[inline]
fn decode<'a>(encoding: &data_encoding::Encoding, from: &[u8], to: &'a mut [u8]) -> &'a [u8] {
    let room = encoding.decode_len(from.len()).unwrap_or(0);
    let length = encoding.decode_mut(from, &mut to[..room]).unwrap_or(0);
    &to[..length]
}
