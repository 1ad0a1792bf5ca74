//! One exchange after the other, without contention, in closed form.

use crate::Nanoseconds;
use crate::access::Timing;

/// What one datagram puts on the air when nothing goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exchange {
    /// RTS and CTS; 0 and 0 where they are not used.
    pub rts_ns: Nanoseconds,
    /// CTS.
    pub cts_ns: Nanoseconds,
    /// Data frame, or all fragments.
    pub data_ns: Nanoseconds,
    /// ACK or BlockAck, of all fragments.
    pub response_ns: Nanoseconds,
    /// Fragments; 1 without fragmentation.
    pub fragments: u32,
}

impl Exchange {
    /// From the first bit of the exchange to the last one.
    #[must_use]
    pub const fn busy_ns(&self, timing: &Timing) -> Nanoseconds {
        let handshake = if self.rts_ns > 0 { self.rts_ns + self.cts_ns + 2 * timing.sifs_ns } else { 0 };
        let gaps = timing.sifs_ns * (2 * self.fragments as Nanoseconds - 1);
        handshake + self.data_ns + self.response_ns + gaps
    }

    /// What a sender loses with an exchange that fails: its first frame and the wait for an answer.
    #[must_use]
    pub const fn lost_ns(&self, timing: &Timing) -> Nanoseconds {
        let first = if self.rts_ns > 0 { self.rts_ns } else { self.data_ns / self.fragments as Nanoseconds };
        first + timing.timeout_ns()
    }

    /// Mean time of one datagram of a sender that always has one: gap, mean back-off, exchange.
    #[must_use]
    pub const fn cycle_ns(&self, timing: &Timing) -> Nanoseconds {
        timing.gap_ns() + timing.slot_ns * timing.cw_min as Nanoseconds / 2 + self.busy_ns(timing)
    }
}

/// What becomes of a datagram, in the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// Time of a datagram, with its retries.
    pub cycle_ns: f64,
    /// Transmissions of a datagram.
    pub attempts: f64,
    /// Share that is given up.
    pub dropped: f64,
}

/// A station alone on the air, of whose exchanges a share `error` fails, each independently.
///
/// * `retry_limit`: transmissions of a datagram before it is given up.
///
/// Where nothing fails, the time is that of [`Exchange::cycle_ns`]. After a failure the window doubles.
#[must_use]
pub fn alone(exchange: &Exchange, timing: &Timing, error: f64, retry_limit: u32) -> Mean {
    let mut mean = Mean { cycle_ns: 0.0, attempts: 0.0, dropped: 1.0 };
    for failures in 0..retry_limit {
        let wait_ns = timing.gap_ns() + timing.slot_ns * Nanoseconds::from(timing.window(failures)) / 2;
        let won_ns = exchange.busy_ns(timing) as f64;
        let lost_ns = exchange.lost_ns(timing) as f64;
        mean.cycle_ns += mean.dropped * (wait_ns as f64 + won_ns * (1.0 - error) + lost_ns * error);
        mean.attempts += mean.dropped;
        mean.dropped *= error;
    }
    mean
}

/// The share of the time that beacons leave to others.
///
/// * `beacon_ns`: time on air of one; with the gap that comes before contention goes on.
#[must_use]
pub fn left_by_beacons(beacon_ns: Nanoseconds, interval_ns: Nanoseconds, timing: &Timing) -> f64 {
    if interval_ns == 0 {
        return 1.0;
    }
    (1.0 - (beacon_ns + timing.gap_ns()) as f64 / interval_ns as f64).max(0.0)
}
