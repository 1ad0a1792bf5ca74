//! From a scenario to a network: defaults filled in, what can't be refused with the right values.

use crate::SCHEMA;
use wattlock_air::access::{Category, Generation, Timing};
use wattlock_air::dcf::{Network, RateControl, Topology};
use wattlock_air::frame::{
    FCS_B, Framing, HEADER_B, IP_B, LLC_B, MSDU_MAX_B, Protection, TCP_B, TCP_TIMESTAMPS_B, UDP_B,
};
use wattlock_air::phy::{Band, Channel, Preamble, Rate};
use wattlock_air::signal::{PathLoss, noise_dBm};

use super::request::{
    BandName, PerStation, PhyName, PreambleName, ProtectionName, RateControlName, Scenario, TopologyName, TransportName,
};
use super::sending::{DURATION_MAX_S, beacon_us, check_capture, interval_us, queue_packets, retry_limit, transport};
use super::wrong::{Wrong, short};

/// 2007 stations can be associated (9.4.1.8).
const STATIONS_MAX: u32 = 2_007;

/// A network with what it borrows, and the signals of its nodes, node 0 first.
pub(super) struct Plan {
    pub(super) rates: Vec<Rate>,
    pub(super) rate: usize,
    pub(super) basic: Vec<Rate>,
    pub(super) basic_Mb_s: Vec<f64>,
    pub(super) payload_B: u32,
    pub(super) signals_dBm: Vec<Option<f64>>,
    network: Network<'static>,
}

impl Plan {
    /// The network as the engines take it.
    pub(super) fn network(&self) -> Network<'_> {
        Network { rates: &self.rates, rate: self.rate, basic: &self.basic, ..self.network.clone() }
    }
}

pub(super) fn resolve(scenario: &Scenario) -> Result<Plan, Wrong> {
    check_kind(scenario)?;
    let phy = scenario.phy.ok_or_else(|| Wrong::new("phy", "is missing").hint("b, g, a, n, ac or ax"))?;
    let channel = channel(scenario, phy)?;
    let (rates, rate) = rates(scenario, phy, &channel)?;
    let (basic, basic_Mb_s) = basic(scenario, phy, &channel)?;
    let aggregates = rates[rate].aggregates();
    let timing = timing(scenario, phy, &channel, &basic, aggregates)?;
    let (payload_B, packet_B, ack_packet_B) = packets(scenario)?;
    let framing = framing(scenario, aggregates)?;
    let ampdu_B = aggregate(scenario, aggregates, framing)?;
    let noise_dBm =
        noise_dBm(f64::from(channel.width_MHz), number("noise_figure_dB", scenario.noise_figure_dB, 7.0, 0.0..=60.0)?);
    let signals_dBm = signals(scenario, &channel)?;
    let (datagrams, duration_ns) = extent(scenario)?;
    let transport = transport(scenario, payload_B)?;
    let interval_us = interval_us(scenario, datagrams, duration_ns)?;
    let retry_limit = retry_limit(scenario)?;
    let is_udp = scenario.transport == TransportName::Udp;
    if scenario.power_save && !(is_udp && interval_us > 0 && scenario.topology == TopologyName::ToAp) {
        let hint = "\"topology\": \"to-ap\", \"transport\": \"udp\" and an \"interval_us\"";
        return Err(
            Wrong::new("power_save", "is of stations that send datagrams to an access point now and then").hint(hint)
        );
    }
    let queue_packets = queue_packets(scenario)?;
    let beacon_us = beacon_us(scenario)?;
    check_capture(scenario, &signals_dBm)?;
    let network = Network {
        topology: topology(scenario),
        timing,
        channel,
        rates: &[],
        rate: 0,
        basic: &[],
        framing,
        packet_B,
        ack_packet_B,
        transport,
        rts: scenario.rts,
        eifs: scenario.eifs,
        retry_limit,
        aggregate_B: ampdu_B,
        capture_dB: scenario.capture_dB,
        beacon_interval_ns: beacon_us * 1_000,
        beacon_B: wattlock_air::frame::BEACON_B,
        rate_control: rate_control(scenario),
        interval_ns: interval_us.saturating_mul(1_000),
        power_save: scenario.power_save,
        queue_packets,
        noise_dBm,
        datagrams,
        duration_ns,
        seed: scenario.seed.unwrap_or(1),
    };
    Ok(Plan { rates, rate, basic, basic_Mb_s, payload_B, signals_dBm, network })
}

fn check_kind(scenario: &Scenario) -> Result<(), Wrong> {
    if scenario.kind.as_deref().is_some_and(|kind| kind != "scenario") {
        return Err(Wrong::new("kind", format!("{:?} is no scenario", scenario.kind)).hint("\"scenario\""));
    }
    if scenario.schema.is_some_and(|schema| schema != SCHEMA) {
        return Err(Wrong::new("schema", "another version of the records").hint(format!("{SCHEMA}")));
    }
    Ok(())
}

fn topology(scenario: &Scenario) -> Topology {
    match scenario.topology {
        TopologyName::Adhoc => Topology::AdHoc,
        TopologyName::ToAp => Topology::ToAp,
        TopologyName::Bss => Topology::Bss,
    }
}

fn rate_control(scenario: &Scenario) -> RateControl {
    match scenario.rate_control {
        RateControlName::Fixed => RateControl::Fixed,
        RateControlName::Arf => RateControl::Arf,
        RateControlName::Minstrel => RateControl::Minstrel,
        RateControlName::Ideal => RateControl::Ideal,
    }
}

fn number(
    key: &'static str,
    value: Option<f64>,
    default: f64,
    right: std::ops::RangeInclusive<f64>,
) -> Result<f64, Wrong> {
    let value = value.unwrap_or(default);
    if right.contains(&value) {
        return Ok(value);
    }
    let right = format!("{} to {}", short(*right.start()), short(*right.end()));
    Err(Wrong::new(key, format!("{} is not from {right}", short(value))).hint(right))
}

fn channel(scenario: &Scenario, phy: PhyName) -> Result<Channel, Wrong> {
    let in_5_GHz = matches!(phy, PhyName::A | PhyName::Ac);
    let band = scenario.band.unwrap_or(if in_5_GHz { BandName::Ghz5 } else { BandName::Ghz2_4 });
    let right = match phy {
        PhyName::B | PhyName::G => [BandName::Ghz2_4].as_slice(),
        PhyName::A | PhyName::Ac => &[BandName::Ghz5],
        PhyName::N => &[BandName::Ghz2_4, BandName::Ghz5],
        PhyName::Ax => &[BandName::Ghz2_4, BandName::Ghz5, BandName::Ghz6],
    };
    if !right.contains(&band) {
        let hint = match right.len() {
            1 if in_5_GHz => "\"5\"",
            1 => "\"2.4\"",
            _ => "\"2.4\" or \"5\"",
        };
        return Err(Wrong::new("band", "not a band of this PHY").hint(hint));
    }
    let width_MHz = scenario.channel_MHz.unwrap_or(20);
    if matches!(phy, PhyName::B | PhyName::G | PhyName::A) && width_MHz != 20 {
        return Err(Wrong::new("channel_MHz", format!("{width_MHz} MHz is not of this PHY")).hint("20"));
    }
    let gi_ns = scenario.gi_ns.unwrap_or(800);
    if matches!(phy, PhyName::B | PhyName::G | PhyName::A) && gi_ns != 800 {
        return Err(Wrong::new("gi_ns", format!("{gi_ns} ns is not of this PHY")).hint("800"));
    }
    Ok(Channel {
        band: match band {
            BandName::Ghz2_4 => Band::Ghz2_4,
            BandName::Ghz5 => Band::Ghz5,
            BandName::Ghz6 => Band::Ghz6,
        },
        width_MHz,
        gi_ns,
        preamble: match scenario.preamble {
            PreambleName::Long => Preamble::Long,
            PreambleName::Short => Preamble::Short,
        },
    })
}

const DSSS_MB_S: [f64; 4] = [1.0, 2.0, 5.5, 11.0];
const OFDM_MB_S: [f64; 8] = [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];

/// The non-HT rate of a number.
fn legacy(Mb_s: f64) -> Option<Rate> {
    if DSSS_MB_S.contains(&Mb_s) {
        // Exact: 5.5 is the only one that is not whole.
        let kb_s = [1_000, 2_000, 5_500, 11_000].into_iter().find(|&kb_s| f64::from(kb_s) == Mb_s * 1e3)?;
        return Some(Rate::Dsss { kb_s });
    }
    [6_u16, 9, 12, 18, 24, 36, 48, 54].into_iter().find(|&rate| f64::from(rate) == Mb_s).map(|Mb_s| Rate::Ofdm { Mb_s })
}

/// Rates in megabits that a PHY has beside MCS, slowest first.
fn legacy_of(phy: PhyName, channel: &Channel) -> Vec<f64> {
    let dsss = channel.band == Band::Ghz2_4;
    let mut rates: Vec<f64> = match phy {
        PhyName::B => DSSS_MB_S.to_vec(),
        PhyName::A => OFDM_MB_S.to_vec(),
        _ => DSSS_MB_S.iter().filter(|_| dsss).chain(&OFDM_MB_S).copied().collect(),
    };
    rates.sort_by(f64::total_cmp);
    rates
}

fn listed(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

fn rates(scenario: &Scenario, phy: PhyName, channel: &Channel) -> Result<(Vec<Rate>, usize), Wrong> {
    let (rates, wanted) = match phy {
        PhyName::B | PhyName::G | PhyName::A => {
            if let Some(mcs) = scenario.mcs {
                return Err(Wrong::new("mcs", format!("{mcs}: this PHY has none")).hint("rate_Mb_s"));
            }
            if scenario.streams.is_some_and(|streams| streams != 1) {
                return Err(Wrong::new("streams", "this PHY has one").hint("1"));
            }
            let numbers = legacy_of(phy, channel);
            let wanted = match scenario.rate_Mb_s {
                None => numbers.len() - 1,
                Some(Mb_s) => numbers.iter().position(|&rate| rate == Mb_s).ok_or_else(|| {
                    Wrong::new("rate_Mb_s", format!("{} Mb/s is not of this PHY", short(Mb_s))).hint(listed(&numbers))
                })?,
            };
            (numbers.into_iter().filter_map(legacy).collect::<Vec<_>>(), wanted)
        }
        PhyName::N | PhyName::Ac | PhyName::Ax => {
            if let Some(Mb_s) = scenario.rate_Mb_s {
                return Err(
                    Wrong::new("rate_Mb_s", format!("{}: this PHY goes by mcs and streams", short(Mb_s))).hint("mcs")
                );
            }
            let streams = scenario.streams.unwrap_or(1);
            let most = if phy == PhyName::N { 4 } else { 8 };
            if !(1..=most).contains(&streams) {
                return Err(Wrong::new("streams", format!("{streams} of them")).hint(format!("1 to {most}")));
            }
            let rate = |mcs: u8| match phy {
                PhyName::N => Rate::Ht { mcs: mcs + 8 * (streams - 1) },
                PhyName::Ac => Rate::Vht { mcs, streams },
                _ => Rate::He { mcs, streams },
            };
            let last = match phy {
                PhyName::N => 7,
                PhyName::Ac => 9,
                _ => 11,
            };
            // MCS 0 exists wherever the channel does.
            rate(0).check(channel).map_err(|error| {
                let key = if error.to_string().contains("ns") { "gi_ns" } else { "channel_MHz" };
                Wrong::new(key, "not of this PHY").hint(error.to_string())
            })?;
            let there: Vec<u8> = (0..=last).filter(|&mcs| rate(mcs).check(channel).is_ok()).collect();
            let wanted = match scenario.mcs {
                None => there.len() - 1,
                Some(mcs) => there.iter().position(|&one| one == mcs).ok_or_else(|| {
                    let numbers: Vec<f64> = there.iter().map(|&mcs| f64::from(mcs)).collect();
                    let hint = format!("{}; more streams by \"streams\"", listed(&numbers));
                    Wrong::new("mcs", format!("{mcs} is not there at this width and number of streams")).hint(hint)
                })?,
            };
            (there.into_iter().map(rate).collect(), wanted)
        }
    };
    // One rate is enough where none is sought.
    Ok(if scenario.rate_control == RateControlName::Fixed { (vec![rates[wanted]], 0) } else { (rates, wanted) })
}

fn basic(scenario: &Scenario, phy: PhyName, channel: &Channel) -> Result<(Vec<Rate>, Vec<f64>), Wrong> {
    let there = legacy_of(phy, channel);
    let numbers = scenario.basic_rates_Mb_s.clone().unwrap_or_else(|| match phy {
        // What each station must have: clauses 16 and 18; access points of 802.11b announce the two of clause 15.
        PhyName::B if scenario.topology == TopologyName::Adhoc => DSSS_MB_S.to_vec(),
        PhyName::B => vec![1.0, 2.0],
        // In 2.4 GHz HT and HE stations are ERP stations too (19.1.1, 27.1.1).
        _ if channel.band == Band::Ghz2_4 => vec![1.0, 2.0, 5.5, 11.0, 6.0, 12.0, 24.0],
        _ => vec![6.0, 12.0, 24.0],
    });
    let wrong = |Mb_s: &f64| !there.contains(Mb_s);
    if let Some(Mb_s) = numbers.iter().find(|Mb_s| wrong(Mb_s)) {
        return Err(
            Wrong::new("basic_rates_Mb_s", format!("{} Mb/s is not of this PHY", short(*Mb_s))).hint(listed(&there))
        );
    }
    if let Some(Mb_s) = numbers.iter().find(|Mb_s| channel.width_MHz != 20 && DSSS_MB_S.contains(Mb_s)) {
        let message = format!("{} MHz has no {} Mb/s, which is a basic rate here", channel.width_MHz, short(*Mb_s));
        return Err(Wrong::new("channel_MHz", message).hint("20, or \"basic_rates_Mb_s\": [6, 12, 24] beside it"));
    }
    if numbers.is_empty() || numbers.len() > there.len() {
        return Err(Wrong::new("basic_rates_Mb_s", format!("{} rates", numbers.len())).hint(listed(&there)));
    }
    Ok((numbers.iter().copied().filter_map(legacy).collect(), numbers))
}

fn timing(scenario: &Scenario, phy: PhyName, channel: &Channel, basic: &[Rate], edca: bool) -> Result<Timing, Wrong> {
    let in_2_4_GHz = channel.band == Band::Ghz2_4;
    let right: &[u16] = match phy {
        PhyName::B => &[20],
        _ if in_2_4_GHz => &[9, 20],
        _ => &[9],
    };
    let adhoc = scenario.topology == TopologyName::Adhoc;
    // 18.4.5: the short slot is not for ad hoc networks.
    let slot_us = scenario.slot_us.unwrap_or(if phy == PhyName::B || (in_2_4_GHz && adhoc) { 20 } else { 9 });
    if !right.contains(&slot_us) {
        let hint = if right.len() == 2 { "9 or 20".to_owned() } else { format!("{}", right[0]) };
        return Err(Wrong::new("slot_us", format!("{slot_us} us is not of this PHY")).hint(hint));
    }
    let generation = match phy {
        PhyName::B => Generation::B,
        PhyName::G => Generation::G,
        PhyName::A => Generation::A,
        PhyName::N => Generation::N,
        PhyName::Ac => Generation::Ac,
        PhyName::Ax => Generation::Ax,
    };
    let timing = Timing::dcf(generation, channel.band, Some(slot_us), basic.iter().all(|rate| rate.is_dsss()));
    Ok(if edca { timing.edca(Category::BestEffort) } else { timing })
}

/// Payload, its IP packet, and the IP packet of an acknowledgement.
fn packets(scenario: &Scenario) -> Result<(u32, u32, u32), Wrong> {
    let tcp = scenario.transport == TransportName::Tcp;
    let options_B = if scenario.tcp_timestamps.unwrap_or(true) { TCP_TIMESTAMPS_B } else { 0 };
    let headers_B = IP_B + if tcp { TCP_B + options_B } else { UDP_B };
    let most_B = MSDU_MAX_B - LLC_B - headers_B;
    let payload_B = scenario.payload_B.unwrap_or(if tcp { 1_500 - headers_B } else { 1_472 });
    if payload_B > most_B || payload_B == 0 {
        let message = format!("{payload_B} B in an MSDU of at most {MSDU_MAX_B} B");
        return Err(Wrong::new("payload_B", message).hint(format!("1 to {most_B}")));
    }
    Ok((payload_B, payload_B + headers_B, IP_B + TCP_B + options_B))
}

fn framing(scenario: &Scenario, qos: bool) -> Result<Framing, Wrong> {
    if qos && matches!(scenario.protection, ProtectionName::Wep | ProtectionName::Tkip) {
        // 12.1: HT and later stations don't use them.
        return Err(
            Wrong::new("protection", "WEP and TKIP ended before 802.11n").hint("none, ccmp, ccmp256, gcmp, gcmp256")
        );
    }
    let fragment_B = scenario.fragment_B;
    if fragment_B != 0 && !(256..=MSDU_MAX_B + HEADER_B + FCS_B).contains(&fragment_B) {
        return Err(Wrong::new("fragment_B", format!("{fragment_B} B")).hint("0 for none, or 256 to 2332"));
    }
    Ok(Framing {
        qos,
        protection: match scenario.protection {
            ProtectionName::None => Protection::None,
            ProtectionName::Wep => Protection::Wep,
            ProtectionName::Tkip => Protection::Tkip,
            ProtectionName::Ccmp => Protection::Ccmp,
            ProtectionName::Ccmp256 | ProtectionName::Gcmp | ProtectionName::Gcmp256 => Protection::Long,
        },
        fragment_B,
    })
}

fn aggregate(scenario: &Scenario, aggregates: bool, framing: Framing) -> Result<u32, Wrong> {
    let default_B = if aggregates && framing.fragment_B == 0 { 65_535 } else { 0 };
    let ampdu_B = scenario.ampdu_B.unwrap_or(default_B);
    let most_B = match scenario.phy {
        Some(PhyName::N) => 65_535,
        Some(PhyName::Ac) => 1_048_575,
        Some(PhyName::Ax) => 6_500_631,
        _ => 0,
    };
    if ampdu_B > most_B {
        return Err(
            Wrong::new("ampdu_B", format!("{ampdu_B} B")).hint(format!("0 for none, at most {most_B} with this PHY"))
        );
    }
    if ampdu_B > 0 && framing.fragment_B > 0 {
        return Err(Wrong::new("fragment_B", "fragments are not aggregated").hint("\"ampdu_B\": 0"));
    }
    Ok(ampdu_B)
}

fn extent(scenario: &Scenario) -> Result<(Option<u64>, Option<u64>), Wrong> {
    let most = u64::from(u32::MAX);
    if scenario.datagrams.is_some_and(|datagrams| datagrams == 0 || datagrams > most) {
        let message = format!("{} datagrams", scenario.datagrams.unwrap_or_default());
        return Err(Wrong::new("datagrams", message).hint(format!("1 to {most}")));
    }
    if scenario.datagrams.is_none() && scenario.duration_s.is_none() {
        return Err(
            Wrong::new("datagrams", "neither datagrams nor duration_s is there").hint("one of the two, or both")
        );
    }
    let duration_ns = match scenario.duration_s {
        None => None,
        Some(duration_s) => {
            let duration_s = number("duration_s", Some(duration_s), 0.0, 1e-6..=DURATION_MAX_S)?;
            // At most 3.2e16: exact to some nanoseconds.
            let whole = std::time::Duration::from_secs_f64(duration_s).as_nanos();
            Some(u64::try_from(whole).unwrap_or(u64::MAX))
        }
    };
    Ok((scenario.datagrams, duration_ns))
}

/// The signal of each node toward node 0, which itself has none.
fn signals(scenario: &Scenario, channel: &Channel) -> Result<Vec<Option<f64>>, Wrong> {
    let stations = scenario.stations.unwrap_or(1);
    if !(1..=STATIONS_MAX).contains(&stations) {
        return Err(Wrong::new("stations", format!("{stations} of them")).hint(format!("1 to {STATIONS_MAX}")));
    }
    let receivers = usize::from(scenario.topology == TopologyName::Bss);
    let senders = usize::try_from(stations).unwrap_or(usize::MAX);
    let (key, values) = match (&scenario.rssi_dBm, &scenario.distance_m) {
        (Some(_), Some(_)) => return Err(Wrong::new("rssi_dBm", "beside distance_m").hint("one of the two")),
        (Some(values), None) => ("rssi_dBm", values),
        (None, Some(values)) => ("distance_m", values),
        (None, None) => {
            if scenario.walls_dB.is_some() {
                return Err(Wrong::new("walls_dB", "without a distance").hint("distance_m"));
            }
            return Ok(vec![None; senders + receivers + 1]);
        }
    };
    let mut each = match values {
        PerStation::All(value) => vec![*value; senders + receivers],
        PerStation::Each(values) if values.len() == senders + receivers => values.clone(),
        PerStation::Each(values) if values.len() == senders => {
            values.iter().copied().chain(values.last().copied().filter(|_| receivers == 1)).collect()
        }
        PerStation::Each(values) => {
            let message = format!("{} values for {senders} senders", values.len());
            return Err(Wrong::new(key, message).hint(format!("one number, or {} of them", senders + receivers)));
        }
    };
    if key == "distance_m" {
        let first_MHz = match channel.band {
            Band::Ghz2_4 => 2_400.0_f64,
            Band::Ghz5 => 5_150.0,
            Band::Ghz6 => 5_955.0,
        };
        // Free space over one metre: 20 log10(4 pi f / c).
        let first_metre_dB = 20.0 * (4.0 * std::f64::consts::PI * first_MHz * 1e6 / 299_792_458.0).log10();
        let exponent = number("path_loss_exponent", scenario.path_loss_exponent, 3.0, 1.0..=8.0)?;
        let walls_dB = number("walls_dB", scenario.walls_dB, 0.0, 0.0..=200.0)?;
        let power_dBm = number("tx_power_dBm", scenario.tx_power_dBm, 16.0206, -50.0..=50.0)?;
        let loss = PathLoss { first_metre_dB, exponent };
        for distance_m in &mut each {
            number("distance_m", Some(*distance_m), 0.0, 0.0..=100_000.0)?;
            *distance_m = power_dBm - loss.loss_dB(*distance_m, walls_dB);
        }
    } else {
        for value in &each {
            number("rssi_dBm", Some(*value), 0.0, -200.0..=50.0)?;
        }
    }
    Ok(std::iter::once(None).chain(each.into_iter().map(Some)).collect())
}
