//! What was verified of a frame.

/// What was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// Octets of the MPDU in the output: header and body in the clear.
    pub length_B: usize,
    /// Its packet number, or its IV.
    pub number: u64,
    /// Which of four keys it names.
    pub key_id: u8,
    /// How far its MSDU has verified.
    pub msdu: Msdu,
}

/// How far the MSDU of a frame has verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Msdu {
    /// As far as the protocol verifies: nothing is left to wait for. The fragment before ends in this many octets of
    /// Michael, which are no data.
    Whole {
        /// 0 but where Michael lies across the last two fragments.
        cut_before_B: usize,
    },
    /// A fragment under TKIP: no octet may be used before Michael has verified with the last one.
    UnderWay,
}
