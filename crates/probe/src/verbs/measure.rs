//! `wattlock-probe measure`: one process's share of a run. Plan lines in, record lines out.
#![forbid(unsafe_code)]

mod battery;
mod energy;

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

use wattlock_ciphers::Spec;
use wattlock_engine::{self as engine, Cell as _, Clock as _, Entry, Shard, Sink, Slot, Ticks, calls_for};
use wattlock_frames::Protocol;

use super::{Failure, providers};
use crate::bind::{Empty, Prepared};
use crate::clock::{self, RealClock};
use crate::establish::{self, Scheme};
use crate::frames::cells;
use crate::meters;
use crate::providers::{Implementation, Providers};
use crate::records::{
    BatchRecord, BatteryPlan, Cell, End, EnergyPlan, Failure as FailureRecord, Follows, Header, Plan, PlanLine,
    PlannedCell, Record, Role, SCHEMA,
};

/// How it is called.
pub const EXAMPLE: &str = "Example:\n  wattlock-probe measure < plan.jsonl > records.jsonl";

/// Warm-up before each visit.
const WARM_NS: u64 = 20_000;
/// A single call longer than this many batches is cut into segments.
const LONGEST_CALL_BATCHES: u64 = 2;
/// The first cut of a long input, from which the length of a segment is found.
const TRIAL_SEGMENT_B: usize = 2048;
/// A payload from which on a call may need to be cut.
const LONG_PAYLOAD_B: u64 = 4096;
/// Samples of the burst from which the quiet level is found.
const LEAST_BURST_SAMPLES: usize = 100;
/// The sentinel with a known effect carries out 61 calls for each 60 that it claims.
const KNOWN_EFFECT: (u32, u32) = (61, 60);

/// Measures the cells of a plan, read from standard input, and writes records to standard output.
#[derive(clap::Args)]
pub struct Options {}

/// Carries the plan out.
///
/// # Errors
/// A plan that can't be read, a processor that can't be pinned to. What goes wrong with one cell is a record.
pub fn run(_options: Options) -> Result<ExitCode, Failure> {
    let plan = read_plan(io::stdin().lock())?;
    if let Some(cpu) = plan.head.cpu {
        clock::pin(cpu).map_err(|error| {
            Failure::new(8, format!("processor {cpu}: {error}"))
                .hint("`nproc` and `taskset -p $$` tell which may be used")
        })?;
    }
    let providers = providers(&plan.head.libraries)?;
    let meter = plan.head.energy.as_ref().map(|energy| meter_of(energy, plan.head.cpu)).transpose()?;
    let battery = plan.head.battery.as_ref().map(|battery| battery_of(battery, &plan)).transpose()?;
    let mut output = Output { out: io::stdout().lock(), buffer: Vec::new() };
    match measure(&plan, providers, meter, battery.as_ref(), &mut output) {
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
/// Code 2 where the plan can't end or names no cell of its own, 11 where there is no such battery.
fn battery_of(asked: &BatteryPlan, plan: &ReadPlan) -> Result<meters::battery::Battery, Failure> {
    if asked.until_percent.is_none() && asked.repeats.is_none() {
        return Err(Failure::new(2, "a battery run without an end").hint("until_percent, repeats, or both"));
    }
    if !plan.cells.iter().any(|cell| cell.cell == asked.cell) {
        return Err(Failure::new(2, format!("the battery run's cell {} is not in the plan", asked.cell)));
    }
    let root = meters::root(asked.sys_root.as_deref());
    meters::battery::named(&root, asked.name.as_deref().unwrap_or_default())
        .map_err(|missing| Failure::new(11, missing.why).hint(missing.hint))
}

struct ReadPlan {
    head: Plan,
    data: HashMap<String, Rc<[u8]>>,
    cells: Vec<PlannedCell>,
}

fn read_plan(input: impl BufRead) -> Result<ReadPlan, Failure> {
    let (mut head, mut data, mut cells) = (None, HashMap::new(), Vec::new());
    for (number, line) in (1..).zip(input.lines()) {
        let line = line.map_err(|error| Failure::new(2, format!("plan line {number}: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let parsed: PlanLine =
            serde_json::from_str(&line).map_err(|error| Failure::new(2, format!("plan line {number}: {error}")))?;
        match parsed {
            PlanLine::Plan(plan) if plan.schema != SCHEMA => {
                let message = format!("plan line {number}: records of version {} are not known", plan.schema);
                return Err(Failure::new(2, message).hint(format!("this probe knows version {SCHEMA}")));
            }
            PlanLine::Plan(plan) => head = Some(plan),
            PlanLine::Data(file) => {
                let bytes = std::fs::read(&file.path).map_err(|error| {
                    Failure::new(10, format!("data {:?}: {}: {error}", file.data, file.path.display()))
                })?;
                if bytes.len() as u64 != file.size_B {
                    let message = format!(
                        "data {:?}: {} has {} bytes, the plan says {}",
                        file.data,
                        file.path.display(),
                        bytes.len(),
                        file.size_B
                    );
                    return Err(Failure::new(10, message).hint("the file changed since the plan was made"));
                }
                data.insert(file.data, Rc::from(bytes));
            }
            PlanLine::Cell(cell) => cells.push(cell),
        }
    }
    let head = head.ok_or_else(|| Failure::new(2, "the plan has no line of kind \"plan\"".to_owned()))?;
    Ok(ReadPlan { head, data, cells })
}

/// Writes records, a round at a time.
struct Output<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Output<W> {
    fn push(&mut self, record: &Record) -> io::Result<()> {
        serde_json::to_writer(&mut self.buffer, record)?;
        self.buffer.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }
}

/// The cells that can be measured, as the engine wants them.
struct Bench {
    bodies: Vec<Box<dyn Prepared>>,
    slots: Vec<Slot>,
    cells: Vec<Cell>,
    failures: Vec<FailureRecord>,
    bursts: Vec<u32>,
    providers: Providers,
}

fn measure<W: Write>(
    plan: &ReadPlan,
    providers: Providers,
    meter: Option<meters::Opened>,
    battery: Option<&meters::battery::Battery>,
    output: &mut Output<W>,
) -> io::Result<()> {
    let mut clock = clock::real();
    let mut bench = Bench {
        bodies: Vec::new(),
        slots: Vec::new(),
        cells: Vec::new(),
        failures: Vec::new(),
        bursts: Vec::new(),
        providers,
    };
    let mut proven = HashMap::new();
    for planned in &plan.cells {
        if let Err(error) = bench.add(plan, planned, &mut proven, &mut clock) {
            let failure =
                FailureRecord { process: plan.head.process, cell: planned.cell, error, follows: Follows::SkipCell };
            bench.failures.push(failure);
        }
    }
    let Bench { mut bodies, slots, cells, failures, mut bursts, .. } = bench;
    bursts.extend((bursts.len()..LEAST_BURST_SAMPLES).filter_map(|_| burst_sample(&mut clock)));
    let quiet_ppm = quiet_level(bursts).into_iter().chain(plan.head.quiet_ppm).min();
    output.push(&Record::Header(Box::new(Header {
        schema: SCHEMA,
        process: plan.head.process,
        seed: plan.head.seed,
        fingerprint: crate::fingerprint::take(plan.head.cpu),
        ticks_per_second: clock.ticks_per_second,
        canary_cycles: clock.canary_cycles(),
        quiet_ppm,
        timer_ticks: clock.timer_ticks(),
        cpu_timer_ns: clock.cpu_timer(),
        pinned_cpu: plan.head.cpu,
        meter: meter.as_ref().map(|opened| opened.description.clone()),
        battery: battery.map(meters::battery::Battery::record),
        cells,
    })))?;
    for failure in failures {
        output.push(&Record::Failure(failure))?;
    }
    output.flush()?;

    let start = Instant::now();
    if let Some((battery_plan, battery)) = plan.head.battery.as_ref().zip(battery) {
        let run = battery::Emptying { plan: battery_plan, process: plan.head.process, battery };
        // A cell that failed has its record already.
        if let Some(slot) = slots.iter().find(|slot| slot.cell == battery_plan.cell)
            && let Some(body) = bodies.get_mut(slot.body)
        {
            let all = || {
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
        let failure = FailureRecord { process: plan.head.process, cell: slot.cell, error, follows: Follows::SkipCell };
        output.push(&Record::Failure(failure))?;
    }
    output.push(&Record::End(End { process: plan.head.process, batches, energy_blocks, wall_ns }))?;
    output.flush()
}

/// Measures batches of all cells, round by round; gives the lines written.
fn time_batches<W: Write>(
    plan: &ReadPlan,
    slots: &[Slot],
    bodies: &mut [Box<dyn Prepared>],
    quiet_ppm: Option<u32>,
    clock: &mut RealClock,
    output: &mut Output<W>,
) -> io::Result<u64> {
    let offsets: HashMap<u32, Vec<u64>> = slots
        .iter()
        .filter_map(|slot| {
            let body = bodies.get(slot.body)?;
            Some((slot.cell, (0..body.segments()).map(|segment| body.offset(segment)).collect()))
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

impl Bench {
    fn add(
        &mut self,
        plan: &ReadPlan,
        planned: &PlannedCell,
        proven: &mut HashMap<String, Result<(), String>>,
        clock: &mut RealClock,
    ) -> Result<(), String> {
        if let Some(scheme) = establish::scheme(&planned.cipher) {
            return self.add_exchange(plan, planned, scheme, clock);
        }
        if let Some(protocol) = cells::protocol(&planned.cipher) {
            return self.add_protocol(plan, planned, protocol, clock);
        }
        let spec = Spec::parse(&planned.cipher).map_err(|error| error.to_string())?;
        let offer = self.providers.find(&planned.provider, &spec)?;
        let twin = matches!(planned.role, Role::Copy | Role::KnownEffect);
        let reference = self.cells.iter().position(|cell| cell.planned.role == Role::Reference);
        let body = match (twin, reference) {
            (true, Some(at)) => self.slots[at].body,
            (true, None) => return Err("a copy of the reference, but the plan has no reference before it".to_owned()),
            (false, _) => {
                if planned.role != Role::Empty {
                    let proof = proven.entry(format!("{} {}", planned.provider, planned.cipher));
                    let prove = || offer.code.prove(&spec).map(|_| ()).map_err(|error| format!("{spec}: {error}"));
                    proof.or_insert_with(prove).clone()?;
                }
                self.bodies.push(prepare(plan, planned, &spec, &*offer.code)?);
                self.bodies.len() - 1
            }
        };
        self.bursts.extend(burst_sample(clock));
        let batch = clock.ticks_of(plan.head.batch_ns);
        let prepared = &mut self.bodies[body];
        let mut calls = if twin { 0 } else { calibrate(prepared, planned.payload_B, batch, clock) };
        if planned.role == Role::Reference {
            calls = (calls / KNOWN_EFFECT.1).max(1) * KNOWN_EFFECT.1;
        } else if let (true, Some(at)) = (twin, reference) {
            calls = self.slots[at].calls;
        }
        let carried_out =
            if planned.role == Role::KnownEffect { calls / KNOWN_EFFECT.1 * KNOWN_EFFECT.0 } else { calls };
        let segments = prepared.segments();
        self.slots.push(Slot {
            cell: planned.cell,
            body,
            calls: carried_out,
            claimed_calls: calls,
            visits: planned.visits,
            halves: planned.role == Role::Study && segments == 1 && calls > 1,
        });
        self.cells.push(Cell {
            planned: planned.clone(),
            family: spec.card.family.to_owned(),
            mode: spec.card.mode.to_string(),
            backend: offer.code.backend(),
            version: offer.version,
            key_bits: spec.key_bits.into(),
            block_bits: spec.card.block_bits.into(),
            rounds: spec.rounds.map(u32::from),
            tag_bits: (spec.card.tag_bits > 0).then(|| spec.card.tag_bits.into()),
            calls,
            segments,
            segment_B: (segments > 1).then(|| prepared.offset(1)),
        });
        Ok(())
    }
}

impl Bench {
    /// A cell of key establishment: it has no packet, so none of a packet's factors.
    fn add_exchange(
        &mut self,
        plan: &ReadPlan,
        planned: &PlannedCell,
        scheme: &'static Scheme,
        clock: &mut RealClock,
    ) -> Result<(), String> {
        let version = establish::version(&planned.provider, scheme)?;
        let proof = establish::proof::prove(&planned.provider, scheme);
        proof.map_err(|error| format!("{}: {error}", scheme.id))?;
        let (operation, keying) = (planned.operation, planned.keying);
        let step = establish::prepare(&planned.provider, scheme, operation, keying, plan.head.seed)?;
        let calls = self.add_whole(plan, planned, Box::new(establish::Timed::of(step)), clock);
        self.cells.push(Cell {
            planned: PlannedCell { payload_B: 0, ..planned.clone() },
            family: scheme.id.to_owned(),
            mode: "establish".to_owned(),
            backend: "not told".to_owned(),
            version,
            key_bits: scheme.key_bits.into(),
            block_bits: 0,
            rounds: None,
            tag_bits: None,
            calls,
            segments: 1,
            segment_B: None,
        });
        Ok(())
    }
}

impl Bench {
    /// A cell whose call is never cut; gives the calls that fill a batch.
    fn add_whole(
        &mut self,
        plan: &ReadPlan,
        planned: &PlannedCell,
        mut body: Box<dyn Prepared>,
        clock: &mut RealClock,
    ) -> u32 {
        self.bursts.extend(burst_sample(clock));
        let calls = calibrate(&mut body, 0, clock.ticks_of(plan.head.batch_ns), clock);
        self.bodies.push(body);
        self.slots.push(Slot {
            cell: planned.cell,
            body: self.bodies.len() - 1,
            calls,
            claimed_calls: calls,
            visits: planned.visits,
            halves: planned.role == Role::Study && calls > 1,
        });
        calls
    }

    /// A cell of a frame's protection: its payload is the body of one frame.
    fn add_protocol(
        &mut self,
        plan: &ReadPlan,
        planned: &PlannedCell,
        protocol: Protocol,
        clock: &mut RealClock,
    ) -> Result<(), String> {
        cells::proof(protocol).map_err(|error| format!("{protocol}: {error}"))?;
        let timed = cells::Timed::new(protocol, planned, plan.head.seed)?;
        let calls = self.add_whole(plan, planned, Box::new(timed), clock);
        self.cells.push(Cell {
            planned: planned.clone(),
            family: protocol.id().to_owned(),
            mode: "frame".to_owned(),
            backend: "not told".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            key_bits: cells::key_bits(protocol).into(),
            block_bits: 0,
            rounds: None,
            tag_bits: Some(cells::tag_bits(protocol).into()),
            calls,
            segments: 1,
            segment_B: None,
        });
        Ok(())
    }
}

/// What a burst takes just now, in millionths of a canary; `None` where the two canaries around it do not agree.
fn burst_sample(clock: &mut RealClock) -> Option<u32> {
    let (before, burst, after) = (clock.canary(), clock.burst(), clock.canary());
    if engine::clock_changed(before, after) { None } else { engine::burst_ppm(burst, before.midpoint(after)) }
}

/// The quiet tenth of the samples taken while the cells were prepared.
fn quiet_level(mut samples: Vec<u32>) -> Option<u32> {
    samples.sort_unstable();
    (samples.len() >= LEAST_BURST_SAMPLES / 4).then(|| samples.get(samples.len() / 10).copied()).flatten()
}

fn prepare(
    plan: &ReadPlan,
    planned: &PlannedCell,
    spec: &Spec,
    code: &dyn Implementation,
) -> Result<Box<dyn Prepared>, String> {
    if planned.role == Role::Empty {
        return Ok(Box::new(Empty));
    }
    let payload = match planned.data.as_str() {
        "random" | "none" => None,
        label => {
            Some(Rc::clone(plan.data.get(label).ok_or_else(|| format!("the plan has no data line for {label:?}"))?))
        }
    };
    code.bind(spec, planned, payload, plan.head.seed)
}

/// Calls that fill a batch; a call that is longer than two batches is cut into segments that each fill about one.
fn calibrate(body: &mut Box<dyn Prepared>, payload_B: u64, batch: Ticks, clock: &mut RealClock) -> u32 {
    if payload_B > LONG_PAYLOAD_B && body.cut(TRIAL_SEGMENT_B) {
        let trial = (0..3).map(|_| time(body, 1, clock)).min().unwrap_or(1);
        let whole = u128::from(trial) * u128::from(payload_B) / TRIAL_SEGMENT_B as u128;
        if whole > u128::from(LONGEST_CALL_BATCHES * batch) {
            let fitting = TRIAL_SEGMENT_B as u128 * u128::from(batch) / u128::from(trial.max(1));
            body.cut(usize::try_from(fitting).unwrap_or(usize::MAX).next_power_of_two());
            return 1;
        }
        body.cut(usize::MAX);
    }
    let mut calls = 1;
    loop {
        let ticks = (0..2).map(|_| time(body, calls, clock)).min().unwrap_or(1);
        if ticks * 8 >= batch || calls >= 1 << 24 {
            return calls_for(batch, calls, ticks);
        }
        calls *= 4;
    }
}

fn time(body: &mut Box<dyn Prepared>, calls: u32, clock: &mut RealClock) -> Ticks {
    let start = clock.ticks();
    body.run(0, calls);
    clock.ticks().saturating_sub(start)
}

/// Turns batches to record lines between the rounds.
struct Lines<'a, W> {
    output: &'a mut Output<W>,
    process: u32,
    ticks_per_second: u64,
    offsets: HashMap<u32, Vec<u64>>,
    batches: Vec<engine::Batch>,
    written: u64,
}

impl<W: Write> Sink for Lines<'_, W> {
    type Error = io::Error;

    fn batch(&mut self, batch: &engine::Batch) {
        self.batches.push(*batch);
    }

    fn round_ended(&mut self, _round: u32) -> io::Result<()> {
        let clock = RealClock { ticks_per_second: self.ticks_per_second };
        for batch in self.batches.drain(..) {
            self.written += 1;
            let offsets = self.offsets.get(&batch.cell);
            self.output.push(&Record::Batch(BatchRecord {
                cell: batch.cell,
                process: self.process,
                round: batch.round,
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
