//! OFDM in 5 GHz (clause 17) and ERP-OFDM in 2.4 GHz (clause 18), 20 MHz; in 6 GHz answers and beacons go at its rates.

use super::{Modulation, PhyError};
use crate::Nanoseconds;

/// 16 us of training and the SIGNAL symbol (Table 17-5).
pub(super) const PREAMBLE_NS: Nanoseconds = 20_000;
/// T_SYM.
pub(super) const SYMBOL_NS: Nanoseconds = 4_000;

pub(super) fn check(Mb_s: u16) -> Result<(), PhyError> {
    if !matches!(Mb_s, 6 | 9 | 12 | 18 | 24 | 36 | 48 | 54) {
        return Err(PhyError::Rate("6, 9, 12, 18, 24, 36, 48, 54 Mb/s"));
    }
    Ok(())
}

/// Table 17-4.
pub(super) const fn modulation(Mb_s: u16) -> Modulation {
    match Mb_s {
        6 => Modulation::new(1, 1, 2),
        9 => Modulation::new(1, 3, 4),
        12 => Modulation::new(2, 1, 2),
        18 => Modulation::new(2, 3, 4),
        24 => Modulation::new(4, 1, 2),
        36 => Modulation::new(4, 3, 4),
        48 => Modulation::new(6, 2, 3),
        _ => Modulation::new(6, 3, 4),
    }
}
