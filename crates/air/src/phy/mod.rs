//! How long a PPDU is on the air, one module a PHY clause of IEEE Std 802.11-2020 (HE: 802.11ax-2021).
//!
//! A [`Rate`] on a [`Channel`] is checked once by [`Rate::check`]; after that every duration is defined.

mod channel;
pub mod dsss;
pub mod he;
pub mod ht;
mod modulation;
pub mod ofdm;
pub mod vht;

use crate::Nanoseconds;

pub use channel::{Band, Channel, PhyError, Preamble};
pub use modulation::Modulation;
pub(crate) use modulation::mcs;

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
