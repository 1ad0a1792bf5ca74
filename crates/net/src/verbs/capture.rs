//! `wattlock-net capture`: the sizes, kinds and gaps of a capture's packets.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use wattlock_terminal::failure::Failure;

use crate::frames::capture::{self, End, Piece};
use crate::frames::census::{CaptureLine, Census, PacketLine, Summary};
use crate::frames::link::Sums;

/// How it is called.
pub const EXAMPLE: &str = r#"Examples:
  wattlock-net capture air.pcap
  wattlock-net capture --packets air.pcapng.gz > traffic.jsonl

Captures are pcap or pcapng, gzipped or not, of IEEE 802.11 (with radiotap, PPI, Prism, AVS or
nothing before a frame), Ethernet, Linux cooked or raw IP. They are read once, in bounded memory.
JSON Lines go to standard output; `wattlock-net schema` describes them:
  {"kind":"size"}     packets of one frame kind and size: management, control, data, extension of
                      802.11, protected or not; tcp, udp, icmp, ip, arp, other of the rest
  {"kind":"gap"}      time from a packet to the next, four bins to each doubling
  {"kind":"summary"}  totals, and the packets that were not counted, by reason
A size is what the medium carried: of 802.11 the MPDU with its FCS, of Ethernet the frame without
its FCS, else the IP packet. A packet that the capture cut short counts with its size before.

Exit codes: 9 where standard output can't be written, 10 for a file that is no capture, or of which
no packet is of these link types: then the summary alone is printed."#;

/// Counts the sizes, kinds and gaps of a capture's packets.
#[derive(clap::Args)]
pub struct Options {
    /// Print one line for each packet too, before the others: time_ns, size_B, frame.
    #[arg(long)]
    packets: bool,
    /// The capture.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Prints the counts.
///
/// # Errors
/// As the exit codes in [`EXAMPLE`] say. What is wrong with a packet is counted.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let source = capture::open(&options.file).map_err(|error| {
        Failure::new(10, error).hint("captures are pcap or pcapng, gzipped or not; tshark -w writes them")
    })?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (mut census, mut foreign) = (Census::new(Sums::of_file(&options.file)), None);
    let end = capture::read(source, |piece| {
        let Piece::Packet(packet) = piece else { return Ok(()) };
        match census.take(&packet).filter(|_| options.packets) {
            Some((time_ns, carried)) => {
                let frame = PacketLine {
                    time_ns,
                    size_B: carried.size_B,
                    frame: carried.sort,
                    protected: carried.is_protected,
                };
                write(&mut out, &CaptureLine::Packet(frame))
            }
            None => Ok(()),
        }
    });
    let written = end.and_then(|end| {
        census.summary.cut = end != End::Whole;
        if end == End::Corrupt {
            eprintln!("warning: {}: what follows packet {} is none", options.file.display(), census.summary.packets);
        }
        foreign = census.foreign.zip(Some(census.summary.counted));
        for why in nothing_counted(&census.summary).into_iter().chain(untimed(&census)) {
            eprintln!("warning: {}: {why}", options.file.display());
        }
        census.lines().try_for_each(|line| write(&mut out, &line))?;
        out.flush()
    });
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        return Err(Failure::new(9, format!("standard output: {error}")));
    }
    let place = options.file.display();
    match foreign {
        Some((link, 0)) => {
            let message = format!("{place}: its packets are of link type {link}, which is none that is read");
            let types = "802.11 (105, 119, 127, 163, 192), Ethernet (1), Linux cooked (113, 276) or raw IP (101)";
            return Err(Failure::new(10, message).hint(format!("{types}: choose it where you capture")));
        }
        Some((link, _)) => {
            eprintln!("warning: {place}: packets of link type {link} are not counted: it is none that is read");
        }
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Why no packet of a medium that is read was counted, and what helps.
fn nothing_counted(summary: &Summary) -> Option<String> {
    let Summary { packets, counted, damaged, malformed, .. } = summary;
    match (counted, packets) {
        (0, 0) => Some("it holds no packet: capture while something is sent".to_owned()),
        (0, _) if *malformed > 0 => Some(format!(
            "{malformed} of its {packets} packets could not be read: capture them whole (tcpdump -s 0), and with the link \
             type that they have"
        )),
        (0, _) if *damaged > 0 => {
            Some(format!("{damaged} of its {packets} frames had a wrong FCS: capture nearer to the sender"))
        }
        _ => None,
    }
}

/// How many packets have a time that is none, and what helps.
fn untimed(census: &Census) -> Option<String> {
    (census.untimed > 0).then(|| {
        format!(
            "{} of its packets are stamped before 1970 or after 2554 and counted without a time: set the clock where you \
             capture, and its if_tsoffset to 0",
            census.untimed
        )
    })
}

fn write(out: &mut impl Write, line: &CaptureLine) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
