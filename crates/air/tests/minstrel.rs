//! Minstrel against ns-3's.
#![allow(clippy::unwrap_used)]
#![allow(non_snake_case)]

use wattlock_air::access::{Generation, Timing};
use wattlock_air::dcf::{Network, Node, RateControl, simulate};
use wattlock_air::phy::{Band, Rate};

/// Datagrams a second of ns-3 3.44 (PyPI ns3 3.44.post0, MinstrelWifiManager, NistErrorRateModel): one ad hoc station, packets
/// of 1500 octets, 10 s, the mean of three seeds.
const NS3: [(Generation, f64, f64); 9] = [
    (Generation::B, -46.0, 522.0),
    (Generation::B, -76.0, 522.0),
    (Generation::G, -46.0, 1_881.0),
    (Generation::G, -70.0, 1_876.0),
    (Generation::G, -71.0, 1_751.0),
    (Generation::G, -72.0, 1_560.0),
    (Generation::G, -73.0, 1_396.0),
    (Generation::G, -74.0, 1_330.0),
    (Generation::G, -76.0, 1_327.0),
];

#[test]
fn minstrel_carries_what_ns3s_carries_within_eight_percent() {
    let dsss = [1_000, 2_000, 5_500, 11_000].map(|kb_s| Rate::Dsss { kb_s });
    let ofdm = [6, 9, 12, 18, 24, 36, 48, 54].map(|Mb_s| Rate::Ofdm { Mb_s });
    let both = [&dsss[..], &ofdm[..]].concat();
    let mandatory = [&dsss[..], &[ofdm[0], ofdm[2], ofdm[4]]].concat();
    for (generation, signal_dBm, expected) in NS3 {
        let is_b = generation == Generation::B;
        let delivered = |seed| {
            let network = Network {
                timing: Timing::dcf(generation, Band::Ghz2_4, Some(20), is_b),
                rates: if is_b { &dsss } else { &both },
                basic: if is_b { &dsss } else { &mandatory },
                rate_control: RateControl::Minstrel,
                retry_limit: 255,
                duration_ns: Some(10_000_000_000),
                seed,
                ..Network::default()
            };
            let mut nodes = [Node::new(None), Node::new(Some(signal_dBm))];
            simulate(&network, &mut nodes).unwrap().delivered as f64 / 10.0
        };
        let ours = (1..=8).map(delivered).sum::<f64>() / 8.0;
        let ratio = ours / expected;
        assert!((ratio - 1.0).abs() < 0.08, "{generation:?} at {signal_dBm} dBm: {ours} for {expected}, {ratio}");
    }
}
