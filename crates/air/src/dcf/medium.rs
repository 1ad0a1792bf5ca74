//! Everything that moves, and what every transmission does to those who wait: back-off, queues, deferral.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::draws::below;
use super::network::{Network, QUEUE_MAX, Topology};
use super::node::Node;
use super::outcome::Outcome;
use super::traffic::{Packet, Transport};
use crate::Nanoseconds;

/// Everything that moves.
pub(super) struct Simulation<'a, 'n> {
    pub(super) network: &'a Network<'a>,
    pub(super) nodes: &'n mut [Node],
    pub(super) senders: usize,
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) outcome: Outcome,
    /// When the medium was last left.
    pub(super) free_ns: Nanoseconds,
    pub(super) next_beacon_ns: Nanoseconds,
    pub(super) beacon_ns: Nanoseconds,
    pub(super) eifs_ns: Nanoseconds,
    pub(super) timers: bool,
    /// Air time of frames that all can make out, and of collisions.
    pub(super) clean_ns: Nanoseconds,
    pub(super) clash_ns: Nanoseconds,
    pub(super) settled: u64,
    pub(super) to_settle: u64,
}

impl Simulation<'_, '_> {
    /// Slots to count: 0 to the window after `failures`.
    pub(super) fn draw(&mut self, failures: u32) -> u32 {
        let window = u64::from(self.network.timing.window(failures)) + 1;
        u32::try_from(below(self.random.next_u64(), window)).unwrap_or(0)
    }

    /// Where data ends.
    pub(super) fn receiver(&self) -> usize {
        if self.network.topology == Topology::Bss { self.nodes.len() - 1 } else { 0 }
    }

    /// Puts a packet into the queue of `node`.
    pub(super) fn enqueue(&mut self, node: usize, packet: Packet, now_ns: Nanoseconds) {
        let full = self.nodes[node].queue.len() >= self.network.queue_packets.min(QUEUE_MAX);
        if full || self.nodes[node].queue.push_back(packet).is_err() {
            self.outcome.queue_drops += 1;
            self.settle_lost();
        }
        self.refresh(node, now_ns);
    }

    /// A datagram that is lost for good is settled; a segment will be sent again.
    pub(super) fn settle_lost(&mut self) {
        if self.network.transport == Transport::Udp {
            self.settled += 1;
        }
    }

    /// Sees when `i` has something to send, and that it doze where it has not.
    pub(super) fn refresh(&mut self, i: usize, now_ns: Nanoseconds) {
        let node = &self.nodes[i];
        let waits = !node.service.is_empty() || !node.queue.is_empty();
        let due_ns = if waits { 0 } else { node.flow.ready_ns() };
        let had_none = node.ready_ns == Nanoseconds::MAX;
        // What a timer brings can't be sent before it ran out, though the counter has long run down.
        let ready_ns = if had_none { due_ns.max(now_ns) } else { due_ns.max(node.ready_ns.min(now_ns)) };
        // What comes to an empty queue while the medium is busy is to be preceded by a back-off (10.3.4.2).
        let comes = had_none && due_ns <= now_ns && now_ns < node.from_ns && node.count == 0;
        let count = if comes && now_ns > 0 { self.draw(self.nodes[i].failures) } else { node.count };
        let dozes = self.network.power_save && (1..=self.senders).contains(&i) && ready_ns > now_ns;
        let (clean_ns, clash_ns) = (self.clean_ns, self.clash_ns);
        let node = &mut self.nodes[i];
        (node.ready_ns, node.count) = (ready_ns, count);
        if dozes && node.dozes_ns.is_none() {
            node.doze(now_ns, clean_ns, clash_ns);
        }
    }

    /// The medium is busy from `start_ns` to `end_ns`; all but those for whom `took_part` holds wait from then on.
    pub(super) fn defer(
        &mut self,
        start_ns: Nanoseconds,
        end_ns: Nanoseconds,
        gap_ns: Nanoseconds,
        took_part: impl Fn(usize, &Node) -> bool,
    ) {
        let timing = self.network.timing;
        // Most have counted from the same moment.
        let mut last = (Nanoseconds::MAX, 0);
        for i in 0..self.nodes.len() {
            let node = &mut self.nodes[i];
            if took_part(i, node) {
                continue;
            }
            if node.dozes_ns.is_some() && node.ready_ns < end_ns {
                node.wake(node.ready_ns.min(start_ns), self.clean_ns, self.clash_ns);
            }
            if node.count > 0 && start_ns >= node.from_ns {
                if last.0 != node.from_ns {
                    let slots = (start_ns - node.from_ns) / timing.slot_ns + u64::from(timing.edca);
                    last = (node.from_ns, u32::try_from(slots).unwrap_or(u32::MAX));
                }
                node.count = node.count.saturating_sub(last.1);
            } else if node.count == 0 && node.ready_ns > start_ns && node.ready_ns < end_ns {
                let failures = node.failures;
                let count = self.draw(failures);
                self.nodes[i].count = count;
            }
            let node = &mut self.nodes[i];
            node.from_ns = end_ns.max(node.waits_until_ns) + gap_ns;
        }
    }
}
