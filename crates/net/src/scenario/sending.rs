//! How packets are sent: transport, rhythm, retries, what an access point holds.

use wattlock_air::dcf::{QUEUE_MAX, Transport};

use super::request::{RateControlName, Scenario, TopologyName, TransportName};
use super::wrong::Wrong;

/// A year: what is longer is a slip of the pen.
pub(super) const DURATION_MAX_S: f64 = 31_557_600.0;
/// A day.
const INTERVAL_MAX_US: u64 = 86_400_000_000;
/// dot11ShortRetryLimit and dot11LongRetryLimit (Annex C).
const RETRIES_MAX: u32 = 255;
/// Time unit of 1024 us times 100, as access points ship.
const BEACON_INTERVAL_US: u64 = 102_400;

pub(super) fn transport(scenario: &Scenario, payload_B: u32) -> Result<Transport, Wrong> {
    if scenario.transport == TransportName::Udp {
        return Ok(Transport::Udp);
    }
    let window_B = scenario.tcp_window_B.unwrap_or(65_535);
    if window_B < payload_B {
        return Err(Wrong::new("tcp_window_B", format!("{window_B} holds no segment of {payload_B} B")));
    }
    Ok(Transport::Tcp { window: (window_B / payload_B.max(1)).clamp(1, 1_024), ack_every: 2 })
}

/// How far apart datagrams come; 0 for one always waiting.
pub(super) fn interval_us(scenario: &Scenario, datagrams: Option<u64>, duration_ns: Option<u64>) -> Result<u64, Wrong> {
    let interval_us = scenario.interval_us.unwrap_or(0);
    if scenario.transport == TransportName::Tcp && interval_us > 0 {
        return Err(Wrong::new("interval_us", "TCP sends when its window allows").hint("\"transport\": \"udp\""));
    }
    if interval_us > INTERVAL_MAX_US {
        return Err(
            Wrong::new("interval_us", format!("{interval_us} us")).hint(format!("0 to {INTERVAL_MAX_US} (a day)"))
        );
    }
    let apart_s = datagrams.filter(|_| duration_ns.is_none()).unwrap_or(0) as f64 * interval_us as f64 / 1e6;
    if apart_s > DURATION_MAX_S {
        let message = format!("datagrams {interval_us} us apart take {apart_s:.2e} s");
        return Err(
            Wrong::new("interval_us", message).hint(format!("a \"duration_s\" of at most {DURATION_MAX_S} (a year)"))
        );
    }
    Ok(interval_us)
}

pub(super) fn retry_limit(scenario: &Scenario) -> Result<u32, Wrong> {
    // Minstrel's chain says itself how often a frame is tried.
    let chain = scenario.rate_control == RateControlName::Minstrel;
    let retry_limit = scenario.retry_limit.unwrap_or(if chain { RETRIES_MAX } else { 7 });
    if (1..=RETRIES_MAX).contains(&retry_limit) {
        return Ok(retry_limit);
    }
    Err(Wrong::new("retry_limit", format!("{retry_limit} transmissions")).hint(format!("1 to {RETRIES_MAX}")))
}

pub(super) fn queue_packets(scenario: &Scenario) -> Result<usize, Wrong> {
    let queue = scenario.queue_packets.unwrap_or(500);
    let packets = usize::try_from(queue).ok().filter(|packets| (1..=QUEUE_MAX).contains(packets));
    packets.ok_or_else(|| Wrong::new("queue_packets", format!("{queue} packets")).hint(format!("1 to {QUEUE_MAX}")))
}

/// How far apart beacons are; 0 for none.
pub(super) fn beacon_us(scenario: &Scenario) -> Result<u64, Wrong> {
    let default_us = if scenario.topology == TopologyName::Adhoc { 0 } else { BEACON_INTERVAL_US };
    let beacon_us = scenario.beacon_interval_us.unwrap_or(default_us);
    if beacon_us != 0 && !(10_000..=67_108_864).contains(&beacon_us) {
        let hint = "0 for none, or 10000 to 67108864 (65535 time units)";
        return Err(Wrong::new("beacon_interval_us", format!("{beacon_us} us")).hint(hint));
    }
    Ok(beacon_us)
}

pub(super) fn check_capture(scenario: &Scenario, signals_dBm: &[Option<f64>]) -> Result<(), Wrong> {
    if scenario.capture_dB.is_some_and(|capture_dB| !(0.0..=100.0).contains(&capture_dB)) {
        return Err(Wrong::new("capture_dB", "outside of what there is").hint("0 to 100, or without the key"));
    }
    if scenario.capture_dB.is_some() && signals_dBm.iter().all(Option::is_none) {
        return Err(Wrong::new("capture_dB", "without signals nobody is stronger").hint("rssi_dBm or distance_m"));
    }
    Ok(())
}
