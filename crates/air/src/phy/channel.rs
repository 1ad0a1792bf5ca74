//! What all frames of a network share, and why a rate can't be used on it.

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
