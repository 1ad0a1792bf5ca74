//! `wattlock-probe measure`: one process's share of a run. Plan lines in, record lines out.
#![forbid(unsafe_code)]

mod guarded;
mod kept_files;
mod note;
mod ports;
mod watched_child;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read as _};
use std::process::ExitCode;

use wattlock_bench::share::ports::{Battery, EnergyMeter, Ports};
use wattlock_bench::share::{self, Share};
use wattlock_bench::subjects::REGISTRY;
use wattlock_meters as meters;
use wattlock_records::{BatteryPlan, EnergyPlan, FailedCase, PlanLine, SCHEMA};
use wattlock_terminal::ciphers::providers;
use wattlock_terminal::failure::{Failure, stdout};

use self::guarded::Guarded;
use self::ports::{Files, Output, PlanBattery, PlanMeter};
use self::watched_child::Watch;
use crate::{clock, fingerprint};

/// How it is called.
pub const EXAMPLE: &str = "Example:\n  wattlock-probe measure < plan.jsonl > records.jsonl";

/// Measures the cases of a plan, read from standard input, and writes records to standard output.
#[derive(clap::Args)]
pub struct Options {}

/// Carries the plan out.
///
/// # Errors
/// A plan that can't be read, a processor that can't be pinned to. What goes wrong with one case is a record.
pub fn run(_options: Options) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).map_err(|error| Failure::new(2, format!("the plan: {error}")))?;
    if let Some(guarded) = Guarded::of(&text) {
        return guarded.carry_out(&text);
    }
    let watch = Watch::here().map_err(|error| Failure::new(8, format!("a process that is watched: {error}")))?;
    let done = carry_out(&read_plan(&text)?, watch.as_ref());
    watch.iter().for_each(|watch| watch.ends());
    done
}

fn carry_out(read: &ReadPlan, watch: Option<&Watch>) -> Result<ExitCode, Failure> {
    let ReadPlan { share, files } = read;
    let plan = &share.plan;
    if let Some(cpu) = plan.cpu {
        meters::thread::pin(cpu).map_err(|error| {
            Failure::new(8, format!("processor {cpu}: {error}"))
                .hint("`nproc` and `taskset -p $$` tell which may be used")
        })?;
    }
    let providers = providers(&plan.libraries)?;
    let mut meter = plan.energy.as_ref().map(|energy| meter_of(energy, plan.cpu)).transpose()?;
    let mut battery = plan.battery.as_ref().map(|battery| battery_of(battery, share)).transpose()?;
    watch.iter().for_each(|watch| watch.begins());
    let ports = Ports {
        clock: &mut clock::real(plan.cpu),
        records: &mut Output::of(stdout(), watch),
        registry: REGISTRY,
        sources: &providers,
        payloads: files,
        meter: meter.as_mut().map(|meter| -> &mut dyn EnergyMeter { meter }),
        battery: battery.as_mut().map(|battery| -> &mut dyn Battery { battery }),
        watch: watch.map(|watch| -> &dyn share::ports::Watch { watch }),
        fingerprint: &|| fingerprint::take(plan.cpu),
    };
    match share::carry_out(share, ports) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::FAILURE),
        Err(error) => Err(Failure::new(9, format!("standard output: {error}"))),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

/// The meter that a plan asks for. Where it measures nothing the question is whether it could: then the counter must move.
///
/// # Errors
/// Code 11 where it can't be read, gives no value, or stands still.
fn meter_of(energy: &EnergyPlan, cpu: Option<u32>) -> Result<PlanMeter, Failure> {
    let refused = |missing: meters::Missing| Failure::new(11, missing.why).hint(missing.hint);
    let mut opened = meters::open(energy, cpu).map_err(refused)?;
    if energy.superblocks == 0 {
        meters::moves(&mut opened).map_err(refused)?;
    }
    Ok(PlanMeter::of(opened, energy))
}

/// The battery that a plan discharges.
///
/// # Errors
/// Code 2 where the plan can't end or names no case of its own, 11 where there is no such battery.
fn battery_of(plan: &BatteryPlan, share: &Share) -> Result<PlanBattery, Failure> {
    if plan.until_percent.is_none() && plan.repeats.is_none() {
        return Err(Failure::new(2, "a battery run without an end").hint("until_percent, repeats, or both"));
    }
    if !share.cases.iter().any(|case| case.case == plan.case) {
        return Err(Failure::new(2, format!("the battery run's case {} is not in the plan", plan.case)));
    }
    let root = meters::root(plan.sys_root.as_deref());
    let battery = meters::battery::named(&root, plan.name.as_deref().unwrap_or_default())
        .map_err(|missing| Failure::new(11, missing.why).hint(missing.hint))?;
    Ok(PlanBattery::of(battery, plan))
}

/// A plan, read.
pub(super) struct ReadPlan {
    /// What is asked for.
    pub(super) share: Share,
    files: Files,
}

/// The version of a line, whatever its kind is: it is looked at first, since kinds and fields change with it.
#[derive(serde::Deserialize)]
struct Version {
    schema: u32,
}

fn parse(line: &str) -> Result<PlanLine, Failure> {
    match serde_json::from_str(line) {
        Ok(Version { schema }) if schema != SCHEMA => {
            Err(Failure::new(2, format!("records of version {schema} are not known"))
                .hint(format!("this probe knows version {SCHEMA}; `wattlock` makes its plans by itself")))
        }
        _ => serde_json::from_str(line).map_err(|error| {
            Failure::new(2, error.to_string()).hint("`wattlock-probe schema` prints what a plan line is")
        }),
    }
}

/// Reads the lines of a plan.
///
/// # Errors
/// Code 2, with the line that can't be read.
pub(super) fn read_plan(text: &str) -> Result<ReadPlan, Failure> {
    let (mut head, mut files, mut cases, mut failed) = (None, HashMap::new(), Vec::new(), BTreeMap::new());
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let parsed: PlanLine = parse(line)
            .map_err(|failure| Failure { message: format!("plan line {number}: {}", failure.message), ..failure })?;
        match parsed {
            PlanLine::Plan(plan) => head = Some(plan),
            PlanLine::Data(file) => {
                let bytes = ports::payload(&file)?;
                files.insert(file.data, bytes);
            }
            PlanLine::Case(case) => cases.push(case),
            PlanLine::Failed(FailedCase { case, error }) => {
                failed.insert(case, error);
            }
        }
    }
    let plan = head.ok_or_else(|| {
        Failure::new(2, "the plan has no line of kind \"plan\"")
            .hint("`wattlock-probe schema` prints what a plan line is")
    })?;
    Ok(ReadPlan { share: Share { plan, cases, failed }, files: Files(files) })
}
