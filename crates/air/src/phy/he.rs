//! HE single-user PPDUs, clause 27 of IEEE Std 802.11ax-2021, without packet extension.

use super::{Channel, PhyError, mcs as coding};
use crate::Nanoseconds;

/// T_DFT of HE data.
pub(super) const SYMBOL_NS: Nanoseconds = 12_800;

pub(super) fn check(mcs: u8, streams: u8, channel: &Channel) -> Result<(), PhyError> {
    if mcs > 11 {
        return Err(PhyError::Rate("MCS 0 to 11"));
    }
    if !(1..=8).contains(&streams) {
        return Err(PhyError::Streams("1 to 8 streams"));
    }
    if !matches!(channel.width_MHz, 20 | 40 | 80 | 160) {
        return Err(PhyError::Width("20, 40, 80, 160 MHz"));
    }
    if !matches!(channel.gi_ns, 800 | 1_600 | 3_200) {
        return Err(PhyError::GuardInterval("800, 1600, 3200 ns"));
    }
    Ok(())
}

/// L-STF, L-LTF, L-SIG 20 us, RL-SIG 4, HE-SIG-A 8, HE-STF 4, and HE-LTFs of 8 us each: the 2x HE-LTF with 1.6 us less
/// guard than symbol, which is what the oracle sends at every guard interval.
pub(super) const fn preamble_ns(streams: u8) -> Nanoseconds {
    20_000 + 4_000 + 8_000 + 4_000 + 8_000 * super::vht::trainings(streams)
}

pub(super) fn data_bits_a_symbol(mcs: u8, streams: u8, channel: &Channel) -> u32 {
    // N_SD of the RU over the whole channel (Table 27-14).
    let carriers = match channel.width_MHz {
        20 => 234,
        40 => 468,
        80 => 980,
        _ => 1_960,
    };
    coding(mcs).data_bits(carriers * u32::from(streams))
}
