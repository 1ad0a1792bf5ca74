//! A fast BSS transition (13.8): the station takes its keys along to another access point of the mobility domain.

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::agreement::{Known, Shown, Why};
use super::akm::{Akm, Integrity};
use super::elements::{
    FAST_TRANSITION, FastTransition, MOBILITY_DOMAIN, Mobility, RIC_DATA, RSN, RSN_EXTENSION, Suites, elements, find,
};
use super::key_frame::{MOST_KEY_DATA_B, unwrap};
use super::keys::{Brought, MadeWith, Ptk, Temporal, mic};
use super::learned::Learned;
use crate::{Address, Error, Frame, Kind, Malformed};

/// Octets of a reassociation request and response before their elements (9.3.3.7, 9.3.3.8).
const REQUEST_B: usize = 10;
const RESPONSE_B: usize = 6;
/// Numbers of both in the transaction (13.8.4).
const REQUEST: u8 = 5;
const RESPONSE: u8 = 6;
/// The longest MIC of an element of this kind that is read.
const MOST_MIC_B: usize = 24;

/// A reassociation frame that ends a fast transition: it has both nonces, and a MIC under the new keys.
#[derive(Debug, Clone, Copy)]
pub struct Transition<'a> {
    /// The access point that the station goes to.
    pub access_point: Address,
    /// The station.
    pub station: Address,
    /// The key management.
    pub akm: Akm,
    suites: Suites,
    number: u8,
    data: &'a [u8],
    element: FastTransition<'a>,
}

impl<'a> Transition<'a> {
    /// Reads it; `None` of any other frame.
    #[must_use]
    pub fn parse(frame: &Frame<'a>) -> Option<Self> {
        if frame.kind() != Kind::Management || frame.is_protected() {
            return None;
        }
        let (access_point, station, number, fixed_B) = match frame.subtype() {
            2 => (frame.receiver(), frame.transmitter(), REQUEST, REQUEST_B),
            3 => (frame.transmitter(), frame.receiver(), RESPONSE, RESPONSE_B),
            _ => return None,
        };
        let data = frame.body().get(fixed_B..)?;
        let suites = Suites::of(data);
        let akm = suites.akm.filter(|akm| akm.is_fast_transition())?;
        let element = FastTransition::of(find(data, FAST_TRANSITION)?, akm.mic_B())?;
        // An association that begins with a four-way handshake has no nonces in its element yet.
        (element.covered() >= 3).then_some(Self { access_point, station, akm, suites, number, data, element })
    }

    /// The keys of the pair and, in a response, of the group.
    ///
    /// # Errors
    /// Why there are none.
    pub fn keys(&self, known: &Known<'_>) -> Result<Learned, Why> {
        let nonces = self.element.nonces().ok_or(Why::NoHolder)?;
        let mobility = Mobility::of(self.data, self.akm.mic_B()).map_err(|_| Why::NoHolder)?;
        let length_B = self.suites.pairwise.map(crate::Protocol::key_B);
        let shown = Shown {
            akm: self.akm,
            mobility: Some(&mobility),
            brought: Brought { addresses: [self.access_point, self.station], nonces },
            temporal_B: length_B.as_ref().map_or(&[16, 32], core::slice::from_ref),
        };
        let ptk = shown.agreed(known, |ptk| self.verify(ptk))?;
        let pairwise = Temporal::new(ptk.temporal(), self.suites.pairwise).ok();
        Ok(Learned { pairwise, group: self.group(&ptk).ok().flatten() })
    }

    /// Verifies the MIC of its elements (13.8.4, 13.8.5).
    fn verify(&self, ptk: &Ptk) -> Result<(), Error> {
        let whole = |id| find(self.data, id).map_or(&[][..], |element| element.whole);
        let (before, after) = self.element.around_mic();
        let given = self.element.mic();
        // What is covered beside the three: resources that were asked for, and what extends the RSN element.
        let more = self.element.covered().saturating_sub(3);
        let extension = if more == 0 { &[][..] } else { whole(RSN_EXTENSION) };
        let resources = more - usize::from(!extension.is_empty());
        let resources_at = elements(self.data).take_while(|element| element.id != RIC_DATA);
        let from: usize = resources_at.map(|element| element.whole.len()).sum();
        let asked = self.data.get(from..).unwrap_or_default();
        let asked_B: usize = elements(asked).take(resources).map(|element| element.whole.len()).sum();
        let head = whole(FAST_TRANSITION).get(..2).ok_or(Malformed::KeyFrame)?;
        let zeros = [0; MOST_MIC_B];
        let parts: [&[u8]; 10] = [
            &self.station,
            &self.access_point,
            &[self.number],
            whole(RSN),
            whole(MOBILITY_DOMAIN),
            head,
            before,
            &zeros[..given.len()],
            after,
            &asked[..asked_B],
        ];
        let mut right = [0; MOST_MIC_B];
        let made_with = match ptk.keys().integrity {
            Integrity::Cmac => MadeWith::Cmac,
            Integrity::Hmac => MadeWith::Hmac(ptk.keys().hash),
        };
        let all: [&[u8]; 11] = core::array::from_fn(|at| parts.get(at).copied().unwrap_or(extension));
        mic(made_with, ptk.kck(), &all, &mut right[..given.len()])?;
        if bool::from(right[..given.len()].ct_eq(given)) { Ok(()) } else { Err(Error::Mic) }
    }

    fn group(&self, ptk: &Ptk) -> Result<Option<(u8, Temporal)>, Error> {
        let Some((key_id, key_B, wrapped)) = self.element.group_key() else { return Ok(None) };
        let mut clear = Zeroizing::new([0; MOST_KEY_DATA_B]);
        let clear = unwrap(ptk.kek(), wrapped, &mut clear)?;
        let key = clear.get(..key_B).ok_or(Malformed::KeyFrame)?;
        Ok(Some((key_id, Temporal::new(key, self.suites.group)?)))
    }
}
