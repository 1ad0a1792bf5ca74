//! An instrument beside the device that records by itself. Nothing is read here: the device marks its blocks by a pattern
//! of load, and on a pin where it has one, by which the recording is joined to the run afterwards.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use wattlock_engine::{Meter, MeterDescription, MeterError, Nanoseconds, Reading};
use wattlock_records::MeterRecord;

use super::kind::{Kind, Missing, Open, Opened};
use super::time::{SystemTime, Time};

/// The kind of an instrument that records by itself.
pub const KIND: &str = "recording";
/// How it is opened; those there are nobody can list.
pub(crate) const METER: Kind = Kind {
    names: &[KIND],
    found: |_| Vec::new(),
    open: Open::Beside(|wanted, pin| open(wanted.domain, pin, SystemTime)),
};
/// Samples a second that are taken for granted where the name does not tell.
const USUAL_HZ: u64 = 1_000;
/// An instrument that is slower would need chips of some seconds, a faster one gives nothing more.
const RATES_HZ: std::ops::RangeInclusive<u64> = 10..=10_000_000;
/// A governor and a regulator have followed the load by then.
const LEAST_CHIP_NS: Nanoseconds = 20_000_000;
/// Samples of a chip.
const CHIP_SAMPLES: u64 = 20;
/// What a pin gives is no longer; a LED has levels to 255.
const LONGEST_LEVEL_B: u64 = 8;
const HINT: &str = "recording, or with the instrument's samples a second recording:100000Hz";

/// Opens it: `recording` for an instrument of 1 kHz and faster, `recording:100Hz` where its rate is another.
///
/// * `pin`: a file that takes `0` and `1`, as those of the kernel's GPIOs and LEDs do.
///
/// # Errors
/// A rate that is none, or a pin that can't be set.
pub fn open(domain: &str, pin: Option<&Path>, time: impl Time + Send + 'static) -> Result<Opened, Missing> {
    let rate_Hz = match domain.strip_suffix("Hz").map(str::parse) {
        Some(Ok(rate_Hz)) if RATES_HZ.contains(&rate_Hz) => rate_Hz,
        None if domain.is_empty() => USUAL_HZ,
        _ => {
            let (least, most) = RATES_HZ.into_inner();
            let why = format!("{KIND}: {domain:?} is no rate from {least}Hz to {most}Hz");
            return Err(Missing { why, hint: HINT.to_owned() });
        }
    };
    let update_period = 1_000_000_000 / rate_Hz;
    let mut meter = Beside { update_period, pin: pin.map(Path::to_owned), time };
    if let Some(pin) = pin {
        // Whoever names the recording here would lose its first octet.
        takes_levels(pin).and_then(|()| meter.set(false)).map_err(|error| Missing {
            why: format!("{KIND}: the pin {}: {error}", pin.display()),
            hint: "a file that takes 0 and 1 and that you may write, as /sys/class/gpio/gpio17/value".to_owned(),
        })?;
    }
    Ok(Opened { description: describe(rate_Hz, update_period), meter: Box::new(meter) })
}

/// Refuses a regular file, as those of the kernel are too, that holds anything but a level.
fn takes_levels(pin: &Path) -> io::Result<()> {
    if !std::fs::metadata(pin)?.is_file() {
        return Ok(());
    }
    let mut held = String::new();
    let read = File::open(pin)?.take(LONGEST_LEVEL_B).read_to_string(&mut held);
    let held = held.trim();
    if read.is_err() || (!held.is_empty() && held.parse::<u8>().is_err()) {
        return Err(io::Error::other("it holds something else than a level, which would be lost"));
    }
    Ok(())
}

fn describe(rate_Hz: u64, update_period_ns: Nanoseconds) -> MeterRecord {
    MeterRecord {
        name: format!("{KIND}:{rate_Hz}Hz"),
        kind: KIND.to_owned(),
        domain: format!("{rate_Hz}Hz"),
        scope: "what the instrument beside the device records".to_owned(),
        unit: "none: the joules are in the recording".to_owned(),
        quantum_nJ: 0.0,
        update_period_ns,
        range_nJ: None,
        round_trip_ns: None,
        gain_relative_uncertainty: 0.0,
        gain_source: "none: it is the recording's".to_owned(),
        overlaps: Vec::new(),
        read_ns: None,
    }
}

/// A clock that stands for the instrument, and the pin that shows the marker.
struct Beside<T> {
    update_period: Nanoseconds,
    pin: Option<PathBuf>,
    time: T,
}

impl<T> Beside<T> {
    fn set(&mut self, is_busy: bool) -> io::Result<()> {
        let Some(pin) = &self.pin else { return Ok(()) };
        OpenOptions::new().write(true).open(pin)?.write_all(if is_busy { b"1" } else { b"0" })
    }
}

impl<T: Time> Meter for Beside<T> {
    fn description(&self) -> MeterDescription {
        MeterDescription { range: None, update_period: self.update_period, round_trip: u64::MAX, patience: u64::MAX }
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        let suspended = self.time.suspended();
        let before = self.time.now();
        Ok(Reading { counter: 0, before, after: self.time.now(), suspended })
    }

    fn chip(&self) -> Option<Nanoseconds> {
        Some(LEAST_CHIP_NS.max(CHIP_SAMPLES * self.update_period))
    }

    fn show(&mut self, is_busy: bool) -> Result<(), MeterError> {
        self.set(is_busy).map_err(|_| MeterError::Unreadable)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_chip_of_the_marker_has_twenty_samples_of_the_rate_and_no_less_than_20_ms() {
        for (domain, chip_ms) in [("", 20), ("1000Hz", 20), ("100000Hz", 20), ("100Hz", 200), ("10Hz", 2000)] {
            let opened = open(domain, None, SystemTime).unwrap();
            assert_eq!(opened.meter.chip(), Some(chip_ms * 1_000_000), "{domain}");
        }
    }

    #[test]
    fn a_rate_that_is_none_is_refused() {
        for domain in ["9Hz", "1kHz", "1000", "-5Hz", "99999999Hz"] {
            let refused = open(domain, None, SystemTime).err().unwrap();
            assert!(refused.why.contains(domain) && refused.hint.contains("recording:100000Hz"), "{refused:?}");
        }
    }

    #[test]
    fn a_pin_shows_the_level_and_one_that_is_not_there_is_refused() {
        let folder = std::env::temp_dir().join(format!("wattlock-pin-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let pin = folder.join("value");
        assert!(open("", Some(&pin), SystemTime).err().unwrap().why.contains("the pin"));
        for recording in [&b"time_s,power_W\n0,1\n"[..], b"7", b"1 0", b"\xff\xfe"] {
            std::fs::write(&pin, recording).unwrap();
            let refused = open("", Some(&pin), SystemTime).err().map(|missing| missing.why);
            assert_eq!(refused.is_none(), recording == b"7", "{refused:?}");
            assert_eq!(std::fs::read(&pin).unwrap(), if recording == b"7" { b"0" } else { recording });
        }
        std::fs::write(&pin, "1").unwrap();
        let mut opened = open("", Some(&pin), SystemTime).unwrap();
        assert_eq!(std::fs::read(&pin).unwrap(), b"0");
        opened.meter.show(true).unwrap();
        assert_eq!(std::fs::read(&pin).unwrap(), b"1");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
