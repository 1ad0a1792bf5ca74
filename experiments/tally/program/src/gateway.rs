//! The gateway's end: answers openings, hears records, tells what becomes of each message, speaks.

use std::io;

use data_encoding::HEXLOWER;
use wattlock_tally::{
    ANSWER_B, Answered, Error, Fate, Gateway, Heard as Frame, Kind, Pair, Parameters, REPORT_B, link_of, nonce_of,
};

use super::nonces::Nonces;
use super::records::{Downlink, Lost, TallyLine};
use super::sensor::{told, unexpected};

/// The longest message, in octets.
pub const MOST_PAYLOAD_B: usize = 1024;
/// The most octets of a datagram of either end: hint, message, whole tag.
pub const MOST_FRAME_B: usize = 1 + MOST_PAYLOAD_B + 16;
/// Messages that are held until they are verified, as `docs/specification.md` has it.
const HELD: usize = 64;

/// What a datagram was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// An opening: this is the answer.
    Opening([u8; ANSWER_B]),
    /// A record of the sensor.
    Record,
    /// Nothing that opens.
    Refused,
}

/// The gateway below one root.
struct Below {
    gateway: Box<Gateway<HELD, MOST_PAYLOAD_B>>,
    /// Counter and bits of the provisional messages that were told.
    told: Vec<(u32, u32)>,
}

/// The gateway's end of one pair.
///
/// An opening can be replayed. So a root replaces the one in use once a record with a whole tag opened below it, and an
/// opening whose number is not above the newest is refused, but for the newest itself while its root is not in use.
pub struct GatewayEnd<N> {
    pair: Pair,
    parameters: Parameters,
    nonces: N,
    answered: Answered,
    current: Option<Below>,
    pending: Option<Below>,
}

impl<N: Nonces> GatewayEnd<N> {
    /// Without a root: the sensor's opening makes one.
    pub fn new(pair: Pair, parameters: Parameters, nonces: N) -> Self {
        Self { pair, parameters, nonces, answered: Answered::default(), current: None, pending: None }
    }

    /// Hears a datagram, and adds to `lines` what became of it and of the messages that are held.
    ///
    /// # Errors
    /// Where there is no nonce to answer an opening with.
    pub fn hear(&mut self, datagram: &[u8], lines: &mut Vec<TallyLine>) -> io::Result<Heard> {
        if link_of(datagram) == Some(self.pair.link) {
            match self.answered.due(&self.pair, datagram) {
                Ok(before) => {
                    let answer = before.map_or_else(|| self.resume(datagram, lines), Ok)?;
                    return Ok(Heard::Opening(answer));
                }
                Err(why @ Error::Replayed) => {
                    lines.push(TallyLine::Refused { frame_B: datagram.len(), why: why.to_string() });
                    return Ok(Heard::Refused);
                }
                // Then it is a record that begins like the link.
                Err(_) => {}
            }
        }
        let mut why = Error::Unexpected;
        if let Some(mut below) = self.pending.take() {
            match below.gateway.hear(datagram, None) {
                Ok(heard) => {
                    self.answered.confirm();
                    if let Some(mut old) = self.current.take() {
                        old.give_up(lines);
                    }
                    self.current.insert(below).tell(heard, lines);
                    return Ok(Heard::Record);
                }
                Err(error) => (self.pending, why) = (Some(below), error),
            }
        }
        if let Some(below) = &mut self.current {
            match below.gateway.hear(datagram, None) {
                Ok(heard) => {
                    below.tell(heard, lines);
                    return Ok(Heard::Record);
                }
                Err(error) => why = error,
            }
        }
        lines.push(TallyLine::Refused { frame_B: datagram.len(), why: why.to_string() });
        Ok(Heard::Refused)
    }

    /// Writes what is due to the sensor into `frame`, and returns its octets.
    ///
    /// # Errors
    /// A frame that is too small.
    pub fn speak(&mut self, frame: &mut [u8], lines: &mut Vec<TallyLine>) -> io::Result<Option<usize>> {
        let Some(below) = &mut self.current else { return Ok(None) };
        let spoken = below.gateway.speak(frame).map_err(unexpected)?;
        if let Some(frame_B) = spoken {
            let what = if frame_B == REPORT_B { Downlink::Report } else { Downlink::Request };
            lines.push(TallyLine::Downlink { what, generation: below.gateway.generation(), frame_B });
        }
        below.settle(lines);
        Ok(spoken)
    }

    /// A new root, and the answer that leads the sensor to it.
    fn resume(&mut self, opening: &[u8], lines: &mut Vec<TallyLine>) -> io::Result<[u8; ANSWER_B]> {
        let of_gateway = self.nonces.next()?;
        let (root, answer) = self.answered.answer(&self.pair, opening, of_gateway).map_err(unexpected)?;
        let gateway = Box::new(Gateway::new(root, self.parameters));
        self.pending = Some(Below { gateway, told: Vec::new() });
        let of_sensor = nonce_of(opening).map_or_else(String::new, told);
        lines.push(TallyLine::Root { of_sensor, of_gateway: told(of_gateway) });
        Ok(answer)
    }
}

impl Below {
    /// Tells of a record that opened.
    fn tell(&mut self, heard: Frame, lines: &mut Vec<TallyLine>) {
        let counter = heard.counter;
        lines.push(match heard.kind {
            Kind::Rescue => TallyLine::Rescued { number: counter },
            kind => TallyLine::Received { counter, tag: kind.into() },
        });
        if let Some((counter, _)) = heard.pushed_out {
            lines.push(TallyLine::Lost { counter, fate: Lost::Expired });
        }
        self.settle(lines);
    }

    /// Tells of messages that are settled, and of those that gained bits.
    fn settle(&mut self, lines: &mut Vec<TallyLine>) {
        while let Some(message) = self.gateway.receive() {
            let (counter, payload) = (message.counter(), HEXLOWER.encode(message.payload()));
            lines.push(TallyLine::Verified { counter, bits: message.bits, payload });
        }
        while let Some((counter, fate)) = self.gateway.lost() {
            let fate = match fate {
                Fate::Doubted => Lost::Doubted,
                Fate::Refuted => Lost::Refuted,
                Fate::Expired => Lost::Expired,
            };
            lines.push(TallyLine::Lost { counter, fate });
        }
        let mut provisional: Vec<_> = self.gateway.provisional().map(|one| (one.counter, one.bits)).collect();
        provisional.sort_unstable();
        let gained = provisional.iter().filter(|one| !self.told.contains(one));
        lines.extend(gained.map(|(counter, bits)| TallyLine::Provisional { counter: *counter, bits: *bits }));
        self.told = provisional;
    }

    /// Tells that what is held will not be verified any more.
    fn give_up(&mut self, lines: &mut Vec<TallyLine>) {
        self.settle(lines);
        lines.extend(
            self.told.iter().map(|(counter, _)| TallyLine::Lost { counter: *counter, fate: Lost::RootReplaced }),
        );
    }
}
