//! How much work a scenario makes for the simulator, told before it begins: what would take hours is refused.

use wattlock_air::dcf::{Network, Transport, exchange};

use super::means::check_mean;
use super::request::{Scenario, TopologyName};
use super::resolve::Plan;
use super::wrong::Wrong;

/// At every transmission and beacon the simulator looks at every node: 30 ns each, measured on a server of 2023, so that
/// this is ten minutes.
const LOOKS_MAX: f64 = 2e10;
/// A transmission costs as much beside as so many looks.
const OWN_LOOKS: f64 = 5.0;
/// Acknowledgements of TCP: one for two segments.
const ACKS: f64 = 0.5;
/// Times that TCP sends a segment on its own account before it gives up: once, and after each of its time-outs.
const TCP_SENDS: f64 = 16.0;

/// Refuses what would keep the simulator busy for long.
///
/// # Errors
/// The key that makes it so much, with the most that it may be.
pub(super) fn check(scenario: &Scenario, plan: &Plan, network: &Network) -> Result<(), Wrong> {
    let tcp = network.transport != Transport::Udp;
    let nodes = plan.signals_dBm.len();
    let most = LOOKS_MAX / (nodes as f64 + OWN_LOOKS);
    let least_ns = least_ns(plan, network);
    let by_datagrams = network.datagrams.map_or(f64::INFINITY, |datagrams| {
        datagrams as f64 * tries(scenario, plan, network) * if tcp { 1.0 + ACKS } else { 1.0 }
    });
    let limit_ns = network.duration_ns.map_or(f64::INFINITY, |duration_ns| duration_ns as f64);
    let offered = if network.interval_ns > 0 {
        tries(scenario, plan, network) * (limit_ns / network.interval_ns as f64).ceil()
    } else {
        f64::INFINITY
    };
    let sent = by_datagrams.min(limit_ns / least_ns).min(offered);
    let span_ns = match network.datagrams {
        Some(datagrams) => limit_ns.min((sent * least_ns).max(datagrams as f64 * network.interval_ns as f64)),
        None => limit_ns,
    };
    let beacons = if network.beacon_interval_ns > 0 { span_ns / network.beacon_interval_ns as f64 } else { 0.0 };
    let all = sent + beacons;
    if all <= most {
        return Ok(());
    }
    let (key, value) = match (network.datagrams, scenario.duration_s) {
        (Some(datagrams), Some(duration_s)) if limit_ns / least_ns < by_datagrams => {
            ("duration_s", format!("{duration_s} s with {datagrams} datagrams"))
        }
        (Some(datagrams), _) => ("datagrams", format!("{datagrams}")),
        (None, duration_s) => ("duration_s", format!("{} s", duration_s.unwrap_or_default())),
    };
    let right = match network.datagrams.filter(|_| key == "datagrams") {
        Some(datagrams) => format!("at most some {:.2e}, or a \"duration_s\"", datagrams as f64 * most / all),
        None => format!("at most some {:.2e}", limit_ns / 1e9 * most / all),
    };
    let other = match (check_mean(scenario, network).is_ok(), nodes) {
        (false, _) => "",
        (true, 2) => ", or \"engine\": \"closed-form\"",
        (true, _) => ", or \"engine\": \"bianchi\"",
    };
    let message = format!(
        "{value}: {all:.2e} transmissions and beacons of {nodes} nodes, the simulator takes {most:.2e} (some ten minutes)"
    );
    Err(Wrong::new(key, message).hint(format!("{right}{other}")))
}

/// Transmissions of one datagram of each sender, over all hops, in the mean and without collisions.
fn tries(scenario: &Scenario, plan: &Plan, network: &Network) -> f64 {
    // Rate adaptation comes down to the slowest where nothing else gets through.
    let slowest = Network { rate: 0, ..network.clone() };
    let sends = if network.transport == Transport::Udp { 1.0 } else { TCP_SENDS };
    let most = f64::from(network.retry_limit) * sends;
    let of = |signal_dBm: Option<f64>| {
        let (_, error) = exchange(&slowest, signal_dBm);
        if error < 1.0 { (1.0 - error.powf(most)) / (1.0 - error) } else { most }
    };
    let links = plan.signals_dBm.get(1..).unwrap_or_default();
    match links.split_last() {
        Some((&receiver, senders)) if scenario.topology == TopologyName::Bss => {
            senders.iter().copied().map(of).sum::<f64>() + senders.len() as f64 * of(receiver)
        }
        _ => links.iter().copied().map(of).sum(),
    }
}

/// The least time between two transmissions: of an aggregate that of its octets.
fn least_ns(plan: &Plan, network: &Network) -> f64 {
    let fastest = Network { rate: plan.rates.len().saturating_sub(1), ..network.clone() };
    let least_ns = if network.aggregate_B > 0 {
        plan.rates.last().map_or(1, |&rate| network.framing.mpdus(network.packet_B).octets_ns(rate, &network.channel))
    } else {
        exchange(&fastest, None).0.busy_ns(&network.timing) + network.timing.gap_ns()
    };
    least_ns.max(1) as f64
}
