//! Scenarios of the air in, results out: the records of `wattlock-net air`, one JSON object a line.

mod engines;
mod resolve;
mod sending;
mod words;
mod work;

use crate::SCHEMA;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use engines::answer;

/// Generation of a network, by the letter of its amendment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PhyName {
    /// DSSS and CCK, 2.4 GHz.
    B,
    /// ERP-OFDM beside DSSS, 2.4 GHz.
    G,
    /// OFDM, 5 GHz.
    A,
    /// HT.
    N,
    /// VHT, 5 GHz.
    Ac,
    /// HE.
    Ax,
}

/// Frequency band, GHz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BandName {
    /// 2.4 GHz.
    #[serde(rename = "2.4")]
    Ghz2_4,
    /// 5 GHz.
    #[serde(rename = "5")]
    Ghz5,
    /// 6 GHz.
    #[serde(rename = "6")]
    Ghz6,
}

/// Preamble of DSSS frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PreambleName {
    /// 192 us with its header.
    #[default]
    Long,
    /// 96 us with its header.
    Short,
}

/// Who sends to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyName {
    /// Stations to one station, without an access point.
    #[default]
    Adhoc,
    /// Stations to the access point.
    ToAp,
    /// Stations through the access point to another station: twice over the air.
    Bss,
}

/// Above IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransportName {
    /// Datagrams.
    #[default]
    Udp,
    /// Segments with acknowledgements that come back over the air.
    Tcp,
}

/// Protection of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProtectionName {
    /// None.
    #[default]
    None,
    /// 8 octets a frame.
    Wep,
    /// 12 octets a frame and 8 of Michael a datagram.
    Tkip,
    /// 16 octets a frame.
    Ccmp,
    /// 24 octets a frame.
    Ccmp256,
    /// 24 octets a frame.
    Gcmp,
    /// 24 octets a frame.
    Gcmp256,
}

/// How senders find their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateControlName {
    /// At the rate given.
    #[default]
    Fixed,
    /// Up after ten answers, down after two that stay out.
    Arf,
    /// By statistics of every rate, as Linux's Minstrel.
    Minstrel,
    /// By the signal.
    Ideal,
}

/// What answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EngineName {
    /// One station, one hop, means.
    ClosedForm,
    /// Saturated stations, one hop, means.
    Bianchi,
    /// The event-driven simulator.
    #[default]
    Dcf,
}

/// One number for all stations, or one for each; through an access point the receiver's may stand last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PerStation {
    /// For all.
    All(f64),
    /// For each.
    Each(Vec<f64>),
}

/// One scenario. What is left out has the default that the result names in `resolved`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// `scenario`, if anything.
    pub kind: Option<String>,
    /// Version of the records.
    pub schema: Option<u32>,
    /// The caller's name for it, given back in the result.
    pub id: Option<String>,
    /// Generation; the only key that is needed.
    pub phy: Option<PhyName>,
    /// Band; 2.4 for b, g, n, ax, 5 for a, ac.
    pub band: Option<BandName>,
    /// Width of the channel; 20.
    pub channel_MHz: Option<u16>,
    /// Guard interval; 800.
    pub gi_ns: Option<u16>,
    /// Spatial streams of n, ac, ax; 1.
    pub streams: Option<u8>,
    /// Preamble of DSSS frames.
    pub preamble: PreambleName,
    /// Basic rates, by which responses and beacons go.
    pub basic_rates_Mb_s: Option<Vec<f64>>,
    /// Slot; 20 for b and ad hoc in 2.4 GHz, else 9.
    pub slot_us: Option<u16>,
    /// Rate of data frames of b, g, a; the highest.
    pub rate_Mb_s: Option<f64>,
    /// Modulation and coding of n, ac, ax; the highest.
    pub mcs: Option<u8>,
    /// Who sends to whom.
    pub topology: TopologyName,
    /// Senders; 1.
    pub stations: Option<u32>,
    /// Payload of a datagram or segment; 1472 for UDP, 1448 for TCP.
    pub payload_B: Option<u32>,
    /// Datagrams or segments of each sender.
    pub datagrams: Option<u64>,
    /// How long they send at most.
    pub duration_s: Option<f64>,
    /// How far apart a sender's datagrams come; 0 for one always waiting.
    pub interval_us: Option<u64>,
    /// Transport.
    pub transport: TransportName,
    /// Window of TCP; 65535 (RFC 9293 without scaling).
    pub tcp_window_B: Option<u32>,
    /// Whether TCP has its 12 octets of timestamps; yes.
    pub tcp_timestamps: Option<bool>,
    /// Protection.
    pub protection: ProtectionName,
    /// RTS and CTS before every data frame.
    pub rts: bool,
    /// Largest fragment, header and FCS included; 0 for none.
    pub fragment_B: u32,
    /// Largest A-MPDU; 65535 for n, ac, ax.
    pub ampdu_B: Option<u32>,
    /// Distance of stations and receiver or access point.
    pub distance_m: Option<PerStation>,
    /// Loss of the walls between.
    pub walls_dB: Option<f64>,
    /// Exponent of the path loss; 3.
    pub path_loss_exponent: Option<f64>,
    /// Power of every sender; 16.0206 dBm, which is 40 mW.
    pub tx_power_dBm: Option<f64>,
    /// Received power, in place of distance; without either nothing is lost by noise.
    pub rssi_dBm: Option<PerStation>,
    /// Noise figure of every receiver; 7 dB.
    pub noise_figure_dB: Option<f64>,
    /// Of frames that collide the one that is stronger by this much is received; none without it.
    pub capture_dB: Option<f64>,
    /// How senders find their rate.
    pub rate_control: RateControlName,
    /// Transmissions of a frame before it is given up; 7, with minstrel as many as its chain of rates has.
    pub retry_limit: Option<u32>,
    /// Who could not make out a frame waits EIFS.
    pub eifs: bool,
    /// How far apart beacons are; 102400 with an access point, 0 (none) ad hoc.
    pub beacon_interval_us: Option<u64>,
    /// Stations doze while they have nothing to send.
    pub power_save: bool,
    /// Packets that an access point holds; 500.
    pub queue_packets: Option<u32>,
    /// Seed of all that is drawn; 1.
    pub seed: Option<u64>,
    /// What answers.
    pub engine: EngineName,
}

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

/// What is wrong with which key, and the right values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    key: &'static str,
    message: String,
    hint: Option<String>,
}

impl Wrong {
    fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Reads one line and answers it.
#[must_use]
pub fn line(number: usize, text: &str) -> AirLine {
    let failure = |key: &str, message: String, hint: Option<String>| {
        AirLine::Failure(AirFailure { schema: SCHEMA, line: number, key: key.to_owned(), message, hint })
    };
    let scenario = match parse(text) {
        Ok(scenario) => scenario,
        Err(Unread { key, message, hint }) => return failure(&key, message, hint),
    };
    match answer(number, &scenario) {
        Ok(result) => AirLine::Result(Box::new(result)),
        Err(wrong) => failure(wrong.key, wrong.message, wrong.hint),
    }
}

/// Why a line is no scenario.
struct Unread {
    /// Empty where the line is no object.
    key: String,
    message: String,
    hint: Option<String>,
}

/// A scenario, or the key that spoils it and why.
fn parse(text: &str) -> Result<Scenario, Unread> {
    let no_object = |message: String| {
        let hint = "one JSON object a line, such as {\"phy\":\"g\",\"datagrams\":1000}".to_owned();
        Unread { key: String::new(), message, hint: Some(hint) }
    };
    let object: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| no_object(format!("no JSON object: {error}")))?;
    // Key by key, so that the wrong one is known.
    for (key, value) in &object {
        let alone = Map::from_iter([(key.clone(), value.clone())]);
        Scenario::deserialize(Value::Object(alone)).map_err(|error| {
            let message = match words::right(key, value) {
                Some(right) => format!("{value} is not {right}"),
                None => format!("{value}: {error}"),
            };
            Unread { key: key.clone(), message, hint: None }
        })?;
    }
    Scenario::deserialize(Value::Object(object)).map_err(|error| no_object(error.to_string()))
}
