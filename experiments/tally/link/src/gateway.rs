//! The gateway's end: opens records, reports what it holds, and says when a message is verified. Without input and
//! output.

use core::array;

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::error::Error;
use crate::held::{Class, Held, Standing};
use crate::keys::{Generation, Root};
use crate::parameters::Parameters;
use crate::record::{
    Candidates, DOWN_TAG_B, Down, Kind, REPORT_B, REPORT_BODY_B, REQUEST_B, RESCUE_B, body_and_tag, head, low, nonce,
};
use crate::sealing::{Key, TAG_B, Tag, open, seal, wipe};
use crate::watched::{disclosed, verdict};
use crate::window::Window;

/// Failures in a row after which a rescue is asked for.
const SUSPICION: u32 = 4;
/// Counters behind the expected one that a report may still list: the sensor keeps 64 tags and may be 16 ahead.
const REPORTABLE: u32 = 48;
/// Counters above the expected one that a short tag may move the window.
const AHEAD: u32 = 63;
/// Messages that a report covers, from its base on.
const COVERED: u32 = 32;
/// Bits of a message whose whole tag was checked, against one guess; [`Message::bits`] says what of more.
const WHOLE_BITS: u32 = 128;

/// Whether many such refusals in a row mean that both ends have lost each other: by a fork, or because the sensor does not
/// know that short tags are refused, having heard the report before the budget was spent.
fn is_suspicious(refused: Error) -> bool {
    matches!(refused, Error::Tag | Error::ShortTag)
}

/// A message whose authenticity is verified. It lies where it was opened, and is overwritten when this is dropped.
pub struct Message<'gateway> {
    counter: u32,
    payload: &'gateway mut [u8],
    /// A forgery whose whole tag is wrong could be here with at most 2 to the power of minus this, all guesses of its
    /// generation counted in. At most 128: a whole tag that is right by chance, 2 to the power of minus 128 a guess, nothing
    /// finds.
    pub bits: u32,
}

impl Message<'_> {
    /// Its counter.
    #[must_use]
    pub fn counter(&self) -> u32 {
        self.counter
    }

    /// What the sensor sealed.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.payload
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        wipe(self.payload);
    }
}

/// A message of which no more than its short tag, and perhaps some later message, was checked.
pub struct Provisional<'gateway> {
    /// Its counter.
    pub counter: u32,
    /// A forgery could be here with at most 2 to the power of minus this, as of [`Message::bits`].
    pub bits: u32,
    /// What the sensor sealed, or a forger guessed.
    pub payload: &'gateway [u8],
}

/// What became of a message that is not verified and never will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stood in a transcript that both ends don't share: it may be forged.
    Doubted,
    /// The sensor never sealed it: it is forged.
    Refuted,
    /// No report could cover it in time, or its place was needed.
    Expired,
}

/// What a frame from the sensor was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// Its kind.
    pub kind: Kind,
    /// The counter of the message, or the number of the rescue.
    pub counter: u32,
    /// A message whose place was needed, and what became of it.
    pub pushed_out: Option<(u32, Standing)>,
}

/// A report that is said again unchanged until a message of the generation behind it opens.
#[cfg_attr(any(test, feature = "copies"), derive(Clone))]
struct Report {
    generation: Generation,
    body: [u8; REPORT_BODY_B],
}

/// The gateway's end of a link, which holds so many messages of at most so many octets.
#[cfg_attr(any(test, feature = "copies"), derive(Clone))]
pub struct Gateway<const HELD: usize = 64, const PAYLOAD_B: usize = 64> {
    parameters: Parameters,
    root: Root,
    current: Generation,
    report: Option<Report>,
    window: Window,
    held: Held<HELD, PAYLOAD_B>,
    /// Messages since the last report was frozen, and how many make the next one due.
    accepted: u32,
    due_after: u32,
    failures: u32,
    failures_in_row: u32,
    rescues: u32,
    confirmed: bool,
    /// Whether the sensor seals no short tags with the keys in use: below a new root and after a rescue.
    whole_only: bool,
}

impl<const HELD: usize, const PAYLOAD_B: usize> Gateway<HELD, PAYLOAD_B> {
    /// The gateway's end below a new root.
    #[must_use]
    pub fn new(root: Root, parameters: Parameters) -> Self {
        Self {
            current: root.first(parameters.short_tag_bits),
            parameters,
            root,
            report: None,
            window: Window::default(),
            held: Held::new(),
            accepted: 0,
            due_after: 1,
            failures: 0,
            failures_in_row: 0,
            rescues: 0,
            confirmed: false,
            whole_only: true,
        }
    }

    /// Hears a frame from the sensor.
    ///
    /// * `told`: kind and counter as the lower layer tells them, for [`crate::Hint::None`] only.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Unexpected`], [`Error::Replayed`], [`Error::ShortTag`] or [`Error::Tag`]: nothing of
    /// the frame was released.
    pub fn hear(&mut self, frame: &[u8], told: Option<(Kind, u32)>) -> Result<Heard, Error> {
        let found = Candidates::of(frame, self.parameters.hint, told, &self.root, &self.window, self.rescues);
        // By reference, as those of a hint of two octets are many.
        let candidates = found.as_ref().map_err(|error| *error)?;
        let record = frame.get(candidates.hint_B..).ok_or(Error::Length)?;
        let mut refused = Error::Tag;
        for (kind, counter) in candidates.each() {
            let heard = match kind {
                Kind::Short => self.hear_short(counter, record),
                Kind::Whole => self.hear_whole(counter, record),
                Kind::Rescue => self.hear_rescue(counter, record).map(|()| None),
            };
            match heard {
                Ok(pushed_out) => return Ok(Heard { kind, counter, pushed_out }),
                // A duplicate is no sign of a fork, and its other candidates fail by necessity.
                Err(error) if is_suspicious(refused) && error != Error::Tag => refused = error,
                Err(_) => {}
            }
        }
        self.failures_in_row = self.failures_in_row.saturating_add(u32::from(is_suspicious(refused)));
        Err(refused)
    }

    /// The next verified message, the oldest first.
    pub fn receive(&mut self) -> Option<Message<'_>> {
        let entry = self.held.take(Class::Verified)?;
        let Standing::Verified { bits } = entry.standing else { return None };
        entry.tag.zeroize();
        Some(Message { counter: entry.counter, payload: entry.payload_mut(), bits })
    }

    /// Messages that are not verified, in no order, each with what its tags are worth by now: for what may be shown but
    /// must cause nothing.
    pub fn provisional(&self) -> impl Iterator<Item = Provisional<'_>> {
        self.held.provisional().map(|entry| {
            let acceptances = if let Standing::Attested { acceptances } = entry.standing { acceptances } else { 0 };
            let bits = self.parameters.verified_bits(acceptances);
            Provisional { counter: entry.counter, bits, payload: entry.payload() }
        })
    }

    /// The next message that will never be verified, the oldest first.
    pub fn lost(&mut self) -> Option<(u32, Fate)> {
        let entry = self.held.take(Class::Lost)?;
        entry.wipe();
        let fate = match entry.standing {
            Standing::Refuted => Fate::Refuted,
            Standing::Expired => Fate::Expired,
            _ => Fate::Doubted,
        };
        Some((entry.counter, fate))
    }

    /// Writes what is due to the sensor into `frame`, and returns its octets: a report, or the request for a rescue.
    ///
    /// # Errors
    /// [`Error::Buffer`] if it does not fit; then nothing has changed.
    pub fn speak(&mut self, frame: &mut [u8]) -> Result<Option<usize>, Error> {
        if self.failures_in_row >= SUSPICION && self.confirmed {
            let request = frame.get_mut(..REQUEST_B).ok_or(Error::Buffer)?;
            let number = self.rescues + 1;
            request[0] = head(Down::Request as u8, number);
            let tag = seal(&self.root.rescue_down, &nonce(Down::Request as u8, number), &[], &mut []);
            request[1..].copy_from_slice(&tag.octets()[..DOWN_TAG_B]);
            return Ok(Some(REQUEST_B));
        }
        let frame = frame.get_mut(..REPORT_B).ok_or(Error::Buffer)?;
        let due = self.accepted >= self.due_after || self.is_spent() && self.accepted > 0;
        if self.report.is_none() && due {
            self.freeze();
        }
        let kind = if self.is_spent() { Down::ReportWhole } else { Down::Report };
        let Some(report) = &self.report else { return Ok(None) };
        frame[0] = head(kind as u8, self.current.number);
        let (body, tag) = frame[1..].split_at_mut(REPORT_BODY_B);
        body.copy_from_slice(&report.body);
        let whole = seal(&self.current.down, &nonce(kind as u8, self.current.number), &[], body);
        tag.copy_from_slice(&whole.octets()[..DOWN_TAG_B]);
        Ok(Some(REPORT_B))
    }

    /// Whether a whole tag under this root was seen: until then an older root of the same pair must be kept.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    /// The number of the generation whose keys are in use.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.current.number
    }

    /// Which counters were there.
    #[must_use]
    pub fn window(&self) -> Window {
        self.window
    }

    /// Counters and standings of all that is held, in no order.
    pub fn standings(&self) -> impl Iterator<Item = (u32, Standing)> {
        self.held.each().map(|entry| (entry.counter, entry.standing))
    }

    /// Whether the budget of failures is spent, so that short tags are refused.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.failures >= self.parameters.budget
    }

    fn hear_short(&mut self, counter: u32, record: &[u8]) -> Result<Option<(u32, Standing)>, Error> {
        let bits = usize::from(self.parameters.short_tag_bits);
        body_and_tag(record, bits.div_ceil(8))?;
        if self.is_spent() || self.whole_only && self.report.is_none() {
            return Err(Error::ShortTag);
        }
        // A forgery must not put all genuine counters behind the window.
        if counter > self.window.next.saturating_add(AHEAD) {
            return Err(Error::Unexpected);
        }
        match self.open_record(counter, record, bits, !self.whole_only, |generation| &generation.short) {
            Ok(promoted) => Ok(self.accept(counter, Standing::Unreported, promoted)),
            Err(error) => {
                self.failures += u32::from(error == Error::Tag);
                Err(error)
            }
        }
    }

    fn hear_whole(&mut self, counter: u32, record: &[u8]) -> Result<Option<(u32, Standing)>, Error> {
        let promoted = self.open_record(counter, record, 8 * TAG_B, true, |generation| &generation.whole)?;
        self.confirmed = true;
        let pushed_out = self.accept(counter, Standing::Verified { bits: WHOLE_BITS }, promoted);
        self.held.restand(|_, standing| match standing {
            Standing::Attested { .. } => Standing::Verified { bits: WHOLE_BITS },
            other => other,
        });
        Ok(pushed_out)
    }

    /// Opens a record into the spare place with the keys of the generation to come, then, where those come into question,
    /// with the keys in use; returns whether it were those to come.
    fn open_record(
        &mut self,
        counter: u32,
        record: &[u8],
        tag_bits: usize,
        in_use: bool,
        key: impl Fn(&Generation) -> &Key,
    ) -> Result<bool, Error> {
        let (sealed, sent_tag) = body_and_tag(record, tag_bits.div_ceil(8))?;
        if sealed.len() > PAYLOAD_B {
            return Err(Error::Length);
        }
        if counter == u32::MAX || !self.window.is_new(counter) {
            return Err(Error::Replayed);
        }
        let to_come = self.report.as_ref().map(|report| (&report.generation, true));
        let place = self.held.spare();
        for (generation, promoted) in to_come.into_iter().chain(in_use.then_some((&self.current, false))) {
            let body = place.room(sealed.len()).ok_or(Error::Length)?;
            place.tag = open(key(generation), &nonce(0, counter), &[], sealed, body);
            if place.tag.begins_with(sent_tag, tag_bits) {
                return Ok(promoted);
            }
            place.wipe();
        }
        Err(Error::Tag)
    }

    /// Takes the message that opened into the spare place; `promoted` says that it opened with the keys of the generation to
    /// come.
    fn accept(&mut self, counter: u32, standing: Standing, promoted: bool) -> Option<(u32, Standing)> {
        if let Some(report) = self.report.take_if(|_| promoted) {
            self.current = report.generation;
            (self.failures, self.whole_only) = (0, false);
            self.held.restand(|_, standing| match standing {
                Standing::Frozen => Standing::Attested { acceptances: 0 },
                other => other,
            });
        }
        self.window.note(counter);
        self.accepted += 1;
        self.failures_in_row = 0;
        let parameters = self.parameters;
        if self.held.count(Class::Attested) > 0 {
            self.held.restand(|_, standing| match standing {
                Standing::Attested { acceptances } if acceptances + 1 >= parameters.acceptances => {
                    Standing::Verified { bits: parameters.verified_bits(acceptances + 1) }
                }
                Standing::Attested { acceptances } => Standing::Attested { acceptances: acceptances + 1 },
                other => other,
            });
        }
        let spare = self.held.spare();
        (spare.counter, spare.standing) = (counter, standing);
        self.held.add()
    }

    /// Makes the report of what is held, which from now on stays as it is, and the generation that it leads to.
    fn freeze(&mut self) {
        let expected = self.window.next;
        self.held.restand(|counter, standing| match standing {
            Standing::Unreported if expected.saturating_sub(counter) > REPORTABLE => Standing::Expired,
            other => other,
        });
        let unreported = || self.held.each().filter(|entry| entry.standing == Standing::Unreported);
        let base = unreported().next().map_or(0, |entry| entry.counter);
        let covered = base..base.saturating_add(COVERED);
        let mut sum = Tag::default();
        let mut bitmap = 0_u32;
        for entry in unreported().filter(|entry| covered.contains(&entry.counter)) {
            sum = sum.xor(&entry.tag);
            bitmap |= 1 << (entry.counter - base);
        }
        self.held.restand(|counter, standing| match standing {
            Standing::Unreported if covered.contains(&counter) => Standing::Frozen,
            other => other,
        });
        let octets = bitmap.to_be_bytes();
        let body = array::from_fn(|place| if place == 0 { low(base, 0xff) } else { octets[place - 1] });
        self.report = Some(Report { generation: self.current.next(base, bitmap, &sum), body });
        sum.zeroize();
        self.accepted = 0;
        self.due_after = self.parameters.report_every;
    }

    fn hear_rescue(&mut self, number: u32, record: &[u8]) -> Result<(), Error> {
        if record.len() != RESCUE_B {
            return Err(Error::Length);
        }
        if number != self.rescues + 1 {
            return Err(Error::Unexpected);
        }
        let (sealed, sent_tag) = body_and_tag(record, TAG_B)?;
        let mut body = [0; RESCUE_B - TAG_B];
        if !open(&self.root.rescue_up, &nonce(0, number), &[], sealed, &mut body).begins_with(sent_tag, 8 * TAG_B) {
            body.zeroize();
            return Err(Error::Tag);
        }
        disclosed(&mut body[..8]);
        let number_at = |place: usize| u32::from_be_bytes(array::from_fn(|octet| body[place + octet]));
        let (generation, next_counter) = (number_at(0), number_at(4));
        let mut confirmation = [0; TAG_B];
        confirmation.copy_from_slice(&body[8..]);
        body.zeroize();
        let holds =
            |held: &Generation| held.number == generation && verdict(held.confirmation().ct_eq(&confirmation).into());
        let shares_current = holds(&self.current);
        let shares_report = self.report.as_ref().is_some_and(|report| holds(&report.generation));
        let shared = shares_current || shares_report;
        self.held.restand(|counter, standing| match standing {
            _ if counter >= next_counter => Standing::Refuted,
            Standing::Attested { .. } if shared => Standing::Verified { bits: WHOLE_BITS },
            Standing::Frozen if shares_report => Standing::Verified { bits: WHOLE_BITS },
            _ if !shared => Standing::Doubted,
            _ if next_counter - counter > REPORTABLE => Standing::Expired,
            _ => Standing::Unreported,
        });
        self.current = self.root.again(number, generation, &confirmation, self.parameters.short_tag_bits);
        confirmation.zeroize();
        // The keys of all messages before are gone, and whatever was taken from there on is forged.
        self.window = Window::from(next_counter);
        self.report = None;
        self.rescues = number;
        (self.confirmed, self.whole_only) = (true, true);
        (self.failures, self.failures_in_row, self.accepted, self.due_after) = (0, 0, 0, 1);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Hint, Pair, Protection, Sensor};

    #[test]
    fn what_was_refused_received_or_lost_is_no_longer_in_memory() {
        let root = Root::new(&Pair { secret: [0x21; 32], link: *b"test" }, [1; 8], [2; 8]);
        let parameters = Parameters::new(Hint::None);
        let (mut sensor, mut gateway): (_, Gateway) =
            (Sensor::new(root.clone(), parameters), Gateway::new(root, parameters));
        let mut frame = [0; 64];
        let sealed = sensor.seal(b"for once", Protection::Whole, &mut frame).unwrap();
        let (record, told) = (&mut frame[..sealed.length_B], Some((sealed.kind, sealed.counter)));
        record[0] ^= 1;
        assert_eq!(gateway.hear(record, told), Err(Error::Tag));
        assert!(gateway.held.written().is_empty());
        record[0] ^= 1;
        gateway.hear(record, told).unwrap();
        let message = gateway.receive().unwrap();
        assert_eq!(message.payload(), b"for once");
        drop(message);
        assert!(gateway.held.written().is_empty());
        let report_B = gateway.speak(&mut frame).unwrap().unwrap();
        sensor.hear(&frame[..report_B]).unwrap();
        let sealed = sensor.seal(b"in vain", Protection::Short, &mut frame).unwrap();
        gateway.hear(&frame[..sealed.length_B], Some((sealed.kind, sealed.counter))).unwrap();
        gateway.held.restand(|_, _| Standing::Doubted);
        assert_eq!(gateway.lost(), Some((1, Fate::Doubted)));
        assert!(gateway.held.written().is_empty());
    }
}
