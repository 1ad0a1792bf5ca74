//! Streams: a PPK2's words, a device on a serial line, recordings.

use std::io::{Cursor, Read as _, Write as _};
use std::sync::atomic::AtomicBool;

use super::super::ppk2::{Calibration, Decoder};
use super::super::stream::{Played, Recording, Replay};
use super::*;

fn calibration() -> String {
    let ohm = ["1031.64", "101.65", "10.15", "0.94", "0.043"];
    let lines =
        (0..5).map(|at| format!("R{at}: {}\nGS{at}: 0\nGI{at}: 1\nO{at}: 0\nS{at}: 0\nI{at}: 0\nUG{at}: 1\n", ohm[at]));
    format!("Calibrated: 0\n{}VDD: 3300\nHW: 9173\nmode: 2\nEND\n", lines.collect::<String>())
}

/// Words of the load at 3.3 V and a tenth of its power, the range changing with it; `lost` of them are missing.
fn words(count: u64, lost: std::ops::Range<u64>) -> Vec<u8> {
    let word = |at: u64| {
        let ampere = power_W(at * 10_000) / 10.0 / 3.3;
        let (range, ohm) = if ampere > 0.12 { (4_u32, 0.043) } else { (3, 0.94) };
        let adc = (ampere * ohm * 163_840.0 / 1.8 / 4.0).round() as u32;
        (adc | range << 14 | (at as u32 % 64) << 18 | 1 << 24).to_le_bytes()
    };
    (0..count).filter(|at| !lost.contains(at)).flat_map(word).collect()
}

fn decoder() -> Decoder {
    Decoder::new(Calibration::parse(&calibration()).unwrap(), 3300)
}

#[test]
fn a_ppk2_tells_the_truth_through_range_switches_and_unaligned_reads() {
    let bytes = words(100_000, 0..0);
    let mut decoder = decoder();
    for chunk in bytes.chunks(1021) {
        decoder.push(chunk);
    }
    assert_eq!((decoder.samples, decoder.logic), (100_000, 1));
    let (measured, truth) = (decoder.energy().unwrap() as f64, energy_J(1_000_000_000) * 1e8);
    // The coarse range steps by 1 mA, two thirds of a percent.
    assert!((measured / truth - 1.0).abs() < 0.005, "{measured} nJ for {truth} nJ");
}

#[test]
fn a_ppk2_steps_by_what_a_milliampere_at_its_voltage_is_in_one_sample() {
    for (supply_mV, quantum_nJ) in [(3300, 33.0), (1000, 10.0)] {
        let described = stream::describe_ppk2(supply_mV);
        assert!((described.quantum_nJ - quantum_nJ).abs() < 1e-9, "{}", described.quantum_nJ);
        assert_eq!(described.name, format!("ppk2:{supply_mV}mV"));
    }
}

#[test]
fn ppk2_gaps_modulo_64_are_an_error_of_their_block_and_of_no_other() {
    let mut decoder = decoder();
    decoder.push(&words(1000, 500..570));
    assert_eq!(decoder.energy(), Err(MeterError::Lost { samples: 6 }));
    assert!(decoder.energy().is_ok());
}

#[test]
fn a_ppk2_recording_is_played_at_its_own_pace_and_its_end_is_no_idle() {
    let mut bytes = Recording(Cursor::new([calibration().into_bytes(), words(50_000, 0..0)].concat()));
    let calibration = ppk2::begin(&mut bytes).unwrap();
    let time = MadeUpTime::default();
    let description = stream::describe_ppk2(3300).in_engine(2_000_000_000);
    let decoder = Decoder::new(calibration, 3300);
    let mut meter = Played { bytes, decoder, start: 0, description, time: time.clone() };
    let mut load = passing(&time, |_| {});
    let block = energy_block(&mut load, 100_000_000, &mut meter).unwrap();
    let watts = block.gross as f64 / (block.end.moment() - block.start.moment()) as f64;
    assert!((watts / 0.3 - 1.0).abs() < 0.03, "{watts} W");
    time.now.store(600_000_000, Ordering::Relaxed);
    assert_eq!(meter.read().unwrap_err(), MeterError::Unreadable);
}

#[test]
fn a_calibration_that_is_incomplete_is_named() {
    let text = calibration().replace("R2: 10.15", "R2: 0");
    assert!(Calibration::parse(&text).unwrap_err().contains("R2"));
    assert!(Calibration::parse(&calibration().replace("UG4: 1\n", "")).unwrap_err().contains("UG4"));
    // A device that was never calibrated tells numbers that are none; they would be 0 J.
    assert!(Calibration::parse(&calibration().replace("O3: 0", "O3: -nan")).unwrap_err().contains("O3 is \"-nan\""));
    assert!(ppk2::begin(&mut Recording(Cursor::new(b"R0: 1\n"))).unwrap_err().contains("ends after"));
}

#[test]
fn recorded_readings_are_played_at_their_own_pace() {
    let lines: String = (0..1000_u64)
        .map(|at| format!("{{\"t_ns\":{},\"counter_nJ\":{}}}\n", at * 1_000_000, at * 3_000_000))
        .collect();
    let time = MadeUpTime::default();
    let mut meter = Replay::new(Cursor::new(lines), time.clone()).unwrap();
    let mut load = passing(&time, |_| {});
    let block = energy_block(&mut load, 100_000_000, &mut meter).unwrap();
    let watts = block.gross as f64 / (block.end.moment() - block.start.moment()) as f64;
    assert!((watts - 3.0).abs() < 0.05, "{watts} W");
    time.now.store(2_000_000_000, Ordering::Relaxed);
    assert_eq!(meter.read().unwrap_err(), MeterError::Unreadable);
    assert!(Replay::new(Cursor::new("{\"t_ns\":2,\"counter_nJ\":1}\n{\"t_ns\":2,\"counter_nJ\":2}\n"), time).is_err());
}

// A device on a serial line -----------------------------------------------------------------------------------------

/// A PPK2 on the other side of a terminal: it answers with its calibration only while it does not stream, streams until
/// STOP, and keeps what nobody has read.
#[cfg(unix)]
struct Device {
    /// Its side that hosts open; held, so that what is unread stays.
    path: PathBuf,
    _line: std::os::fd::OwnedFd,
    streams: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Its load: 0.3 W at 3.3 V.
#[cfg(unix)]
const LOAD_W: f64 = 0.3;

#[cfg(unix)]
impl Device {
    fn new() -> Self {
        use nix::fcntl::{FcntlArg, OFlag, fcntl};
        use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
        let line = nix::pty::openpty(None, None).unwrap();
        let mut settings = tcgetattr(&line.slave).unwrap();
        cfmakeraw(&mut settings);
        tcsetattr(&line.slave, SetArg::TCSANOW, &settings).unwrap();
        fcntl(&line.master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
        let path = nix::unistd::ttyname(&line.slave).unwrap();
        let (streams, ends) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let thread = std::thread::spawn({
            let (streams, ends) = (Arc::clone(&streams), Arc::clone(&ends));
            move || Self::lives(fs::File::from(line.master), &streams, &ends)
        });
        Self { path, _line: line.slave, streams, ends, thread: Some(thread) }
    }

    fn lives(mut host: fs::File, streams: &AtomicBool, ends: &AtomicBool) {
        // 0.3 W over 3.3 V through 0.94 ohm, as the converter counts it.
        let adc = (LOAD_W / 3.3 * 0.94 * 163_840.0 / 1.8 / 4.0).round() as u32;
        let (mut unread, mut sent) = (std::collections::VecDeque::new(), 0_u32);
        let (mut since, mut of_stream) = (std::time::Instant::now(), 0);
        while !ends.load(Ordering::Relaxed) {
            let mut command = [0];
            while host.read(&mut command).is_ok_and(|count| count == 1) {
                match command[0] {
                    0x06 => (since, of_stream) = (std::time::Instant::now(), 0),
                    0x19 if !streams.load(Ordering::Relaxed) => unread.extend(calibration().into_bytes()),
                    _ => {}
                }
                match command[0] {
                    0x06 => streams.store(true, Ordering::Relaxed),
                    0x07 => streams.store(false, Ordering::Relaxed),
                    _ => {}
                }
            }
            if streams.load(Ordering::Relaxed) {
                let due = (since.elapsed().as_nanos() / 10_000) as u64;
                for _ in of_stream..due {
                    unread.extend((adc | (3 << 14) | ((sent % 64) << 18)).to_le_bytes());
                    sent += 1;
                }
                of_stream = due;
            }
            while let Ok(taken @ 1..) = host.write(unread.make_contiguous()) {
                unread.drain(..taken);
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    fn open(&self) -> Opened {
        stream::open(ppk2::KIND, "", &self.path, SystemTime).map_err(|missing| missing.why).unwrap()
    }

    /// Waits until the device streams, or does no longer: on a busy machine its next turn may be late.
    fn awaits(&self, streams: bool) {
        let began = std::time::Instant::now();
        while self.streams.load(Ordering::Relaxed) != streams {
            assert!(began.elapsed().as_secs() < 30, "the device was not told within 30 s: streams is {}", !streams);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

#[cfg(unix)]
impl Drop for Device {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[cfg(unix)]
fn assert_weighs_the_load(opened: &mut Opened) {
    let block = energy_block(&mut Sleep, 1_000_000_000, &mut *opened.meter).unwrap();
    let watts = block.gross as f64 / (block.end.moment() - block.start.moment()) as f64;
    assert!((watts / LOAD_W - 1.0).abs() < 0.02, "{watts} W for {LOAD_W} W");
}

#[cfg(unix)]
#[test]
fn a_live_ppk2_is_weighed_with_twice_in_a_row_and_stands_still_between() {
    let device = Device::new();
    for _ in 0..2 {
        let mut opened = device.open();
        device.awaits(true);
        assert_weighs_the_load(&mut opened);
        drop(opened);
        // STOP was sent before the meter was gone; the device takes it within its next turn.
        device.awaits(false);
    }
}

#[cfg(unix)]
#[test]
fn a_ppk2_that_was_left_streaming_is_stopped_and_what_is_unread_is_no_sample() {
    let device = Device::new();
    // Who opened it before was killed in the middle of a word; nobody has read for a while.
    let mut line = fs::OpenOptions::new().read(true).write(true).open(&device.path).unwrap();
    line.write_all(&[0x06]).unwrap();
    line.read_exact(&mut [0; 6]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    drop(line);
    device.awaits(true);
    assert_weighs_the_load(&mut device.open());
}

#[cfg(unix)]
#[test]
fn what_is_no_ppk2_is_told_as_one_that_does_not_answer() {
    let line = nix::pty::openpty(None, None).unwrap();
    let path = nix::unistd::ttyname(&line.slave).unwrap();
    let missing = stream::open(ppk2::KIND, "", &path, SystemTime).err().unwrap();
    assert!(missing.why.contains("after 0 bytes of the calibration"), "{}", missing.why);
    assert!(missing.hint.contains("/dev/ttyACM0"), "{}", missing.hint);
}
