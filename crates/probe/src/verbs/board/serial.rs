//! A serial port: opened, written and read in lines that end in `*` and their CRC, so that a lost byte is noticed.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::sys::termios::{BaudRate, ControlFlags, SetArg, cfmakeraw, cfsetspeed, tcgetattr, tcsetattr};
use wattlock_terminal::failure::Failure;

/// Between two looks at a port that has nothing.
const LOOK: Duration = Duration::from_millis(2);
/// A line of an image is shorter: what is longer is noise.
const LONGEST_LINE_B: usize = 4096;

const BAUDS: [(u32, BaudRate); 6] = [
    (9600, BaudRate::B9600),
    (19_200, BaudRate::B19200),
    (38_400, BaudRate::B38400),
    (57_600, BaudRate::B57600),
    (115_200, BaudRate::B115200),
    (230_400, BaudRate::B230400),
];

const NAME_A_PORT: &str = "name the board's, as in --serial /dev/ttyACM0";

/// An open port.
pub struct Port {
    file: File,
    heard: Vec<u8>,
}

/// What came over the line.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// A whole line, without its CRC.
    Line(String),
    /// A line that lost something.
    Broken,
    /// Nothing, up to the end of the time.
    Nothing,
    /// The port is gone.
    Gone(String),
}

/// CRC-16 with the polynomial of CCITT, as images make it.
fn crc(text: &[u8]) -> u16 {
    text.iter().fold(0xffff, |so_far, byte| {
        let mixed = so_far ^ (u16::from(*byte) << 8);
        (0..8).fold(mixed, |crc, _| if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 })
    })
}

/// A line as it goes over the port.
pub fn framed(text: &str) -> String {
    format!("{text}*{:04x}\n", crc(text.as_bytes()))
}

/// What stands in a line that came, where it is whole.
pub fn unframed(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?.trim_end_matches('\r');
    let (text, sum) = line.rsplit_once('*')?;
    (u16::from_str_radix(sum, 16) == Ok(crc(text.as_bytes()))).then(|| text.to_owned())
}

impl Port {
    /// Opens a port.
    ///
    /// # Errors
    /// Code 10: there is none, it may not be opened, another program has it, it is no serial port. Code 2: its rate.
    pub fn open(path: &Path, baud: u32) -> Result<Self, Failure> {
        let rate = BAUDS.iter().find(|(rate, _)| *rate == baud).map(|(_, rate)| *rate);
        let rate = rate.ok_or_else(|| {
            let all = BAUDS.map(|(rate, _)| rate.to_string()).join(", ");
            Failure::new(2, format!("{baud} is no rate of a line")).hint(format!("there are {all}"))
        })?;
        let name = path.display();
        let flags = (OFlag::O_NOCTTY | OFlag::O_NONBLOCK).bits();
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map_err(|error| {
            let (what, hint) = match error.kind() {
                ErrorKind::NotFound => (
                    "there is no such port".to_owned(),
                    "`ls /dev/ttyACM* /dev/ttyUSB*` says which there are".to_owned(),
                ),
                ErrorKind::PermissionDenied => {
                    ("you may not open it".to_owned(), "`sudo usermod -aG dialout $USER`, then log in again".to_owned())
                }
                ErrorKind::ResourceBusy => busy(path),
                ErrorKind::IsADirectory => ("it is a folder".to_owned(), NAME_A_PORT.to_owned()),
                _ => (error.to_string(), "is the board plugged in?".to_owned()),
            };
            Failure::new(10, format!("{name}: {what}")).hint(hint)
        })?;
        let no_port =
            |error: nix::Error| Failure::new(10, format!("{name} is no serial port: {error}")).hint(NAME_A_PORT);
        let mut settings = tcgetattr(&file).map_err(no_port)?;
        if file.try_lock().is_err() {
            let (what, hint) = busy(path);
            return Err(Failure::new(10, format!("{name}: {what}")).hint(hint));
        }
        cfmakeraw(&mut settings);
        settings.control_flags |= ControlFlags::CLOCAL | ControlFlags::CREAD;
        cfsetspeed(&mut settings, rate).map_err(no_port)?;
        tcsetattr(&file, SetArg::TCSANOW, &settings).map_err(no_port)?;
        Ok(Self { file, heard: Vec::new() })
    }

    /// Writes a line.
    ///
    /// # Errors
    /// That the port is gone, or takes nothing for a second.
    pub fn say(&mut self, text: &str) -> Result<(), String> {
        let line = framed(text);
        let mut rest = line.as_bytes();
        let until = Instant::now() + Duration::from_secs(1);
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < until => thread::sleep(LOOK),
                Err(error) => return Err(format!("the port takes nothing: {error}")),
            }
        }
        Ok(())
    }

    /// The next line, or what came in its place within `limit`.
    pub fn hear(&mut self, limit: Duration) -> Heard {
        let until = Instant::now() + limit;
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return unframed(&line[..end]).map_or(Heard::Broken, Heard::Line);
            }
            if self.heard.len() > LONGEST_LINE_B {
                self.heard.clear();
                return Heard::Broken;
            }
            let mut bytes = [0; 256];
            match self.file.read(&mut bytes) {
                Ok(0) => thread::sleep(LOOK),
                Ok(count) => {
                    self.heard.extend(&bytes[..count]);
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(LOOK),
                Err(error) => return Heard::Gone(format!("the port is gone: {error}")),
            }
            if Instant::now() >= until {
                let is_half = !self.heard.is_empty();
                self.heard.clear();
                return if is_half { Heard::Broken } else { Heard::Nothing };
            }
        }
    }
}

fn busy(path: &Path) -> (String, String) {
    ("another program has it".to_owned(), format!("`fuser {}` says which; close it", path.display()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_lost_or_wrong_byte_is_none() {
        let line = framed("hello");
        // CRC-16/CCITT-FALSE has the check value 29b1.
        assert_eq!(crc(b"123456789"), 0x29b1);
        let whole = line.trim_end().as_bytes();
        assert_eq!(unframed(whole).as_deref(), Some("hello"));
        for at in 0..whole.len() {
            let lost = [&whole[..at], &whole[at + 1..]].concat();
            assert_eq!(unframed(&lost), None, "without byte {at}");
            let mut wrong = whole.to_vec();
            wrong[at] ^= 4;
            assert_eq!(unframed(&wrong), None, "byte {at} wrong");
        }
    }

    #[test]
    fn what_is_no_port_is_named_with_a_hint() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for (path, baud, code, message) in [
            (folder.path().join("none"), 115_200, 10, "no such port"),
            (file.clone(), 115_200, 10, "no serial port"),
            (file, 7, 2, "no rate"),
        ] {
            let failure = Port::open(&path, baud).err().unwrap();
            assert!(failure.code == code && failure.message.contains(message), "{}", failure.message);
            assert!(failure.hint.is_some());
        }
    }
}
