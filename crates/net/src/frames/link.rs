//! What stands around a frame in a packet: the header of the capturing device before it, the FCS behind it; and what
//! packets are, of 802.11, Ethernet or IP.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wattlock_frames::{FCS_B, Frame, Kind, fcs};

use super::capture::{self, Packet, Piece, Stamp};
use super::wireless::{AVS, IEEE802_11, PPI, PRISM, RADIOTAP, is_wireless};

/// Link types of other media (tcpdump.org, Link-Layer Header Types).
const ETHERNET: i32 = 1;
const COOKED: i32 = 113;
const COOKED_2: i32 = 276;
/// Raw IP, as BSD and OpenBSD number it in files too; IPv4 alone; IPv6 alone.
const RAW_IP: [i32; 5] = [101, 12, 14, 228, 229];

/// Ether types (IEEE 802 Numbers, IANA).
const IPV4: u16 = 0x0800;
const ARP: u16 = 0x0806;
const IPV6: u16 = 0x86dd;
/// Tags of IEEE Std 802.1Q.
const TAGS: [u16; 2] = [0x8100, 0x88a8];

/// Flags of radiotap (radiotap.org, Flags).
const HAS_FCS: u8 = 0x10;
const IS_PADDED: u8 = 0x20;
const IS_BAD: u8 = 0x40;

/// Versions of AVS's header (linux-wlan, "AVS capture frame format" 2.1) but for the lowest four bits; it stands alone or in
/// the place of Prism's.
const AVS_VERSION: u32 = 0x8021_1000;
/// No header of a device is shorter.
const LEAST_DEVICE_B: usize = 8;
/// Packets by which it is learned whether an interface leaves an FCS on its frames.
const LEARNED_FROM: u32 = 10_000;

/// Interfaces of a capture of which a frame had an FCS that was right: what a flag says counts only there.
#[derive(Debug, Default, Clone)]
pub struct Sums(BTreeSet<u32>);

impl Sums {
    /// By the first packets of a file; nothing where it can be read once only.
    pub fn of_file(path: &Path) -> Self {
        let (mut sums, mut left) = (Self::default(), LEARNED_FROM);
        if path.metadata().is_ok_and(|about| about.is_file())
            && let Ok(source) = capture::open(path)
        {
            let _ = capture::read(source, |piece| {
                let Piece::Packet(packet) = piece else { return Ok(()) };
                sums.learn(&packet);
                left -= 1;
                if left == 0 { Err(()) } else { Ok(()) }
            });
        }
        sums
    }

    fn learn(&mut self, packet: &Packet) {
        let packet = &packet.unwrapped();
        if is_wireless(packet.link)
            && packet.is_whole
            && let Some((device, frame)) = device_B(packet).and_then(|at| packet.data.split_at_checked(at))
            && right(device, frame, packet.link).is_some()
        {
            self.0.insert(interface(packet.stamp));
        }
    }

    fn are_right(&self, packet: &Packet) -> bool {
        self.0.contains(&interface(packet.stamp))
    }
}

fn interface(stamp: Stamp) -> u32 {
    if let Stamp::Enhanced(interface, ..) = stamp { interface } else { 0 }
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
///
/// Whether an FCS is there is decided by the sum, as some devices leave it off and say that it's there: a frame without
/// a right one is damaged only where others of its interface have one.
pub fn parts(packet: &Packet, sums: &Sums, into: &mut Parts) -> Option<()> {
    let packet = &packet.unwrapped();
    let (device, frame) = packet.data.split_at_checked(device_B(packet)?)?;
    into.device.clear();
    into.device.extend_from_slice(device);
    into.mpdu.clear();
    let flags_at = flags_at(device, packet.link);
    let flags = flags_at.and_then(|at| device.get(at)).copied();
    if !packet.is_whole || flags.is_some_and(|flags| flags & IS_BAD != 0) {
        return None;
    }
    let padded_at = flags_at.filter(|_| flags.is_some_and(|flags| flags & IS_PADDED != 0));
    let mpdu = match right(device, frame, packet.link) {
        Some(mpdu) => mpdu,
        None if flags.is_some_and(|flags| flags & HAS_FCS != 0) && sums.are_right(packet) => return None,
        None => frame,
    };
    into.has_fcs = mpdu.len() < frame.len();
    if let Some(at) = flags_at {
        let flags = into.device.get_mut(at)?;
        *flags = if into.has_fcs { *flags | HAS_FCS } else { *flags & !HAS_FCS };
    }
    match padded_at.zip(unpadded(mpdu)) {
        Some((at, bare)) => {
            into.mpdu = bare;
            *into.device.get_mut(at)? &= !IS_PADDED;
        }
        None => into.mpdu.extend_from_slice(mpdu),
    }
    Some(())
}

/// The frame without its last four octets, if they are its FCS: that is of the frame on the air, which has no padding;
/// some devices count theirs in.
fn right<'a>(device: &[u8], frame: &'a [u8], link: i32) -> Option<&'a [u8]> {
    let (mpdu, sum) = frame.split_last_chunk::<FCS_B>()?;
    let is_padded = flags_at(device, link).and_then(|at| device.get(at)).is_some_and(|flags| flags & IS_PADDED != 0);
    let is_right = fcs(mpdu) == *sum || is_padded && unpadded(mpdu).is_some_and(|bare| fcs(&bare) == *sum);
    is_right.then_some(mpdu)
}

/// A data frame whose body the device put on a multiple of four, without what it put before the body.
fn unpadded(mpdu: &[u8]) -> Option<Vec<u8>> {
    let whole = Frame::parse(mpdu).ok().filter(|whole| whole.kind() == Kind::Data)?;
    let body = mpdu.get(whole.header().len().next_multiple_of(4)..)?;
    Some([whole.header(), body].concat())
}

fn device_B(packet: &Packet) -> Option<usize> {
    let word = |at: usize| packet.data.get(at..at + 4)?.first_chunk().copied();
    let length = match packet.link {
        IEEE802_11 => return Some(0),
        AVS => u32::from_be_bytes(word(4)?),
        PRISM => {
            // In the order of bytes of the machine that captured: the other way round it is longer than any packet.
            let (first, length) = (u32::from_be_bytes(word(0)?), word(4)?);
            let little = u32::from_le_bytes(length);
            let is_big = first & !0xf == AVS_VERSION || little as usize > packet.data.len();
            if is_big { u32::from_be_bytes(length) } else { little }
        }
        // Frames that have a header of their own behind this one are not read.
        PPI if le(packet.data.get(4..8)?) != IEEE802_11.cast_unsigned() => return None,
        _ => le(packet.data.get(2..4)?),
    };
    usize::try_from(length).ok().filter(|length| *length >= LEAST_DEVICE_B)
}

fn le(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// Where the flags stand in a radiotap header: behind the words that say what is there, and the time if there is one.
fn flags_at(header: &[u8], link: i32) -> Option<usize> {
    if link != RADIOTAP {
        return None;
    }
    let first = le(header.get(4..8)?);
    let words = header.get(4..)?.chunks_exact(4).take_while(|word| le(word) >> 31 == 1).count() + 1;
    let mut at = 4 + 4 * words;
    if first & 1 != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    (first & 2 != 0).then_some(at)
}

/// What a packet is, as a census counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// 802.11: beacons, authentication, association.
    Management,
    /// 802.11: RTS, CTS, acknowledgements.
    Control,
    /// 802.11: data.
    Data,
    /// 802.11: what came later.
    Extension,
    /// TCP over IP.
    Tcp,
    /// UDP over IP.
    Udp,
    /// ICMP, of IPv4 or IPv6.
    Icmp,
    /// Anything else over IP, and fragments behind the first.
    Ip,
    /// ARP.
    Arp,
    /// None of these.
    Other,
}

impl Sort {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Management,
        Self::Control,
        Self::Data,
        Self::Extension,
        Self::Tcp,
        Self::Udp,
        Self::Icmp,
        Self::Ip,
        Self::Arp,
        Self::Other,
    ];
}

/// A packet as its medium carried it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// Of 802.11 the MPDU with its FCS; of Ethernet the frame as captured, without one; else the IP packet.
    pub size_B: u32,
    /// What it is.
    pub sort: Sort,
    /// Whether an 802.11 frame says that its body is protected.
    pub is_protected: bool,
}

/// Why a packet is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncounted {
    /// Its link type is none that is read.
    Link,
    /// Its receiver says that its FCS was wrong.
    Damaged,
    /// No frame could be read.
    Malformed,
}

/// The largest packet that is believed: tshark's limit.
pub const LARGEST_B: u32 = 262_144;

/// Looks at a packet.
pub fn carried(packet: &Packet, sums: &Sums) -> Result<Carried, Uncounted> {
    if packet.whole_B > LARGEST_B {
        return Err(Uncounted::Malformed);
    }
    if is_wireless(packet.link) {
        return on_air(packet, sums);
    }
    let bytes = packet.data;
    let (device_B, ether_type) = match packet.link {
        ETHERNET => (0, ether_type(bytes).ok_or(Uncounted::Malformed)?),
        COOKED => (16, be16(bytes, 14).map(|kind| (16, kind)).ok_or(Uncounted::Malformed)?),
        COOKED_2 => (20, be16(bytes, 0).map(|kind| (20, kind)).ok_or(Uncounted::Malformed)?),
        link if RAW_IP.contains(&link) => match bytes.first().map(|first| first >> 4) {
            Some(4) => (0, (0, IPV4)),
            Some(6) => (0, (0, IPV6)),
            _ => return Err(Uncounted::Malformed),
        },
        _ => return Err(Uncounted::Link),
    };
    let (at, ether_type) = ether_type;
    let inside = bytes.get(at..).ok_or(Uncounted::Malformed)?;
    let size_B = packet.whole_B.checked_sub(device_B).ok_or(Uncounted::Malformed)?;
    Ok(Carried { size_B, sort: of_ip(ether_type, inside).ok_or(Uncounted::Malformed)?, is_protected: false })
}

fn on_air(packet: &Packet, sums: &Sums) -> Result<Carried, Uncounted> {
    let malformed = Uncounted::Malformed;
    let (device, frame) = device_B(packet).and_then(|at| packet.data.split_at_checked(at)).ok_or(malformed)?;
    let flags = flags_at(device, packet.link).and_then(|at| device.get(at)).copied();
    if flags.is_some_and(|flags| flags & IS_BAD != 0) {
        return Err(Uncounted::Damaged);
    }
    let by_flag = flags.map(|flags| flags & HAS_FCS != 0);
    let is_right = packet.is_whole && right(device, frame, packet.link).is_some();
    // The sum decides where a device says that there is one; of a frame that was cut what is said of it.
    let has_fcs = is_right
        || match by_flag {
            Some(flag) => flag && (!packet.is_whole || sums.are_right(packet)),
            None => packet.fcs_B.is_some_and(|octets| octets > 0),
        };
    let missing_B = if has_fcs { 0 } else { FCS_B };
    let there_B = frame.len().saturating_sub(if has_fcs && packet.is_whole { FCS_B } else { 0 });
    let parsed = Frame::parse(&frame[..there_B]).map_err(|_| malformed)?;
    let is_padded = flags.is_some_and(|flags| flags & IS_PADDED != 0) && parsed.kind() == Kind::Data;
    let header_B = parsed.header().len();
    let padding_B = if is_padded { header_B.next_multiple_of(4) - header_B } else { 0 };
    let whole_B = packet.whole_B as usize + missing_B;
    let size_B = whole_B.checked_sub(device.len() + padding_B).and_then(|size_B| u32::try_from(size_B).ok());
    let sort = match parsed.kind() {
        Kind::Management => Sort::Management,
        Kind::Control => Sort::Control,
        Kind::Data => Sort::Data,
        Kind::Extension => Sort::Extension,
    };
    Ok(Carried { size_B: size_B.ok_or(malformed)?, sort, is_protected: parsed.is_protected() })
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
}

/// What an Ethernet frame carries and from where, behind its tags of virtual networks.
fn ether_type(bytes: &[u8]) -> Option<(usize, u16)> {
    let mut at = 12;
    loop {
        let kind = be16(bytes, at)?;
        at += 2;
        if !TAGS.contains(&kind) {
            return Some((at, kind));
        }
        at += 2;
    }
}

/// What an IP packet carries; `None` where its header is cut.
fn of_ip(ether_type: u16, bytes: &[u8]) -> Option<Sort> {
    let (protocol, is_later) = match ether_type {
        ARP => return Some(Sort::Arp),
        // The offset of a fragment is the lower 13 bits.
        IPV4 => (*bytes.get(9)?, be16(bytes, 6)? & 0x1fff != 0),
        IPV6 => (*bytes.get(6)?, false),
        _ => return Some(Sort::Other),
    };
    Some(match protocol {
        _ if is_later => Sort::Ip,
        6 => Sort::Tcp,
        17 => Sort::Udp,
        1 | 58 => Sort::Icmp,
        _ => Sort::Ip,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::capture::Stamp;
    use super::*;

    /// What is left of a frame of 26 octets of header and 10 of body, two of padding between them, where the FCS is that
    /// of `summed`.
    fn parts_with_fcs_of(summed: &[u8], sums: &Sums) -> Option<(Vec<u8>, bool)> {
        let (header, body) = ([&[0x88, 0x01][..], &[5; 24]].concat(), [7; 10]);
        let data = [&[0, 0, 9, 0, 2, 0, 0, 0, HAS_FCS | IS_PADDED], &*header, &[0; 2], &body, &fcs(summed)].concat();
        let packet = Packet {
            link: RADIOTAP,
            whole_B: u32::try_from(data.len()).unwrap(),
            data: &data,
            is_whole: true,
            fcs_B: None,
            time_ns: None,
            stamp: Stamp::Simple,
        };
        let mut into = Parts { device: Vec::new(), mpdu: Vec::new(), has_fcs: false };
        parts(&packet, sums, &mut into)?;
        assert_eq!(into.device[8], if into.has_fcs { HAS_FCS } else { 0 });
        Some((into.mpdu, into.has_fcs))
    }

    #[test]
    fn the_fcs_of_a_padded_frame_is_that_of_the_air_or_of_the_padded_one() {
        let bare = [&[0x88, 0x01][..], &[5; 24], &[7; 10]].concat();
        let padded = [&bare[..26], &[0; 2], &bare[26..]].concat();
        let (none, right) = (Sums::default(), Sums(BTreeSet::from([0])));
        for sums in [&none, &right] {
            assert_eq!(parts_with_fcs_of(&bare, sums), Some((bare.clone(), true)));
            assert_eq!(parts_with_fcs_of(&padded, sums), Some((bare.clone(), true)));
        }
        // Damaged where others have a right one; else there is none, whatever the flag says.
        assert_eq!(parts_with_fcs_of(&bare[1..], &right), None);
        let without = [&bare[..], &fcs(&bare[1..])].concat();
        assert_eq!(parts_with_fcs_of(&bare[1..], &none), Some((without, false)));
    }

    #[test]
    fn a_header_of_avs_or_prism_is_as_long_as_it_says_in_its_order_of_bytes() {
        let header = |first: [u8; 4], length: [u8; 4]| [&first[..], &length, &[0; 80]].concat();
        let length_B = |link: i32, data: &[u8]| {
            let (whole_B, stamp) = (88, Stamp::Simple);
            device_B(&Packet { link, whole_B, data, is_whole: true, fcs_B: None, time_ns: None, stamp })
        };
        let avs = header([0x80, 0x21, 0x10, 1], [0, 0, 0, 64]);
        assert_eq!((length_B(AVS, &avs), length_B(PRISM, &avs)), (Some(64), Some(64)));
        assert_eq!(length_B(PRISM, &header([0x44, 0, 0, 0], [80, 0, 0, 0])), Some(80));
        assert_eq!(length_B(PRISM, &header([0, 0, 0, 0x44], [0, 0, 0, 80])), Some(80));
        assert_eq!(length_B(AVS, &header([0x80, 0x21, 0x10, 1], [0; 4])), None);
    }
}
