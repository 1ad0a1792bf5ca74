//! HT in the mixed format, clause 19, with binary convolutional codes.

use super::{Band, Channel, PhyError, mcs as coding};
use crate::Nanoseconds;

pub(super) fn check(mcs: u8, channel: &Channel) -> Result<(), PhyError> {
    if mcs > 31 {
        return Err(PhyError::Rate("MCS 0 to 31"));
    }
    if channel.band == Band::Ghz6 {
        return Err(PhyError::Band("2.4 and 5 GHz"));
    }
    if !matches!(channel.width_MHz, 20 | 40) {
        return Err(PhyError::Width("20 and 40 MHz"));
    }
    if !matches!(channel.gi_ns, 400 | 800) { Err(PhyError::GuardInterval("400 and 800 ns")) } else { Ok(()) }
}

/// L-STF, L-LTF, L-SIG 20 us, HT-SIG 8, HT-STF 4, HT-LTFs 4 each, of which three streams need four (Table 19-13).
pub(super) const fn preamble_ns(mcs: u8) -> Nanoseconds {
    let trainings = match mcs / 8 + 1 {
        3 => 4,
        streams => streams as Nanoseconds,
    };
    20_000 + 8_000 + 4_000 + 4_000 * trainings
}

pub(super) fn data_bits_a_symbol(mcs: u8, channel: &Channel) -> u32 {
    let carriers = if channel.width_MHz == 40 { 108 } else { 52 };
    coding(mcs % 8).data_bits(carriers * (u32::from(mcs) / 8 + 1))
}

/// N_ES: a second encoder above 300 Mb/s (19.3.11.4 and the tables of 19.5).
pub(super) fn encoders(mcs: u8, channel: &Channel) -> u32 {
    let symbol_ns = 3_200 + u32::from(channel.gi_ns);
    u32::from(u64::from(data_bits_a_symbol(mcs, channel)) * 1_000 > 300 * u64::from(symbol_ns)) + 1
}
