//! What an engine answers: one line of output.

use schemars::JsonSchema;
use serde::Serialize;

use super::request::EngineName;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Sends data.
    Sender,
    /// Receives data.
    Receiver,
    /// Relays or receives data, and sends beacons.
    AccessPoint,
}

/// One node's share of a result; its five times add up to the duration.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NodeResult {
    /// Number, from 0: receiver or access point, senders, with a relay the receiver last.
    pub node: usize,
    /// What it is.
    pub role: Role,
    /// Power with which the other end hears it, dBm; null without noise, and for node 0.
    pub rssi_dBm: Option<f64>,
    /// Transmitting.
    pub tx_ns: u64,
    /// Receiving frames, also those for others.
    pub rx_ns: u64,
    /// Hearing collisions.
    pub cca_ns: u64,
    /// Listening to nothing.
    pub idle_ns: u64,
    /// Dozing.
    pub sleep_ns: u64,
    /// Data frames that it put on the air.
    pub frames: u64,
    /// Of its datagrams those that were delivered.
    pub delivered: u64,
}

/// Frames of one kind over one hop, and what they took of the air, but for collisions. What is left of the duration
/// beside legs, beacons and collisions is gaps and back-off.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LegResult {
    /// 1, or behind an access point 2.
    pub hop: usize,
    /// TCP's acknowledgements in place of data.
    pub acknowledgements: bool,
    /// Who sends.
    pub from: Role,
    /// Who receives.
    pub to: Role,
    /// Packets that came over, each once.
    pub packets: u64,
    /// Data frames put on the air, those in collisions apart.
    pub sent: u64,
    /// Time on air of these.
    pub sent_ns: u64,
    /// Of it, that of the transmissions which brought the packets; the rest had to be sent again.
    pub data_ns: u64,
    /// Of that, the octets at the rate; the rest is preamble, PHY header and padding.
    pub octets_ns: u64,
    /// RTS.
    pub rts_ns: u64,
    /// CTS, ACK and BlockAck, from the other end.
    pub response_ns: u64,
}

/// Octets of a packet with data by whose they are.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Octets {
    /// Payload.
    pub payload_B: u32,
    /// UDP or TCP.
    pub transport_B: u32,
    /// IP.
    pub ip_B: u32,
    /// LLC and SNAP.
    pub llc_B: u32,
    /// Protection of the whole packet.
    pub msdu_protection_B: u32,
    /// Protection of each frame.
    pub mpdu_protection_B: u32,
    /// MAC header and FCS of each frame.
    pub mac_B: u32,
}

/// What a scenario came down to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Resolved {
    /// Slot.
    pub slot_ns: u64,
    /// SIFS.
    pub sifs_ns: u64,
    /// DIFS or AIFS.
    pub gap_ns: u64,
    /// Contention windows.
    pub cw_min: u32,
    /// Contention windows.
    pub cw_max: u32,
    /// Rate of data frames without rate adaptation, b/s.
    pub rate_bit_s: u64,
    /// Rate of their responses, b/s.
    pub response_rate_bit_s: u64,
    /// Basic rates.
    pub basic_rates_Mb_s: Vec<f64>,
    /// Payload.
    pub payload_B: u32,
    /// IP packet.
    pub packet_B: u32,
    /// Its octets, and those around it.
    pub octets: Octets,
    /// MPDUs of a datagram; more than 1 are fragments.
    pub fragments: u32,
    /// Octets of its MPDU, or of all but the last fragment.
    pub psdu_B: u32,
    /// Time on air of the data frame, or of all fragments.
    pub data_ns: u64,
    /// Time on air of its ACK, or of all.
    pub response_ns: u64,
    /// Share of single exchanges that noise spoils, at the first station's signal.
    pub error_rate: f64,
    /// How far apart beacons are.
    pub beacon_interval_ns: u64,
    /// Largest A-MPDU.
    pub ampdu_B: u32,
}

/// What an engine answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AirResult {
    /// Version of the records.
    pub schema: u32,
    /// Line of the scenario, from 1.
    pub line: usize,
    /// The scenario's own name.
    pub id: Option<String>,
    /// What answered.
    pub engine: EngineName,
    /// From the start to the end of the last exchange, or as asked.
    pub duration_ns: u64,
    /// Datagrams or segments that reached their receiver.
    pub delivered: u64,
    /// Payload that reached its receiver, megabits a second.
    pub delivered_Mb_s: f64,
    /// Data frames put on the air, retries included, at all hops.
    pub frames: u64,
    /// Of them those sent before.
    pub retries: u64,
    /// Packets given up after the last retry.
    pub drops: u64,
    /// Packets for which the access point had no room.
    pub queue_drops: u64,
    /// Segments that TCP never got through before it gave up.
    pub given_up: u64,
    /// Share of attempts that met another one.
    pub collision_probability: f64,
    /// Beacons.
    pub beacons: u64,
    /// Time on air of beacons.
    pub beacon_ns: u64,
    /// Time in which frames collided.
    pub collision_ns: u64,
    /// What went over each hop.
    pub legs: Vec<LegResult>,
    /// What the scenario came down to.
    pub resolved: Resolved,
    /// Each node.
    pub nodes: Vec<NodeResult>,
}

/// Why a scenario has no result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AirFailure {
    /// Version of the records.
    pub schema: u32,
    /// Line of the scenario, from 1.
    pub line: usize,
    /// The key that is wrong; empty where the line is no object.
    pub key: String,
    /// What is wrong with it.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
}

/// One line of output.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AirLine {
    /// A scenario's result.
    Result(Box<AirResult>),
    /// A scenario that can't be.
    Failure(AirFailure),
}
