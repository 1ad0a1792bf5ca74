//! Recordings of instruments: CSV as Otii, Joulescope and nRF Connect's Power Profiler export it, and generic columns.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use wattlock_terminal::failure::Failure;
use wattlock_terminal::table::{Format, print_rows};

/// A step of time longer than this many usual ones is a hole in the recording.
const HOLE: f64 = 3.5;

/// A recording and what in it counts.
#[derive(clap::Args)]
pub(super) struct Import {
    /// A recording: columns of time and of current and voltage, or power, with their units: `Timestamp(ms)`,
    /// `current (A)`, `power_uW`; a name without a unit is in s, A, V or W.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// The blocks: a CSV of block,start_s,end_s in the recording's time.
    #[arg(long, value_name = "FILE", requires = "csv", conflicts_with = "marker")]
    blocks: Option<PathBuf>,
    /// The blocks are where this column is not 0: a marker or a logic channel; in `D0-D7` it is one of D0 to D7.
    #[arg(long, value_name = "COLUMN", requires = "csv")]
    marker: Option<String>,
    /// Volts, where the recording has current alone.
    #[arg(long, value_name = "V", requires = "csv")]
    voltage: Option<f64>,
}

/// A stretch of the recording.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Stretch {
    block: String,
    start_s: f64,
    end_s: f64,
}

/// What a stretch took.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Weighed {
    block: String,
    start_s: f64,
    end_s: f64,
    samples: usize,
    energy_uJ: Option<f64>,
    mean_power_mW: Option<f64>,
    error: Option<String>,
}

/// Integrates a recording.
///
/// # Errors
/// Code 10: a file that can't be read, a column or unit that is missing, with what is there.
pub(super) fn run(options: &Import, format: Format) -> Result<ExitCode, Failure> {
    let Some(path) = &options.csv else { return Ok(ExitCode::SUCCESS) };
    let failed = |path: &Path, why: String| Failure::new(10, format!("{}: {why}", path.display()));
    let open = |path: &Path| std::fs::File::open(path).map_err(|error| failed(path, error.to_string()));
    let recording = Recording::read(open(path)?, options.voltage, options.marker.as_deref())
        .map_err(|(why, hint)| failed(path, why).hint(hint))?;
    let stretches = match (&options.blocks, &options.marker) {
        (Some(blocks), _) => csv::Reader::from_reader(open(blocks)?)
            .deserialize()
            .collect::<Result<Vec<Stretch>, _>>()
            .map_err(|error| failed(blocks, error.to_string()).hint("block,start_s,end_s"))?,
        (None, Some(_)) => recording.marked(),
        (None, None) => vec![recording.whole()],
    };
    if stretches.is_empty() {
        return Err(failed(path, "the marker is never on".to_owned()).hint("see the column in the recording"));
    }
    let rows: Vec<Weighed> = stretches.iter().map(|stretch| recording.weigh(stretch)).collect();
    let columns = ["block", "start_s", "end_s", "samples", "energy_uJ", "mean_power_mW", "error"];
    print_rows(&rows, &columns, format)?;
    Ok(ExitCode::SUCCESS)
}

/// A recording: one moment a row.
#[derive(Debug, Default)]
struct Recording {
    time_s: Vec<f64>,
    power_W: Vec<f64>,
    marker: Vec<bool>,
}

/// What a column is, and by what its numbers are multiplied.
type Column = (usize, f64);

impl Recording {
    fn read(input: impl std::io::Read, voltage_V: Option<f64>, marker: Option<&str>) -> Result<Self, (String, String)> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(input);
        let hint = || "columns such as time_s,current_A,voltage_V or Timestamp(ms),Current(uA)".to_owned();
        let headers = reader.headers().map_err(|error| (error.to_string(), hint()))?.clone();
        let names: Vec<&str> = headers.iter().collect();
        let listed = names.join(", ");
        if let [only] = names[..]
            && let Some(between) =
                [(';', "semicolons"), ('\t', "tabs")].into_iter().find(|(mark, _)| only.contains(*mark))
        {
            return Err((
                format!("its columns are separated by {}, not by commas", between.1),
                "save it with commas between columns and a point in numbers".to_owned(),
            ));
        }
        let column = |words: &[&str], unit: &str| column(&names, words, unit).map_err(|why| (why, hint()));
        let time = column(&["time", "timestamp"], "s")?.ok_or((format!("no column of time in {listed}"), hint()))?;
        let (power, current) = (column(&["power"], "W")?, column(&["current"], "A")?);
        let voltage = column(&["voltage"], "V")?;
        if power.is_none() && current.is_none() {
            return Err((format!("no column of current or power in {listed}"), hint()));
        }
        if power.is_none() && voltage.is_none() && voltage_V.is_none() {
            return Err((
                "current without a voltage".to_owned(),
                "--voltage 3.3 tells what fed the circuit".to_owned(),
            ));
        }
        let bit = marker.map(|marker| marked(&names, marker)).transpose();
        let bit = bit.map_err(|why| (why, "--marker D0, or the name of a column".to_owned()))?;
        let mut recording = Self::default();
        for (line, row) in (2..).zip(reader.records()) {
            let row = row.map_err(|error| (error.to_string(), hint()))?;
            let value = |(at, scale): Column| -> Result<f64, (String, String)> {
                let text = row.get(at).unwrap_or_default();
                let number: f64 = text.parse().map_err(|_| (format!("line {line}: {text:?} is no number"), hint()))?;
                if number.is_finite() { Ok(number * scale) } else { Err((format!("line {line}: {text}"), hint())) }
            };
            let power_W = match (power, current) {
                (Some(power), _) => value(power)?,
                (None, Some(current)) => {
                    value(current)? * voltage.map(value).transpose()?.or(voltage_V).unwrap_or_default()
                }
                (None, None) => continue,
            };
            let time_s = value(time)?;
            if recording.time_s.last().is_some_and(|last| *last >= time_s) {
                return Err((format!("line {line}: time {time_s} s does not rise"), hint()));
            }
            recording.time_s.push(time_s);
            recording.power_W.push(power_W);
            recording.marker.push(bit.is_some_and(|(at, bit)| is_on(row.get(at).unwrap_or_default(), bit)));
        }
        if recording.time_s.len() < 2 {
            return Err((format!("{} samples", recording.time_s.len()), hint()));
        }
        Ok(recording)
    }

    fn whole(&self) -> Stretch {
        let (start_s, end_s) = (self.time_s[0], self.time_s[self.time_s.len() - 1]);
        Stretch { block: "all".to_owned(), start_s, end_s }
    }

    /// Where the marker is on; stretches that the recording cuts are left out.
    fn marked(&self) -> Vec<Stretch> {
        let mut found = Vec::new();
        let mut start = None;
        for at in 1..self.marker.len() {
            match (self.marker[at - 1], self.marker[at]) {
                (false, true) => start = Some(self.time_s[at]),
                (true, false) => found.extend(start.take().map(|start_s| Stretch {
                    block: String::new(),
                    start_s,
                    end_s: self.time_s[at],
                })),
                _ => {}
            }
        }
        for (number, stretch) in found.iter_mut().enumerate() {
            stretch.block = number.to_string();
        }
        found
    }

    fn weigh(&self, stretch: &Stretch) -> Weighed {
        let Stretch { block, start_s, end_s } = stretch.clone();
        let energy = self.energy_J(start_s, end_s);
        let samples = self.time_s.iter().filter(|time| (start_s..=end_s).contains(*time)).count();
        let joules = energy.as_ref().ok();
        Weighed {
            block,
            start_s,
            end_s,
            samples,
            energy_uJ: joules.map(|energy| energy * 1e6),
            mean_power_mW: joules.map(|energy| energy / (end_s - start_s) * 1e3),
            error: energy.err(),
        }
    }

    /// Trapezoids between the samples, those at the edges cut.
    fn energy_J(&self, start_s: f64, end_s: f64) -> Result<f64, String> {
        let Stretch { start_s: first, end_s: last, .. } = self.whole();
        if start_s.is_nan() || end_s.is_nan() || start_s >= end_s {
            return Err(format!("it ends at {end_s} s, before it begins at {start_s} s"));
        }
        if start_s < first || end_s > last {
            return Err(format!("the recording is from {first} to {last} s"));
        }
        let mut steps: Vec<f64> = self.time_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_by(f64::total_cmp);
        let usual = steps[steps.len() / 2];
        if end_s - start_s < 5.0 * usual {
            return Err(format!("shorter than five samples of {usual} s"));
        }
        let mut energy = 0.0;
        for at in 1..self.time_s.len() {
            let (left, right) = (self.time_s[at - 1], self.time_s[at]);
            let (from, to) = (left.max(start_s), right.min(end_s));
            if from >= to {
                continue;
            }
            if right - left > HOLE * usual {
                return Err(format!("samples are missing between {left} and {right} s"));
            }
            let power = |time: f64| {
                self.power_W[at - 1] + (self.power_W[at] - self.power_W[at - 1]) * (time - left) / (right - left)
            };
            energy += (power(from) + power(to)) / 2.0 * (to - from);
        }
        Ok(energy)
    }
}

/// The first column that begins with one of `words` or has one of them in it, and the factor to its SI unit.
fn column(names: &[&str], words: &[&str], unit: &str) -> Result<Option<Column>, String> {
    let plain = |name: &str| name.trim_start_matches(['#', ' ', '\u{feff}']).to_lowercase();
    let begins = |name: &str| words.iter().any(|word| plain(name).starts_with(word));
    let holds = |name: &str| words.iter().any(|word| plain(name).contains(word));
    let Some(at) = names.iter().position(|name| begins(name)).or_else(|| names.iter().position(|name| holds(name)))
    else {
        return Ok(None);
    };
    let name = names[at];
    let asked = match (name.rfind(['(', '[']), name.rfind('_')) {
        (Some(open), _) => name[open + 1..].trim_end_matches([')', ']', ' ']),
        (None, Some(bar)) => &name[bar + 1..],
        (None, None) => unit,
    };
    let scale = match asked.strip_suffix(unit) {
        Some("") => 1.0,
        Some("m") => 1e-3,
        Some("u" | "µ" | "μ") => 1e-6,
        Some("n") => 1e-9,
        _ => return Err(format!("column {name:?} is in {asked:?}, not in {unit}, m{unit}, u{unit} or n{unit}")),
    };
    Ok(Some((at, scale)))
}

/// The column of a marker, and which digit of it where it holds several channels (`D0-D7`, D0 first).
fn marked(names: &[&str], marker: &str) -> Result<(usize, Option<usize>), String> {
    if let Some(at) = names.iter().position(|name| *name == marker) {
        return Ok((at, None));
    }
    let channel = marker.strip_prefix('D').and_then(|digit| digit.parse::<usize>().ok()).filter(|digit| *digit < 8);
    let together = names.iter().position(|name| *name == "D0-D7");
    channel.zip(together).map(|(digit, at)| (at, Some(digit))).ok_or_else(|| format!("no column {marker:?}"))
}

fn is_on(text: &str, digit: Option<usize>) -> bool {
    match digit {
        // Without their leading zeros when a spreadsheet wrote them: eight digits, filled up.
        Some(digit) => format!("{text:0>8}").chars().nth(digit) == Some('1'),
        None => text.parse::<f64>().map_or(!text.is_empty() && text != "false", |number| number != 0.0),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// 2 W and from 0.3 to 0.7 s 5 W, at 1 kHz.
    fn load(at: u32) -> f64 {
        if (300..700).contains(&at) { 5.0 } else { 2.0 }
    }

    fn text(header: &str, row: impl Fn(u32, f64) -> String) -> String {
        let mut text = header.to_owned() + "\n";
        (0..1000).for_each(|at| writeln!(text, "{}", row(at, load(at))).unwrap());
        text
    }

    fn read(text: &str, voltage: Option<f64>, marker: Option<&str>) -> Result<Recording, (String, String)> {
        Recording::read(text.as_bytes(), voltage, marker)
    }

    fn near(energy: f64, truth: f64) {
        assert!((energy / truth - 1.0).abs() < 0.01, "{energy} J, not {truth} J");
    }

    #[test]
    fn the_exports_of_four_instruments_hold_the_same_joules() {
        let otii = text("Timestamp,Main Current - Arc (A),Main Voltage - Arc (V)", |at, watts| {
            format!("{},{},3.3", f64::from(at) / 1e3, watts / 3.3)
        });
        let joulescope = text("#time (s),current (A),voltage (V),power (W)", |at, watts| {
            format!("{},{},3.3,{watts}", f64::from(at) / 1e3, watts / 3.3)
        });
        let ppk2 = text("Timestamp(ms),Current(uA),D0-D7", |at, watts| {
            format!("{at},{},{}0000000", watts / 3.3 * 1e6, u8::from(watts > 3.0))
        });
        let generic = text("time_us,power_mW", |at, watts| format!("{},{}", at * 1000, watts * 1e3));
        for (export, voltage) in [(&otii, None), (&joulescope, None), (&ppk2, Some(3.3)), (&generic, None)] {
            let recording = read(export, voltage, None).unwrap();
            near(recording.energy_J(0.2, 0.4).unwrap(), 0.2 + 0.5);
            near(recording.weigh(&recording.whole()).energy_uJ.unwrap(), (0.6 * 2.0 + 0.4 * 5.0) * 1e6);
        }
        let marked = read(&ppk2, Some(3.3), Some("D0")).unwrap();
        let stretches = marked.marked();
        assert_eq!(stretches.len(), 1);
        near(stretches[0].start_s, 0.3);
        near(stretches[0].end_s, 0.7);
        near(marked.weigh(&stretches[0]).energy_uJ.unwrap(), 2e6);
    }

    #[test]
    fn what_a_recording_cannot_tell_is_an_error_and_never_zero() {
        let generic = text("time_s,power_W", |at, watts| format!("{},{watts}", f64::from(at) / 1e3));
        let recording = read(&generic, None, None).unwrap();
        for (start, end, word) in [(0.5, 2.0, "from 0 to"), (0.4, 0.4, "before"), (0.2, 0.202, "shorter than five")] {
            let row = recording.weigh(&Stretch { block: String::new(), start_s: start, end_s: end });
            assert!(row.energy_uJ.is_none() && row.error.unwrap().contains(word), "{word}");
        }
        let holed: String =
            generic.lines().filter(|line| !line.starts_with("0.25")).fold(String::new(), |a, b| a + b + "\n");
        let error = read(&holed, None, None).unwrap().energy_J(0.2, 0.4).unwrap_err();
        assert!(error.contains("samples are missing"), "{error}");
    }

    #[test]
    fn columns_that_do_not_fit_are_named() {
        for (header, word) in [
            ("a,power_W", "no column of time"),
            ("time,b", "no column of current or power"),
            ("time,current", "without a voltage"),
            ("time,power (dBm)", "dBm"),
            ("Timestamp(ms);Current(uA)", "separated by semicolons"),
            ("time_s\tpower_W", "separated by tabs"),
        ] {
            let error = read(&format!("{header}\n0,1\n1,1\n"), None, None).unwrap_err();
            assert!(error.0.contains(word), "{error:?}");
        }
        assert!(read("time,power\n0,1\n0,1\n", None, None).unwrap_err().0.contains("does not rise"));
        assert!(read("time,power\n0,1\n1,x\n", None, None).unwrap_err().0.contains("line 3"));
        assert!(read("time,power\n0,1\n1,1\n", None, Some("D9")).unwrap_err().0.contains("D9"));
    }
}
