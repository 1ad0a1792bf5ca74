//! What is simulated, and what can't be.

use core::fmt;

use super::traffic::Transport;
use crate::Nanoseconds;
use crate::access::{Generation, Timing};
use crate::frame::{BEACON_B, Framing};
use crate::phy::{Channel, PhyError, Rate};

/// Rates that a network can have.
pub const RATES_MAX: usize = 12;
/// MPDUs of an A-MPDU that one compressed BlockAck answers.
pub const AGGREGATE_MAX: usize = 64;
/// Packets that an access point can hold.
pub const QUEUE_MAX: usize = 512;
/// Longest PPDU of HT, VHT and HE (aPPDUMaxTime, Tables 19-25, 21-28, 27-59).
pub(super) const PPDU_MAX_NS: Nanoseconds = 5_484_000;

/// Who sends to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Topology {
    /// Senders (nodes 1 to N) to one station (node 0), without an access point.
    #[default]
    AdHoc,
    /// Stations (nodes 1 to N) to the access point (node 0).
    ToAp,
    /// Stations (nodes 1 to N) through the access point (node 0) to a station (node N + 1): twice over the air.
    Bss,
}

/// How a sender finds its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RateControl {
    /// It stays at the one that it is given.
    #[default]
    Fixed,
    /// Up after 10 frames that were acknowledged, down after 2 that were not, and after 1 where it just went up
    /// (Kamerman and Monteban, WaveLAN-II, Bell Labs Technical Journal 2(3), 1997).
    Arf,
    /// Keeps statistics of every rate, sends at the one of the highest throughput, and tries others with a tenth of its
    /// frames, those that are slower only after it, as Linux's Minstrel does. How often a frame is tried follows from
    /// them, up to the retry limit.
    Minstrel,
    /// Knows the signal: the rate of the highest expected throughput.
    Ideal,
}

/// What is simulated; the default is one ad hoc sender at 54 Mb/s.
#[derive(Debug, Clone)]
pub struct Network<'a> {
    /// Who sends to whom.
    pub topology: Topology,
    /// Slots, gaps, windows.
    pub timing: Timing,
    /// Band, width, guard interval.
    pub channel: Channel,
    /// Rates to choose from, slowest first, at most [`RATES_MAX`].
    pub rates: &'a [Rate],
    /// The one of them that is used without rate adaptation.
    pub rate: usize,
    /// Basic rates, from which responses and beacons take theirs.
    pub basic: &'a [Rate],
    /// What surrounds an IP packet.
    pub framing: Framing,
    /// IP packet of a datagram or segment.
    pub packet_B: u32,
    /// IP packet of a TCP acknowledgement.
    pub ack_packet_B: u32,
    /// Transport.
    pub transport: Transport,
    /// RTS and CTS before every data frame.
    pub rts: bool,
    /// Whoever could not make out a frame waits EIFS after it.
    pub eifs: bool,
    /// Transmissions of a frame before it is given up (dot11ShortRetryLimit: 7); Minstrel may give it up sooner.
    pub retry_limit: u32,
    /// Octets of an A-MPDU at most; 0 for none.
    pub aggregate_B: u32,
    /// Of frames that collide the one that is stronger than all others together by this much is received.
    pub capture_dB: Option<f64>,
    /// How far apart beacons are; 0 for none.
    pub beacon_interval_ns: Nanoseconds,
    /// Octets of a beacon.
    pub beacon_B: u32,
    /// How senders find their rate.
    pub rate_control: RateControl,
    /// How far apart a sender's datagrams come; 0 for one always waiting.
    pub interval_ns: Nanoseconds,
    /// Senders doze while they have nothing to send and wake for beacons. Only for datagrams, without relay.
    pub power_save: bool,
    /// Packets that an access point holds before it drops one, at most [`QUEUE_MAX`].
    pub queue_packets: usize,
    /// Noise of every receiver.
    pub noise_dBm: f64,
    /// Datagrams of each sender; none goes on for the whole duration.
    pub datagrams: Option<u64>,
    /// When it ends at the latest.
    pub duration_ns: Option<Nanoseconds>,
    /// Seed of all that is drawn.
    pub seed: u64,
}

impl Default for Network<'_> {
    fn default() -> Self {
        let channel = Channel::default();
        Self {
            topology: Topology::AdHoc,
            timing: Timing::dcf(Generation::G, channel.band, None, false),
            channel,
            rates: &[Rate::Ofdm { Mb_s: 54 }],
            rate: 0,
            basic: &[],
            framing: Framing::default(),
            packet_B: 1_500,
            ack_packet_B: 40,
            transport: Transport::Udp,
            rts: false,
            eifs: false,
            retry_limit: 7,
            aggregate_B: 0,
            capture_dB: None,
            beacon_interval_ns: 0,
            beacon_B: BEACON_B,
            rate_control: RateControl::Fixed,
            interval_ns: 0,
            power_save: false,
            queue_packets: 500,
            noise_dBm: -93.97,
            datagrams: None,
            duration_ns: None,
            seed: 1,
        }
    }
}

/// Why a network can't be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupError {
    /// Too few or too many nodes for the topology.
    Nodes,
    /// No rate, more than [`RATES_MAX`], or none under the index.
    Rates,
    /// A rate that the channel does not have.
    Rate(PhyError),
    /// Neither datagrams nor a duration: it would never end.
    Endless,
    /// Power saving with segments or through a relay.
    PowerSave,
    /// More than 2^32 - 1 datagrams of one sender.
    Datagrams,
    /// A retry limit of 0, a window of 0 segments, or an acknowledgement for every 0 of them.
    Zero,
    /// Fragments beside aggregation, or more than 255 of one datagram.
    Fragments,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nodes => "one node for each sender and one for the receiver, with a relay one more; at most 65535",
            Self::Rates => "1 to 12 rates, and the one in use among them",
            Self::Rate(error) => return write!(f, "{error}"),
            Self::Endless => "a number of datagrams or a duration is needed",
            Self::PowerSave => "power saving is of datagrams without a relay",
            Self::Datagrams => "at most 4294967295 datagrams of a sender",
            Self::Zero => "retry limit, window and segments an acknowledgement are 1 or more",
            Self::Fragments => "fragments can't be aggregated, and a datagram has at most 255 of them",
        })
    }
}

/// # Errors
/// A network that can't be.
pub(super) fn check(network: &Network) -> Result<(), SetupError> {
    if network.rates.is_empty() || network.rates.len() > RATES_MAX || network.rate >= network.rates.len() {
        return Err(SetupError::Rates);
    }
    for rate in network.rates.iter().chain(network.basic) {
        rate.check(&network.channel).map_err(SetupError::Rate)?;
    }
    if network.datagrams.is_none() && network.duration_ns.is_none() {
        return Err(SetupError::Endless);
    }
    if network.datagrams.is_some_and(|datagrams| datagrams > u64::from(u32::MAX)) {
        return Err(SetupError::Datagrams);
    }
    if network.power_save && (network.transport != Transport::Udp || network.topology == Topology::Bss) {
        return Err(SetupError::PowerSave);
    }
    let no_window = matches!(network.transport, Transport::Tcp { window: 0, .. } | Transport::Tcp { ack_every: 0, .. });
    if network.retry_limit == 0 || no_window || network.timing.slot_ns == 0 {
        return Err(SetupError::Zero);
    }
    let fragments = network.framing.mpdus(network.packet_B).count;
    if fragments > 255 || (fragments > 1 && network.aggregate_B > 0) {
        return Err(SetupError::Fragments);
    }
    Ok(())
}
