//! The three engines behind one answer.

use crate::SCHEMA;
use wattlock_air::access::response_rate;
use wattlock_air::bianchi::{Slots, saturation};
use wattlock_air::dcf::{Leg, Network, Node, Outcome, States, exchange, simulate};
use wattlock_air::frame::{ACK_B, BEACON_B, FCS_B, HEADER_B, IP_B, LLC_B, QOS_B};
use wattlock_air::one_station::{Exchange, alone, left_by_beacons};
use wattlock_air::phy::Rate;

use super::means::check_mean;
use super::request::{EngineName, Scenario, TopologyName};
use super::resolve::{Plan, resolve};
use super::result::{AirResult, LegResult, NodeResult, Octets, Resolved, Role};
use super::work;
use super::wrong::Wrong;

/// What an engine says; nodes are node 0, senders, and with a relay the receiver.
struct Answer {
    outcome: Outcome,
    collision_probability: f64,
    nodes: Vec<Share>,
}

/// One node's share.
struct Share {
    states: States,
    frames: u64,
    delivered: u64,
}

/// Answers one scenario.
///
/// # Errors
/// The key that makes it impossible, with the right values.
pub fn answer(line: usize, scenario: &Scenario) -> Result<AirResult, Wrong> {
    let plan = resolve(scenario)?;
    let network = plan.network();
    let said = match scenario.engine {
        EngineName::Dcf => {
            work::check(scenario, &plan, &network)?;
            simulated(&plan, &network)?
        }
        EngineName::ClosedForm => one_station(scenario, &plan, &network)?,
        EngineName::Bianchi => saturated(scenario, &plan, &network)?,
    };
    let bits = said.outcome.delivered.saturating_mul(u64::from(plan.payload_B)).saturating_mul(8);
    let last = said.nodes.len() - 1;
    let nodes = said.nodes.iter().zip(&plan.signals_dBm).enumerate().map(|(i, (share, &rssi_dBm))| NodeResult {
        node: i,
        role: role(scenario.topology, i, last),
        rssi_dBm,
        tx_ns: share.states.tx_ns,
        rx_ns: share.states.rx_ns,
        cca_ns: share.states.cca_ns,
        idle_ns: share.states.idle_ns,
        sleep_ns: share.states.sleep_ns,
        frames: share.frames,
        delivered: share.delivered,
    });
    Ok(AirResult {
        schema: SCHEMA,
        line,
        id: scenario.id.clone(),
        engine: scenario.engine,
        duration_ns: said.outcome.duration_ns,
        delivered: said.outcome.delivered,
        delivered_Mb_s: bits as f64 / said.outcome.duration_ns.max(1) as f64 * 1e3,
        frames: said.outcome.frames,
        retries: said.outcome.retries,
        drops: said.outcome.drops,
        queue_drops: said.outcome.queue_drops,
        given_up: said.outcome.given_up,
        collision_probability: said.collision_probability,
        beacons: said.outcome.beacons,
        beacon_ns: said.outcome.beacon_ns,
        collision_ns: said.outcome.collision_ns,
        legs: legs(scenario.topology, &said.outcome),
        resolved: resolved(&plan, &network),
        nodes: nodes.collect(),
    })
}

fn role(topology: TopologyName, node: usize, last: usize) -> Role {
    match topology {
        TopologyName::Adhoc if node == 0 => Role::Receiver,
        _ if node == 0 => Role::AccessPoint,
        TopologyName::Bss if node == last => Role::Receiver,
        _ => Role::Sender,
    }
}

/// The legs over which anything went, in the order in which a packet and its answer take them.
fn legs(topology: TopologyName, outcome: &Outcome) -> Vec<LegResult> {
    let middle = if topology == TopologyName::Adhoc { Role::Receiver } else { Role::AccessPoint };
    let ends = [[Role::Sender, middle], [middle, Role::Receiver]];
    [(0, 0), (1, 0), (1, 1), (0, 1)]
        .into_iter()
        .map(|(hop, kind): (usize, usize)| {
            let Leg { packets, sent, sent_ns, data_ns, octets_ns, rts_ns, response_ns } = outcome.legs[hop][kind];
            LegResult {
                hop: hop + 1,
                acknowledgements: kind == 1,
                from: ends[hop][kind],
                to: ends[hop][1 - kind],
                packets,
                sent,
                sent_ns,
                data_ns,
                octets_ns,
                rts_ns,
                response_ns,
            }
        })
        .filter(|leg| leg.sent > 0 || leg.rts_ns > 0)
        .collect()
}

fn octets(network: &Network, payload_B: u32) -> Octets {
    let protection = network.framing.protection;
    Octets {
        payload_B,
        ip_B: IP_B,
        transport_B: network.packet_B - payload_B - IP_B,
        llc_B: LLC_B,
        msdu_protection_B: protection.msdu_B(),
        mpdu_protection_B: protection.mpdu_B(),
        mac_B: HEADER_B + if network.framing.qos { QOS_B } else { 0 } + FCS_B,
    }
}

fn resolved(plan: &Plan, network: &Network) -> Resolved {
    let (exchange, error_rate) = exchange(network, first_signal(plan));
    let rate = plan.rates[plan.rate];
    let mpdus = network.framing.mpdus(network.packet_B);
    let timing = &network.timing;
    Resolved {
        slot_ns: timing.slot_ns,
        sifs_ns: timing.sifs_ns,
        gap_ns: timing.gap_ns(),
        cw_min: timing.cw_min,
        cw_max: timing.cw_max,
        rate_bit_s: rate.bits_per_s(&network.channel),
        response_rate_bit_s: response_rate(rate, &plan.basic, &network.channel).bits_per_s(&network.channel),
        basic_rates_Mb_s: plan.basic_Mb_s.clone(),
        payload_B: plan.payload_B,
        packet_B: network.packet_B,
        octets: octets(network, plan.payload_B),
        fragments: mpdus.count,
        psdu_B: mpdus.full_B,
        data_ns: exchange.data_ns,
        response_ns: exchange.response_ns,
        error_rate,
        beacon_interval_ns: network.beacon_interval_ns,
        ampdu_B: network.aggregate_B,
    }
}

fn first_signal(plan: &Plan) -> Option<f64> {
    plan.signals_dBm.get(1).copied().flatten()
}

fn simulated(plan: &Plan, network: &Network) -> Result<Answer, Wrong> {
    let mut nodes: Vec<Node> = plan.signals_dBm.iter().map(|&signal_dBm| Node::new(signal_dBm)).collect();
    let outcome = simulate(network, &mut nodes).map_err(|error| Wrong::new("", error.to_string()))?;
    let share = |node: &Node| Share { states: node.states, frames: node.frames, delivered: node.delivered };
    Ok(Answer {
        outcome,
        collision_probability: outcome.collision_probability(),
        nodes: nodes.iter().map(share).collect(),
    })
}

/// Datagrams and duration of `senders` that together deliver one every `cycle_ns`, of which a share is dropped.
fn extent(network: &Network, senders: u64, cycle_ns: f64, dropped: f64) -> (f64, f64) {
    let asked = network.datagrams.map_or(f64::INFINITY, |datagrams| datagrams as f64 * senders as f64);
    let limit_ns = network.duration_ns.map_or(f64::INFINITY, |duration_ns| duration_ns as f64);
    let taken = asked.min(limit_ns / cycle_ns);
    let duration_ns = if taken < asked { limit_ns } else { taken * cycle_ns };
    (taken * (1.0 - dropped), duration_ns)
}

/// A mean as a whole number; means of times and counts here are below 2^53.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, at least 0; `as` saturates")]
fn whole(mean: f64) -> u64 {
    mean.round().max(0.0) as u64
}

/// A radio's states from its mean times; idle is what is left.
fn states(duration_ns: f64, tx_ns: f64, rx_ns: f64, cca_ns: f64) -> States {
    let (tx_ns, rx_ns, cca_ns) = (whole(tx_ns), whole(rx_ns), whole(cca_ns));
    let idle_ns = whole(duration_ns).saturating_sub(tx_ns + rx_ns + cca_ns);
    States { tx_ns, rx_ns, cca_ns, idle_ns, sleep_ns: 0 }
}

/// Beacons on the air: how many, and the time of one.
fn beacons(plan: &Plan, network: &Network, duration_ns: f64) -> (f64, f64) {
    if network.beacon_interval_ns == 0 {
        return (0.0, 0.0);
    }
    let slowest = plan.basic.iter().min_by_key(|rate| rate.bits_per_s(&network.channel)).copied();
    let slowest = slowest.unwrap_or(Rate::Ofdm { Mb_s: 6 });
    let beacon_ns = slowest.time_on_air_ns(BEACON_B, &network.channel) as f64;
    ((duration_ns / network.beacon_interval_ns as f64).floor(), beacon_ns)
}

fn one_station(scenario: &Scenario, plan: &Plan, network: &Network) -> Result<Answer, Wrong> {
    check_mean(scenario, network)?;
    if plan.signals_dBm.len() != 2 {
        return Err(
            Wrong::new("stations", "this engine knows one station").hint("1, or \"engine\": \"bianchi\" or \"dcf\"")
        );
    }
    let (exchange, error) = exchange(network, first_signal(plan));
    let mean = alone(&exchange, &network.timing, error, network.retry_limit);
    let (_, beacon_ns) = beacons(plan, network, 0.0);
    let left = left_by_beacons(whole(beacon_ns), network.beacon_interval_ns, &network.timing);
    if left <= 0.0 {
        return Err(Wrong::new("beacon_interval_us", "beacons fill the air").hint("longer"));
    }
    let (delivered, duration_ns) = extent(network, 1, mean.cycle_ns / left, mean.dropped);
    let datagrams = delivered / (1.0 - mean.dropped).max(f64::MIN_POSITIVE);
    let attempts = datagrams * mean.attempts;
    let (beacons, beacon_ns) = beacons(plan, network, duration_ns);
    let Parts { first_ns, all_ns, answers_ns } = parts(&exchange);
    // Of an attempt that fails only its first frame is sent; the answers of the others come.
    let won = attempts * (1.0 - error);
    let sent_ns = won * all_ns + (attempts - won) * first_ns;
    let answered_ns = won * answers_ns + beacons * beacon_ns;
    let node = |tx_ns, rx_ns| states(duration_ns, tx_ns, rx_ns, 0.0);
    let frames = whole(attempts * f64::from(exchange.fragments));
    let sent = Sent { packets: whole(delivered), frames, won, lost: attempts - won };
    let outcome = Outcome {
        duration_ns: whole(duration_ns),
        delivered: whole(delivered),
        legs: [[leg(plan, network, &exchange, &sent), Leg::default()], [Leg::default(); 2]],
        beacon_ns: whole(beacons * beacon_ns),
        frames,
        retries: whole(attempts - datagrams),
        drops: whole(datagrams * mean.dropped),
        attempts: whole(attempts),
        beacons: whole(beacons),
        ..Outcome::default()
    };
    let nodes = vec![
        Share { states: node(answered_ns, sent_ns), frames: 0, delivered: 0 },
        Share { states: node(sent_ns, answered_ns), frames, delivered: outcome.delivered },
    ];
    Ok(Answer { outcome, collision_probability: 0.0, nodes })
}

/// What an exchange is made of.
struct Parts {
    /// Its sender's first frame.
    first_ns: f64,
    /// All that its sender sends.
    all_ns: f64,
    /// All that comes back.
    answers_ns: f64,
}

fn parts(exchange: &Exchange) -> Parts {
    let first_ns =
        if exchange.rts_ns > 0 { exchange.rts_ns } else { exchange.data_ns / u64::from(exchange.fragments.max(1)) };
    Parts {
        first_ns: first_ns as f64,
        all_ns: (exchange.rts_ns + exchange.data_ns) as f64,
        answers_ns: (exchange.cts_ns + exchange.response_ns) as f64,
    }
}

/// Attempts of a closed form, in the mean: those that came through and those lost by noise.
struct Sent {
    packets: u64,
    frames: u64,
    won: f64,
    lost: f64,
}

fn leg(plan: &Plan, network: &Network, exchange: &Exchange, sent: &Sent) -> Leg {
    let data_ns = whole(sent.won * exchange.data_ns as f64);
    // Of an attempt that fails only its first frame is sent.
    let rts = exchange.rts_ns > 0;
    let first_ns = if rts { 0.0 } else { parts(exchange).first_ns };
    let octets_ns = network.framing.mpdus(network.packet_B).octets_ns(plan.rates[plan.rate], &network.channel);
    Leg {
        packets: sent.packets,
        sent: sent.frames,
        sent_ns: data_ns + whole(sent.lost * first_ns),
        data_ns,
        octets_ns: whole(sent.won * octets_ns as f64).min(data_ns),
        rts_ns: whole((sent.won + sent.lost) * exchange.rts_ns as f64),
        response_ns: whole(sent.won * (exchange.response_ns + exchange.cts_ns) as f64),
    }
}

/// How long each kind of slot is.
fn slots(plan: &Plan, network: &Network, exchange: &Exchange) -> Slots {
    let timing = &network.timing;
    let gap_ns = timing.gap_ns() as f64;
    let lowest = plan.basic.iter().min_by_key(|rate| rate.bits_per_s(&network.channel)).copied();
    let lowest_ack_ns = lowest.unwrap_or(Rate::Ofdm { Mb_s: 6 }).time_on_air_ns(ACK_B, &network.channel);
    let after_ns = if network.eifs { timing.eifs_ns(lowest_ack_ns) as f64 } else { gap_ns };
    Slots {
        idle_ns: timing.slot_ns as f64,
        success_ns: exchange.busy_ns(timing) as f64 + gap_ns,
        error_ns: exchange.lost_ns(timing) as f64 + gap_ns,
        collision_ns: parts(exchange).first_ns + after_ns,
    }
}

fn saturated(scenario: &Scenario, plan: &Plan, network: &Network) -> Result<Answer, Wrong> {
    check_mean(scenario, network)?;
    if plan.signals_dBm[1..].windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(Wrong::new("rssi_dBm", "this engine knows stations of one signal")
            .hint("one number, or \"engine\": \"dcf\""));
    }
    let senders = plan.signals_dBm.len() as u64 - 1;
    let timing = &network.timing;
    let (exchange, error) = exchange(network, first_signal(plan));
    let Parts { first_ns, all_ns, answers_ns } = parts(&exchange);
    let slots = slots(plan, network, &exchange);
    let stations = u32::try_from(senders).unwrap_or(u32::MAX);
    let chain = saturation(stations, timing, &slots, error, network.retry_limit);
    let (_, beacon_ns) = beacons(plan, network, 0.0);
    let left = left_by_beacons(whole(beacon_ns), network.beacon_interval_ns, timing);
    if left <= 0.0 || chain.delivered_per_ns <= 0.0 {
        return Err(Wrong::new("rate_Mb_s", "nothing gets through").hint("a lower rate or a stronger signal"));
    }
    let taken_per_ns = chain.delivered_per_ns * left / (1.0 - chain.dropped);
    let (delivered, duration_ns) = extent(network, senders, 1.0 / taken_per_ns, chain.dropped);
    let (beacons, beacon_ns) = beacons(plan, network, duration_ns);
    let slots = duration_ns * left / chain.slot_ns;
    let single = slots * chain.single_slots;
    let won = single * (1.0 - error);
    let clean_ns = won * (all_ns + answers_ns) + (single - won) * first_ns + beacons * beacon_ns;
    let clash_ns = slots * chain.collided_slots * first_ns;
    let share = senders as f64;
    let own_clean_ns = (won * all_ns + (single - won) * first_ns) / share;
    let own_clash_ns = slots * chain.attempt * chain.collision * first_ns;
    let answered_ns = won * answers_ns + beacons * beacon_ns;
    let attempts = slots * chain.attempt * share;
    let datagrams = delivered / (1.0 - chain.dropped);
    let sent = Sent { packets: whole(delivered), frames: whole(single), won, lost: single - won };
    let outcome = Outcome {
        duration_ns: whole(duration_ns),
        delivered: whole(delivered),
        legs: [[leg(plan, network, &exchange, &sent), Leg::default()], [Leg::default(); 2]],
        beacon_ns: whole(beacons * beacon_ns),
        collision_ns: whole(clash_ns),
        frames: whole(attempts),
        retries: whole(attempts - datagrams),
        drops: whole(datagrams * chain.dropped),
        attempts: whole(attempts),
        collisions: whole(attempts * chain.collision),
        beacons: whole(beacons),
        ..Outcome::default()
    };
    let receiver =
        Share { states: states(duration_ns, answered_ns, clean_ns - answered_ns, clash_ns), frames: 0, delivered: 0 };
    let sender = || Share {
        states: states(duration_ns, own_clean_ns + own_clash_ns, clean_ns - own_clean_ns, clash_ns - own_clash_ns),
        frames: whole(attempts / share),
        delivered: whole(delivered / share),
    };
    let nodes = std::iter::once(receiver).chain((0..senders).map(|_| sender())).collect();
    Ok(Answer { outcome, collision_probability: chain.collision, nodes })
}
