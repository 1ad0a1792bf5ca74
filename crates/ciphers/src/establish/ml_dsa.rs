//! ML-DSA-65: NIST FIPS 204, deterministic, without a context.
#![allow(deprecated, reason = "FIPS 204 defines a signing key of 4032 octets, which the crate would rather not read")]

use ml_dsa::signature::Verifier as _;
use ml_dsa::{ExpandedSigningKey, Keypair as _, MlDsa65, Signature, SigningKey, VerifyingKey};

use super::exchange::{Exchange, Given, Made, Refused, exact};

pub struct Generate;

impl Exchange for Generate {
    const DRAWN_B: usize = 32;
    const MADE_B: [usize; 2] = [1952, 4032];
    type Key = ();

    fn load(_: &Given<'_>) -> Result<(), Refused> {
        Ok(())
    }

    fn carry_out((): &(), given: &Given<'_>, [public, secret]: Made<'_>) -> Result<(), Refused> {
        let key = SigningKey::<MlDsa65>::from_seed(&exact(given.drawn, "a seed")?);
        public.copy_from_slice(&key.verifying_key().encode());
        secret.copy_from_slice(&key.expanded_key().to_expanded());
        Ok(())
    }
}

pub struct Sign;

impl Exchange for Sign {
    const MADE_B: [usize; 2] = [3309, 0];
    type Key = ExpandedSigningKey<MlDsa65>;

    fn load(given: &Given<'_>) -> Result<Self::Key, Refused> {
        Ok(ExpandedSigningKey::from_expanded(&exact(given.secret, "a secret key")?))
    }

    fn carry_out(key: &Self::Key, given: &Given<'_>, [sent, _]: Made<'_>) -> Result<(), Refused> {
        let signature = key.sign_deterministic(given.message, &[]);
        sent.copy_from_slice(&signature.map_err(|_| Refused::Wrong("no signature came of it"))?.encode());
        Ok(())
    }
}

pub struct Verify;

impl Exchange for Verify {
    const MADE_B: [usize; 2] = [0, 0];
    type Key = VerifyingKey<MlDsa65>;

    fn load(given: &Given<'_>) -> Result<Self::Key, Refused> {
        Ok(VerifyingKey::decode(&exact(given.public, "a public key")?))
    }

    fn carry_out(key: &Self::Key, given: &Given<'_>, _: Made<'_>) -> Result<(), Refused> {
        let signature = Signature::<MlDsa65>::decode(&exact(given.sent, "a signature")?);
        let signature = signature.ok_or(Refused::Wrong("a signature that can't be decoded"))?;
        key.verify(given.message, &signature).map_err(|_| Refused::Wrong("a wrong signature"))
    }
}
