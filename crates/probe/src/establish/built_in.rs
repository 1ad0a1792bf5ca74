//! The schemes that crates hold. Keys come from the plan's seed: they protect nothing.

use ed25519_dalek::{Signer as _, Verifier as _};
use ml_dsa::{KeyExport as _, Keypair as _, MlDsa65};
use ml_kem::MlKem768;
use ml_kem::kem::Decapsulate as _;
use std::hint::black_box;
use wattlock_engine::SplitMix64;

use super::{MESSAGE, Scheme, Step};
use crate::keys::bytes;
use crate::records::Operation;

/// The crate's version.
///
/// # Errors
/// That there is none, and why.
pub fn version(scheme: &Scheme) -> Result<&'static str, String> {
    Ok(match scheme.id {
        "x25519" | "ed25519" => "3.0.0",
        "ecdh-p256" | "ecdsa-p256" => "0.14.0",
        "ml-kem-768" => "0.3.4",
        "ml-dsa-65" => "0.1.2",
        _ => return Err(format!("{}: the crate rsa has an open advisory (RUSTSEC-2023-0071)", scheme.id)),
    })
}

fn seed<const N: usize>(random: &mut SplitMix64) -> [u8; N] {
    let mut seed = [0; N];
    seed.copy_from_slice(&bytes(random, N));
    seed
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A scalar of P-256: any 32 bytes below the order, which random ones are but for one in 2^32.
fn scalar(random: &mut SplitMix64) -> Result<p256::SecretKey, String> {
    (0..8).find_map(|_| p256::SecretKey::from_slice(&seed::<32>(random)).ok()).ok_or_else(|| "no scalar".to_owned())
}

/// Makes an operation ready.
///
/// # Errors
/// What failed.
pub fn prepare(scheme: &Scheme, operation: Operation, random: &mut SplitMix64) -> Result<Step, String> {
    match scheme.id {
        "x25519" => Ok(x25519(operation, random)),
        "ecdh-p256" => ecdh(operation, random),
        "ed25519" => Ok(ed25519(operation, random)),
        "ecdsa-p256" => ecdsa(operation, random),
        "ml-kem-768" => ml_kem(operation, random),
        _ => ml_dsa(operation, random),
    }
}

fn x25519(operation: Operation, random: &mut SplitMix64) -> Step {
    use x25519_dalek::{PublicKey, StaticSecret};
    let (own, peer) = (StaticSecret::from(seed(random)), PublicKey::from(&StaticSecret::from(seed(random))));
    let mut next = seed::<32>(random);
    match operation {
        Operation::Generate => Box::new(move || {
            next = PublicKey::from(&StaticSecret::from(black_box(next))).to_bytes();
            Ok(())
        }),
        _ => Box::new(move || {
            let shared = black_box(&own).diffie_hellman(black_box(&peer));
            if black_box(shared).was_contributory() { Ok(()) } else { Err("x25519: no secret came of it".to_owned()) }
        }),
    }
}

fn ecdh(operation: Operation, random: &mut SplitMix64) -> Result<Step, String> {
    let (own, peer, mut next) = (scalar(random)?, scalar(random)?.public_key(), scalar(random)?);
    Ok(match operation {
        Operation::Generate => Box::new(move || {
            let public = black_box(&next).public_key();
            let point = p256::elliptic_curve::sec1::ToSec1Point::to_sec1_point(&public, false);
            // The next secret is what this public key begins with; one in 2^32 is none, and the old one is kept.
            if let Some(Ok(other)) = point.x().map(|x| p256::SecretKey::from_slice(x)) {
                next = other;
            }
            Ok(())
        }),
        _ => Box::new(move || {
            let (own, peer) = (black_box(&own), black_box(&peer));
            black_box(p256::ecdh::diffie_hellman(own.to_nonzero_scalar(), peer.as_affine()));
            Ok(())
        }),
    })
}

fn ed25519(operation: Operation, random: &mut SplitMix64) -> Step {
    use ed25519_dalek::SigningKey;
    let key = SigningKey::from_bytes(&seed(random));
    let (public, signature) = (key.verifying_key(), key.sign(&MESSAGE));
    let mut next = seed::<32>(random);
    match operation {
        Operation::Generate => Box::new(move || {
            next = SigningKey::from_bytes(black_box(&next)).verifying_key().to_bytes();
            Ok(())
        }),
        Operation::Sign => Box::new(move || {
            black_box(key.sign(black_box(&MESSAGE)));
            Ok(())
        }),
        _ => Box::new(move || black_box(&public).verify(black_box(&MESSAGE), &signature).map_err(said)),
    }
}

fn ecdsa(operation: Operation, random: &mut SplitMix64) -> Result<Step, String> {
    use p256::ecdsa::{Signature, SigningKey, signature::Signer, signature::Verifier};
    if operation == Operation::Generate {
        return ecdh(operation, random);
    }
    let key = SigningKey::from(scalar(random)?);
    let signature: Signature = key.try_sign(&MESSAGE).map_err(said)?;
    let public = *key.verifying_key();
    Ok(match operation {
        Operation::Sign => Box::new(move || {
            let signature: Signature = key.try_sign(black_box(&MESSAGE)).map_err(said)?;
            black_box(signature);
            Ok(())
        }),
        _ => Box::new(move || black_box(&public).verify(black_box(&MESSAGE), &signature).map_err(said)),
    })
}

fn ml_kem(operation: Operation, random: &mut SplitMix64) -> Result<Step, String> {
    use ml_kem::DecapsulationKey;
    let key = DecapsulationKey::<MlKem768>::from_seed(seed::<64>(random).into());
    let public = key.encapsulation_key().clone();
    let (sealed, shared) = public.encapsulate_deterministic(&seed::<32>(random).into());
    if key.decapsulate(&sealed) != shared {
        return Err("ml-kem-768: the two sides don't share a key".to_owned());
    }
    let (mut next, mut coins) = (seed::<64>(random), seed::<32>(random));
    Ok(match operation {
        Operation::Generate => Box::new(move || {
            let key = DecapsulationKey::<MlKem768>::from_seed(black_box(next).into());
            next[..32].copy_from_slice(&ml_kem::KeyExport::to_bytes(key.encapsulation_key())[..32]);
            Ok(())
        }),
        Operation::Encapsulate => Box::new(move || {
            let (sealed, shared) = black_box(&public).encapsulate_deterministic(&black_box(coins).into());
            black_box(sealed);
            coins.copy_from_slice(&shared);
            Ok(())
        }),
        _ => Box::new(move || {
            let opened = black_box(&key).decapsulate(black_box(&sealed));
            if opened == shared { Ok(()) } else { Err("ml-kem-768: another key came of it".to_owned()) }
        }),
    })
}

fn ml_dsa(operation: Operation, random: &mut SplitMix64) -> Result<Step, String> {
    use ml_dsa::signature::Verifier as _;
    use ml_dsa::{ExpandedSigningKey, SigningKey};
    let key_seed = seed::<32>(random);
    let key = ExpandedSigningKey::<MlDsa65>::from_seed(&key_seed.into());
    let public = SigningKey::<MlDsa65>::from_seed(&key_seed.into()).verifying_key();
    let signature = key.sign_deterministic(&MESSAGE, &[]).map_err(said)?;
    let (mut next, mut count) = (key_seed, 0_u32);
    Ok(match operation {
        Operation::Generate => Box::new(move || {
            let key = SigningKey::<MlDsa65>::from_seed(&black_box(next).into());
            next.copy_from_slice(&key.verifying_key().to_bytes()[..32]);
            Ok(())
        }),
        // How often a signature is begun anew depends on the message: a run over many tells their mean.
        Operation::Sign => Box::new(move || {
            count = count.wrapping_add(1);
            black_box(key.sign_deterministic(&count.to_le_bytes(), &[]).map_err(said)?);
            Ok(())
        }),
        _ => Box::new(move || black_box(&public).verify(black_box(&MESSAGE), &signature).map_err(said)),
    })
}
