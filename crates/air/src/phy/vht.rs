//! VHT single-user PPDUs, clause 21, with binary convolutional codes.

use super::{Band, Channel, PhyError, mcs as coding};
use crate::Nanoseconds;

pub(super) fn check(mcs: u8, streams: u8, channel: &Channel) -> Result<(), PhyError> {
    if mcs > 9 {
        return Err(PhyError::Rate("MCS 0 to 9"));
    }
    if !(1..=8).contains(&streams) {
        return Err(PhyError::Streams("1 to 8 streams"));
    }
    if channel.band != Band::Ghz5 {
        return Err(PhyError::Band("5 GHz only"));
    }
    if !matches!(channel.width_MHz, 20 | 40 | 80 | 160) {
        return Err(PhyError::Width("20, 40, 80, 160 MHz"));
    }
    if !matches!(channel.gi_ns, 400 | 800) {
        return Err(PhyError::GuardInterval("400 and 800 ns"));
    }
    if left_out(mcs, streams, channel.width_MHz) { Err(PhyError::Combination) } else { Ok(()) }
}

/// What 21.5 leaves out: each encoder must get a whole number of coded and of data bits.
fn left_out(mcs: u8, streams: u8, width_MHz: u16) -> bool {
    match (width_MHz, mcs) {
        (20, 9) => !matches!(streams, 3 | 6),
        (80, 6) => matches!(streams, 3 | 7),
        (80, 9) => streams == 6,
        (160, 9) => streams == 3,
        _ => false,
    }
}

/// VHT-LTFs for a number of streams (Table 21-13); HE-LTFs go by the same table.
pub(super) const fn trainings(streams: u8) -> Nanoseconds {
    match streams {
        0..=2 => streams as Nanoseconds,
        3 | 4 => 4,
        5 | 6 => 6,
        _ => 8,
    }
}

/// L-STF, L-LTF, L-SIG 20 us, VHT-SIG-A 8, VHT-STF 4, VHT-LTFs 4 each, VHT-SIG-B 4 (21.3.4 and Table 21-5). ns-3 leaves
/// VHT-SIG-B out of single-user PPDUs: its are shorter by these 4 us.
pub(super) const fn preamble_ns(streams: u8) -> Nanoseconds {
    20_000 + 8_000 + 4_000 + 4_000 * trainings(streams) + 4_000
}

pub(super) fn data_bits_a_symbol(mcs: u8, streams: u8, channel: &Channel) -> u32 {
    let carriers = match channel.width_MHz {
        20 => 52,
        40 => 108,
        80 => 234,
        _ => 468,
    };
    coding(mcs).data_bits(carriers * u32::from(streams))
}

/// N_ES of the tables of 21.5: one more encoder every 540 Mb/s (600 with the short guard interval), which is the same
/// number of data bits a symbol, 2160; and one more where the bits would not divide.
pub(super) fn encoders(mcs: u8, streams: u8, channel: &Channel) -> u32 {
    match (channel.width_MHz, streams, mcs) {
        (80, 7, 2) => 3,
        (80, 7, 7 | 8) | (80, 8, 7) | (160, 4, 7) | (160, 7, 4) => 6,
        (160, 5, 8) | (160, 6, 7) => 8,
        (160, 7, 3) => 4,
        (160, 7, 5) => 7,
        (160, 7, 7) => 9,
        (160, 7, 8 | 9) => 12,
        _ => data_bits_a_symbol(mcs, streams, channel).div_ceil(2_160),
    }
}
