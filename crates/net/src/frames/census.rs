//! A census of a capture: how many packets of which size and kind, and how long between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capture::{Packet, Stamp};
use super::link::{Carried, LARGEST_B, Sort, Sums, Uncounted, carried};

/// One line of what `capture` tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CaptureLine {
    /// One packet, for replay.
    Packet(PacketLine),
    /// Packets of one kind and size.
    Size(SizeLine),
    /// Gaps of about one length.
    Gap(GapLine),
    /// The last line.
    Summary(Summary),
}

/// One packet that was counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketLine {
    /// When, since 1970; null where the capture does not say.
    pub time_ns: Option<u64>,
    /// As the medium carried it: of 802.11 with its FCS, of Ethernet without, else the IP packet.
    pub size_B: u32,
    /// What it is.
    pub frame: Sort,
    /// Whether an 802.11 frame says that its body is protected.
    pub protected: bool,
}

/// Packets of one kind and size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeLine {
    /// What they are.
    pub frame: Sort,
    /// Whether 802.11 frames say that their body is protected.
    pub protected: bool,
    /// As the medium carried each.
    pub size_B: u32,
    /// How many.
    pub count: u64,
}

/// Gaps of about one length, from one counted packet to the next in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapLine {
    /// At least so long.
    pub from_ns: u64,
    /// Shorter than this: four bins to each doubling. Null of the last bin there can be.
    pub below_ns: Option<u64>,
    /// How many.
    pub count: u64,
}

/// What there was altogether.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Packets of the capture: those counted, and the three kinds that are not.
    pub packets: u64,
    /// Packets that were counted.
    pub counted: u64,
    /// Their sizes together.
    pub total_B: u64,
    /// Counted packets that the capture cut short: their size is that before.
    pub truncated: u64,
    /// Not counted: the receiver says that the FCS was wrong.
    pub damaged: u64,
    /// Not counted: no frame could be read.
    pub malformed: u64,
    /// Not counted: their link type is none that is read.
    pub unknown_link: u64,
    /// Time of the first counted packet that has one, since 1970.
    pub first_ns: Option<u64>,
    /// The latest time of a counted packet.
    pub last_ns: Option<u64>,
    /// Packets earlier than the one before: no gap is counted.
    pub backwards: u64,
    /// Whether the capture ends inside a packet, or in bytes that are none.
    pub cut: bool,
}

/// Doublings of a nanosecond, each in four.
const BINS: usize = 4 * 63;

/// What was counted so far; its size is bounded by the largest packet.
pub struct Census {
    /// Of each kind, not protected and protected, packets by size.
    sizes: [[Vec<u64>; 2]; Sort::ALL.len()],
    gaps: [u64; BINS],
    before_ns: Option<u64>,
    sums: Sums,
    /// The first link type that is none that is read.
    pub foreign: Option<i32>,
    /// Counted packets whose time is before 1970 or after 2554: they have none.
    pub untimed: u64,
    /// What there was altogether.
    pub summary: Summary,
}

impl Census {
    /// Nothing yet, of a capture whose interfaces have these sums.
    pub fn new(sums: Sums) -> Self {
        Self {
            sizes: Default::default(),
            gaps: [0; BINS],
            before_ns: None,
            sums,
            foreign: None,
            untimed: 0,
            summary: Summary::default(),
        }
    }

    /// Counts a packet; gives what it was, where it was counted.
    pub fn take(&mut self, packet: &Packet) -> Option<(Option<u64>, Carried)> {
        let packet = &packet.unwrapped();
        let summary = &mut self.summary;
        summary.packets += 1;
        let carried = match carried(packet, &self.sums) {
            Ok(carried) => carried,
            Err(why) => {
                if why == Uncounted::Link {
                    self.foreign.get_or_insert(packet.link);
                }
                *match why {
                    Uncounted::Link => &mut summary.unknown_link,
                    Uncounted::Damaged => &mut summary.damaged,
                    Uncounted::Malformed => &mut summary.malformed,
                } += 1;
                return None;
            }
        };
        summary.counted += 1;
        summary.total_B += u64::from(carried.size_B);
        summary.truncated += u64::from(!packet.is_whole);
        let time_ns = packet.time_ns;
        self.untimed += u64::from(time_ns.is_none() && !matches!(packet.stamp, Stamp::Simple));
        if let Some(now_ns) = time_ns {
            summary.first_ns.get_or_insert(now_ns);
            summary.last_ns = summary.last_ns.max(time_ns);
            if let Some(before_ns) = self.before_ns.replace(now_ns) {
                match now_ns.checked_sub(before_ns) {
                    Some(gap_ns) => self.gaps[bin(gap_ns)] += 1,
                    None => summary.backwards += 1,
                }
            }
        }
        let sizes = &mut self.sizes[carried.sort as usize][usize::from(carried.is_protected)];
        let at = carried.size_B as usize;
        if sizes.len() <= at {
            sizes.resize((2 * at + 1).min(LARGEST_B as usize + 8), 0);
        }
        sizes[at] += 1;
        Some((time_ns, carried))
    }

    /// The lines of sizes and gaps, and the summary.
    pub fn lines(self) -> impl Iterator<Item = CaptureLine> {
        let kinds = Sort::ALL.into_iter().zip(self.sizes);
        let sizes = kinds.flat_map(|(frame, pair)| {
            [false, true].into_iter().zip(pair).flat_map(move |(protected, counts)| {
                let sizes = (0_u32..).zip(counts).filter(|(_, count)| *count > 0);
                sizes.map(move |(size_B, count)| CaptureLine::Size(SizeLine { frame, protected, size_B, count }))
            })
        });
        let gaps = self.gaps.into_iter().enumerate().filter(|(_, count)| *count > 0).map(|(at, count)| {
            CaptureLine::Gap(GapLine { from_ns: from_ns(at).unwrap_or(0), below_ns: from_ns(at + 1), count })
        });
        sizes.chain(gaps).chain([CaptureLine::Summary(self.summary)])
    }
}

/// The bin of a gap: 0 to 3 are alone, then each doubling is in four.
fn bin(gap_ns: u64) -> usize {
    if gap_ns < 4 {
        return usize::try_from(gap_ns).unwrap_or(0);
    }
    let doubling = gap_ns.ilog2();
    let quarter = gap_ns >> (doubling - 2) & 3;
    (doubling as usize - 1) * 4 + usize::try_from(quarter).unwrap_or(0)
}

/// What a bin begins with; `None` beyond the last.
fn from_ns(bin: usize) -> Option<u64> {
    let quarter = u64::try_from(bin % 4).ok()?;
    match bin / 4 {
        0 => Some(quarter),
        doubling if bin < BINS => Some((4 + quarter) << (doubling - 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gap_lies_in_its_bin_and_every_bin_begins_where_the_one_before_ends() {
        for shift in 0..64 {
            for near in [0_u64, 1, 2, 3, 5] {
                for gap_ns in [(1_u64 << shift).wrapping_add(near), (1_u64 << shift).wrapping_sub(near)] {
                    let at = bin(gap_ns);
                    assert!(from_ns(at).is_some_and(|from| from <= gap_ns), "{gap_ns} in {at}");
                    assert!(from_ns(at + 1).is_none_or(|below| gap_ns < below), "{gap_ns} in {at}");
                }
            }
        }
        assert!((0..BINS - 1).all(|at| from_ns(at) < from_ns(at + 1)));
        assert_eq!(bin(u64::MAX), BINS - 1);
    }
}
