//! `wattlock-net frames`: puts protection on the frames of a capture and takes it off.

mod authenticate;
mod keys;
mod medium;
mod summary;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wattlock_frames::{Error, Frame, Key, Kind, MAX_EXPANSION_B, Malformed, Protocol, fcs, fragments};
use wattlock_terminal::failure::{Failure, print};
use wattlock_terminal::output::{Output, unwritten};

use self::keys::{WEP_B, from_hex, keys, masters, wrong_length};
use self::medium::Others;
use self::summary::{Given, Summary, nothing_opened, nothing_protected};
use crate::frames::capture::{self, End, Packet, Piece, Stamp, Writer};
use crate::frames::link::{self, Parts, Sums};
use crate::frames::observer::{Observer, Outcome, Refusal};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-net frames protect --protocol ccmp --key 000102030405060708090a0b0c0d0e0f \\
    clear.pcap protected.pcap
  wattlock-net frames unprotect --passphrase 'correct horse' --ssid home air.pcapng.gz clear.pcapng
  wattlock-net frames unprotect --wep 0102030405 --tk 000102030405060708090a0b0c0d0e0f \\
    air.pcap clear.pcap
  wattlock-net frames unprotect \\
    --pmk 79258f6ceeecedd3482b92deaabdb675f09bcb4003ef5074f5ddb10a94ebe00a sae.pcap clear.pcap
  wattlock-net frames authenticate --wep 0102030405

Captures are pcap or pcapng of IEEE 802.11, with radiotap, PPI, Prism, AVS or nothing before a
frame, gzipped or not; the copy has the format of its source and is gzipped where its name ends in
.gz. Packets of other media in a pcapng are counted and left out. Whether an FCS is there is decided
by its sum; it is made anew. A summary goes to standard output, one JSON object, or to standard
error where OUT is - or /dev/stdout. Where a verb fails, a file OUT is as it was before: there only
once whole; it keeps its mode and owner. A device, a pipe or a stream is written as it is.

Protect works on data frames that carry data and are not protected yet; all others are copied as
they are.
Unprotect writes a frame only after its ICV or MIC has verified, and under TKIP the Michael of its
whole MSDU; a frame whose packet number was there before is not written. Frames in the clear are
copied as they are. A capture of the air holds repetitions (the retry bit): they have the same
packet number, and count as replays.

What opens which handshake:
  --passphrase  PSK, PSK-SHA256, FT-PSK, WPA's PSK
  --pmk         SAE, FT-SAE, OWE, 802.1X, 802.1X-SHA256, Suite B: the pairwise master key, which
                wpa_supplicant and hostapd print with -K -dd. Of FT-802.1X the second half of the
                MSK, of Suite-B-192 its 48 octets. A PSK is one too.
  nothing       TDLS: its key is made of what the setup shows under keys that are known
A fast transition needs the network's name: from a beacon of the capture, or by --ssid. The summary
lists each handshake with its key management, what it taught, and why nothing.

A key of TKIP has 64 digits: the temporal key, the Michael key of what the access point sends, that
of what the station sends. Keys on a command line are visible to others in the list of processes and
in the shell's history.

Exit codes:
  2   usage
  4   a key or a packet number of the wrong length, an SSID or a passphrase that can't be one
  5   packet numbers ran out
  9   an output that can't be written
  10  an input that can't be read, or is no capture of IEEE 802.11";

/// Puts protection on the frames of a capture, or takes it off.
#[derive(clap::Args)]
pub struct Options {
    #[command(subcommand)]
    way: Way,
}

#[derive(clap::Subcommand)]
enum Way {
    /// Protects the data frames of a capture.
    #[command(after_help = EXAMPLE)]
    Protect(Protect),
    /// Verifies and decrypts the protected frames of a capture.
    #[command(after_help = EXAMPLE)]
    Unprotect(Unprotect),
    /// Shows authentication by a shared key: makes it, or checks those of a capture.
    #[command(after_help = authenticate::EXAMPLE)]
    Authenticate(authenticate::Options),
}

#[derive(clap::Args)]
struct Protect {
    /// How.
    #[arg(long, value_enum)]
    protocol: Name,
    /// The key in hex digits: 10 or 26 of WEP, 64 of TKIP, 32 of CCMP and GCMP, 64 of CCMP-256 and GCMP-256.
    #[arg(long, value_name = "HEX")]
    key: String,
    /// The packet number of the first frame, or its IV; each frame has the next one.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pn: u64,
    /// Which of four keys the frames name.
    #[arg(long, value_name = "0..3", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=3))]
    key_id: u8,
    /// Cut frames to one station into fragments of at most so many octets of body.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(16..))]
    fragment: Option<u16>,
    /// The capture in the clear.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The protected capture.
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

#[derive(clap::Args)]
struct Unprotect {
    /// A key of WEP, 10 or 26 hex digits; may be given more than once.
    #[arg(long, value_name = "HEX")]
    wep: Vec<String>,
    /// A temporal key, 32 or 64 hex digits; may be given more than once.
    #[arg(long, value_name = "HEX")]
    tk: Vec<String>,
    /// A passphrase, or a PSK in 64 hex digits; may be given more than once, each with its --ssid.
    #[arg(long, value_name = "P", requires = "ssid")]
    passphrase: Vec<String>,
    /// The network of a passphrase, one for all or one for each; of a fast transition a name that it may have.
    #[arg(long, value_name = "S")]
    ssid: Vec<String>,
    /// A pairwise master key, 64, 96 or 128 hex digits: of SAE, OWE, 802.1X; may be given more than once.
    #[arg(long, value_name = "HEX")]
    pmk: Vec<String>,
    /// The protected capture.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The capture in the clear.
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Name {
    /// WEP with a key of 40 or 104 bits.
    Wep,
    /// TKIP.
    Tkip,
    /// CCMP-128.
    Ccmp,
    /// CCMP-256.
    Ccmp256,
    /// GCMP-128.
    Gcmp,
    /// GCMP-256.
    Gcmp256,
}

/// The most handshakes that standard error tells of.
const MOST_WARNINGS: usize = 10;

/// Carries it out.
///
/// # Errors
/// As the exit codes in [`EXAMPLE`] say. What is wrong with a frame is counted.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let summary = match options.way {
        Way::Protect(options) => {
            let summary = protect(&options)?;
            warn(&options.input, "protected", nothing_protected(&summary));
            summary
        }
        Way::Unprotect(options) => {
            let summary = unprotect(&options)?;
            let given = Given {
                keys: !(options.wep.is_empty() && options.tk.is_empty()),
                masters: !(options.passphrase.is_empty() && options.pmk.is_empty()),
            };
            warn(&options.input, "opened", nothing_opened(&summary, given));
            summary
        }
        Way::Authenticate(options) => return authenticate::run(&options),
    };
    let mut line = serde_json::to_vec(&summary).map_err(|error| Failure::new(9, error.to_string()))?;
    line.push(b'\n');
    if summary.aside {
        // Nothing is left to tell anybody where standard error is closed.
        let _ = io::stderr().write_all(&line);
        return Ok(ExitCode::SUCCESS);
    }
    print(&line)?;
    Ok(ExitCode::SUCCESS)
}

/// Says why nothing was done.
fn warn(input: &Path, what: &str, why: Option<String>) {
    if let Some(why) = why {
        eprintln!("warning: {}: nothing was {what}: {why}", input.display());
    }
}

/// The copy that is written, and what is counted on the way.
struct Copying {
    writer: Writer,
    output: PathBuf,
    summary: Summary,
    parts: Parts,
    sums: Sums,
    others: Others,
}

/// What a frame of a copy is written with.
struct With {
    stamp: Stamp,
    device: Vec<u8>,
    has_fcs: bool,
}

impl Copying {
    fn failure(&self, error: &io::Error) -> Failure {
        unwritten(&self.output, error)
    }

    /// Counts the packet and takes it apart; `None` where no frame could be made of it, and it is done with.
    fn take(&mut self, packet: &Packet) -> Result<Option<()>, Failure> {
        if !self.others.pass(packet)? {
            return Ok(None);
        }
        self.summary.frames += 1;
        let is_fine = link::parts(packet, &self.sums, &mut self.parts).is_some();
        match Frame::parse(&self.parts.mpdu) {
            Ok(frame) if is_fine => {
                self.summary.data_frames += u64::from(frame.kind() == Kind::Data);
                Ok(Some(()))
            }
            _ => {
                self.summary.failed.malformed += 1;
                Ok(None)
            }
        }
    }

    fn with(&self, stamp: Stamp) -> With {
        With { stamp, device: self.parts.device.clone(), has_fcs: self.parts.has_fcs }
    }

    fn write(&mut self, mpdu: &[u8], with: &With) -> Result<(), Failure> {
        let sum = fcs(mpdu);
        let tail: &[u8] = if with.has_fcs { &sum } else { &[] };
        self.summary.written += 1;
        let written = self.writer.packet(with.stamp, &[&with.device, mpdu, tail], 0);
        written.map_err(|error| self.failure(&error))
    }

    /// Writes the packet as it came.
    fn copy(&mut self, packet: &Packet) -> Result<(), Failure> {
        self.summary.copied += 1;
        self.summary.written += 1;
        self.writer.packet(packet.stamp, &[packet.data], 0).map_err(|error| self.failure(&error))
    }
}

/// Reads `input`, hands over each packet, writes `output`.
fn copy(
    input: &Path,
    output: &Path,
    mut each: impl FnMut(&mut Copying, &Packet) -> Result<(), Failure>,
) -> Result<Summary, Failure> {
    let source = capture::open(input).map_err(|error| {
        Failure::new(10, error).hint("captures are pcap or pcapng, gzipped or not; tshark -w writes them")
    })?;
    let is_same = input.canonicalize().ok().zip(output.canonicalize().ok()).is_some_and(|(one, other)| one == other);
    if is_same {
        return Err(Failure::new(9, format!("{} is the input", output.display())).hint("write to another file"));
    }
    let failed = |error: io::Error| unwritten(output, &error);
    let target = Output::open(output).map_err(failed)?;
    let out = target.writer().map_err(failed)?;
    let is_gzip = output.extension().is_some_and(|extension| extension == "gz");
    let writer = if is_gzip { Writer::zipped(out) } else { Writer::on(out) };
    let parts = Parts { device: Vec::new(), mpdu: Vec::new(), has_fcs: false };
    let (sums, others) = (Sums::of_file(input), Others::default());
    let mut copying = Copying { writer, output: output.to_owned(), summary: Summary::default(), parts, sums, others };
    let end = capture::read(source, |piece| match piece {
        Piece::Head(bytes, endian) => copying.writer.head(&bytes, endian).map_err(|error| copying.failure(&error)),
        Piece::Between(bytes) => copying.writer.between(&bytes).map_err(|error| copying.failure(&error)),
        Piece::Packet(packet) => each(&mut copying, &packet),
    })?;
    copying.summary.cut = end != End::Whole;
    if end == End::Corrupt {
        eprintln!("warning: {}: what follows frame {} is no packet", input.display(), copying.summary.frames);
    }
    copying.summary.aside = target.is_stdout();
    copying.others.report(&input.display().to_string())?;
    copying.summary.other_media = copying.others.packets;
    let Copying { writer, summary, .. } = copying;
    writer.finish().and_then(|()| target.keep()).map_err(failed)?;
    Ok(summary)
}

fn protect(options: &Protect) -> Result<Summary, Failure> {
    let bytes = from_hex("--key", &options.key)?;
    let protocol = match options.protocol {
        Name::Wep if bytes.len() == Protocol::Wep40.key_B() => Protocol::Wep40,
        Name::Wep => Protocol::Wep104,
        Name::Tkip => Protocol::Tkip,
        Name::Ccmp => Protocol::Ccmp128,
        Name::Ccmp256 => Protocol::Ccmp256,
        Name::Gcmp => Protocol::Gcmp128,
        Name::Gcmp256 => Protocol::Gcmp256,
    };
    let right_B: &[usize] = if options.protocol == Name::Wep { &WEP_B } else { &[protocol.key_B()] };
    let mut key = Key::new(protocol, &bytes).map_err(|_| wrong_length("--key", bytes.len(), right_B))?;
    let most = protocol.largest_number();
    if options.pn > most {
        return Err(Failure::new(4, format!("--pn {}: the largest of {protocol} is {most}", options.pn)));
    }
    let is_wep = protocol.head_B() == 4;
    let body_B = options.fragment.map_or(usize::MAX, usize::from);
    let (mut number, mut part, mut protected) = (options.pn, Vec::new(), Vec::new());
    let each = |copying: &mut Copying, packet: &Packet| {
        if copying.take(packet)?.is_none() {
            return Ok(());
        }
        let mpdu = std::mem::take(&mut copying.parts.mpdu);
        let mut refusal = None;
        if let Ok(frame) = Frame::parse(&mpdu) {
            if !frame.carries_data() || frame.is_protected() {
                copying.parts.mpdu = mpdu;
                return copying.copy(packet);
            }
            part.resize(mpdu.len(), 0);
            protected.resize(mpdu.len() + MAX_EXPANSION_B, 0);
            let count = fragments::count(&frame, body_B, protocol);
            let with = copying.with(packet.stamp);
            for at in 0..*count.as_ref().unwrap_or(&0) {
                if number > most {
                    return Err(Failure::new(5, format!("packet numbers of {protocol} ran out at {most}")));
                }
                let length_B = fragments::write(&frame, body_B, at, count.unwrap_or(1), &mut part);
                let done = length_B.and_then(|length_B| {
                    key.protect(&Frame::parse(&part[..length_B])?, number, options.key_id, &mut protected)
                });
                match done {
                    Ok(length_B) => {
                        copying.write(&protected[..length_B], &with)?;
                        // WEP says nothing of an IV that comes again: cards began anew.
                        number = if is_wep { (number + 1) & most } else { number + 1 };
                        copying.summary.done += u64::from(at == 0);
                    }
                    Err(error) => refusal = Some(error),
                }
            }
            refusal = refusal.or(count.err());
        }
        if let Some(error) = refusal {
            copying.summary.failed.count(Refusal::Because(error), 1);
        }
        copying.parts.mpdu = mpdu;
        Ok(())
    };
    copy(&options.input, &options.output, each)
}

fn unprotect(options: &Unprotect) -> Result<Summary, Failure> {
    let wep = keys("--wep", &options.wep, &WEP_B)?;
    let temporal = keys("--tk", &options.tk, &[16, 32])?;
    let mut observer = Observer::new(&wep, &temporal, masters(&options.passphrase, &options.pmk, &options.ssid)?);
    let each = |copying: &mut Copying, packet: &Packet| {
        if copying.take(packet)?.is_none() {
            return Ok(());
        }
        let with = copying.with(packet.stamp);
        let mpdu = std::mem::take(&mut copying.parts.mpdu);
        if let Ok(frame) = Frame::parse(&mpdu) {
            match observer.hear(&frame, packet.time_ns.unwrap_or_default(), with) {
                Outcome::Clear(_) => copying.copy(packet)?,
                Outcome::Waits => {}
                Outcome::Verified(frames) => {
                    for (clear, with) in frames {
                        copying.write(&clear, &with)?;
                        copying.summary.done += 1;
                    }
                }
                Outcome::Refused(refusal, frames) => copying.summary.failed.count(refusal, frames),
            }
        }
        copying.parts.mpdu = mpdu;
        Ok(())
    };
    let mut summary = copy(&options.input, &options.output, each)?;
    summary.failed.count(Refusal::Because(Error::Malformed(Malformed::Fragment)), observer.waiting());
    summary.keys_learned = Some(observer.keys_learned);
    summary.countermeasures = Some(observer.countermeasures_taken);
    let rows = observer.handshakes.rows();
    let without: Vec<_> = rows.iter().filter_map(|row| row.why.as_ref().map(|why| (row, why))).collect();
    for (row, why) in without.iter().take(MOST_WARNINGS) {
        let of = row.key_management.as_deref().unwrap_or("key management unknown");
        eprintln!("warning: handshake of {} with {} ({of}): {why}", row.station, row.access_point);
    }
    if without.len() > MOST_WARNINGS {
        eprintln!("warning: and {} more handshakes without a key", without.len() - MOST_WARNINGS);
    }
    (summary.handshakes, summary.handshakes_unlisted) = (Some(rows.to_vec()), Some(observer.handshakes.unlisted));
    Ok(summary)
}
