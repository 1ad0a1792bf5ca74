//! `wattlock-probe board`: the cases of a plan, counted on an emulated microcontroller. Plan lines in, record lines out.
//!
//! | file | holds |
//! |---|---|
//! | `cores`, `part` | the cores, their targets and machines; a part's flash |
//! | `plan` | a planned case as an image takes it |
//! | `sources`, `images`, `plugin` | what images and the plugin are built from; images and the plugin, cached by their hash |
//! | `elf` | an image's symbols, its plan, what a function can reach |
//! | `emulator`, `console` | an image's run, and what it said |
//! | `session` | the cases of one family: run, counted, and run again without the one that ended the image |
//! | `header` | the first record |
#![forbid(unsafe_code)]

mod console;
mod cores;
mod elf;
mod emulator;
mod header;
mod images;
mod part;
mod plan;
mod plugin;
mod session;
mod sources;

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wattlock_records::{Case, CountRecord, End, Failure as FailureRecord, Follows, Record};
use wattlock_terminal::failure::{Failure, deliver};

use self::emulator::Emulator;
use self::images::{Images, Made};
use self::part::Part;
use self::plan::BoardCase;
use self::session::Session;
use super::measure::{ReadPlan, read_plan};

/// How it is called.
pub const EXAMPLE: &str = "\
Cores: cortex-m0, cortex-m0plus, cortex-m3, cortex-m4, cortex-m33, sifive-e31, esp32-c3

Exit codes: 0 done (a case that fails is a record), 2 wrong usage or plan, 3 an unknown core or part, 9 standard output,
10 the emulator, its plugin, a compiler or a target is missing

Example:
  wattlock-probe board --qemu cortex-m4 < plan.jsonl > records.jsonl";

/// Counts what the cases of a plan, read from standard input, take on an emulated microcontroller.
///
/// Each cipher's image is built once, kept, and proves itself by its vectors before anything is counted. The records hold
/// instructions and, where the core has rules, its cycles: never a time.
#[derive(clap::Args)]
pub struct Options {
    /// Emulated core.
    #[arg(long, value_name = "CORE")]
    qemu: String,
    /// Part whose flash is modelled: its file in wattlock/data/parts.
    #[arg(long, value_name = "FILE", requires = "clock")]
    part: Option<PathBuf>,
    /// Clock of the part, Hz.
    #[arg(long, value_name = "HZ", requires = "part")]
    clock: Option<u64>,
    /// Folder of the images [default: build/board/images of the checkout].
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Plugin of the emulator [default: built and kept beside the images].
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
    /// Stack of the counted call, bytes [default: all that the image has].
    #[arg(long, value_name = "BYTES", default_value_t = 0, hide_default_value = true)]
    stack: u32,
    /// Longest silence of an image, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,
}

/// Carries the plan out.
///
/// # Errors
/// A plan that can't be read, a core that nobody knows, what is missing. What goes wrong with one case is a record.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let core = cores::named(&options.qemu)?;
    let part =
        options.part.as_deref().zip(options.clock).map(|(file, clock_Hz)| Part::read(file, clock_Hz)).transpose()?;
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).map_err(|error| Failure::new(2, format!("the plan: {error}")))?;
    let read = read_plan(&text)?;
    if read.share.plan.energy.is_some() || read.share.plan.battery.is_some() {
        return Err(
            Failure::new(2, "an emulated core has no energy to measure").hint("a plan without energy and battery")
        );
    }
    let plugin = |version: &str| plugin::find(options.plugin.as_deref(), options.images.as_deref(), version);
    let emulator = Emulator::find(core, plugin, Duration::from_secs(options.limit.max(1)))?;
    let images = Images::of(core, options.images.clone())?;
    let plan = &read.share.plan;
    let session = Session::new(core, plan, &emulator, &images, part.as_ref(), options.stack)?;
    let start = Instant::now();
    let counted = count(&read, &session);
    let wall = start.elapsed();
    let header = header::of(plan, core, &emulator, counted.made.as_ref(), counted.cases);
    let mut records = vec![Record::Header(Box::new(header))];
    records.extend(counted.failures.into_iter().map(Record::Failure));
    records.extend(counted.counts.into_iter().map(|count| Record::Count(Box::new(count))));
    let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
    records.push(Record::End(End { process: plan.process, batches: 0, energy_blocks: 0, wall_ns }));
    let lines: Result<Vec<_>, _> = records.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| Failure::new(9, error.to_string()))?;
    deliver(format!("{}\n", lines.join("\n")).as_bytes()).map(|()| ExitCode::SUCCESS)
}

/// All that came of a plan.
#[derive(Default)]
struct Counted {
    made: Option<Made>,
    cases: Vec<Case>,
    counts: Vec<CountRecord>,
    failures: Vec<FailureRecord>,
}

/// Counts the plan's cases, an image a family.
fn count(read: &ReadPlan, session: &Session<'_>) -> Counted {
    let share = &read.share;
    let mut counted = Counted::default();
    let failure = |case: u32, error: String| FailureRecord {
        process: share.plan.process,
        case,
        error,
        follows: Follows::SkipCase,
    };
    let mut families: BTreeMap<Option<&str>, Vec<BoardCase<'_>>> = BTreeMap::new();
    for planned in &share.cases {
        let bound = match share.failed.get(&planned.case) {
            Some(error) => Err(error.clone()),
            None => BoardCase::of(planned),
        };
        match bound {
            Ok(case) => families.entry(case.feature()).or_default().push(case),
            Err(error) => counted.failures.push(failure(planned.case, error)),
        }
    }
    for (feature, mut cases) in families {
        // An image proves the code of consecutive cases once.
        cases.sort_by_key(|case| (&case.planned.cipher, &case.planned.provider, case.planned.case));
        match session.family(feature, &cases) {
            Ok(family) => {
                counted.made = Some(family.made);
                for (case, outcome) in family.outcomes {
                    match outcome {
                        Ok((record, count)) => {
                            counted.cases.push(record);
                            counted.counts.push(count);
                        }
                        Err(error) => counted.failures.push(failure(case, error)),
                    }
                }
            }
            Err(error) => {
                counted.failures.extend(cases.iter().map(|case| failure(case.planned.case, error.clone())));
            }
        }
    }
    counted.cases.sort_by_key(|case| case.planned.case);
    counted.counts.sort_by_key(|count| count.case);
    counted.failures.sort_by_key(|failure| failure.case);
    counted
}
