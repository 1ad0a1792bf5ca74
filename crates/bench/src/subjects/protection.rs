//! What protecting a frame costs: each protocol of IEEE 802.11 as a case that the engine can time.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use wattlock_engine::{Case, SplitMix64};
use wattlock_frames::{Frame, Key, MAX_BODY_B, MAX_EXPANSION_B, Protocol, proof};
use wattlock_records::{Encoding, Keying, Operation, Pattern, Placement, PlannedCase};

use crate::keys::bytes;
use crate::prepared::Prepared;
use crate::subject::{Description, Kind, Payloads, Proven, Sources, Subject, Variant};

/// Whose code it is.
pub const PROVIDER: &str = "wattlock";
/// Where the protocols are defined.
const SOURCE: &str = "IEEE Std 802.11-2020, 12.3.2, 12.5.2, 12.5.3, 12.5.5";
/// What can be done.
const OPERATIONS: &[Operation] = &[Operation::Protect, Operation::Unprotect];
/// IEEE Std 802.11-2020, 12.5.2.4.1.
const MICHAEL_BITS: u16 = 64;

/// All protocols.
pub struct Protocols;

impl Kind for Protocols {
    fn ids(&self) -> Box<dyn Iterator<Item = &'static str>> {
        Box::new(Protocol::ALL.into_iter().map(Protocol::id))
    }

    fn find(&self, id: &str) -> Result<Box<dyn Subject>, String> {
        match Protocol::ALL.into_iter().find(|protocol| protocol.id() == id) {
            Some(protocol) => Ok(Box::new(protocol)),
            None => Err("no such protocol".to_owned()),
        }
    }

    fn encrypts_no_message(&self) -> Option<[&'static str; 2]> {
        Some(["it protects frames of 802.11", "`wattlock-net frames protect` does that to a capture"])
    }
}

impl Subject for Protocol {
    fn description(&self) -> Description {
        Description {
            id: self.id().to_owned(),
            card: self.id(),
            family: self.id(),
            mode: "frame".to_owned(),
            key_bits: key_bits(*self),
            effective_bits: key_bits(*self),
            block_bits: 0,
            rounds: None,
            iv_B: 0,
            tag_bits: tag_bits(*self),
            source: SOURCE,
            has_payload: true,
            operations: Some(OPERATIONS),
            public_key_B: None,
            message_B: None,
        }
    }

    fn providers(&self, _sources: &dyn Sources) -> Vec<String> {
        vec![PROVIDER.to_owned()]
    }

    fn proof(&self, _provider: &str, _sources: &dyn Sources) -> String {
        "the frames of the standard's annex J where it has some, a round trip, changed bits refused".to_owned()
    }

    fn variant(&self, provider: &str, _sources: &dyn Sources) -> Result<Box<dyn Variant>, String> {
        if provider == PROVIDER { Ok(Box::new(*self)) } else { Err(format!("{provider} has no {self}")) }
    }
}

impl Variant for Protocol {
    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn prove(&self) -> Result<Proven, String> {
        proof::prove(*self).map_err(|unproven| unproven.to_string())?;
        Ok(Proven::by(if proof::published(*self).is_some() { "published" } else { "round trip" }))
    }

    fn prepare(&self, planned: &PlannedCase, _payloads: &dyn Payloads, seed: u64) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(Timed::new(*self, planned, seed)?))
    }
}

/// Bits of the tag of a frame: what ends an MPDU, but TKIP's is Michael's, which ends the MSDU; its ICV is a checksum.
fn tag_bits(protocol: Protocol) -> u16 {
    if protocol == Protocol::Tkip { MICHAEL_BITS } else { u16::try_from(8 * protocol.tail_B()).unwrap_or(u16::MAX) }
}

/// Bits of the key that protects; TKIP's Michael keys are beside it.
fn key_bits(protocol: Protocol) -> u16 {
    if protocol == Protocol::Tkip { 128 } else { u16::try_from(8 * protocol.key_B()).unwrap_or(u16::MAX) }
}

/// A protocol that is timed on one frame.
struct Timed {
    key: Key,
    /// Of a key that is made ready in each call.
    key_bytes: Option<Vec<u8>>,
    operation: Operation,
    /// In the clear, or protected.
    input: Vec<u8>,
    output: Vec<u8>,
    number: u64,
    /// What came of the first call.
    right_B: usize,
    clear: Vec<u8>,
    broke: Option<String>,
}

impl Timed {
    /// Makes a case ready, and proves it: its frame comes back, and not where a bit of it is another.
    ///
    /// # Errors
    /// That there is no such operation, payload or factor; what is wrong.
    fn new(protocol: Protocol, plan: &PlannedCase, seed: u64) -> Result<Self, String> {
        refuse_nonsense(protocol, plan)?;
        let payload_B = usize::try_from(plan.payload_B).ok().filter(|payload_B| *payload_B <= MAX_BODY_B);
        let payload_B =
            payload_B.ok_or_else(|| format!("a frame carries at most {MAX_BODY_B} bytes, not {}", plan.payload_B))?;
        let mut random = SplitMix64::new(seed);
        let mut clear = proof::HEADER.to_vec();
        clear.extend(bytes(&mut random, payload_B));
        let key_bytes = bytes(&mut random, protocol.key_B());
        let mut key = Key::new(protocol, &key_bytes).map_err(|error| error.to_string())?;
        let (mut sealed, mut output) = (vec![0; clear.len() + MAX_EXPANSION_B], vec![0; clear.len() + MAX_EXPANSION_B]);
        let sealed_B = proof::comes_back(&mut key, &clear, &mut sealed, &mut output);
        sealed.truncate(sealed_B.map_err(|unproven| unproven.to_string())?);
        let input = if plan.operation == Operation::Unprotect { sealed } else { clear.clone() };
        let key_bytes = (plan.keying == Keying::Each).then_some(key_bytes);
        let operation = plan.operation;
        let mut timed = Self { key, key_bytes, operation, input, output, number: 2, right_B: 0, clear, broke: None };
        timed.right_B = timed.step()?;
        Ok(timed)
    }

    /// One frame: its header is read, a number drawn, its protection put on or taken off.
    #[inline]
    fn step(&mut self) -> Result<usize, String> {
        if let Some(key_bytes) = &self.key_bytes {
            self.key = Key::new(self.key.protocol(), black_box(key_bytes)).map_err(|error| error.to_string())?;
        }
        let frame = Frame::parse(black_box(&self.input)).map_err(|error| error.to_string())?;
        let done = if self.operation == Operation::Unprotect {
            self.key.unprotect(&frame, None, &mut self.output).map(|opened| opened.length_B)
        } else {
            self.number = (self.number + 1) & self.key.protocol().largest_number();
            self.key.protect(&frame, self.number, 0, &mut self.output)
        };
        black_box(&mut self.output);
        done.map_err(|error| error.to_string())
    }
}

fn refuse_nonsense(protocol: Protocol, plan: &PlannedCase) -> Result<(), String> {
    if !OPERATIONS.contains(&plan.operation) {
        return Err(format!("{protocol} has no operation {:?}: it has {OPERATIONS:?}", plan.operation));
    }
    match (plan.encoding, plan.placement, plan.pattern) {
        (Encoding::Raw, Placement::Hot, Pattern::Independent) => Ok(()),
        _ => Err("a frame is timed in one place: encoding raw, placement hot, pattern independent".to_owned()),
    }
}

impl Case for Timed {
    #[inline(never)]
    fn run(&mut self, _segment: u32, calls: u32) {
        for _ in 0..calls {
            if let Err(error) = self.step() {
                self.broke.get_or_insert(error);
                return;
            }
        }
    }
}

impl Prepared for Timed {
    fn check(&mut self) -> Result<(), String> {
        if let Some(error) = self.broke.take() {
            return Err(format!("it failed inside a timed loop: {error}"));
        }
        let length_B = self.step()?;
        let is_right = match self.operation {
            Operation::Unprotect => self.output.get(..length_B) == Some(&*self.clear),
            _ => {
                let mut back = vec![0; self.output.len()];
                let protected = Frame::parse(&self.output[..length_B]).map_err(|error| error.to_string())?;
                let opened = self.key.unprotect(&protected, None, &mut back).map_err(|error| error.to_string())?;
                back.get(..opened.length_B) == Some(&*self.clear)
            }
        };
        if is_right && length_B == self.right_B { Ok(()) } else { Err("another frame came of it".to_owned()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn planned(protocol: Protocol, operation: &str, keying: &str, placement: &str) -> PlannedCase {
        let line = format!(
            r#"{{"case":0,"role":"study","cipher":"{protocol}","provider":"wattlock","operation":"{operation}",
            "keying":"{keying}","encoding":"raw","placement":"{placement}","pattern":"independent","payload_B":1500,
            "data":"random"}}"#
        );
        serde_json::from_str(&line).unwrap()
    }

    #[test]
    fn every_protocol_is_proven_and_can_be_timed_both_ways() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.prove().map(|proven| proven.kind == "published"), Ok(protocol != Protocol::Wep104));
            for (operation, keying) in [("protect", "ready"), ("unprotect", "ready"), ("protect", "each")] {
                let mut timed = Timed::new(protocol, &planned(protocol, operation, keying, "hot"), 3).unwrap();
                timed.run(0, 50);
                assert_eq!(timed.check(), Ok(()), "{protocol} {operation}");
            }
        }
    }

    #[test]
    fn what_a_frame_has_not_is_refused() {
        for (operation, placement, reason) in [("seal", "hot", "has no operation Seal"), ("protect", "L2", "hot")] {
            let refused = Timed::new(Protocol::Tkip, &planned(Protocol::Tkip, operation, "ready", placement), 3);
            assert!(refused.is_err_and(|error| error.contains(reason)), "{operation} {placement}");
        }
    }
}
