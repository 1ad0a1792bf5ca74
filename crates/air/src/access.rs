//! Who may send when: the constants of clause 10 and the PHYs' tables of characteristics.

use crate::Nanoseconds;
use crate::phy::{Band, Channel, Rate};

/// Generation of a network, by the letter of its amendment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generation {
    /// HR/DSSS, clause 16.
    B,
    /// ERP, clause 18.
    #[default]
    G,
    /// OFDM, clause 17.
    A,
    /// HT, clause 19.
    N,
    /// VHT, clause 21.
    Ac,
    /// HE, clause 27.
    Ax,
}

/// Access category of EDCA (10.23.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Category {
    /// Background.
    Background,
    /// Best effort.
    #[default]
    BestEffort,
    /// Video.
    Video,
    /// Voice.
    Voice,
}

/// Slots, gaps and windows of one network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// aSlotTime.
    pub slot_ns: Nanoseconds,
    /// aSIFSTime.
    pub sifs_ns: Nanoseconds,
    /// aRxPHYStartDelay: how long a response's preamble is awaited.
    pub rx_start_ns: Nanoseconds,
    /// aCWmin.
    pub cw_min: u32,
    /// aCWmax.
    pub cw_max: u32,
    /// Slots of the gap before contention: 2 for DCF, AIFSN for EDCA.
    pub aifsn: u32,
    /// EDCA counts a slot down at the end of AIFS already (10.23.2.4); DCF at the end of the first idle slot.
    pub edca: bool,
}

impl Timing {
    /// DCF of `generation` (10.3.2 and Tables 16-4, 17-21, 18-5, 19-25, 21-28, 27-59).
    ///
    /// * `slot_us`: 20 or 9 in a network that may choose; the PHY's own where none.
    /// * `dsss_basic`: all basic rates are DSSS, so that aCWmin of ERP is 31 (18.4.2).
    #[must_use]
    pub fn dcf(generation: Generation, band: Band, slot_us: Option<u16>, dsss_basic: bool) -> Self {
        let short = generation != Generation::B;
        let slot_us = slot_us.unwrap_or(if short { 9 } else { 20 });
        let long_sifs = matches!(band, Band::Ghz5 | Band::Ghz6);
        // aRxPHYStartDelay: 192 us (16.3.3, long preamble), 20 us (Tables 17-21, 18-5), HT-mixed 28 (Table 19-25), VHT
        // 36 + 4 N_VHT-LTF + 4 with one VHT-LTF (Table 21-28), HE 32 (Table 27-59).
        let rx_start_us = match generation {
            Generation::B => 192,
            Generation::A | Generation::G => 20,
            Generation::N => 28,
            Generation::Ac => 44,
            Generation::Ax => 32,
        };
        Self {
            slot_ns: Nanoseconds::from(slot_us) * 1_000,
            sifs_ns: if long_sifs { 16_000 } else { 10_000 },
            rx_start_ns: rx_start_us * 1_000,
            cw_min: if generation == Generation::B || (generation == Generation::G && dsss_basic) { 31 } else { 15 },
            cw_max: 1_023,
            aifsn: 2,
            edca: false,
        }
    }

    /// The same network's EDCA (Table 9-155).
    #[must_use]
    pub const fn edca(self, category: Category) -> Self {
        let (cw_min, cw_max) = (self.cw_min, self.cw_max);
        let (cw_min, cw_max, aifsn) = match category {
            Category::Background => (cw_min, cw_max, 7),
            Category::BestEffort => (cw_min, cw_max, 3),
            Category::Video => (cw_min.div_ceil(2) - 1, cw_min, 2),
            Category::Voice => (cw_min.div_ceil(4) - 1, cw_min.div_ceil(2) - 1, 2),
        };
        Self { cw_min, cw_max, aifsn, edca: true, ..self }
    }

    /// DIFS or AIFS: SIFS and the category's slots (10.3.2.3).
    #[must_use]
    pub const fn gap_ns(&self) -> Nanoseconds {
        self.sifs_ns + self.slot_ns * self.aifsn as Nanoseconds
    }

    /// PIFS, after which an access point sends its beacon.
    #[must_use]
    pub const fn pifs_ns(&self) -> Nanoseconds {
        self.sifs_ns + self.slot_ns
    }

    /// EIFS: SIFS, an ACK at the lowest rate, and the gap (10.3.2.3.7).
    #[must_use]
    pub const fn eifs_ns(&self, lowest_ack_ns: Nanoseconds) -> Nanoseconds {
        self.sifs_ns + lowest_ack_ns + self.gap_ns()
    }

    /// How long after a frame's end its sender gives up on the response (10.3.2.11).
    #[must_use]
    pub const fn timeout_ns(&self) -> Nanoseconds {
        self.sifs_ns + self.slot_ns + self.rx_start_ns
    }

    /// Contention window after `failures` in a row: doubled each time, never above aCWmax (10.3.3).
    #[must_use]
    pub fn window(&self, failures: u32) -> u32 {
        let doubled = (u64::from(self.cw_min) + 1).checked_shl(failures.min(31)).unwrap_or(u64::MAX) - 1;
        u32::try_from(doubled).unwrap_or(u32::MAX).min(self.cw_max)
    }
}

/// Rate of ACK, CTS and BlockAck: the highest basic rate of the frame's kind that is not above it; where none is, the
/// highest mandatory one (10.6.6.5).
///
/// * `basic`: the basic rates of the network.
#[must_use]
pub fn response_rate(rate: Rate, basic: &[Rate], channel: &Channel) -> Rate {
    let reference = reference_rate(rate);
    let limit = reference.bits_per_s(channel);
    let fits = |candidate: &Rate| candidate.is_dsss() == reference.is_dsss() && candidate.bits_per_s(channel) <= limit;
    let mandatory: &[Rate] = if reference.is_dsss() { &MANDATORY_DSSS } else { &MANDATORY_OFDM };
    let best = |rates: &[Rate]| rates.iter().copied().filter(fits).max_by_key(|rate| rate.bits_per_s(channel));
    best(basic).or_else(|| best(mandatory)).unwrap_or(mandatory[0])
}

/// The non-HT reference rate of a rate (Table 10-10): the same constellation and code, at one stream over 20 MHz.
#[must_use]
pub fn reference_rate(rate: Rate) -> Rate {
    let Some(modulation) = rate.modulation() else { return rate };
    if let Rate::Ofdm { .. } = rate {
        return rate;
    }
    let Mb_s = match (modulation.bits, modulation.code, modulation.of) {
        (1, _, _) => 6,
        (2, 1, 2) => 12,
        (2, _, _) => 18,
        (4, 1, 2) => 24,
        (4, _, _) => 36,
        (6, 2, 3) => 48,
        _ => 54,
    };
    Rate::Ofdm { Mb_s }
}

/// Mandatory in clauses 15 and 16.
const MANDATORY_DSSS: [Rate; 4] =
    [Rate::Dsss { kb_s: 1_000 }, Rate::Dsss { kb_s: 2_000 }, Rate::Dsss { kb_s: 5_500 }, Rate::Dsss { kb_s: 11_000 }];
/// Mandatory in clause 17.
const MANDATORY_OFDM: [Rate; 3] = [Rate::Ofdm { Mb_s: 6 }, Rate::Ofdm { Mb_s: 12 }, Rate::Ofdm { Mb_s: 24 }];
