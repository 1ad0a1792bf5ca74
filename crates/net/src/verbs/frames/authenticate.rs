//! `wattlock-net frames authenticate`: authentication by a shared key, made here or read from a capture, and checked.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use wattlock_frames::authentication::{Algorithm, Authentication, Between, CHALLENGE_B, WITH_CHALLENGE_B, answers};
use wattlock_frames::{Address, Error, Frame, Key, Kind, MAX_EXPANSION_B, Protocol};
use wattlock_terminal::failure::{Failure, print};

use super::keys::{WEP_B, keys};
use super::medium::Others;
use crate::frames::capture::{self, Piece};
use crate::frames::link::{self, Parts, Sums};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-net frames authenticate --wep 0102030405
  wattlock-net frames authenticate --wep 0102030405 air.pcap

Without a capture the four frames are made under the key: request, challenge, the challenge under WEP, verdict. Of a
capture, each authentication of a station is told, and whether one of the keys answers its challenge. One JSON object
for each goes to standard output; sizes are of the MPDU without its FCS. The third frame is a text that everybody has
heard in the clear, under WEP: it shows `key_stream_B` octets of the key stream of its IV, with which anybody can
answer any challenge.

Exit codes: as of protect and unprotect.";

/// An authentication frame with a protected body: the third of a shared key (9.3.3.11).
const SUBTYPE: u8 = 11;
/// The most authentications that are listed.
const MOST_ROWS: usize = 1000;
const ACCESS_POINT: Address = [2, 0, 0, 0, 0, 1];
const STATION: Address = [2, 0, 0, 0, 0, 2];

#[derive(clap::Args)]
pub struct Options {
    /// The shared key, 10 or 26 hex digits; may be given more than once with a capture.
    #[arg(long, value_name = "HEX", required = true)]
    wep: Vec<String>,
    /// A capture; without one the exchange is made.
    #[arg(value_name = "IN")]
    input: Option<PathBuf>,
}

/// One authentication of a station.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Row {
    access_point: String,
    station: String,
    /// `open_system` or `shared_key`; null where only the third frame was heard.
    algorithm: Option<&'static str>,
    frames: Vec<Part>,
    /// Whether the third frame answers the second one's challenge under a key given; null where one of both is missing.
    answered: Option<bool>,
    /// What the access point said last: 0 is success.
    status: Option<u16>,
    /// Octets of key stream that the exchange shows to whoever listens.
    key_stream_B: usize,
}

/// One frame of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Part {
    step: u16,
    from: &'static str,
    #[serde(rename = "mpdu_B")]
    mpdu_B: usize,
    protected: bool,
}

struct Followed {
    access_point: Address,
    station: Address,
    challenge: Option<[u8; CHALLENGE_B]>,
    row: Row,
}

/// Those who are followed, and the keys that may be theirs.
struct Follower {
    keys: Vec<Vec<u8>>,
    all: Vec<Followed>,
}

/// Carries it out.
///
/// # Errors
/// A wrong key, an input that is no capture of 802.11, standard output that can't be written.
pub fn run(options: &Options) -> Result<ExitCode, Failure> {
    let mut follower = Follower { keys: keys("--wep", &options.wep, &WEP_B)?, all: Vec::new() };
    match &options.input {
        Some(path) => {
            let source = capture::open(path).map_err(|error| {
                Failure::new(10, error).hint("captures are pcap or pcapng, gzipped or not; tshark -w writes them")
            })?;
            let mut parts = Parts { device: Vec::new(), mpdu: Vec::new(), has_fcs: false };
            let (sums, mut others, mut frames) = (Sums::of_file(path), Others::default(), 0_u64);
            capture::read(source, |piece| {
                let Piece::Packet(packet) = piece else { return Ok(()) };
                if !others.pass(&packet)? {
                    return Ok(());
                }
                frames += 1;
                if link::parts(&packet, &sums, &mut parts).is_some()
                    && let Ok(frame) = Frame::parse(&parts.mpdu)
                {
                    follower.hear(&frame);
                }
                Ok::<(), Failure>(())
            })?;
            let name = path.display().to_string();
            others.report(&name)?;
            if follower.all.is_empty() {
                eprintln!(
                    "warning: {name}: none of its {frames} frames is of an authentication by a shared key or of an open \
                     system: capture while a station joins"
                );
            }
        }
        None => {
            let unmade = |error: Error| Failure::new(9, error.to_string());
            for mpdu in made(&follower.keys[0])? {
                follower.hear(&Frame::parse(&mpdu).map_err(unmade)?);
            }
        }
    }
    for followed in &follower.all {
        let mut line = serde_json::to_vec(&followed.row).map_err(|error| Failure::new(9, error.to_string()))?;
        line.push(b'\n');
        print(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The four frames of an authentication under a key.
fn made(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
    let unmade = |error: Error| Failure::new(9, error.to_string());
    let mut challenge = [0; CHALLENGE_B];
    getrandom::fill(&mut challenge).map_err(|error| Failure::new(9, format!("random numbers: {error}")))?;
    let protocol = if bytes.len() == Protocol::Wep40.key_B() { Protocol::Wep40 } else { Protocol::Wep104 };
    let mut key = Key::new(protocol, bytes).map_err(unmade)?;
    let mut all = Vec::new();
    for step in 1..=4 {
        let (receiver, transmitter) = if step % 2 == 1 { (ACCESS_POINT, STATION) } else { (STATION, ACCESS_POINT) };
        let challenge = matches!(step, 2 | 3).then_some(&challenge);
        let frame = Authentication { algorithm: Algorithm::SharedKey, step, status: 0, challenge };
        let between = Between { receiver, transmitter, bssid: ACCESS_POINT, sequence: step };
        let mut mpdu = vec![0; WITH_CHALLENGE_B];
        let length_B = frame.write(&between, &mut mpdu).map_err(unmade)?;
        mpdu.truncate(length_B);
        if step == 3 {
            let mut sealed = vec![0; mpdu.len() + MAX_EXPANSION_B];
            let clear = Frame::parse(&mpdu).map_err(unmade)?;
            let length_B = key.protect(&clear, 1, 0, &mut sealed).map_err(unmade)?;
            sealed.truncate(length_B);
            mpdu = sealed;
        }
        all.push(mpdu);
    }
    Ok(all)
}

impl Follower {
    fn hear(&mut self, frame: &Frame<'_>) {
        if frame.kind() != Kind::Management || frame.subtype() != SUBTYPE {
            return;
        }
        let read = Authentication::parse(frame).ok();
        if read.is_none() && !frame.is_protected() {
            // SAE and fast transitions authenticate by other algorithms.
            return;
        }
        let is_down = frame.transmitter() == frame.third();
        let (access_point, station) =
            if is_down { (frame.transmitter(), frame.receiver()) } else { (frame.receiver(), frame.transmitter()) };
        let Some(at) = self.place(access_point, station, read.is_some_and(|read| read.step == 1)) else { return };
        let keys = &self.keys;
        let Followed { challenge, row, .. } = &mut self.all[at];
        let step = read.map_or(3, |read| read.step);
        let part = Part {
            step,
            from: if is_down { "access_point" } else { "station" },
            mpdu_B: frame.mpdu().len(),
            protected: frame.is_protected(),
        };
        if !row.frames.contains(&part) {
            row.frames.push(part);
        }
        match read {
            Some(read) => {
                row.algorithm = Some(match read.algorithm {
                    Algorithm::OpenSystem => "open_system",
                    Algorithm::SharedKey => "shared_key",
                });
                if is_down {
                    row.status = Some(read.status);
                }
                if read.step == 2 {
                    *challenge = read.challenge.copied();
                }
            }
            None => {
                row.answered = challenge.map(|challenge| keys.iter().any(|key| is_answer(key, frame, &challenge)));
                // The text is known, and of it the ICV.
                row.key_stream_B = frame.body().len().saturating_sub(Protocol::Wep40.head_B());
            }
        }
    }

    /// Where this pair's is; a first frame begins another one.
    fn place(&mut self, access_point: Address, station: Address, is_first: bool) -> Option<usize> {
        let is_of = |one: &Followed| (one.access_point, one.station) == (access_point, station);
        let has_more = |one: &Followed| one.row.frames.iter().any(|part| part.step != 1);
        if let Some(at) = self.all.iter().rposition(is_of).filter(|at| !(is_first && has_more(&self.all[*at]))) {
            return Some(at);
        }
        if self.all.len() == MOST_ROWS {
            return None;
        }
        let shown = |address: Address| address.map(|octet| format!("{octet:02x}")).join(":");
        let row = Row {
            access_point: shown(access_point),
            station: shown(station),
            algorithm: None,
            frames: Vec::new(),
            answered: None,
            status: None,
            key_stream_B: 0,
        };
        self.all.push(Followed { access_point, station, challenge: None, row });
        Some(self.all.len() - 1)
    }
}

fn is_answer(bytes: &[u8], third: &Frame<'_>, challenge: &[u8; CHALLENGE_B]) -> bool {
    let protocol = if bytes.len() == Protocol::Wep40.key_B() { Protocol::Wep40 } else { Protocol::Wep104 };
    Key::new(protocol, bytes).is_ok_and(|mut key| answers(&mut key, third, challenge) == Ok(true))
}
