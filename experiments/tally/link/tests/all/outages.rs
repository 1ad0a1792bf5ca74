//! Outages of any length, from the first message of a root on: a sensor that resumes when it has to comes back.

use wattlock_tally::{
    Answered, Error, Gateway, Hint, Kind, OPENING_B, Parameters, Protection, RESUME_AFTER, Resuming, Sensor,
};

use crate::link::{ends, pair};

const HINTS: [Hint; 3] = [Hint::None, Hint::Octet, Hint::Pair];
/// An unanswered opening is sent again each so many messages.
const OPEN_EVERY: u32 = 16;

/// Which ways nothing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Out {
    Neither,
    Up,
    Down,
    Both,
}

impl Out {
    fn is_up(self) -> bool {
        matches!(self, Self::Up | Self::Both)
    }

    fn is_down(self) -> bool {
        matches!(self, Self::Down | Self::Both)
    }
}

struct Running {
    parameters: Parameters,
    hint: Hint,
    sensor: Sensor,
    opening: Option<(Resuming, [u8; OPENING_B])>,
    openings: u8,
    gateway: Gateway,
    /// The gateway's end below a root that no record has confirmed.
    pending: Option<Gateway>,
    /// Numbers of messages.
    sent: u32,
    verified: Vec<u32>,
}

impl Running {
    fn new(hint: Hint) -> Self {
        let parameters = Parameters::new(hint);
        let (sensor, gateway) = ends(parameters, [1, 1]);
        let (opening, pending, verified) = (None, None, Vec::new());
        Self { parameters, hint, sensor, opening, openings: 1, gateway, pending, sent: 0, verified }
    }

    fn resume(&mut self, out: Out) {
        if !self.sensor.must_resume() {
            self.opening = None;
            return;
        }
        if self.opening.is_none() {
            self.openings += 1;
            self.opening = Some(Resuming::begin(pair(), [self.openings; 8].into()));
        }
        let Some((resuming, opening)) = &self.opening else { return };
        if out.is_up() || !self.sensor.since_report().is_multiple_of(OPEN_EVERY) {
            return;
        }
        let (root, flight) = Answered::default().answer(&pair(), opening, [self.openings; 8].into()).unwrap();
        self.pending = Some(Gateway::new(root, self.parameters));
        if !out.is_down() {
            self.sensor = Sensor::new(resuming.finish(&flight).unwrap(), self.parameters);
            self.opening = None;
        }
    }

    fn up(&mut self, frame: &[u8], told: (Kind, u32)) -> Result<(), Error> {
        let told = (self.hint == Hint::None).then_some(told);
        if let Some(mut pending) = self.pending.take() {
            if pending.hear(frame, told).is_ok() {
                self.gateway = pending;
                return Ok(());
            }
            self.pending = Some(pending);
        }
        self.gateway.hear(frame, told).map(|_| ())
    }

    fn message(&mut self, out: Out) {
        self.resume(out);
        let mut frame = [0; 64];
        if let Some(number) = self.sensor.rescue_due() {
            let length_B = self.sensor.rescue(&mut frame).unwrap().unwrap();
            if !out.is_up() {
                let _ = self.up(&frame[..length_B], (Kind::Rescue, number));
            }
        }
        let sealed = self.sensor.seal(&self.sent.to_be_bytes(), Protection::Short, &mut frame).unwrap();
        self.sent += 1;
        if !out.is_up() {
            let _ = self.up(&frame[..sealed.length_B], (sealed.kind, sealed.counter));
        }
        while let Some(message) = self.gateway.receive() {
            self.verified.push(u32::from_be_bytes(message.payload().try_into().unwrap()));
        }
        while self.gateway.lost().is_some() {}
        let spoken = self.gateway.speak(&mut frame).unwrap();
        if let Some(length_B) = spoken.filter(|_| !out.is_down()) {
            let _ = self.sensor.hear(&frame[..length_B]);
        }
    }
}

#[test]
fn after_an_outage_of_any_length_from_any_message_on_messages_open_again_and_are_verified() {
    for hint in HINTS {
        for before in [0, 1, 50] {
            for length in [1, 31, 40, 64, 100, 255, 256, 257, 500, 991, 992, 1_024, 1_100, 3_000] {
                for out in [Out::Both, Out::Up, Out::Down] {
                    comes_back(hint, before, length, out);
                }
            }
        }
        comes_back(hint, 0, 70_000, Out::Both);
        comes_back(hint, 50, 40_000, Out::Both);
    }
}

fn comes_back(hint: Hint, before: u32, length: u32, out: Out) {
    let mut running = Running::new(hint);
    (0..before).for_each(|_| running.message(Out::Neither));
    (0..length).for_each(|_| running.message(out));
    let end = running.sent;
    (0..140).for_each(|_| running.message(Out::Neither));
    let missing: Vec<u32> = (end + 40..end + 100).filter(|number| !running.verified.contains(number)).collect();
    assert!(missing.is_empty(), "{hint:?}, {out:?}, {length} after {before}: {missing:?}");
}

#[test]
fn a_sensor_that_hears_nothing_is_told_to_resume_and_sends_on() {
    let (mut sensor, _) = ends(Parameters::new(Hint::Octet), [1, 2]);
    for number in 0..70_000 {
        assert_eq!((sensor.since_report(), sensor.must_resume()), (number, number >= RESUME_AFTER));
        assert!(sensor.seal(b"21.5", Protection::Short, &mut [0; 64]).is_ok(), "{number}");
    }
}

#[test]
fn rescues_put_off_no_resumption_where_no_report_comes() {
    let mut running = Running::new(Hint::Octet);
    running.message(Out::Down);
    for rescue in 1..=u32::from(u8::MAX) {
        let noise = [0x40 | u8::try_from(running.sensor.counter() % 64).unwrap(); 20];
        (0..4).for_each(|_| assert_eq!(running.gateway.hear(&noise, None), Err(Error::Tag)));
        let mut frame = [0; 64];
        let length_B = running.gateway.speak(&mut frame).unwrap().unwrap();
        running.sensor.hear(&frame[..length_B]).unwrap();
        assert_eq!(running.sensor.rescue_due(), Some(rescue));
        running.message(Out::Down);
    }
    assert!(running.sensor.must_resume());
}
