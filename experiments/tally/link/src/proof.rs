//! The proof of both ends before anything of them is timed or counted, and what is timed: the ends of a link that runs.

use core::array;
use core::fmt;
use core::str::Lines;

use crate::error::Error;
use crate::gateway::Gateway;
use crate::keys::{Pair, SECRET_B};
use crate::parameters::{Hint, Parameters};
use crate::resume::{Answered, Resuming};
use crate::sealing::TAG_B;
use crate::sensor::{Protection, Sensor};

/// The longest payload that a gateway of the usual size holds.
pub const MOST_PAYLOAD_B: usize = 64;
/// The longest record of such a payload, with the hint of one octet that is measured.
pub const MOST_RECORD_B: usize = 1 + MOST_PAYLOAD_B + TAG_B;

/// Messages from one report to the next where nothing else is set.
const REPORT_EVERY: u32 = 16;

static VECTORS: &str = include_str!("../vectors/tally1.txt");

/// Why the ends are not proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unproven {
    /// A frame of the session is refused.
    Refused(Error),
    /// Not the frame or the message that this step of the vectors has, the first being 1.
    Differs(usize),
}

impl From<Error> for Unproven {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Differs(step) => write!(f, "step {step} of the test vectors of tally differs"),
        }
    }
}

impl core::error::Error for Unproven {}

/// Proves both ends by the session of `docs/specification.md`, "Test vectors", frame by frame.
///
/// # Errors
/// The first step that differs.
pub fn prove() -> Result<(), Unproven> {
    session(VECTORS)
}

/// 14 messages with a report in 4, four frames of noise, the rescue that they cause, 6 messages more.
fn session(vectors: &str) -> Result<(), Unproven> {
    let mut vectors = Vectors { lines: vectors.lines(), step: 0 };
    let pair = Pair { secret: array::from_fn(|place| place.to_le_bytes()[0]), link: *b"roof" };
    let (resuming, opening) = Resuming::begin(pair.clone(), [1; 8].into());
    vectors.hold("opening", &opening)?;
    let (root, flight) = Answered::default().answer(&pair, &opening, [2; 8].into())?;
    vectors.hold("answer", &flight)?;
    let parameters = Parameters::new(Hint::Octet).report_every(4)?;
    let mut gateway: Gateway = Gateway::new(root, parameters);
    let mut sensor = Sensor::new(resuming.finish(&flight)?, parameters);
    let mut frame = [0; MOST_RECORD_B];
    for number in 0..20 {
        if number == 14 {
            for _ in 0..4 {
                if gateway.hear(&[14; 9], None).is_ok() {
                    return Err(vectors.differs());
                }
            }
            vectors.hear_what_is_said(&mut gateway, &mut sensor, &mut frame)?;
            let length_B = sensor.rescue(&mut frame)?.unwrap_or(0);
            vectors.hold("rescue", &frame[..length_B])?;
            gateway.hear(&frame[..length_B], None)?;
        }
        let protection = if number == 7 { Protection::Whole } else { Protection::Short };
        let sealed = sensor.seal(&[0x21, 0x05, number], protection, &mut frame)?;
        vectors.hold("up", &frame[..sealed.length_B])?;
        gateway.hear(&frame[..sealed.length_B], None)?;
        while let Some(message) = gateway.receive() {
            vectors.hold_verified(message.counter(), message.bits)?;
        }
        vectors.hear_what_is_said(&mut gateway, &mut sensor, &mut frame)?;
    }
    if vectors.next().is_none() { Ok(()) } else { Err(vectors.differs()) }
}

/// The steps of the vectors that are to come.
struct Vectors<'v> {
    lines: Lines<'v>,
    step: usize,
}

impl<'v> Vectors<'v> {
    fn next(&mut self) -> Option<(&'v str, &'v str)> {
        self.step += 1;
        self.lines.find(|line| !line.starts_with('#'))?.split_once(' ')
    }

    fn differs(&self) -> Unproven {
        Unproven::Differs(self.step)
    }

    fn hold(&mut self, word: &str, octets: &[u8]) -> Result<(), Unproven> {
        let (told, hex) = self.next().ok_or(Unproven::Differs(self.step))?;
        let digits = |octet: &u8| [octet >> 4, octet & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]);
        let is_same = told == word && hex.bytes().eq(octets.iter().flat_map(digits));
        if is_same { Ok(()) } else { Err(self.differs()) }
    }

    fn hold_verified(&mut self, counter: u32, bits: u32) -> Result<(), Unproven> {
        let told = self.next().filter(|(word, _)| *word == "verified").and_then(|(_, numbers)| numbers.split_once(' '));
        let told = told.map(|(counter, bits)| (counter.parse(), bits.parse()));
        if told == Some((Ok(counter), Ok(bits))) { Ok(()) } else { Err(self.differs()) }
    }

    fn hear_what_is_said(
        &mut self,
        gateway: &mut Gateway,
        sensor: &mut Sensor,
        frame: &mut [u8],
    ) -> Result<(), Unproven> {
        if let Some(length_B) = gateway.speak(frame)? {
            self.hold("down", &frame[..length_B])?;
            sensor.hear(&frame[..length_B])?;
        }
        Ok(())
    }
}

/// Both ends of a link that has run for 33 messages of this payload without a loss: its third report was heard, and what
/// comes is the first record of the next generation. Hint of one octet, otherwise the defaults.
///
/// # Errors
/// [`Error::Length`] of a payload over [`MOST_PAYLOAD_B`].
pub fn running(secret: [u8; SECRET_B], payload: &[u8]) -> Result<(Sensor, Gateway), Error> {
    let pair = Pair { secret, link: *b"test" };
    let (resuming, opening) = Resuming::begin(pair.clone(), [1; 8].into());
    let (root, flight) = Answered::default().answer(&pair, &opening, [2; 8].into())?;
    let parameters = Parameters::new(Hint::Octet).report_every(REPORT_EVERY)?;
    let mut ends = (Sensor::new(resuming.finish(&flight)?, parameters), Gateway::new(root, parameters));
    let (sensor, gateway) = (&mut ends.0, &mut ends.1);
    let (mut record, mut output) = ([0; MOST_RECORD_B], [0; MOST_PAYLOAD_B]);
    for _ in 0..=2 * REPORT_EVERY {
        let record_B = seal(sensor, payload, &mut record)?;
        open(gateway, &record[..record_B], &mut output)?;
        if let Some(report_B) = gateway.speak(&mut record)? {
            sensor.hear(&record[..report_B])?;
        }
    }
    Ok(ends)
}

/// A message sealed, as a sensor sends it; gives the octets of its record.
///
/// # Errors
/// As of [`Sensor::seal`], and [`Error::Length`] of a payload over [`MOST_PAYLOAD_B`].
#[inline]
pub fn seal(sensor: &mut Sensor, payload: &[u8], record: &mut [u8]) -> Result<usize, Error> {
    if payload.len() > MOST_PAYLOAD_B {
        return Err(Error::Length);
    }
    sensor.seal(payload, Protection::Short, record).map(|sealed| sealed.length_B)
}

/// A record heard, and the next verified message received, if there is one: in a link that runs each message is heard once
/// and received once. Gives the octets of what was received.
///
/// # Errors
/// As of [`Gateway::hear`]; [`Error::Buffer`] if the message does not fit into `output`.
#[inline]
pub fn open(gateway: &mut Gateway, record: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    gateway.hear(record, None)?;
    let Some(message) = gateway.receive() else { return Ok(0) };
    let payload = message.payload();
    output.get_mut(..payload.len()).ok_or(Error::Buffer)?.copy_from_slice(payload);
    Ok(payload.len())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn a_session_is_frame_by_frame_what_the_vectors_say_and_none_with_another_step() {
        assert_eq!(prove(), Ok(()));
        let steps: Vec<&str> = VECTORS.lines().filter(|line| !line.starts_with('#')).collect();
        for (at, step) in steps.iter().enumerate() {
            let (rest, last) = step.split_at(step.len() - 1);
            let other = String::from(rest) + if last == "0" { "1" } else { "0" };
            let mut changed = steps.clone();
            changed[at] = &other;
            assert_eq!(session(&changed.join("\n")), Err(Unproven::Differs(at + 1)), "{step}");
        }
        let (last, all_but_last) = steps.split_last().unwrap();
        assert_eq!(session(&all_but_last.join("\n")), Err(Unproven::Differs(steps.len())), "{last}");
        assert_eq!(session(&(steps.join("\n") + "\nup 00")), Err(Unproven::Differs(steps.len() + 1)));
    }

    #[test]
    fn a_link_that_runs_seals_short_records_and_gives_a_verified_message_for_each() {
        let payload = [7; 16];
        let (mut sensor, mut gateway) = running([9; SECRET_B], &payload).unwrap();
        let (mut record, mut output) = ([0; MOST_RECORD_B], [0; MOST_PAYLOAD_B]);
        for counter in 33..49 {
            let record_B = seal(&mut sensor, &payload, &mut record).unwrap();
            assert_eq!((sensor.counter(), record_B), (counter + 1, 1 + 16 + 4));
            let received_B = open(&mut gateway, &record[..record_B], &mut output).unwrap();
            assert_eq!(&output[..received_B], payload, "{counter}");
        }
        assert_eq!(running([9; SECRET_B], &[0; MOST_PAYLOAD_B + 1]).err(), Some(Error::Length));
    }
}
