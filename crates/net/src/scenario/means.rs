//! Which scenarios an engine of means can answer.

use wattlock_air::dcf::{Network, RateControl, Transport};

use super::request::{Scenario, TopologyName};
use super::wrong::Wrong;

/// Refuses what both closed forms leave out.
///
/// # Errors
/// The key, and what they know.
pub(super) fn check_mean(scenario: &Scenario, network: &Network) -> Result<(), Wrong> {
    let refuse = |key, message: &str, hint: &str| {
        Err(Wrong::new(key, message.to_owned()).hint(format!("{hint}, or \"engine\": \"dcf\"")))
    };
    if scenario.topology == TopologyName::Bss {
        return refuse("topology", "this engine knows one hop", "adhoc or to-ap");
    }
    if network.transport != Transport::Udp {
        return refuse("transport", "this engine knows datagrams", "udp");
    }
    if network.aggregate_B > 0 {
        return refuse("ampdu_B", "this engine knows single frames", "\"ampdu_B\": 0");
    }
    if network.rate_control != RateControl::Fixed {
        return refuse("rate_control", "this engine knows one rate", "fixed");
    }
    if network.interval_ns > 0 {
        return refuse("interval_us", "this engine knows senders that always have a datagram", "0");
    }
    if network.capture_dB.is_some() {
        return refuse("capture_dB", "this engine knows no capture", "without the key");
    }
    Ok(())
}
