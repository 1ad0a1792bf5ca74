//! Slots, gaps, windows and waits as the standard prints them, and the simulator's use of them.
#![allow(clippy::unwrap_used)]
#![allow(non_snake_case)]

use wattlock_air::access::{Category, Generation, Timing, reference_rate, response_rate};
use wattlock_air::dcf::{Network, Node, Topology, Transport, exchange, simulate};
use wattlock_air::frame::{ACK_B, CTS_B, Fragments, Framing, Protection, RTS_B};
use wattlock_air::one_station::{Exchange, alone, left_by_beacons};
use wattlock_air::phy::{Band, Channel, Rate};
use wattlock_air::signal::{ppdu_error_rate, ratio};

const DSSS: [Rate; 4] =
    [Rate::Dsss { kb_s: 1_000 }, Rate::Dsss { kb_s: 2_000 }, Rate::Dsss { kb_s: 5_500 }, Rate::Dsss { kb_s: 11_000 }];

fn ofdm(Mb_s: u16) -> Rate {
    Rate::Ofdm { Mb_s }
}

#[test]
fn every_phy_has_the_slots_gaps_windows_and_waits_of_its_clause() {
    // Generation, band, slot, all basic rates DSSS; then microseconds of slot, SIFS, PIFS, DIFS and of the wait for an
    // answer (SIFS, slot and aRxPHYStartDelay), aCWmin (Tables 16-4, 17-21, 18-5, 19-25, 21-28, 27-59; 10.3.2.3, 10.3.2.11).
    for (generation, band, slot_us, dsss_basic, expected_us, cw_min) in [
        (Generation::B, Band::Ghz2_4, None, true, [20, 10, 30, 50, 222], 31),
        (Generation::G, Band::Ghz2_4, None, false, [9, 10, 19, 28, 39], 15),
        (Generation::G, Band::Ghz2_4, Some(20), false, [20, 10, 30, 50, 50], 15),
        (Generation::G, Band::Ghz2_4, Some(20), true, [20, 10, 30, 50, 50], 31),
        (Generation::A, Band::Ghz5, None, false, [9, 16, 25, 34, 45], 15),
        (Generation::N, Band::Ghz2_4, None, false, [9, 10, 19, 28, 47], 15),
        (Generation::N, Band::Ghz5, None, false, [9, 16, 25, 34, 53], 15),
        (Generation::Ac, Band::Ghz5, None, false, [9, 16, 25, 34, 69], 15),
        (Generation::Ax, Band::Ghz5, None, false, [9, 16, 25, 34, 57], 15),
        (Generation::Ax, Band::Ghz6, None, false, [9, 16, 25, 34, 57], 15),
    ] {
        let timing = Timing::dcf(generation, band, slot_us, dsss_basic);
        let ours_ns = [timing.slot_ns, timing.sifs_ns, timing.pifs_ns(), timing.gap_ns(), timing.timeout_ns()];
        assert_eq!(ours_ns, expected_us.map(|us: u64| us * 1_000), "{generation:?} in {band:?}");
        assert_eq!((timing.cw_min, timing.cw_max, timing.edca), (cw_min, 1_023, false), "{generation:?}");
    }
}

#[test]
fn every_category_has_the_gap_and_the_windows_of_the_edca_parameter_set() {
    // Table 9-155 for aCWmin 15 and aCWmax 1023; AIFS of 5 GHz: 16 us and as many slots of 9 us.
    let timing = Timing::dcf(Generation::N, Band::Ghz5, None, false);
    for (category, cw_min, cw_max, aifs_us) in [
        (Category::Background, 15, 1_023, 79),
        (Category::BestEffort, 15, 1_023, 43),
        (Category::Video, 7, 15, 34),
        (Category::Voice, 3, 7, 34),
    ] {
        let edca = timing.edca(category);
        let ours = (edca.cw_min, edca.cw_max, edca.gap_ns(), edca.edca);
        assert_eq!(ours, (cw_min, cw_max, aifs_us * 1_000, true), "{category:?}");
    }
}

#[test]
fn whoever_could_not_make_out_a_frame_waits_for_an_ack_at_the_lowest_rate_and_the_gap() {
    let ack_ns = |rate: Rate, band| rate.time_on_air_ns(ACK_B, &Channel { band, ..Channel::default() });
    // 10.3.2.3.7: SIFS 10, ACK at 1 Mb/s 304, DIFS 50; SIFS 16, ACK at 6 Mb/s 44, DIFS 34.
    let b = Timing::dcf(Generation::B, Band::Ghz2_4, None, true);
    assert_eq!(b.eifs_ns(ack_ns(DSSS[0], Band::Ghz2_4)), 364_000);
    let a = Timing::dcf(Generation::A, Band::Ghz5, None, false);
    assert_eq!(a.eifs_ns(ack_ns(ofdm(6), Band::Ghz5)), 94_000);
}

#[test]
fn a_window_doubles_with_each_failure_up_to_its_greatest() {
    let timing = Timing::dcf(Generation::A, Band::Ghz5, None, false);
    let windows: Vec<u32> = (0..9).map(|failures| timing.window(failures)).collect();
    assert_eq!(windows, [15, 31, 63, 127, 255, 511, 1_023, 1_023, 1_023]);
}

#[test]
fn a_response_goes_at_the_highest_basic_rate_not_above_the_frames() {
    let channel = Channel::default();
    let basic = [&DSSS[..], &[ofdm(6), ofdm(12), ofdm(24)]].concat();
    let at = |rate| response_rate(rate, &basic, &channel);
    for (frame, answer) in [(6, 6), (9, 6), (12, 12), (18, 12), (24, 24), (36, 24), (48, 24), (54, 24)] {
        assert_eq!(at(ofdm(frame)), ofdm(answer), "{frame} Mb/s");
    }
    for rate in DSSS {
        assert_eq!(at(rate), rate);
    }
    let access_point = |rate| response_rate(rate, &DSSS[..2], &channel);
    assert_eq!(DSSS.map(access_point), [DSSS[0], DSSS[1], DSSS[1], DSSS[1]]);
    // Without a basic rate of its kind: the highest mandatory one (10.6.6.5.2).
    assert_eq!(response_rate(ofdm(54), &DSSS, &channel), ofdm(24));
    // Table 10-10: the constellation and code of MCS 0 to 7 at one stream.
    let references = [6, 12, 18, 24, 36, 48, 54, 54].map(ofdm);
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|mcs| reference_rate(Rate::Ht { mcs })), references);
}

#[test]
fn one_exchange_after_the_other_takes_the_gap_half_a_window_and_the_exchange() {
    // 802.11b, 1564 octets at 11 Mb/s, ACK at 11 Mb/s: DIFS 50, half of 31 slots of 20, 1330, SIFS 10, 203.
    let b = Timing::dcf(Generation::B, Band::Ghz2_4, None, true);
    let one = Exchange { data_ns: 1_330_000, response_ns: 203_000, fragments: 1, ..Exchange::default() };
    assert_eq!(one.cycle_ns(&b), 1_903_000);
    let mean = alone(&one, &b, 0.0, 7);
    assert!((mean.cycle_ns - 1_903_000.0).abs() < 1e-6 && mean.dropped == 0.0, "{mean:?}");
    // What is not answered costs the frame and the wait: SIFS 10, slot 20, preamble 192. Then half of 63 slots.
    assert_eq!(one.lost_ns(&b), 1_552_000);
    let twice = alone(&one, &b, 1.0, 2);
    assert!((twice.cycle_ns - (360_000.0 + 1_552_000.0 + 680_000.0 + 1_552_000.0)).abs() < 1e-6, "{twice:?}");
    // A beacon of 816 us at 1 Mb/s every 100 time units, and DIFS before contention goes on.
    let left = left_by_beacons(816_000, 102_400_000, &b);
    assert!((left - (1.0 - 866.0 / 102_400.0)).abs() < 1e-12, "{left}");
}

/// A station that draws no slots: what it does is certain.
fn without_slots() -> Network<'static> {
    let timing = Timing { cw_min: 0, cw_max: 0, ..Timing::dcf(Generation::B, Band::Ghz2_4, None, true) };
    Network { timing, rates: &DSSS, rate: 3, basic: &DSSS, packet_B: 1_528, ..Network::default() }
}

fn duration_ns(network: &Network, signal_dBm: Option<f64>) -> u64 {
    simulate(network, &mut [Node::new(None), Node::new(signal_dBm)]).unwrap().duration_ns
}

#[test]
fn the_mean_back_off_of_the_simulator_is_half_of_the_window() {
    let timing = Timing::dcf(Generation::B, Band::Ghz2_4, None, true);
    let network = Network { timing, datagrams: Some(200_000), ..without_slots() };
    let mean_slots = (duration_ns(&network, None) as f64 / 200_000.0 - 1_593_000.0) / 20_000.0;
    // 31 slots, each as likely as another: 15.5, the standard error of 200,000 is 0.02.
    assert!((mean_slots - 15.5).abs() < 0.1, "{mean_slots}");
}

#[test]
fn an_unanswered_frame_is_sent_again_after_the_wait_and_the_gap() {
    let network = Network { datagrams: Some(1), ..without_slots() };
    assert_eq!(duration_ns(&network, None), 1_593_000);
    assert_eq!(exchange(&network, None).0.busy_ns(&network.timing), 1_543_000);
    // Seven frames, six waits of 222 us between them, seven gaps of 50 us.
    assert_eq!(duration_ns(&network, Some(-150.0)), 7 * 1_330_000 + 6 * 222_000 + 7 * 50_000);
}

#[test]
fn a_beacon_comes_after_pifs_and_the_gap_comes_after_it() {
    let plain = Network { topology: Topology::ToAp, datagrams: Some(10_000), ..without_slots() };
    let network = Network { beacon_interval_ns: 102_400_000, ..plain.clone() };
    let outcome = simulate(&network, &mut [Node::new(None), Node::new(None)]).unwrap();
    assert_eq!(outcome.beacon_ns, outcome.beacons * 816_000);
    // It waits PIFS, 30 us, where it is due while a frame is on the air, up to DIFS where it is due in the gap.
    let each_ns = (outcome.duration_ns - duration_ns(&plain, None)) as f64 / outcome.beacons as f64;
    assert!((846_000.0..849_000.0).contains(&each_ns), "{each_ns}");
}

#[test]
fn a_network_in_6_ghz_answers_and_sends_beacons_at_ofdm_rates() {
    let channel = Channel { band: Band::Ghz6, ..Channel::default() };
    let timing = Timing::dcf(Generation::Ax, Band::Ghz6, None, false);
    let (rates, basic) = ([Rate::He { mcs: 11, streams: 1 }], [ofdm(6), ofdm(12), ofdm(24)]);
    let network = Network { timing, channel, rates: &rates, basic: &basic, datagrams: Some(10), ..Network::default() };
    let outcome = simulate(&network, &mut [Node::new(None), Node::new(None)]).unwrap();
    // An ACK at 24 Mb/s without signal extension.
    assert_eq!((outcome.delivered, outcome.legs[0][0].response_ns), (10, 10 * 28_000));
}

#[test]
fn a_handshake_and_fragments_take_their_frames_their_answers_and_a_gap_between_each_two() {
    let rts = Network { rts: true, datagrams: Some(1), ..without_slots() };
    // DIFS 50; RTS 207, CTS 203, data 1330, ACK 203 at 11 Mb/s, and three SIFS of 10.
    assert_eq!(duration_ns(&rts, None), 50_000 + 207_000 + 203_000 + 1_330_000 + 203_000 + 30_000);
    assert_eq!(exchange(&rts, None).0.busy_ns(&rts.timing), 1_973_000);
    // What nobody hears costs the RTS alone, and the wait for a CTS.
    assert_eq!(exchange(&rts, None).0.lost_ns(&rts.timing), 207_000 + 222_000);
    assert_eq!(duration_ns(&rts, Some(-150.0)), 7 * 207_000 + 6 * 222_000 + 7 * 50_000);

    // 1536 octets of MSDU in bodies of 600, 600, 336: frames of 628, 628, 364 octets take 649, 649, 457 us.
    let framing = Framing { fragment_B: 628, ..Framing::default() };
    let cut = Network { framing, datagrams: Some(1), ..without_slots() };
    let busy_ns = 2 * 649_000 + 457_000 + 3 * 203_000 + 5 * 10_000;
    assert_eq!(exchange(&cut, None).0.busy_ns(&cut.timing), busy_ns);
    assert_eq!(duration_ns(&cut, None), 50_000 + busy_ns);
    let both = Network { rts: true, ..cut };
    assert_eq!(duration_ns(&both, None), 50_000 + busy_ns + 207_000 + 203_000 + 20_000);
}

#[test]
fn an_exchange_fails_where_any_of_its_frames_does() {
    let framing = Framing { fragment_B: 628, ..Framing::default() };
    let network = Network { rts: true, framing, ..without_slots() };
    let signal_dBm = -88.0;
    let lost = |psdu_B| {
        let snr = ratio(signal_dBm - network.noise_dBm);
        ppdu_error_rate(DSSS[3], psdu_B, &network.channel, snr)
    };
    let frames = [RTS_B, CTS_B, 628, ACK_B, 628, ACK_B, 364, ACK_B].map(lost);
    assert!(frames.iter().all(|&share| (0.001..0.9).contains(&share)), "{frames:?}");
    let expected = 1.0 - frames.iter().map(|share| 1.0 - share).product::<f64>();
    let error = exchange(&network, Some(signal_dBm)).1;
    assert!((error - expected).abs() < 1e-12, "{error} for {expected}");
}

#[test]
fn fragments_are_as_many_as_the_threshold_asks_for_and_only_the_last_is_shorter() {
    let cut = |fragment_B, packet_B| Framing { fragment_B, ..Framing::default() }.mpdus(packet_B);
    // A frame of the threshold's own size stays whole; one octet more makes two.
    assert_eq!(cut(628, 592), Fragments { count: 1, full_B: 628, last_B: 628 });
    assert_eq!(cut(628, 593), Fragments { count: 2, full_B: 628, last_B: 29 });
    // A body is even, and a threshold that leaves none is none.
    assert_eq!(cut(629, 1_192), Fragments { count: 2, full_B: 628, last_B: 628 });
    assert_eq!(cut(29, 100), Fragments { count: 1, full_B: 136, last_B: 136 });
    let qos = Framing { qos: true, protection: Protection::Ccmp, fragment_B: 630 };
    assert_eq!((qos.mpdu_overhead_B(), qos.mpdus(1_192)), (46, Fragments { count: 2, full_B: 646, last_B: 646 }));
    let three = cut(628, 1_528);
    assert_eq!([0, 1, 2].map(|index| three.mpdu_B(index)), [628, 628, 364]);
    // 1620 octets of 8 bits at 2 Mb/s.
    assert_eq!(three.octets_ns(DSSS[1], &Channel::default()), 6_480_000);
}

#[test]
fn beacons_leave_all_where_there_are_none_and_nothing_where_they_do_not_fit() {
    let b = Timing::dcf(Generation::B, Band::Ghz2_4, None, true);
    assert_eq!(left_by_beacons(816_000, 0, &b), 1.0);
    assert_eq!(left_by_beacons(816_000, 500_000, &b), 0.0);
}

#[test]
fn an_acknowledgement_that_is_kept_back_and_a_segment_sent_again_come_when_their_timers_run_out() {
    let tcp = |window, datagrams| {
        let transport = Transport::Tcp { window, ack_every: 2 };
        Network { transport, datagrams: Some(datagrams), ..without_slots() }
    };
    // DIFS 50 and 1330 bring the first of two segments; 200 ms later its acknowledgement goes out at once: 76 octets
    // 248 us, SIFS 10, ACK 203. After DIFS the second one takes 1543.
    assert_eq!(duration_ns(&tcp(1, 2), None), 1_380_000 + 200_000_000 + 461_000 + 50_000 + 1_543_000);
    // With a window of two nothing is kept back.
    assert_eq!(duration_ns(&tcp(2, 2), None), 2 * 1_593_000);
    // RFC 6298: time-outs of 1, 2, 4, 8, 16, 32 and nine of 64 s, after each of which it is sent once more, and that is all.
    let outcome = simulate(&tcp(1, 5), &mut [Node::new(None), Node::new(Some(-150.0))]).unwrap();
    assert_eq!((outcome.delivered, outcome.given_up, outcome.drops), (0, 5, 16));
    let seconds = outcome.duration_ns as f64 / 1e9;
    assert!((639.0..639.1).contains(&seconds), "{seconds}");
}

#[test]
fn only_ht_vht_and_he_frames_are_aggregated() {
    let rates = [DSSS[3], ofdm(54), Rate::Ht { mcs: 7 }, Rate::Vht { mcs: 7, streams: 1 }];
    assert_eq!(rates.map(Rate::aggregates), [false, false, true, true]);
    assert!(Rate::He { mcs: 7, streams: 1 }.aggregates());
}
