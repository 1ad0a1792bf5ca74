//! Ends whose states are put back from a copy, at drawn moments, while somebody who recorded everything replays it.

use std::path::PathBuf;

use wattlock_engine::SplitMix64;
use wattlock_tally::{ANSWER_B, nonce_of};

use super::super::numbers::{Numbers, Side};
use super::*;

const MOMENTS: u64 = 200;
const SIDES: [Side; 2] = [Side::Sensor, Side::Gateway];

/// Both ends, whose numbers lie on the disk, and all that was on the air.
struct Recorded {
    folder: tempfile::TempDir,
    random: SplitMix64,
    sensor: Option<SensorEnd<Numbers>>,
    gateway: Option<GatewayEnd<Numbers>>,
    up: Vec<Vec<u8>>,
    down: Vec<Vec<u8>>,
    /// The sensor's root, by both nonces, and all numbers that it sealed below each.
    root: (String, String),
    sealed: BTreeMap<((String, String), u32), u32>,
    verified: BTreeMap<String, u32>,
    messages: u64,
    /// Whether each opening is answered first by all answers that were recorded.
    is_attacked: bool,
}

impl Recorded {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for side in SIDES {
            drop(Numbers::open(&path(&folder, side), side, &pair(), true).unwrap());
        }
        let (up, down, root) = (Vec::new(), Vec::new(), Default::default());
        let (sealed, verified, random) = (BTreeMap::new(), BTreeMap::new(), SplitMix64::new(seed));
        let (sensor, gateway, messages, is_attacked) = (None, None, 0, false);
        let mut link =
            Self { folder, random, sensor, gateway, up, down, root, sealed, verified, messages, is_attacked };
        SIDES.into_iter().for_each(|side| link.start(side));
        link
    }

    /// Starts an end, which loses all but what is on the disk.
    fn start(&mut self, side: Side) {
        let (path, parameters) = (path(&self.folder, side), Parameters::new(Hint::Octet).report_every(4).unwrap());
        let open = || Numbers::open(&path, side, &pair(), false).unwrap();
        if side == Side::Sensor {
            self.sensor = None;
            self.sensor = Some(SensorEnd::new(pair(), parameters, open()).unwrap());
        } else {
            self.gateway = None;
            self.gateway = Some(GatewayEnd::new(pair(), parameters, open()));
        }
    }

    fn is_lost(&mut self) -> bool {
        self.random.below(10) == 0
    }

    /// A datagram at the gateway, whoever sent it; gives what it says.
    fn at_gateway(&mut self, datagram: &[u8]) -> Option<Vec<u8>> {
        let (end, mut lines, mut frame) = (self.gateway.as_mut().unwrap(), Vec::new(), [0; MOST_FRAME_B]);
        let said = match end.hear(datagram, &mut lines).unwrap() {
            Heard::Opening(answer) => Some(answer.to_vec()),
            _ => end.speak(&mut frame, &mut lines).unwrap().map(|frame_B| frame[..frame_B].to_vec()),
        };
        for line in lines {
            if let TallyLine::Verified { payload, .. } = line {
                *self.verified.entry(payload).or_default() += 1;
            }
        }
        self.down.extend(said.clone());
        said
    }

    fn at_sensor(&mut self, datagram: &[u8]) {
        if let TallyLine::Root { of_sensor, of_gateway } = self.sensor.as_mut().unwrap().hear(datagram) {
            self.root = (of_sensor, of_gateway);
        }
    }

    fn say_up(&mut self, datagram: &[u8]) {
        self.up.push(datagram.to_vec());
        if !self.is_lost()
            && let Some(said) = self.at_gateway(datagram)
            && !self.is_lost()
        {
            self.at_sensor(&said);
        }
    }

    fn message(&mut self) {
        let mut frame = [0; MOST_FRAME_B];
        self.messages += 1;
        for _ in 0..1000 {
            if let Some((opening, _)) = self.sensor.as_mut().unwrap().opening().unwrap() {
                if self.is_attacked {
                    self.down.clone().iter().for_each(|datagram| self.at_sensor(datagram));
                }
                self.say_up(&opening);
            }
            if let Some(frame_B) = self.sensor.as_mut().unwrap().rescue(&mut frame).unwrap() {
                self.say_up(&frame[..frame_B]);
            }
            let payload = payload(self.messages, 16);
            if let Some(sealed) = self.sensor.as_mut().unwrap().seal(&payload, &mut frame).unwrap() {
                *self.sealed.entry((self.root.clone(), sealed.counter)).or_default() += 1;
                return self.say_up(&frame[..sealed.length_B]);
            }
        }
        panic!("the link does not come back");
    }

    fn run(&mut self, most: u32) {
        (0..=self.random.below(most)).for_each(|_| self.message());
    }

    /// What the sensor said from this datagram on comes to the gateway again: openings in the order in which its numbers
    /// answered them, and the records behind each.
    fn replay(&mut self, from: usize) {
        let said = self.up.clone();
        for datagram in &said[from..] {
            self.at_gateway(datagram);
        }
    }

    fn numbers_said(&self) -> BTreeMap<(bool, u32), BTreeSet<Vec<u8>>> {
        let mut said = BTreeMap::<_, BTreeSet<_>>::new();
        for (of_sensor, datagram) in
            self.up.iter().map(|one| (true, one)).chain(self.down.iter().map(|one| (false, one)))
        {
            if let Some(nonce) = nonce_of(datagram).filter(|_| of_sensor || datagram.len() == ANSWER_B) {
                said.entry((of_sensor, nonce.number)).or_default().insert(nonce.octets().to_vec());
            }
        }
        said
    }
}

fn path(folder: &tempfile::TempDir, side: Side) -> PathBuf {
    folder.path().join(if side == Side::Sensor { "sensor" } else { "gateway" })
}

/// How often something came that may come once.
fn too_often<K>(counts: &BTreeMap<K, u32>) -> u32 {
    counts.values().map(|count| count - 1).sum()
}

/// A link of which these ends are put back, before their last start or before earlier ones.
fn restored(seed: u64, which: &[Side]) -> Recorded {
    let mut link = Recorded::new(seed);
    link.run(12);
    for _ in 0..link.random.below(3) {
        let side = SIDES[link.random.below(2) as usize];
        link.start(side);
        link.run(8);
    }
    let since = link.up.len();
    let copies = SIDES.map(|side| std::fs::read(path(&link.folder, side)).unwrap());
    for _ in 0..=link.random.below(2) {
        if which.contains(&Side::Gateway) {
            link.start(Side::Gateway);
        }
        // A gateway gives no number before a sensor opens.
        link.start(Side::Sensor);
        link.run(12);
    }
    for (side, copy) in SIDES.into_iter().zip(copies).filter(|(side, _)| which.contains(side)) {
        (link.sensor, link.gateway) = if side == Side::Sensor { (None, link.gateway) } else { (link.sensor, None) };
        std::fs::write(path(&link.folder, side), copy).unwrap();
        link.start(side);
    }
    link.is_attacked = link.random.below(2) == 0;
    if link.is_attacked {
        link.replay(since);
    }
    link.run(6);
    link.replay(0);
    link.start(Side::Sensor);
    (0..40).for_each(|_| link.message());
    link
}

#[test]
fn ends_restored_from_a_copy_at_200_moments_seal_no_number_twice_and_verify_nothing_twice() {
    // Half of each nonce is the system's random octets: each number that comes again may repeat a nonce with 2^-32.
    let (mut sealed, mut verified, mut again) = ([0; 3], [0; 3], [0; 3]);
    for seed in 0..MOMENTS {
        let which = (seed % 3) as usize;
        let link = restored(seed, [&SIDES[..1], &SIDES[1..], &SIDES][which]);
        sealed[which] += too_often(&link.sealed);
        verified[which] += too_often(&link.verified);
        again[which] += link.numbers_said().values().filter(|nonces| nonces.len() > 1).count();
        let last = (0..20).map(|back| data_encoding::HEXLOWER.encode(&payload(link.messages - 20 - back, 16)));
        let came = last.filter(|payload| link.verified.contains_key(payload)).count();
        assert!(came >= 10, "seed {seed}: of 20 messages that followed {came} were verified");
    }
    println!(
        "sensor, gateway, both: {sealed:?} sealed again, {verified:?} verified again, {again:?} numbers given again"
    );
    assert_eq!((sealed, verified), ([0; 3], [0; 3]));
    assert!(again.iter().all(|numbers| *numbers >= 60), "{again:?}");
}
