//! DSSS and HR/DSSS (CCK), clauses 15 and 16.

use super::{Band, Channel, PhyError, Preamble};
use crate::Nanoseconds;

pub(super) fn check(kb_s: u16, channel: &Channel) -> Result<(), PhyError> {
    if !matches!(kb_s, 1_000 | 2_000 | 5_500 | 11_000) {
        return Err(PhyError::Rate("1, 2, 5.5, 11 Mb/s"));
    }
    if channel.band != Band::Ghz2_4 {
        return Err(PhyError::Band("2.4 GHz only"));
    }
    if !matches!(channel.width_MHz, 20 | 22) { Err(PhyError::Width("20 and 22 MHz")) } else { Ok(()) }
}

/// 16.2.2.2 and 16.2.2.3; a frame at 1 Mb/s always has the long one.
pub(super) const fn preamble_ns(kb_s: u16, preamble: Preamble) -> Nanoseconds {
    match preamble {
        Preamble::Short if kb_s != 1_000 => 96_000,
        Preamble::Long | Preamble::Short => 192_000,
    }
}

/// Whole microseconds, rounded up: LENGTH of 16.2.3.5.
pub(super) fn payload_ns(psdu_B: u32, kb_s: u16) -> Nanoseconds {
    (u64::from(psdu_B) * 8 * 1_000).div_ceil(u64::from(kb_s).max(1)) * 1_000
}
