//! What happens once somebody sends: an exchange that is answered, one that is not, or a collision.

use rand_core::Rng;

use super::draws::share;
use super::medium::Simulation;
use super::node::{Node, Pending};
use super::on_air::{OnAir, aggregate_B};
use super::outcome::Leg;
use super::traffic::Packet;
use crate::Nanoseconds;
use crate::signal::ratio;

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

/// How an attempt has gone so far.
#[derive(Default)]
struct Attempt {
    now_ns: Nanoseconds,
    /// Data MPDUs put on the air.
    sent: u64,
    /// What the sender put on the air, and what answered it.
    sent_ns: Nanoseconds,
    answered_ns: Nanoseconds,
    failed: bool,
    /// The answer that others leave room for.
    reserved_ns: Nanoseconds,
    /// Bit i: MPDU i has arrived; and when.
    arrived: u64,
    arrived_ns: Nanoseconds,
    /// Whether the sender has heard so.
    heard: bool,
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
        self.outcome.attempts += 1;
        let before = self.nodes[node].fragment;
        let mut attempt = self.reserve(&sending.on_air, start_ns);
        match (attempt.failed, sending.aggregated) {
            (true, _) => {}
            (false, true) => self.send_aggregate(node, sending, &mut attempt),
            (false, false) => self.send_fragments(node, &sending.on_air, &mut attempt),
        }
        let (timing, to) = (self.network.timing, sending.to);
        let Attempt { now_ns, sent, sent_ns, answered_ns, failed, reserved_ns, arrived, arrived_ns, heard } = attempt;
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
        leg.sent_ns += sent_ns - sending.on_air.rts_ns;
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

    /// RTS and CTS where the network uses them; data follows where the attempt has not failed.
    fn reserve(&mut self, on_air: &OnAir, start_ns: Nanoseconds) -> Attempt {
        let sifs_ns = self.network.timing.sifs_ns;
        let mut attempt = Attempt { now_ns: start_ns, reserved_ns: on_air.response_ns, ..Attempt::default() };
        if on_air.rts_ns > 0 {
            attempt.failed = self.fails(on_air.handshake_error);
            attempt.now_ns += on_air.rts_ns;
            attempt.sent_ns += on_air.rts_ns;
            if attempt.failed {
                attempt.reserved_ns = on_air.cts_ns;
            } else {
                attempt.now_ns += sifs_ns + on_air.cts_ns + sifs_ns;
                attempt.answered_ns += on_air.cts_ns;
            }
        }
        attempt.arrived_ns = attempt.now_ns;
        attempt
    }

    /// An A-MPDU, and the BlockAck where any of its MPDUs arrived.
    fn send_aggregate(&mut self, node: usize, sending: &Sending, attempt: &mut Attempt) {
        let on_air = &sending.on_air;
        attempt.reserved_ns = on_air.block_ack_ns;
        attempt.now_ns += sending.data_ns;
        attempt.sent_ns += sending.data_ns;
        attempt.sent += sending.count as u64;
        self.count_frames(node, sending.count);
        if !self.fails(on_air.header_error) {
            for i in 0..sending.count {
                attempt.arrived |= u64::from(!self.fails(on_air.mpdu_error)) << i;
            }
        }
        attempt.arrived_ns = attempt.now_ns;
        if attempt.arrived != 0 {
            attempt.now_ns += self.network.timing.sifs_ns + on_air.block_ack_ns;
            attempt.answered_ns += on_air.block_ack_ns;
            attempt.heard = !self.fails(on_air.block_ack_error);
        }
        attempt.failed = !attempt.heard;
    }

    /// Fragments, each with its acknowledgement, one after another after SIFS (10.3.7); without fragmentation one.
    fn send_fragments(&mut self, node: usize, on_air: &OnAir, attempt: &mut Attempt) {
        let sifs_ns = self.network.timing.sifs_ns;
        loop {
            let fragment = self.nodes[node].fragment;
            let (data_ns, error) = on_air.fragment(fragment);
            attempt.now_ns += data_ns;
            attempt.sent_ns += data_ns;
            attempt.sent += 1;
            self.count_frames(node, 1);
            if self.fails(error) {
                // The answer to an earlier fragment is none to this one: its loss widens the window (10.3.3).
                (attempt.failed, attempt.heard) = (true, false);
                break;
            }
            let last = fragment + 1 >= on_air.fragments;
            attempt.arrived = u64::from(last);
            attempt.arrived_ns = attempt.now_ns;
            attempt.now_ns += sifs_ns + on_air.response_ns;
            attempt.answered_ns += on_air.response_ns;
            attempt.heard = !self.fails(on_air.response_error);
            if !attempt.heard || last {
                attempt.failed = !attempt.heard;
                break;
            }
            self.nodes[node].fragment += 1;
            if let Some(head) = self.nodes[node].service.first_mut() {
                head.retries = 0;
            }
            attempt.now_ns += sifs_ns;
        }
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
