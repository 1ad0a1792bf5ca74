//! The elements of frames and key data that say how keys are made (9.4.2).

use super::akm::Akm;
use super::keys::{Holders, NONCE_B};
use crate::{Address, Error, Malformed, Protocol};

pub(super) const RSN: u8 = 48;
pub(super) const MOBILITY_DOMAIN: u8 = 54;
pub(super) const FAST_TRANSITION: u8 = 55;
pub(super) const TIMEOUT: u8 = 56;
pub(super) const RIC_DATA: u8 = 57;
pub(super) const LINK_IDENTIFIER: u8 = 101;
pub(super) const RSN_EXTENSION: u8 = 244;
pub(super) const VENDOR: u8 = 221;

/// The longest R0KH-ID.
const MOST_R0_B: usize = 48;

/// An element with its head, as it stands in its list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) id: u8,
    pub(super) content: &'a [u8],
    pub(super) whole: &'a [u8],
}

/// The elements of a list; it ends where one is cut.
pub(super) fn elements(mut data: &[u8]) -> impl Iterator<Item = Element<'_>> {
    core::iter::from_fn(move || {
        let &[id, length_B, ref rest @ ..] = data else { return None };
        let content = rest.get(..usize::from(length_B))?;
        let (whole, after) = data.split_at(2 + content.len());
        data = after;
        Some(Element { id, content, whole })
    })
}

/// The first element of this kind.
pub(super) fn find(data: &[u8], id: u8) -> Option<Element<'_>> {
    elements(data).find(|element| element.id == id)
}

/// The protocol of a cipher suite (table 9-149); WPA has numbers of its own for the first ones.
fn protocol(suite: &[u8]) -> Option<Protocol> {
    match suite {
        [0x00, 0x0f, 0xac, number] => match number {
            1 => Some(Protocol::Wep40),
            2 => Some(Protocol::Tkip),
            4 => Some(Protocol::Ccmp128),
            5 => Some(Protocol::Wep104),
            8 => Some(Protocol::Gcmp128),
            9 => Some(Protocol::Gcmp256),
            10 => Some(Protocol::Ccmp256),
            _ => None,
        },
        [0x00, 0x50, 0xf2, number] => match number {
            1 => Some(Protocol::Wep40),
            2 => Some(Protocol::Tkip),
            4 => Some(Protocol::Ccmp128),
            5 => Some(Protocol::Wep104),
            _ => None,
        },
        _ => None,
    }
}

/// The suites that a station chose.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Suites {
    pub(super) group: Option<Protocol>,
    pub(super) pairwise: Option<Protocol>,
    pub(super) akm: Option<Akm>,
}

impl Suites {
    /// Reads the RSN element (9.4.2.24), or WPA's, which is laid out alike.
    pub(super) fn of(data: &[u8]) -> Self {
        let mut suites = Self::default();
        for element in elements(data) {
            let body = match (element.id, element.content) {
                (RSN, [1, 0, body @ ..]) | (VENDOR, [0x00, 0x50, 0xf2, 1, 1, 0, body @ ..]) => body,
                _ => continue,
            };
            suites.group = body.get(..4).and_then(protocol);
            let Some(&[a, b]) = body.get(4..6) else { continue };
            suites.pairwise = body.get(6..10).and_then(protocol);
            let at = 6 + 4 * usize::from(u16::from_le_bytes([a, b]));
            suites.akm = body.get(at + 2..at + 6).and_then(Akm::of);
        }
        suites
    }
}

/// The fast BSS transition element (9.4.2.47).
#[derive(Debug, Clone, Copy)]
pub(super) struct FastTransition<'a> {
    content: &'a [u8],
    mic_B: usize,
}

impl<'a> FastTransition<'a> {
    /// Reads it, with a MIC of so many octets.
    pub(super) fn of(element: Element<'a>, mic_B: usize) -> Option<Self> {
        let is_whole = element.content.len() >= 2 + mic_B + 2 * NONCE_B;
        is_whole.then_some(Self { content: element.content, mic_B })
    }

    /// How many elements its MIC covers; 0 where it has none.
    pub(super) fn covered(&self) -> usize {
        usize::from(self.content[1])
    }

    pub(super) fn mic(&self) -> &'a [u8] {
        &self.content[2..2 + self.mic_B]
    }

    /// What stands before the MIC and behind it, without the element's head.
    pub(super) fn around_mic(&self) -> (&'a [u8], &'a [u8]) {
        (&self.content[..2], &self.content[2 + self.mic_B..])
    }

    fn nonce(&self, at: usize) -> Option<&'a [u8; NONCE_B]> {
        self.content.get(2 + self.mic_B + at..)?.first_chunk()
    }

    /// ANonce and SNonce: of the authenticator, of the supplicant.
    pub(super) fn nonces(&self) -> Option<[&'a [u8; NONCE_B]; 2]> {
        self.nonce(0).zip(self.nonce(NONCE_B)).map(|(anonce, snonce)| [anonce, snonce])
    }

    /// The first subelement of this kind.
    fn part(&self, id: u8) -> Option<&'a [u8]> {
        find(self.content.get(2 + self.mic_B + 2 * NONCE_B..)?, id).map(|element| element.content)
    }

    /// The group key under a KEK: which of four, its octets, and the wrapped key.
    pub(super) fn group_key(&self) -> Option<(u8, usize, &'a [u8])> {
        match self.part(2) {
            Some([key_id, _, length_B, _, _, _, _, _, _, _, _, wrapped @ ..]) => {
                Some((key_id & 3, usize::from(*length_B), wrapped))
            }
            _ => None,
        }
    }
}

/// Where a station is in a mobility domain: the domain and who holds its keys (9.4.2.46, 9.4.2.47).
#[derive(Debug, Clone, Copy)]
pub(super) struct Mobility {
    domain: [u8; 2],
    r0: [u8; MOST_R0_B],
    r0_B: usize,
    r1: Address,
}

impl Mobility {
    /// Reads both elements, the second with a MIC of so many octets.
    ///
    /// # Errors
    /// [`Malformed::KeyFrame`] where they don't name the holders.
    pub(super) fn of(data: &[u8], mic_B: usize) -> Result<Self, Error> {
        let read = || {
            let domain = *find(data, MOBILITY_DOMAIN)?.content.first_chunk()?;
            let transition = FastTransition::of(find(data, FAST_TRANSITION)?, mic_B)?;
            let r1 = *transition.part(1)?.first_chunk()?;
            let r0 = transition.part(3).filter(|r0| !r0.is_empty() && r0.len() <= MOST_R0_B)?;
            let mut read = Self { domain, r0: [0; MOST_R0_B], r0_B: r0.len(), r1 };
            read.r0[..r0.len()].copy_from_slice(r0);
            Some(read)
        };
        Ok(read().ok_or(Malformed::KeyFrame)?)
    }

    pub(super) fn holders<'a>(&'a self, ssid: &'a [u8], station: Address) -> Holders<'a> {
        Holders { ssid, domain: self.domain, r0: &self.r0[..self.r0_B], r1: self.r1, station }
    }
}
