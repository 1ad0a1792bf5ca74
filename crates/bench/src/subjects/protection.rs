//! What protecting a frame costs: each protocol of IEEE 802.11 as a case that the engine can time.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use wattlock_engine::{Case, SplitMix64};
use wattlock_frames::{Frame, Key, MAX_EXPANSION_B, Protocol};
use wattlock_records::{Operation, PlannedCase};

use crate::keys::bytes;
use crate::prepared::Prepared;
use crate::subject::{Description, Kind, Payloads, Proven, Sources, Subject, Variant};

/// Whose code it is.
const PROVIDER: &str = "wattlock";
/// Where the protocols are defined.
const SOURCE: &str = "IEEE Std 802.11-2020, 12.3.2, 12.5.2, 12.5.3, 12.5.5";
/// What can be done.
const OPERATIONS: &[Operation] = &[Operation::Protect, Operation::Unprotect];
/// The longest body of an MPDU (9.2.4.7.1, table 9-25), less LLC, SNAP and nothing else.
const MOST_PAYLOAD_B: u64 = 11_424;
/// IEEE Std 802.11-2020, 12.5.2.4.1.
const MICHAEL_BITS: u16 = 64;
/// A header with QoS, three addresses, to the access point.
const HEADER_B: usize = 26;

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
        proof(*self).map(Proven::by)
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
    /// That there is no such operation or payload; what is wrong.
    fn new(protocol: Protocol, plan: &PlannedCase, seed: u64) -> Result<Self, String> {
        if !OPERATIONS.contains(&plan.operation) {
            return Err(format!("{protocol} has no operation {:?}: it has {OPERATIONS:?}", plan.operation));
        }
        let payload_B = usize::try_from(plan.payload_B).ok().filter(|_| plan.payload_B <= MOST_PAYLOAD_B);
        let payload_B = payload_B
            .ok_or_else(|| format!("a frame carries at most {MOST_PAYLOAD_B} bytes, not {}", plan.payload_B))?;
        let mut random = SplitMix64::new(seed);
        let mut clear = vec![0x88, 0x01, 0x2c, 0];
        clear.extend_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3, 0x10, 0, 0, 0]);
        clear.extend(bytes(&mut random, payload_B));
        let key = bytes(&mut random, protocol.key_B());
        prove(protocol, &key, &clear)?;
        let mut key = Key::new(protocol, &key).map_err(|error| error.to_string())?;
        let mut output = vec![0; clear.len() + MAX_EXPANSION_B];
        let mut input = clear.clone();
        if plan.operation == Operation::Unprotect {
            let frame = Frame::parse(&clear).map_err(|error| error.to_string())?;
            let length_B = key.protect(&frame, 1, 0, &mut output).map_err(|error| error.to_string())?;
            input = output[..length_B].to_vec();
        }
        let mut timed =
            Self { key, operation: plan.operation, input, output, number: 2, right_B: 0, clear, broke: None };
        timed.right_B = timed.step()?;
        Ok(timed)
    }

    /// One frame: its header is read, a number drawn, its protection put on or taken off.
    #[inline]
    fn step(&mut self) -> Result<usize, String> {
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

/// The CCMP frame of IEEE Std 802.11-2020, J.6.4, and that of 256 bits: key, number, header and body in the clear, what
/// stands behind the header when it is protected.
const KEY: &str = "c97c1f67ce371185514a8a19f2bdd52f000102030405060708090a0b0c0d0e0f";
const CCMP: (u64, &str) =
    (0xb503_9776_e70c, "0808c32c0fd2e128a57c5030f1844408abaea5b8fcba8033f8ba1a55d02f85ae967bb62fb6cda8eb7e78a050");
const GCMP: (u64, &str) = (
    0x0089_5f5f_2b08,
    "88080b000fd2e128a57c5030f18444085030f184440880330300\
     000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627",
);

/// The published answer of a protocol, where the standard's annex J has one whole frame: its last 16 octets.
fn published(protocol: Protocol) -> Option<((u64, &'static str), &'static str)> {
    match protocol {
        Protocol::Ccmp128 => Some((CCMP, "3246e80c3c04d0197845ce0b16f97623")),
        Protocol::Ccmp256 => Some((CCMP, "80aa56c9492e882b97642f80d50fe97b")),
        Protocol::Gcmp128 => Some((GCMP, "def619c2a374b6df66ffa53b6c69d79e")),
        Protocol::Gcmp256 => Some((GCMP, "114316859095473d5b1bd596b3dea3bf")),
        _ => None,
    }
}

/// Proves a protocol; gives by what: `published` or `round trip`.
///
/// # Errors
/// What is wrong.
fn proof(protocol: Protocol) -> Result<&'static str, String> {
    let clear: Vec<u8> = [0x88, 0x01, 0, 0].into_iter().chain(2..20).chain([0x10, 0, 0, 0]).chain(0..100).collect();
    let mut random = SplitMix64::new(7);
    prove(protocol, &bytes(&mut random, protocol.key_B()), &clear)?;
    let Some(((number, clear), right)) = published(protocol) else { return Ok("round trip") };
    let hex = |digits: &str| data_encoding::HEXLOWER.decode(digits.as_bytes()).unwrap_or_default();
    let (clear, right) = (hex(clear), hex(right));
    let mut key = Key::new(protocol, &hex(KEY)[..protocol.key_B()]).map_err(|error| error.to_string())?;
    let mut output = vec![0; clear.len() + MAX_EXPANSION_B];
    let frame = Frame::parse(&clear).map_err(|error| error.to_string())?;
    let length_B = key.protect(&frame, number, 0, &mut output).map_err(|error| error.to_string())?;
    let is_right = output[..length_B].ends_with(&right);
    if is_right && right.len() == 16 {
        Ok("published")
    } else {
        Err("another frame than that of IEEE Std 802.11-2020, annex J".to_owned())
    }
}

/// The frame goes there and back, and no bit of its body or tail may change.
fn prove(protocol: Protocol, key: &[u8], clear: &[u8]) -> Result<(), String> {
    let refused = |error: wattlock_frames::Error| error.to_string();
    let mut key = Key::new(protocol, key).map_err(refused)?;
    let mut sealed = vec![0; clear.len() + MAX_EXPANSION_B];
    let length_B = key.protect(&Frame::parse(clear).map_err(refused)?, 0x01_0203, 0, &mut sealed).map_err(refused)?;
    sealed.truncate(length_B);
    let mut back = vec![0; length_B];
    let opened = key.unprotect(&Frame::parse(&sealed).map_err(refused)?, None, &mut back).map_err(refused)?;
    if back[..opened.length_B] != *clear {
        return Err("the frame did not come back".to_owned());
    }
    for at in [HEADER_B + protocol.head_B(), length_B - 1] {
        sealed[at] ^= 1;
        if key.unprotect(&Frame::parse(&sealed).map_err(refused)?, None, &mut back).is_ok() {
            return Err("a changed frame was taken for a right one".to_owned());
        }
        sealed[at] ^= 1;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_is_proven_and_can_be_timed_both_ways() {
        for protocol in Protocol::ALL {
            let kind = proof(protocol).unwrap();
            assert_eq!(kind == "published", published(protocol).is_some(), "{protocol}");
            for operation in ["protect", "unprotect"] {
                let line = format!(
                    r#"{{"case":0,"role":"study","cipher":"{protocol}","provider":"wattlock","operation":"{operation}",
                    "keying":"ready","encoding":"raw","placement":"hot","pattern":"independent","payload_B":1500,
                    "data":"random"}}"#
                );
                let mut timed = Timed::new(protocol, &serde_json::from_str(&line).unwrap(), 3).unwrap();
                timed.run(0, 50);
                assert_eq!(timed.check(), Ok(()), "{protocol} {operation}");
            }
        }
    }
}
