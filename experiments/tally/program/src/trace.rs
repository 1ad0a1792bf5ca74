//! What a sensor sends, and when.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::gateway::MOST_PAYLOAD_B;

/// The most messages of a trace.
pub const MOST_MESSAGES: usize = 1_000_000;
const MOST_LINE_B: u64 = 64 * 1024;

/// A message: its octets, and how long after the one before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Octets.
    pub payload_B: usize,
    /// Time since the message before.
    pub after: Duration,
}

/// A line as `capture --packets` prints them; those of other kinds have no time.
#[derive(Deserialize)]
struct Line {
    time_ns: Option<u64>,
    #[serde(rename = "size_B")]
    size_B: Option<usize>,
}

/// The messages of a file of JSON Lines: `time_ns` and `size_B` of each, in the order of time.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn read(path: &Path) -> io::Result<Vec<Message>> {
    let mut reader = BufReader::new(File::open(path)?);
    let (mut messages, mut before_ns) = (Vec::new(), None);
    for number in 1.. {
        let mut text = Vec::new();
        let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {what}"));
        if io::Read::take(&mut reader, MOST_LINE_B).read_until(b'\n', &mut text)? == 0 {
            break;
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_slice(&text).map_err(|error| wrong(format!("no JSON object: {error}")))?;
        let Some(time_ns) = line.time_ns else { continue };
        let payload_B = line.size_B.ok_or_else(|| wrong("it has no size_B".into()))?;
        if payload_B > MOST_PAYLOAD_B {
            return Err(wrong(format!("size_B {payload_B}: a message has at most {MOST_PAYLOAD_B} octets")));
        }
        let after_ns = time_ns.checked_sub(before_ns.unwrap_or(time_ns));
        let after_ns = after_ns.ok_or_else(|| wrong(format!("time_ns {time_ns} lies before the line above")))?;
        before_ns = Some(time_ns);
        messages.push(Message { payload_B, after: Duration::from_nanos(after_ns) });
        if messages.len() > MOST_MESSAGES {
            return Err(wrong(format!("a trace has at most {MOST_MESSAGES} messages")));
        }
    }
    if messages.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it has no line with time_ns"));
    }
    Ok(messages)
}

/// So many messages of so many octets, one each `interval`.
pub fn steady(messages: usize, payload_B: usize, interval: Duration) -> Vec<Message> {
    vec![Message { payload_B, after: interval }; messages]
}

/// What message `number` of a trace holds: its number, again and again.
pub fn payload(number: u64, payload_B: usize) -> Vec<u8> {
    number.to_be_bytes()[4..].iter().copied().cycle().take(payload_B).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<(usize, u64)>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let messages = read(file.path()).map_err(|error| error.to_string())?;
        Ok(messages.iter().map(|one| (one.payload_B, u64::try_from(one.after.as_nanos()).unwrap())).collect())
    }

    #[test]
    fn a_trace_is_what_capture_prints_and_its_times_are_differences() {
        let text = "{\"kind\":\"packet\",\"time_ns\":5,\"size_B\":40,\"frame\":\"udp\"}\n\n{\"kind\":\"summary\"}\n{\"time_ns\":9,\"size_B\":0}";
        assert_eq!(of(text).unwrap(), [(40, 0), (0, 4)]);
    }

    #[test]
    fn what_is_no_trace_is_told_with_its_line() {
        for (text, word) in [
            ("", "no line with time_ns"),
            ("{\"kind\":\"gap\"}", "no line with time_ns"),
            ("{\"time_ns\":1}", "line 1: it has no size_B"),
            ("{\"time_ns\":1,\"size_B\":1}\n7", "line 2: no JSON object"),
            ("{\"time_ns\":1,\"size_B\":1025}", "line 1: size_B 1025"),
            ("{\"time_ns\":2,\"size_B\":1}\n{\"time_ns\":1,\"size_B\":1}", "line 2: time_ns 1 lies before"),
        ] {
            let told = of(text).unwrap_err();
            assert!(told.contains(word), "{told}");
        }
    }
}
