//! ML-KEM-768: NIST FIPS 203.
#![allow(
    deprecated,
    reason = "FIPS 203 defines a decapsulation key of 2400 octets, which the crate would rather not read"
)]

use ml_kem::kem::Decapsulate as _;
use ml_kem::{Ciphertext, DecapsulationKey, EncapsulationKey, ExpandedKeyEncoding as _, KeyExport as _, MlKem768};

use super::exchange::{Exchange, Given, Made, Refused, exact};

pub struct Generate;

impl Exchange for Generate {
    const DRAWN_B: usize = 64;
    const MADE_B: [usize; 2] = [1184, 2400];
    type Key = ();

    fn load(_: &Given<'_>) -> Result<(), Refused> {
        Ok(())
    }

    fn carry_out((): &(), given: &Given<'_>, [public, secret]: Made<'_>) -> Result<(), Refused> {
        let key = DecapsulationKey::<MlKem768>::from_seed(exact(given.drawn, "a seed")?);
        public.copy_from_slice(&key.encapsulation_key().to_bytes());
        secret.copy_from_slice(&key.to_expanded_bytes());
        Ok(())
    }
}

pub struct Encapsulate;

impl Exchange for Encapsulate {
    const DRAWN_B: usize = 32;
    const MADE_B: [usize; 2] = [1088, 32];
    type Key = EncapsulationKey<MlKem768>;

    fn load(given: &Given<'_>) -> Result<Self::Key, Refused> {
        let key = EncapsulationKey::new(&exact(given.public, "a public key")?);
        key.map_err(|_| Refused::Wrong("a public key with a coefficient that is not below the modulus"))
    }

    fn carry_out(key: &Self::Key, given: &Given<'_>, [sent, shared]: Made<'_>) -> Result<(), Refused> {
        let (ciphertext, secret) = key.encapsulate_deterministic(&exact(given.drawn, "a seed")?);
        sent.copy_from_slice(&ciphertext);
        shared.copy_from_slice(&secret);
        Ok(())
    }
}

pub struct Decapsulate;

impl Exchange for Decapsulate {
    const MADE_B: [usize; 2] = [32, 0];
    type Key = DecapsulationKey<MlKem768>;

    fn load(given: &Given<'_>) -> Result<Self::Key, Refused> {
        let key = DecapsulationKey::from_expanded_bytes(&exact(given.secret, "a secret key")?);
        key.map_err(|_| Refused::Wrong("a secret key whose public key has another hash"))
    }

    fn carry_out(key: &Self::Key, given: &Given<'_>, [shared, _]: Made<'_>) -> Result<(), Refused> {
        shared.copy_from_slice(&key.decapsulate(&exact::<Ciphertext<MlKem768>>(given.sent, "a ciphertext")?));
        Ok(())
    }
}
