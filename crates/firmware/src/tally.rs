//! A link that runs: a record sealed or opened, or a report heard, twice between the markers, and checked.
//!
//! Secret and payload are drawn from the seed. The sensor seals what the gateway then takes, and both were proven by the
//! session of the specification before.
#![forbid(unsafe_code)]

use core::hint::black_box;

use wattlock_tally::proof::{self, MOST_PAYLOAD_B, MOST_RECORD_B};
use wattlock_tally::{Gateway, SECRET_B, Sensor, SensorHeard};

use crate::board::{self, Memory};
use crate::counted;
use crate::outcome::{Done, Failed};
use crate::plan::{Case, Operation};
use crate::trial::{self, BLANK, TIMES, draw};

/// Records of a generation before the one that is counted.
const BEFORE: usize = 8;

/// Where cases of the link are carried out.
#[derive(Default)]
pub struct Bench {
    is_proven: bool,
}

impl Bench {
    /// Carries out a case of the link.
    pub fn attempt(&mut self, case: &Case<'_>, memory: &mut Memory) -> Result<Done, Failed> {
        if case.keyed_each {
            return Err(Failed::NoSuchOperation);
        }
        if !self.is_proven {
            proof::prove()?;
            self.is_proven = true;
        }
        let too_long = Failed::TooLong { given_B: case.payload_B, most_B: MOST_PAYLOAD_B };
        let payload = memory.plain[..MOST_PAYLOAD_B].get_mut(..case.payload_B).ok_or(too_long)?;
        let record = &mut memory.sealed[..MOST_RECORD_B];
        let output = &mut memory.output[..MOST_RECORD_B];
        let mut secret = [0; SECRET_B];
        let mut random = trial::random_of(case);
        draw(&mut random, payload);
        draw(&mut random, &mut secret);
        let mut stack_B = 0;
        for _ in 0..TIMES {
            let (mut sensor, mut gateway) = proof::running(secret, payload)?;
            for _ in 0..BEFORE {
                let record_B = proof::seal(&mut sensor, payload, record)?;
                proof::open(&mut gateway, &record[..record_B], output)?;
            }
            output.fill(BLANK);
            stack_B = match case.operation {
                Operation::Seal => sealed(case, &mut sensor, &mut gateway, payload, record)?,
                Operation::Open => opened(case, &mut sensor, &mut gateway, payload, [record, output])?,
                _ => heard(case, &mut sensor, &mut gateway, payload, record)?,
            };
        }
        let (operation, state_B) = match case.operation {
            Operation::Seal => (counted::seal_record as *const () as usize, size_of::<Sensor>()),
            Operation::Open => (counted::open_record as *const () as usize, size_of::<Gateway>()),
            _ => (counted::hear_report as *const () as usize, size_of::<Sensor>()),
        };
        Ok(Done { path: "-", state_B, stack_B, functions: [operation; 2] })
    }
}

fn sealed(
    case: &Case<'_>,
    sensor: &mut Sensor,
    gateway: &mut Gateway,
    payload: &[u8],
    record: &mut [u8],
) -> Result<usize, Failed> {
    let mut written = Ok(0);
    let stack_B = trial::stack_of(case.stack_B, || {
        let (sensor, payload) = (black_box(&mut *sensor), black_box(payload));
        written = board::between_markers(|| counted::seal_record(sensor, payload, record));
    });
    gateway.hear(&record[..written?], None)?;
    if gateway.provisional().any(|message| message.payload == payload) { Ok(stack_B) } else { Err(Failed::Differs) }
}

fn opened(
    case: &Case<'_>,
    sensor: &mut Sensor,
    gateway: &mut Gateway,
    payload: &[u8],
    [record, output]: [&mut [u8]; 2],
) -> Result<usize, Failed> {
    let record_B = proof::seal(sensor, payload, record)?;
    let record = &record[..record_B];
    let mut written = Ok(0);
    let stack_B = trial::stack_of(case.stack_B, || {
        let (gateway, record) = (black_box(&mut *gateway), black_box(record));
        written = board::between_markers(|| counted::open_record(gateway, record, output));
    });
    if output[..written?] == *payload { Ok(stack_B) } else { Err(Failed::DoesNotComeBack) }
}

/// A report of all records of a generation.
fn heard(
    case: &Case<'_>,
    sensor: &mut Sensor,
    gateway: &mut Gateway,
    payload: &[u8],
    record: &mut [u8],
) -> Result<usize, Failed> {
    let report_B = loop {
        let record_B = proof::seal(sensor, payload, record)?;
        gateway.hear(&record[..record_B], None)?;
        if let Some(report_B) = gateway.speak(record)? {
            break report_B;
        }
    };
    let report = &record[..report_B];
    let mut found = Ok(SensorHeard::TooOld);
    let stack_B = trial::stack_of(case.stack_B, || {
        let (sensor, report) = (black_box(&mut *sensor), black_box(report));
        found = board::between_markers(|| counted::hear_report(sensor, report));
    });
    if found? == SensorHeard::NextGeneration { Ok(stack_B) } else { Err(Failed::Differs) }
}
