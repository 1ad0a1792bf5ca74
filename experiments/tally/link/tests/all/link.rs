//! A link of two ends for tests: what was sent, what was received, and the laws that hold after every step.

use std::collections::BTreeMap;

use wattlock_tally::{Answered, Error, Gateway, Hint, Kind, Pair, Parameters, Protection, RESCUE_B, Resuming, Sensor};

pub struct Link {
    pub sensor: Sensor,
    pub gateway: Gateway,
    pub hint: Hint,
    pub short_tag_B: usize,
    /// Payloads by counter.
    pub sent: BTreeMap<u32, Vec<u8>>,
    /// Bits by counter.
    pub verified: BTreeMap<u32, u32>,
    pub lost: Vec<u32>,
    /// Counters that opened.
    pub opened: Vec<u32>,
}

/// What a record of DTLS 1.3 with a whole tag of 16 octets adds to a message: no frame adds more, but for rescue records.
pub const WHOLE_DTLS_B: usize = 19;

/// A frame as it flies: what the lower layer tells, and its octets.
pub type Frame = ((Kind, u32), Vec<u8>);

pub fn pair() -> Pair {
    Pair { secret: [0x21; 32], link: *b"test" }
}

pub fn ends(parameters: Parameters, nonces: [u8; 2]) -> (Sensor, Gateway) {
    let (resuming, opening) = Resuming::begin(pair(), [nonces[0]; 8].into());
    let (root, flight) = Answered::default().answer(&pair(), &opening, [nonces[1]; 8].into()).unwrap();
    (Sensor::new(resuming.finish(&flight).unwrap(), parameters), Gateway::new(root, parameters))
}

impl Link {
    pub fn new(hint: Hint, parameters: Parameters) -> Self {
        let (sensor, gateway) = ends(parameters, [1, 2]);
        let (sent, verified) = (BTreeMap::new(), BTreeMap::new());
        Self { sensor, gateway, hint, short_tag_B: 4, sent, verified, lost: Vec::new(), opened: Vec::new() }
    }

    pub fn seal(&mut self, protection: Protection) -> Frame {
        let counter = self.sensor.counter();
        let payload = [&counter.to_be_bytes()[..], &vec![0xee; counter as usize % 21]].concat();
        let mut frame = vec![0; 128];
        let sealed = self.sensor.seal(&payload, protection, &mut frame).unwrap();
        assert_eq!(sealed.counter, counter);
        let hint_B = match self.hint {
            Hint::None => 0,
            Hint::Octet => 1,
            Hint::Pair => 2,
        };
        let tag_B = if sealed.kind == Kind::Short { self.short_tag_B } else { 16 };
        assert_eq!(sealed.length_B, payload.len() + hint_B + tag_B);
        assert!(sealed.length_B <= payload.len() + WHOLE_DTLS_B);
        assert!(protection == Protection::Short || sealed.kind == Kind::Whole);
        frame.truncate(sealed.length_B);
        self.sent.insert(counter, payload);
        ((sealed.kind, counter), frame)
    }

    pub fn rescue(&mut self) -> Option<Frame> {
        let number = self.sensor.rescue_due()?;
        let mut frame = vec![0; 128];
        let length_B = self.sensor.rescue(&mut frame).unwrap().unwrap();
        assert!(length_B <= RESCUE_B + 2);
        frame.truncate(length_B);
        Some(((Kind::Rescue, number), frame))
    }

    pub fn up(&mut self, frame: &Frame) -> Result<(), Error> {
        let told = (self.hint == Hint::None).then_some(frame.0);
        let heard = self.gateway.hear(&frame.1, told)?;
        assert_eq!((heard.kind, heard.counter), frame.0);
        if heard.kind != Kind::Rescue {
            self.opened.push(heard.counter);
        }
        self.lost.extend(heard.pushed_out.map(|(counter, _)| counter));
        self.collect();
        Ok(())
    }

    pub fn speak(&mut self) -> Option<Vec<u8>> {
        let mut frame = vec![0; 32];
        let length_B = self.gateway.speak(&mut frame).unwrap()?;
        assert!(length_B <= WHOLE_DTLS_B);
        frame.truncate(length_B);
        Some(frame)
    }

    /// One slot without loss: a message, perhaps a rescue record, perhaps an answer.
    pub fn slot(&mut self, protection: Protection) {
        if let Some(frame) = self.rescue() {
            let _ = self.up(&frame);
        }
        let frame = self.seal(protection);
        let _ = self.up(&frame);
        if let Some(frame) = self.speak() {
            let _ = self.sensor.hear(&frame);
        }
    }

    /// Takes what the gateway gives, and holds it against what was sent.
    pub fn collect(&mut self) {
        while let Some(message) = self.gateway.receive() {
            assert_eq!(message.payload(), self.sent[&message.counter()]);
            let before = self.verified.insert(message.counter(), message.bits);
            assert_eq!(before, None, "a message is received once");
        }
        for message in self.gateway.provisional() {
            assert_eq!(message.payload, self.sent[&message.counter]);
        }
        while let Some((counter, _)) = self.gateway.lost() {
            self.lost.push(counter);
        }
    }
}
