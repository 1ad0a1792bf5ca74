//! From the id of a scheme to the type of its operation.

#[cfg(feature = "ed25519")]
use super::ed25519;
use super::exchange::{ExchangeVisitor, Operation};
#[cfg(feature = "ml-dsa")]
use super::ml_dsa;
#[cfg(feature = "ml-kem")]
use super::ml_kem;
#[cfg(feature = "p256")]
use super::nist_p256;
#[cfg(feature = "x25519")]
use super::x25519;

/// Leads to the type of an operation; `None` where the scheme is not built in or has no such operation.
pub fn visit<V: ExchangeVisitor>(scheme: &str, operation: Operation, visitor: V) -> Option<V::Output> {
    match (scheme, operation) {
        #[cfg(feature = "x25519")]
        ("x25519", Operation::Generate) => Some(visitor.visit::<x25519::Generate>()),
        #[cfg(feature = "x25519")]
        ("x25519", Operation::Agree) => Some(visitor.visit::<x25519::Agree>()),
        #[cfg(feature = "ed25519")]
        ("ed25519", Operation::Generate) => Some(visitor.visit::<ed25519::Generate>()),
        #[cfg(feature = "ed25519")]
        ("ed25519", Operation::Sign) => Some(visitor.visit::<ed25519::Sign>()),
        #[cfg(feature = "ed25519")]
        ("ed25519", Operation::Verify) => Some(visitor.visit::<ed25519::Verify>()),
        #[cfg(feature = "p256")]
        ("ecdh-p256" | "ecdsa-p256", Operation::Generate) => Some(visitor.visit::<nist_p256::Generate>()),
        #[cfg(feature = "p256")]
        ("ecdh-p256", Operation::Agree) => Some(visitor.visit::<nist_p256::Agree>()),
        #[cfg(feature = "p256")]
        ("ecdsa-p256", Operation::Sign) => Some(visitor.visit::<nist_p256::Sign>()),
        #[cfg(feature = "p256")]
        ("ecdsa-p256", Operation::Verify) => Some(visitor.visit::<nist_p256::Verify>()),
        #[cfg(feature = "ml-kem")]
        ("ml-kem-768", Operation::Generate) => Some(visitor.visit::<ml_kem::Generate>()),
        #[cfg(feature = "ml-kem")]
        ("ml-kem-768", Operation::Encapsulate) => Some(visitor.visit::<ml_kem::Encapsulate>()),
        #[cfg(feature = "ml-kem")]
        ("ml-kem-768", Operation::Decapsulate) => Some(visitor.visit::<ml_kem::Decapsulate>()),
        #[cfg(feature = "ml-dsa")]
        ("ml-dsa-65", Operation::Generate) => Some(visitor.visit::<ml_dsa::Generate>()),
        #[cfg(feature = "ml-dsa")]
        ("ml-dsa-65", Operation::Sign) => Some(visitor.visit::<ml_dsa::Sign>()),
        #[cfg(feature = "ml-dsa")]
        ("ml-dsa-65", Operation::Verify) => Some(visitor.visit::<ml_dsa::Verify>()),
        _ => {
            // Without a scheme nobody else takes it.
            let _ = visitor;
            None
        }
    }
}

/// Version of the crate that a scheme is of; `None` where none is built in.
#[must_use]
pub fn version(scheme: &str) -> Option<&'static str> {
    match scheme {
        #[cfg(feature = "x25519")]
        "x25519" => Some("3.0.0"),
        #[cfg(feature = "ed25519")]
        "ed25519" => Some("3.0.0"),
        #[cfg(feature = "p256")]
        "ecdh-p256" | "ecdsa-p256" => Some("0.14.0"),
        #[cfg(feature = "ml-kem")]
        "ml-kem-768" => Some("0.3.4"),
        #[cfg(feature = "ml-dsa")]
        "ml-dsa-65" => Some("0.1.2"),
        _ => None,
    }
}
