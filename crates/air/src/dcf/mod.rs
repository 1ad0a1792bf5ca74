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

mod draws;
mod exchange;
mod medium;
mod minstrel;
mod network;
mod node;
mod on_air;
mod outcome;
mod rates;
mod traffic;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Nanoseconds;

pub use network::{AGGREGATE_MAX, Network, QUEUE_MAX, RATES_MAX, RateControl, SetupError, Topology};
pub use node::{Node, States};
pub use on_air::exchange;
pub use outcome::{Leg, Outcome};
pub use traffic::Transport;

use draws::below;
use medium::Simulation;
use network::check;
use traffic::{Expired, Flow, Packet};

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
