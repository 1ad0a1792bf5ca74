//! The sensor's end: seals records, hears reports, answers requests for a rescue. Without input and output.

use zeroize::Zeroize;

use crate::error::Error;
use crate::keys::{Generation, Root};
use crate::parameters::Parameters;
use crate::record::{
    DOWN_TAG_B, Down, Kind, REPORT_B, REPORT_BODY_B, REQUEST_B, RESCUE_B, body_and_tag, low, nonce, write_hint,
};
use crate::sealing::{KEY_B, TAG_B, Tag, open, seal};
use crate::watched::disclosed;

/// Messages whose whole tags a sensor keeps.
pub const RING: usize = 64;

/// Messages without a report after which each eighth has a whole tag.
const QUIET: u32 = 64;
/// Messages without a report after which a sensor has to resume: before the gateway's candidates end, with each hint.
pub const RESUME_AFTER: u32 = 256;

/// How strongly a message is to be protected from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// By a short tag, if the state allows one.
    Short,
    /// By a whole tag: for what can't wait.
    Whole,
}

/// A record as it was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    /// Octets of the frame.
    pub length_B: usize,
    /// Whether its tag is whole.
    pub kind: Kind,
    /// Its counter.
    pub counter: u32,
}

/// What a frame from the gateway did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// A report: the next generation has begun.
    NextGeneration,
    /// The report lists a message that this sensor never sent, which proves a forgery: a rescue record is due.
    ForgeryProven,
    /// The report lists a message whose tag is no longer here: a rescue record is due.
    TooOld,
    /// The gateway asks for a rescue: a rescue record is due.
    RescueAsked,
}

/// The newest rescue, number 0 before the first.
#[cfg_attr(feature = "copies", derive(Clone))]
#[derive(Default)]
struct Rescue {
    number: u32,
    generation: u32,
    /// The counter of the first message behind it: none from here on was sealed with older keys.
    next_counter: u32,
    /// Zero once a report has confirmed it.
    confirmation: [u8; KEY_B],
    is_unconfirmed: bool,
    is_due: bool,
}

/// The sensor's end of a link.
#[cfg_attr(feature = "copies", derive(Clone))]
pub struct Sensor {
    parameters: Parameters,
    root: Root,
    generation: Generation,
    /// The counter of the next message.
    counter: u32,
    /// The whole tags of the last messages, each at its counter's place.
    tags: [Tag; RING],
    since_report: u32,
    whole_only: bool,
    rescue: Rescue,
}

impl Sensor {
    /// The sensor's end below a new root, which no sensor was made of before: its counters begin at 0.
    #[must_use]
    pub fn new(root: Root, parameters: Parameters) -> Self {
        Self {
            generation: root.first(parameters.short_tag_bits),
            parameters,
            root,
            counter: 0,
            tags: [Tag::default(); RING],
            since_report: 0,
            whole_only: true,
            rescue: Rescue::default(),
        }
    }

    /// Seals a message into `frame`.
    ///
    /// A whole tag is used where it is asked for, until the first report of a root or a rescue came, while the gateway
    /// asks for whole tags, and for each eighth message when 64 were sent without a report.
    ///
    /// # Errors
    /// [`Error::Buffer`] if the frame does not fit, [`Error::Exhausted`] if the counters of the root are used up. Then
    /// nothing has changed.
    pub fn seal(&mut self, payload: &[u8], protection: Protection, frame: &mut [u8]) -> Result<Sealed, Error> {
        if self.counter == u32::MAX {
            return Err(Error::Exhausted);
        }
        let eighth = self.since_report >= QUIET && self.counter.is_multiple_of(8);
        let whole = protection == Protection::Whole || self.whole_only || eighth;
        let (kind, key, tag_bits) = if whole {
            (Kind::Whole, &self.generation.whole, 8 * TAG_B)
        } else {
            (Kind::Short, &self.generation.short, usize::from(self.parameters.short_tag_bits))
        };
        let counter = self.counter;
        let hint_B = write_hint(self.parameters.hint, &self.root, kind, counter, frame)?;
        let tag_B = tag_bits.div_ceil(8);
        let length_B = hint_B + payload.len() + tag_B;
        let (body, sent_tag) = frame.get_mut(hint_B..length_B).ok_or(Error::Buffer)?.split_at_mut(payload.len());
        body.copy_from_slice(payload);
        let tag = seal(key, &nonce(0, counter), &[], body);
        sent_tag.copy_from_slice(&tag.cut(tag_bits)[..tag_B]);
        self.tags[counter as usize % RING] = tag;
        self.counter += 1;
        self.since_report += 1;
        Ok(Sealed { length_B, kind, counter })
    }

    /// Hears a frame from the gateway.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Tag`] and [`Error::Unexpected`] for what is no frame of this state; then nothing has
    /// changed.
    pub fn hear(&mut self, frame: &[u8]) -> Result<Heard, Error> {
        let (head, record) = frame.split_first().ok_or(Error::Length)?;
        match (head >> 6, frame.len()) {
            (0, REPORT_B) => self.hear_report(Down::Report, head & 0x3f, record),
            (1, REPORT_B) => self.hear_report(Down::ReportWhole, head & 0x3f, record),
            (2, REQUEST_B) => self.hear_request(head & 0x3f, record),
            (0..=2, _) => Err(Error::Length),
            _ => Err(Error::Unexpected),
        }
    }

    /// Writes the rescue record into `frame` if one is due, and returns its octets.
    ///
    /// # Errors
    /// [`Error::Buffer`] if it does not fit; then it is still due.
    pub fn rescue(&mut self, frame: &mut [u8]) -> Result<Option<usize>, Error> {
        let rescue = &self.rescue;
        if !rescue.is_due {
            return Ok(None);
        }
        let hint_B = write_hint(self.parameters.hint, &self.root, Kind::Rescue, rescue.number, frame)?;
        let record = frame.get_mut(hint_B..hint_B + RESCUE_B).ok_or(Error::Buffer)?;
        let (body, tag) = record.split_at_mut(RESCUE_B - TAG_B);
        body[..4].copy_from_slice(&rescue.generation.to_be_bytes());
        body[4..8].copy_from_slice(&rescue.next_counter.to_be_bytes());
        body[8..].copy_from_slice(&rescue.confirmation);
        tag.copy_from_slice(seal(&self.root.rescue_up, &nonce(0, rescue.number), &[], body).octets());
        self.rescue.is_due = false;
        Ok(Some(hint_B + RESCUE_B))
    }

    /// The number of a rescue record that is due: what the lower layer tells where nothing stands before records.
    #[must_use]
    pub fn rescue_due(&self) -> Option<u32> {
        self.rescue.is_due.then_some(self.rescue.number)
    }

    /// Messages since the last report of which the gateway had what the sensor has; without any, since the root began.
    #[must_use]
    pub fn since_report(&self) -> u32 {
        self.since_report
    }

    /// Whether the link may be lost, by an outage or because the gateway lost its state: so many messages, [`RESUME_AFTER`],
    /// went without a report. Then the sensor resumes, and until it is answered it may go on with what it has.
    #[must_use]
    pub fn must_resume(&self) -> bool {
        self.since_report >= RESUME_AFTER
    }

    /// The number of the generation.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation.number
    }

    /// The counter of the next message.
    #[must_use]
    pub fn counter(&self) -> u32 {
        self.counter
    }

    fn hear_report(&mut self, kind: Down, number_low: u8, record: &[u8]) -> Result<Heard, Error> {
        if number_low != low(self.generation.number, 0x3f) {
            return Err(Error::Unexpected);
        }
        let (sealed, sent_tag) = body_and_tag(record, DOWN_TAG_B)?;
        let mut body = [0; REPORT_BODY_B];
        let tag = open(&self.generation.down, &nonce(kind as u8, self.generation.number), &[], sealed, &mut body);
        if !tag.begins_with(sent_tag, 8 * DOWN_TAG_B) {
            return Err(Error::Tag);
        }
        disclosed(&mut body);
        let bitmap = u32::from_be_bytes([body[1], body[2], body[3], body[4]]);
        let newest = self.counter.saturating_sub(1);
        // A report that lists nothing has no base: the gateway's counters may be ahead of these by a forgery.
        let behind = if bitmap == 0 { newest } else { u32::from(low(newest, 0xff).wrapping_sub(body[0])) };
        let base = newest.wrapping_sub(behind);
        let mut sum = Tag::default();
        for counter in (0..32).filter(|bit| bitmap >> bit & 1 == 1).map(|bit| base.wrapping_add(bit)) {
            match self.counter.checked_sub(counter) {
                None | Some(0) => return Ok(self.begin_rescue(Heard::ForgeryProven)),
                Some(behind) if behind as usize > RING => return Ok(self.begin_rescue(Heard::TooOld)),
                Some(_) => sum = sum.xor(&self.tags[counter as usize % RING]),
            }
        }
        self.generation = self.generation.next(base, bitmap, &sum);
        sum.zeroize();
        self.since_report = 0;
        self.whole_only = kind == Down::ReportWhole;
        self.rescue.confirmation.zeroize();
        (self.rescue.is_unconfirmed, self.rescue.is_due) = (false, false);
        Ok(Heard::NextGeneration)
    }

    fn hear_request(&mut self, number_low: u8, sent_tag: &[u8]) -> Result<Heard, Error> {
        let is_low = |number: &u32| low(*number, 0x3f) == number_low;
        let repeated = Some(self.rescue.number).filter(|number| self.rescue.is_unconfirmed && is_low(number));
        let number = repeated.or(Some(self.rescue.number + 1).filter(is_low)).ok_or(Error::Unexpected)?;
        let tag = open(&self.root.rescue_down, &nonce(Down::Request as u8, number), &[], &[], &mut []);
        if !tag.begins_with(sent_tag, 8 * DOWN_TAG_B) {
            return Err(Error::Tag);
        }
        if repeated.is_none() {
            return Ok(self.begin_rescue(Heard::RescueAsked));
        }
        self.rescue.is_due = true;
        Ok(Heard::RescueAsked)
    }

    fn begin_rescue(&mut self, why: Heard) -> Heard {
        let rescue = &mut self.rescue;
        rescue.number += 1;
        (rescue.generation, rescue.next_counter) = (self.generation.number, self.counter);
        rescue.confirmation.copy_from_slice(self.generation.confirmation());
        (rescue.is_unconfirmed, rescue.is_due) = (true, true);
        let bits = self.parameters.short_tag_bits;
        self.generation = self.root.again(rescue.number, rescue.generation, &rescue.confirmation, bits);
        self.whole_only = true;
        why
    }
}

impl Drop for Sensor {
    fn drop(&mut self) {
        self.tags.zeroize();
        self.rescue.confirmation.zeroize();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Gateway, Hint, Pair};

    #[test]
    fn what_a_rescue_confirms_is_no_longer_in_memory_once_a_report_has_confirmed_it() {
        let root = || Root::new(&Pair { secret: [0x21; 32], link: *b"test" }, [1; 8], [2; 8]);
        let parameters = Parameters::new(Hint::None);
        let (mut sensor, mut gateway): (_, Gateway) =
            (Sensor::new(root(), parameters), Gateway::new(root(), parameters));
        let mut frame = [0; 64];
        for is_bad in [false, true, true, true, true] {
            let sealed = sensor.seal(b"here", Protection::Whole, &mut frame).unwrap();
            frame[0] ^= u8::from(is_bad);
            let heard = gateway.hear(&frame[..sealed.length_B], Some((sealed.kind, sealed.counter)));
            assert_eq!(heard.is_err(), is_bad);
        }
        let request_B = gateway.speak(&mut frame).unwrap().unwrap();
        assert_eq!(sensor.hear(&frame[..request_B]), Ok(Heard::RescueAsked));
        assert_ne!(sensor.rescue.confirmation, [0; KEY_B]);
        let length_B = sensor.rescue(&mut frame).unwrap().unwrap();
        gateway.hear(&frame[..length_B], Some((Kind::Rescue, 1))).unwrap();
        let sealed = sensor.seal(b"here", Protection::Short, &mut frame).unwrap();
        gateway.hear(&frame[..sealed.length_B], Some((sealed.kind, sealed.counter))).unwrap();
        let report_B = gateway.speak(&mut frame).unwrap().unwrap();
        assert_eq!(sensor.hear(&frame[..report_B]), Ok(Heard::NextGeneration));
        assert_eq!(sensor.rescue.confirmation, [0; KEY_B]);
    }
}
