//! The ends of tally under hostile datagrams: a conversation step by step, as nobody's changed bytes get past a tag.
#![forbid(unsafe_code)]
#![allow(
    non_snake_case,
    clippy::expect_used,
    clippy::panic,
    reason = "what is wrong is a panic; units are suffixes of names"
)]

mod seeds;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::mem::discriminant;

use data_encoding::HEXLOWER;
use wattlock_fuzz::Target;
use wattlock_tally::{Hint, Nonce, Pair, Parameters};
use wattlock_tally_program::records::TallyLine;
use wattlock_tally_program::{GatewayEnd, Heard, MOST_FRAME_B, MOST_PAYLOAD_B, Nonces, SensorEnd};

/// All there is.
pub const TARGETS: [Target; 2] =
    [("tally_gateway", tally_gateway, seeds::links), ("tally_sensor", tally_sensor, seeds::links)];

/// What a step does; its first octet is taken modulo [`STEPS`].
pub const HEAR: u8 = 0;
/// How: [`LOST`], [`CHANGED`] with the octet's place above.
pub const MESSAGE: u8 = 1;
/// How: as [`MESSAGE`].
pub const SPEAK: u8 = 2;
/// How: as [`MESSAGE`].
pub const OPEN: u8 = 3;
/// How: 1 for what the gateway said, and which above.
pub const REPLAY: u8 = 4;
/// How: 1 for the gateway; [`RESTORED`].
pub const RESTART: u8 = 5;
const STEPS: u8 = 6;

/// The frame does not arrive.
pub const LOST: u8 = 1;
/// One of its octets arrives as another.
pub const CHANGED: u8 = 2;
/// The end begins with its first number again, as from an old copy of its state.
pub const RESTORED: u8 = 2;

/// Lines that one datagram may bring: each message that is held may be told of a few times.
const MOST_LINES: usize = 256;

/// The number, and what stands for random octets: how many starts there were.
struct Counted(u32, u32);

impl Nonces for Counted {
    fn next(&mut self) -> io::Result<Nonce> {
        self.0 += 1;
        Ok(Nonce { number: self.0, random: self.1.to_be_bytes() })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Sensor,
    Gateway,
}

struct Link {
    sensor: SensorEnd<Counted>,
    gateway: GatewayEnd<Counted>,
    restarts: u32,
    /// What the sensor and what the gateway said.
    said: [Vec<Vec<u8>>; 2],
    /// How often a message was sent with a counter, less how often it was verified.
    open: HashMap<(u32, String), u32>,
    told: DefaultHasher,
}

/// Hears a conversation in which octets go to the gateway.
///
/// # Panics
/// Where a message is verified that was not sent, or more often than it was.
pub fn tally_gateway(bytes: &[u8]) -> u64 {
    conversation(bytes, End::Gateway)
}

/// Hears a conversation in which octets go to the sensor.
///
/// # Panics
/// As [`tally_gateway`].
pub fn tally_sensor(bytes: &[u8]) -> u64 {
    conversation(bytes, End::Sensor)
}

fn pair() -> Pair {
    Pair { secret: [0x21; 32], link: *b"test" }
}

fn parameters() -> Parameters {
    Parameters::new(Hint::Octet).report_every(2).expect("2 is in its range")
}

/// Numbers of an end's start: above all before, or the first again.
fn nonces(restarts: u32, how: u8) -> Counted {
    Counted(if how & RESTORED == 0 { restarts << 16 } else { 0 }, restarts)
}

fn sensor(nonces: Counted) -> SensorEnd<Counted> {
    SensorEnd::new(pair(), parameters(), nonces).expect("a counter gives numbers")
}

fn gateway(nonces: Counted) -> GatewayEnd<Counted> {
    GatewayEnd::new(pair(), parameters(), nonces)
}

fn conversation(mut bytes: &[u8], heard_by: End) -> u64 {
    let mut link = Link {
        sensor: sensor(nonces(0, 0)),
        gateway: gateway(nonces(0, 0)),
        restarts: 0,
        said: [Vec::new(), Vec::new()],
        open: HashMap::new(),
        told: DefaultHasher::new(),
    };
    while let Some(([what, how, low, high], rest)) = bytes.split_first_chunk() {
        let (body, rest) = rest.split_at(usize::from(u16::from_le_bytes([*low, *high])).min(rest.len()));
        bytes = rest;
        link.step(what % STEPS, *how, body, heard_by);
    }
    link.told.finish()
}

/// A datagram as it arrives.
fn carried(mut datagram: Vec<u8>, how: u8) -> Option<Vec<u8>> {
    if how & LOST != 0 {
        return None;
    }
    let place = usize::from(how >> 2);
    if how & CHANGED != 0
        && let Some(octet) = datagram.get_mut(place / 8)
    {
        *octet ^= 1 << (place % 8);
    }
    Some(datagram)
}

impl Link {
    fn step(&mut self, what: u8, how: u8, body: &[u8], heard_by: End) {
        match what {
            HEAR if heard_by == End::Gateway => self.up(body),
            HEAR => self.down(body),
            MESSAGE => self.message(how, &body[..body.len().min(MOST_PAYLOAD_B)]),
            SPEAK => {
                let (mut frame, mut lines) = ([0; MOST_FRAME_B], Vec::new());
                let spoken = self.gateway.speak(&mut frame, &mut lines).expect("the frame is long enough");
                self.tell(&lines);
                if let Some(frame_B) = spoken {
                    self.say_down(frame[..frame_B].to_vec(), how);
                }
            }
            OPEN => {
                if let Some((opening, _)) = self.sensor.opening().expect("a counter gives numbers") {
                    self.say_up(opening.to_vec(), how);
                }
            }
            REPLAY => {
                let said = &self.said[usize::from(how & 1)];
                if let Some(datagram) = said.get(usize::from(how >> 1) % said.len().max(1)).cloned() {
                    if how & 1 == 0 { self.up(&datagram) } else { self.down(&datagram) }
                }
            }
            _ => {
                self.restarts += 1;
                let nonces = nonces(self.restarts, how);
                if how & 1 == 0 {
                    self.sensor = sensor(nonces);
                } else {
                    self.gateway = gateway(nonces);
                }
            }
        }
    }

    fn message(&mut self, how: u8, payload: &[u8]) {
        let mut frame = [0; MOST_FRAME_B];
        if let Some(frame_B) = self.sensor.rescue(&mut frame).expect("the frame is long enough") {
            self.say_up(frame[..frame_B].to_vec(), 0);
        }
        let sealed = self.sensor.seal(payload, &mut frame).expect("the frame is long enough");
        if let Some(sealed) = sealed {
            *self.open.entry((sealed.counter, HEXLOWER.encode(payload))).or_default() += 1;
            self.say_up(frame[..sealed.length_B].to_vec(), how);
        }
    }

    fn say_up(&mut self, datagram: Vec<u8>, how: u8) {
        self.said[0].push(datagram.clone());
        if let Some(datagram) = carried(datagram, how) {
            self.up(&datagram);
        }
    }

    fn say_down(&mut self, datagram: Vec<u8>, how: u8) {
        self.said[1].push(datagram.clone());
        if let Some(datagram) = carried(datagram, how) {
            self.down(&datagram);
        }
    }

    fn up(&mut self, datagram: &[u8]) {
        let mut lines = Vec::new();
        let heard = self.gateway.hear(datagram, &mut lines).expect("a counter gives numbers");
        self.tell(&lines);
        if let Heard::Opening(answer) = heard {
            self.say_down(answer.to_vec(), 0);
        }
    }

    fn down(&mut self, datagram: &[u8]) {
        let line = self.sensor.hear(datagram);
        self.tell(&[line]);
    }

    fn tell(&mut self, lines: &[TallyLine]) {
        assert!(lines.len() <= MOST_LINES, "{} lines", lines.len());
        for line in lines {
            discriminant(line).hash(&mut self.told);
            if let TallyLine::Verified { counter, payload, .. } = line {
                let open = self.open.get_mut(&(*counter, payload.clone())).filter(|open| **open > 0);
                *open.expect("what is verified was sent, and as often") -= 1;
            }
        }
    }
}
