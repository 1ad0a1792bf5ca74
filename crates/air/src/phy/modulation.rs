//! Constellations and codes of OFDM subcarriers.

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
    pub(super) const fn new(bits: u8, code: u8, of: u8) -> Self {
        Self { bits, code, of }
    }

    /// Whole data bits a symbol over `carriers` data subcarriers of all streams.
    pub(super) const fn data_bits(self, carriers: u32) -> u32 {
        carriers * self.bits as u32 * self.code as u32 / self.of as u32
    }
}

/// MCS 0 to 11 of HT (to 7), VHT (to 9) and HE: Tables 19-27, 21-30 and 27-54.
const MCS: [Modulation; 12] = [
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
