//! The cases of a plan, each proven, bound and calibrated: what the engine times.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use wattlock_bench::bind::{Empty, Prepared};
use wattlock_bench::constants::{INJECTED_SLOWDOWN, WHOLE_PAYLOAD_B};
use wattlock_bench::establish::{self, Scheme};
use wattlock_bench::frames as cases;
use wattlock_bench::implementation::Implementation;
use wattlock_ciphers::Spec;
use wattlock_engine::{self as engine, Case as _, Clock as _, Slot, Ticks, calls_for};
use wattlock_frames::Protocol;
use wattlock_providers::Providers;
use wattlock_records::{Case, Failure as FailureRecord, LibraryFile, PlannedCase, Role};

use super::ReadPlan;
use super::guarded::{Watch, Watched};
use crate::clock::RealClock;

/// A single call longer than this many batches is cut into segments.
const LONGEST_CALL_BATCHES: u64 = 2;
/// The first cut of a long input, from which the length of a segment is found.
const TRIAL_SEGMENT_B: usize = 2048;
/// Calls of a library of the user's own are looked at one by one for so long at most, before it is timed.
const SEEN_TIME: Duration = Duration::from_millis(50);
/// Samples of the burst from which the quiet level is found.
const LEAST_BURST_SAMPLES: usize = 100;

/// The cases that can be measured, as the engine wants them.
pub(super) struct Bench<'p> {
    pub(super) bodies: Vec<Box<dyn Prepared>>,
    pub(super) slots: Vec<Slot>,
    pub(super) cases: Vec<Case>,
    pub(super) failures: Vec<FailureRecord>,
    pub(super) bursts: Vec<u32>,
    plan: &'p ReadPlan,
    providers: Providers,
    proven: HashMap<String, Result<(), String>>,
    watch: Option<&'p Rc<Watch>>,
}

impl<'p> Bench<'p> {
    pub(super) fn of(plan: &'p ReadPlan, providers: Providers, watch: Option<&'p Rc<Watch>>) -> Self {
        Self {
            bodies: Vec::new(),
            slots: Vec::new(),
            cases: Vec::new(),
            failures: Vec::new(),
            bursts: Vec::new(),
            plan,
            providers,
            proven: HashMap::new(),
            watch,
        }
    }

    /// Takes samples of the burst until there are enough for a quiet level.
    pub(super) fn complete_bursts(&mut self, clock: &mut RealClock) {
        self.bursts.extend((self.bursts.len()..LEAST_BURST_SAMPLES).filter_map(|_| burst_sample(clock)));
    }

    /// Proves a case, binds it and finds how many calls fill a batch.
    ///
    /// # Errors
    /// Why it can't be measured.
    pub(super) fn add(&mut self, planned: &PlannedCase, clock: &mut RealClock) -> Result<(), String> {
        let plan = self.plan;
        if let Some(error) = plan.failed.get(&planned.case) {
            return Err(error.clone());
        }
        if let Some(scheme) = establish::scheme(&planned.cipher) {
            return self.add_exchange(planned, scheme, clock);
        }
        if let Some(protocol) = cases::protocol(&planned.cipher) {
            return self.add_protocol(planned, protocol, clock);
        }
        let is_own = |library: &&LibraryFile| library.name == planned.provider;
        let watch = plan.head.libraries.iter().find(is_own).and(self.watch);
        watch.iter().for_each(|watch| watch.prepares(planned));
        let spec = Spec::parse(&planned.cipher).map_err(|error| error.to_string())?;
        let offer = self.providers.find(&planned.provider, &spec)?;
        let twin = matches!(planned.role, Role::AaTest | Role::InjectedSlowdown);
        let reference = self.cases.iter().position(|case| case.planned.role == Role::Reference);
        let body = match (twin, reference) {
            (true, Some(at)) => self.slots[at].body,
            (true, None) => return Err("a copy of the reference, but the plan has no reference before it".to_owned()),
            (false, _) => {
                if planned.role != Role::Empty {
                    let proof = self.proven.entry(format!("{} {}", planned.provider, planned.cipher));
                    let prove = || {
                        watch.iter().for_each(|watch| watch.proves(planned));
                        offer.code.prove(&spec).map(|_| ()).map_err(|error| format!("{spec}: {error}"))
                    };
                    proof.or_insert_with(prove).clone()?;
                    watch.iter().for_each(|watch| watch.prepares(planned));
                }
                let mut body = prepare(plan, planned, &spec, &*offer.code)?;
                if watch.is_some() {
                    let start = Instant::now();
                    body.prove_often(&mut || start.elapsed() > SEEN_TIME)?;
                }
                self.bodies.push(body);
                self.bodies.len() - 1
            }
        };
        self.bursts.extend(burst_sample(clock));
        let batch = clock.ticks_of(plan.head.batch_ns);
        let prepared = &mut self.bodies[body];
        let mut calls = if twin { 0 } else { calibrate(prepared, planned, batch, clock) };
        if prepared.segments() > 1 {
            prepared.prove()?;
        }
        if let Some(watch) = watch {
            let start = Instant::now();
            (0..prepared.segments()).for_each(|segment| prepared.run(segment, calls));
            let unwatched = std::mem::replace(prepared, Box::new(Empty));
            *prepared = Box::new(Watched::of(unwatched, planned.case, start.elapsed(), Rc::clone(watch)));
        }
        if planned.role == Role::Reference {
            calls = (calls / INJECTED_SLOWDOWN.1).max(1) * INJECTED_SLOWDOWN.1;
        } else if let (true, Some(at)) = (twin, reference) {
            calls = self.slots[at].calls;
        }
        let carried_out = if planned.role == Role::InjectedSlowdown {
            calls / INJECTED_SLOWDOWN.1 * INJECTED_SLOWDOWN.0
        } else {
            calls
        };
        let segments = prepared.segments();
        self.slots.push(Slot {
            case: planned.case,
            body,
            calls: carried_out,
            claimed_calls: calls,
            visits: planned.visits,
            halves: planned.role == Role::Study && segments == 1 && calls > 1,
        });
        self.cases.push(Case {
            planned: planned.clone(),
            family: spec.card.family.to_owned(),
            mode: spec.card.mode.to_string(),
            path: offer.code.path(),
            of: offer.code.of().map(str::to_owned),
            version: offer.version,
            key_bits: spec.key_bits.into(),
            block_bits: spec.card.block_bits.into(),
            rounds: spec.rounds.map(u32::from),
            tag_bits: (spec.card.tag_bits > 0).then(|| spec.card.tag_bits.into()),
            calls,
            segments,
            segment_B: (segments > 1).then(|| prepared.offset(1)),
            core_class: None,
        });
        Ok(())
    }

    /// A case of key establishment: it has no packet, so none of a packet's factors.
    fn add_exchange(
        &mut self,
        planned: &PlannedCase,
        scheme: &'static Scheme,
        clock: &mut RealClock,
    ) -> Result<(), String> {
        let all = self.providers.exchanges();
        let provider = establish::named(&all, &planned.provider, scheme)?;
        let version = provider.version(scheme)?;
        let proof = establish::proof::prove(provider, scheme, &all);
        proof.map_err(|error| format!("{}: {error}", scheme.id))?;
        let (operation, keying) = (planned.operation, planned.keying);
        let step = establish::prepare(provider, scheme, operation, keying, self.plan.head.seed)?;
        let calls = self.add_whole(planned, Box::new(establish::Timed::of(step)), clock);
        self.cases.push(Case {
            planned: PlannedCase { payload_B: 0, ..planned.clone() },
            family: scheme.id.to_owned(),
            mode: "establish".to_owned(),
            path: None,
            of: None,
            version,
            key_bits: scheme.key_bits.into(),
            block_bits: 0,
            rounds: None,
            tag_bits: None,
            calls,
            segments: 1,
            segment_B: None,
            core_class: None,
        });
        Ok(())
    }

    /// A case whose call is never cut; gives the calls that fill a batch.
    fn add_whole(&mut self, planned: &PlannedCase, mut body: Box<dyn Prepared>, clock: &mut RealClock) -> u32 {
        self.bursts.extend(burst_sample(clock));
        let calls = fill(&mut body, clock.ticks_of(self.plan.head.batch_ns), clock);
        self.bodies.push(body);
        self.slots.push(Slot {
            case: planned.case,
            body: self.bodies.len() - 1,
            calls,
            claimed_calls: calls,
            visits: planned.visits,
            halves: planned.role == Role::Study && calls > 1,
        });
        calls
    }

    /// A case of a frame's protection: its payload is the body of one frame.
    fn add_protocol(&mut self, planned: &PlannedCase, protocol: Protocol, clock: &mut RealClock) -> Result<(), String> {
        cases::proof(protocol).map_err(|error| format!("{protocol}: {error}"))?;
        let timed = cases::Timed::new(protocol, planned, self.plan.head.seed)?;
        let calls = self.add_whole(planned, Box::new(timed), clock);
        self.cases.push(Case {
            planned: planned.clone(),
            family: protocol.id().to_owned(),
            mode: "frame".to_owned(),
            path: None,
            of: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            key_bits: cases::key_bits(protocol).into(),
            block_bits: 0,
            rounds: None,
            tag_bits: Some(cases::tag_bits(protocol).into()),
            calls,
            segments: 1,
            segment_B: None,
            core_class: None,
        });
        Ok(())
    }
}

/// What a burst takes just now, in millionths of a canary; `None` where the two canaries around it do not agree.
fn burst_sample(clock: &mut RealClock) -> Option<u32> {
    let (before, burst, after) = (clock.canary(), clock.burst(), clock.canary());
    if engine::clock_changed(before, after) { None } else { engine::burst_ppm(burst, before.midpoint(after)) }
}

/// The quiet tenth of the samples taken while the cases were prepared.
pub(super) fn quiet_level(mut samples: Vec<u32>) -> Option<u32> {
    samples.sort_unstable();
    (samples.len() >= LEAST_BURST_SAMPLES / 4).then(|| samples.get(samples.len() / 10).copied()).flatten()
}

fn prepare(
    plan: &ReadPlan,
    planned: &PlannedCase,
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

/// Calls that fill a batch; a call that is longer than two batches is cut into segments that each fill about one, or as
/// an earlier process of the run cut it.
fn calibrate(body: &mut Box<dyn Prepared>, planned: &PlannedCase, batch: Ticks, clock: &mut RealClock) -> u32 {
    match planned.cut_B {
        Some(0) => return fill(body, batch, clock),
        Some(segment_B) if body.cut(usize::try_from(segment_B).unwrap_or(usize::MAX)) => return 1,
        _ => {}
    }
    if planned.payload_B > WHOLE_PAYLOAD_B && body.cut(TRIAL_SEGMENT_B) {
        let trial = (0..3).map(|_| time(body, 1, clock)).min().unwrap_or(1);
        let whole = u128::from(trial) * u128::from(planned.payload_B) / TRIAL_SEGMENT_B as u128;
        if whole > u128::from(LONGEST_CALL_BATCHES * batch) {
            let fitting = TRIAL_SEGMENT_B as u128 * u128::from(batch) / u128::from(trial.max(1));
            body.cut(usize::try_from(fitting).unwrap_or(usize::MAX).next_power_of_two());
            return 1;
        }
        body.cut(usize::MAX);
    }
    fill(body, batch, clock)
}

/// Calls that fill a batch.
fn fill(body: &mut Box<dyn Prepared>, batch: Ticks, clock: &mut RealClock) -> u32 {
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
