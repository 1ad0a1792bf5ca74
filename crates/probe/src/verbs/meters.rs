//! `wattlock-probe meters`: what this machine can be measured with, what is missing, and what would grant access.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use serde::Serialize;
use wattlock_engine::{Load, Meter, Nanoseconds, energy_block};
use wattlock_meters::{self as meters, Found, Sleep, SystemTime, Time as _};
use wattlock_records::{Baseline, EnergyPlan, MeterRecord};
use wattlock_terminal::failure::Failure;
use wattlock_terminal::table::{Format, print_rows};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-probe meters
  wattlock-probe meters --sys-root ./copied-sys --format json
  wattlock-probe meters --read powercap:package-0

Nothing is granted, loaded or switched: the column `hint` says what you could do.

Exit code: 11 where a meter can't be read.";

/// Lists the energy meters of this machine, or reads one.
#[derive(clap::Args)]
pub struct Options {
    /// What stands for `/sys`: a copied or made-up tree.
    #[arg(long, value_name = "DIR")]
    sys_root: Option<String>,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Reads this meter: its power while the program sleeps, and what reading costs and changes.
    #[arg(long, value_name = "NAME")]
    read: Option<String>,
    /// The serial device or the recording that a meter's bytes come from.
    #[arg(long, value_name = "PATH", requires = "read")]
    stream: Option<String>,
}

/// Lists or reads.
///
/// # Errors
/// A meter that can't be read, with what would mend it.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    if let Some(name) = options.read {
        let plan = EnergyPlan {
            meter: name,
            sys_root: options.sys_root,
            stream: options.stream,
            block_ns: 0,
            superblocks: 0,
            baseline: Baseline::Idle,
        };
        let rows = observe(&plan)?;
        print_rows(&rows, &["meter", "what", "value", "unit"], options.format)?;
        return Ok(ExitCode::SUCCESS);
    }
    let root = meters::root(options.sys_root.as_deref());
    let rows: Vec<Row> = meters::all(&root).into_iter().map(|found| Row::of(found, options.sys_root.clone())).collect();
    if rows.is_empty() && options.format == Format::Table {
        return Err(Failure::new(11, format!("no energy meter below {}", root.display())).hint(
            "virtual machines hide them; a PPK2 is read with --read ppk2 --stream /dev/ttyACM0, a recording by `wattlock meters --csv`",
        ));
    }
    print_rows(&rows, &["name", "access", "unit", "read_ns", "overlaps", "hint"], options.format)?;
    Ok(ExitCode::SUCCESS)
}

/// One meter of the list.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    record: MeterRecord,
    /// `yes`, or why not.
    access: String,
    /// What would grant it.
    hint: Option<String>,
}

impl Row {
    fn of(found: Found, sys_root: Option<String>) -> Self {
        let Found { mut record, mut missing } = found;
        if missing.is_none() {
            let plan = EnergyPlan {
                meter: record.name.clone(),
                sys_root,
                stream: None,
                block_ns: 0,
                superblocks: 0,
                baseline: Baseline::Idle,
            };
            match meters::open(&plan, None) {
                Ok(opened) => record.read_ns = opened.description.read_ns,
                Err(why) => missing = Some(why),
            }
        }
        let (access, hint) = missing.map_or(("yes".to_owned(), None), |missing| (missing.why, Some(missing.hint)));
        Self { record, access, hint }
    }
}

/// One figure of a meter that was read.
#[derive(Serialize)]
struct Figure {
    meter: String,
    what: &'static str,
    value: Option<f64>,
    unit: &'static str,
}

/// Work that is counted: what a meter beside it takes away shows as work not done.
struct Count;

impl Load for Count {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        let (clock, mut done) = (SystemTime, 0_u64);
        let start = clock.now();
        while clock.now().saturating_sub(start) < time {
            done = std::hint::black_box(done + 1);
        }
        done
    }
}

/// Work done without the meter and beside it, in turns.
const OBSERVED_NS: Nanoseconds = 100_000_000;
/// Pairs of turns: the middle of what they tell lies between the least and the greatest of eight in 99.2 of 100 cases.
const PAIRS: u32 = 8;

/// How long a meter is slept beside at most.
const LONGEST_SLEEP_NS: Nanoseconds = 200_000_000_000;

/// So long that it has ten values.
fn sleep_ns(update_period_ns: u64) -> Nanoseconds {
    OBSERVED_NS.max(update_period_ns.saturating_mul(10))
}

fn observe(plan: &EnergyPlan) -> Result<Vec<Figure>, Failure> {
    let missing = |missing: meters::Missing| Failure::new(11, missing.why).hint(missing.hint);
    let description = meters::open(plan, None).map_err(missing)?.description;
    if sleep_ns(description.update_period_ns) > LONGEST_SLEEP_NS {
        let (name, every_s) = (description.name, real(description.update_period_ns) / 1e9);
        let hint = "`wattlock run --meter` takes blocks as long as it needs; or take another meter";
        return Err(Failure::new(11, format!("{name}: a value every {every_s} s is too slow to be tried")).hint(hint));
    }
    let mut lost = Vec::new();
    for pair in 0..PAIRS {
        // Every other pair begins with the meter, so that a drift does not count as its cost.
        let first = (pair % 2 == 0).then(|| Count.work(OBSERVED_NS));
        let opened = meters::open(plan, None).map_err(missing)?;
        let beside = Count.work(OBSERVED_NS);
        drop(opened);
        let without = first.unwrap_or_else(|| Count.work(OBSERVED_NS));
        lost.push((1.0 - real(beside) / real(without)) * 100.0);
    }
    lost.sort_unstable_by(f64::total_cmp);
    let mut opened = meters::open(plan, None).map_err(missing)?;
    let update_period_ns = opened.description.update_period_ns;
    let slept = energy_block(&mut Sleep, sleep_ns(update_period_ns), &mut *opened.meter);
    let block = slept.map_err(|error| missing(meters::refused(&opened, error)))?;
    let searching = search(&mut *opened.meter, update_period_ns);
    let description = opened.description;
    let window = block.end.moment().saturating_sub(block.start.moment());
    let figure = |what, value, unit| Figure { meter: description.name.clone(), what, value, unit };
    let at = |place: usize| lost.get(place).copied();
    let middle = at(lost.len() / 2).zip(at(lost.len() / 2 - 1)).map(|(high, low)| f64::midpoint(low, high));
    Ok(vec![
        figure("energy while sleeping", Some(real(block.gross) / 1000.0), "uJ"),
        figure("power while sleeping", Some(real(block.gross) / real(window)), "W"),
        figure("window", Some(real(window) / 1e6), "ms"),
        figure("cost of a read", description.read_ns.map(real), "ns"),
        figure("work lost beside an open meter, the middle of eight pairs", middle, "%"),
        figure("work lost beside an open meter, the least of them", at(0), "%"),
        figure("work lost beside an open meter, the greatest of them", at(lost.len() - 1), "%"),
        figure("share of reads while an edge is looked for", searching.map(|share| share * 100.0), "%"),
    ])
}

/// The share of the time that reads take where twenty fall into an update.
fn search(meter: &mut dyn Meter, update_period_ns: u64) -> Option<f64> {
    let read_ns = meters::read_cost(meter).ok()?;
    Some(real(read_ns) / (real(read_ns) + real(update_period_ns / 20)))
}

#[allow(clippy::cast_precision_loss)] // figures for the eye, and far below 2^53
fn real(value: u64) -> f64 {
    value as f64
}
