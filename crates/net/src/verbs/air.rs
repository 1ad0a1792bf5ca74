//! `wattlock-net air`: scenarios of the air in, results out.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use wattlock_terminal::failure::Failure;

use crate::scenario::{AirLine, line};

/// How it is called.
pub const EXAMPLE: &str = r#"Examples:
  echo '{"phy":"g","rate_Mb_s":54,"payload_B":1472,"datagrams":10000}' | wattlock-net air
  echo '{"phy":"b","topology":"bss","transport":"tcp","datagrams":7000}' | wattlock-net air
  wattlock-net air scenarios.jsonl > results.jsonl

A scenario is one JSON object a line; only "phy" and "datagrams" or "duration_s" are needed. The
result says in "resolved" what it came down to. `wattlock-net schema` has all keys and defaults:
  network   phy (b, g, a, n, ac, ax) band (2.4, 5, 6) channel_MHz gi_ns streams preamble
            basic_rates_Mb_s slot_us rate_Mb_s | mcs, beacon_interval_us
  stations  topology (adhoc, to-ap, bss) stations power_save queue_packets
  traffic   payload_B datagrams duration_s interval_us transport (udp, tcp) tcp_window_B
            tcp_timestamps
  frames    protection (none, wep, tkip, ccmp, ccmp256, gcmp, gcmp256) rts fragment_B ampdu_B
            retry_limit eifs
  signal    distance_m walls_dB path_loss_exponent tx_power_dBm | rssi_dBm, noise_figure_dB
            capture_dB rate_control (fixed, arf, minstrel, ideal)
  answer    engine (closed-form, bianchi, dcf) seed id
Every node's tx_ns, rx_ns, cca_ns, idle_ns and sleep_ns add up to duration_ns. A scenario that
can't be has a failure with its line, its key and the right values in place of a result, and the
others go on. The simulator (dcf) takes work of some ten minutes: 2e10 looks at a node, all nodes
and 5 more for each transmission and beacon. That is 2.86e9 datagrams of one sender; what is more
is refused before it begins. The means (closed-form, bianchi) take no longer for more.

Exit codes: 3 where a scenario can't be, 4 for a file that can't be read."#;

/// A line has at most so many bytes: a scenario with all of its keys has 2 kB.
const LONGEST_LINE_B: u64 = 1 << 20;

/// Computes how long transfers over 802.11 take and what each radio does meanwhile.
#[derive(clap::Args)]
pub struct Options {
    /// Scenarios, one JSON object a line; standard input without it.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Answers line by line.
///
/// # Errors
/// Input that can't be read, or a line that does not end (4), standard output that can't be written (9).
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let mut input: Box<dyn BufRead> = match &options.file {
        None => Box::new(io::stdin().lock()),
        Some(path) => {
            let refused = |error: String| {
                Failure::new(4, format!("{}: {error}", path.display()))
                    .hint("a file of scenarios, or none for standard input")
            };
            if path.is_dir() {
                return Err(refused("is a folder".to_owned()));
            }
            let file = File::open(path).map_err(|error| refused(error.to_string()))?;
            Box::new(BufReader::new(file))
        }
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut failed = false;
    for number in 1.. {
        let Some(text) = next_line(&mut input, number)? else { break };
        if text.trim().is_empty() {
            continue;
        }
        let answer = line(number, &text);
        if let AirLine::Failure(failure) = &answer {
            failed = true;
            let key = if failure.key.is_empty() { String::new() } else { format!("{}: ", failure.key) };
            let words = Failure::new(3, format!("line {}: {key}{}", failure.line, failure.message));
            let words = failure.hint.iter().fold(words, |words, hint| words.hint(hint.as_str()));
            // Nothing is left to tell anybody where standard error is closed.
            let _ = write!(io::stderr(), "{words}");
        }
        let written = serde_json::to_writer(&mut out, &answer).map_err(io::Error::from);
        match written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            Err(error) => return Err(Failure::new(9, format!("standard output: {error}"))),
            Ok(()) => {}
        }
    }
    Ok(if failed { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// The next line; `None` behind the last.
///
/// # Errors
/// That it can't be read, is longer than any scenario, or is no text (4).
fn next_line(input: &mut impl BufRead, number: usize) -> Result<Option<String>, Failure> {
    let refused = |why: &str, hint: &str| Failure::new(4, format!("line {number}: {why}")).hint(hint);
    let mut bytes = Vec::new();
    let read = input.take(LONGEST_LINE_B + 1).read_until(b'\n', &mut bytes);
    read.map_err(|error| refused(&error.to_string(), "name a file that can be read to its end"))?;
    if bytes.len() as u64 > LONGEST_LINE_B {
        let why = format!("has more than {LONGEST_LINE_B} bytes, which no scenario needs");
        return Err(refused(&why, "one JSON object a line: end each with a newline"));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused("is no UTF-8", "write the file as UTF-8 text"))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}
