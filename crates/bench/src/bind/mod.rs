//! Binds cards to cases: a cipher with its key, its packets and its factors, as one thing that the engine can time.
//!
//! A case's loop is compiled for its cipher (`loops`). Everything that is not the factor under study (allocation, padding
//! decisions, expected outputs) happens before the clock starts.

mod expected;
mod looks;
mod loops;
#[cfg(test)]
mod tests;

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use data_encoding::{BASE64, HEXLOWER};
use wattlock_ciphers::proof::Message;
use wattlock_ciphers::{Direction, Error, MAX_IV_B, MAX_PADDING_B, Mode, Spec, Suite};
use wattlock_engine::{Case, SplitMix64};
use wattlock_records::{Encoding, Keying, Operation, Pattern, PlannedCase};

pub use self::expected::Oracle;
use self::expected::{hash, right, text, there_and_back};
use self::loops::{Driver, Factors, Loops, encode};
use crate::keys::{Keys, bytes};
use crate::packets::{Packets, Placed};
use crate::prepared::Prepared;

/// The largest payload of a case.
pub(crate) const LARGEST_PAYLOAD_B: usize = 64 * 1024 * 1024;
/// The longest associated data of a case.
pub(crate) const LARGEST_AAD_B: usize = 64 * 1024;
/// So much of a message goes through its cipher and back before it is timed.
const ROUND_TRIP_B: usize = 16 * 1024;
/// A timed key setup is shown by what its key makes of so many bytes at least: of none a stream makes none.
const KEY_SHOWN_B: usize = 64;
/// The longest output that is looked at after each visit; of a longer one only what the last visit left is.
const SEEN_EACH_VISIT_B: usize = 1 << 16;
/// Two keys in turn, so often.
const KEY_TURNS: usize = 4;
/// What an output holds before something is written to it.
const BLANK: u8 = 0xa5;

/// Binds a planned case to an implementation, whoever's code it is.
///
/// * `payload`: the plaintext of a data case; `None` draws one from the seed.
/// * `oracle`: what tells the right output at the very length that is timed.
///
/// # Errors
/// Why this combination of factors makes no case, that the round trip failed, or that the output is not the right one.
pub fn bind<S: Suite>(
    spec: &Spec,
    suite: &S,
    plan: &PlannedCase,
    payload: Option<Rc<[u8]>>,
    seed: u64,
    oracle: Oracle,
) -> Result<Box<dyn Prepared>, String> {
    refuse_nonsense(spec, plan)?;
    let mut random = SplitMix64::new(seed ^ (u64::from(plan.case) << 32));
    let key = bytes(&mut random, spec.key_B());
    let direction = if plan.operation.is_backward() { Direction::Decrypt } else { Direction::Encrypt };
    let driver = Driver::new(suite.clone(), &key, direction).map_err(text)?;
    let mut bound = Bound::new(*spec, plan, payload, key, random, Box::new(driver), oracle)?;
    bound.prove()?;
    Ok(Box::new(bound))
}

struct Bound {
    spec: Spec,
    loops: Box<dyn Loops>,
    factors: Factors,
    segments: Vec<Segment>,
    /// Bytes of the message up to the segment that ran last.
    written: usize,
    /// Hash of what the first packet under a fresh key must end as, and of the cipher's part of that.
    expected: u64,
    expected_raw: u64,
    /// Bytes of the cipher's part.
    raw_B: usize,
    /// Of a key setup another key and what it must make: a setup that does nothing shows by the key before.
    other_key: Option<(Vec<u8>, u64)>,
    /// Calls were made since the output was blanked.
    ran: bool,
    /// A visit left another output than the right one.
    left_wrong: bool,
    /// The first error inside a timed loop.
    broke: Option<Error>,
    /// What tells the right output of any message.
    oracle: Oracle,
    /// Bytes that the cipher may write.
    room_B: usize,
    /// Draws messages that are looked at.
    random: SplitMix64,
    /// Calls are looked at before each visit: so many in the last one.
    looked_at: Option<u32>,
    /// The first fault that these calls showed.
    fault: Option<String>,
}

/// A part of a long message, with the chaining value with which it begins: the part before leaves it here.
struct Segment {
    from: usize,
    to: usize,
    iv: [u8; MAX_IV_B],
}

impl Bound {
    fn new(
        spec: Spec,
        plan: &PlannedCase,
        payload: Option<Rc<[u8]>>,
        key: Vec<u8>,
        mut random: SplitMix64,
        mut loops: Box<dyn Loops>,
        oracle: Oracle,
    ) -> Result<Self, String> {
        let (payload_B, aad_B) = lengths(plan)?;
        let iv = bytes(&mut random, spec.iv_B());
        let sets_up = plan.operation == Operation::KeySetup;
        let plain = payload.filter(|_| !sets_up);
        let plain = plain.unwrap_or_else(|| bytes(&mut random, if sets_up { KEY_SHOWN_B } else { payload_B }).into());
        let aad = bytes(&mut random, aad_B);
        let message = Message { key: &key, iv: &iv, aad: &aad, text: &plain };
        // The way back is proven at the length where it is timed; elsewhere a part of the message has to come back.
        let short = Message { text: &plain[..plain.len().min(ROUND_TRIP_B)], ..message };
        there_and_back(&mut *loops, &spec, short, &mut vec![0; short.text.len() + MAX_PADDING_B])?;
        let right = right(&mut *loops, &spec, message, &oracle)?;
        let room_B = room_of(plan.operation, plain.len(), right.len());
        let other_key = if sets_up {
            let other: Vec<u8> = key.iter().map(|byte| !byte).collect();
            let made = self::right(&mut *loops, &spec, Message { key: &other, ..message }, &oracle)?;
            Some((other, hash(&made)))
        } else {
            None
        };
        let Ends { input, raw_B, expected, expected_raw } = ends(plan, plain, right);
        let room = input.len() + MAX_PADDING_B;
        let mut factors = Factors {
            input: Packets::new(&input, plan.placement, &mut random),
            output: Placed::new(room),
            text: vec![0; if plan.encoding == Encoding::Raw { 0 } else { 2 * room + 4 }],
            plan: plan.clone(),
            keys: Keys::new(key),
            chain: iv.clone(),
            lead: input.iter().take(spec.block_B()).copied().collect(),
            iv,
            aad,
        };
        factors.output.blank();
        Ok(Self {
            spec,
            loops,
            factors,
            segments: Vec::new(),
            written: 0,
            expected,
            expected_raw,
            raw_B,
            other_key,
            ran: false,
            left_wrong: false,
            broke: None,
            oracle,
            room_B,
            random,
            looked_at: None,
            fault: None,
        })
    }

    /// The hash of what the first packet gives under a fresh key.
    fn first_packet(&mut self) -> Result<u64, String> {
        self.loops.key(self.factors.keys.first()).map_err(text)?;
        self.packet_from_the_start()
    }

    /// The hash of what the first packet gives under the key that is ready, into an output that held something else.
    fn packet_from_the_start(&mut self) -> Result<u64, String> {
        let factors = &mut self.factors;
        factors.chain.copy_from_slice(&factors.iv);
        factors.input.rewind();
        factors.input.lead_with(&factors.lead);
        factors.output.blank();
        factors.text.fill(BLANK);
        let written = self.loops.packet(factors).map_err(text)?;
        let shown = if factors.plan.encoding == Encoding::Raw || factors.plan.operation.is_backward() {
            &factors.output.bytes()[..written]
        } else {
            &factors.text[..written]
        };
        Ok(hash(shown))
    }

    fn run_segment(&mut self, index: usize) -> Result<(), Error> {
        let Some(segment) = self.segments.get(index) else { return Ok(()) };
        let segment_from = segment.from;
        let factors = &mut self.factors;
        if index == 0 && factors.plan.keying == Keying::Each {
            self.loops.key(black_box(factors.keys.next_key()))?;
        }
        let cipher = self.loops.cipher();
        let mut chain = segment.iv;
        let iv = &mut chain[..self.spec.iv_B()];
        let is_last = index + 1 == self.segments.len();
        let input = black_box(&factors.input.next_packet()[segment.from..segment.to]);
        let output = &mut factors.output.bytes_mut()[segment.from..];
        let written = match (factors.plan.operation, is_last) {
            (Operation::Decrypt, false) => cipher.decrypt_part(iv, input, output).map(|()| input.len()),
            (Operation::Decrypt, true) => cipher.decrypt(iv, input, output),
            (_, false) => cipher.encrypt_part(iv, input, output).map(|()| input.len()),
            (_, true) => cipher.encrypt(iv, input, output),
        }?;
        match factors.plan.encoding {
            Encoding::Raw => {}
            Encoding::Base64 => drop(black_box(encode(&BASE64, &output[..written], &mut factors.text))),
            Encoding::Hex => drop(black_box(encode(&HEXLOWER, &output[..written], &mut factors.text))),
        }
        if let Some(next) = self.segments.get_mut(index + 1) {
            next.iv = chain;
        }
        self.written = segment_from + written;
        black_box(&mut factors.output);
        Ok(())
    }
}

impl Case for Bound {
    fn segments(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX).max(1)
    }

    fn settle(&mut self, seed: u64) {
        self.left_wrong |= self.raw_B <= SEEN_EACH_VISIT_B && self.left_behind() == Some(false);
        self.look_between_visits();
        let mut random = SplitMix64::new(seed);
        let checked_by_segments = self.segments.len() > 1;
        if !self.factors.plan.operation.is_backward() && !checked_by_segments {
            self.factors.keys.settle(&mut random);
        }
        self.factors.input.settle(&mut random);
        // What is right afterwards was written in this visit.
        let blank = random.next_u64().to_le_bytes()[0];
        self.factors.output.settle_blank(&mut random, blank);
        (self.ran, self.written) = (false, 0);
    }

    fn buffers(&self) -> (usize, usize) {
        (self.factors.input.address(), self.factors.output.bytes().as_ptr().addr())
    }

    fn run(&mut self, segment: u32, calls: u32) {
        self.ran |= calls > 0;
        self.looked_at = self.looked_at.map(|_| calls);
        let done = if self.segments.len() > 1 {
            self.run_segment(segment as usize)
        } else if self.factors.plan.operation == Operation::KeySetup {
            self.loops.key_setups(&mut self.factors, calls)
        } else if self.factors.is_bare() {
            self.loops.bare(&mut self.factors, calls)
        } else {
            self.loops.packets(&mut self.factors, calls)
        };
        if let Err(error) = done {
            self.broke.get_or_insert(error);
        }
    }
}

impl Prepared for Bound {
    fn cut(&mut self, segment_B: usize) -> bool {
        let block = self.spec.block_B().max(1);
        let plan = &self.factors.plan;
        // A decoder that is cut would need the cut in the text; a ring of packets has no one message to cut; a tag is of
        // the whole message.
        let decodes = plan.operation == Operation::Decrypt && plan.encoding != Encoding::Raw;
        let whole = plan.operation == Operation::KeySetup || self.spec.card.mode == Mode::Aead;
        if whole || decodes || !self.factors.input.is_single() || !self.goes_on() {
            return false;
        }
        let segment_B = (segment_B / block).max(1) * block;
        self.written = 0;
        let length = self.factors.input.length();
        let mut iv = [0; MAX_IV_B];
        iv[..self.factors.iv.len()].copy_from_slice(&self.factors.iv);
        let part = |from| Segment { from, to: length.min(from + segment_B), iv };
        self.segments = (0..length).step_by(segment_B).map(part).collect();
        self.segments.len() > 1
    }

    fn offset(&self, segment: u32) -> u64 {
        self.segments.get(segment as usize).map_or(0, |segment| segment.from as u64)
    }

    fn prove(&mut self) -> Result<(), String> {
        let is_right = if self.factors.plan.operation == Operation::KeySetup {
            self.keys_are_made()?
        } else if self.factors.plan.keying == Keying::Each {
            self.keys_in_turn()?
        } else if self.segments.len() > 1 {
            self.loops.key(self.factors.keys.first()).map_err(text)?;
            self.factors.chain.copy_from_slice(&self.factors.iv);
            self.factors.output.blank();
            (0..self.segments.len()).try_for_each(|index| self.run_segment(index)).map_err(text)?;
            self.assembled() == self.expected_raw
        } else {
            self.first_packet()? == self.expected
        };
        if is_right { Ok(()) } else { Err(self.differs("is not what another implementation gives")) }
    }

    fn prove_often(&mut self, now: &mut dyn FnMut() -> u64, limit: u64) -> Result<(), String> {
        self.look_closely(now, limit)
    }

    fn check(&mut self) -> Result<(), String> {
        if let Some(error) = self.broke {
            return Err(format!("the cipher failed inside a timed loop: {error}"));
        }
        if self.left_wrong || self.left_behind() == Some(false) {
            return Err(self.differs("after the timing is not the one before it"));
        }
        if let Some(fault) = self.fault.take().or_else(|| self.overstepped()) {
            return Err(fault);
        }
        self.prove()
    }
}

impl Bound {
    /// Whether what the last visit left behind is the right output; `None` where that can't be told. A stream without an
    /// IV goes on from call to call, packets with a key of their own or chained to one another end as others.
    fn left_behind(&self) -> Option<bool> {
        let plan = &self.factors.plan;
        let is_one = plan.keying == Keying::Ready && plan.pattern == Pattern::Independent;
        let is_known = plan.operation != Operation::KeySetup && self.spec.card.mode != Mode::Stream;
        if self.segments.len() > 1 {
            let is_whole = self.ran && self.written == self.raw_B && self.spec.card.mode != Mode::Stream;
            return is_whole.then(|| self.assembled() == self.expected_raw);
        }
        let shows = self.ran && is_one && is_known;
        shows.then(|| hash(&self.factors.output.bytes()[..self.raw_B]) == self.expected_raw)
    }

    /// Whether two keys in turn make the right messages of the same bytes: that is all that a key setup shows.
    fn keys_are_made(&mut self) -> Result<bool, String> {
        let first = self.factors.keys.first().to_vec();
        let (other, expected_other) = self.other_key.clone().unwrap_or_else(|| (first.clone(), self.expected_raw));
        for _ in 0..KEY_TURNS {
            for (key, expected) in [(&first, self.expected_raw), (&other, expected_other)] {
                if self.message_of(key)? != expected {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether the first packet is the right one with other keys set up before.
    fn keys_in_turn(&mut self) -> Result<bool, String> {
        let other: Vec<u8> = self.factors.keys.first().iter().map(|byte| !byte).collect();
        for turn in 0..KEY_TURNS {
            // One other key or two: a setup that is skipped in every second call shows too.
            (0..=turn % 2).try_for_each(|_| self.loops.key(&other)).map_err(text)?;
            if self.first_packet()? != self.expected {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Hash of what a key makes of the message, which has to come back.
    fn message_of(&mut self, key: &[u8]) -> Result<u64, String> {
        let factors = &mut self.factors;
        factors.input.rewind();
        let text = factors.input.next_packet();
        let message = Message { key, iv: &factors.iv, aad: &factors.aad, text };
        let mut sealed = vec![0; text.len() + MAX_PADDING_B];
        let written = there_and_back(&mut *self.loops, &self.spec, message, &mut sealed)?;
        Ok(hash(&sealed[..written]))
    }

    /// Hash of what the segments left behind.
    fn assembled(&self) -> u64 {
        hash(&self.factors.output.bytes()[..self.written])
    }

    fn differs(&self, how: &str) -> String {
        let (operation, payload_B) = (self.factors.plan.operation, self.factors.plan.payload_B);
        let cut = if self.segments.len() > 1 { " in segments" } else { "" };
        format!("{}: the output of {operation} {payload_B} B{cut} {how}", self.spec)
    }

    /// Whether the cipher can end a part and go on: some streams of some libraries can't.
    fn goes_on(&mut self) -> bool {
        let (mut iv, mut output) = (self.factors.iv.clone(), [0; MAX_PADDING_B]);
        self.loops.cipher().encrypt_part(&mut iv, &[], &mut output) != Err(Error::NoSuchOperation)
    }
}

/// Bytes of a case's payload and of its associated data.
fn lengths(plan: &PlannedCase) -> Result<(usize, usize), String> {
    let size_of = |size_B: u64, most: usize| usize::try_from(size_B).ok().filter(|size_B| *size_B <= most);
    let payload_B = size_of(plan.payload_B, LARGEST_PAYLOAD_B);
    let aad_B = size_of(plan.aad_B, LARGEST_AAD_B);
    Ok((
        payload_B.ok_or_else(|| format!("a payload of {} B, the limit is 64 MiB", plan.payload_B))?,
        aad_B.ok_or_else(|| format!("associated data of {} B, the limit is 64 KiB", plan.aad_B))?,
    ))
}

/// Bytes that a cipher may write: what it is to make of `plain_B`, or of the ciphertext that it is given.
const fn room_of(operation: Operation, plain_B: usize, sealed_B: usize) -> usize {
    match operation {
        Operation::Open | Operation::OpenForged => plain_B,
        _ => sealed_B,
    }
}

/// What goes into a packet, and what must come out.
struct Ends {
    input: Rc<[u8]>,
    raw_B: usize,
    expected: u64,
    expected_raw: u64,
}

/// * `right`: what the message must become.
fn ends(plan: &PlannedCase, plain: Rc<[u8]>, right: Vec<u8>) -> Ends {
    let encoded = |bytes: Vec<u8>| match plan.encoding {
        Encoding::Raw => bytes,
        Encoding::Base64 => BASE64.encode(&bytes).into_bytes(),
        Encoding::Hex => HEXLOWER.encode(&bytes).into_bytes(),
    };
    if !plan.operation.is_backward() {
        let (raw_B, raw) = (right.len(), hash(&right));
        return Ends { input: plain, raw_B, expected: hash(&encoded(right)), expected_raw: raw };
    }
    let (mut sealed, mut opened) = (right, &*plain);
    if let (Operation::OpenForged, Some(last)) = (plan.operation, sealed.last_mut()) {
        *last ^= 1;
        opened = &[];
    }
    let (raw_B, raw) = (opened.len(), hash(opened));
    Ends { input: encoded(sealed).into(), raw_B, expected: raw, expected_raw: raw }
}

fn refuse_nonsense(spec: &Spec, plan: &PlannedCase) -> Result<(), String> {
    use Operation::{
        Agree, Decapsulate, Decrypt, Encapsulate, Encrypt, Generate, KeySetup, Open, OpenForged, Seal, Sign, Verify,
    };
    let is_aead = spec.card.mode == Mode::Aead;
    let refused = match (plan.operation, plan.keying, plan.pattern) {
        (Encrypt | Decrypt, ..) if is_aead => "an AEAD seals and opens: operation seal, open or open_forged",
        (Seal | Open | OpenForged, ..) if !is_aead => "only an AEAD seals and opens: operation encrypt or decrypt",
        (Encrypt | Decrypt | KeySetup, ..) if plan.aad_B > 0 => "only seal, open and open_forged have associated data",
        (Generate | Agree | Sign | Verify | Encapsulate | Decapsulate, ..) => "a cipher establishes no key",
        (KeySetup, Keying::Each, _) => "a key setup with a key setup in every packet is no case",
        (Decrypt | Open | OpenForged, _, Pattern::Chained) => {
            "decrypted packets do not wait for one another: no chained pattern"
        }
        (KeySetup, _, Pattern::Chained) => "key setups do not wait for one another: no chained pattern",
        _ => return Ok(()),
    };
    Err(refused.to_owned())
}
