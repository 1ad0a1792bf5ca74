//! What is looked at, outside of what is timed, of code that nobody here wrote: many calls, each compared with what
//! another implementation gives; the fences around all buffers; whether a message that was seen before costs less.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use wattlock_ciphers::proof::Message;
use wattlock_ciphers::{Error, Mode};
use wattlock_engine::{Case as _, SplitMix64};
use wattlock_records::{Keying, Operation};

use super::expected::{right, text};
use super::loops::refused;
use super::{BLANK, Bound, KEY_SHOWN_B, SEEN_EACH_VISIT_B, room_of};
use crate::keys::bytes;
use crate::packets::Fenced;

/// So many calls one after another are looked at: more than 50,000, so that an error in one of as many shows.
const SEEN_CALLS: u32 = 1 << 16;
/// Before each visit half the calls of the last one are looked at, at most so many.
const SEEN_BETWEEN: u32 = 512;
/// The short message that is looked at beside a longer one.
const SHORT_B: usize = 16;
/// It may take so many times as long as the others: all calls of a slow cipher on a slow device.
const SHORT_LIMITS: u64 = 4;
/// Messages that are timed once and once more.
const ROUNDS: usize = 61;
/// Of a long message so many will do.
const LEAST_ROUNDS: usize = 7;
/// And so often once more: who looks up only some calls answers from memory in fewer than a tenth of these, or seldom.
const AGAIN: usize = 7;
/// Messages before each of them: tables are in cache then.
const WARM: usize = 8;
/// A message of 64 B or more that takes less than this of its time, percent, when it comes again was remembered. Where
/// nothing is remembered both take the same: branches are driven out of the predictor between the two.
const AGAIN_PERCENT: u64 = 60;
/// The same of a shorter one, and of a key. Seen where every bit is a branch and nothing is remembered: 46.
const SHORT_AGAIN_PERCENT: u64 = 30;
/// As [`AGAIN_PERCENT`], after the timed loop itself, whose branches are learnt by then. Seen in the same code: 22.
const KNOWN_PERCENT: u64 = 15;
/// Branches at random, which drive out what the core's predictor has learnt.
const BRANCHES: u32 = 4096;

/// A message of its own, in buffers of its own.
struct Trial {
    key: Fenced,
    iv: Fenced,
    aad: Fenced,
    input: Fenced,
    output: Fenced,
    right: Vec<u8>,
}

impl Bound {
    /// As of [`crate::prepared::Prepared::prove_often`].
    pub(super) fn look_closely(&mut self, now: &mut dyn FnMut() -> u64, limit: u64) -> Result<(), String> {
        let is_first = self.looked_at.is_none();
        self.looked_at.get_or_insert(0);
        let begun = now();
        self.look(SEEN_CALLS, &mut || now().saturating_sub(begun) > limit)?;
        if is_first {
            let begun = now();
            self.look_at_a_short_one(&mut || now().saturating_sub(begun) > limit.saturating_mul(SHORT_LIMITS))?;
        }
        let (sets_up, each) = (self.factors.plan.operation == Operation::KeySetup, self.factors.plan.keying);
        for (of_keys, applies) in [(false, !sets_up), (true, sets_up || each == Keying::Each)] {
            // Twice: what disturbs one time is gone another time.
            if applies && self.remembered(of_keys, now, limit)?.is_some() {
                self.remembered(of_keys, now, limit)?.map_or(Ok(()), Err)?;
            }
        }
        self.loops.key(self.factors.keys.first()).map_err(text)
    }

    /// Looks at some calls where more than their outcome is asked of a case; keeps the first fault.
    pub(super) fn look_between_visits(&mut self) {
        let Some(calls) = self.looked_at.filter(|_| self.fault.is_none()) else { return };
        self.fault = self.overstepped().or_else(|| self.look((calls / 2).min(SEEN_BETWEEN), &mut || false).err());
        // The calls that were looked at are no visit's.
        self.looked_at = Some(0);
    }

    /// What was written outside of the buffers of the timed calls, of a case of which this is asked.
    pub(super) fn overstepped(&self) -> Option<String> {
        self.looked_at?;
        let output = self.factors.output.overstepped(self.room_B).map(|how| ("output", how));
        let (name, how) = output.or_else(|| self.factors.input.overstepped().map(|how| ("input", how)))?;
        Some(self.wrote_outside(name, &how))
    }

    fn wrote_outside(&self, name: &str, how: &str) -> String {
        let (operation, payload_B) = (self.factors.plan.operation, self.factors.plan.payload_B);
        format!("{}: {operation} {payload_B} B wrote outside of the {name}, {how}", self.spec)
    }

    /// Looks at so many calls as they are timed, one by one.
    fn look(&mut self, calls: u32, is_late: &mut dyn FnMut() -> bool) -> Result<(), String> {
        if self.segments.len() > 1 {
            return Ok(());
        }
        if self.goes_on_for_ever() {
            return self.look_at_a_stream(calls, is_late);
        }
        let (sets_up, keying) = (self.factors.plan.operation == Operation::KeySetup, self.factors.plan.keying);
        self.loops.key(self.factors.keys.first()).map_err(text)?;
        for call in 1..=calls {
            let is_right = match keying {
                _ if sets_up => self.keys_are_made()?,
                Keying::Each => self.keys_in_turn()?,
                Keying::Ready => self.packet_from_the_start()? == self.expected,
            };
            if !is_right {
                return Err(self.differs(&format!("in call {call} is not what another implementation gives")));
            }
            if let Some(fault) = self.overstepped() {
                return Err(fault);
            }
            if is_late() {
                break;
            }
        }
        Ok(())
    }

    /// A stream that goes on from call to call, against one long message.
    fn look_at_a_stream(&mut self, calls: u32, is_late: &mut dyn FnMut() -> bool) -> Result<(), String> {
        let piece_B = usize::try_from(self.factors.plan.payload_B).unwrap_or(usize::MAX).clamp(1, SEEN_EACH_VISIT_B);
        if self.factors.plan.operation == Operation::KeySetup {
            return Ok(());
        }
        let whole = self.trial(SEEN_EACH_VISIT_B / piece_B * piece_B, false)?;
        let mut output = Fenced::of(&vec![BLANK; piece_B]);
        let mut left = calls;
        while left > 0 {
            self.loops.key(self.factors.keys.first()).map_err(text)?;
            for (given, right) in whole.input.bytes().chunks(piece_B).zip(whole.right.chunks(piece_B)) {
                output.bytes_mut().fill(BLANK);
                let written = self.process((&[], &[]), given, output.bytes_mut()).map_err(text)?;
                if output.bytes().get(..written) != Some(right) {
                    return Err(self.differs("is not what another implementation gives as the stream goes on"));
                }
                if let Some(how) = output.overstepped() {
                    return Err(self.wrote_outside("output", &how));
                }
                left -= 1;
                if left == 0 || is_late() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What fails in one call of many fails in the short ones too, of which there are many in little time.
    fn look_at_a_short_one(&mut self, is_late: &mut dyn FnMut() -> bool) -> Result<(), String> {
        let mut trial = self.trial(SHORT_B, false)?;
        for call in 1..=SEEN_CALLS {
            self.attempt(&mut trial, false).map_err(|error| format!("{error} ({SHORT_B} B, call {call})"))?;
            if is_late() {
                break;
            }
        }
        Ok(())
    }

    /// Why a message, or a key, that was seen before must have been remembered; `None` where none was.
    fn remembered(
        &mut self,
        of_keys: bool,
        now: &mut dyn FnMut() -> u64,
        limit: u64,
    ) -> Result<Option<String>, String> {
        let payload_B = usize::try_from(self.factors.plan.payload_B).unwrap_or(usize::MAX).min(SEEN_EACH_VISIT_B);
        let length = if of_keys { KEY_SHOWN_B } else { payload_B };
        let warm = WARM.min(1 + 4096 / length.max(1));
        let mut others = (0..warm).map(|_| self.trial(length, of_keys)).collect::<Result<Vec<_>, _>>()?;
        let [mut first, mut again, mut known] = [const { Vec::new() }; 3];
        let begun = now();
        while first.len() < ROUNDS && (first.len() < LEAST_ROUNDS || now().saturating_sub(begun) <= limit) {
            let mut trial = self.trial(length, of_keys)?;
            others.iter_mut().try_for_each(|other| self.attempt(other, of_keys))?;
            first.push(self.clocked(&mut trial, of_keys, now)?);
            for _ in 0..AGAIN {
                again.push(self.clocked(&mut trial, of_keys, now)?);
            }
            if !of_keys && self.is_seen_again() {
                self.loops.key(self.factors.keys.first()).map_err(text)?;
                self.run(0, u32::try_from(4096 / length.max(64)).unwrap_or(0).max(1));
                for _ in 0..AGAIN {
                    known.push(self.clocked_as_timed(now)?);
                }
            }
        }
        let reads = (0..ROUNDS).map(|_| now().abs_diff(now())).collect();
        let read = quick(reads).unwrap_or(0);
        let [first, again, known] = [first, again, known].map(|times| Some(quick(times)?.saturating_sub(read)));
        let is_short = of_keys || length < KEY_SHOWN_B;
        let least = if is_short { SHORT_AGAIN_PERCENT } else { AGAIN_PERCENT };
        let is_known = known.is_some_and(|known| known * 100 < first.unwrap_or(0) * KNOWN_PERCENT);
        let came_again = again.zip(first).filter(|(again, first)| again * 100 < first * least);
        let less = came_again.or(known.zip(first).filter(|_| is_known));
        Ok(less.map(|(less, first)| {
            let percent = less * 100 / first.max(1);
            let what = if of_keys { "keys" } else { "messages" };
            self.differs(&format!(
                "takes {percent} % of its time when it is asked for again: the library remembers {what}"
            ))
        }))
    }

    /// The time of a message, or of its key setup, of which the core's predictor knows nothing.
    fn clocked(&mut self, trial: &mut Trial, of_keys: bool, now: &mut dyn FnMut() -> u64) -> Result<u64, String> {
        if of_keys {
            forget_branches(&mut self.random);
            let start = now();
            self.loops.key(black_box(trial.key.bytes())).map_err(text)?;
            let end = now();
            self.attempt(trial, false)?;
            return Ok(end.saturating_sub(start));
        }
        if self.goes_on_for_ever() {
            self.loops.key(trial.key.bytes()).map_err(text)?;
        }
        trial.output.bytes_mut().fill(BLANK);
        forget_branches(&mut self.random);
        let start = now();
        let written = self.carry_out(trial).map_err(text)?;
        let end = now();
        self.judge(trial, written)?;
        Ok(end.saturating_sub(start))
    }

    /// The time of a packet as it is timed.
    fn clocked_as_timed(&mut self, now: &mut dyn FnMut() -> u64) -> Result<u64, String> {
        forget_branches(&mut self.random);
        let start = now();
        self.loops.packet(&mut self.factors).map_err(text)?;
        Ok(now().saturating_sub(start))
    }

    /// A message of random bytes, and what it must become.
    fn trial(&mut self, plain_B: usize, has_own_key: bool) -> Result<Trial, String> {
        let (operation, random) = (self.factors.plan.operation, &mut self.random);
        let first = self.factors.keys.first();
        let key = if has_own_key { bytes(random, first.len()) } else { first.to_vec() };
        let [plain, iv, aad] = [plain_B, self.spec.iv_B(), self.factors.aad.len()].map(|count| bytes(random, count));
        let message = Message { key: &key, iv: &iv, aad: &aad, text: &plain };
        let mut sealed = right(&mut *self.loops, &self.spec, message, &self.oracle)?;
        let room = vec![BLANK; room_of(operation, plain_B, sealed.len())];
        if let (Operation::OpenForged, Some(last)) = (operation, sealed.last_mut()) {
            *last ^= 1;
        }
        let [key, iv, aad, output] = [&key, &iv, &aad, &room].map(|bytes| Fenced::of(bytes));
        let (input, right) = match operation {
            Operation::OpenForged => (sealed, Vec::new()),
            _ if operation.is_backward() => (sealed, plain),
            _ => (plain, sealed),
        };
        // What was asked for by the way may have left another key.
        self.loops.key(key.bytes()).map_err(text)?;
        Ok(Trial { key, iv, aad, input: Fenced::of(&input), output, right })
    }

    /// Carries a trial out and compares it.
    fn attempt(&mut self, trial: &mut Trial, sets_key: bool) -> Result<(), String> {
        if sets_key || self.goes_on_for_ever() {
            self.loops.key(trial.key.bytes()).map_err(text)?;
        }
        trial.output.bytes_mut().fill(BLANK);
        let written = self.carry_out(trial).map_err(text)?;
        self.judge(trial, written)
    }

    fn carry_out(&mut self, trial: &mut Trial) -> Result<usize, Error> {
        let Trial { iv, aad, input, output, .. } = trial;
        black_box(self.process((iv.bytes(), aad.bytes()), black_box(input.bytes()), output.bytes_mut()))
    }

    /// The operation of the case on other bytes; that of a key setup is what shows it.
    ///
    /// * `beside`: IV and associated data.
    fn process(&mut self, beside: (&[u8], &[u8]), input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let ((iv, aad), cipher) = (beside, self.loops.cipher());
        match self.factors.plan.operation {
            Operation::Open => cipher.open(iv, aad, input, output),
            Operation::OpenForged => refused(cipher.open(iv, aad, input, output)),
            Operation::Decrypt => cipher.decrypt(iv, input, output),
            _ if self.spec.card.mode == Mode::Aead => cipher.seal(iv, aad, input, output),
            _ => cipher.encrypt(iv, input, output),
        }
    }

    fn judge(&self, trial: &Trial, written: usize) -> Result<(), String> {
        let Trial { key, iv, aad, input, output, right } = trial;
        let named = [("output", output), ("input", input), ("IV", iv), ("associated data", aad), ("key", key)];
        if let Some((name, how)) = named.iter().find_map(|(name, bytes)| Some((name, bytes.overstepped()?))) {
            return Err(self.wrote_outside(name, &how));
        }
        if output.bytes().get(..written) == Some(right) {
            return Ok(());
        }
        Err(self.differs("of random bytes is not what another implementation gives"))
    }

    /// Whether the timed loop has one message, and it is no long one.
    fn is_seen_again(&self) -> bool {
        let is_short = self.raw_B <= SEEN_EACH_VISIT_B && self.segments.len() <= 1;
        is_short && self.factors.plan.keying == Keying::Ready && self.factors.plan.operation != Operation::KeySetup
    }

    /// Whether it is a stream that goes on from call to call until it has another key.
    fn goes_on_for_ever(&self) -> bool {
        self.spec.card.mode == Mode::Stream && self.spec.iv_B() == 0
    }
}

/// The time that a tenth of them stay below.
fn quick(mut times: Vec<u64>) -> Option<u64> {
    times.sort_unstable();
    times.get(times.len() / 10).copied()
}

/// Takes branches at random, so that the core's predictor forgets those of the message before: code whose branches follow
/// its data is faster when it meets them again, and remembers nothing.
#[inline(never)]
fn forget_branches(random: &mut SplitMix64) {
    let mut count = 0_u32;
    for _ in 0..BRANCHES {
        if random.next_u64() & 1 == 0 {
            count = black_box(count).wrapping_add(1);
        } else {
            count = black_box(count ^ 1);
            black_box(&mut count);
        }
    }
    black_box(count);
}
