//! Resumption: both ends make a new root of the secret that they share, in 20 octets up and 16 down.
//!
//! Both contribute a nonce. The sensor's must never repeat: a repeated one lets a recorded answer bring an old root
//! back, and its counters with it. So it holds a number that is stored before it is used, or 8 random octets.

use core::cell::Cell;

use zeroize::Zeroize;

use crate::error::Error;
use crate::keys::{NONCE_B, Pair, Root};
use crate::sealing::{Tag, cxof};

/// Octets of the sensor's flight: link 4, nonce 8, tag 8.
pub const OPENING_B: usize = 20;
/// Octets of the gateway's flight: nonce 8, tag 8.
pub const ANSWER_B: usize = 16;

const FLIGHT_TAG_B: usize = 8;
const OPENING: &[u8] = b"tally1 resume up";
const ANSWER: &[u8] = b"tally1 resume down";

/// The sensor's half of a resumption.
pub struct Resuming {
    pair: Pair,
    nonce: [u8; NONCE_B],
    is_over: Cell<bool>,
}

impl Resuming {
    /// Begins with a nonce that was never used with this pair.
    #[must_use]
    pub fn begin(pair: Pair, nonce: [u8; NONCE_B]) -> (Self, [u8; OPENING_B]) {
        let mut opening = [0; OPENING_B];
        opening[..4].copy_from_slice(&pair.link);
        opening[4..4 + NONCE_B].copy_from_slice(&nonce);
        opening[4 + NONCE_B..].copy_from_slice(&tag_of_opening(&pair, &nonce).octets()[..FLIGHT_TAG_B]);
        (Self { pair, nonce, is_over: Cell::new(false) }, opening)
    }

    /// The root, if the answer is the gateway's to this nonce. Once: a second sensor of one root would count from 0 again.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::Tag`]: it is no answer to this, and another may come. [`Error::Unexpected`]: there was one.
    pub fn finish(&self, answer: &[u8]) -> Result<Root, Error> {
        let answer: &[u8; ANSWER_B] = answer.try_into().map_err(|_| Error::Length)?;
        let mut of_gateway = [0; NONCE_B];
        of_gateway.copy_from_slice(&answer[..NONCE_B]);
        let tag = tag_of_answer(&self.pair, &self.nonce, &of_gateway);
        if !tag.begins_with(&answer[NONCE_B..], 8 * FLIGHT_TAG_B) {
            return Err(Error::Tag);
        }
        if self.is_over.replace(true) {
            return Err(Error::Unexpected);
        }
        Ok(Root::new(&self.pair, self.nonce, of_gateway))
    }
}

/// The link that an opening names, by which a gateway finds the pair.
#[must_use]
pub fn link_of(opening: &[u8]) -> Option<[u8; 4]> {
    opening.first_chunk().filter(|_| opening.len() == OPENING_B).copied()
}

/// The gateway's half: its answer, with a nonce that is random or was never used, and the root.
///
/// An opening can be replayed. So the end that is in use stays until [`crate::Gateway::is_confirmed`] of the new one.
///
/// # Errors
/// [`Error::Length`], [`Error::Unexpected`] for another link, [`Error::Tag`].
pub fn answer(pair: &Pair, opening: &[u8], nonce: [u8; NONCE_B]) -> Result<(Root, [u8; ANSWER_B]), Error> {
    let opening: &[u8; OPENING_B] = opening.try_into().map_err(|_| Error::Length)?;
    if opening[..4] != pair.link {
        return Err(Error::Unexpected);
    }
    let mut of_sensor = [0; NONCE_B];
    of_sensor.copy_from_slice(&opening[4..4 + NONCE_B]);
    if !tag_of_opening(pair, &of_sensor).begins_with(&opening[4 + NONCE_B..], 8 * FLIGHT_TAG_B) {
        return Err(Error::Tag);
    }
    let mut answer = [0; ANSWER_B];
    answer[..NONCE_B].copy_from_slice(&nonce);
    answer[NONCE_B..].copy_from_slice(&tag_of_answer(pair, &of_sensor, &nonce).octets()[..FLIGHT_TAG_B]);
    Ok((Root::new(pair, of_sensor, nonce), answer))
}

fn tag_of_opening(pair: &Pair, of_sensor: &[u8; NONCE_B]) -> Tag {
    tag(OPENING, &[&pair.secret, &pair.link, of_sensor])
}

fn tag_of_answer(pair: &Pair, of_sensor: &[u8; NONCE_B], of_gateway: &[u8; NONCE_B]) -> Tag {
    tag(ANSWER, &[&pair.secret, &pair.link, of_sensor, of_gateway])
}

fn tag(label: &[u8], parts: &[&[u8]]) -> Tag {
    let mut octets = [0; 16];
    cxof(label, parts, &mut octets);
    let tag = Tag::new(octets);
    octets.zeroize();
    tag
}
