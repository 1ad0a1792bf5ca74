//! A view on an MPDU without its FCS (9.2.3, 9.2.4, 9.3.2).

use crate::{Error, Malformed};

/// A MAC address.
pub type Address = [u8; 6];

/// What a frame is for (9.2.4.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of the network itself: beacons, authentication, association.
    Management,
    /// RTS, CTS, acknowledgements.
    Control,
    /// An MSDU, a part of one, or none (null function).
    Data,
    /// What came later: DMG beacons, S1G.
    Extension,
}

pub(crate) const PROTECTED: u8 = 0x40;
pub(crate) const HT_CONTROL: u8 = 0x80;
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const MORE_FRAGMENTS: u8 = 0x04;
const QOS: u8 = 0x80;
const NO_DATA: u8 = 0x40;
const AMSDU: u8 = 0x80;
/// A header with three addresses.
const SHORT_B: usize = 24;
/// LLC and SNAP of RFC 1042 and of IEEE 802.1H begin so.
const SNAP: [u8; 3] = [0xaa, 0xaa, 0x03];

/// An MPDU: its header is whole, the rest is its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    mpdu: &'a [u8],
    header_B: usize,
}

impl<'a> Frame<'a> {
    /// Reads the header.
    ///
    /// * `mpdu`: without its FCS.
    ///
    /// # Errors
    /// [`Malformed::Header`] where it ends early, [`Malformed::Version`].
    pub fn parse(mpdu: &'a [u8]) -> Result<Self, Error> {
        let &[first, second, ..] = mpdu else { return Err(Malformed::Header.into()) };
        if first & 0x03 != 0 {
            return Err(Malformed::Version.into());
        }
        let header_B = match kind(first) {
            // What a control or an extension frame carries is all its own.
            Kind::Control | Kind::Extension => mpdu.len(),
            Kind::Management => SHORT_B + if second & HT_CONTROL == 0 { 0 } else { 4 },
            Kind::Data => {
                let fourth = if second & (TO_DS | FROM_DS) == TO_DS | FROM_DS { 6 } else { 0 };
                let qos = match (first & QOS != 0, second & HT_CONTROL != 0) {
                    (false, _) => 0,
                    (true, false) => 2,
                    (true, true) => 6,
                };
                SHORT_B + fourth + qos
            }
        };
        if mpdu.len() < header_B { Err(Malformed::Header.into()) } else { Ok(Self { mpdu, header_B }) }
    }

    /// All its bytes.
    #[must_use]
    pub fn mpdu(&self) -> &'a [u8] {
        self.mpdu
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &'a [u8] {
        &self.mpdu[..self.header_B]
    }

    /// What the header is followed by, protected or not.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        &self.mpdu[self.header_B..]
    }

    /// What it is for.
    #[must_use]
    pub fn kind(&self) -> Kind {
        kind(self.mpdu[0])
    }

    /// The subtype, 0 to 15.
    #[must_use]
    pub fn subtype(&self) -> u8 {
        self.mpdu[0] >> 4
    }

    /// The second octet of the frame control: flags.
    pub(crate) fn flags(&self) -> u8 {
        self.mpdu[1]
    }

    /// Whether it says that its body is protected.
    #[must_use]
    pub fn is_protected(&self) -> bool {
        self.flags() & PROTECTED != 0
    }

    /// Whether it is a data frame that carries data: no null function.
    #[must_use]
    pub fn carries_data(&self) -> bool {
        self.kind() == Kind::Data && self.mpdu[0] & NO_DATA == 0
    }

    /// Whether more fragments of the same MSDU follow.
    #[must_use]
    pub fn has_more_fragments(&self) -> bool {
        self.flags() & MORE_FRAGMENTS != 0
    }

    fn sequence_control(&self) -> u16 {
        if self.header_B < SHORT_B { 0 } else { u16::from_le_bytes([self.mpdu[22], self.mpdu[23]]) }
    }

    /// Sequence number of the MSDU, 0 to 4095.
    #[must_use]
    pub fn sequence(&self) -> u16 {
        self.sequence_control() >> 4
    }

    /// Number of the fragment, 0 to 15.
    #[must_use]
    pub fn fragment(&self) -> u8 {
        (self.sequence_control() & 0x0f) as u8
    }

    /// Whether it is a part of an MSDU.
    #[must_use]
    pub fn is_fragment(&self) -> bool {
        self.has_more_fragments() || self.fragment() > 0
    }

    fn address(&self, from: usize) -> Address {
        let mut address = [0; 6];
        // A control frame may be shorter than its addresses; those that are missing are zero.
        if let Some(bytes) = self.mpdu.get(from..from + 6) {
            address.copy_from_slice(bytes);
        }
        address
    }

    /// Who receives it on the air: address 1.
    #[must_use]
    pub fn receiver(&self) -> Address {
        self.address(4)
    }

    /// Who sends it on the air: address 2.
    #[must_use]
    pub fn transmitter(&self) -> Address {
        self.address(10)
    }

    /// Address 3: the BSSID, or where it goes to or comes from.
    #[must_use]
    pub fn third(&self) -> Address {
        self.address(16)
    }

    /// Whether it goes to more than one station.
    #[must_use]
    pub fn is_group_addressed(&self) -> bool {
        self.mpdu.get(4).is_some_and(|first| first & 1 == 1)
    }

    /// To and from the distribution system; only data frames go there, whatever the flags of others are.
    fn directions(&self) -> (bool, bool) {
        let is_data = self.kind() == Kind::Data;
        (is_data && self.flags() & TO_DS != 0, is_data && self.flags() & FROM_DS != 0)
    }

    /// Whom the MSDU is for (table 9-30).
    #[must_use]
    pub fn destination(&self) -> Address {
        if self.directions().0 { self.third() } else { self.receiver() }
    }

    /// Whom the MSDU is from (table 9-30).
    #[must_use]
    pub fn source(&self) -> Address {
        match self.directions() {
            (_, false) => self.transmitter(),
            (false, true) => self.third(),
            (true, true) => self.address(SHORT_B),
        }
    }

    /// The fourth address, of a frame that has one.
    #[must_use]
    pub fn fourth(&self) -> Option<Address> {
        (self.kind() == Kind::Data && self.directions() == (true, true)).then(|| self.address(SHORT_B))
    }

    /// The QoS control field, of a frame that has one.
    #[must_use]
    pub fn qos_control(&self) -> Option<[u8; 2]> {
        let at = SHORT_B + if self.directions() == (true, true) { 6 } else { 0 };
        let has = self.kind() == Kind::Data && self.mpdu[0] & QOS != 0;
        has.then(|| self.mpdu.get(at..at + 2)).flatten().map(|bytes| [bytes[0], bytes[1]])
    }

    /// The traffic identifier; 0 of a frame without QoS.
    #[must_use]
    pub fn tid(&self) -> u8 {
        self.qos_control().map_or(0, |control| control[0] & 0x0f)
    }

    /// Whether it says that it holds an aggregate of MSDUs.
    #[must_use]
    pub fn is_aggregate(&self) -> bool {
        self.qos_control().is_some_and(|control| control[0] & AMSDU != 0)
    }

    /// Whether it says that it holds an aggregate and holds one MSDU: the flag, which may be unprotected, was set by
    /// somebody else (CVE-2020-24588). Of a frame that is not protected.
    #[must_use]
    pub fn is_forged_aggregate(&self) -> bool {
        self.is_aggregate() && self.body().starts_with(&SNAP)
    }

    /// The EAPOL packet that it carries in the clear, behind LLC and SNAP.
    #[must_use]
    pub fn eapol(&self) -> Option<&'a [u8]> {
        let is_plain = self.carries_data() && !self.is_protected() && !self.is_fragment() && !self.is_aggregate();
        is_plain.then(|| self.body().strip_prefix(&[0xaa, 0xaa, 0x03, 0, 0, 0, 0x88, 0x8e])).flatten()
    }
}

fn kind(first: u8) -> Kind {
    match first >> 2 & 0x03 {
        0 => Kind::Management,
        1 => Kind::Control,
        2 => Kind::Data,
        _ => Kind::Extension,
    }
}
