//! Whether a scheme does what it should: published answers, the two sides of each exchange, each provider against the
//! other.

use ed25519_dalek::Signer as _;
use wattlock_engine::SplitMix64;

use super::{BUILT_IN, MESSAGE, OPENSSL, Scheme, prepare};
use crate::keys::bytes;
use crate::providers::exchange;

/// Proves a provider's scheme; gives by what: `published`, `agreement` with the other provider, or `round trip`.
///
/// # Errors
/// What is wrong.
pub fn prove(provider: &str, scheme: &'static Scheme) -> Result<&'static str, String> {
    // Each operation carried out once; a pair of them undoes itself inside (decrypt, decapsulate, verify).
    for operation in scheme.operations.iter().skip(1) {
        drop(prepare(provider, scheme, *operation, 7)?);
    }
    match (scheme.id, provider) {
        ("x25519", _) => x25519(scheme, provider).map(|()| "published"),
        ("ed25519", _) => ed25519(scheme, provider).map(|()| "published"),
        ("ecdsa-p256", BUILT_IN) => ecdsa_published().and_then(|()| agreed(scheme)),
        ("ecdsa-p256", _) => agreed(scheme),
        ("ecdh-p256", BUILT_IN) => ecdh_published().map(|()| "published"),
        ("ml-dsa-65", BUILT_IN) => ml_dsa_refuses().map(|()| "round trip"),
        _ => Ok("round trip"),
    }
}

/// What [`prove`] does, in words.
pub fn how(provider: &str, scheme: &Scheme) -> &'static str {
    match (scheme.id, provider) {
        ("x25519", _) => "RFC 7748, 6.1; both providers on drawn keys",
        ("ed25519", BUILT_IN) => "RFC 8032, 7.1, test 2; another message is refused",
        ("ed25519", _) => "RFC 8032, 7.1, test 2",
        ("ecdsa-p256", BUILT_IN) => "RFC 6979, A.2.5; verifies what OpenSSL signs, and no other message",
        ("ecdsa-p256", _) => "the built-in code verifies what it signs, and no other message",
        ("ecdh-p256", BUILT_IN) => "NIST CAVP, KAS ECC CDH primitive, P-256, count 0",
        ("ml-dsa-65", BUILT_IN) => "round trip: verifies what it signs, and no other message; no published answer",
        _ => "round trip: one side undoes what the other does; no published answer",
    }
}

fn hex<const N: usize>(digits: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let decoded = data_encoding::HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).unwrap_or_default();
    if decoded.len() == N {
        bytes.copy_from_slice(&decoded);
    }
    bytes
}

fn same(one: &[u8], other: &[u8], what: &str) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what} is another than it should be")) }
}

/// RFC 7748, 6.1, and one drawn secret against the other provider.
fn x25519(scheme: &'static Scheme, provider: &str) -> Result<(), String> {
    let bob = hex::<32>("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    let bob_public = hex::<32>("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    let alice_public = hex::<32>("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    let right = hex::<32>("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    let shared = x25519_dalek::StaticSecret::from(bob).diffie_hellman(&alice_public.into());
    same(shared.as_bytes(), &right, "the secret of RFC 7748, 6.1")?;
    let (public, _) =
        if provider == OPENSSL { exchange::answer(scheme, &bob, &bob, &[])? } else { x25519_built_in(bob, bob) };
    same(&public, &bob_public, "the public key of RFC 7748, 6.1")?;
    let mut random = SplitMix64::new(11);
    let (mut own, mut peer) = ([0; 32], [0; 32]);
    own.copy_from_slice(&bytes(&mut random, 32));
    peer.copy_from_slice(&bytes(&mut random, 32));
    let here = x25519_built_in(own, peer);
    match exchange::answer(scheme, &own, &peer, &[]) {
        Ok(there) => {
            same(&here.0, &there.0, "a drawn public key").and_then(|()| same(&here.1, &there.1, "a drawn secret"))
        }
        // Without the other provider there is nothing to agree with.
        Err(error) if provider == OPENSSL => Err(error),
        Err(_) => Ok(()),
    }
}

fn x25519_built_in(own: [u8; 32], peer: [u8; 32]) -> (Vec<u8>, Vec<u8>) {
    use x25519_dalek::{PublicKey, StaticSecret};
    let own = StaticSecret::from(own);
    let shared = own.diffie_hellman(&PublicKey::from(&StaticSecret::from(peer)));
    (PublicKey::from(&own).to_bytes().to_vec(), shared.to_bytes().to_vec())
}

/// RFC 8032, 7.1, test 2.
fn ed25519(scheme: &'static Scheme, provider: &str) -> Result<(), String> {
    let secret = hex::<32>("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    let right_public = hex::<32>("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    let right = hex::<64>(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    );
    let (public, signature) = if provider == OPENSSL {
        exchange::answer(scheme, &secret, &[], &[0x72])?
    } else {
        let key = ed25519_dalek::SigningKey::from_bytes(&secret);
        (key.verifying_key().to_bytes().to_vec(), key.sign(&[0x72]).to_bytes().to_vec())
    };
    same(&public, &right_public, "the public key of RFC 8032, 7.1")?;
    same(&signature, &right, "the signature of RFC 8032, 7.1")?;
    if provider == OPENSSL {
        return Ok(());
    }
    let public = ed25519_dalek::VerifyingKey::from_bytes(&right_public).map_err(|error| error.to_string())?;
    refused(public.verify_strict(&[0x73], &ed25519_dalek::Signature::from_bytes(&right)).is_err())
}

fn ml_dsa_refuses() -> Result<(), String> {
    use ml_dsa::signature::Verifier as _;
    use ml_dsa::{ExpandedSigningKey, Keypair as _, MlDsa65, SigningKey};
    let seed = [7; 32];
    let key = ExpandedSigningKey::<MlDsa65>::from_seed(&seed.into());
    let signature = key.sign_deterministic(&MESSAGE, &[]).map_err(|error| error.to_string())?;
    let public = SigningKey::<MlDsa65>::from_seed(&seed.into()).verifying_key();
    public.verify(&MESSAGE, &signature).map_err(|error| error.to_string())?;
    refused(public.verify(b"another message", &signature).is_err())
}

fn refused(is_refused: bool) -> Result<(), String> {
    if is_refused { Ok(()) } else { Err("a forged message was taken for a signed one".to_owned()) }
}

/// RFC 6979, A.2.5: P-256 with SHA-256, message "sample".
fn ecdsa_published() -> Result<(), String> {
    use p256::ecdsa::{Signature, SigningKey, signature::Signer};
    let secret = hex::<32>("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
    let right = hex::<64>(
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
    );
    let key = SigningKey::from_slice(&secret).map_err(|error| error.to_string())?;
    let signature: Signature = key.try_sign(b"sample").map_err(|error| error.to_string())?;
    same(&signature.to_bytes(), &right, "the signature of RFC 6979, A.2.5")
}

/// NIST CAVP, KAS ECC CDH primitive, P-256, count 0.
fn ecdh_published() -> Result<(), String> {
    let secret = hex::<32>("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534");
    let mut point = [4; 65];
    point[1..33].copy_from_slice(&hex::<32>("700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287"));
    point[33..].copy_from_slice(&hex::<32>("db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac"));
    let right = hex::<32>("46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b");
    let own = p256::SecretKey::from_slice(&secret).map_err(|error| error.to_string())?;
    let peer = p256::PublicKey::from_sec1_bytes(&point).map_err(|error| error.to_string())?;
    let shared = p256::ecdh::diffie_hellman(own.to_nonzero_scalar(), peer.as_affine());
    same(shared.raw_secret_bytes(), &right, "the secret of NIST's CAVP")
}

/// What OpenSSL signs the crate verifies; OpenSSL itself has refused another message under it.
fn agreed(scheme: &'static Scheme) -> Result<&'static str, String> {
    use p256::ecdsa::{Signature, VerifyingKey, signature::Verifier};
    let Ok((public, signature)) = exchange::answer(scheme, &[], &[], &MESSAGE) else { return Ok("published") };
    let public = VerifyingKey::from_sec1_bytes(&public).map_err(|error| error.to_string())?;
    let signature = Signature::from_der(&signature).map_err(|error| error.to_string())?;
    public.verify(&MESSAGE, &signature).map_err(|error| format!("OpenSSL's signature: {error}"))?;
    refused(public.verify(b"another message", &signature).is_err())?;
    Ok("agreement")
}
