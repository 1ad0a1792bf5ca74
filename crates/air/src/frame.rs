//! Octets of frames: clause 9 (formats) and clause 12 (protection).

use crate::Nanoseconds;
use crate::phy::{Channel, Rate};

/// Acknowledgement (9.3.1.4).
pub const ACK_B: u32 = 14;
/// Clear to send (9.3.1.3).
pub const CTS_B: u32 = 14;
/// Request to send (9.3.1.2).
pub const RTS_B: u32 = 20;
/// Compressed BlockAck of up to 64 MPDUs (9.3.1.8).
pub const BLOCK_ACK_B: u32 = 32;
/// Frame check sequence.
pub const FCS_B: u32 = 4;
/// MAC header of a data frame with three addresses (9.3.2.1).
pub const HEADER_B: u32 = 24;
/// QoS Control (9.2.4.5).
pub const QOS_B: u32 = 2;
/// LLC and SNAP (IEEE Std 802.2, RFC 1042).
pub const LLC_B: u32 = 8;
/// IPv4 without options (RFC 791).
pub const IP_B: u32 = 20;
/// UDP (RFC 768).
pub const UDP_B: u32 = 8;
/// TCP without options (RFC 9293).
pub const TCP_B: u32 = 20;
/// TCP timestamps with their padding (RFC 7323, appendix A).
pub const TCP_TIMESTAMPS_B: u32 = 12;
/// Delimiter before each MPDU of an A-MPDU (9.7.1); the MPDUs are padded to multiples of 4 octets.
pub const DELIMITER_B: u32 = 4;
/// Largest MSDU (9.2.4.7.1).
pub const MSDU_MAX_B: u32 = 2_304;
/// A beacon of eight letters' SSID (9.3.3.2): header 24, fixed fields 12, SSID 10, supported rates 10, DSSS parameter
/// set 3, TIM 6, ERP 3, extended rates 6, FCS 4.
pub const BEACON_B: u32 = 78;

/// How frames are protected (clause 12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// Not at all.
    #[default]
    None,
    /// 4 octets of IV, 4 of ICV (12.3.2.2).
    Wep,
    /// 8 octets of IV, 4 of ICV a fragment, and 8 of Michael an MSDU (12.5.2).
    Tkip,
    /// 8 octets of header, 8 of MIC (12.5.3).
    Ccmp,
    /// 8 octets of header, 16 of MIC: CCMP-256, GCMP-128 and GCMP-256 (12.5.3, 12.5.5).
    Long,
}

impl Protection {
    /// Octets that each MPDU gets.
    #[must_use]
    pub const fn mpdu_B(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Wep => 8,
            Self::Tkip => 12,
            Self::Ccmp => 16,
            Self::Long => 24,
        }
    }

    /// Octets that an MSDU gets before it is cut into fragments.
    #[must_use]
    pub const fn msdu_B(self) -> u32 {
        match self {
            Self::Tkip => 8,
            _ => 0,
        }
    }
}

/// What surrounds an MSDU on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Framing {
    /// QoS data frames.
    pub qos: bool,
    /// Protection.
    pub protection: Protection,
    /// Largest fragment, MAC header and FCS included (dot11FragmentationThreshold); 0 for none.
    pub fragment_B: u32,
}

impl Framing {
    /// Header, protection and FCS of each MPDU.
    #[must_use]
    pub const fn mpdu_overhead_B(self) -> u32 {
        HEADER_B + if self.qos { QOS_B } else { 0 } + self.protection.mpdu_B() + FCS_B
    }

    /// The MPDUs of an IP packet: how many, octets of each but the last, octets of the last (10.4).
    ///
    /// * `packet_B`: the IP packet; LLC and Michael are added here.
    #[must_use]
    pub fn mpdus(self, packet_B: u32) -> Fragments {
        let msdu_B = packet_B + LLC_B + self.protection.msdu_B();
        let plain = HEADER_B + if self.qos { QOS_B } else { 0 } + FCS_B;
        // The threshold is compared with the frame before protection; a fragment's body is even (10.4).
        let body_B = (self.fragment_B.saturating_sub(plain)) & !1;
        if self.fragment_B == 0 || body_B == 0 || msdu_B + plain <= self.fragment_B {
            let last_B = msdu_B + self.mpdu_overhead_B();
            return Fragments { count: 1, full_B: last_B, last_B };
        }
        let count = msdu_B.div_ceil(body_B);
        let rest_B = msdu_B - (count - 1) * body_B;
        let overhead_B = self.mpdu_overhead_B();
        Fragments { count, full_B: body_B + overhead_B, last_B: rest_B + overhead_B }
    }
}

/// An MSDU in MPDUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fragments {
    /// How many.
    pub count: u32,
    /// Each but the last.
    pub full_B: u32,
    /// The last.
    pub last_B: u32,
}

impl Fragments {
    /// Octets of all of them at `rate`, without what the PHY adds.
    #[must_use]
    pub fn octets_ns(self, rate: Rate, channel: &Channel) -> Nanoseconds {
        let octets = u64::from(self.count.saturating_sub(1)) * u64::from(self.full_B) + u64::from(self.last_B);
        octets * 8_000_000_000 / rate.bits_per_s(channel).max(1)
    }

    /// MPDU `index`, from 0.
    #[must_use]
    pub const fn mpdu_B(self, index: u32) -> u32 {
        if index + 1 >= self.count { self.last_B } else { self.full_B }
    }
}
