//! Two ends of a link, and what they say to one another over UDP.

use std::collections::HashSet;
use std::io::{self, BufRead as _};
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// So long an end waits for an answer before it says its flight again, where the library has no clock of its own.
pub const AGAIN: Duration = Duration::from_millis(300);
/// A handshake that takes longer failed.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// Time from a message to the next.
const INTERVAL: Duration = Duration::from_millis(2);
/// After the last message nothing came for so long: all is there.
const QUIET: Duration = Duration::from_millis(300);
/// So often it is looked for datagrams.
const GLANCE: Duration = Duration::from_micros(100);
const MOST_B: usize = 2048;

/// What an end says: to the other end, and to its application.
#[derive(Default)]
pub struct Said {
    pub datagrams: Vec<Vec<u8>>,
    pub messages: Vec<Vec<u8>>,
}

/// One end, without sockets.
pub trait End {
    /// Whether messages can be sent.
    fn ready(&self) -> bool;
    /// What time brings: the first flight, and flights said again.
    fn tick(&mut self, said: &mut Said) -> Result<(), Fault>;
    /// Takes a datagram.
    fn hear(&mut self, datagram: &[u8], said: &mut Said) -> Result<(), Fault>;
    /// Seals a message.
    fn send(&mut self, payload: &[u8], said: &mut Said) -> Result<(), Fault>;
}

/// The messages that the sensor sends.
pub struct Talk {
    messages: Vec<Vec<u8>>,
}

impl Talk {
    pub fn new(messages: Vec<Vec<u8>>) -> Self {
        Self { messages }
    }

    pub fn messages(&self) -> &[Vec<u8>] {
        &self.messages
    }

    /// A handshake, then all messages.
    pub fn over_udp(&self, sensor: &mut dyn End, gateway: &mut dyn End) -> Result<(), Fault> {
        let mut wire = Wire::open()?;
        wire.shake(sensor, gateway)?;
        let mut sent = Vec::new();
        for payload in &self.messages {
            let mut said = Said::default();
            sensor.send(payload, &mut said)?;
            sent.push(said.datagrams.iter().map(Vec::len).sum());
            wire.say("message", true, &said.datagrams)?;
            wire.listen(sensor, gateway, INTERVAL)?;
        }
        while wire.listen(sensor, gateway, QUIET)? {}
        tell_messages(&self.messages, &sent, &wire.delivered);
        Ok(())
    }

    /// A handshake alone.
    pub fn handshake_over_udp(&self, sensor: &mut dyn End, gateway: &mut dyn End) -> Result<(), Fault> {
        Wire::open()?.shake(sensor, gateway)
    }
}

/// A line for each message: `udp_B` of octets that carried it, and whether it came out at the other end as it was.
pub fn tell_messages(messages: &[Vec<u8>], sent: &[usize], delivered: &[Vec<u8>]) {
    let delivered: HashSet<&Vec<u8>> = delivered.iter().collect();
    for (number, (payload, wire_B)) in messages.iter().zip(sent).enumerate() {
        let verified = delivered.contains(payload);
        let payload_B = payload.len();
        println!(
            "{}",
            json!({"kind": "message", "number": number, "payload_B": payload_B, "wire_B": wire_B, "verified": verified})
        );
    }
}

/// A line for what went out of an end; `of`: handshake, message, or upkeep, which is what libraries say by themselves.
pub fn tell_datagram(of: &str, up: bool, octets_B: usize) {
    let way = if up { "up" } else { "down" };
    println!("{}", json!({"kind": "sent", "of": of, "way": way, "octets_B": octets_B}));
}

/// Says where the gateway listens; gives where the sensor is to send.
pub fn target(listening: SocketAddr) -> Result<SocketAddr, Fault> {
    println!("{}", json!({"kind": "listening", "address": listening.to_string()}));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().parse().map_err(|_| format!("standard input: \"{}\" is no address with a port", line.trim()))?)
}

struct Wire {
    sensor: UdpSocket,
    gateway: UdpSocket,
    /// Who spoke last to the gateway.
    from: Option<SocketAddr>,
    delivered: Vec<Vec<u8>>,
    of: &'static str,
}

impl Wire {
    fn open() -> Result<Self, Fault> {
        let (sensor, gateway) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
        sensor.connect(target(gateway.local_addr()?)?)?;
        for socket in [&sensor, &gateway] {
            socket.set_nonblocking(true)?;
        }
        Ok(Self { sensor, gateway, from: None, delivered: Vec::new(), of: "handshake" })
    }

    fn shake(&mut self, sensor: &mut dyn End, gateway: &mut dyn End) -> Result<(), Fault> {
        let begin = Instant::now();
        while !(sensor.ready() && gateway.ready()) {
            self.listen(sensor, gateway, GLANCE)?;
            if begin.elapsed() > PATIENCE {
                return Err(format!("no handshake in {} s", PATIENCE.as_secs()).into());
            }
        }
        // What is still under way belongs to it, as an acknowledgement of its last flight.
        self.listen(sensor, gateway, AGAIN)?;
        self.of = "upkeep";
        Ok(())
    }

    /// Passes datagrams to both ends for so long; whether any came.
    fn listen(&mut self, sensor: &mut dyn End, gateway: &mut dyn End, wait: Duration) -> Result<bool, Fault> {
        let (until, mut any) = (Instant::now() + wait, false);
        while Instant::now() < until {
            let came = self.serve(true, sensor)? | self.serve(false, gateway)?;
            any |= came;
            if !came {
                thread::sleep(GLANCE);
            }
        }
        Ok(any)
    }

    /// Passes time and one datagram to an end; whether one came.
    fn serve(&mut self, is_sensor: bool, end: &mut dyn End) -> Result<bool, Fault> {
        let mut said = Said::default();
        end.tick(&mut said)?;
        let datagram = self.next(is_sensor)?;
        if let Some(datagram) = &datagram {
            end.hear(datagram, &mut said)?;
        }
        self.say(self.of, is_sensor, &said.datagrams)?;
        if !is_sensor {
            self.delivered.append(&mut said.messages);
        }
        Ok(datagram.is_some())
    }

    /// The next datagram that came to the sensor or to the gateway.
    fn next(&mut self, at_sensor: bool) -> Result<Option<Vec<u8>>, Fault> {
        use io::ErrorKind::{ConnectionRefused, Interrupted, WouldBlock};
        let mut datagram = [0; MOST_B];
        let socket = if at_sensor { &self.sensor } else { &self.gateway };
        match socket.recv_from(&mut datagram) {
            Ok((length_B, from)) => {
                if !at_sensor {
                    self.from = Some(from);
                }
                Ok(Some(datagram[..length_B].to_vec()))
            }
            Err(error) if matches!(error.kind(), ConnectionRefused | Interrupted | WouldBlock) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn say(&self, of: &str, up: bool, datagrams: &[Vec<u8>]) -> Result<(), Fault> {
        for octets in datagrams {
            tell_datagram(of, up, octets.len());
            if up {
                self.sensor.send(octets)?;
            } else {
                let to = self.from.ok_or("the gateway spoke first")?;
                self.gateway.send_to(octets, to)?;
            }
        }
        Ok(())
    }
}
