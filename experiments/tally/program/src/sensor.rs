//! The sensor's end: resumes where it has no root, seals, hears the gateway.

use std::io;

use data_encoding::HEXLOWER;
use wattlock_tally::{
    Error, Nonce, OPENING_B, OPENINGS, Pair, Parameters, Protection, Resuming, Sealed, Sensor, SensorHeard, nonce_of,
};

use super::nonces::Nonces;
use super::records::{Downlink, TallyLine};

/// Until a resumption is answered, messages go on below the old root, and each so many the opening is sent again.
const OPEN_EVERY: u32 = 16;

/// A resumption that is not answered yet.
struct Opening {
    resuming: Resuming,
    octets: [u8; OPENING_B],
    nonce: Nonce,
    /// How often it was sent.
    sent: u32,
}

/// The sensor's end, which begins with a resumption.
pub struct SensorEnd<N> {
    pair: Pair,
    parameters: Parameters,
    nonces: N,
    opening: Option<Opening>,
    sensor: Option<Box<Sensor>>,
}

impl<N: Nonces> SensorEnd<N> {
    /// Takes the first nonce.
    ///
    /// # Errors
    /// Where there is none.
    pub fn new(pair: Pair, parameters: Parameters, nonces: N) -> io::Result<Self> {
        let mut end = Self { pair, parameters, nonces, opening: None, sensor: None };
        end.begin()?;
        Ok(end)
    }

    /// Whether messages can be sealed.
    pub fn has_root(&self) -> bool {
        self.sensor.is_some()
    }

    /// The opening, and the line that tells of it, where it is to be sent before the next message. One that was sent
    /// [`OPENINGS`] times is given up for the next number: a gateway answers none that it knows, as a restored state gives.
    ///
    /// # Errors
    /// Where there is no nonce for the next.
    pub fn opening(&mut self) -> io::Result<Option<([u8; OPENING_B], TallyLine)>> {
        let due = self.sensor.as_ref().is_none_or(|sensor| sensor.since_report().is_multiple_of(OPEN_EVERY));
        if due && self.opening.as_ref().is_some_and(|opening| opening.sent >= OPENINGS) {
            self.begin()?;
        }
        Ok(self.opening.as_mut().filter(|_| due).map(|opening| {
            opening.sent += 1;
            (opening.octets, TallyLine::Opening { of_sensor: told(opening.nonce) })
        }))
    }

    /// Writes a rescue record that is due into `frame`, and returns its octets.
    ///
    /// # Errors
    /// A frame that is too small.
    pub fn rescue(&mut self, frame: &mut [u8]) -> io::Result<Option<usize>> {
        self.sensor.as_mut().map_or(Ok(None), |sensor| sensor.rescue(frame)).map_err(unexpected)
    }

    /// Seals a message into `frame`; `None` where there is no root, or its counters are used up.
    ///
    /// # Errors
    /// Where there is no nonce for a resumption, or the frame is too small.
    pub fn seal(&mut self, payload: &[u8], frame: &mut [u8]) -> io::Result<Option<Sealed>> {
        let Some(sensor) = &mut self.sensor else { return Ok(None) };
        let sealed = match sensor.seal(payload, Protection::Short, frame) {
            Ok(sealed) => Some(sealed),
            Err(Error::Exhausted) => None,
            Err(error) => return Err(unexpected(error)),
        };
        let must_resume = sensor.must_resume();
        if sealed.is_none() {
            self.sensor = None;
        }
        if self.opening.is_none() && (sealed.is_none() || must_resume) {
            self.begin()?;
        }
        Ok(sealed)
    }

    /// Hears a datagram, and says what it was.
    pub fn hear(&mut self, datagram: &[u8]) -> TallyLine {
        if let Some(opening) = &self.opening
            && let Ok(root) = opening.resuming.finish(datagram)
        {
            let of_gateway = nonce_of(datagram).map_or_else(String::new, told);
            let line = TallyLine::Root { of_sensor: told(opening.nonce), of_gateway };
            self.opening = None;
            self.sensor = Some(Box::new(Sensor::new(root, self.parameters)));
            return line;
        }
        let frame_B = datagram.len();
        let heard = self.sensor.as_mut().ok_or(Error::Unexpected).and_then(|sensor| {
            let heard = sensor.hear(datagram)?;
            Ok((heard, sensor.generation(), sensor.must_resume()))
        });
        match heard {
            Ok((heard, generation, must_resume)) => {
                let what = match heard {
                    SensorHeard::NextGeneration => Downlink::Report,
                    SensorHeard::ForgeryProven => Downlink::ReportOfForgery,
                    SensorHeard::TooOld => Downlink::ReportTooOld,
                    SensorHeard::RescueAsked => Downlink::Request,
                };
                // After a report the gateway still has the root in use.
                self.opening.take_if(|_| !must_resume);
                TallyLine::Downlink { what, generation, frame_B }
            }
            Err(error) => TallyLine::Refused { frame_B, why: error.to_string() },
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        let nonce = self.nonces.next()?;
        let (resuming, octets) = Resuming::begin(self.pair.clone(), nonce);
        self.opening = Some(Opening { resuming, octets, nonce, sent: 0 });
        Ok(())
    }
}

/// A nonce as lines tell it.
pub(super) fn told(nonce: Nonce) -> String {
    HEXLOWER.encode(&nonce.octets())
}

/// What only a buffer of a wrong size brings.
pub(super) fn unexpected(error: Error) -> io::Error {
    io::Error::other(error.to_string())
}
