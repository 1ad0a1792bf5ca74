//! `wattlock-probe measure`: one process's share of a run. Plan lines in, record lines out.
#![forbid(unsafe_code)]

mod battery;
mod bench;
mod energy;
mod guarded;

use std::collections::HashMap;
use std::io::{self, Read as _, Write};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

use wattlock_bench::bind::Prepared;
use wattlock_engine::{self as engine, Entry, Shard, Sink, Slot};
use wattlock_meters as meters;
use wattlock_providers::Providers;
use wattlock_records::{
    BatchRecord, BatteryPlan, End, EnergyPlan, FailedCase, Failure as FailureRecord, Follows, Header, Plan, PlanLine,
    PlannedCase, Record, SCHEMA,
};
use wattlock_terminal::ciphers::providers;
use wattlock_terminal::failure::Failure;

use self::bench::{Bench, quiet_level};
use self::guarded::{Guarded, Watch};
use crate::clock::{self, RealClock};

/// How it is called.
pub const EXAMPLE: &str = "Example:\n  wattlock-probe measure < plan.jsonl > records.jsonl";

/// Warm-up before each visit.
const WARM_NS: u64 = 20_000;
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

fn carry_out(plan: &ReadPlan, watch: Option<&Rc<Watch>>) -> Result<ExitCode, Failure> {
    if let Some(cpu) = plan.head.cpu {
        meters::thread::pin(cpu).map_err(|error| {
            Failure::new(8, format!("processor {cpu}: {error}"))
                .hint("`nproc` and `taskset -p $$` tell which may be used")
        })?;
    }
    let providers = providers(&plan.head.libraries)?;
    let meter = plan.head.energy.as_ref().map(|energy| meter_of(energy, plan.head.cpu)).transpose()?;
    let battery = plan.head.battery.as_ref().map(|battery| battery_of(battery, plan)).transpose()?;
    let mut output = Output { out: io::stdout().lock(), buffer: Vec::new(), watch };
    match measure(plan, providers, meter, battery.as_ref(), &mut output) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::FAILURE),
        Err(error) => Err(Failure::new(9, format!("standard output: {error}"))),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

/// The meter that a plan asks for. Where it measures nothing the question is whether it could: then the counter must move.
///
/// # Errors
/// Code 11 where it can't be read, gives no value, or stands still.
fn meter_of(energy: &EnergyPlan, cpu: Option<u32>) -> Result<meters::Opened, Failure> {
    let refused = |missing: meters::Missing| Failure::new(11, missing.why).hint(missing.hint);
    let mut opened = meters::open(energy, cpu).map_err(refused)?;
    if energy.superblocks == 0 {
        meters::moves(&mut opened).map_err(refused)?;
    }
    Ok(opened)
}

/// The battery that a plan empties.
///
/// # Errors
/// Code 2 where the plan can't end or names no case of its own, 11 where there is no such battery.
fn battery_of(asked: &BatteryPlan, plan: &ReadPlan) -> Result<meters::battery::Battery, Failure> {
    if asked.until_percent.is_none() && asked.repeats.is_none() {
        return Err(Failure::new(2, "a battery run without an end").hint("until_percent, repeats, or both"));
    }
    if !plan.cases.iter().any(|case| case.case == asked.case) {
        return Err(Failure::new(2, format!("the battery run's case {} is not in the plan", asked.case)));
    }
    let root = meters::root(asked.sys_root.as_deref());
    meters::battery::named(&root, asked.name.as_deref().unwrap_or_default())
        .map_err(|missing| Failure::new(11, missing.why).hint(missing.hint))
}

struct ReadPlan {
    head: Plan,
    data: HashMap<String, Rc<[u8]>>,
    cases: Vec<PlannedCase>,
    /// What ended a process before, by case.
    failed: HashMap<u32, String>,
}

fn read_plan(text: &str) -> Result<ReadPlan, Failure> {
    let (mut head, mut data, mut cases, mut failed) = (None, HashMap::new(), Vec::new(), HashMap::new());
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let parsed: PlanLine =
            serde_json::from_str(line).map_err(|error| Failure::new(2, format!("plan line {number}: {error}")))?;
        match parsed {
            PlanLine::Plan(plan) if plan.schema != SCHEMA => {
                let message = format!("plan line {number}: records of version {} are not known", plan.schema);
                return Err(Failure::new(2, message).hint(format!("this probe knows version {SCHEMA}")));
            }
            PlanLine::Plan(plan) => head = Some(plan),
            PlanLine::Data(file) => {
                let bytes = std::fs::read(&file.path)
                    .map_err(|error| Failure::new(10, format!("data {:?}: {}: {error}", file.data, file.path)))?;
                if bytes.len() as u64 != file.size_B {
                    let message = format!(
                        "data {:?}: {} has {} bytes, the plan says {}",
                        file.data,
                        file.path,
                        bytes.len(),
                        file.size_B
                    );
                    return Err(Failure::new(10, message).hint("the file changed since the plan was made"));
                }
                data.insert(file.data, Rc::from(bytes));
            }
            PlanLine::Case(case) => cases.push(case),
            PlanLine::Failed(FailedCase { case, error }) => {
                failed.insert(case, error);
            }
        }
    }
    let head = head.ok_or_else(|| Failure::new(2, "the plan has no line of kind \"plan\"".to_owned()))?;
    Ok(ReadPlan { head, data, cases, failed })
}

/// Writes records, a round at a time.
struct Output<'w, W> {
    out: W,
    buffer: Vec<u8>,
    watch: Option<&'w Rc<Watch>>,
}

impl<W: Write> Output<'_, W> {
    fn push(&mut self, record: &Record) -> io::Result<()> {
        serde_json::to_writer(&mut self.buffer, record)?;
        self.buffer.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Whoever reads may take his time.
        self.watch.iter().for_each(|watch| watch.rests());
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }
}

fn measure<W: Write>(
    plan: &ReadPlan,
    providers: Providers,
    meter: Option<meters::Opened>,
    battery: Option<&meters::battery::Battery>,
    output: &mut Output<'_, W>,
) -> io::Result<()> {
    let mut clock = clock::real();
    let mut bench = Bench::of(plan, providers, output.watch);
    for planned in &plan.cases {
        if let Err(error) = bench.add(planned, &mut clock) {
            let failure =
                FailureRecord { process: plan.head.process, case: planned.case, error, follows: Follows::SkipCase };
            bench.failures.push(failure);
        }
        output.watch.iter().for_each(|watch| watch.rests());
    }
    bench.complete_bursts(&mut clock);
    let Bench { mut bodies, slots, mut cases, failures, bursts, .. } = bench;
    let quiet_ppm = quiet_level(bursts).into_iter().chain(plan.head.quiet_ppm).min();
    let fingerprint = crate::fingerprint::take(plan.head.cpu);
    cases.iter_mut().for_each(|case| case.core_class.clone_from(&fingerprint.hardware.core_type));
    output.push(&Record::Header(Box::new(Header {
        schema: SCHEMA,
        process: plan.head.process,
        seed: plan.head.seed,
        fingerprint,
        ticks_per_second: clock.ticks_per_second,
        canary_cycles: clock.canary_cycles(),
        quiet_ppm,
        timer_ticks: clock.timer_ticks(),
        cpu_timer_ns: clock.cpu_timer(),
        pinned_cpu: plan.head.cpu,
        meter: meter.as_ref().map(|opened| opened.description.clone()),
        battery: battery.map(meters::battery::Battery::record),
        cases,
    })))?;
    for failure in failures {
        output.push(&Record::Failure(failure))?;
    }
    output.flush()?;
    output.watch.iter().for_each(|watch| watch.times());

    let start = Instant::now();
    if let Some((battery_plan, battery)) = plan.head.battery.as_ref().zip(battery) {
        let run = battery::Emptying { plan: battery_plan, process: plan.head.process, battery };
        // A case that failed has its record already.
        if let Some(slot) = slots.iter().find(|slot| slot.case == battery_plan.case)
            && let Some(body) = bodies.get_mut(slot.body)
        {
            let all = || {
                body.beat();
                (0..body.segments()).for_each(|segment| body.run(segment, slot.calls));
                u64::from(slot.calls)
            };
            battery::empty(&run, all, output)?;
        }
    }
    let (batches, energy_blocks) = match plan.head.energy.as_ref().zip(meter) {
        _ if plan.head.battery.is_some() => (0, 0),
        Some((energy_plan, mut opened)) => {
            let mut work = energy::Weighing {
                plan: energy_plan,
                process: plan.head.process,
                seed: plan.head.seed,
                slots: &slots,
                bodies: &mut bodies,
                clock: &mut clock,
            };
            (0, energy::weigh(&mut work, &mut opened, output)?)
        }
        None => (time_batches(plan, &slots, &mut bodies, quiet_ppm, &mut clock, output)?, 0),
    };
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);

    for slot in &slots {
        let Some(Err(error)) = bodies.get_mut(slot.body).map(|body| body.check()) else { continue };
        let failure = FailureRecord { process: plan.head.process, case: slot.case, error, follows: Follows::SkipCase };
        output.push(&Record::Failure(failure))?;
    }
    output.push(&Record::End(End { process: plan.head.process, batches, energy_blocks, wall_ns }))?;
    output.flush()
}

/// Measures batches of all cases, round by round; gives the lines written.
fn time_batches<W: Write>(
    plan: &ReadPlan,
    slots: &[Slot],
    bodies: &mut [Box<dyn Prepared>],
    quiet_ppm: Option<u32>,
    clock: &mut RealClock,
    output: &mut Output<'_, W>,
) -> io::Result<u64> {
    let offsets: HashMap<u32, Vec<u64>> = slots
        .iter()
        .filter_map(|slot| {
            let body = bodies.get(slot.body)?;
            Some((slot.case, (0..body.segments()).map(|segment| body.offset(segment)).collect()))
        })
        .collect();
    let mut sink = Lines {
        output,
        process: plan.head.process,
        ticks_per_second: clock.ticks_per_second,
        offsets,
        batches: Vec::new(),
        written: 0,
    };
    let mut order = vec![Entry::default(); slots.len() * 2];
    let warm_ticks = clock.ticks_of(WARM_NS);
    engine::shard(
        Shard {
            bodies,
            slots,
            order: &mut order,
            rounds: plan.head.rounds,
            seed: plan.head.seed,
            warm_ticks,
            quiet_ppm,
        },
        clock,
        &mut sink,
    )?;
    Ok(sink.written)
}

/// Turns batches to record lines between the rounds.
struct Lines<'a, 'w, W> {
    output: &'a mut Output<'w, W>,
    process: u32,
    ticks_per_second: u64,
    offsets: HashMap<u32, Vec<u64>>,
    batches: Vec<engine::Batch>,
    written: u64,
}

impl<W: Write> Sink for Lines<'_, '_, W> {
    type Error = io::Error;

    fn batch(&mut self, batch: &engine::Batch) {
        self.batches.push(*batch);
    }

    fn round_ended(&mut self, _round: u32) -> io::Result<()> {
        let clock = RealClock { ticks_per_second: self.ticks_per_second };
        for batch in self.batches.drain(..) {
            self.written += 1;
            let offsets = self.offsets.get(&batch.case);
            self.output.push(&Record::Batch(BatchRecord {
                case: batch.case,
                process: self.process,
                round: batch.round,
                place: Some(batch.place),
                attempt: batch.attempt,
                segment: batch.segment,
                offset_B: offsets.and_then(|all| all.get(batch.segment as usize)).copied().unwrap_or(0),
                calls: batch.calls,
                wall_ns: clock.nanoseconds(batch.ticks),
                cpu_ns: batch.cpu_ns,
                ticks: batch.ticks,
                canary_before_ticks: batch.canary_before,
                canary_after_ticks: batch.canary_after,
                burst_before_ticks: batch.burst_before,
                burst_after_ticks: batch.burst_after,
                clean: batch.cause.is_none(),
                cause: batch.cause.map(Into::into),
            }))?;
        }
        self.output.flush()
    }
}
