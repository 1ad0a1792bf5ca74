//! The handshake H: an ephemeral Diffie-Hellman exchange under the pair's secret, in 52 octets up and 48 down.
//!
//! It is Noise's NNpsk0 without payloads; the prologue names tally and the link. The gateway checks the first flight's
//! tag, which the secret made, before it computes any exchange. Its first flight can be replayed, as that of a
//! resumption: so the end that is in use stays until [`crate::Gateway::is_confirmed`] of the new one.

#[cfg(test)]
mod tests;

use zeroize::Zeroize;

use crate::error::Error;
use crate::keys::{Pair, Root};
use crate::noise::{KEY_B, Noise, TAG_B, public};
use crate::sealing::cxof;

/// Octets of the sensor's flight: link 4, public key 32, tag 16.
pub const HANDSHAKE_B: usize = 52;
/// Octets of the gateway's flight: public key 32, tag 16.
pub const HANDSHAKE_ANSWER_B: usize = 48;

const PROLOGUE: &[u8] = b"tally1 handshake";
const PAIR: &[u8] = b"tally1 handshake pair";

/// The sensor's half of a handshake.
pub struct Handshake {
    noise: Noise,
    ephemeral: [u8; KEY_B],
    link: [u8; 4],
}

impl Handshake {
    /// Begins with 32 random octets that are used once.
    ///
    /// # Errors
    /// None that an input could bring about.
    pub fn begin(pair: &Pair, ephemeral: [u8; KEY_B]) -> Result<(Self, [u8; HANDSHAKE_B]), Error> {
        let mut noise = Noise::new(&[PROLOGUE, &pair.link], &pair.secret);
        let public = public(&ephemeral);
        noise.mix_ephemeral(&public);
        let mut flight = [0; HANDSHAKE_B];
        flight[..4].copy_from_slice(&pair.link);
        flight[4..4 + KEY_B].copy_from_slice(&public);
        flight[4 + KEY_B..].copy_from_slice(&noise.seal(&mut [])?);
        Ok((Self { noise, ephemeral, link: pair.link }, flight))
    }

    /// The pair with its new secret, for later resumptions, and the root that it begins with.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::Tag`]: it is no answer to this, and the handshake is over.
    pub fn finish(mut self, answer: &[u8]) -> Result<(Pair, Root), Error> {
        let answer: &[u8; HANDSHAKE_ANSWER_B] = answer.try_into().map_err(|_| Error::Length)?;
        let (public, tag) = parts(answer)?;
        self.noise.mix_ephemeral(public);
        self.noise.mix_exchange(&self.ephemeral, public)?;
        self.noise.open(&mut [], tag)?;
        Ok(outcome(&self.noise, self.link))
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        self.ephemeral.zeroize();
    }
}

/// The gateway's half: its answer, made with 32 random octets that are used once, and what both ends now share.
///
/// # Errors
/// [`Error::Length`], [`Error::Unexpected`] for another link, [`Error::Tag`].
pub fn answer_handshake(
    pair: &Pair,
    flight: &[u8],
    mut ephemeral: [u8; KEY_B],
) -> Result<(Pair, Root, [u8; HANDSHAKE_ANSWER_B]), Error> {
    let flight: &[u8; HANDSHAKE_B] = flight.try_into().map_err(|_| Error::Length)?;
    if flight[..4] != pair.link {
        return Err(Error::Unexpected);
    }
    let (of_sensor, tag) = parts(&flight[4..])?;
    let mut noise = Noise::new(&[PROLOGUE, &pair.link], &pair.secret);
    noise.mix_ephemeral(of_sensor);
    noise.open(&mut [], tag)?;
    let public = public(&ephemeral);
    noise.mix_ephemeral(&public);
    let exchanged = noise.mix_exchange(&ephemeral, of_sensor);
    ephemeral.zeroize();
    exchanged?;
    let mut answer = [0; HANDSHAKE_ANSWER_B];
    answer[..KEY_B].copy_from_slice(&public);
    answer[KEY_B..].copy_from_slice(&noise.seal(&mut [])?);
    let (pair, root) = outcome(&noise, pair.link);
    Ok((pair, root, answer))
}

fn parts(octets: &[u8]) -> Result<(&[u8; KEY_B], &[u8; TAG_B]), Error> {
    let (public, tag) = octets.split_first_chunk().ok_or(Error::Length)?;
    Ok((public, tag.try_into().map_err(|_| Error::Length)?))
}

fn outcome(noise: &Noise, link: [u8; 4]) -> (Pair, Root) {
    let [mut up, mut down] = noise.split();
    let mut secret = [0; KEY_B];
    cxof(PAIR, &[&up, &down, &link], &mut secret);
    up.zeroize();
    down.zeroize();
    let pair = Pair { secret, link };
    secret.zeroize();
    let root = Root::of_handshake(&pair);
    (pair, root)
}
