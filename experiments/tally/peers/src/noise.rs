//! Noise by snow: NNpsk0, then stateless transport messages with an octet of their counter in front.

use std::time::Instant;

use snow::{Builder, HandshakeState, StatelessTransportState};

use crate::link::{AGAIN, End, Fault, Said};

pub const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
const KEY: [u8; 32] = [7; 32];
const MOST_B: usize = 2048;

/// An end: its handshake, then its session. The sensor says its flight until it is answered, and each is answered.
pub struct Noise {
    handshake: Option<HandshakeState>,
    session: Option<StatelessTransportState>,
    flight: Vec<u8>,
    /// When the sensor's flight is said again.
    again: Option<Instant>,
    /// The next counter: to send with, or expected.
    counter: u64,
}

/// Who begins.
pub fn sensor() -> Result<Noise, Fault> {
    let mut handshake = builder()?.build_initiator()?;
    let flight = written(|octets| handshake.write_message(&[], octets))?;
    Ok(Noise { handshake: Some(handshake), session: None, flight, again: Some(Instant::now()), counter: 0 })
}

/// Who answers.
pub fn gateway() -> Result<Noise, Fault> {
    let handshake = builder()?.build_responder()?;
    Ok(Noise { handshake: Some(handshake), session: None, flight: Vec::new(), again: None, counter: 0 })
}

fn builder() -> Result<Builder<'static>, Fault> {
    Ok(Builder::new(PATTERN.parse()?).psk(0, &KEY)?)
}

fn written(write: impl FnOnce(&mut [u8]) -> Result<usize, snow::Error>) -> Result<Vec<u8>, Fault> {
    let mut octets = vec![0; MOST_B];
    let length_B = write(&mut octets)?;
    octets.truncate(length_B);
    Ok(octets)
}

impl End for Noise {
    fn ready(&self) -> bool {
        self.session.is_some()
    }

    fn tick(&mut self, said: &mut Said) -> Result<(), Fault> {
        if self.again.is_some_and(|again| again <= Instant::now()) {
            said.datagrams.push(self.flight.clone());
            self.again = Some(Instant::now() + AGAIN);
        }
        Ok(())
    }

    fn hear(&mut self, datagram: &[u8], said: &mut Said) -> Result<(), Fault> {
        let mut octets = [0; MOST_B];
        if let Some(mut handshake) = self.handshake.take() {
            handshake.read_message(datagram, &mut octets)?;
            self.flight.clear();
            self.again = None;
            if !handshake.is_handshake_finished() {
                self.flight = written(|octets| handshake.write_message(&[], octets))?;
                said.datagrams.push(self.flight.clone());
            }
            self.session = Some(handshake.into_stateless_transport_mode()?);
            return Ok(());
        }
        let (Some(session), Some((low, sealed))) = (&self.session, datagram.split_first()) else { return Ok(()) };
        // The counter that is nearest to the one expected (RFC 9147, 4.2.2).
        let counter = self.counter.saturating_add_signed(i64::from(low.wrapping_sub(self.counter as u8) as i8));
        match session.read_message(counter, sealed, &mut octets) {
            Ok(length_B) => {
                self.counter = self.counter.max(counter + 1);
                said.messages.push(octets[..length_B].to_vec());
            }
            // The sensor's flight again: the answer was lost.
            Err(_) if !self.flight.is_empty() => said.datagrams.push(self.flight.clone()),
            Err(_) => {}
        }
        Ok(())
    }

    fn send(&mut self, payload: &[u8], said: &mut Said) -> Result<(), Fault> {
        let session = self.session.as_ref().ok_or("no session yet")?;
        let sealed = written(|octets| session.write_message(self.counter, payload, octets))?;
        said.datagrams.push([&[self.counter as u8], sealed.as_slice()].concat());
        self.counter += 1;
        Ok(())
    }
}
