//! What one kind of packet is on the air: durations of its frames, and shares of them that are lost.

use super::network::{AGGREGATE_MAX, Network, PPDU_MAX_NS};
use crate::Nanoseconds;
use crate::access::response_rate;
use crate::frame::{ACK_B, BLOCK_ACK_B, CTS_B, DELIMITER_B, RTS_B};
use crate::one_station::Exchange;
use crate::phy::Rate;
use crate::signal::{header_success, mpdu_error_rate, ppdu_error_rate, ratio};

/// One kind of packet at one rate over one link: durations and shares of loss.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OnAir {
    pub(super) fragments: u32,
    full_ns: Nanoseconds,
    last_ns: Nanoseconds,
    /// All its MPDUs' octets at the rate.
    pub(super) octets_ns: Nanoseconds,
    full_error: f64,
    last_error: f64,
    pub(super) response_ns: Nanoseconds,
    pub(super) response_error: f64,
    pub(super) rts_ns: Nanoseconds,
    pub(super) cts_ns: Nanoseconds,
    pub(super) handshake_error: f64,
    pub(super) mpdu_B: u32,
    pub(super) aggregate: usize,
    pub(super) header_error: f64,
    pub(super) mpdu_error: f64,
    pub(super) block_ack_ns: Nanoseconds,
    pub(super) block_ack_error: f64,
    /// Of an exchange without aggregation.
    pub(super) error: f64,
}

/// The lowest basic rate; the lowest mandatory one of the network's kind where none is given.
pub(super) fn lowest_basic(network: &Network) -> Rate {
    let by_speed = |rate: &&Rate| rate.bits_per_s(&network.channel);
    let dsss = network.rates.first().is_some_and(|rate| rate.is_dsss());
    let otherwise = if dsss { Rate::Dsss { kb_s: 1_000 } } else { Rate::Ofdm { Mb_s: 6 } };
    network.basic.iter().min_by_key(by_speed).copied().unwrap_or(otherwise)
}

/// Octets of an A-MPDU: each MPDU with its delimiter, padded to four octets but for the last (9.7.1).
pub(super) fn aggregate_B(mpdu_B: u32, count: u32) -> u32 {
    let padded_B = (mpdu_B + DELIMITER_B).next_multiple_of(4);
    padded_B * count.saturating_sub(1) + mpdu_B + DELIMITER_B
}

/// The PSDU of a lone MPDU; VHT and HE know no other than A-MPDUs (10.12.8).
fn alone_B(rate: Rate, mpdu_B: u32) -> u32 {
    match rate {
        Rate::Vht { .. } | Rate::He { .. } => mpdu_B + DELIMITER_B,
        Rate::Dsss { .. } | Rate::Ofdm { .. } | Rate::Ht { .. } => mpdu_B,
    }
}

impl OnAir {
    /// * `snr`: none for a link without errors.
    pub(super) fn of(network: &Network, rate: Rate, packet_B: u32, snr: Option<f64>) -> Self {
        let channel = &network.channel;
        let mpdus = network.framing.mpdus(packet_B);
        let response = response_rate(rate, network.basic, channel);
        let error = |rate: Rate, psdu_B: u32| snr.map_or(0.0, |snr| ppdu_error_rate(rate, psdu_B, channel, snr));
        let (full_B, last_B) = (alone_B(rate, mpdus.full_B), alone_B(rate, mpdus.last_B));
        let mpdu_B = mpdus.last_B;
        let mut aggregate = 1;
        while rate.aggregates() && aggregate < AGGREGATE_MAX {
            let size_B = aggregate_B(mpdu_B, u32::try_from(aggregate).unwrap_or(u32::MAX) + 1);
            if size_B > network.aggregate_B || rate.time_on_air_ns(size_B, channel) > PPDU_MAX_NS {
                break;
            }
            aggregate += 1;
        }
        let handshake = if network.rts { 1.0 } else { 0.0 };
        let mut on_air = Self {
            fragments: mpdus.count,
            full_ns: rate.time_on_air_ns(full_B, channel),
            last_ns: rate.time_on_air_ns(last_B, channel),
            octets_ns: mpdus.octets_ns(rate, channel),
            full_error: error(rate, full_B),
            last_error: error(rate, last_B),
            response_ns: response.time_on_air_ns(ACK_B, channel),
            response_error: error(response, ACK_B),
            rts_ns: if network.rts { response.time_on_air_ns(RTS_B, channel) } else { 0 },
            cts_ns: if network.rts { response.time_on_air_ns(CTS_B, channel) } else { 0 },
            handshake_error: handshake * (1.0 - (1.0 - error(response, RTS_B)) * (1.0 - error(response, CTS_B))),
            mpdu_B,
            aggregate,
            header_error: snr.map_or(0.0, |snr| 1.0 - header_success(rate, snr)),
            mpdu_error: snr.map_or(0.0, |snr| mpdu_error_rate(rate, mpdu_B, channel, snr)),
            block_ack_ns: response.time_on_air_ns(BLOCK_ACK_B, channel),
            block_ack_error: error(response, BLOCK_ACK_B),
            error: 0.0,
        };
        let fragments =
            libm::pow((1.0 - on_air.full_error) * (1.0 - on_air.response_error), f64::from(mpdus.count - 1));
        on_air.error = 1.0
            - (1.0 - on_air.handshake_error) * fragments * (1.0 - on_air.last_error) * (1.0 - on_air.response_error);
        on_air
    }

    /// The exchange of one packet, all its fragments included.
    pub(super) fn exchange(&self) -> Exchange {
        let fragments = Nanoseconds::from(self.fragments);
        Exchange {
            rts_ns: self.rts_ns,
            cts_ns: self.cts_ns,
            data_ns: self.full_ns * fragments.saturating_sub(1) + self.last_ns,
            response_ns: self.response_ns * fragments,
            fragments: self.fragments,
        }
    }

    /// Duration of a fragment, and the share of such that is lost.
    pub(super) fn fragment(&self, index: u32) -> (Nanoseconds, f64) {
        if index + 1 >= self.fragments { (self.last_ns, self.last_error) } else { (self.full_ns, self.full_error) }
    }
}

/// What one datagram of `network` puts on the air at its rate, and the share of such exchanges that fails.
///
/// * `signal_dBm`: none for a link without errors.
#[must_use]
pub fn exchange(network: &Network, signal_dBm: Option<f64>) -> (Exchange, f64) {
    let snr = signal_dBm.map(|signal_dBm| ratio(signal_dBm - network.noise_dBm));
    let rate = network.rates.get(network.rate).copied().unwrap_or(Rate::Ofdm { Mb_s: 6 });
    let on_air = OnAir::of(network, rate, network.packet_B, snr);
    (on_air.exchange(), on_air.error)
}
