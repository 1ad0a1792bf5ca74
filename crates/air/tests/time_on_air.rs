//! Durations against known answers: ns-3's own, ns-3's library over all combinations, and examples by hand.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
#![allow(non_snake_case)]

use wattlock_air::phy::{Band, Channel, PhyError, Preamble, Rate};

fn row(line: &str) -> (&str, Rate, Channel, u32, u64) {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [what, phy, rate, width, gi, preamble, band, size, expected] = fields[..] else { panic!("{line}") };
    let (mcs, streams) = rate.split_once('x').unwrap_or((rate, "1"));
    let streams: u8 = streams.parse().unwrap();
    let rate = match phy {
        "dsss" => Rate::Dsss { kb_s: (rate.parse::<f64>().unwrap() * 1e3) as u16 },
        "ofdm" | "erp-ofdm" => Rate::Ofdm { Mb_s: rate.parse().unwrap() },
        "ht" => Rate::Ht { mcs: mcs.parse::<u8>().unwrap() + 8 * (streams - 1) },
        "vht" => Rate::Vht { mcs: mcs.parse().unwrap(), streams },
        "he" => Rate::He { mcs: mcs.parse().unwrap(), streams },
        _ => panic!("{line}"),
    };
    let band = match band {
        "2.4" => Band::Ghz2_4,
        "5" => Band::Ghz5,
        _ => Band::Ghz6,
    };
    let preamble = if preamble == "short" { Preamble::Short } else { Preamble::Long };
    let channel = Channel { band, width_MHz: width.parse().unwrap(), gi_ns: gi.parse().unwrap(), preamble };
    (what, rate, channel, size.parse().unwrap(), expected.parse().unwrap())
}

fn differing(table: &str) -> (usize, Vec<String>) {
    let lines: Vec<_> = table.lines().filter(|line| !line.starts_with('#')).collect();
    let wrong = lines.iter().filter_map(|line| {
        let (what, rate, channel, size, expected) = row(line);
        if let Err(error) = rate.check(&channel) {
            return Some(format!("{line}: {error}"));
        }
        let ours =
            if what == "payload" { rate.payload_ns(size, &channel) } else { rate.time_on_air_ns(size, &channel) };
        // ns-3 leaves VHT-SIG-B out of single-user PPDUs.
        let left_out = if what == "frame" && matches!(rate, Rate::Vht { .. }) { 4_000 } else { 0 };
        (ours != expected + left_out).then(|| format!("{line}: {ours}"))
    });
    (lines.len(), wrong.collect())
}

#[test]
fn every_duration_that_ns3_knows_is_ours_to_the_nanosecond_but_for_vht_sig_b() {
    let (count, wrong) = differing(include_str!("ns3_durations.txt"));
    assert!(count >= 250, "{count} rows");
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_examples_by_hand_come_out() {
    let g = Channel::default();
    let a = Channel { band: Band::Ghz5, ..g };
    let short = Channel { preamble: Preamble::Short, ..g };
    let examples = [
        (Rate::Dsss { kb_s: 11_000 }, g, 1_564, 1_330_000),
        (Rate::Dsss { kb_s: 1_000 }, g, 14, 304_000),
        (Rate::Dsss { kb_s: 2_000 }, g, 14, 248_000),
        (Rate::Dsss { kb_s: 11_000 }, g, 14, 203_000),
        (Rate::Dsss { kb_s: 11_000 }, short, 14, 107_000),
        (Rate::Dsss { kb_s: 1_000 }, short, 14, 304_000),
        (Rate::Ofdm { Mb_s: 54 }, g, 1_564, 262_000),
        (Rate::Ofdm { Mb_s: 54 }, a, 1_564, 256_000),
        (Rate::Ofdm { Mb_s: 24 }, g, 14, 34_000),
        (Rate::Ht { mcs: 7 }, g, 1_566, 238_000),
        // 20 us as of OFDM, VHT-SIG-A 8, VHT-STF 4, one VHT-LTF 4, VHT-SIG-B 4; 40 symbols of 312 bits.
        (Rate::Vht { mcs: 8, streams: 1 }, a, 1_536, 40_000 + 160_000),
        // Two streams have two VHT-LTFs; 20 symbols of 624 bits.
        (Rate::Vht { mcs: 8, streams: 2 }, a, 1_536, 44_000 + 80_000),
    ];
    for (rate, channel, psdu_B, expected) in examples {
        assert_eq!(rate.time_on_air_ns(psdu_B, &channel), expected, "{rate:?}, {psdu_B} B");
    }
}

#[test]
fn a_longer_frame_is_never_sooner_over() {
    let channel = Channel::default();
    for rate in
        [Rate::Dsss { kb_s: 5_500 }, Rate::Ofdm { Mb_s: 9 }, Rate::Ht { mcs: 5 }, Rate::He { mcs: 11, streams: 2 }]
    {
        let durations: Vec<_> = (0..2_000).map(|size| rate.time_on_air_ns(size, &channel)).collect();
        assert!(durations.windows(2).all(|pair| pair[0] <= pair[1]), "{rate:?}");
    }
}

#[test]
fn what_a_phy_does_not_have_is_refused() {
    let g = Channel::default();
    let wide = Channel { width_MHz: 80, band: Band::Ghz5, ..g };
    assert!(matches!(Rate::Dsss { kb_s: 3_000 }.check(&g), Err(PhyError::Rate(_))));
    assert!(matches!(Rate::Dsss { kb_s: 1_000 }.check(&wide), Err(PhyError::Band(_))));
    assert!(matches!(Rate::Ofdm { Mb_s: 11 }.check(&g), Err(PhyError::Rate(_))));
    assert!(matches!(Rate::Ht { mcs: 7 }.check(&wide), Err(PhyError::Width(_))));
    assert!(matches!(Rate::Vht { mcs: 7, streams: 1 }.check(&g), Err(PhyError::Band(_))));
    assert!(matches!(Rate::Vht { mcs: 7, streams: 9 }.check(&wide), Err(PhyError::Streams(_))));
    assert!(matches!(Rate::Vht { mcs: 6, streams: 3 }.check(&wide), Err(PhyError::Combination)));
    assert!(matches!(
        Rate::He { mcs: 11, streams: 1 }.check(&Channel { gi_ns: 400, ..g }),
        Err(PhyError::GuardInterval(_))
    ));
}

#[test]
fn every_mcs_width_guard_and_number_of_streams_lasts_as_long_as_in_ns3_but_for_vht_sig_b() {
    let (count, wrong) = differing(include_str!("ns3_combinations.txt"));
    assert!(count >= 1_800, "{count} rows");
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}
