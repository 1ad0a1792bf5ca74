//! Error rates and Bianchi's chain against what others compute.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
#![allow(non_snake_case)]

use wattlock_air::access::{Generation, Timing};
use wattlock_air::bianchi::{Slots, saturation};
use wattlock_air::frame::ACK_B;
use wattlock_air::phy::{Band, Channel, Rate};
use wattlock_air::signal::{PathLoss, mpdu_error_rate, noise_dBm, ratio};

#[test]
fn frames_are_lost_as_often_as_in_ns3() {
    let channel = Channel { band: Band::Ghz5, ..Channel::default() };
    let mut rows = 0;
    for line in include_str!("ns3_error_rates.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [phy, rate, size, dB, expected] = fields[..] else { panic!("{line}") };
        let mcs = || rate.parse().unwrap();
        let rate = match phy {
            "dsss" => Rate::Dsss { kb_s: rate.parse().unwrap() },
            "ofdm" => Rate::Ofdm { Mb_s: rate.parse().unwrap() },
            "ht" => Rate::Ht { mcs: mcs() },
            "vht" => Rate::Vht { mcs: mcs(), streams: 1 },
            _ => Rate::He { mcs: mcs(), streams: 1 },
        };
        let expected: f64 = expected.parse().unwrap();
        let ours = mpdu_error_rate(rate, size.parse().unwrap(), &channel, ratio(dB.parse().unwrap()));
        // ns-3 counts the bits of a DSSS frame by its duration, which is rounded up to microseconds: up to 8 % of 14 octets.
        let (apart, share) = if phy == "dsss" && size == "14" { (0.03, 0.1) } else { (0.01, 0.02) };
        assert!((ours - expected).abs() < apart && (ours / expected - 1.0).abs() < share, "{line}: {ours}");
        rows += 1;
    }
    assert!(rows > 150, "{rows} rows");
}

#[test]
fn noise_and_loss_are_those_of_the_formulas() {
    // -174 dBm in a hertz at 290 K; 20 MHz are 73 dB.
    assert!((noise_dBm(20.0, 7.0) + 93.966).abs() < 0.01);
    let loss = PathLoss { first_metre_dB: 40.046, exponent: 3.0 };
    assert!((loss.loss_dB(10.0, 0.0) - 70.046).abs() < 1e-9);
    assert!((loss.loss_dB(100.0, 12.0) - 112.046).abs() < 1e-9);
    assert!((loss.loss_dB(0.0, 0.0) - 40.046).abs() < 1e-9);
}

/// Megabits a second of `bits` a frame by the chain as ns-3's reference programs have it: infinite retries, and the
/// station that has just sent draws a back-off of 0 with one in CWmin + 1 and then sends again unopposed.
fn published(stations: u32, timing: &Timing, data: (Rate, u32), ack: Rate, channel: &Channel, eifs: bool) -> f64 {
    let data_ns = data.0.time_on_air_ns(data.1, channel) as f64;
    let ack_ns = ack.time_on_air_ns(ACK_B, channel) as f64;
    let gap_ns = timing.gap_ns() as f64;
    let again = 1.0 / (f64::from(timing.cw_min) + 1.0);
    let exchange_ns = data_ns + timing.sifs_ns as f64 + ack_ns + gap_ns;
    let slot_ns = timing.slot_ns as f64;
    let answer_ns = if eifs { timing.sifs_ns as f64 + ack_ns } else { 0.0 };
    let slots = Slots {
        idle_ns: slot_ns,
        success_ns: exchange_ns / (1.0 - again) + slot_ns,
        error_ns: 0.0,
        collision_ns: data_ns + gap_ns + answer_ns,
    };
    saturation(stations, timing, &slots, 0.0, u32::MAX).delivered_per_ns * 12_000.0 / (1.0 - again) * 1e3
}

#[test]
fn saturation_throughputs_are_the_published_ones() {
    let a = Channel { band: Band::Ghz5, ..Channel::default() };
    let ofdm = Timing::dcf(Generation::A, a.band, None, false);
    let b = Channel::default();
    let dsss = Timing::dcf(Generation::B, b.band, None, true);
    let mut worst: f64 = 0.0;
    let mut rows = 0;
    for line in include_str!("bianchi_published.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [phy, after, Mb_s, stations, expected] = fields[..] else { panic!("{line}") };
        let stations = stations.parse().unwrap();
        let eifs = after == "eifs";
        let Mb_s: f64 = Mb_s.parse().unwrap();
        let ours = if phy == "a" {
            let (rate, ack) = ([6, 9, 12, 18, 24, 36, 48, 54], [6, 6, 12, 12, 24, 24, 24, 24]);
            let i = rate.iter().position(|&rate| f64::from(rate) == Mb_s).unwrap();
            let (rate, ack) = (Rate::Ofdm { Mb_s: rate[i] }, Rate::Ofdm { Mb_s: ack[i] });
            published(stations, &ofdm, (rate, 1_534), ack, &a, eifs)
        } else {
            let rate = Rate::Dsss { kb_s: (Mb_s * 1e3) as u16 };
            let ack = Rate::Dsss { kb_s: if Mb_s > 1.0 { 2_000 } else { 1_000 } };
            published(stations, &dsss, (rate, 1_536), ack, &b, eifs)
        };
        let off = ours / expected.parse::<f64>().unwrap() - 1.0;
        worst = worst.max(off.abs());
        rows += 1;
        assert!(off.abs() < 0.005, "{line}: {ours}");
    }
    assert!(rows > 100, "{rows} rows, worst {worst}");
}
