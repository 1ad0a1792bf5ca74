//! Key establishment as operations of its own: what a session costs before its first packet, and what it puts on the wire.
//!
//! A scheme is data; a [`Step`] is one operation made ready, its keys drawn from the seed of the plan. Nothing here is
//! shorter than microseconds, so that a step is called through a pointer.
#![forbid(unsafe_code)]

mod built_in;
pub mod proof;

use wattlock_engine::{Cell, SplitMix64};

use crate::bind::Prepared;
use crate::providers::exchange;
use crate::records::Operation;

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

/// The scheme of this id.
pub fn scheme(id: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| scheme.id == id)
}

/// One operation made ready: calling it carries it out once.
pub type Step = Box<dyn FnMut() -> Result<(), String>>;

/// The provider of the crates that are built in.
pub const BUILT_IN: &str = "rustcrypto";
/// The library that has what is not built in.
pub const OPENSSL: &str = "openssl";

/// Version of a provider's code.
///
/// # Errors
/// Why it has no such scheme.
pub fn version(provider: &str, scheme: &Scheme) -> Result<String, String> {
    match provider {
        BUILT_IN => built_in::version(scheme).map(str::to_owned),
        OPENSSL => exchange::version(scheme),
        _ => Err(format!("{provider} has no {}", scheme.id)),
    }
}

/// Makes an operation ready, and carries it out once to see that it works.
///
/// # Errors
/// That the scheme has no such operation or the provider no such scheme; what failed.
pub fn prepare(provider: &str, scheme: &'static Scheme, operation: Operation, seed: u64) -> Result<Step, String> {
    if !scheme.operations.contains(&operation) {
        return Err(format!("{} has no operation {operation:?}: it has {:?}", scheme.id, scheme.operations));
    }
    version(provider, scheme)?;
    let mut random = SplitMix64::new(seed);
    let mut step = match provider {
        BUILT_IN => built_in::prepare(scheme, operation, &mut random),
        _ => exchange::prepare(scheme, operation),
    }?;
    step()?;
    Ok(step)
}

/// A step as a cell that the engine can time.
pub struct Timed {
    step: Step,
    broke: Option<String>,
}

impl Timed {
    /// A cell of this step.
    pub fn of(step: Step) -> Self {
        Self { step, broke: None }
    }
}

impl Cell for Timed {
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
    fn cut(&mut self, _segment_B: usize) -> bool {
        false
    }
    fn offset(&self, _segment: u32) -> u64 {
        0
    }
    fn check(&mut self) -> Result<(), String> {
        match self.broke.take() {
            Some(error) => Err(format!("it failed inside a timed loop: {error}")),
            None => (self.step)(),
        }
    }
}
