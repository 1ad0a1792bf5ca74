//! The keys of a case: the one under which its output is checked, and a ring of others for timed key schedules.

use alloc::vec::Vec;

use wattlock_engine::SplitMix64;

/// Keys in the ring: some schedules (RC4's) take a tenth longer with some keys, so that no single one stands for all.
const RING: usize = 16;

/// The keys of one case.
pub struct Keys {
    first: Vec<u8>,
    ring: Vec<u8>,
    next: usize,
}

impl Keys {
    /// The ring holds the first key alone until it is drawn anew.
    #[must_use]
    pub fn new(first: Vec<u8>) -> Self {
        Self { ring: first.repeat(RING), first, next: 0 }
    }

    /// The key under which the case's output is checked.
    #[inline]
    #[must_use]
    pub fn first(&self) -> &[u8] {
        &self.first
    }

    /// The next key of the ring.
    #[inline]
    pub fn next_key(&mut self) -> &[u8] {
        let start = self.next * self.first.len();
        self.next = (self.next + 1) % RING;
        &self.ring[start..start + self.first.len()]
    }

    /// Draws the ring anew.
    pub fn settle(&mut self, random: &mut SplitMix64) {
        self.ring = bytes(random, self.ring.len());
    }
}

/// `count` bytes from the generator: keys, IVs and payloads of timed cases, which protect nothing.
pub fn bytes(random: &mut SplitMix64, count: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..count.div_ceil(8)).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    bytes.truncate(count);
    bytes
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn the_ring_holds_the_first_key_until_it_is_drawn_and_then_sixteen_others() {
        let mut keys = Keys::new(vec![7; 5]);
        assert!((0..40).all(|_| keys.next_key() == [7; 5]));
        keys.settle(&mut SplitMix64::new(1));
        let mut drawn: Vec<_> = (0..32).map(|_| keys.next_key().to_vec()).collect();
        assert_eq!(drawn[..16], drawn[16..]);
        drawn.sort();
        drawn.dedup();
        assert_eq!(drawn.len(), 16);
        assert_eq!(keys.first(), [7; 5]);
    }
}
