//! Key establishment as operations of its own: what a session costs before its first packet, and what it puts on the wire.
//!
//! A scheme is data; an operation goes from the bytes of its standard to the bytes of its standard ([`Octets`]); a [`Step`]
//! is one made ready, its keys drawn from the seed of the plan. Nothing here is shorter than microseconds, so that a step
//! is called through a pointer.

mod answers;
mod built_in;
pub mod proof;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::hint::black_box;

use wattlock_engine::{Case, SplitMix64};
use wattlock_records::{Keying, Operation};

use crate::implementation::About;
use crate::keys::bytes;
use crate::prepared::Prepared;

pub use self::built_in::BuiltIn;

/// How keys are agreed on, moved or proven.
#[derive(Debug)]
pub struct Scheme {
    /// Its id: `x25519`.
    pub id: &'static str,
    /// What can be done.
    pub operations: &'static [Operation],
    /// Bits of the public key, as its field or modulus has them.
    pub key_bits: u16,
    /// Bytes of the public key on the wire.
    pub public_key_B: u16,
    /// Bytes of what is sent beside it: the other public key, the ciphertext or the signature.
    pub message_B: u16,
    /// Where it is defined, the bytes too.
    pub source: &'static str,
}

impl Scheme {
    /// Octets that stand for chance in an operation.
    fn drawn_B(&self, operation: Operation) -> usize {
        match (self.id, operation) {
            ("ml-kem-768", Operation::Generate) => 64,
            (_, Operation::Generate | Operation::Encapsulate) => 32,
            _ => 0,
        }
    }
}

const AGREES: &[Operation] = &[Operation::Generate, Operation::Agree];
const SIGNS: &[Operation] = &[Operation::Generate, Operation::Sign, Operation::Verify];
const MOVES: &[Operation] = &[Operation::Generate, Operation::Encapsulate, Operation::Decapsulate];
const ENCRYPTS: &[Operation] = &[Operation::Generate, Operation::Encrypt, Operation::Decrypt];

/// All schemes. A message of RSA-OAEP is a key of 32 bytes; SHA-256 is its hash and that of ECDSA.
pub static SCHEMES: &[Scheme] = &[
    Scheme {
        id: "rsa2048-oaep",
        operations: ENCRYPTS,
        key_bits: 2048,
        public_key_B: 256,
        message_B: 256,
        source: "RFC 8017, 7.1; the modulus and the ciphertext, the exponent 65537 is known",
    },
    Scheme {
        id: "rsa3072-oaep",
        operations: ENCRYPTS,
        key_bits: 3072,
        public_key_B: 384,
        message_B: 384,
        source: "RFC 8017, 7.1; the modulus and the ciphertext, the exponent 65537 is known",
    },
    Scheme {
        id: "x25519",
        operations: AGREES,
        key_bits: 255,
        public_key_B: 32,
        message_B: 32,
        source: "RFC 7748, 5 and 6.1; two public keys",
    },
    Scheme {
        id: "ecdh-p256",
        operations: AGREES,
        key_bits: 256,
        public_key_B: 65,
        message_B: 65,
        source: "NIST SP 800-56A Rev. 3; uncompressed points, SEC 1, 2.3.3",
    },
    Scheme {
        id: "ed25519",
        operations: SIGNS,
        key_bits: 255,
        public_key_B: 32,
        message_B: 64,
        source: "RFC 8032, 5.1",
    },
    Scheme {
        id: "ecdsa-p256",
        operations: SIGNS,
        key_bits: 256,
        public_key_B: 65,
        message_B: 64,
        source: "NIST FIPS 186-5; an uncompressed point, the signature as two numbers (IEEE P1363)",
    },
    Scheme {
        id: "ml-kem-768",
        operations: MOVES,
        key_bits: 9472,
        public_key_B: 1184,
        message_B: 1088,
        source: "NIST FIPS 203, table 3",
    },
    Scheme {
        id: "ml-dsa-65",
        operations: SIGNS,
        key_bits: 15616,
        public_key_B: 1952,
        message_B: 3309,
        source: "NIST FIPS 204, table 2",
    },
];

/// The message of a signature and of an encryption: 32 bytes, as a key or a hash is.
pub const MESSAGE: [u8; 32] = *b"a session begins with this: 32 B";

/// The provider of this name that has the scheme.
///
/// # Errors
/// Why it has not.
pub fn named(all: &[Provider], name: &str, scheme: &Scheme) -> Result<Provider, String> {
    let provider = all.iter().find(|provider| provider.name() == name);
    let provider = *provider.ok_or_else(|| format!("{name} has no {}", scheme.id))?;
    provider.version(scheme).map(|_| provider)
}

/// The scheme of this id.
#[must_use]
pub fn scheme(id: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| scheme.id == id)
}

/// What goes into an operation and what comes out of it, each as the bytes that the standard defines; what an operation
/// does not have is empty.
///
/// Points of P-256 are uncompressed (SEC 1, 2.3.3), its secrets and the two numbers of a signature 32 octets each; keys
/// of RSA are DER (RFC 5280 for public, RFC 5958 or RFC 8017, A.1.2 for secret ones).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Octets {
    /// One's own secret key.
    pub secret: Vec<u8>,
    /// A public key.
    pub public: Vec<u8>,
    /// What a key pair or a sealed secret is made of, in place of chance.
    pub drawn: Vec<u8>,
    /// What is signed or encrypted.
    pub message: Vec<u8>,
    /// What goes over the wire: a ciphertext or a signature.
    pub sent: Vec<u8>,
    /// The secret that both sides then have.
    pub shared: Vec<u8>,
}

/// An operation whose key was read: it takes what is no key, and gives what comes out.
pub type Keyed = Box<dyn FnMut(&Octets) -> Result<Octets, String>>;

/// One operation made ready: calling it carries it out once.
pub type Step = Box<dyn FnMut() -> Result<(), String>>;

/// Whose code carries out the operations of schemes: the crates that are built in, or a library.
pub trait Exchange {
    /// The provider's name: `rustcrypto`.
    fn name(&self) -> &'static str;

    /// Version of its code for a scheme.
    ///
    /// # Errors
    /// Why it has no such scheme.
    fn version(&self, scheme: &Scheme) -> Result<String, String>;

    /// Reads the key of an operation from its bytes.
    ///
    /// # Errors
    /// What is wrong with the key.
    fn load(&self, scheme: &'static Scheme, operation: Operation, octets: &Octets) -> Result<Keyed, String>;

    /// The library and its file; `None` of what is built in.
    fn about(&self) -> Option<About> {
        None
    }

    /// Whether it draws what an operation needs of chance itself: then no published answer can be its own.
    fn draws(&self, _scheme: &Scheme, _operation: Operation) -> bool {
        false
    }
}

impl fmt::Display for dyn Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A provider of schemes: there is one of each.
pub type Provider = &'static dyn Exchange;

/// One operation from bytes to bytes, as its standard defines it.
///
/// # Errors
/// What was refused, or failed.
pub fn carry_out(
    provider: Provider,
    scheme: &'static Scheme,
    operation: Operation,
    octets: &Octets,
) -> Result<Octets, String> {
    provider.load(scheme, operation, octets)?(octets)
}

/// A key pair from drawn bytes; it protects nothing.
///
/// # Errors
/// What failed.
pub fn pair(provider: Provider, scheme: &'static Scheme, random: &mut SplitMix64) -> Result<Octets, String> {
    let drawn = bytes(random, scheme.drawn_B(Operation::Generate));
    carry_out(provider, scheme, Operation::Generate, &Octets { drawn, ..Octets::default() })
}

/// What an operation needs beside `own` keys, drawn, and what the other side would have sent.
///
/// # Errors
/// What failed.
pub fn given(
    provider: Provider,
    scheme: &'static Scheme,
    operation: Operation,
    own: &Octets,
    random: &mut SplitMix64,
) -> Result<Octets, String> {
    let before = match operation {
        Operation::Verify => Some(Operation::Sign),
        Operation::Decrypt => Some(Operation::Encrypt),
        Operation::Decapsulate => Some(Operation::Encapsulate),
        _ => None,
    };
    let drawn = bytes(random, scheme.drawn_B(before.unwrap_or(operation)));
    let mut octets = Octets { message: MESSAGE.to_vec(), drawn, ..own.clone() };
    if operation == Operation::Agree {
        octets.public = pair(provider, scheme, random)?.public;
    }
    if let Some(before) = before {
        octets.sent = carry_out(provider, scheme, before, &octets)?.sent;
    }
    Ok(octets)
}

/// Makes an operation ready, and carries it out once to see that it works.
///
/// * `keying`: [`Keying::Each`] reads the keys from their bytes in each call, as the standard's operation does;
///   [`Keying::Ready`] has read them before.
///
/// # Errors
/// That the scheme has no such operation or the provider no such scheme; what failed.
pub fn prepare(
    provider: Provider,
    scheme: &'static Scheme,
    operation: Operation,
    keying: Keying,
    seed: u64,
) -> Result<Step, String> {
    if !scheme.operations.contains(&operation) {
        return Err(format!("{} has no operation {operation:?}: it has {:?}", scheme.id, scheme.operations));
    }
    provider.version(scheme)?;
    let mut random = SplitMix64::new(seed);
    let own = pair(provider, scheme, &mut random)?;
    let mut octets = given(provider, scheme, operation, &own, &mut random)?;
    let mut keyed = provider.load(scheme, operation, &octets)?;
    let mut count = 0_u32;
    let mut step: Step = Box::new(move || {
        // Each key pair is another, and each message signed: how often ML-DSA begins anew depends on it.
        count = count.wrapping_add(1);
        let varied = match operation {
            Operation::Generate => octets.drawn.last_chunk_mut(),
            Operation::Sign => octets.message.last_chunk_mut(),
            _ => None,
        };
        if let Some(last) = varied {
            *last = count.to_le_bytes();
        }
        let made = match keying {
            Keying::Ready => keyed(black_box(&octets)),
            Keying::Each => carry_out(provider, scheme, operation, black_box(&octets)),
        };
        made.map(|made| drop(black_box(made)))
    });
    step()?;
    Ok(step)
}

/// A step as a case that the engine can time.
pub struct Timed {
    step: Step,
    broke: Option<String>,
}

impl Timed {
    /// A case of this step.
    #[must_use]
    pub fn of(step: Step) -> Self {
        Self { step, broke: None }
    }
}

impl Case for Timed {
    fn run(&mut self, _segment: u32, calls: u32) {
        for _ in 0..calls {
            if let Err(error) = (self.step)() {
                self.broke.get_or_insert(error);
                return;
            }
        }
    }
}

impl Prepared for Timed {
    fn check(&mut self) -> Result<(), String> {
        match self.broke.take() {
            Some(error) => Err(format!("it failed inside a timed loop: {error}")),
            None => (self.step)(),
        }
    }
}
