//! How long a PPDU is on the air, one module a PHY clause of IEEE Std 802.11-2020 (HE: 802.11ax-2021).
//!
//! A [`Rate`] on a [`Channel`] is checked once by [`Rate::check`]; after that every duration is defined.

pub mod dsss;
pub mod he;
pub mod ht;
pub mod ofdm;
pub mod vht;

use core::fmt;

use crate::Nanoseconds;

/// Frequency band; it decides on the signal extension and on which PHYs there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Band {
    /// 2.4 GHz: OFDM frames end with 6 us of silence, so that 802.11b's SIFS of 10 us fits (18.3.2.4).
    #[default]
    Ghz2_4,
    /// 5 GHz.
    Ghz5,
    /// 6 GHz: data by HE only.
    Ghz6,
}

impl Band {
    /// Silence that belongs to each OFDM frame (aSignalExtension).
    #[must_use]
    pub const fn signal_extension_ns(self) -> Nanoseconds {
        match self {
            Self::Ghz2_4 => 6_000,
            Self::Ghz5 | Self::Ghz6 => 0,
        }
    }
}

/// The HR/DSSS PLCP preamble; other PHYs have one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preamble {
    /// 144 us and a header of 48 us at 1 Mb/s (16.2.2.2).
    #[default]
    Long,
    /// 72 us and a header of 24 us at 2 Mb/s (16.2.2.3); never at 1 Mb/s.
    Short,
}

/// What all frames of a network share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Band.
    pub band: Band,
    /// Width.
    pub width_MHz: u16,
    /// Guard interval: 800 or 400 (HT, VHT), 800, 1600 or 3200 (HE).
    pub gi_ns: u16,
    /// Preamble of DSSS frames.
    pub preamble: Preamble,
}

impl Default for Channel {
    fn default() -> Self {
        Self { band: Band::Ghz2_4, width_MHz: 20, gi_ns: 800, preamble: Preamble::Long }
    }
}

/// One way to send bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// DSSS and CCK, clauses 15 and 16: 1000, 2000, 5500, 11000.
    Dsss {
        /// kb/s.
        kb_s: u16,
    },
    /// OFDM and ERP-OFDM, clauses 17 and 18: 6, 9, 12, 18, 24, 36, 48, 54.
    Ofdm {
        /// Mb/s.
        Mb_s: u16,
    },
    /// HT, clause 19: 0 to 31; its streams are `mcs / 8 + 1`.
    Ht {
        /// Modulation and coding.
        mcs: u8,
    },
    /// VHT, clause 21: 0 to 9.
    Vht {
        /// Modulation and coding.
        mcs: u8,
        /// Spatial streams, 1 to 8.
        streams: u8,
    },
    /// HE, clause 27: 0 to 11.
    He {
        /// Modulation and coding.
        mcs: u8,
        /// Spatial streams, 1 to 8.
        streams: u8,
    },
}

/// Why a rate can't be used on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhyError {
    /// Not a rate of its PHY; the right ones.
    Rate(&'static str),
    /// Not a width of this PHY; the right ones.
    Width(&'static str),
    /// Not a guard interval of this PHY; the right ones.
    GuardInterval(&'static str),
    /// Not a band of this PHY; the right ones.
    Band(&'static str),
    /// Not a number of streams of this PHY; the right ones.
    Streams(&'static str),
    /// The standard leaves out this combination of MCS, width and streams.
    Combination,
}

impl fmt::Display for PhyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(right) | Self::Width(right) | Self::GuardInterval(right) => write!(f, "there are {right}"),
            Self::Band(right) => write!(f, "there is {right}"),
            Self::Streams(right) => write!(f, "there are {right}"),
            Self::Combination => f.write_str("the standard leaves out this MCS at this width and number of streams"),
        }
    }
}

/// Constellation and code of a subcarrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulation {
    /// Coded bits a subcarrier and stream (N_BPSCS).
    pub bits: u8,
    /// Numerator of the code rate.
    pub code: u8,
    /// Denominator of the code rate.
    pub of: u8,
}

impl Modulation {
    const fn new(bits: u8, code: u8, of: u8) -> Self {
        Self { bits, code, of }
    }

    /// Whole data bits a symbol over `carriers` data subcarriers of all streams.
    const fn data_bits(self, carriers: u32) -> u32 {
        carriers * self.bits as u32 * self.code as u32 / self.of as u32
    }
}

/// MCS 0 to 11 of HT (to 7), VHT (to 9) and HE: Tables 19-27, 21-30 and 27-54.
pub(crate) const MCS: [Modulation; 12] = [
    Modulation::new(1, 1, 2),
    Modulation::new(2, 1, 2),
    Modulation::new(2, 3, 4),
    Modulation::new(4, 1, 2),
    Modulation::new(4, 3, 4),
    Modulation::new(6, 2, 3),
    Modulation::new(6, 3, 4),
    Modulation::new(6, 5, 6),
    Modulation::new(8, 3, 4),
    Modulation::new(8, 5, 6),
    Modulation::new(10, 3, 4),
    Modulation::new(10, 5, 6),
];

pub(crate) fn mcs(index: u8) -> Modulation {
    MCS[usize::from(index).min(MCS.len() - 1)]
}

impl Rate {
    /// Whether this rate exists on `channel`.
    ///
    /// # Errors
    /// What is wrong, with the right values.
    pub fn check(self, channel: &Channel) -> Result<(), PhyError> {
        match self {
            Self::Dsss { kb_s } => dsss::check(kb_s, channel),
            Self::Ofdm { Mb_s } => ofdm::check(Mb_s),
            Self::Ht { mcs } => ht::check(mcs, channel),
            Self::Vht { mcs, streams } => vht::check(mcs, streams, channel),
            Self::He { mcs, streams } => he::check(mcs, streams, channel),
        }
    }

    /// What stands before the PSDU: training, signalling and headers.
    #[must_use]
    pub const fn preamble_ns(self, channel: &Channel) -> Nanoseconds {
        match self {
            Self::Dsss { kb_s } => dsss::preamble_ns(kb_s, channel.preamble),
            Self::Ofdm { .. } => ofdm::PREAMBLE_NS,
            Self::Ht { mcs } => ht::preamble_ns(mcs),
            Self::Vht { streams, .. } => vht::preamble_ns(streams),
            Self::He { streams, .. } => he::preamble_ns(streams),
        }
    }

    /// The PSDU itself, from the first bit of its service field to the end of its last symbol.
    ///
    /// * `psdu_B`: MAC header, protected body and FCS together, or a whole A-MPDU.
    #[must_use]
    pub fn payload_ns(self, psdu_B: u32, channel: &Channel) -> Nanoseconds {
        match self {
            Self::Dsss { kb_s } => dsss::payload_ns(psdu_B, kb_s),
            Self::Ofdm { .. } | Self::Ht { .. } | Self::Vht { .. } | Self::He { .. } => {
                self.symbols(psdu_B, channel) * self.symbol_ns(channel)
            }
        }
    }

    /// Time on air of one PPDU.
    ///
    /// * `psdu_B`: MAC header, protected body and FCS together, or a whole A-MPDU.
    /// * Returns whole nanoseconds with the signal extension; contention and the acknowledgement are not included.
    ///
    /// With a short guard interval it ends with the last symbol; TXTIME of 19.4.3 and 21.4.3 rounds that up to 4 us,
    /// during which nothing is sent.
    ///
    /// # Source
    /// IEEE Std 802.11-2020, 16.3.4, 17.4.3, 18.5.3, 19.4.3, 21.4.3; IEEE Std 802.11ax-2021, 27.4.3 (TXTIME).
    #[must_use]
    pub fn time_on_air_ns(self, psdu_B: u32, channel: &Channel) -> Nanoseconds {
        let extension = if self.is_dsss() { 0 } else { channel.band.signal_extension_ns() };
        self.preamble_ns(channel) + self.payload_ns(psdu_B, channel) + extension
    }

    /// Whether it is DSSS or CCK.
    #[must_use]
    pub const fn is_dsss(self) -> bool {
        matches!(self, Self::Dsss { .. })
    }

    /// Whether frames are QoS frames that may be aggregated.
    #[must_use]
    pub const fn aggregates(self) -> bool {
        matches!(self, Self::Ht { .. } | Self::Vht { .. } | Self::He { .. })
    }

    /// Spatial streams.
    #[must_use]
    pub const fn streams(self) -> u8 {
        match self {
            Self::Dsss { .. } | Self::Ofdm { .. } => 1,
            Self::Ht { mcs } => mcs / 8 + 1,
            Self::Vht { streams, .. } | Self::He { streams, .. } => streams,
        }
    }

    /// Constellation and code; none for DSSS.
    #[must_use]
    pub fn modulation(self) -> Option<Modulation> {
        match self {
            Self::Dsss { .. } => None,
            Self::Ofdm { Mb_s } => Some(ofdm::modulation(Mb_s)),
            Self::Ht { mcs: index } => Some(mcs(index % 8)),
            Self::Vht { mcs: index, .. } | Self::He { mcs: index, .. } => Some(mcs(index)),
        }
    }

    /// Data rate of the PSDU, b/s, rounded down.
    #[must_use]
    pub fn bits_per_s(self, channel: &Channel) -> u64 {
        match self {
            Self::Dsss { kb_s } => u64::from(kb_s) * 1_000,
            _ => u64::from(self.data_bits_a_symbol(channel)) * 1_000_000_000 / self.symbol_ns(channel),
        }
    }

    /// Data bits a symbol (N_DBPS); 0 for DSSS.
    #[must_use]
    pub fn data_bits_a_symbol(self, channel: &Channel) -> u32 {
        match self {
            Self::Dsss { .. } => 0,
            Self::Ofdm { Mb_s } => u32::from(Mb_s) * 4,
            Self::Ht { mcs } => ht::data_bits_a_symbol(mcs, channel),
            Self::Vht { mcs, streams } => vht::data_bits_a_symbol(mcs, streams, channel),
            Self::He { mcs, streams } => he::data_bits_a_symbol(mcs, streams, channel),
        }
    }

    /// OFDM symbols of a PSDU; 0 for DSSS.
    #[must_use]
    pub fn symbols(self, psdu_B: u32, channel: &Channel) -> u64 {
        // 16 bits of service field and 6 tail bits an encoder (17.3.5, 19.3.11, 21.3.10, 27.3.12).
        let encoders = match self {
            Self::Dsss { .. } => return 0,
            Self::Ofdm { .. } | Self::He { .. } => 1,
            Self::Ht { mcs } => ht::encoders(mcs, channel),
            Self::Vht { mcs, streams } => vht::encoders(mcs, streams, channel),
        };
        let bits = 16 + 8 * u64::from(psdu_B) + 6 * u64::from(encoders);
        bits.div_ceil(u64::from(self.data_bits_a_symbol(channel)).max(1))
    }

    const fn symbol_ns(self, channel: &Channel) -> Nanoseconds {
        match self {
            Self::Dsss { .. } | Self::Ofdm { .. } => ofdm::SYMBOL_NS,
            Self::Ht { .. } | Self::Vht { .. } => 3_200 + channel.gi_ns as Nanoseconds,
            Self::He { .. } => he::SYMBOL_NS + channel.gi_ns as Nanoseconds,
        }
    }
}
