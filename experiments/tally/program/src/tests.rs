//! Both ends with a bad link between them, without sockets: alike each time.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use wattlock_tally::{Hint, Nonce, OPENINGS, Pair, Parameters, RESUME_AFTER};

use super::datagrams::receive;
use super::proxy::{Path, Rules};
use super::records::{Downlink, Lost, TallyLine, Way};
use super::trace::payload;
use super::*;

mod restored;

const RULES: Rules = Rules { loss: 0.1, burst: None, duplicate: 0.0, reorder: 0.0, seed: 1 };
/// Messages behind those that are counted, by which these are verified.
const LAST: u64 = 100;

struct Counted(u32);

impl Nonces for Counted {
    fn next(&mut self) -> io::Result<Nonce> {
        self.0 += 1;
        Ok(Nonce { number: self.0, random: [0xa5; 4] })
    }
}

fn pair() -> Pair {
    Pair { secret: [0x21; 32], link: *b"test" }
}

fn gateway(nonce: u32) -> GatewayEnd<Counted> {
    GatewayEnd::new(pair(), Parameters::new(Hint::Octet), Counted(nonce))
}

fn sensor(nonce: u32) -> SensorEnd<Counted> {
    SensorEnd::new(pair(), Parameters::new(Hint::Octet), Counted(nonce)).unwrap()
}

/// Two ends, the ways between them, and what both told.
struct Link {
    sensor: SensorEnd<Counted>,
    gateway: GatewayEnd<Counted>,
    up: Path,
    down: Path,
    heard: Vec<TallyLine>,
    told: Vec<TallyLine>,
    sent: Vec<(u32, Vec<u8>)>,
}

impl Link {
    fn new(rules: Rules) -> Self {
        let (up, down) = (Path::new(rules, Way::Up), Path::new(rules, Way::Down));
        Self { sensor: sensor(0), gateway: gateway(0), up, down, heard: Vec::new(), told: Vec::new(), sent: Vec::new() }
    }

    fn say_up(&mut self, datagram: &[u8]) {
        for octets in self.up.pass(datagram).2 {
            let mut frame = [0; MOST_FRAME_B];
            let answer = match self.gateway.hear(&octets, &mut self.told).unwrap() {
                Heard::Opening(answer) => Some(answer.to_vec()),
                _ => self.gateway.speak(&mut frame, &mut self.told).unwrap().map(|frame_B| frame[..frame_B].to_vec()),
            };
            for octets in answer.into_iter().flat_map(|answer| self.down.pass(&answer).2) {
                self.heard.push(self.sensor.hear(&octets));
            }
        }
    }

    fn message(&mut self, number: u64) {
        let mut frame = [0; MOST_FRAME_B];
        let sealed = loop {
            if let Some((opening, _)) = self.sensor.opening().unwrap() {
                self.say_up(&opening);
            }
            if let Some(frame_B) = self.sensor.rescue(&mut frame).unwrap() {
                self.say_up(&frame[..frame_B]);
            }
            if let Some(sealed) = self.sensor.seal(&payload(number, 16), &mut frame).unwrap() {
                break sealed;
            }
        };
        self.sent.push((sealed.counter, payload(number, 16)));
        self.say_up(&frame[..sealed.length_B]);
    }

    fn run(rules: Rules, messages: u64) -> Self {
        let mut link = Self::new(rules);
        (0..messages + LAST).for_each(|number| link.message(number));
        link
    }

    /// Of the first so many messages those that came, and those that were verified.
    fn outcome(&self, messages: u64) -> (BTreeSet<u32>, BTreeMap<u32, String>) {
        let first = |counter: &u32| u64::from(*counter) < messages;
        let (mut came, mut verified) = (BTreeSet::new(), BTreeMap::new());
        for line in &self.told {
            match line {
                TallyLine::Received { counter, .. } if first(counter) => assert!(came.insert(*counter), "{counter}"),
                TallyLine::Verified { counter, payload, .. } if first(counter) => {
                    assert_eq!(verified.insert(*counter, payload.clone()), None);
                }
                _ => {}
            }
        }
        (came, verified)
    }
}

/// The numbers of both nonces of each root.
fn roots(lines: &[TallyLine]) -> Vec<(u32, u32)> {
    let number = |nonce: &str| u32::from_str_radix(nonce.strip_suffix("a5a5a5a5").unwrap(), 16).unwrap();
    let root = |line: &TallyLine| match line {
        TallyLine::Root { of_sensor, of_gateway } => Some((number(of_sensor), number(of_gateway))),
        _ => None,
    };
    lines.iter().filter_map(root).collect()
}

#[test]
fn of_a_thousand_messages_all_that_came_are_verified_at_10_percent_loss_and_99_percent_at_30() {
    let worse = Rules { duplicate: 0.05, reorder: 0.05, ..RULES };
    for (rules, least) in [
        (RULES, 1.0),
        (worse, 1.0),
        (Rules { burst: Some(4.0), ..RULES }, 1.0),
        (Rules { loss: 0.3, ..RULES }, 0.99),
        (Rules { loss: 0.3, ..worse }, 0.99),
    ] {
        let mut lowest: f64 = 1.0;
        for seed in 0..10 {
            let link = Link::run(Rules { seed, ..rules }, 1000);
            let (came, verified) = link.outcome(1000);
            assert_eq!(roots(&link.heard).len(), 1);
            let sent: BTreeMap<u32, String> = link
                .sent
                .iter()
                .map(|(counter, payload)| (*counter, data_encoding::HEXLOWER.encode(payload)))
                .collect();
            assert!(verified.iter().all(|(counter, payload)| sent[counter] == *payload));
            let share = verified.len() as f64 / came.len() as f64;
            assert!(came.len() > 600 && share >= least, "{rules:?}, seed {seed}: {share}");
            lowest = lowest.min(share);
        }
        println!("{rules:?}: {lowest} of those that came, or more");
    }
}

#[test]
fn what_both_ends_tell_is_alike_for_a_seed() {
    let rules = Rules { loss: 0.2, burst: Some(3.0), duplicate: 0.1, reorder: 0.1, seed: 5 };
    let (first, second) = (Link::run(rules, 300), Link::run(rules, 300));
    assert_eq!((&first.told, &first.heard), (&second.told, &second.heard));
    assert_ne!(first.told, Link::run(Rules { seed: 6, ..rules }, 300).told);
}

#[test]
fn a_gateway_that_lost_its_state_is_found_and_the_messages_go_on_below_a_new_root() {
    let mut link = Link::run(Rules { loss: 0.0, ..RULES }, 50);
    link.gateway = gateway(1);
    link.told.clear();
    let gap = u64::from(RESUME_AFTER);
    (0..gap + 80).for_each(|number| link.message(number));
    assert_eq!(roots(&link.told), [(2, 2)]);
    assert!(link.outcome(20).1.len() == 20);
}

#[test]
fn a_sensor_that_lost_its_state_leaves_no_message_without_a_word() {
    let mut link = Link::run(Rules { loss: 0.0, ..RULES }, 50);
    link.sensor = sensor(1);
    link.message(0);
    assert_eq!(roots(&link.told), [(1, 1), (2, 2)]);
    let count = |wanted: fn(&TallyLine) -> bool| link.told.iter().filter(|line| wanted(line)).count();
    let came = count(|line| matches!(line, TallyLine::Received { .. }));
    let verified = count(|line| matches!(line, TallyLine::Verified { .. }));
    let replaced = count(|line| matches!(line, TallyLine::Lost { fate: Lost::RootReplaced, .. }));
    assert!(replaced > 0, "{replaced}");
    assert_eq!(came, verified + replaced);
}

#[test]
fn a_repeated_opening_gets_the_same_answer_and_an_older_one_none() {
    let (mut gateway, mut lines) = (gateway(0), Vec::new());
    let [old, new] = [3, 4].map(|nonce| sensor(nonce).opening().unwrap().unwrap().0);
    let Heard::Opening(of_old) = gateway.hear(&old, &mut lines).unwrap() else { panic!("no answer") };
    let Heard::Opening(of_new) = gateway.hear(&new, &mut lines).unwrap() else { panic!("no answer") };
    assert_ne!(of_old, of_new);
    assert_eq!(gateway.hear(&new, &mut lines).unwrap(), Heard::Opening(of_new));
    assert_eq!(gateway.hear(&old, &mut lines).unwrap(), Heard::Refused);
    let mut forged = sensor(9).opening().unwrap().unwrap().0;
    forged[19] ^= 1;
    assert_eq!(gateway.hear(&forged, &mut lines).unwrap(), Heard::Refused);
    assert_eq!(roots(&lines), [(4, 1), (5, 2)]);
}

#[test]
fn an_opening_below_a_root_that_was_confirmed_gets_no_answer_and_is_no_sign_of_a_fork() {
    let mut link = Link::run(Rules { loss: 0.0, ..RULES }, 0);
    let repeated = sensor(0).opening().unwrap().unwrap().0;
    for _ in 0..8 {
        assert_eq!(link.gateway.hear(&repeated, &mut link.told).unwrap(), Heard::Refused);
    }
    link.message(0);
    assert_eq!(roots(&link.told), [(1, 1)]);
    assert!(!link.told.iter().any(|line| matches!(line, TallyLine::Downlink { what: Downlink::Request, .. })));
}

#[test]
fn a_sensor_that_is_not_answered_takes_the_next_number() {
    let mut end = sensor(0);
    let of_sensor = |line: TallyLine| if let TallyLine::Opening { of_sensor } = line { of_sensor } else { panic!() };
    let told: Vec<_> = (0..2 * OPENINGS).map(|_| of_sensor(end.opening().unwrap().unwrap().1)).collect();
    let [first, second] = ["00000001a5a5a5a5", "00000002a5a5a5a5"].map(|nonce| [nonce; OPENINGS as usize]);
    assert_eq!(told, [first, second].concat());
}

#[test]
fn messages_go_on_while_no_downlink_comes() {
    let mut link = Link::run(Rules { loss: 0.0, ..RULES }, 10);
    link.down = Path::new(Rules { loss: 1.0, ..RULES }, Way::Down);
    let before = link.sent.len();
    (0..2000).for_each(|number| link.message(number));
    assert_eq!(link.sent.len(), before + 2000);
    let came = link.told.iter().filter(|line| matches!(line, TallyLine::Received { .. })).count();
    assert_eq!(came, link.sent.len());
}

#[test]
fn a_fork_ends_by_a_rescue() {
    let mut link = Link::run(Rules { loss: 0.0, ..RULES }, 20);
    for _ in 0..4 {
        assert_eq!(link.gateway.hear(&[0; 30], &mut link.told).unwrap(), Heard::Refused);
    }
    let mut frame = [0; MOST_FRAME_B];
    let frame_B = link.gateway.speak(&mut frame, &mut link.told).unwrap().unwrap();
    let line = link.sensor.hear(&frame[..frame_B]);
    assert!(matches!(line, TallyLine::Downlink { what: Downlink::Request, .. }), "{line:?}");
    link.message(0);
    assert!(link.told.contains(&TallyLine::Rescued { number: 1 }));
}

#[test]
fn of_many_refused_datagrams_the_gateway_tells_a_line_a_second() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let other = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..50 {
        other.send_to(&[0; 30], socket.local_addr().unwrap()).unwrap();
    }
    let mut refused = 0;
    let mut tell = |line: &TallyLine| {
        refused += u32::from(matches!(line, TallyLine::Refused { .. }));
        Ok(())
    };
    receive(&socket, &mut gateway(1), Duration::from_millis(400), &mut tell).unwrap();
    assert_eq!(refused, 1);
}
