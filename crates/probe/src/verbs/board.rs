//! `wattlock-probe board`: the cases of a plan, counted on an emulated microcontroller or timed by a board's own counter of
//! cycles. Plan lines in, record lines out.
//!
//! | file | holds |
//! |---|---|
//! | `cores`, `part` | the cores, their targets and machines; a part's flash |
//! | `plan` | a planned case as an image takes it |
//! | `sources`, `images`, `plugin` | what images and the plugin are built from; images and the plugin, cached by their hash |
//! | `adapter` | code of others, compiled for the core |
//! | `elf` | an image's symbols, its plan, what a function can reach |
//! | `emulator`, `console` | an image's run, and what it said |
//! | `session` | the cases of one family: run, counted, and run again without the one that ended the image |
//! | `serial_board`, `board_run` | a board's memory and registers; what a run on one has in common |
//! | `serial`, `serial_session` | a serial port; a family's cases on it |
//! | `rtt_session` | a family's cases by a debug probe |
//! | `header` | the first record |
#![forbid(unsafe_code)]

mod adapter;
mod board_run;
mod console;
mod cores;
mod elf;
mod emulator;
mod header;
mod images;
mod part;
mod plan;
mod plugin;
#[cfg(unix)]
mod rtt_session;
#[cfg(unix)]
mod serial;
mod serial_board;
#[cfg(unix)]
mod serial_session;
mod session;
mod sources;

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wattlock_records::{Case, End, Failure as FailureRecord, Follows, Header, Plan, Record};
use wattlock_terminal::failure::{Failure, deliver};

use self::adapter::{Adapter, Adapters};
#[cfg(unix)]
use self::board_run::BoardRun;
use self::emulator::Emulator;
use self::images::{Held, Images, Made};
use self::part::Part;
use self::plan::BoardCase;
#[cfg(unix)]
use self::rtt_session::RttSession;
#[cfg(unix)]
use self::serial::Port;
#[cfg(unix)]
use self::serial_board::Board;
#[cfg(unix)]
use self::serial_session::{BoardSession, PortOptions};
use self::session::Session;
use super::measure::{ReadPlan, read_plan};

/// How it is called.
pub const EXAMPLE: &str = "\
Cores: cortex-m0, cortex-m0plus, cortex-m3, cortex-m4, cortex-m33, sifive-e31, esp32-c3

Exit codes: 0 done (a case that fails is a record), 2 wrong usage or plan, 3 an unknown core or part, 9 standard output,
10 the emulator, its plugin, a compiler or a target is missing

Examples:
  wattlock-probe board --qemu cortex-m4 < plan.jsonl > records.jsonl
  wattlock-probe board --serial /dev/ttyACM0 --board nrf52840-dk.toml < plan.jsonl > records.jsonl
  wattlock-probe board --rtt nRF52840_xxAA --board nrf52840-dk.toml < plan.jsonl > records.jsonl";

/// Counts what the cases of a plan, read from standard input, take on an emulated microcontroller or on a board.
///
/// Each cipher's image is built once, kept, and proves itself by its vectors before anything is counted. The records hold
/// instructions and, where the core has rules, its cycles: never a time.
#[derive(clap::Args)]
pub struct Options {
    /// Emulated core.
    #[arg(long, value_name = "CORE", required_unless_present_any = ["serial", "rtt"])]
    qemu: Option<String>,
    #[cfg(unix)]
    #[command(flatten)]
    port: PortOptions,
    /// Part whose flash is modelled: its file in wattlock/data/parts.
    #[arg(long, value_name = "FILE", requires_all = ["clock", "qemu"])]
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
    let mut text = String::new();
    #[cfg(unix)]
    let board = options.port.board.as_deref().map(Board::read).transpose()?;
    #[cfg(not(unix))]
    let board: Option<serial_board::Board> = None;
    let core =
        cores::named(board.as_ref().map_or_else(|| options.qemu.as_deref().unwrap_or_default(), |board| &board.core))?;
    let part =
        options.part.as_deref().zip(options.clock).map(|(file, clock_Hz)| Part::read(file, clock_Hz)).transpose()?;
    io::stdin().lock().read_to_string(&mut text).map_err(|error| Failure::new(2, format!("the plan: {error}")))?;
    let read = read_plan(&text)?;
    if read.share.plan.energy.is_some() || read.share.plan.battery.is_some() {
        return Err(
            Failure::new(2, "a microcontroller has no energy to measure").hint("a plan without energy and battery")
        );
    }
    let plan = &read.share.plan;
    let adapters = plan.libraries.iter().map(|library| (library.name.clone(), Adapter::open(library, core))).collect();
    let limit = Duration::from_secs(options.limit.max(1));
    let start = Instant::now();
    #[cfg(unix)]
    if let Some(board) = board {
        return on_board(board, &options, (&read, &adapters), core, (limit, start));
    }
    let plugin = |version: &str| plugin::find(options.plugin.as_deref(), options.images.as_deref(), version);
    let emulator = Emulator::find(core, plugin, limit)?;
    let images = Images::of(core, options.images.clone())?;
    let session = Session::new(core, plan, &emulator, &images, part.as_ref(), options.stack)?;
    let done = carry_out(&read, &adapters, |held, cases| {
        session.family(held, cases).map(|family| (family.made, family.outcomes))
    });
    write(
        plan,
        done,
        |count| Record::Count(Box::new(count)),
        |made, cases| header::of(plan, core, (core.machine, Some(emulator.version.clone())), &images, made, cases),
        start,
    )
}

/// Carries the plan out on a board, by its serial port or a debug probe.
#[cfg(unix)]
fn on_board(
    mut board: Board,
    options: &Options,
    (read, adapters): (&ReadPlan, &Adapters),
    core: &'static cores::Core,
    (limit, start): (Duration, Instant),
) -> Result<ExitCode, Failure> {
    let port = &options.port;
    let baud = port.baud.unwrap_or(board.baud);
    board.is_on_rtt = port.rtt.is_some();
    // What is wrong with the way is said before an image is built for it; a command may bring the port.
    match (&port.serial, &port.flash) {
        (Some(serial), None) => drop(Port::open(serial, baud)?),
        (None, _) => rtt_session::find()?,
        _ => {}
    }
    let images = Images::of(core, options.images.clone())?.on(board.clone());
    let plan = &read.share.plan;
    let run = BoardRun { board: &board, plan, images: &images, stack_B: options.stack };
    let by_rtt = port.rtt.as_deref().unwrap_or_default();
    let mut emulator = None;
    let mut family = |found: board_run::Family| {
        emulator = emulator.take().or(found.emulator);
        (found.made, found.outcomes)
    };
    let done = match &port.serial {
        Some(serial) => {
            let session = BoardSession { run, port: serial, baud, flash: port.flash.as_deref(), limit };
            carry_out(read, adapters, |held, cases| session.family(held, cases).map(&mut family))
        }
        None => {
            let session = RttSession { run, chip: by_rtt, limit };
            carry_out(read, adapters, |held, cases| session.family(held, cases).map(&mut family))
        }
    };
    write(
        plan,
        done,
        |cycles| Record::Board(Box::new(cycles)),
        |made, cases| header::of(plan, core, (&board.name, emulator), &images, made, cases),
        start,
    )
}

/// Writes the records of a process.
fn write<R>(
    plan: &Plan,
    done: Done<R>,
    record: impl Fn(R) -> Record,
    header: impl FnOnce(Option<&Made>, Vec<Case>) -> Header,
    start: Instant,
) -> Result<ExitCode, Failure> {
    let wall = start.elapsed();
    let mut records = vec![Record::Header(Box::new(header(done.made.as_ref(), done.cases)))];
    records.extend(done.failures.into_iter().map(Record::Failure));
    records.extend(done.records.into_iter().map(|(_, taken)| record(taken)));
    let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
    records.push(Record::End(End { process: plan.process, batches: 0, energy_blocks: 0, wall_ns }));
    let lines: Result<Vec<_>, _> = records.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| Failure::new(9, error.to_string()))?;
    deliver(format!("{}\n", lines.join("\n")).as_bytes()).map(|()| ExitCode::SUCCESS)
}

/// All that came of a plan.
struct Done<R> {
    made: Option<Made>,
    cases: Vec<Case>,
    /// What each case took, by its number.
    records: Vec<(u32, R)>,
    failures: Vec<FailureRecord>,
}

/// What came of the cases of one image.
type FamilyDone<R> = (Made, BTreeMap<u32, Result<(Case, R), String>>);

/// Carries the plan's cases out, an image a family, or a cipher of an adapter.
fn carry_out<R>(
    read: &ReadPlan,
    adapters: &Adapters,
    mut family: impl FnMut(Held<'_>, &[BoardCase<'_>]) -> Result<FamilyDone<R>, String>,
) -> Done<R> {
    let share = &read.share;
    let mut done = Done { made: None, cases: Vec::new(), records: Vec::new(), failures: Vec::new() };
    let failure = |case: u32, error: String| FailureRecord {
        process: share.plan.process,
        case,
        error,
        follows: Follows::SkipCase,
    };
    let mut families: BTreeMap<String, Vec<BoardCase<'_>>> = BTreeMap::new();
    for planned in &share.cases {
        let bound = match share.failed.get(&planned.case) {
            Some(error) => Err(error.clone()),
            None => BoardCase::of(planned, adapters),
        };
        match bound {
            Ok(case) => families.entry(case.held().name()).or_default().push(case),
            Err(error) => done.failures.push(failure(planned.case, error)),
        }
    }
    for mut cases in families.into_values() {
        let Some(held) = cases.first().map(BoardCase::held) else { continue };
        // An image proves the code of consecutive cases once.
        cases.sort_by_key(|case| (&case.planned.cipher, &case.planned.provider, case.planned.case));
        match family(held, &cases) {
            Ok((made, outcomes)) => {
                done.made = Some(made);
                for (number, outcome) in outcomes {
                    match outcome {
                        Ok((case, taken)) => {
                            done.cases.push(case);
                            done.records.push((number, taken));
                        }
                        Err(error) => done.failures.push(failure(number, error)),
                    }
                }
            }
            Err(error) => {
                done.failures.extend(cases.iter().map(|case| failure(case.planned.case, error.clone())));
            }
        }
    }
    done.cases.sort_by_key(|case| case.planned.case);
    done.records.sort_by_key(|(case, _)| *case);
    done.failures.sort_by_key(|failure| failure.case);
    done
}
