//! Laws of the simulator: what must hold whatever is drawn, and where it meets closed forms.
#![allow(clippy::unwrap_used)]
#![allow(non_snake_case)]

use wattlock_air::access::{Category, Generation, Timing};
use wattlock_air::dcf::{
    Network, Node, Outcome, RateControl, SetupError, States, Topology, Transport, exchange, simulate,
};
use wattlock_air::frame::{Framing, Protection};
use wattlock_air::one_station::alone;
use wattlock_air::phy::{Band, Channel, Rate};
use wattlock_air::{bianchi, signal};

const OFDM: [Rate; 8] = [
    Rate::Ofdm { Mb_s: 6 },
    Rate::Ofdm { Mb_s: 9 },
    Rate::Ofdm { Mb_s: 12 },
    Rate::Ofdm { Mb_s: 18 },
    Rate::Ofdm { Mb_s: 24 },
    Rate::Ofdm { Mb_s: 36 },
    Rate::Ofdm { Mb_s: 48 },
    Rate::Ofdm { Mb_s: 54 },
];
const DSSS: [Rate; 4] =
    [Rate::Dsss { kb_s: 1_000 }, Rate::Dsss { kb_s: 2_000 }, Rate::Dsss { kb_s: 5_500 }, Rate::Dsss { kb_s: 11_000 }];
const VHT: [Rate; 1] = [Rate::Vht { mcs: 7, streams: 2 }];
const HE: [Rate; 2] = [Rate::He { mcs: 3, streams: 1 }, Rate::He { mcs: 10, streams: 1 }];
const HT: [Rate; 1] = [Rate::Ht { mcs: 7 }];

fn run(network: &Network, signals: &[Option<f64>]) -> (Outcome, Vec<Node>) {
    let mut nodes: Vec<Node> = signals.iter().map(|&signal| Node::new(signal)).collect();
    let outcome = simulate(network, &mut nodes).unwrap();
    (outcome, nodes)
}

fn total(states: &States) -> u64 {
    states.tx_ns + states.rx_ns + states.cca_ns + states.idle_ns + states.sleep_ns
}

/// Networks that use everything once.
fn zoo() -> Vec<(&'static str, Network<'static>, Vec<Option<f64>>)> {
    let basis = Network { datagrams: Some(500), ..Network::default() };
    let tcp = Transport::Tcp { window: 64, ack_every: 2 };
    let ht = Network {
        rates: &HT,
        aggregate_B: 65_535,
        framing: Framing { qos: true, ..Framing::default() },
        timing: Timing::dcf(Generation::N, Band::Ghz2_4, None, false).edca(Category::BestEffort),
        ..basis.clone()
    };
    let poor = Network { rates: &OFDM, rate: 7, ..basis.clone() };
    vec![
        ("one station", basis.clone(), vec![None; 2]),
        ("five stations", basis.clone(), vec![None; 6]),
        ("relay", Network { topology: Topology::Bss, ..basis.clone() }, vec![None; 4]),
        ("tcp", Network { transport: tcp, ..basis.clone() }, vec![None; 3]),
        ("tcp through a relay", Network { transport: tcp, topology: Topology::Bss, ..basis.clone() }, vec![None; 5]),
        ("rts", Network { rts: true, ..basis.clone() }, vec![None; 6]),
        ("eifs", Network { eifs: true, ..basis.clone() }, vec![None; 6]),
        (
            "beacons",
            Network { topology: Topology::ToAp, beacon_interval_ns: 102_400_000, ..basis.clone() },
            vec![None; 3],
        ),
        ("aggregates", ht.clone(), vec![None; 4]),
        ("aggregates with losses", ht, vec![None, Some(-69.6), Some(-69.2)]),
        ("poor signal", poor.clone(), vec![None, Some(-71.8)]),
        ("arf", Network { rate_control: RateControl::Arf, ..poor.clone() }, vec![None, Some(-80.0)]),
        ("minstrel", Network { rate_control: RateControl::Minstrel, ..poor.clone() }, vec![None, Some(-80.0)]),
        ("ideal", Network { rate_control: RateControl::Ideal, ..poor.clone() }, vec![None, Some(-80.0)]),
        (
            "fragments",
            Network { framing: Framing { fragment_B: 400, ..Framing::default() }, ..poor.clone() },
            vec![None, Some(-71.8)],
        ),
        ("capture", Network { capture_dB: Some(5.0), ..poor }, vec![None, Some(-40.0), Some(-50.0), Some(-60.0)]),
        (
            "power save",
            Network {
                topology: Topology::ToAp,
                power_save: true,
                interval_ns: 10_000_000,
                beacon_interval_ns: 102_400_000,
                ..basis
            },
            vec![None; 4],
        ),
    ]
}

/// Networks in which something is scarce, lost or given up.
#[allow(clippy::too_many_lines, reason = "a table")]
fn hardships() -> Vec<(&'static str, Network<'static>, Vec<Option<f64>>)> {
    let basis = Network { datagrams: Some(300), ..Network::default() };
    let poor = Network { rates: &OFDM, rate: 7, ..basis.clone() };
    let tcp = |window, ack_every| Transport::Tcp { window, ack_every };
    let b = Timing::dcf(Generation::B, Band::Ghz2_4, None, true);
    let dsss = Network { timing: b, rates: &DSSS, rate: 3, basic: &DSSS[..2], ..basis.clone() };
    let fifth = Channel { band: Band::Ghz5, width_MHz: 80, ..Channel::default() };
    let qos = Framing { qos: true, protection: Protection::Ccmp, fragment_B: 0 };
    let at = |generation, category| Timing::dcf(generation, Band::Ghz5, None, false).edca(category);
    let vht = Network {
        timing: at(Generation::Ac, Category::Voice),
        channel: fifth,
        rates: &VHT,
        framing: qos,
        aggregate_B: 20_000,
        ..basis.clone()
    };
    let he = Network { timing: at(Generation::Ax, Category::Video), rates: &HE, rate: 1, ..vht.clone() };
    let fragments = Framing { fragment_B: 400, protection: Protection::Tkip, ..Framing::default() };
    let edge = vec![None, Some(-72.3), Some(-72.0)];
    vec![
        ("b, one far off", dsss.clone(), vec![None, Some(-60.0), Some(-92.5)]),
        ("b by minstrel", Network { rate_control: RateControl::Minstrel, ..dsss.clone() }, vec![None, Some(-90.0)]),
        ("b by arf, eifs", Network { rate_control: RateControl::Arf, eifs: true, ..dsss }, vec![None, Some(-91.0)]),
        (
            "arf of two",
            Network { rate_control: RateControl::Arf, ..poor.clone() },
            vec![None, Some(-75.0), Some(-83.0)],
        ),
        (
            "minstrel of two for a second",
            Network {
                rate_control: RateControl::Minstrel,
                datagrams: None,
                duration_ns: Some(1_000_000_000),
                ..poor.clone()
            },
            vec![None, Some(-74.0), Some(-84.0)],
        ),
        ("eifs at the edge", Network { eifs: true, ..poor.clone() }, edge.clone()),
        ("rts at the edge", Network { rts: true, ..poor.clone() }, edge.clone()),
        ("fragments at the edge", Network { framing: fragments, rts: true, ..poor.clone() }, edge.clone()),
        ("one try", Network { retry_limit: 1, ..poor.clone() }, edge.clone()),
        ("tcp with one try", Network { retry_limit: 1, transport: tcp(32, 2), ..poor.clone() }, edge.clone()),
        (
            "tcp with two tries through a relay",
            Network { retry_limit: 2, transport: tcp(200, 2), topology: Topology::Bss, ..poor.clone() },
            vec![None, Some(-71.7), None, Some(-71.9)],
        ),
        ("tcp that nobody hears", Network { transport: tcp(8, 1), ..poor.clone() }, vec![None, Some(-150.0)]),
        ("tcp of a window of one", Network { transport: tcp(1, 2), ..basis.clone() }, vec![None; 2]),
        (
            "tcp through a relay of three packets",
            Network { transport: tcp(64, 2), topology: Topology::Bss, queue_packets: 3, ..basis.clone() },
            vec![None; 4],
        ),
        (
            "a relay of two packets",
            Network { topology: Topology::Bss, queue_packets: 2, ..basis.clone() },
            vec![None; 5],
        ),
        (
            "capture at the edge",
            Network { capture_dB: Some(3.0), rts: true, ..poor.clone() },
            vec![None, Some(-72.0), Some(-60.0), Some(-66.0)],
        ),
        ("ac", vht.clone(), vec![None, Some(-62.0), Some(-60.0)]),
        ("ac without aggregates, rts", Network { aggregate_B: 0, rts: true, ..vht.clone() }, vec![None; 3]),
        ("ax, tcp", Network { transport: tcp(100, 2), ..he.clone() }, vec![None, Some(-52.0), Some(-55.0)]),
        ("ax by minstrel", Network { rate_control: RateControl::Minstrel, ..he.clone() }, vec![None, Some(-56.0)]),
        (
            "ax by minstrel, three tries at the edge",
            Network { rate_control: RateControl::Minstrel, retry_limit: 3, ..he },
            vec![None, Some(-67.5), Some(-66.0)],
        ),
        (
            "minstrel among collisions",
            Network {
                rate_control: RateControl::Minstrel,
                timing: Timing { cw_min: 7, cw_max: 7, ..poor.timing },
                datagrams: Some(1_000),
                ..poor.clone()
            },
            vec![Some(-60.0); 7],
        ),
        (
            "minstrel, two tries at the edge",
            Network { rate_control: RateControl::Minstrel, retry_limit: 2, ..poor.clone() },
            vec![None, Some(-87.0), Some(-74.0)],
        ),
        (
            "now and then",
            Network { interval_ns: 3_000_000, beacon_interval_ns: 102_400_000, ..poor.clone() },
            vec![None, Some(-71.9), None],
        ),
        (
            "dozing at the edge",
            Network { interval_ns: 4_000_000, beacon_interval_ns: 50_000_000, power_save: true, ..poor },
            vec![None, Some(-71.9), None, Some(-72.2)],
        ),
    ]
}

/// What came of a network, in one line a network and one a node.
fn kept(name: &str, outcome: &Outcome, nodes: &[Node]) -> String {
    use std::fmt::Write as _;
    let of = outcome;
    let mut text = format!(
        "{name}: {} ns, delivered {}, frames {}, retries {}, drops {}, queue drops {}, given up {}, attempts {}, \
         collisions {}, beacons {}, {} ns of beacons, {} ns of collisions\n",
        of.duration_ns,
        of.delivered,
        of.frames,
        of.retries,
        of.drops,
        of.queue_drops,
        of.given_up,
        of.attempts,
        of.collisions,
        of.beacons,
        of.beacon_ns,
        of.collision_ns
    );
    for (i, leg) in of.legs.iter().flatten().enumerate().filter(|(_, leg)| leg.sent > 0) {
        let ns = [leg.sent_ns, leg.data_ns, leg.octets_ns, leg.rts_ns, leg.response_ns];
        writeln!(text, "  leg {i}: packets {}, sent {}, ns {ns:?}", leg.packets, leg.sent).unwrap();
    }
    for (i, node) in nodes.iter().enumerate() {
        let States { tx_ns, rx_ns, cca_ns, idle_ns, sleep_ns } = node.states;
        let ns = [tx_ns, rx_ns, cca_ns, idle_ns, sleep_ns];
        let counts = [node.frames, node.retries, node.drops, node.delivered];
        writeln!(text, "  node {i}: counts {counts:?}, ns {ns:?}").unwrap();
    }
    text
}

#[test]
fn the_same_seed_gives_the_outcomes_of_the_table_on_every_machine() {
    let all = zoo().into_iter().chain(hardships());
    let table: String = all
        .map(|(name, network, signals)| {
            let (outcome, nodes) = run(&network, &signals);
            kept(name, &outcome, &nodes)
        })
        .collect();
    // A change that is meant is looked at here, line by line, before the table is written anew.
    let differs = include_str!("outcomes.txt").lines().zip(table.lines()).find(|(then, now)| then != now);
    assert!(include_str!("outcomes.txt") == table, "{differs:?} in\n{table}");
}

#[test]
fn the_states_of_every_radio_add_up_to_the_duration() {
    for (name, network, signals) in zoo() {
        let (outcome, nodes) = run(&network, &signals);
        for (i, node) in nodes.iter().enumerate() {
            assert_eq!(total(&node.states), outcome.duration_ns, "{name}, node {i}: {:?}", node.states);
        }
    }
}

#[test]
fn every_datagram_is_delivered_or_accounted_for() {
    for (name, network, signals) in zoo() {
        let (outcome, nodes) = run(&network, &signals);
        let senders = nodes.len() as u64 - 1 - u64::from(network.topology == Topology::Bss);
        let asked = 500 * senders;
        if network.transport == Transport::Udp {
            let missing = asked - outcome.delivered;
            assert!(missing <= outcome.drops + outcome.queue_drops, "{name}: {outcome:?}");
        } else {
            assert_eq!(outcome.delivered, asked, "{name}: TCP brings everything, {outcome:?}");
        }
        let lossy = ["losses", "poor", "fragments"].iter().any(|word| name.contains(word));
        assert!(!lossy || outcome.retries > 50, "{name} loses: {outcome:?}");
        assert!(outcome.frames >= outcome.delivered && outcome.retries <= outcome.frames, "{name}: {outcome:?}");
        assert_eq!(nodes.iter().map(|node| node.frames).sum::<u64>(), outcome.frames, "{name}");
        assert_eq!(nodes.iter().map(|node| node.delivered).sum::<u64>(), outcome.delivered, "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_another() {
    for (name, network, signals) in zoo() {
        let first = run(&network, &signals);
        let again = run(&network, &signals);
        assert_eq!(first.0, again.0, "{name}");
        assert!(first.1.iter().zip(&again.1).all(|(a, b)| a.states == b.states), "{name}");
        let other = run(&Network { seed: 2, ..network.clone() }, &signals);
        assert_ne!(first.0.duration_ns, other.0.duration_ns, "{name}");
    }
}

#[test]
fn one_station_takes_the_time_of_the_closed_form() {
    for (signal, tolerance) in [(None, 0.002), (Some(-71.6), 0.01), (Some(-72.1), 0.01), (Some(-72.5), 0.02)] {
        let network = Network { datagrams: Some(50_000), ..Network::default() };
        let (outcome, _) = run(&network, &[None, signal]);
        let (exchange, error) = exchange(&network, signal);
        let mean = alone(&exchange, &network.timing, error, network.retry_limit);
        let ratio = outcome.duration_ns as f64 / (mean.cycle_ns * 50_000.0);
        assert!((ratio - 1.0).abs() < tolerance, "{signal:?}: {ratio}, error {error}");
        let attempts = outcome.attempts as f64 / 50_000.0;
        assert!((attempts / mean.attempts - 1.0).abs() < 0.02, "{signal:?}: {attempts} and {}", mean.attempts);
    }
}

#[test]
fn saturated_stations_behave_as_the_chain_says() {
    let network = Network { duration_ns: Some(20_000_000_000), ..Network::default() };
    let (exchange, _) = exchange(&network, None);
    let timing = network.timing;
    let gap_ns = timing.gap_ns();
    let slots = bianchi::Slots {
        idle_ns: timing.slot_ns as f64,
        success_ns: (exchange.busy_ns(&timing) + gap_ns) as f64,
        error_ns: 0.0,
        collision_ns: (exchange.data_ns + gap_ns) as f64,
    };
    for stations in [2, 5, 10, 20] {
        let chain = bianchi::saturation(stations, &timing, &slots, 0.0, network.retry_limit);
        let (outcome, _) = run(&network, &vec![None; stations as usize + 1]);
        let simulated = outcome.delivered as f64 / outcome.duration_ns as f64;
        let ratio = simulated / chain.delivered_per_ns;
        assert!((ratio - 1.0).abs() < 0.04, "{stations}: {ratio}");
        let collision = outcome.collision_probability();
        assert!((collision - chain.collision).abs() < 0.03, "{stations}: {collision} and {}", chain.collision);
    }
}

#[test]
fn a_relay_halves_the_throughput_and_more() {
    let network = Network { datagrams: Some(5_000), ..Network::default() };
    let direct = run(&network, &[None; 2]).0.duration_ns as f64;
    let relayed = run(&Network { topology: Topology::Bss, ..network }, &[None; 3]).0.duration_ns as f64;
    assert!(relayed / direct > 1.8 && relayed / direct < 2.2, "{}", relayed / direct);
}

#[test]
fn a_stronger_station_wins_collisions_only_with_capture() {
    let network = Network { duration_ns: Some(5_000_000_000), ..Network::default() };
    let signals = [None, Some(-40.0), Some(-60.0), Some(-60.0)];
    let plain = run(&network, &signals);
    let captured = run(&Network { capture_dB: Some(6.0), ..network }, &signals);
    assert!(captured.0.delivered > plain.0.delivered);
    assert!(captured.1[1].delivered as f64 > 1.1 * captured.1[2].delivered as f64);
    assert!((plain.1[1].delivered as f64 / plain.1[2].delivered as f64 - 1.0).abs() < 0.1);
}

#[test]
fn aggregates_carry_more_than_single_frames() {
    let framing = Framing { qos: true, ..Framing::default() };
    let timing = Timing::dcf(Generation::N, Band::Ghz5, None, false).edca(Category::BestEffort);
    let channel = Channel { band: Band::Ghz5, ..Channel::default() };
    let network = Network { rates: &HT, framing, timing, channel, datagrams: Some(5_000), ..Network::default() };
    let single = run(&network, &[None; 2]).0.duration_ns as f64;
    let together = run(&Network { aggregate_B: 65_535, ..network }, &[None; 2]).0.duration_ns as f64;
    assert!(together < 0.7 * single, "{}", together / single);
}

#[test]
fn rate_adaptation_finds_what_the_signal_carries() {
    // At -80 dBm 54 Mb/s loses every frame and 12 Mb/s none.
    let network = Network { rates: &OFDM, rate: 7, duration_ns: Some(5_000_000_000), ..Network::default() };
    let signals = [None, Some(-80.0)];
    let fixed = run(&network, &signals).0.delivered;
    let by = |rate_control| run(&Network { rate_control, ..network.clone() }, &signals).0.delivered;
    let (arf, minstrel, ideal) = (by(RateControl::Arf), by(RateControl::Minstrel), by(RateControl::Ideal));
    assert!(fixed < ideal / 10, "{fixed} and {ideal}");
    assert!(arf > ideal / 2 && minstrel > ideal * 7 / 10, "{arf}, {minstrel}, {ideal}");
    assert!(arf <= ideal && minstrel <= ideal, "{arf}, {minstrel}, {ideal}");
}

#[test]
fn fragments_help_where_whole_frames_are_lost() {
    let network = Network { rates: &OFDM, rate: 7, duration_ns: Some(5_000_000_000), ..Network::default() };
    let fragments = Network { framing: Framing { fragment_B: 400, ..Framing::default() }, ..network.clone() };
    let good = [None, None];
    let ratio = |signals: &[Option<f64>]| {
        run(&fragments, signals).0.delivered as f64 / run(&network, signals).0.delivered.max(1) as f64
    };
    assert!(ratio(&good) < 0.8, "{}", ratio(&good));
    // Between -70 dBm, where nothing is lost, and -73 dBm, where all is, they gain.
    let best = (0..30).map(|step| ratio(&[None, Some(-70.0 - 0.1 * f64::from(step))])).fold(0.0, f64::max);
    assert!(best > 1.2, "{best}");
}

#[test]
fn a_station_with_little_to_send_sleeps_most_of_the_time() {
    let (_, network, signals) = zoo().pop().unwrap();
    let (outcome, nodes) = run(&network, &signals);
    for node in &nodes[1..] {
        assert!(node.states.sleep_ns as f64 > 0.9 * outcome.duration_ns as f64, "{:?}", node.states);
    }
    assert_eq!(nodes[0].states.sleep_ns, 0);
    let awake = run(&Network { power_save: false, ..network }, &signals);
    assert!(awake.1.iter().all(|node| node.states.sleep_ns == 0));
}

#[test]
fn beacons_take_their_share() {
    let network = Network { topology: Topology::ToAp, duration_ns: Some(10_000_000_000), ..Network::default() };
    let without = run(&network, &[None; 2]).0;
    let with = run(&Network { beacon_interval_ns: 102_400_000, ..network }, &[None; 2]).0;
    assert_eq!((without.beacons, with.beacons), (0, 97));
    assert!(with.delivered < without.delivered);
}

#[test]
fn protection_makes_frames_longer_by_its_octets() {
    let plain = Framing::default().mpdus(1_500);
    assert_eq!((plain.count, plain.last_B), (1, 1_536));
    let longer = |protection| Framing { protection, ..Framing::default() }.mpdus(1_500).last_B - plain.last_B;
    let protections = [Protection::Wep, Protection::Tkip, Protection::Ccmp, Protection::Long];
    assert_eq!(protections.map(longer), [8, 20, 16, 24]);
    let cut = Framing { fragment_B: 528, protection: Protection::Tkip, ..Framing::default() }.mpdus(1_500);
    // 1516 octets of MSDU with Michael in bodies of 500; each MPDU has 12 of its own.
    assert_eq!((cut.count, cut.full_B, cut.last_B), (4, 540, 16 + 28 + 12));
}

#[test]
fn impossible_networks_are_refused() {
    let two = || [Node::new(None), Node::new(None)];
    let refused = |network: Network, nodes: &mut [Node]| simulate(&network, nodes).unwrap_err();
    let good = Network { datagrams: Some(1), ..Network::default() };
    assert_eq!(refused(Network::default(), &mut two()), SetupError::Endless);
    assert_eq!(refused(good.clone(), &mut []), SetupError::Nodes);
    assert_eq!(refused(Network { topology: Topology::Bss, ..good.clone() }, &mut two()), SetupError::Nodes);
    assert_eq!(refused(Network { rate: 1, ..good.clone() }, &mut two()), SetupError::Rates);
    assert_eq!(refused(Network { rates: &[], ..good.clone() }, &mut two()), SetupError::Rates);
    assert!(matches!(
        refused(Network { rates: &[Rate::Ofdm { Mb_s: 7 }], ..good.clone() }, &mut two()),
        SetupError::Rate(_)
    ));
    assert_eq!(refused(Network { retry_limit: 0, ..good.clone() }, &mut two()), SetupError::Zero);
    assert_eq!(
        refused(Network { power_save: true, topology: Topology::Bss, ..good }, &mut [(); 3].map(|()| Node::new(None))),
        SetupError::PowerSave
    );
}

#[test]
fn the_error_rate_falls_with_the_signal_and_rises_with_the_rate_and_the_length() {
    let channel = Channel::default();
    let per = |rate, size, dB| signal::ppdu_error_rate(rate, size, &channel, signal::ratio(dB));
    for rate in OFDM {
        let curve: Vec<f64> = (0..40).map(|dB| per(rate, 1_000, f64::from(dB))).collect();
        assert!(curve.windows(2).all(|pair| pair[1] <= pair[0]), "{rate:?}: {curve:?}");
        assert!(curve[0] > 0.05 && curve[39] < 1e-6, "{rate:?}");
    }
    let losing = |dB: f64| OFDM.iter().map(|&rate| per(rate, 1_000, dB)).collect::<Vec<_>>();
    assert!(losing(12.0)[7] > 0.99 && losing(12.0)[0] < 0.01);
    assert!(per(OFDM[7], 1_500, 21.0) > per(OFDM[7], 100, 21.0));
}
