//! ECDH and ECDSA on P-256: NIST SP 800-56A Rev. 3, FIPS 186-5; signatures with the nonces of RFC 6979.

use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{PublicKey, SecretKey};

use super::exchange::{Exchange, Given, Made, Refused};

const NO_SECRET: Refused = Refused::Wrong("a secret that is no number below the order of the curve");
const NO_POINT: Refused = Refused::Wrong("a public key that is no point of the curve");

pub struct Generate;

impl Exchange for Generate {
    const DRAWN_B: usize = 32;
    const MADE_B: [usize; 2] = [65, 32];
    type Key = ();

    fn load(_: &Given<'_>) -> Result<(), Refused> {
        Ok(())
    }

    fn carry_out((): &(), given: &Given<'_>, [public, secret]: Made<'_>) -> Result<(), Refused> {
        let key = SecretKey::from_slice(given.drawn).map_err(|_| NO_SECRET)?;
        public.copy_from_slice(key.public_key().to_sec1_point(false).as_bytes());
        secret.copy_from_slice(&key.to_bytes());
        Ok(())
    }
}

pub struct Agree;

impl Exchange for Agree {
    const MADE_B: [usize; 2] = [32, 0];
    type Key = (SecretKey, PublicKey);

    fn load(given: &Given<'_>) -> Result<Self::Key, Refused> {
        let own = SecretKey::from_slice(given.secret).map_err(|_| NO_SECRET)?;
        Ok((own, PublicKey::from_sec1_bytes(given.public).map_err(|_| NO_POINT)?))
    }

    fn carry_out((own, peer): &Self::Key, _: &Given<'_>, [shared, _]: Made<'_>) -> Result<(), Refused> {
        let made = p256::ecdh::diffie_hellman(own.to_nonzero_scalar(), peer.as_affine());
        shared.copy_from_slice(made.raw_secret_bytes());
        Ok(())
    }
}

pub struct Sign;

impl Exchange for Sign {
    const MADE_B: [usize; 2] = [64, 0];
    type Key = SigningKey;

    fn load(given: &Given<'_>) -> Result<SigningKey, Refused> {
        SigningKey::from_slice(given.secret).map_err(|_| NO_SECRET)
    }

    fn carry_out(key: &SigningKey, given: &Given<'_>, [sent, _]: Made<'_>) -> Result<(), Refused> {
        let signature: Signature =
            key.try_sign(given.message).map_err(|_| Refused::Wrong("no signature came of it"))?;
        sent.copy_from_slice(&signature.to_bytes());
        Ok(())
    }
}

pub struct Verify;

impl Exchange for Verify {
    const MADE_B: [usize; 2] = [0, 0];
    type Key = VerifyingKey;

    fn load(given: &Given<'_>) -> Result<VerifyingKey, Refused> {
        VerifyingKey::from_sec1_bytes(given.public).map_err(|_| NO_POINT)
    }

    fn carry_out(key: &VerifyingKey, given: &Given<'_>, _: Made<'_>) -> Result<(), Refused> {
        let wrong = |_| Refused::Wrong("a wrong signature");
        let signature = Signature::from_slice(given.sent).map_err(wrong)?;
        key.verify(given.message, &signature).map_err(wrong)
    }
}
