//! Nordic Power Profiler Kit II: calibration, the words of its stream, its samples as joules.
//!
//! A word is 4 bytes, little-endian: 14 bits of ADC, 3 of range, one unused, 6 of counter, 8 of logic. There are 100,000
//! a second. Nordic's program smooths the samples after a change of range; here they count as they come, because a
//! smoothed spike moves no energy that a mean over milliseconds could see.
//!
//! # Source
//! The protocol as read in Nordic's pc-nrfconnect-ppk (src/device/serialDevice.ts, src/constants.ts) and in IRNAS'
//! ppk2-api-python (src/ppk2_api/ppk2_api.py): commands, fields, formula. While it streams, a device answers nothing else:
//! whoever did not end its stream leaves it streaming to the next one, behind bytes that nobody has read.

use std::io::{Read, Write};

use wattlock_engine::{MeterError, Nanojoules};

/// The kind.
pub const KIND: &str = "ppk2";
/// Samples in a second.
pub const SAMPLES_A_SECOND: u64 = 100_000;
/// Asks for the calibration.
const GET_METADATA: u8 = 0x19;
/// Starts the stream.
const START: u8 = 0x06;
/// Ends it.
const STOP: u8 = 0x07;
/// 1.8 V of reference over gain and resolution.
const ADC_V: f64 = 1.8 / 163_840.0;
const RANGES: usize = 5;
/// No calibration is longer.
const LONGEST_METADATA_B: usize = 8192;
/// What may still come after STOP: ten seconds of samples that nobody has read.
const LONGEST_REST_B: usize = 4_000_000;
/// Values of the counter.
const COUNTS: u8 = 64;

/// What one range's samples are corrected by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    resistance: f64,
    gain_square: f64,
    gain: f64,
    offset: f64,
    slope: f64,
    intercept: f64,
    user_gain: f64,
}

/// What the device tells of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    ranges: [Range; RANGES],
    /// Voltage that it supplies, millivolts.
    pub supply_mV: Option<u32>,
}

impl Calibration {
    /// Reads the lines that the device answers.
    ///
    /// # Errors
    /// A value that is missing or no number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value = |name: &str| -> Result<f64, String> {
            let found = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
            let found = found.ok_or_else(|| format!("the calibration has no {name}"))?;
            let number = found.trim().parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| format!("the calibration's {name} is {found:?}"))
        };
        let range = |at: usize| -> Result<Range, String> {
            let value = |name: &str| value(&format!("{name}{at}"));
            let resistance = value("R")?;
            if resistance <= 0.0 {
                return Err(format!("the calibration's R{at} is {resistance} ohm"));
            }
            Ok(Range {
                resistance,
                gain_square: value("GS")?,
                gain: value("GI")?,
                offset: value("O")?,
                slope: value("S")?,
                intercept: value("I")?,
                user_gain: value("UG")?,
            })
        };
        let mode = value("mode").ok();
        let supply_mV = value("VDD").ok().filter(|_| mode != Some(1.0)).and_then(|mV| format!("{mV:.0}").parse().ok());
        Ok(Self { ranges: [range(0)?, range(1)?, range(2)?, range(3)?, range(4)?], supply_mV })
    }

    /// Amperes of a sample.
    fn current_A(&self, word: u32, supply_V: f64) -> f64 {
        let at = ((word >> 14) & 0b111) as usize;
        let range = &self.ranges[at.min(RANGES - 1)];
        let adc = f64::from((word & 0x3fff) * 4);
        let plain = (adc - range.offset) * ADC_V / range.resistance;
        range.user_gain * (plain * (range.gain_square * plain + range.gain) + range.slope * supply_V + range.intercept)
    }
}

/// Bytes in, joules out.
pub struct Decoder {
    calibration: Calibration,
    supply_V: f64,
    rest: Vec<u8>,
    counter: Option<u8>,
    energy_nJ: f64,
    /// Words taken.
    pub samples: u64,
    lost: u64,
    /// The logic channels of the last word.
    pub logic: u8,
}

impl Decoder {
    /// A decoder for a supply of `supply_mV`.
    pub fn new(calibration: Calibration, supply_mV: u32) -> Self {
        let supply_V = f64::from(supply_mV) / 1000.0;
        Self { calibration, supply_V, rest: Vec::new(), counter: None, energy_nJ: 0.0, samples: 0, lost: 0, logic: 0 }
    }

    /// Takes bytes as they come: what is less than a word waits for the next ones.
    pub fn push(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let whole = self.rest.len() / 4 * 4;
        let words: Vec<u32> =
            self.rest[..whole].chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        self.rest.drain(..whole);
        for word in words {
            self.word(word);
        }
    }

    fn word(&mut self, word: u32) {
        let counter = (word >> 18 & 0x3f).to_le_bytes()[0];
        let expected = self.counter.map(|last| (last + 1) % COUNTS);
        if let Some(expected) = expected {
            self.lost += u64::from((counter + COUNTS - expected) % COUNTS);
        }
        self.counter = Some(counter);
        self.logic = word.to_le_bytes()[3];
        let power_W = self.calibration.current_A(word, self.supply_V) * self.supply_V;
        #[allow(clippy::cast_precision_loss)] // 100,000
        let each_s = 1.0 / SAMPLES_A_SECOND as f64;
        self.energy_nJ += power_W * each_s * 1e9;
        self.samples += 1;
    }

    /// The energy so far.
    ///
    /// # Errors
    /// Samples that were lost since the call before: gaps of the counter, modulo 64.
    pub fn energy(&mut self) -> Result<Nanojoules, MeterError> {
        match std::mem::take(&mut self.lost) {
            0 if self.samples == 0 => Err(MeterError::Unreadable),
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates; noise around 0 A is 0 J
            0 => Ok(self.energy_nJ as u64),
            samples => Err(MeterError::Lost { samples }),
        }
    }
}

/// Ends the stream of a device.
///
/// # Errors
/// It takes no command.
pub fn stop(device: &mut impl Write) -> Result<(), String> {
    command(device, STOP)
}

/// Ends what a device may still be streaming, and reads what is left of it until it is silent.
///
/// # Errors
/// It takes no command, can't be read, or goes on.
pub fn quiet(device: &mut (impl Read + Write)) -> Result<(), String> {
    stop(device)?;
    let (mut rest, mut buffer) = (0, [0; 4096]);
    while rest <= LONGEST_REST_B {
        match device.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => rest += count,
            Err(error) => return Err(format!("the device can't be read: {error}")),
        }
    }
    Err(format!("the device goes on after STOP: {rest} bytes"))
}

/// Asks a device for its calibration and starts its stream; a recording begins with that answer.
///
/// # Errors
/// The stream ends or stays silent before the calibration does, or the calibration is incomplete.
pub fn begin(stream: &mut (impl Read + Write)) -> Result<Calibration, String> {
    command(stream, GET_METADATA)?;
    let mut answer = Vec::new();
    let mut one = [0];
    while !answer.ends_with(b"END\n") && !answer.ends_with(b"END\r\n") {
        match stream.read(&mut one) {
            Ok(1) if answer.len() < LONGEST_METADATA_B => answer.push(one[0]),
            Ok(1) => return Err(format!("no END in the first {LONGEST_METADATA_B} bytes of the calibration")),
            Ok(_) => return Err(format!("the stream ends after {} bytes of the calibration", answer.len())),
            Err(error) => return Err(format!("the calibration can't be read: {error}")),
        }
    }
    let calibration = Calibration::parse(&String::from_utf8_lossy(&answer))?;
    command(stream, START)?;
    Ok(calibration)
}

fn command(device: &mut impl Write, byte: u8) -> Result<(), String> {
    device.write_all(&[byte]).map_err(|error| format!("the device takes no command: {error}"))
}
