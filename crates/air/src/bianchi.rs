//! Saturated stations as a Markov chain: Bianchi, IEEE JSAC 18(3), 2000, with the finite retries of Wu et al., IEEE
//! INFOCOM 2002. All stations are alike and always have a frame; each attempt collides with the same probability.

use libm::pow;

use crate::access::Timing;

/// What the chain says of one network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Probability that a station sends in a slot (tau).
    pub attempt: f64,
    /// Probability that an attempt meets another one (p).
    pub collision: f64,
    /// Probability that an attempt fails, by collision or error.
    pub failure: f64,
    /// Of all slots of the chain: in which nobody sends.
    pub idle_slots: f64,
    /// In which one station sends.
    pub single_slots: f64,
    /// In which more send.
    pub collided_slots: f64,
    /// Mean length of a slot of the chain, ns.
    pub slot_ns: f64,
    /// Datagrams that get through, all stations together, a nanosecond.
    pub delivered_per_ns: f64,
    /// Share of datagrams that are given up.
    pub dropped: f64,
}

/// What the slots of the chain last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slots {
    /// A slot in which nobody sends.
    pub idle_ns: f64,
    /// An exchange that succeeds, with the gap after it.
    pub success_ns: f64,
    /// An exchange that fails by an error of the channel, with the gap after it.
    pub error_ns: f64,
    /// A collision, with the gap after it.
    pub collision_ns: f64,
}

/// Probability that a station sends in a slot, where a share `failure` of its attempts fails.
///
/// * `retry_limit`: transmissions of a frame before it is given up; `u32::MAX` for ever.
#[must_use]
pub fn attempt(timing: &Timing, failure: f64, retry_limit: u32) -> f64 {
    let (mut sent, mut slots, mut reached) = (0.0, 0.0, 1.0);
    for failures in 0..retry_limit {
        let window = timing.window(failures);
        // From the widest window on all stages are alike: a geometric series.
        let alike = if window == timing.cw_max { retry_limit - failures } else { 1 };
        let times = if alike == 1 { 1.0 } else { (1.0 - pow(failure, f64::from(alike))) / (1.0 - failure) };
        sent += reached * times;
        slots += reached * times * (f64::from(window) / 2.0 + 1.0);
        reached *= failure;
        if alike > 1 {
            break;
        }
    }
    sent / slots
}

/// Solves the chain for `stations`, of whose exchanges the channel spoils a share `error`.
///
/// The fixed point is unique: more attempts make more collisions, more collisions fewer attempts; it is found by
/// bisection.
#[must_use]
pub fn saturation(stations: u32, timing: &Timing, slots: &Slots, error: f64, retry_limit: u32) -> Saturation {
    let others = f64::from(stations.max(1) - 1);
    let meets = |tau: f64| 1.0 - pow(1.0 - tau, others);
    let fails = |tau: f64| 1.0 - (1.0 - meets(tau)) * (1.0 - error);
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let tau = f64::midpoint(low, high);
        if attempt(timing, fails(tau).min(1.0 - 1e-12), retry_limit) > tau { low = tau } else { high = tau }
    }
    let tau = f64::midpoint(low, high);
    let (collision, failure) = (meets(tau), fails(tau));
    let idle = pow(1.0 - tau, f64::from(stations));
    let single = f64::from(stations) * tau * (1.0 - collision);
    let collided = (1.0 - idle - single).max(0.0);
    let slot_ns = idle * slots.idle_ns
        + single * ((1.0 - error) * slots.success_ns + error * slots.error_ns)
        + collided * slots.collision_ns;
    Saturation {
        attempt: tau,
        collision,
        failure,
        idle_slots: idle,
        single_slots: single,
        collided_slots: collided,
        slot_ns,
        delivered_per_ns: single * (1.0 - error) / slot_ns,
        dropped: pow(failure, f64::from(retry_limit)),
    }
}
