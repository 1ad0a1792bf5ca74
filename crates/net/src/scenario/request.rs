//! A scenario: one line of input, with the names that it gives things.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
