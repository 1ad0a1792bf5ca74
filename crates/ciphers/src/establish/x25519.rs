//! X25519: RFC 7748, 5 and 6.1.

use x25519_dalek::{PublicKey, StaticSecret};

use super::exchange::{Exchange, Given, Made, Refused, exact};

fn secret(bytes: &[u8]) -> Result<StaticSecret, Refused> {
    exact::<[u8; 32]>(bytes, "a secret").map(StaticSecret::from)
}

pub struct Generate;

impl Exchange for Generate {
    const DRAWN_B: usize = 32;
    const MADE_B: [usize; 2] = [32, 32];
    type Key = ();

    fn load(_: &Given<'_>) -> Result<(), Refused> {
        Ok(())
    }

    fn carry_out((): &(), given: &Given<'_>, [public, own]: Made<'_>) -> Result<(), Refused> {
        let key = secret(given.drawn)?;
        public.copy_from_slice(PublicKey::from(&key).as_bytes());
        own.copy_from_slice(key.as_bytes());
        Ok(())
    }
}

pub struct Agree;

impl Exchange for Agree {
    const MADE_B: [usize; 2] = [32, 0];
    type Key = (StaticSecret, PublicKey);

    fn load(given: &Given<'_>) -> Result<Self::Key, Refused> {
        Ok((secret(given.secret)?, exact::<[u8; 32]>(given.public, "a public key")?.into()))
    }

    fn carry_out((own, peer): &Self::Key, _: &Given<'_>, [shared, _]: Made<'_>) -> Result<(), Refused> {
        let made = own.diffie_hellman(peer);
        // RFC 7748, 6.1: all zero where the other's point is of small order.
        if !made.was_contributory() {
            return Err(Refused::Wrong("no secret came of it"));
        }
        shared.copy_from_slice(made.as_bytes());
        Ok(())
    }
}
