//! What a message takes at either end of tally, the link for small messages: a case that the engine can time.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use wattlock_engine::{Case, SplitMix64};
use wattlock_records::{Encoding, Keying, Operation, Pattern, Placement, PlannedCase};
use wattlock_tally::proof::{self, MOST_PAYLOAD_B, MOST_RECORD_B};
use wattlock_tally::{Error, Gateway, SECRET_B, Sensor, SensorHeard};

use crate::keys::bytes;
use crate::prepared::Prepared;
use crate::subject::{Description, Kind, Payloads, Proven, Sources, Subject, Variant};
use crate::subjects::protection::PROVIDER;

/// The id.
pub const ID: &str = "tally";
/// The version of its code.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What can be done: a record sealed, a record opened, the next keys made of a report.
pub const OPERATIONS: &[Operation] = &[Operation::Seal, Operation::Open, Operation::KeySetup];
/// Records from one report to the next: then the ends are as they were before the first.
const RECORDS: usize = 16;

/// The link.
pub struct Links;

impl Kind for Links {
    fn ids(&self) -> Box<dyn Iterator<Item = &'static str>> {
        Box::new(core::iter::once(ID))
    }

    fn find(&self, id: &str) -> Result<Box<dyn Subject>, String> {
        if id == ID { Ok(Box::new(Link)) } else { Err("no such link".to_owned()) }
    }

    fn encrypts_no_message(&self) -> Option<[&'static str; 2]> {
        Some(["it seals the records of a link between two ends", "`wattlock-net tally` runs both"])
    }
}

#[derive(Clone, Copy)]
struct Link;

impl Subject for Link {
    fn description(&self) -> Description {
        Description {
            id: ID.to_owned(),
            card: ID,
            family: ID,
            mode: "link".to_owned(),
            key_bits: 128,
            effective_bits: 128,
            block_bits: 0,
            rounds: None,
            iv_B: 0,
            tag_bits: 32,
            source: "docs/tally.md, version 1",
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
        "the session of its specification, frame by frame, which a second implementation gives too".to_owned()
    }

    fn variant(&self, provider: &str, _sources: &dyn Sources) -> Result<Box<dyn Variant>, String> {
        if provider == PROVIDER { Ok(Box::new(*self)) } else { Err(format!("{provider} has no {ID}")) }
    }
}

impl Variant for Link {
    fn version(&self) -> String {
        VERSION.to_owned()
    }

    fn prove(&self) -> Result<Proven, String> {
        proof::prove().map_err(|unproven| unproven.to_string())?;
        Ok(Proven::by("computed"))
    }

    fn prepare(&self, planned: &PlannedCase, _payloads: &dyn Payloads, seed: u64) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(Timed::new(planned, seed)?))
    }
}

/// Why no case of the link is made of these factors; `None` where one is.
#[must_use]
pub fn refused(plan: &PlannedCase) -> Option<String> {
    if !OPERATIONS.contains(&plan.operation) {
        Some(format!("{ID} has no operation {}: it has seal, open and key_setup", plan.operation))
    } else if plan.keying == Keying::Each {
        Some("a link's keys are made of its reports: keying ready".to_owned())
    } else if plan.aad_B > 0 {
        Some("a record has no associated data".to_owned())
    } else if plan.payload_B > MOST_PAYLOAD_B as u64 {
        Some(format!("a gateway holds messages of at most {MOST_PAYLOAD_B} bytes, not {}", plan.payload_B))
    } else if (plan.encoding, plan.placement, plan.pattern) != (Encoding::Raw, Placement::Hot, Pattern::Independent) {
        Some("a record is timed in one place: encoding raw, placement hot, pattern independent".to_owned())
    } else {
        None
    }
}

/// The link, timed on the same frames again and again.
struct Timed {
    operation: Operation,
    /// As they are before the first frame.
    before: (Sensor, Gateway),
    sensor: Sensor,
    gateway: Gateway,
    payload: Vec<u8>,
    /// The records of a generation; of the operation `key_setup` the report behind them.
    frames: Vec<Vec<u8>>,
    /// Which of them is next.
    at: usize,
    output: [u8; MOST_RECORD_B],
    broke: Option<Error>,
}

impl Timed {
    /// Makes a case ready, and proves it: each record is that which the gateway takes, and the message comes back.
    ///
    /// # Errors
    /// That there is no such operation, payload or factor; what is wrong.
    fn new(plan: &PlannedCase, seed: u64) -> Result<Self, String> {
        refused(plan).map_or(Ok(()), Err)?;
        let mut random = SplitMix64::new(seed);
        let payload = bytes(&mut random, usize::try_from(plan.payload_B).unwrap_or(0));
        let mut secret = [0; SECRET_B];
        secret.copy_from_slice(&bytes(&mut random, SECRET_B));
        let mut timed = Self::running(plan.operation, secret, payload).map_err(|error| error.to_string())?;
        timed.check()?;
        Ok(timed)
    }

    fn running(operation: Operation, secret: [u8; SECRET_B], payload: Vec<u8>) -> Result<Self, Error> {
        let mut before = proof::running(secret, &payload)?;
        let (mut sensor, mut gateway) = before.clone();
        let (mut record, mut output) = ([0; MOST_RECORD_B], [0; MOST_RECORD_B]);
        let mut frames = Vec::with_capacity(RECORDS);
        for _ in 0..RECORDS {
            let record_B = proof::seal(&mut sensor, &payload, &mut record)?;
            proof::open(&mut gateway, &record[..record_B], &mut output)?;
            frames.push(record[..record_B].to_vec());
        }
        if operation == Operation::KeySetup {
            let report_B = gateway.speak(&mut record)?.ok_or(Error::Unexpected)?;
            frames = vec![record[..report_B].to_vec()];
            before.0 = sensor.clone();
        }
        let at = frames.len();
        Ok(Self { operation, before, sensor, gateway, payload, frames, at, output, broke: None })
    }

    /// One record, or one report; gives the octets that were written. After the last of them the end is copied anew.
    #[inline]
    fn step(&mut self) -> Result<usize, Error> {
        if self.at == self.frames.len() {
            match self.operation {
                Operation::Open => self.gateway.clone_from(&self.before.1),
                _ => self.sensor.clone_from(&self.before.0),
            }
            self.at = 0;
        }
        let frame = &self.frames[self.at];
        self.at += 1;
        let done = match self.operation {
            Operation::Seal => proof::seal(&mut self.sensor, black_box(&self.payload), &mut self.output),
            Operation::Open => proof::open(&mut self.gateway, black_box(frame), &mut self.output),
            _ => match self.sensor.hear(black_box(frame))? {
                SensorHeard::NextGeneration => Ok(0),
                _ => Err(Error::Unexpected),
            },
        };
        black_box(&mut self.output);
        done
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
    /// Whether each record is the one that was made before, and each message comes back.
    fn check(&mut self) -> Result<(), String> {
        if let Some(error) = self.broke.take() {
            return Err(format!("it failed inside a timed loop: {error}"));
        }
        self.at = self.frames.len();
        for frame in 0..self.frames.len() {
            let written_B = self.step().map_err(|error| error.to_string())?;
            let written = &self.output[..written_B];
            let is_right = match self.operation {
                Operation::Seal => written == self.frames[frame],
                Operation::Open => written == self.payload,
                _ => self.sensor.generation() == self.before.0.generation() + 1,
            };
            if !is_right {
                return Err(format!("frame {frame} is another"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn planned(change: &str) -> PlannedCase {
        let mut fields = serde_json::json!({
            "case": 0, "role": "study", "cipher": "tally", "provider": "wattlock", "operation": "seal", "keying": "ready",
            "encoding": "raw", "placement": "hot", "pattern": "independent", "payload_B": 16, "data": "random",
        });
        if let Some((key, value)) = change.split_once('=') {
            fields[key] = value.parse::<u64>().map_or_else(|_| value.into(), Into::into);
        }
        serde_json::from_value(fields).unwrap()
    }

    #[test]
    fn records_and_reports_can_be_timed_longer_than_a_generation() {
        assert_eq!(Link.prove().map(|proven| proven.kind), Ok("computed"));
        for change in ["", "payload_B=64", "operation=open", "operation=key_setup"] {
            let mut timed = Timed::new(&planned(change), 3).unwrap();
            timed.run(0, 50);
            assert_eq!(timed.check(), Ok(()), "{change}");
            timed.before.0 = proof::running([7; SECRET_B], &timed.payload).unwrap().0;
            timed.before.1 = proof::running([7; SECRET_B], &timed.payload).unwrap().1;
            timed.run(0, 50);
            assert!(timed.check().is_err(), "{change}: of another secret");
        }
    }

    #[test]
    fn what_a_link_has_not_is_refused() {
        for (change, reason) in [
            ("operation=encrypt", "has no operation encrypt"),
            ("keying=each", "keying ready"),
            ("aad_B=8", "no associated data"),
            ("payload_B=65", "at most 64 bytes, not 65"),
            ("placement=L2", "hot"),
        ] {
            let refused = Timed::new(&planned(change), 3).err();
            assert!(refused.as_ref().is_some_and(|error| error.contains(reason)), "{change}: {refused:?}");
        }
    }
}
