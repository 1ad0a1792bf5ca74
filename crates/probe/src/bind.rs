//! Binds cards to cells: a cipher with its key, its packets and its factors, as one thing that the engine can time.
//!
//! A cell's loop is compiled for its cipher: one indirect call a batch, none a packet. Everything that is not the
//! factor under study (allocation, padding decisions, expected outputs) happens before the clock starts.
#![forbid(unsafe_code)]

use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;
use std::rc::Rc;

use data_encoding::{BASE64, HEXLOWER};
use wattlock_ciphers::{Cipher, Error, MAX_IV_B, MAX_PADDING_B, Mode, Spec, Visitor};
use wattlock_engine::{Cell, SplitMix64};

use crate::keys::{Keys, bytes};
use crate::packets::{Packets, Placed};
use crate::records::{Encoding, Keying, Operation, Pattern, PlannedCell};

/// The largest payload of a cell.
const LARGEST_PAYLOAD_B: usize = 64 * 1024 * 1024;
/// So much of a message goes through its cipher and back before it is timed.
const ROUND_TRIP_B: usize = 16 * 1024;

/// A cell that the engine can time and that can be held to its outputs.
pub trait Prepared: Cell {
    /// Cuts a call into segments of `segment_B` bytes; gives whether this cell can be cut.
    fn cut(&mut self, segment_B: usize) -> bool;

    /// Where a segment begins in the payload.
    fn offset(&self, segment: u32) -> u64;

    /// Carries the operation out once more and compares its output with the one from before the timing.
    ///
    /// # Errors
    /// What differs, or the cipher's own error.
    fn check(&mut self) -> Result<(), String>;
}

impl Cell for Box<dyn Prepared> {
    fn segments(&self) -> u32 {
        (**self).segments()
    }
    fn settle(&mut self, seed: u64) {
        (**self).settle(seed);
    }
    fn run(&mut self, segment: u32, calls: u32) {
        (**self).run(segment, calls);
    }
}

/// The entry without anything behind it: what the loop itself costs.
pub struct Empty;

impl Cell for Empty {
    fn run(&mut self, _segment: u32, calls: u32) {
        for call in 0..calls {
            black_box(call);
        }
    }
}

impl Prepared for Empty {
    fn cut(&mut self, _segment_B: usize) -> bool {
        false
    }
    fn offset(&self, _segment: u32) -> u64 {
        0
    }
    fn check(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Binds a planned cell to the built-in cipher `spec`.
///
/// * `payload`: the plaintext of a data cell; `None` draws one from the seed.
///
/// # Errors
/// Why this combination of factors makes no cell, or that the round trip failed.
pub fn bind(
    spec: &Spec,
    plan: &PlannedCell,
    payload: Option<Rc<[u8]>>,
    seed: u64,
) -> Result<Box<dyn Prepared>, String> {
    spec.visit(Binder { plan, payload, seed })
}

/// Binds a planned cell to a cipher of the type `C`, whoever's code it is.
///
/// # Errors
/// As of [`bind`].
pub fn bind_to<C: Cipher>(
    spec: &Spec,
    plan: &PlannedCell,
    payload: Option<Rc<[u8]>>,
    seed: u64,
) -> Result<Box<dyn Prepared>, String> {
    let cell = Bound::<C>::new(*spec, plan, payload, seed)?;
    Ok(Box::new(cell))
}

struct Binder<'a> {
    plan: &'a PlannedCell,
    payload: Option<Rc<[u8]>>,
    seed: u64,
}

impl Visitor for Binder<'_> {
    type Output = Result<Box<dyn Prepared>, String>;

    fn visit<C: Cipher>(self, spec: &Spec) -> Self::Output {
        bind_to::<C>(spec, self.plan, self.payload, self.seed)
    }
}

struct Bound<C> {
    spec: Spec,
    plan: PlannedCell,
    keys: Keys,
    iv: Vec<u8>,
    /// The IV of the next packet: `iv`, or what the packet before left where packets are chained.
    chain: Vec<u8>,
    /// How the first packet begins; in ECB the packets after it begin with the block before.
    lead: Vec<u8>,
    cipher: C,
    input: Packets,
    /// Room for the cipher's output, padding included.
    output: Placed,
    /// Room for the encoder's output, or for the decoder's.
    text: Vec<u8>,
    segments: Vec<Segment>,
    /// Bytes of the message up to the segment that ran last.
    written: usize,
    /// Hash of the output of the first packet under a fresh key.
    expected: u64,
    /// The first error inside a timed loop.
    broke: Option<Error>,
}

/// A part of a long message, with the chaining value with which it begins: the part before leaves it here.
struct Segment {
    from: usize,
    to: usize,
    iv: [u8; MAX_IV_B],
}

impl<C: Cipher> Bound<C> {
    fn new(spec: Spec, plan: &PlannedCell, payload: Option<Rc<[u8]>>, seed: u64) -> Result<Self, String> {
        refuse_nonsense(plan)?;
        let mut random = SplitMix64::new(seed ^ (u64::from(plan.cell) << 32));
        let key = bytes(&mut random, spec.key_B());
        let iv = bytes(&mut random, spec.iv_B());
        let payload_B = usize::try_from(plan.payload_B).ok().filter(|payload_B| *payload_B <= LARGEST_PAYLOAD_B);
        let payload_B = payload_B.ok_or_else(|| format!("a payload of {} B, the limit is 64 MiB", plan.payload_B))?;
        let plain = payload.unwrap_or_else(|| bytes(&mut random, payload_B).into());
        let mut cipher = C::key_setup(&spec, &key).map_err(text)?;
        check_round_trip::<C>(&spec, &key, &iv, &plain)?;

        let input = if plan.operation == Operation::Decrypt {
            let mut sealed = vec![0; plain.len() + MAX_PADDING_B];
            let written = cipher.encrypt(&iv, &plain, &mut sealed).map_err(text)?;
            sealed.truncate(written);
            match plan.encoding {
                Encoding::Raw => sealed.into(),
                Encoding::Base64 => BASE64.encode(&sealed).into_bytes().into(),
                Encoding::Hex => HEXLOWER.encode(&sealed).into_bytes().into(),
            }
        } else {
            plain
        };
        let room = input.len() + MAX_PADDING_B;
        let mut bound = Self {
            cipher,
            input: Packets::new(&input, plan.placement, &mut random),
            output: Placed::new(room),
            text: vec![0; if plan.encoding == Encoding::Raw { 0 } else { 2 * room + 4 }],
            segments: Vec::new(),
            written: 0,
            expected: 0,
            broke: None,
            spec,
            plan: plan.clone(),
            keys: Keys::new(key),
            chain: iv.clone(),
            lead: input.iter().take(spec.block_B()).copied().collect(),
            iv,
        };
        bound.expected = bound.first_packet()?;
        Ok(bound)
    }

    /// The hash of what the first packet gives under a fresh key.
    fn first_packet(&mut self) -> Result<u64, String> {
        self.cipher = C::key_setup(&self.spec, self.keys.first()).map_err(text)?;
        self.chain.copy_from_slice(&self.iv);
        self.input.rewind();
        self.input.lead_with(&self.lead);
        let written = self.packet_with_ready_key().map_err(text)?;
        let shown = if self.plan.encoding == Encoding::Raw || self.plan.operation == Operation::Decrypt {
            &self.output.bytes()[..written]
        } else {
            &self.text[..written]
        };
        Ok(hash(shown))
    }

    /// One packet with all its factors; gives the bytes that it ends as.
    #[inline]
    fn packet(&mut self) -> Result<usize, Error> {
        if self.plan.keying == Keying::Each {
            self.cipher = C::key_setup(&self.spec, black_box(self.keys.next()))?;
        }
        self.packet_with_ready_key()
    }

    #[inline]
    fn packet_with_ready_key(&mut self) -> Result<usize, Error> {
        let input = self.input.next();
        if self.plan.operation == Operation::Decrypt {
            let sealed = match self.plan.encoding {
                Encoding::Raw => input,
                Encoding::Base64 => decode(&BASE64, input, &mut self.text),
                Encoding::Hex => decode(&HEXLOWER, input, &mut self.text),
            };
            return self.cipher.decrypt(&self.chain, sealed, self.output.bytes_mut());
        }
        let written = self.cipher.encrypt(&self.chain, input, self.output.bytes_mut())?;
        if self.plan.pattern == Pattern::Chained {
            let from = written.saturating_sub(self.spec.block_B());
            if self.chain.is_empty() {
                self.input.lead_with(&self.output.bytes()[from..written]);
            } else {
                self.chain.iter_mut().zip(&self.output.bytes()[from..written]).for_each(|(iv, byte)| *iv = *byte);
            }
        }
        Ok(match self.plan.encoding {
            Encoding::Raw => written,
            Encoding::Base64 => encode(&BASE64, &self.output.bytes()[..written], &mut self.text),
            Encoding::Hex => encode(&HEXLOWER, &self.output.bytes()[..written], &mut self.text),
        })
    }

    /// Whether the packet loop is the bare one: nothing but the cipher between two calls.
    fn is_bare(&self) -> bool {
        self.plan.keying == Keying::Ready
            && self.plan.encoding == Encoding::Raw
            && self.plan.pattern == Pattern::Independent
            && self.input.is_single()
    }

    #[inline(never)]
    fn run_key_setups(&mut self, calls: u32) {
        for _ in 0..calls {
            let cipher = C::key_setup(black_box(&self.spec), black_box(self.keys.next()));
            black_box(&cipher);
        }
    }

    #[inline(never)]
    fn run_bare_encrypt(&mut self, calls: u32) -> Result<(), Error> {
        let input = self.input.next();
        for _ in 0..calls {
            black_box(self.cipher.encrypt(black_box(&self.iv), black_box(input), self.output.bytes_mut())?);
            black_box(&mut self.output);
        }
        Ok(())
    }

    #[inline(never)]
    fn run_bare_decrypt(&mut self, calls: u32) -> Result<(), Error> {
        let input = self.input.next();
        for _ in 0..calls {
            black_box(self.cipher.decrypt(black_box(&self.iv), black_box(input), self.output.bytes_mut())?);
            black_box(&mut self.output);
        }
        Ok(())
    }

    #[inline(never)]
    fn run_packets(&mut self, calls: u32) -> Result<(), Error> {
        for _ in 0..calls {
            black_box(self.packet()?);
            black_box(&mut self.output);
        }
        Ok(())
    }

    #[inline(never)]
    fn run_segment(&mut self, index: usize) -> Result<(), Error> {
        let Some(segment) = self.segments.get(index) else { return Ok(()) };
        let segment_from = segment.from;
        if index == 0 && self.plan.keying == Keying::Each {
            self.cipher = C::key_setup(&self.spec, black_box(self.keys.next()))?;
        }
        let mut chain = segment.iv;
        let iv = &mut chain[..self.spec.iv_B()];
        let is_last = index + 1 == self.segments.len();
        let input = black_box(&self.input.next()[segment.from..segment.to]);
        let output = &mut self.output.bytes_mut()[segment.from..];
        let written = match (self.plan.operation, is_last) {
            (Operation::Decrypt, false) => self.cipher.decrypt_part(iv, input, output).map(|()| input.len()),
            (Operation::Decrypt, true) => self.cipher.decrypt(iv, input, output),
            (_, false) => self.cipher.encrypt_part(iv, input, output).map(|()| input.len()),
            (_, true) => self.cipher.encrypt(iv, input, output),
        }?;
        match self.plan.encoding {
            Encoding::Raw => {}
            Encoding::Base64 => drop(black_box(encode(&BASE64, &output[..written], &mut self.text))),
            Encoding::Hex => drop(black_box(encode(&HEXLOWER, &output[..written], &mut self.text))),
        }
        if let Some(next) = self.segments.get_mut(index + 1) {
            next.iv = chain;
        }
        self.written = segment_from + written;
        black_box(&mut self.output);
        Ok(())
    }
}

impl<C: Cipher> Cell for Bound<C> {
    fn segments(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX).max(1)
    }

    fn settle(&mut self, seed: u64) {
        let mut random = SplitMix64::new(seed);
        let checked_by_segments = self.segments.len() > 1;
        if self.plan.operation != Operation::Decrypt && !checked_by_segments {
            self.keys.settle(&mut random);
        }
        self.input.settle(&mut random);
        self.output.settle(&mut random);
    }

    fn run(&mut self, segment: u32, calls: u32) {
        let done = if self.segments.len() > 1 {
            self.run_segment(segment as usize)
        } else if self.plan.operation == Operation::KeySetup {
            self.run_key_setups(calls);
            Ok(())
        } else if self.is_bare() && self.plan.operation == Operation::Encrypt {
            self.run_bare_encrypt(calls)
        } else if self.is_bare() {
            self.run_bare_decrypt(calls)
        } else {
            self.run_packets(calls)
        };
        if let Err(error) = done {
            self.broke.get_or_insert(error);
        }
    }
}

impl<C: Cipher> Prepared for Bound<C> {
    fn cut(&mut self, segment_B: usize) -> bool {
        let block = self.spec.block_B().max(1);
        // A decoder that is cut would need the cut in the text; a ring of packets has no one message to cut.
        let decodes = self.plan.operation == Operation::Decrypt && self.plan.encoding != Encoding::Raw;
        if self.plan.operation == Operation::KeySetup || decodes || !self.input.is_single() {
            return false;
        }
        let segment_B = (segment_B / block).max(1) * block;
        self.written = 0;
        let length = self.input.length();
        let mut iv = [0; MAX_IV_B];
        iv[..self.iv.len()].copy_from_slice(&self.iv);
        let part = |from| Segment { from, to: length.min(from + segment_B), iv };
        self.segments = (0..length).step_by(segment_B).map(part).collect();
        self.segments.len() > 1
    }

    fn offset(&self, segment: u32) -> u64 {
        self.segments.get(segment as usize).map_or(0, |segment| segment.from as u64)
    }

    fn check(&mut self) -> Result<(), String> {
        if let Some(error) = self.broke {
            return Err(format!("the cipher failed inside a timed loop: {error}"));
        }
        // A visit left the whole message's output behind, segment by segment.
        let assembled = self.segments.len() > 1 && self.written > 0 && self.spec.card.mode != Mode::Stream;
        let found = if assembled && self.plan.encoding == Encoding::Raw {
            hash(&self.output.bytes()[..self.written])
        } else {
            self.first_packet()?
        };
        if found == self.expected {
            Ok(())
        } else {
            Err("the output after the timing is not the one before it".to_owned())
        }
    }
}

/// A cell is not timed before a message has gone through its cipher and come back.
fn check_round_trip<C: Cipher>(spec: &Spec, key: &[u8], iv: &[u8], plain: &[u8]) -> Result<(), String> {
    let plain = &plain[..plain.len().min(ROUND_TRIP_B)];
    let mut sealed = vec![0; plain.len() + MAX_PADDING_B];
    let mut opened = vec![0; plain.len() + 2 * MAX_PADDING_B];
    let written = C::key_setup(spec, key).and_then(|mut c| c.encrypt(iv, plain, &mut sealed)).map_err(text)?;
    let length =
        C::key_setup(spec, key).and_then(|mut c| c.decrypt(iv, &sealed[..written], &mut opened)).map_err(text)?;
    if opened[..length] == *plain { Ok(()) } else { Err("decryption does not give the plaintext back".to_owned()) }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

fn refuse_nonsense(plan: &PlannedCell) -> Result<(), String> {
    let refused = match (plan.operation, plan.keying, plan.pattern) {
        (Operation::KeySetup, Keying::Each, _) => "a key setup with a key setup in every packet is no cell",
        (Operation::Decrypt, _, Pattern::Chained) => {
            "decrypted packets do not wait for one another: no chained pattern"
        }
        (Operation::KeySetup, _, Pattern::Chained) => "key setups do not wait for one another: no chained pattern",
        _ => return Ok(()),
    };
    Err(refused.to_owned())
}

fn text(error: Error) -> String {
    error.to_string()
}

#[inline]
fn encode(encoding: &data_encoding::Encoding, from: &[u8], to: &mut [u8]) -> usize {
    let length = encoding.encode_len(from.len());
    encoding.encode_mut(from, &mut to[..length]);
    length
}

/// Decodes text of our own making; a wrong letter would show as a wrong output.
#[inline]
fn decode<'a>(encoding: &data_encoding::Encoding, from: &[u8], to: &'a mut [u8]) -> &'a [u8] {
    let room = encoding.decode_len(from.len()).unwrap_or(0);
    let length = encoding.decode_mut(from, &mut to[..room]).unwrap_or(0);
    &to[..length]
}
