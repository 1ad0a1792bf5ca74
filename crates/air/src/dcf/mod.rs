//! The event-driven simulator: contention, exchanges, retries, relays, beacons, over nodes that the caller gives.
//!
//! Nothing happens between two transmissions but the counting down of slots, so the clock goes from one start to the
//! next. All nodes hear one another. A station that starts while another one has begun is one that counted the same
//! slot; whoever is later by a nanosecond hears it and waits.
//!
//! ```
//! use wattlock_air::dcf::{Network, Node, simulate};
//!
//! let network = Network { datagrams: Some(1_000), ..Network::default() };
//! let mut nodes = [Node::new(None), Node::new(None)];
//! let outcome = simulate(&network, &mut nodes).unwrap();
//! assert_eq!(outcome.delivered, 1_000);
//! ```

mod exchange;
mod minstrel;
mod network;
mod node;
mod on_air;
mod rates;
mod traffic;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Nanoseconds;

pub use network::{AGGREGATE_MAX, Network, QUEUE_MAX, RATES_MAX, SetupError, Topology};
pub use node::{Node, States};
pub use on_air::exchange;
pub use rates::RateControl;
pub use traffic::Transport;

use network::check;
use traffic::{Expired, Flow, Packet};

/// Frames of one kind over one hop: what they took of the air, but for collisions.
///
/// The first transmission that brings a packet is its data; all others, whether nothing arrived or the acknowledgement
/// was lost, are `sent_ns` less `data_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leg {
    /// Packets that came over, each once.
    pub packets: u64,
    /// Data MPDUs put on the air.
    pub sent: u64,
    /// Time on air of them.
    pub sent_ns: Nanoseconds,
    /// Of it, that of the transmissions which brought the packets.
    pub data_ns: Nanoseconds,
    /// Of that, their MPDUs' octets at the rate; the rest is preamble, PHY header and padding.
    pub octets_ns: Nanoseconds,
    /// RTS, by who sends the data.
    pub rts_ns: Nanoseconds,
    /// CTS, ACK and BlockAck, by who receives it.
    pub response_ns: Nanoseconds,
}

/// What came of it; each node holds its own share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// From the start to the end of the last exchange, or the duration that was asked for.
    pub duration_ns: Nanoseconds,
    /// Datagrams or segments that reached their receiver, each once.
    pub delivered: u64,
    /// Data MPDUs put on the air, retries included, at all hops.
    pub frames: u64,
    /// Of them those that were sent before.
    pub retries: u64,
    /// Packets given up after their last retry, at all hops.
    pub drops: u64,
    /// Packets for which an access point had no room.
    pub queue_drops: u64,
    /// Segments that a TCP sender never got through before it gave up.
    pub given_up: u64,
    /// Attempts to get a frame or burst through.
    pub attempts: u64,
    /// Of them those that met another one.
    pub collisions: u64,
    /// Beacons.
    pub beacons: u64,
    /// Datagrams or segments, and TCP's acknowledgements, over the link of a sender (0) and over that of a receiver
    /// behind a relay (1).
    pub legs: [[Leg; 2]; 2],
    /// Time on air of beacons.
    pub beacon_ns: Nanoseconds,
    /// Time in which frames collided.
    pub collision_ns: Nanoseconds,
}

impl Outcome {
    /// Share of attempts that met another one.
    #[must_use]
    pub fn collision_probability(&self) -> f64 {
        if self.attempts == 0 { 0.0 } else { self.collisions as f64 / self.attempts as f64 }
    }
}

/// A number from 0 to `bound` - 1 of 64 random bits.
pub(crate) fn below(bits: u64, bound: u64) -> u64 {
    u64::try_from((u128::from(bits) * u128::from(bound)) >> 64).unwrap_or(0)
}

/// A number in [0, 1) of 64 random bits.
pub(crate) fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 / 9_007_199_254_740_992.0
}

/// Everything that moves.
struct Simulation<'a, 'n> {
    network: &'a Network<'a>,
    nodes: &'n mut [Node],
    senders: usize,
    random: Xoshiro256PlusPlus,
    outcome: Outcome,
    /// When the medium was last left.
    free_ns: Nanoseconds,
    next_beacon_ns: Nanoseconds,
    beacon_ns: Nanoseconds,
    eifs_ns: Nanoseconds,
    timers: bool,
    /// Air time of frames that all can make out, and of collisions.
    clean_ns: Nanoseconds,
    clash_ns: Nanoseconds,
    settled: u64,
    to_settle: u64,
}

/// Lets `network` run on `nodes`: node 0 is the receiver or the access point.
///
/// * `nodes`: fresh ones; afterwards they hold their states and counts.
///
/// The same seed gives the same outcome on every machine.
///
/// # Errors
/// A network that can't be, before anything is simulated.
pub fn simulate(network: &Network, nodes: &mut [Node]) -> Result<Outcome, SetupError> {
    let mut simulation = Simulation::new(network, nodes)?;
    simulation.run();
    Ok(simulation.finish())
}

impl<'a, 'n> Simulation<'a, 'n> {
    fn new(network: &'a Network<'a>, nodes: &'n mut [Node]) -> Result<Self, SetupError> {
        let relays = usize::from(network.topology == Topology::Bss);
        let fits = nodes.len() >= 2 + relays && nodes.len() <= usize::from(u16::MAX);
        let senders = if fits { nodes.len() - 1 - relays } else { return Err(SetupError::Nodes) };
        check(network)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(network.seed);
        let total = network.datagrams.unwrap_or(u64::from(u32::MAX));
        for (i, node) in nodes.iter_mut().enumerate() {
            node.prepare(network);
            node.flow = Flow::none();
            if (1..=senders).contains(&i) {
                // Senders of a rhythm are out of step.
                let first_ns = below(random.next_u64(), network.interval_ns);
                node.flow = Flow::new(network.transport, total, network.interval_ns, first_ns);
            }
        }
        let lowest = on_air::lowest_basic(network);
        let ack_ns = lowest.time_on_air_ns(crate::frame::ACK_B, &network.channel);
        let beacons = network.beacon_interval_ns > 0;
        let mut simulation = Self {
            network,
            nodes,
            senders,
            random,
            outcome: Outcome::default(),
            free_ns: 0,
            next_beacon_ns: if beacons { network.beacon_interval_ns } else { Nanoseconds::MAX },
            beacon_ns: lowest.time_on_air_ns(network.beacon_B, &network.channel),
            eifs_ns: network.timing.eifs_ns(ack_ns),
            timers: network.transport != Transport::Udp,
            clean_ns: 0,
            clash_ns: 0,
            settled: 0,
            to_settle: network.datagrams.map_or(u64::MAX, |datagrams| datagrams.saturating_mul(senders as u64)),
        };
        for i in 0..simulation.nodes.len() {
            let gap_ns = network.timing.gap_ns();
            let count = simulation.draw(0);
            let node = &mut simulation.nodes[i];
            (node.count, node.from_ns, node.ready_ns) = (count, gap_ns, Nanoseconds::MAX);
            simulation.refresh(i, 0);
        }
        Ok(simulation)
    }

    fn run(&mut self) {
        let end_ns = self.network.duration_ns.unwrap_or(Nanoseconds::MAX);
        while self.settled < self.to_settle {
            let slot_ns = self.network.timing.slot_ns;
            let mut start_ns = Nanoseconds::MAX;
            let mut winner = usize::MAX;
            let mut winners = 0_usize;
            for (i, node) in self.nodes.iter().enumerate() {
                let at_ns = node.start_ns(slot_ns);
                if at_ns < start_ns {
                    (start_ns, winner, winners) = (at_ns, i, 1);
                } else if at_ns == start_ns {
                    winners += 1;
                }
            }
            let beacon_ns = self.next_beacon_ns.max(self.free_ns + self.network.timing.pifs_ns());
            let timer = if self.timers { self.next_timer() } else { None };
            if let Some((flow, at_ns)) = timer.filter(|&(_, at_ns)| at_ns <= start_ns.min(beacon_ns)) {
                if at_ns >= end_ns {
                    break;
                }
                self.expire(flow, at_ns);
            } else if beacon_ns <= start_ns {
                // With nothing left to send beacons alone don't keep it going.
                if beacon_ns >= end_ns
                    || (start_ns == Nanoseconds::MAX && timer.is_none() && end_ns == Nanoseconds::MAX)
                {
                    break;
                }
                self.beacon(beacon_ns);
            } else if start_ns >= end_ns {
                break;
            } else if winners == 1 {
                self.single(winner, start_ns);
            } else {
                self.collision(start_ns);
            }
        }
    }

    fn finish(self) -> Outcome {
        let mut outcome = self.outcome;
        // A given duration is the duration, unless all was done before.
        let all = self.settled >= self.to_settle;
        let asked_ns = if all { 0 } else { self.network.duration_ns.unwrap_or(0) };
        outcome.duration_ns = self.free_ns.max(asked_ns);
        outcome.beacon_ns = outcome.beacons * self.beacon_ns;
        outcome.collision_ns = self.clash_ns;
        for node in self.nodes {
            node.close(outcome.duration_ns, self.clean_ns, self.clash_ns);
        }
        outcome
    }

    /// Slots to count: 0 to the window after `failures`.
    fn draw(&mut self, failures: u32) -> u32 {
        let window = u64::from(self.network.timing.window(failures)) + 1;
        u32::try_from(below(self.random.next_u64(), window)).unwrap_or(0)
    }

    fn next_timer(&self) -> Option<(usize, Nanoseconds)> {
        let timers = (1..=self.senders).map(|i| (i, self.nodes[i].flow.timer_ns()));
        timers.min_by_key(|&(_, at_ns)| at_ns).filter(|&(_, at_ns)| at_ns != Nanoseconds::MAX)
    }

    fn expire(&mut self, flow: usize, at_ns: Nanoseconds) {
        match self.nodes[flow].flow.expire(at_ns) {
            Expired::Acknowledge(number) => {
                let receiver = self.receiver();
                let flow = u16::try_from(flow).unwrap_or(u16::MAX);
                self.enqueue(receiver, Packet { flow, ack: true, number }, at_ns);
            }
            Expired::SendAgain => self.refresh(flow, at_ns),
            Expired::GivenUp(segments) => {
                self.settled += segments;
                self.outcome.given_up += segments;
                self.refresh(flow, at_ns);
            }
        }
    }

    /// Where data ends.
    fn receiver(&self) -> usize {
        if self.network.topology == Topology::Bss { self.nodes.len() - 1 } else { 0 }
    }

    /// Puts a packet into the queue of `node`.
    fn enqueue(&mut self, node: usize, packet: Packet, now_ns: Nanoseconds) {
        let full = self.nodes[node].queue.len() >= self.network.queue_packets.min(QUEUE_MAX);
        if full || self.nodes[node].queue.push_back(packet).is_err() {
            self.outcome.queue_drops += 1;
            self.settle_lost();
        }
        self.refresh(node, now_ns);
    }

    /// A datagram that is lost for good is settled; a segment will be sent again.
    fn settle_lost(&mut self) {
        if self.network.transport == Transport::Udp {
            self.settled += 1;
        }
    }

    /// Sees when `i` has something to send, and that it doze where it has not.
    fn refresh(&mut self, i: usize, now_ns: Nanoseconds) {
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
    fn defer(
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

    fn beacon(&mut self, start_ns: Nanoseconds) {
        let end_ns = start_ns + self.beacon_ns;
        self.defer(start_ns, end_ns, self.network.timing.gap_ns(), |_, _| false);
        for node in self.nodes.iter_mut().filter(|node| node.dozes_ns.is_some()) {
            node.hear_beacon(self.beacon_ns);
        }
        self.nodes[0].sent_clean_ns += self.beacon_ns;
        self.clean_ns += self.beacon_ns;
        self.outcome.beacons += 1;
        self.free_ns = end_ns;
        self.next_beacon_ns += self.network.beacon_interval_ns;
    }
}
