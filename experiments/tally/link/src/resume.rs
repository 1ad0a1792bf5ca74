//! Resumption: both ends make a new root of the secret that they share, in 20 octets up and 16 down.
//!
//! Both contribute a [`Nonce`], and neither may repeat: a sensor's that does lets a recorded answer bring an old root back,
//! and its counters with it; a gateway's lets a recorded opening do so, and the records behind it. So half of each is a
//! number that is stored before it is used, and half is random: a state that is put back from a copy repeats numbers.

use core::cell::Cell;

use zeroize::Zeroize;

use crate::error::Error;
use crate::keys::{NONCE_B, Nonce, Pair, Root};
use crate::sealing::{Tag, cxof};

/// Octets of the sensor's flight: link 4, nonce 8, tag 8.
pub const OPENING_B: usize = 20;
/// Octets of the gateway's flight: nonce 8, tag 8.
pub const ANSWER_B: usize = 16;

/// Openings of one nonce without an answer after which a sensor takes the next number.
pub const OPENINGS: u32 = 4;

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
    ///
    /// A gateway does not answer a number that is not above those it knows. So a sensor that may be restored from a copy
    /// begins anew, with the next number, after [`OPENINGS`] of one nonce without an answer.
    #[must_use]
    pub fn begin(pair: Pair, nonce: Nonce) -> (Self, [u8; OPENING_B]) {
        let nonce = nonce.octets();
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

/// The nonce of the sensor that an opening, or of the gateway that an answer, holds; of other octets `None`.
#[must_use]
pub fn nonce_of(flight: &[u8]) -> Option<Nonce> {
    let octets = match flight.len() {
        OPENING_B => flight.get(4..)?.first_chunk(),
        ANSWER_B => flight.first_chunk(),
        _ => None,
    };
    octets.map(|octets: &[u8; NONCE_B]| Nonce::from(*octets))
}

/// The gateway's half: which openings of a pair it answers. It is kept as long as the gateway runs.
///
/// An opening can be replayed. So the end that is in use stays until [`crate::Gateway::is_confirmed`] of the new one, and
/// then [`Answered::confirm`] is called: a sensor that is restored from a copy gets no answer below a root in use.
#[derive(Default)]
pub struct Answered {
    newest: Option<(Nonce, [u8; ANSWER_B])>,
    is_confirmed: bool,
}

impl Answered {
    /// What an opening is due: the answer that it was given before, which makes no new root, or `None`, a new one.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Unexpected`] for another link, [`Error::Tag`]: it is no opening. [`Error::Replayed`]: it
    /// is, but its number is not above the newest, and it is not the newest or that one's root is confirmed.
    pub fn due(&self, pair: &Pair, opening: &[u8]) -> Result<Option<[u8; ANSWER_B]>, Error> {
        let of_sensor = authentic(pair, opening)?;
        match &self.newest {
            None => Ok(None),
            Some((newest, _)) if of_sensor.number > newest.number => Ok(None),
            Some((newest, answer)) if of_sensor == *newest && !self.is_confirmed => Ok(Some(*answer)),
            Some(_) => Err(Error::Replayed),
        }
    }

    /// A new root, and the answer that leads the sensor to it.
    ///
    /// # Errors
    /// As of [`Answered::due`]; [`Error::Replayed`] too where an answer was given before.
    pub fn answer(&mut self, pair: &Pair, opening: &[u8], nonce: Nonce) -> Result<(Root, [u8; ANSWER_B]), Error> {
        if self.due(pair, opening)?.is_some() {
            return Err(Error::Replayed);
        }
        let newest = authentic(pair, opening)?;
        let (of_sensor, of_gateway) = (newest.octets(), nonce.octets());
        let mut answer = [0; ANSWER_B];
        answer[..NONCE_B].copy_from_slice(&of_gateway);
        answer[NONCE_B..].copy_from_slice(&tag_of_answer(pair, &of_sensor, &of_gateway).octets()[..FLIGHT_TAG_B]);
        (self.newest, self.is_confirmed) = (Some((newest, answer)), false);
        Ok((Root::new(pair, of_sensor, of_gateway), answer))
    }

    /// A record with a whole tag, or a rescue record, opened below the newest root: its answer is never given again.
    pub fn confirm(&mut self) {
        self.is_confirmed = true;
    }
}

/// The sensor's nonce in an opening of this pair.
fn authentic(pair: &Pair, opening: &[u8]) -> Result<Nonce, Error> {
    let opening: &[u8; OPENING_B] = opening.try_into().map_err(|_| Error::Length)?;
    if opening[..4] != pair.link {
        return Err(Error::Unexpected);
    }
    let of_sensor = nonce_of(opening).ok_or(Error::Length)?;
    let tag = tag_of_opening(pair, &of_sensor.octets());
    if tag.begins_with(&opening[4 + NONCE_B..], 8 * FLIGHT_TAG_B) { Ok(of_sensor) } else { Err(Error::Tag) }
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
