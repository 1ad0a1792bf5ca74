//! Where a case's packets lie: one that stays hot, a ring the size of a second-level cache, or a heap in main memory.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use wattlock_engine::{SPREAD_PAGES, SplitMix64};
use wattlock_records::Placement;

/// A ring of this size stays in a second-level cache and not in a first-level one.
pub(crate) const L2_RING_B: usize = 512 * 1024;
/// Packets of this size together are in no cache.
pub(crate) const DRAM_HEAP_B: usize = 128 * 1024 * 1024;
/// Packets begin on a cache line, behind a random offset of whole lines.
const LINE_B: usize = 64;
/// Lines of the pages of 4 KiB within which the random offset stays.
const LINES: u32 = SPREAD_PAGES * 64;
/// Bytes on either side of a buffer that nobody may write to.
pub(crate) const FENCE_B: usize = 64;
/// What they hold until a buffer is filled anew.
const FENCE: u8 = 0xc3;

/// A buffer whose bytes begin at a random cache line of some pages, between two fences.
pub struct Placed {
    room: Vec<u8>,
    start: usize,
    length: usize,
    fence: u8,
}

impl Placed {
    /// `length` zero bytes at the first line.
    #[must_use]
    pub fn new(length: usize) -> Self {
        let room = vec![0; length + LINES as usize * LINE_B + LINE_B + 2 * FENCE_B];
        let mut placed = Self { room, start: 0, length, fence: FENCE };
        placed.start = placed.line(0);
        placed.set_fences(FENCE);
        placed
    }

    fn line(&self, index: usize) -> usize {
        self.room.as_ptr().align_offset(LINE_B).min(LINE_B - 1) + FENCE_B + index * LINE_B
    }

    fn set_fences(&mut self, byte: u8) {
        let (start, end) = (self.start, self.start + self.length);
        self.room[start - FENCE_B..start].fill(byte);
        self.room[end..end + FENCE_B].fill(byte);
        self.fence = byte;
    }

    /// What was written outside of the first `room_B` bytes: `3 octets behind its end`; `None` where nothing was.
    ///
    /// * `room_B`: less than all bytes only where the others were blanked by [`Placed::settle_blank`] or [`Placed::blank`].
    #[must_use]
    pub fn overstepped(&self, room_B: usize) -> Option<String> {
        let (end, last) = (self.start + room_B.min(self.length), self.start + self.length + FENCE_B);
        overstepped(&self.room[self.start - FENCE_B..self.start], &self.room[end..last], self.fence)
    }

    /// Fills all bytes with what the fences hold.
    pub fn blank(&mut self) {
        let byte = self.fence;
        self.bytes_mut().fill(byte);
    }

    /// Moves the bytes to another line of the pages.
    pub fn settle(&mut self, random: &mut SplitMix64) {
        let to = self.line(random.below(LINES) as usize);
        self.room.copy_within(self.start..self.start + self.length, to);
        self.start = to;
        self.set_fences(FENCE);
    }

    /// Moves to another line of the pages and fills all bytes there, and the fences, with `byte`.
    pub fn settle_blank(&mut self, random: &mut SplitMix64, byte: u8) {
        self.start = self.line(random.below(LINES) as usize);
        self.set_fences(byte);
        self.blank();
    }

    /// The bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.room[self.start..self.start + self.length]
    }

    /// The bytes, to be written.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.start..self.start + self.length]
    }
}

/// How far somebody wrote beyond the fences before and behind a buffer.
fn overstepped(before: &[u8], behind: &[u8], fence: u8) -> Option<String> {
    let whole = [fence; FENCE_B];
    if [before, behind].iter().all(|part| part.chunks(FENCE_B).all(|some| *some == whole[..some.len()])) {
        return None;
    }
    if let Some(place) = behind.iter().rposition(|byte| *byte != fence) {
        return Some(format!("up to octet {} behind its end", place + 1));
    }
    let place = before.iter().position(|byte| *byte != fence)?;
    Some(format!("up to octet {} before its start", before.len() - place))
}

/// Bytes of a message that is looked at and not timed, between two fences.
pub struct Fenced {
    room: Vec<u8>,
}

impl Fenced {
    /// A copy of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let fence = [FENCE; FENCE_B];
        Self { room: [&fence, bytes, &fence].concat() }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.room[FENCE_B..self.room.len() - FENCE_B]
    }

    /// The bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let end = self.room.len() - FENCE_B;
        &mut self.room[FENCE_B..end]
    }

    /// As of [`Placed::overstepped`], of all bytes.
    #[must_use]
    pub fn overstepped(&self) -> Option<String> {
        let behind = &self.room[self.room.len() - FENCE_B..];
        overstepped(&self.room[..FENCE_B], behind, FENCE)
    }
}

/// The packets of one case: equal in content, apart in place.
pub struct Packets {
    heap: Placed,
    starts: Vec<usize>,
    length: usize,
    next: usize,
}

impl Packets {
    /// Lays out as many copies of `packet` as the placement asks for.
    #[must_use]
    pub fn new(packet: &[u8], placement: Placement, random: &mut SplitMix64) -> Self {
        let stride = packet.len().next_multiple_of(LINE_B).max(LINE_B);
        let count = match placement {
            Placement::Hot => 1,
            Placement::L2 => (L2_RING_B / stride).max(1),
            Placement::Dram => (DRAM_HEAP_B / stride).max(1),
        };
        let mut heap = Placed::new(count * stride);
        let mut starts: Vec<usize> = (0..count).map(|index| index * stride).collect();
        for start in &starts {
            heap.bytes_mut()[*start..start + packet.len()].copy_from_slice(packet);
        }
        if placement == Placement::Dram {
            for last in (1..starts.len()).rev() {
                let bound = u32::try_from(last + 1).unwrap_or(u32::MAX);
                starts.swap(last, random.below(bound) as usize);
            }
        }
        Self { heap, starts, length: packet.len(), next: 0 }
    }

    /// Moves a single packet to another line; a ring has packets on many lines as it is.
    pub fn settle(&mut self, random: &mut SplitMix64) {
        if self.is_single() {
            self.heap.settle(random);
        }
    }

    /// What was written outside of all packets, as of [`Placed::overstepped`].
    #[must_use]
    pub fn overstepped(&self) -> Option<String> {
        self.heap.overstepped(self.heap.bytes().len())
    }

    /// Whether there is one packet only.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.starts.len() == 1
    }

    /// Bytes of a packet.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// The address of the first packet.
    #[must_use]
    pub fn address(&self) -> usize {
        self.heap.bytes().as_ptr().addr()
    }

    /// Begins again at the first packet.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    /// The next packet of the ring.
    #[inline]
    pub fn next_packet(&mut self) -> &[u8] {
        let start = self.starts[self.next];
        self.next += 1;
        if self.next == self.starts.len() {
            self.next = 0;
        }
        &self.heap.bytes()[start..start + self.length]
    }

    /// Lets the packet that comes next begin with `block`.
    #[inline]
    pub fn lead_with(&mut self, block: &[u8]) {
        let start = self.starts[self.next];
        let end = start + self.length;
        self.heap.bytes_mut()[start..end].iter_mut().zip(block).for_each(|(byte, new)| *byte = *new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_holds_the_same_bytes_on_a_line_of_its_own() {
        for (placement, count) in [(Placement::Hot, 1), (Placement::L2, 8192)] {
            let mut packets = Packets::new(b"seventeen letters", placement, &mut SplitMix64::new(3));
            assert_eq!(packets.starts.len(), count);
            let mut places: Vec<_> = (0..count).map(|_| packets.next_packet().as_ptr() as usize).collect();
            assert!(places.iter().all(|place| place % LINE_B == 0));
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), count);
            assert!((0..count).all(|_| packets.next_packet() == b"seventeen letters"));
        }
    }

    #[test]
    fn packets_in_main_memory_are_visited_out_of_order_and_each_once() {
        let mut packets = Packets::new(&[7; 65536], Placement::Dram, &mut SplitMix64::new(3));
        let places: Vec<_> = (0..2048).map(|_| packets.next_packet().as_ptr() as usize).collect();
        let mut sorted = places.clone();
        sorted.sort_unstable();
        assert_ne!(places, sorted);
        sorted.dedup();
        assert_eq!(sorted.len(), 2048);
    }

    #[test]
    fn a_buffer_that_settles_moves_to_another_line_and_keeps_its_bytes() {
        let mut packets = Packets::new(b"here", Placement::Hot, &mut SplitMix64::new(3));
        let mut random = SplitMix64::new(4);
        let mut places = Vec::new();
        for _ in 0..32 {
            packets.settle(&mut random);
            assert_eq!(packets.next_packet(), b"here");
            places.push(packets.next_packet().as_ptr() as usize);
        }
        assert!(places.iter().all(|place| place % LINE_B == 0));
        places.sort_unstable();
        places.dedup();
        assert!(places.len() > 16, "{places:?}");
    }

    #[test]
    fn a_write_of_1_to_64_octets_on_either_side_of_a_buffer_is_told() {
        let mut random = SplitMix64::new(3);
        for past in [1, 2, 63, 64] {
            let mut placed = Placed::new(20);
            placed.settle_blank(&mut random, 7);
            placed.bytes_mut()[..12].fill(1);
            assert_eq!(placed.overstepped(12), None);
            assert_eq!(placed.overstepped(11).as_deref(), Some("up to octet 1 behind its end"));
            placed.room[placed.start - past] = 9;
            assert_eq!(placed.overstepped(12), Some(format!("up to octet {past} before its start")));
            placed.room[placed.start + 20 + past - 1] = 9;
            assert_eq!(placed.overstepped(20), Some(format!("up to octet {past} behind its end")));
            placed.settle(&mut random);
            assert_eq!(placed.overstepped(20), None);
            let mut fenced = Fenced::of(b"three");
            assert_eq!((fenced.bytes(), fenced.overstepped()), (&b"three"[..], None));
            fenced.room[FENCE_B + 5 + past - 1] = 9;
            assert_eq!(fenced.overstepped(), Some(format!("up to octet {past} behind its end")));
        }
    }

    #[test]
    fn the_block_before_leads_the_packet_that_comes_next() {
        let mut packets = Packets::new(&[1; 20], Placement::Hot, &mut SplitMix64::new(3));
        packets.lead_with(&[9; 8]);
        assert_eq!(packets.next_packet()[..9], [9, 9, 9, 9, 9, 9, 9, 9, 1]);
    }
}
