//! What stands around a frame in a packet: the header of the capturing device before it, the FCS behind it.
#![forbid(unsafe_code)]

use wattlock_frames::{FCS_B, Frame, Kind, fcs};

use super::capture::Packet;

/// Link types (tcpdump.org, Link-Layer Header Types).
const IEEE802_11: i32 = 105;
const PRISM: i32 = 119;
const RADIOTAP: i32 = 127;
const PPI: i32 = 192;

/// Flags of radiotap (radiotap.org, Flags).
const HAS_FCS: u8 = 0x10;
const IS_PADDED: u8 = 0x20;
const IS_BAD: u8 = 0x40;

/// Whether frames of this link type can be read.
pub fn is_wireless(link: i32) -> bool {
    matches!(link, IEEE802_11 | PRISM | RADIOTAP | PPI)
}

/// A packet taken apart.
pub struct Parts {
    /// The header of the capturing device, as a copy of the packet begins.
    pub device: Vec<u8>,
    /// The frame without an FCS.
    pub mpdu: Vec<u8>,
    /// Whether an FCS stood behind it.
    pub has_fcs: bool,
}

/// Takes a packet apart; `None` where that can't be done, or where the frame was damaged on the air or cut.
pub fn parts(packet: &Packet, into: &mut Parts) -> Option<()> {
    let (device, frame) = packet.data.split_at_checked(device_B(packet)?)?;
    into.device.clear();
    into.device.extend_from_slice(device);
    into.mpdu.clear();
    let flags_at = (packet.link == RADIOTAP).then(|| flags_at(device)).flatten();
    let flags = flags_at.and_then(|at| device.get(at)).copied();
    if !packet.is_whole || flags.is_some_and(|flags| flags & IS_BAD != 0) {
        return None;
    }
    let with_fcs = frame.split_last_chunk::<FCS_B>();
    let right = with_fcs.filter(|(mpdu, sum)| fcs(mpdu) == **sum).map(|(mpdu, _)| mpdu);
    let mpdu = match flags {
        Some(flags) if flags & HAS_FCS != 0 => right?,
        Some(_) => frame,
        // Nothing says whether there is an FCS: four bytes that are right are one.
        None => right.unwrap_or(frame),
    };
    into.has_fcs = mpdu.len() < frame.len();
    let padding = flags_at.filter(|_| flags.is_some_and(|flags| flags & IS_PADDED != 0));
    match padding.zip(Frame::parse(mpdu).ok()) {
        Some((at, whole)) if whole.kind() == Kind::Data => {
            // The device put the body on a multiple of four.
            let header_B = whole.header().len();
            into.mpdu.extend_from_slice(whole.header());
            into.mpdu.extend_from_slice(mpdu.get(header_B.next_multiple_of(4)..)?);
            *into.device.get_mut(at)? &= !IS_PADDED;
        }
        _ => into.mpdu.extend_from_slice(mpdu),
    }
    Some(())
}

fn device_B(packet: &Packet) -> Option<usize> {
    let bytes = packet.data;
    match packet.link {
        IEEE802_11 => Some(0),
        PRISM => bytes.get(4..8).map(|length| le(length) as usize),
        _ => bytes.get(2..4).map(|length| le(length) as usize),
    }
}

fn le(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// Where the flags stand in a radiotap header: behind the words that say what is there, and the time if there is one.
fn flags_at(header: &[u8]) -> Option<usize> {
    let first = le(header.get(4..8)?);
    let words = header.get(4..)?.chunks_exact(4).take_while(|word| le(word) >> 31 == 1).count() + 1;
    let mut at = 4 + 4 * words;
    if first & 1 != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    (first & 2 != 0).then_some(at)
}
