//! Ed25519: RFC 8032, 5.1.

use ed25519_dalek::{Signature, Signer as _, SigningKey, Verifier as _, VerifyingKey};

use super::exchange::{Exchange, Given, Made, Refused, exact};

pub struct Generate;

impl Exchange for Generate {
    const DRAWN_B: usize = 32;
    const MADE_B: [usize; 2] = [32, 32];
    type Key = ();

    fn load(_: &Given<'_>) -> Result<(), Refused> {
        Ok(())
    }

    fn carry_out((): &(), given: &Given<'_>, [public, secret]: Made<'_>) -> Result<(), Refused> {
        let key = SigningKey::from_bytes(&exact(given.drawn, "a secret")?);
        public.copy_from_slice(key.verifying_key().as_bytes());
        secret.copy_from_slice(key.as_bytes());
        Ok(())
    }
}

pub struct Sign;

impl Exchange for Sign {
    const MADE_B: [usize; 2] = [64, 0];
    type Key = SigningKey;

    fn load(given: &Given<'_>) -> Result<SigningKey, Refused> {
        Ok(SigningKey::from_bytes(&exact(given.secret, "a secret")?))
    }

    fn carry_out(key: &SigningKey, given: &Given<'_>, [sent, _]: Made<'_>) -> Result<(), Refused> {
        sent.copy_from_slice(&key.sign(given.message).to_bytes());
        Ok(())
    }
}

pub struct Verify;

impl Exchange for Verify {
    const MADE_B: [usize; 2] = [0, 0];
    type Key = VerifyingKey;

    fn load(given: &Given<'_>) -> Result<VerifyingKey, Refused> {
        let key = VerifyingKey::from_bytes(&exact(given.public, "a public key")?);
        key.map_err(|_| Refused::Wrong("a public key that is no point of the curve"))
    }

    fn carry_out(key: &VerifyingKey, given: &Given<'_>, _: Made<'_>) -> Result<(), Refused> {
        let signature = Signature::from_bytes(&exact(given.sent, "a signature")?);
        key.verify(given.message, &signature).map_err(|_| Refused::Wrong("a wrong signature"))
    }
}
