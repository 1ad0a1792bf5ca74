//! The schemes that crates hold, each operation from the bytes of its standard and back.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};

use ed25519_dalek::{Signer as _, Verifier as _};
use ml_dsa::{Keypair as _, MlDsa65};
use ml_kem::MlKem768;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use wattlock_records::Operation;

use super::{Exchange, Keyed, Octets, Scheme};

/// The crates that are built in.
pub struct BuiltIn;

impl Exchange for BuiltIn {
    fn name(&self) -> &'static str {
        "rustcrypto"
    }

    fn version(&self, scheme: &Scheme) -> Result<String, String> {
        let version = match scheme.id {
            "x25519" | "ed25519" => "3.0.0",
            "ecdh-p256" | "ecdsa-p256" => "0.14.0",
            "ml-kem-768" => "0.3.4",
            "ml-dsa-65" => "0.1.2",
            _ => return Err(format!("{}: the crate rsa has an open advisory (RUSTSEC-2023-0071)", scheme.id)),
        };
        Ok(version.to_owned())
    }

    fn load(&self, scheme: &'static Scheme, operation: Operation, octets: &Octets) -> Result<Keyed, String> {
        load(scheme, operation, octets)
    }
}

fn message_of(error: impl core::fmt::Display) -> String {
    error.to_string()
}

/// `bytes` as an array of the length that its reader wants.
fn exact<'b, A: TryFrom<&'b [u8]>>(bytes: &'b [u8], what: &str) -> Result<A, String> {
    A::try_from(bytes).map_err(|_| format!("{what} of {} octets has another length than it should", bytes.len()))
}

/// Reads the key of an operation; what comes back carries the operation out.
fn load(scheme: &Scheme, operation: Operation, octets: &Octets) -> Result<Keyed, String> {
    match scheme.id {
        "x25519" => x25519(operation, octets),
        "ecdh-p256" => ecdh(operation, octets),
        "ed25519" => ed25519(operation, octets),
        "ecdsa-p256" => ecdsa(operation, octets),
        "ml-kem-768" => ml_kem(operation, octets),
        _ => ml_dsa(operation, octets),
    }
}

fn x25519(operation: Operation, octets: &Octets) -> Result<Keyed, String> {
    use x25519_dalek::{PublicKey, StaticSecret};
    if operation == Operation::Generate {
        return Ok(Box::new(|octets| {
            let secret = StaticSecret::from(exact::<[u8; 32]>(&octets.drawn, "a secret")?);
            Ok(Octets::pair(PublicKey::from(&secret).as_bytes(), secret.as_bytes()))
        }));
    }
    let own = StaticSecret::from(exact::<[u8; 32]>(&octets.secret, "a secret")?);
    let peer = PublicKey::from(exact::<[u8; 32]>(&octets.public, "a public key")?);
    Ok(Box::new(move |_| {
        let shared = own.diffie_hellman(&peer);
        // RFC 7748, 6.1: all zero where the other's point is of small order.
        if shared.was_contributory() {
            Ok(Octets::shared(shared.as_bytes()))
        } else {
            Err("no secret came of it".into())
        }
    }))
}

fn scalar(bytes: &[u8]) -> Result<p256::SecretKey, String> {
    p256::SecretKey::from_slice(bytes).map_err(message_of)
}

fn p256_pair(octets: &Octets) -> Result<Octets, String> {
    let secret = scalar(&octets.drawn)?;
    Ok(Octets::pair(secret.public_key().to_sec1_point(false).as_bytes(), &secret.to_bytes()))
}

fn ecdh(operation: Operation, octets: &Octets) -> Result<Keyed, String> {
    if operation == Operation::Generate {
        return Ok(Box::new(p256_pair));
    }
    let own = scalar(&octets.secret)?;
    let peer = p256::PublicKey::from_sec1_bytes(&octets.public).map_err(message_of)?;
    Ok(Box::new(move |_| {
        let shared = p256::ecdh::diffie_hellman(own.to_nonzero_scalar(), peer.as_affine());
        Ok(Octets::shared(shared.raw_secret_bytes()))
    }))
}

fn ed25519(operation: Operation, octets: &Octets) -> Result<Keyed, String> {
    use ed25519_dalek::{Signature, SigningKey, VerifyingKey};
    Ok(match operation {
        Operation::Generate => Box::new(|octets| {
            let key = SigningKey::from_bytes(&exact(&octets.drawn, "a secret")?);
            Ok(Octets::pair(key.verifying_key().as_bytes(), key.as_bytes()))
        }),
        Operation::Sign => {
            let key = SigningKey::from_bytes(&exact(&octets.secret, "a secret")?);
            Box::new(move |octets| Ok(Octets::sent(&key.sign(&octets.message).to_bytes())))
        }
        _ => {
            let key = VerifyingKey::from_bytes(&exact(&octets.public, "a public key")?).map_err(message_of)?;
            Box::new(move |octets| {
                let signature = Signature::from_slice(&octets.sent).map_err(message_of)?;
                key.verify(&octets.message, &signature).map(|()| Octets::default()).map_err(message_of)
            })
        }
    })
}

fn ecdsa(operation: Operation, octets: &Octets) -> Result<Keyed, String> {
    use p256::ecdsa::{Signature, SigningKey, VerifyingKey, signature::Signer, signature::Verifier};
    Ok(match operation {
        Operation::Generate => Box::new(p256_pair),
        Operation::Sign => {
            let key = SigningKey::from_slice(&octets.secret).map_err(message_of)?;
            Box::new(move |octets| {
                let signature: Signature = key.try_sign(&octets.message).map_err(message_of)?;
                Ok(Octets::sent(&signature.to_bytes()))
            })
        }
        _ => {
            let key = VerifyingKey::from_sec1_bytes(&octets.public).map_err(message_of)?;
            Box::new(move |octets| {
                let signature = Signature::from_slice(&octets.sent).map_err(message_of)?;
                key.verify(&octets.message, &signature).map(|()| Octets::default()).map_err(message_of)
            })
        }
    })
}

#[allow(
    deprecated,
    reason = "FIPS 203 defines a decapsulation key of 2400 octets, which the crate would rather not read"
)]
fn ml_kem(operation: Operation, octets: &Octets) -> Result<Keyed, String> {
    use ml_kem::{DecapsulationKey, EncapsulationKey, ExpandedKeyEncoding as _, KeyExport as _, kem::Decapsulate as _};
    Ok(match operation {
        Operation::Generate => Box::new(|octets| {
            let key = DecapsulationKey::<MlKem768>::from_seed(exact(&octets.drawn, "a seed")?);
            Ok(Octets::pair(&key.encapsulation_key().to_bytes(), &key.to_expanded_bytes()))
        }),
        Operation::Encapsulate => {
            let key = EncapsulationKey::<MlKem768>::new(&exact(&octets.public, "a public key")?);
            let key = key.map_err(|_| "a public key with a coefficient that is not below the modulus")?;
            Box::new(move |octets| {
                let (sealed, shared) = key.encapsulate_deterministic(&exact(&octets.drawn, "a seed")?);
                Ok(Octets { sent: sealed.to_vec(), shared: shared.to_vec(), ..Octets::default() })
            })
        }
        _ => {
            let key = DecapsulationKey::<MlKem768>::from_expanded_bytes(&exact(&octets.secret, "a secret key")?);
            let key = key.map_err(|_| "a secret key whose public key has another hash")?;
            Box::new(move |octets| {
                Ok(Octets::shared(
                    &key.decapsulate(&exact::<ml_kem::Ciphertext<MlKem768>>(&octets.sent, "a ciphertext")?),
                ))
            })
        }
    })
}

#[allow(deprecated, reason = "FIPS 204 defines a signing key of 4032 octets, which the crate would rather not read")]
fn ml_dsa(operation: Operation, octets: &Octets) -> Result<Keyed, String> {
    use ml_dsa::signature::Verifier as _;
    use ml_dsa::{ExpandedSigningKey, Signature, SigningKey, VerifyingKey};
    Ok(match operation {
        Operation::Generate => Box::new(|octets| {
            let key = SigningKey::<MlDsa65>::from_seed(&exact(&octets.drawn, "a seed")?);
            Ok(Octets::pair(&key.verifying_key().encode(), &key.expanded_key().to_expanded()))
        }),
        Operation::Sign => {
            let key = ExpandedSigningKey::<MlDsa65>::from_expanded(&exact(&octets.secret, "a secret key")?);
            Box::new(move |octets| {
                let signature = key.sign_deterministic(&octets.message, &[]).map_err(message_of)?;
                Ok(Octets::sent(&signature.encode()))
            })
        }
        _ => {
            let key = VerifyingKey::<MlDsa65>::decode(&exact(&octets.public, "a public key")?);
            Box::new(move |octets| {
                let signature = Signature::<MlDsa65>::decode(&exact(&octets.sent, "a signature")?);
                let signature = signature.ok_or("a signature that can't be decoded")?;
                key.verify(&octets.message, &signature).map(|()| Octets::default()).map_err(message_of)
            })
        }
    })
}
