//! Key establishment and signatures: each operation of a scheme from the bytes of its standard to the bytes of its standard.
//!
//! | file | holds |
//! |---|---|
//! | `exchange` | what an operation is: its input and output, its key, why it refuses |
//! | `x25519`, `ed25519`, `nist_p256`, `ml_kem`, `ml_dsa` | the schemes, an operation a type, by the crates of RustCrypto and dalek |
//! | `visit` | from the id of a scheme to the type of its operation |
//! | `answers` | published answers |
//!
//! Points of P-256 are uncompressed (SEC 1, 2.3.3), its secrets and the two numbers of a signature 32 octets each. What
//! stands for chance is the caller's.
#![forbid(unsafe_code)]

mod answers;
#[cfg(feature = "ed25519")]
mod ed25519;
mod exchange;
#[cfg(feature = "ml-dsa")]
mod ml_dsa;
#[cfg(feature = "ml-kem")]
mod ml_kem;
#[cfg(feature = "p256")]
mod nist_p256;
mod visit;
#[cfg(feature = "x25519")]
mod x25519;

pub use self::answers::{Answer, answers};
pub use self::exchange::{Exchange, ExchangeVisitor, Given, Made, Operation, Refused};
pub use self::visit::{version, visit};
