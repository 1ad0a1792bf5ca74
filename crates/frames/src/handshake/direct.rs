//! The key of two stations that speak to each other past their access point (TDLS, 12.7.8): it is made of what the setup
//! shows, which travels under the keys that each has with the access point.

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::akm::Hash;
use super::elements::{FAST_TRANSITION, FastTransition, LINK_IDENTIFIER, RSN, Suites, TIMEOUT, find};
use super::keys::{MadeWith, NONCE_B, Temporal, kdf, mic};
use crate::{Address, Error, Frame, Protocol};

/// LLC and SNAP of the frames that carry the setup, and what they carry (11.20.2, 9.6.12): payload type and category.
const HEAD: [u8; 10] = [0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00, 0x89, 0x0d, 2, 12];
const RESPONSE: u8 = 1;
const CONFIRM: u8 = 2;
/// Octets of a MIC, and of the key that it is made with.
const MIC_B: usize = 16;
/// Octets of the key that protects frames.
const TEMPORAL_B: usize = 16;

/// A frame of a setup that has both nonces: the response, or the confirmation.
#[derive(Debug, Clone, Copy)]
pub struct DirectLink<'a> {
    /// Who asked for the link.
    pub initiator: Address,
    /// Who was asked.
    pub responder: Address,
    bssid: Address,
    number: u8,
    data: &'a [u8],
    element: FastTransition<'a>,
}

impl<'a> DirectLink<'a> {
    /// Reads a data frame in the clear, or what one held; `None` of any other, and of a link without keys.
    #[must_use]
    pub fn parse(frame: &Frame<'a>) -> Option<Self> {
        if !frame.carries_data() || frame.is_protected() || frame.is_fragment() || frame.is_aggregate() {
            return None;
        }
        let (action, rest) = frame.body().strip_prefix(&HEAD)?.split_first()?;
        // Status and dialog token; of a response the capabilities too.
        let (number, fixed_B) = match *action {
            RESPONSE => (2, 5),
            CONFIRM => (3, 3),
            _ => return None,
        };
        let data = rest.get(fixed_B..)?;
        let link = find(data, LINK_IDENTIFIER)?.content.first_chunk::<18>()?;
        let address = |at: usize| link.get(at..at + 6)?.first_chunk().copied();
        let element = FastTransition::of(find(data, FAST_TRANSITION)?, MIC_B)?;
        Some(Self { bssid: address(0)?, initiator: address(6)?, responder: address(12)?, number, data, element })
    }

    /// Which frame of the setup it is: 2, the response, or 3, the confirmation.
    #[must_use]
    pub fn number(&self) -> u8 {
        self.number
    }

    /// The key of the link.
    ///
    /// # Errors
    /// [`Error::Mic`] where its MIC is wrong.
    ///
    /// # Source
    /// IEEE Std 802.11-2020, 12.7.8.2 (TPK) and 12.7.8.4.3 (MIC).
    pub fn key(&self) -> Result<Temporal, Error> {
        let [anonce, snonce] = self.element.nonces().ok_or(Error::Mic)?;
        let (first, second) = (anonce.min(snonce), anonce.max(snonce));
        let input = Zeroizing::new(hash([first, second]));
        let mut context = [0; 18];
        context[..6].copy_from_slice(&self.initiator.min(self.responder));
        context[6..12].copy_from_slice(&self.initiator.max(self.responder));
        context[12..].copy_from_slice(&self.bssid);
        let mut tpk = Zeroizing::new([0; MIC_B + TEMPORAL_B]);
        kdf(Hash::Sha256, &*input, b"TDLS PMK", &context, &mut *tpk)?;
        let (kck, temporal) = tpk.split_at(MIC_B);

        let whole = |id| find(self.data, id).map_or(&[][..], |element| element.whole);
        let (before, after) = self.element.around_mic();
        let parts: [&[u8]; 10] = [
            &self.initiator,
            &self.responder,
            &[self.number],
            whole(LINK_IDENTIFIER),
            whole(RSN),
            whole(TIMEOUT),
            whole(FAST_TRANSITION).get(..2).ok_or(Error::Mic)?,
            before,
            &[0; MIC_B],
            after,
        ];
        let mut right = [0; MIC_B];
        mic(MadeWith::Cmac, kck, &parts, &mut right)?;
        if !bool::from(right.ct_eq(self.element.mic())) {
            return Err(Error::Mic);
        }
        let suite = Suites::of(self.data).pairwise.filter(|protocol| protocol.key_B() == TEMPORAL_B);
        Temporal::new(temporal, Some(suite.unwrap_or(Protocol::Ccmp128)))
    }
}

fn hash(nonces: [&[u8; NONCE_B]; 2]) -> [u8; 32] {
    use sha2::Digest as _;
    let mut digest = sha2::Sha256::new();
    nonces.iter().for_each(|nonce| digest.update(nonce));
    digest.finalize().into()
}
