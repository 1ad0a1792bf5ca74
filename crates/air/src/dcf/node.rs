//! One node: its counter, its packets, its link with node 0, and what its radio did.

use heapless::{Deque, Vec};

use super::network::{AGGREGATE_MAX, Network, QUEUE_MAX, RATES_MAX, RateControl};
use super::on_air::OnAir;
use super::rates::Control;
use super::traffic::{Flow, Packet};
use crate::Nanoseconds;
use crate::signal::ratio;

/// How long a radio was in each state; together the duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct States {
    /// Transmitting.
    pub tx_ns: Nanoseconds,
    /// Receiving a frame, whoever it is for.
    pub rx_ns: Nanoseconds,
    /// Hearing collisions of others, or the rest of its own.
    pub cca_ns: Nanoseconds,
    /// Listening to nothing: gaps, slots, time without traffic.
    pub idle_ns: Nanoseconds,
    /// Dozing.
    pub sleep_ns: Nanoseconds,
}

/// A packet that is being sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) packet: Packet,
    pub(super) retries: u32,
    /// The receiver has it, though its acknowledgement was lost.
    pub(super) arrived: bool,
}

/// One node of a network. Make as many as its topology needs, node 0 first.
#[derive(Debug, Clone)]
pub struct Node {
    // What contention reads for every node at every step comes first.
    pub(super) count: u32,
    pub(super) failures: u32,
    pub(super) from_ns: Nanoseconds,
    pub(super) ready_ns: Nanoseconds,
    pub(super) waits_until_ns: Nanoseconds,
    pub(super) dozes_ns: Option<Nanoseconds>,
    pub(super) signal_dBm: Option<f64>,
    pub(super) fragment: u32,
    pub(super) rate: u8,
    pub(super) service: Vec<Pending, AGGREGATE_MAX>,
    pub(super) queue: Deque<Packet, QUEUE_MAX>,
    pub(super) flow: Flow,
    /// Data and acknowledgements, at each rate, over the link with node 0.
    pub(super) on_air: [[OnAir; RATES_MAX]; 2],
    /// As a sender to node 0, and node 0 as a sender to it.
    pub(super) up: Control,
    pub(super) down: Control,
    pub(super) sent_clean_ns: Nanoseconds,
    pub(super) sent_clash_ns: Nanoseconds,
    missed_clean_ns: Nanoseconds,
    missed_clash_ns: Nanoseconds,
    dozed: (Nanoseconds, Nanoseconds),
    slept_ns: Nanoseconds,
    /// What its radio did.
    pub states: States,
    /// Data MPDUs that it put on the air, retries included.
    pub frames: u64,
    /// Of them those that were sent before.
    pub retries: u64,
    /// Packets that it gave up.
    pub drops: u64,
    /// Of its own datagrams or segments, those that were delivered.
    pub delivered: u64,
}

impl Node {
    /// * `signal_dBm`: with which node 0 hears it, and it node 0; none for a link without errors. Node 0's is not read.
    #[must_use]
    pub fn new(signal_dBm: Option<f64>) -> Self {
        Self {
            count: 0,
            failures: 0,
            from_ns: 0,
            ready_ns: Nanoseconds::MAX,
            waits_until_ns: 0,
            dozes_ns: None,
            signal_dBm,
            fragment: 0,
            rate: 0,
            service: Vec::new(),
            queue: Deque::new(),
            flow: Flow::none(),
            on_air: [[OnAir::default(); RATES_MAX]; 2],
            up: Control::default(),
            down: Control::default(),
            sent_clean_ns: 0,
            sent_clash_ns: 0,
            missed_clean_ns: 0,
            missed_clash_ns: 0,
            dozed: (0, 0),
            slept_ns: 0,
            states: States::default(),
            frames: 0,
            retries: 0,
            drops: 0,
            delivered: 0,
        }
    }

    /// Fills the tables of the link; a node that was used before is fresh again.
    pub(super) fn prepare(&mut self, network: &Network) {
        *self = Self::new(self.signal_dBm);
        let snr = self.signal_dBm.map(|signal_dBm| ratio(signal_dBm - network.noise_dBm));
        for (i, &rate) in network.rates.iter().enumerate() {
            self.on_air[0][i] = OnAir::of(network, rate, network.packet_B, snr);
            self.on_air[1][i] = OnAir::of(network, rate, network.ack_packet_B, snr);
        }
        let mut index = network.rate;
        if network.rate_control == RateControl::Ideal {
            let gain = |i: &usize| {
                let on_air = &self.on_air[0][*i];
                (1.0 - on_air.error) / on_air.exchange().busy_ns(&network.timing).max(1) as f64
            };
            index = (0..network.rates.len()).max_by(|a, b| gain(a).total_cmp(&gain(b))).unwrap_or(0);
        }
        let index = u8::try_from(index).unwrap_or(0);
        self.up = Control::start(network, index);
        self.down = Control::start(network, index);
    }

    /// When it starts to send if nobody else does.
    #[inline]
    pub(super) fn start_ns(&self, slot_ns: Nanoseconds) -> Nanoseconds {
        if self.ready_ns == Nanoseconds::MAX {
            return Nanoseconds::MAX;
        }
        (self.from_ns + Nanoseconds::from(self.count) * slot_ns).max(self.ready_ns)
    }

    pub(super) fn doze(&mut self, now_ns: Nanoseconds, clean_ns: Nanoseconds, clash_ns: Nanoseconds) {
        self.dozes_ns = Some(now_ns);
        self.dozed = (clean_ns, clash_ns);
    }

    pub(super) fn wake(&mut self, now_ns: Nanoseconds, clean_ns: Nanoseconds, clash_ns: Nanoseconds) {
        if let Some(since_ns) = self.dozes_ns.take() {
            self.slept_ns = self.slept_ns.wrapping_add(now_ns.saturating_sub(since_ns));
            self.missed_clean_ns += clean_ns - self.dozed.0;
            self.missed_clash_ns += clash_ns - self.dozed.1;
        }
    }

    /// It wakes for a beacon, hears it, and dozes on.
    pub(super) fn hear_beacon(&mut self, beacon_ns: Nanoseconds) {
        self.slept_ns = self.slept_ns.wrapping_sub(beacon_ns);
        self.dozed.0 += beacon_ns;
    }

    /// The states of its radio over `duration_ns`, from what was on the air.
    pub(super) fn close(&mut self, duration_ns: Nanoseconds, clean_ns: Nanoseconds, clash_ns: Nanoseconds) {
        self.wake(duration_ns, clean_ns, clash_ns);
        let tx_ns = self.sent_clean_ns + self.sent_clash_ns;
        let rx_ns = clean_ns.saturating_sub(self.sent_clean_ns + self.missed_clean_ns);
        let cca_ns = clash_ns.saturating_sub(self.sent_clash_ns + self.missed_clash_ns);
        let sleep_ns = self.slept_ns;
        let idle_ns = duration_ns.saturating_sub(tx_ns + rx_ns + cca_ns + sleep_ns);
        self.states = States { tx_ns, rx_ns, cca_ns, idle_ns, sleep_ns };
    }
}
