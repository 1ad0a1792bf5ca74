//! Meters that send a stream: a PPK2 on its serial line, and recordings, which are played at their own pace.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Deserialize;
use wattlock_engine::{Meter, MeterDescription, MeterError, Nanoseconds, Reading};
use wattlock_records::MeterRecord;

use super::kind::{Kind, Missing, Open, Opened};
use super::ppk2::{self, Decoder, SAMPLES_A_SECOND};
use super::time::{SystemTime, Time};

/// The kind of a recording of readings.
pub const REPLAY: &str = "replay";
/// How it is found and opened.
pub(crate) const METER: Kind = Kind {
    names: &[ppk2::KIND, REPLAY],
    found: |_| Vec::new(),
    open: Open::Stream(|wanted, path| open(wanted.kind, wanted.domain, path, SystemTime)),
};
/// The stream comes over USB in bursts of some milliseconds.
const BURST_NS: u64 = 5_000_000;
const PATIENCE_NS: u64 = 2_000_000_000;
const PPK2_GAIN: f64 = 0.1;
const PPK2_GAIN_SOURCE: &str = "ours: the calibration of the device is not known to be fresh; its maker's ranges err by \
                                some percent each";

/// Opens a stream: `ppk2` at its own supply voltage, `ppk2:3300mV` where another feeds the circuit, `replay`.
///
/// # Errors
/// The file can't be opened, what it holds is no such stream, or the voltage is not known.
pub fn open(
    kind: &str,
    domain: &str,
    path: &Path,
    time: impl Time + Clone + Send + 'static,
) -> Result<Opened, Missing> {
    let refused = |why: String| Missing {
        why: format!("{}: {why}", path.display()),
        hint: "a serial device (/dev/ttyACM0), what such a device sent, or JSON Lines of readings".to_owned(),
    };
    let is_file = path.metadata().map_err(|error| refused(error.to_string()))?.is_file();
    if kind == REPLAY {
        let file = File::open(path).map_err(|error| refused(error.to_string()))?;
        let meter = Replay::new(BufReader::new(file), time).map_err(refused)?;
        return Ok(Opened { description: replayed(path, &meter), meter: Box::new(meter) });
    }
    let asked_mV: Option<u32> = match domain.strip_suffix("mV") {
        Some(digits) => Some(digits.parse().map_err(|_| refused(format!("voltage {domain:?}")))?),
        None if domain.is_empty() => None,
        None => return Err(refused(format!("{domain:?} is no voltage: ppk2:3300mV"))),
    };
    let mut bytes: Box<dyn Stream> = if is_file {
        Box::new(Recording(File::open(path).map_err(|error| refused(error.to_string()))?))
    } else {
        let mut device = serial(path).map_err(|error| refused(error.to_string()))?;
        ppk2::quiet(&mut device).map_err(refused)?;
        Box::new(device)
    };
    let calibration = ppk2::begin(&mut bytes).map_err(refused)?;
    let supply_mV = asked_mV.or(calibration.supply_mV).ok_or_else(|| {
        refused("an ampere meter does not know the voltage of the circuit: ppk2:3300mV tells it".to_owned())
    })?;
    let decoder = Decoder::new(calibration, supply_mV);
    let description = describe_ppk2(supply_mV);
    let in_engine = description.in_engine(PATIENCE_NS);
    let meter: Box<dyn Meter> = if is_file {
        Box::new(Played { bytes, decoder, start: time.now(), description: in_engine, time })
    } else {
        Box::new(live(bytes, decoder, in_engine, time).map_err(|error| refused(error.to_string()))?)
    };
    Ok(Opened { description, meter })
}

/// What a PPK2 at this voltage is.
pub fn describe_ppk2(supply_mV: u32) -> MeterRecord {
    MeterRecord {
        name: format!("{}:{supply_mV}mV", ppk2::KIND),
        kind: ppk2::KIND.to_owned(),
        domain: format!("{supply_mV}mV"),
        scope: format!("the circuit behind the instrument, at {supply_mV} mV as set: the voltage is not measured"),
        unit: "A".to_owned(),
        // 1 mA, the step of its coarsest range (0.043 ohm), over one sample of 10 us.
        quantum_nJ: f64::from(supply_mV) * 1e-3 * 1e-3 * 1e4,
        update_period_ns: BURST_NS,
        range_nJ: None,
        round_trip_ns: None,
        gain_relative_uncertainty: PPK2_GAIN,
        gain_source: PPK2_GAIN_SOURCE.to_owned(),
        overlaps: Vec::new(),
        read_ns: None,
    }
}

/// Bytes both ways.
pub trait Stream: Read + Write + Send {}
impl<S: Read + Write + Send> Stream for S {}

/// What a device sent; commands to it go nowhere.
pub struct Recording<R>(pub R);

impl<R: Read> Read for Recording<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R> Write for Recording<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A serial line without echo, line ends or signals; a read waits 0.5 s at most.
#[cfg(unix)]
fn serial(path: &Path) -> io::Result<File> {
    use nix::sys::termios::{SetArg, SpecialCharacterIndices as Index, cfmakeraw, tcgetattr, tcsetattr};
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut settings = tcgetattr(&file)?;
    cfmakeraw(&mut settings);
    settings.control_chars[Index::VMIN as usize] = 0;
    settings.control_chars[Index::VTIME as usize] = 5;
    tcsetattr(&file, SetArg::TCSANOW, &settings)?;
    Ok(file)
}

#[cfg(not(unix))]
fn serial(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// A recording, from which as many samples have come as its pace allows.
pub struct Played<S, T> {
    /// The rest of the recording.
    pub bytes: S,
    /// What its bytes become.
    pub decoder: Decoder,
    /// When it began.
    pub start: Nanoseconds,
    /// What it is.
    pub description: MeterDescription,
    /// Its clock.
    pub time: T,
}

impl<S: Read, T: Time> Meter for Played<S, T> {
    fn description(&self) -> MeterDescription {
        self.description
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        let suspended = self.time.suspended();
        let before = self.time.now();
        let elapsed = u128::from(before.saturating_sub(self.start));
        let due = u64::try_from(elapsed * u128::from(SAMPLES_A_SECOND) / 1_000_000_000).unwrap_or(u64::MAX);
        let wanted =
            due.saturating_sub(self.decoder.samples).max(u64::from(self.decoder.samples == 0)).saturating_mul(4);
        let mut bytes = Vec::new();
        self.bytes.by_ref().take(wanted).read_to_end(&mut bytes).map_err(|_| MeterError::Unreadable)?;
        if (bytes.len() as u64) < wanted {
            // The recording is over: its last value would stand for ever.
            return Err(MeterError::Unreadable);
        }
        self.decoder.push(&bytes);
        Ok(Reading { counter: self.decoder.energy()?, before, after: self.time.now(), suspended })
    }
}

/// What the thread of a live stream and its meter share: the samples, and when the last of them came.
type Shared = Mutex<(Decoder, Result<Nanoseconds, MeterError>)>;

fn lock(shared: &Shared) -> MutexGuard<'_, (Decoder, Result<Nanoseconds, MeterError>)> {
    // A thread that panicked leaves whole samples behind.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A live stream: a thread takes its bytes as they come, so that none is lost between two reads of the meter.
struct Live<T> {
    shared: Arc<Shared>,
    ends: Arc<AtomicBool>,
    /// Hangs up when the thread has stopped the device.
    stopped: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    description: MeterDescription,
    time: T,
}

fn live<T: Time + Clone + Send + 'static>(
    mut bytes: Box<dyn Stream>,
    decoder: Decoder,
    description: MeterDescription,
    time: T,
) -> Result<Live<T>, MeterError> {
    let shared = Arc::new(Mutex::new((decoder, Ok(time.now()))));
    let ends = Arc::new(AtomicBool::new(false));
    let (stops, stopped) = channel();
    let thread = std::thread::spawn({
        let (shared, ends, clock) = (Arc::clone(&shared), Arc::clone(&ends), time.clone());
        move || {
            take(&mut bytes, &shared, &ends, &clock);
            // Who is gone can't be stopped.
            let _ = ppk2::stop(&mut bytes);
            drop((bytes, stops));
        }
    });
    let live = Live { shared, ends, stopped, thread: Some(thread), description, time };
    live.wait_for_samples()?;
    Ok(live)
}

/// Takes bytes until the meter `ends` or the stream does.
fn take(bytes: &mut impl Read, shared: &Shared, ends: &AtomicBool, clock: &impl Time) {
    let mut buffer = [0; 4096];
    while !ends.load(Ordering::Relaxed) {
        let read = bytes.read(&mut buffer);
        let mut state = lock(shared);
        match read {
            Ok(0) | Err(_) => {
                state.1 = Err(MeterError::Unreadable);
                return;
            }
            Ok(count) => {
                state.0.push(&buffer[..count]);
                state.1 = Ok(clock.now());
            }
        }
    }
}

impl<T> Drop for Live<T> {
    /// The device is stopped before anybody opens it again, unless its driver hangs: that would hold the thread.
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let hangs = self.stopped.recv_timeout(Duration::from_nanos(PATIENCE_NS)) == Err(RecvTimeoutError::Timeout);
        if let Some(thread) = self.thread.take().filter(|_| !hangs) {
            // What it panicked over was told where it happened.
            let _ = thread.join();
        }
    }
}

impl<T: Time> Live<T> {
    /// Samples come some milliseconds after the command that starts them.
    fn wait_for_samples(&self) -> Result<(), MeterError> {
        let start = std::time::Instant::now();
        loop {
            let state = lock(&self.shared);
            state.1?;
            if state.0.samples > 0 {
                return Ok(());
            }
            drop(state);
            if start.elapsed() > Duration::from_nanos(self.description.patience) {
                return Err(MeterError::NoAnswer { waited: self.description.patience });
            }
            std::thread::sleep(Duration::from_nanos(BURST_NS));
        }
    }
}

impl<T: Time> Meter for Live<T> {
    fn description(&self) -> MeterDescription {
        self.description
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        let mut state = lock(&self.shared);
        let at = state.1?;
        Ok(Reading { counter: state.0.energy()?, before: at, after: at, suspended: self.time.suspended() })
    }
}

/// One line of a recording of readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Recorded {
    t_ns: u64,
    counter_nJ: u64,
}

/// Readings of some meter, played at the pace at which they were taken.
pub struct Replay<T> {
    readings: Vec<Recorded>,
    start: Nanoseconds,
    description: MeterDescription,
    time: T,
}

impl<T: Time> Replay<T> {
    /// Reads a recording: JSON Lines of `t_ns` and `counter_nJ`.
    ///
    /// # Errors
    /// A line that is none, time that does not rise, or fewer than two of them.
    pub fn new(lines: impl io::BufRead, time: T) -> Result<Self, String> {
        let mut readings: Vec<Recorded> = Vec::new();
        for (number, line) in (1..).zip(lines.lines()) {
            let line = line.map_err(|error| format!("line {number}: {error}"))?;
            let reading: Recorded = serde_json::from_str(&line).map_err(|error| format!("line {number}: {error}"))?;
            if readings.last().is_some_and(|last| last.t_ns >= reading.t_ns) {
                return Err(format!("line {number}: t_ns {} does not rise", reading.t_ns));
            }
            readings.push(reading);
        }
        let [first, .., last] = readings[..] else { return Err(format!("{} readings", readings.len())) };
        let update_period = (last.t_ns - first.t_ns) / (readings.len() as u64 - 1);
        let description =
            MeterDescription { range: None, update_period, round_trip: u64::MAX, patience: update_period * 100 };
        Ok(Self { readings, start: time.now(), description, time })
    }
}

fn replayed<T>(path: &Path, meter: &Replay<T>) -> MeterRecord {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let steps = meter.readings.windows(2).map(|pair| pair[1].counter_nJ.abs_diff(pair[0].counter_nJ));
    MeterRecord {
        name: REPLAY.to_owned(),
        kind: REPLAY.to_owned(),
        domain: "recording".to_owned(),
        scope: format!("a recording ({} readings): its joules are not those of what runs now", meter.readings.len()),
        unit: "nJ".to_owned(),
        #[allow(clippy::cast_precision_loss)] // a step is far below 2^53 nJ
        quantum_nJ: steps.filter(|step| *step > 0).min().unwrap_or(0) as f64,
        update_period_ns: meter.description.update_period,
        range_nJ: None,
        round_trip_ns: None,
        gain_relative_uncertainty: 0.0,
        gain_source: format!("none: {name} is taken as it is"),
        overlaps: Vec::new(),
        read_ns: None,
    }
}

impl<T: Time> Meter for Replay<T> {
    fn description(&self) -> MeterDescription {
        self.description
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        let suspended = self.time.suspended();
        let before = self.time.now();
        let first = self.readings.first().ok_or(MeterError::Unreadable)?.t_ns;
        let elapsed = before.saturating_sub(self.start);
        let come = self.readings.partition_point(|reading| reading.t_ns - first <= elapsed);
        // After the last one nobody knows how it went on.
        let last = self.readings.get(come.saturating_sub(1)).filter(|_| come < self.readings.len());
        let counter = last.ok_or(MeterError::Unreadable)?.counter_nJ;
        Ok(Reading { counter, before, after: self.time.now(), suspended })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::ppk2::Calibration;
    use super::*;

    /// Gives one word, and then its driver hangs.
    struct Hanging(bool);

    impl Read for Hanging {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                loop {
                    std::thread::park();
                }
            }
            buffer[..4].fill(0);
            Ok(4)
        }
    }

    impl Write for Hanging {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_device_whose_driver_hangs_holds_nobody_who_lets_go_of_its_meter() {
        let range = |at| format!("R{at}: 1\nGS{at}: 0\nGI{at}: 1\nO{at}: 0\nS{at}: 0\nI{at}: 0\nUG{at}: 1\n");
        let calibration = Calibration::parse(&(0..5).map(range).collect::<String>()).unwrap();
        let description =
            MeterDescription { range: None, update_period: 1, round_trip: u64::MAX, patience: PATIENCE_NS };
        let meter = live(Box::new(Hanging(false)), Decoder::new(calibration, 3300), description, SystemTime).unwrap();
        let (done, is_done) = channel();
        std::thread::spawn(move || {
            drop(meter);
            done.send(())
        });
        assert!(is_done.recv_timeout(Duration::from_secs(20)).is_ok());
    }
}
