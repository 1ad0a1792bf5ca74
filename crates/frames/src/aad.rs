//! What CCMP and GCMP authenticate beside the body, and their nonces (12.5.3.3.3, 12.5.3.3.4, 12.5.5.3.3, 12.5.5.3.4).

use crate::frame::{HT_CONTROL, PROTECTED};
use crate::{Frame, Kind};

const RETRY: u8 = 0x08;
const POWER_MANAGEMENT: u8 = 0x10;
const MORE_DATA: u8 = 0x20;
/// The longest: four addresses and QoS.
const MOST_B: usize = 30;
/// The bits of the subtype but the one that says QoS: a retry as another subtype is the same frame.
const SUBTYPE: u8 = 0x70;

/// The additional authenticated data of one frame.
pub(crate) struct Aad {
    bytes: [u8; MOST_B],
    length: usize,
}

impl Aad {
    pub(crate) fn of(frame: &Frame<'_>) -> Self {
        let (header, qos) = (frame.header(), frame.qos_control());
        let mut aad = Self { bytes: [0; MOST_B], length: 0 };
        let first = if frame.kind() == Kind::Data { header[0] & !SUBTYPE } else { header[0] };
        let mut flags = header[1] & !(RETRY | POWER_MANAGEMENT | MORE_DATA) | PROTECTED;
        if qos.is_some() {
            flags &= !HT_CONTROL;
        }
        aad.push(&[first, flags]);
        aad.push(&header[4..22]);
        aad.push(&[frame.fragment(), 0]);
        aad.push(frame.fourth().as_ref().map_or(&[], |address| &address[..]));
        // Neither side is taken to protect the A-MSDU flag (SPP A-MSDU): nobody's frames could be read otherwise.
        aad.push(qos.map(|control| [control[0] & 0x0f, 0]).as_ref().map_or(&[], |control| &control[..]));
        aad
    }

    fn push(&mut self, more: &[u8]) {
        self.bytes[self.length..self.length + more.len()].copy_from_slice(more);
        self.length += more.len();
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Packet number, most significant octet first.
fn number(pn: u64) -> [u8; 6] {
    let [_, _, number @ ..] = pn.to_be_bytes();
    number
}

/// The nonce of CCMP: priority and a management flag, address 2, the packet number.
#[cfg(feature = "ccm")]
pub(crate) fn ccmp_nonce(frame: &Frame<'_>, pn: u64) -> [u8; 13] {
    let management = if frame.kind() == Kind::Management { 0x10 } else { 0 };
    let mut nonce = [0; 13];
    nonce[0] = frame.tid() | management;
    nonce[1..7].copy_from_slice(&frame.transmitter());
    nonce[7..].copy_from_slice(&number(pn));
    nonce
}

/// The nonce of GCMP: address 2, the packet number.
#[cfg(feature = "aes-gcm")]
pub(crate) fn gcmp_nonce(frame: &Frame<'_>, pn: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..6].copy_from_slice(&frame.transmitter());
    nonce[6..].copy_from_slice(&number(pn));
    nonce
}
