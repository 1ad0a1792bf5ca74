//! What happens once somebody sends: an exchange that is answered, one that is not, or a collision.

use rand_core::Rng;

use super::node::{Node, Pending};
use super::traffic::Packet;
use super::{AGGREGATE_MAX, Leg, Network, PPDU_MAX_NS, Simulation, share};
use crate::Nanoseconds;
use crate::access::response_rate;
use crate::frame::{ACK_B, BLOCK_ACK_B, CTS_B, DELIMITER_B, RTS_B};
use crate::one_station::Exchange;
use crate::phy::Rate;
use crate::signal::{header_success, mpdu_error_rate, ppdu_error_rate, ratio};

/// One kind of packet at one rate over one link: durations and shares of loss.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OnAir {
    fragments: u32,
    full_ns: Nanoseconds,
    last_ns: Nanoseconds,
    /// All its MPDUs' octets at the rate.
    octets_ns: Nanoseconds,
    full_error: f64,
    last_error: f64,
    response_ns: Nanoseconds,
    response_error: f64,
    rts_ns: Nanoseconds,
    cts_ns: Nanoseconds,
    handshake_error: f64,
    mpdu_B: u32,
    aggregate: usize,
    header_error: f64,
    mpdu_error: f64,
    block_ack_ns: Nanoseconds,
    block_ack_error: f64,
    /// Of an exchange without aggregation.
    pub(super) error: f64,
}

/// The lowest basic rate; the lowest mandatory one of the network's kind where none is given.
pub(super) fn lowest_basic(network: &Network) -> Rate {
    let by_speed = |rate: &&Rate| rate.bits_per_s(&network.channel);
    let dsss = network.rates.first().is_some_and(|rate| rate.is_dsss());
    let otherwise = if dsss { Rate::Dsss { kb_s: 1_000 } } else { Rate::Ofdm { Mb_s: 6 } };
    network.basic.iter().min_by_key(by_speed).copied().unwrap_or(otherwise)
}

/// Octets of an A-MPDU: each MPDU with its delimiter, padded to four octets but for the last (9.7.1).
fn aggregate_B(mpdu_B: u32, count: u32) -> u32 {
    let padded_B = (mpdu_B + DELIMITER_B).next_multiple_of(4);
    padded_B * count.saturating_sub(1) + mpdu_B + DELIMITER_B
}

/// The PSDU of a lone MPDU; VHT and HE know no other than A-MPDUs (10.12.8).
fn alone_B(rate: Rate, mpdu_B: u32) -> u32 {
    match rate {
        Rate::Vht { .. } | Rate::He { .. } => mpdu_B + DELIMITER_B,
        Rate::Dsss { .. } | Rate::Ofdm { .. } | Rate::Ht { .. } => mpdu_B,
    }
}

impl OnAir {
    /// * `snr`: none for a link without errors.
    pub(super) fn of(network: &Network, rate: Rate, packet_B: u32, snr: Option<f64>) -> Self {
        let channel = &network.channel;
        let mpdus = network.framing.mpdus(packet_B);
        let response = response_rate(rate, network.basic, channel);
        let error = |rate: Rate, psdu_B: u32| snr.map_or(0.0, |snr| ppdu_error_rate(rate, psdu_B, channel, snr));
        let (full_B, last_B) = (alone_B(rate, mpdus.full_B), alone_B(rate, mpdus.last_B));
        let mpdu_B = mpdus.last_B;
        let mut aggregate = 1;
        while rate.aggregates() && aggregate < AGGREGATE_MAX {
            let size_B = aggregate_B(mpdu_B, u32::try_from(aggregate).unwrap_or(u32::MAX) + 1);
            if size_B > network.aggregate_B || rate.time_on_air_ns(size_B, channel) > PPDU_MAX_NS {
                break;
            }
            aggregate += 1;
        }
        let handshake = if network.rts { 1.0 } else { 0.0 };
        let mut on_air = Self {
            fragments: mpdus.count,
            full_ns: rate.time_on_air_ns(full_B, channel),
            last_ns: rate.time_on_air_ns(last_B, channel),
            octets_ns: mpdus.octets_ns(rate, channel),
            full_error: error(rate, full_B),
            last_error: error(rate, last_B),
            response_ns: response.time_on_air_ns(ACK_B, channel),
            response_error: error(response, ACK_B),
            rts_ns: if network.rts { response.time_on_air_ns(RTS_B, channel) } else { 0 },
            cts_ns: if network.rts { response.time_on_air_ns(CTS_B, channel) } else { 0 },
            handshake_error: handshake * (1.0 - (1.0 - error(response, RTS_B)) * (1.0 - error(response, CTS_B))),
            mpdu_B,
            aggregate,
            header_error: snr.map_or(0.0, |snr| 1.0 - header_success(rate, snr)),
            mpdu_error: snr.map_or(0.0, |snr| mpdu_error_rate(rate, mpdu_B, channel, snr)),
            block_ack_ns: response.time_on_air_ns(BLOCK_ACK_B, channel),
            block_ack_error: error(response, BLOCK_ACK_B),
            error: 0.0,
        };
        let fragments =
            libm::pow((1.0 - on_air.full_error) * (1.0 - on_air.response_error), f64::from(mpdus.count - 1));
        on_air.error = 1.0
            - (1.0 - on_air.handshake_error) * fragments * (1.0 - on_air.last_error) * (1.0 - on_air.response_error);
        on_air
    }

    /// The exchange of one packet, all its fragments included.
    pub(super) fn exchange(&self) -> Exchange {
        let fragments = Nanoseconds::from(self.fragments);
        Exchange {
            rts_ns: self.rts_ns,
            cts_ns: self.cts_ns,
            data_ns: self.full_ns * fragments.saturating_sub(1) + self.last_ns,
            response_ns: self.response_ns * fragments,
            fragments: self.fragments,
        }
    }

    fn fragment(&self, index: u32) -> (Nanoseconds, f64) {
        if index + 1 >= self.fragments { (self.last_ns, self.last_error) } else { (self.full_ns, self.full_error) }
    }
}

/// What one datagram of `network` puts on the air at its rate, and the share of such exchanges that fails.
///
/// * `signal_dBm`: none for a link without errors.
#[must_use]
pub fn exchange(network: &Network, signal_dBm: Option<f64>) -> (Exchange, f64) {
    let snr = signal_dBm.map(|signal_dBm| ratio(signal_dBm - network.noise_dBm));
    let rate = network.rates.get(network.rate).copied().unwrap_or(Rate::Ofdm { Mb_s: 6 });
    let on_air = OnAir::of(network, rate, network.packet_B, snr);
    (on_air.exchange(), on_air.error)
}

/// A node about to send: what, to whom, at which rate.
struct Sending {
    on_air: OnAir,
    rate: u8,
    /// The node whose link with node 0 is used.
    link: usize,
    ack: bool,
    to: usize,
    count: usize,
    data_ns: Nanoseconds,
    aggregated: bool,
}

impl Sending {
    /// What is on the air before the first answer.
    fn first_ns(&self) -> Nanoseconds {
        if self.on_air.rts_ns > 0 { self.on_air.rts_ns } else { self.data_ns }
    }
}

impl Simulation<'_, '_> {
    fn fails(&mut self, error: f64) -> bool {
        error > 0.0 && share(self.random.next_u64()) < error
    }

    /// The other end of a packet's next hop.
    fn next_hop(&self, node: usize, packet: Packet) -> usize {
        match (node, packet.ack) {
            (0, true) => usize::from(packet.flow),
            (0, false) => self.receiver(),
            _ => 0,
        }
    }

    /// Fills the service of `node` and picks its rate.
    fn pick(&mut self, node: usize, now_ns: Nanoseconds) -> Sending {
        if self.nodes[node].service.is_empty() {
            self.take(node, now_ns);
        }
        let Some(&head) = self.nodes[node].service.first() else { return self.sending(node) };
        let to = self.next_hop(node, head.packet);
        let holder = &mut self.nodes[node.max(to)];
        let control = if node == 0 { &mut holder.down } else { &mut holder.up };
        let rate = control.pick(self.network.rate_control, head.retries, now_ns, &mut self.random);
        let aggregate = holder.on_air[usize::from(head.packet.ack)][usize::from(rate)].aggregate;
        self.nodes[node].rate = rate;
        while self.nodes[node].service.len() < aggregate && self.take_alike(node, head.packet, to, now_ns) {}
        self.sending(node)
    }

    /// What `node` sends at the rate that it has picked.
    fn sending(&self, node: usize) -> Sending {
        let holder = &self.nodes[node];
        let rate = holder.rate;
        // A node whose `ready_ns` is right has a head.
        let (to, ack) =
            holder.service.first().map_or((0, false), |head| (self.next_hop(node, head.packet), head.packet.ack));
        let link = node.max(to);
        let on_air = self.nodes[link].on_air[usize::from(ack)][usize::from(rate)];
        let count = holder.service.len().min(on_air.aggregate);
        let aggregated = count > 1;
        let data_ns = if aggregated {
            let size_B = aggregate_B(on_air.mpdu_B, u32::try_from(count).unwrap_or(1));
            self.network.rates[usize::from(rate)].time_on_air_ns(size_B, &self.network.channel)
        } else {
            on_air.fragment(holder.fragment).0
        };
        Sending { on_air, rate, link, ack, to, count, data_ns, aggregated }
    }

    /// Moves the next packet of `node` into its service.
    fn take(&mut self, node: usize, now_ns: Nanoseconds) -> bool {
        let holder = &mut self.nodes[node];
        let packet = match holder.queue.pop_front() {
            Some(packet) => packet,
            None if holder.flow.ready_ns() <= now_ns => {
                Packet { flow: u16::try_from(node).unwrap_or(u16::MAX), ack: false, number: holder.flow.take(now_ns) }
            }
            None => return false,
        };
        holder.service.push(Pending { packet, retries: 0, arrived: false }).is_ok()
    }

    /// The same where it is of the same kind and has the same way as `head`.
    fn take_alike(&mut self, node: usize, head: Packet, to: usize, now_ns: Nanoseconds) -> bool {
        let alike = match self.nodes[node].queue.front() {
            Some(&next) => next.ack == head.ack && self.next_hop(node, next) == to,
            None => !head.ack,
        };
        alike && self.take(node, now_ns)
    }

    /// One node sends, and is answered or not.
    pub(super) fn single(&mut self, node: usize, start_ns: Nanoseconds) {
        let sending = self.pick(node, start_ns);
        self.wake_sender(node, start_ns);
        self.deliver(node, &sending, start_ns, |_, _| false);
    }

    fn wake_sender(&mut self, node: usize, start_ns: Nanoseconds) {
        let (clean_ns, clash_ns) = (self.clean_ns, self.clash_ns);
        let sender = &mut self.nodes[node];
        sender.wake(sender.ready_ns.min(start_ns), clean_ns, clash_ns);
    }

    /// A frame that no other one disturbs; `clashed` are nodes that were disturbed by it.
    fn deliver(
        &mut self,
        node: usize,
        sending: &Sending,
        start_ns: Nanoseconds,
        clashed: impl Fn(usize, &Node) -> bool,
    ) {
        let Sending { on_air, to, .. } = *sending;
        let timing = self.network.timing;
        self.outcome.attempts += 1;
        let (mut now_ns, mut sent, mut sent_ns, mut answered_ns) = (start_ns, 0_u64, 0, 0);
        let (mut failed, mut reserved_ns) = (false, on_air.response_ns);
        if on_air.rts_ns > 0 {
            failed = self.fails(on_air.handshake_error);
            reserved_ns = on_air.cts_ns;
            now_ns += on_air.rts_ns;
            sent_ns += on_air.rts_ns;
            if !failed {
                now_ns += timing.sifs_ns + on_air.cts_ns + timing.sifs_ns;
                answered_ns += on_air.cts_ns;
                reserved_ns = on_air.response_ns;
            }
        }
        // Bit i: MPDU i has arrived; and whether the sender has heard so.
        let (mut arrived, mut heard) = (0_u64, false);
        let mut arrived_ns = now_ns;
        let before = self.nodes[node].fragment;
        if !failed && sending.aggregated {
            reserved_ns = on_air.block_ack_ns;
            now_ns += sending.data_ns;
            sent_ns += sending.data_ns;
            sent += sending.count as u64;
            self.count_frames(node, sending.count);
            if !self.fails(on_air.header_error) {
                for i in 0..sending.count {
                    arrived |= u64::from(!self.fails(on_air.mpdu_error)) << i;
                }
            }
            arrived_ns = now_ns;
            if arrived != 0 {
                now_ns += timing.sifs_ns + on_air.block_ack_ns;
                answered_ns += on_air.block_ack_ns;
                heard = !self.fails(on_air.block_ack_error);
            }
            failed = !heard;
        } else if !failed {
            // Fragments follow one another after SIFS (10.3.7); without fragmentation there is one.
            loop {
                let fragment = self.nodes[node].fragment;
                let (data_ns, error) = on_air.fragment(fragment);
                now_ns += data_ns;
                sent_ns += data_ns;
                sent += 1;
                self.count_frames(node, 1);
                if self.fails(error) {
                    failed = true;
                    break;
                }
                let last = fragment + 1 >= on_air.fragments;
                arrived = u64::from(last);
                arrived_ns = now_ns;
                now_ns += timing.sifs_ns + on_air.response_ns;
                answered_ns += on_air.response_ns;
                heard = !self.fails(on_air.response_error);
                if !heard || last {
                    failed = !heard;
                    break;
                }
                self.nodes[node].fragment += 1;
                if let Some(head) = self.nodes[node].service.first_mut() {
                    head.retries = 0;
                }
                now_ns += timing.sifs_ns;
            }
        }
        // Who heard the frame keeps quiet until the answer would have been over (10.3.2.4).
        let unanswered = failed && arrived == 0;
        let end_ns = if unanswered { now_ns + timing.sifs_ns + reserved_ns } else { now_ns };
        self.defer(start_ns, end_ns, timing.gap_ns(), |i, other| i == node || clashed(i, other));
        if unanswered {
            let gap_ns = if self.network.eifs { self.eifs_ns } else { timing.gap_ns() };
            self.nodes[to].from_ns = now_ns.max(self.nodes[to].waits_until_ns) + gap_ns;
        }
        let leg = self.record(node, sending, arrived);
        leg.sent += sent;
        leg.sent_ns += sent_ns - on_air.rts_ns;
        leg.response_ns += answered_ns;
        self.nodes[node].sent_clean_ns += sent_ns;
        self.nodes[to].sent_clean_ns += answered_ns;
        self.clean_ns += sent_ns + answered_ns;
        self.free_ns = self.free_ns.max(now_ns);
        let moved = self.nodes[node].fragment != before;
        self.conclude(node, sending, arrived, arrived_ns, heard, moved);
        let waits_until_ns = if failed { now_ns + timing.timeout_ns() } else { 0 };
        // An answer that came but was not made out ends the wait.
        let waits_until_ns = if failed && arrived != 0 { now_ns } else { waits_until_ns };
        self.release(node, now_ns, waits_until_ns);
    }

    /// Books what arrived for the first time, and the RTS, with the leg that an attempt belongs to.
    fn record(&mut self, node: usize, sending: &Sending, arrived: u64) -> &mut Leg {
        let on_air = &sending.on_air;
        let pending = self.nodes[node].service.iter().take(sending.count).enumerate();
        let new = pending.filter(|(i, pending)| arrived >> i & 1 == 1 && !pending.arrived).count() as u64;
        let all_ns = if sending.aggregated {
            sending.data_ns * new / sending.count.max(1) as Nanoseconds
        } else {
            on_air.exchange().data_ns * new
        };
        let leg = &mut self.outcome.legs[usize::from(sending.link > self.senders)][usize::from(sending.ack)];
        leg.packets += new;
        leg.data_ns += all_ns;
        leg.octets_ns += on_air.octets_ns * new;
        leg.rts_ns += on_air.rts_ns;
        leg
    }

    fn count_frames(&mut self, node: usize, count: usize) {
        let holder = &mut self.nodes[node];
        let again = holder.service.iter().take(count).filter(|pending| pending.retries > 0).count() as u64;
        holder.frames += count as u64;
        holder.retries += again;
        self.outcome.frames += count as u64;
        self.outcome.retries += again;
    }

    /// After an attempt: hands over what arrived, keeps or gives up the rest, draws nothing yet.
    ///
    /// * `moved`: an earlier fragment of the same burst got through, so that the window starts anew.
    fn conclude(
        &mut self,
        node: usize,
        sending: &Sending,
        arrived: u64,
        arrived_ns: Nanoseconds,
        heard: bool,
        moved: bool,
    ) {
        let link = &mut self.nodes[sending.link];
        let control = if node == 0 { &mut link.down } else { &mut link.up };
        let limit = control.limit(self.network);
        let tries = self.nodes[node].service.first().map_or(0, |head| head.retries + 1);
        let mut kept = 0;
        let mut index = 0;
        let mut acknowledged = 0;
        let (mut gave_up, mut head_left) = (false, false);
        let before = self.nodes[node].service.len();
        while index < sending.count {
            let Some(&pending) = self.nodes[node].service.get(kept) else { break };
            let came = arrived >> index & 1 == 1;
            index += 1;
            if came && !pending.arrived {
                self.nodes[node].service[kept].arrived = true;
                self.hand_over(sending.to, pending.packet, arrived_ns);
            }
            let has = came || pending.arrived;
            if came && heard {
                acknowledged += 1;
                head_left |= index == 1;
                self.nodes[node].service.remove(kept);
            } else if pending.retries + 1 >= limit {
                head_left |= index == 1;
                self.nodes[node].service.remove(kept);
                self.nodes[node].drops += 1;
                self.outcome.drops += 1;
                gave_up = true;
                if !has {
                    self.settle_lost();
                }
            } else {
                self.nodes[node].service[kept].retries += 1;
                kept += 1;
            }
        }
        if self.nodes[node].service.len() < before {
            self.nodes[node].fragment = 0;
        }
        // The window starts anew after an answer and after giving up (10.3.3).
        let holder = &mut self.nodes[node];
        holder.failures = match (heard || gave_up, moved) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => holder.failures + 1,
        };
        let kind = self.network.rate_control;
        let sent = u32::try_from(sending.count).unwrap_or(1);
        let rates = u8::try_from(self.network.rates.len()).unwrap_or(1);
        let link = &mut self.nodes[sending.link];
        let control = if node == 0 { &mut link.down } else { &mut link.up };
        control.learn(kind, sending.rate, sent, acknowledged, rates);
        if head_left {
            control.end(kind, tries);
        }
    }

    /// `node` draws its next back-off and sees what it has to send.
    fn release(&mut self, node: usize, now_ns: Nanoseconds, waits_until_ns: Nanoseconds) {
        let count = self.draw(self.nodes[node].failures);
        let free_ns = self.free_ns;
        let holder = &mut self.nodes[node];
        holder.count = count;
        holder.waits_until_ns = waits_until_ns;
        holder.from_ns = free_ns.max(waits_until_ns) + self.network.timing.gap_ns();
        self.refresh(node, now_ns);
    }

    /// A packet has come over one hop to `to`.
    fn hand_over(&mut self, to: usize, packet: Packet, now_ns: Nanoseconds) {
        let flow = usize::from(packet.flow);
        let ends = if packet.ack { to == flow } else { to == self.receiver() };
        if !ends {
            self.enqueue(to, packet, now_ns);
        } else if packet.ack {
            self.nodes[flow].flow.acknowledged(packet.number, now_ns);
            self.refresh(flow, now_ns);
        } else {
            let (new, answer) = self.nodes[flow].flow.receive(packet.number, now_ns);
            if new {
                self.outcome.delivered += 1;
                self.settled += 1;
                self.nodes[flow].delivered += 1;
            }
            if let Some(number) = answer {
                self.enqueue(to, Packet { flow: packet.flow, ack: true, number }, now_ns);
            }
        }
    }

    /// All nodes that start at `start_ns` send at once.
    pub(super) fn collision(&mut self, start_ns: Nanoseconds) {
        let timing = self.network.timing;
        let slot_ns = timing.slot_ns;
        let starts = |_: usize, node: &Node| node.start_ns(slot_ns) == start_ns;
        let mut end_ns = start_ns;
        for i in 0..self.nodes.len() {
            if starts(i, &self.nodes[i]) {
                self.wake_sender(i, start_ns);
                let sending = self.pick(i, start_ns);
                end_ns = end_ns.max(start_ns + sending.first_ns());
                // The mark by which `starts` knows them until they are released.
                let node = &mut self.nodes[i];
                (node.from_ns, node.count, node.ready_ns) = (start_ns, 0, 0);
            }
        }
        let strong = self.captured(starts);
        let mut overlap_ns = 0;
        if let Some(strong) = strong {
            let sending = self.sending(strong);
            overlap_ns = sending.first_ns();
            self.deliver(strong, &sending, start_ns, starts);
        } else {
            let gap_ns = if self.network.eifs { self.eifs_ns } else { timing.gap_ns() };
            self.defer(start_ns, end_ns, gap_ns, starts);
            self.clash_ns += end_ns - start_ns;
        }
        self.free_ns = self.free_ns.max(end_ns);
        for i in 0..self.nodes.len() {
            if !starts(i, &self.nodes[i]) {
                continue;
            }
            self.outcome.attempts += 1;
            self.outcome.collisions += 1;
            let sending = self.sending(i);
            let own_ns = sending.first_ns();
            if sending.on_air.rts_ns == 0 {
                self.count_frames(i, sending.count);
            }
            // What it sent beside a frame that others made out counts as time in which that was on the air.
            self.nodes[i].sent_clean_ns += own_ns.min(overlap_ns);
            self.nodes[i].sent_clash_ns += own_ns.saturating_sub(overlap_ns);
            self.conclude(i, &sending, 0, end_ns, false, false);
            self.release(i, end_ns, start_ns + own_ns + timing.timeout_ns());
        }
    }

    /// Of those that send at once to node 0, the one that it makes out.
    fn captured(&self, sends: impl Fn(usize, &Node) -> bool) -> Option<usize> {
        let threshold = ratio(self.network.capture_dB?);
        if sends(0, &self.nodes[0]) {
            return None;
        }
        let (mut strongest, mut most, mut sum) = (None, 0.0, 0.0);
        for (i, node) in self.nodes.iter().enumerate().filter(|&(i, node)| sends(i, node)) {
            let power = ratio(node.signal_dBm?);
            sum += power;
            if power > most {
                (strongest, most) = (Some(i), power);
            }
        }
        strongest.filter(|_| most >= threshold * (sum - most))
    }
}
