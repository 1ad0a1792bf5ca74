//! What came of a simulation.

use crate::Nanoseconds;

/// Frames of one kind over one hop: what they took of the air, but for collisions.
///
/// The first transmission that brings a packet is its data; all others, whether nothing arrived or the acknowledgement
/// was lost, are `sent_ns` less `data_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leg {
    /// Packets that came over, each once.
    pub packets: u64,
    /// Data MPDUs put on the air.
    pub sent: u64,
    /// Time on air of them.
    pub sent_ns: Nanoseconds,
    /// Of it, that of the transmissions which brought the packets.
    pub data_ns: Nanoseconds,
    /// Of that, their MPDUs' octets at the rate; the rest is preamble, PHY header and padding.
    pub octets_ns: Nanoseconds,
    /// RTS, by who sends the data.
    pub rts_ns: Nanoseconds,
    /// CTS, ACK and BlockAck, by who receives it.
    pub response_ns: Nanoseconds,
}

/// What came of it; each node holds its own share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// From the start to the end of the last exchange, or the duration that was asked for.
    pub duration_ns: Nanoseconds,
    /// Datagrams or segments that reached their receiver, each once.
    pub delivered: u64,
    /// Data MPDUs put on the air, retries included, at all hops.
    pub frames: u64,
    /// Of them those that were sent before.
    pub retries: u64,
    /// Packets given up after their last retry, at all hops.
    pub drops: u64,
    /// Packets for which an access point had no room.
    pub queue_drops: u64,
    /// Segments that a TCP sender never got through before it gave up.
    pub given_up: u64,
    /// Attempts to get a frame or burst through.
    pub attempts: u64,
    /// Of them those that met another one.
    pub collisions: u64,
    /// Beacons.
    pub beacons: u64,
    /// Datagrams or segments, and TCP's acknowledgements, over the link of a sender (0) and over that of a receiver
    /// behind a relay (1).
    pub legs: [[Leg; 2]; 2],
    /// Time on air of beacons.
    pub beacon_ns: Nanoseconds,
    /// Time in which frames collided.
    pub collision_ns: Nanoseconds,
}

impl Outcome {
    /// Share of attempts that met another one.
    #[must_use]
    pub fn collision_probability(&self) -> f64 {
        if self.attempts == 0 { 0.0 } else { self.collisions as f64 / self.attempts as f64 }
    }
}
