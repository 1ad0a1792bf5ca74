//! The cases of a share, each proven, bound and calibrated: what the engine times.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use wattlock_engine::{Case as _, Nanoseconds, Slot};
use wattlock_records::{Case, CodePath, Failure, PlannedCase, Readiness, Role};

use super::calibration::calibrate;
use super::granted::width_of;
use super::ports::{Clocks, Ports, Watch};
use super::quiet_level;
use super::request::Share;
use crate::constants::INJECTED_SLOWDOWN;
use crate::prepared::{Empty, Prepared};
use crate::subject::{Description, Sources, Subject, Variant};

/// Calls of a library of the user's own are looked at one by one for so long at most, before it is timed: at the timed
/// length, of a short message, and for what it remembers.
const SEEN_TIME: Nanoseconds = 25_000_000;

/// The cases that can be measured, as the engine wants them, and those that can't.
#[derive(Default)]
pub(super) struct Cases {
    pub(super) bodies: Vec<Box<dyn Prepared>>,
    pub(super) slots: Vec<Slot>,
    pub(super) records: Vec<Case>,
    pub(super) failures: Vec<Failure>,
    pub(super) bursts: Vec<u32>,
    proven: BTreeMap<String, Result<(), String>>,
}

impl Cases {
    /// Proves a case, binds it and finds how many calls fill a batch.
    ///
    /// # Errors
    /// Why it can't be measured.
    pub(super) fn add<C: Clocks, R>(
        &mut self,
        share: &Share,
        planned: &PlannedCase,
        ports: &mut Ports<'_, C, R>,
    ) -> Result<(), String> {
        if let Some(error) = share.failed.get(&planned.case) {
            return Err(error.clone());
        }
        let is_own = share.plan.libraries.iter().any(|library| library.name == planned.provider);
        let watch = ports.watch.filter(|_| is_own);
        watch.iter().for_each(|watch| watch.prepares(planned));
        let subject = ports.registry.find(&planned.cipher)?;
        let description = subject.description();
        let twin = matches!(planned.role, Role::AaTest | Role::InjectedSlowdown);
        let reference = self.records.iter().position(|case| case.planned.role == Role::Reference);
        let provider = match (planned.role, reference) {
            (Role::Reference, _) => without_states(&*subject, &planned.provider, ports.sources),
            (Role::AaTest | Role::InjectedSlowdown, Some(at)) => self.records[at].planned.provider.clone(),
            _ => planned.provider.clone(),
        };
        let variant = subject.variant(&provider, ports.sources)?;
        let planned = &PlannedCase { provider, ..planned.clone() };
        let body = match (twin, reference) {
            (true, Some(at)) => self.slots[at].body,
            (true, None) => return Err("a copy of the reference, but the plan has no reference before it".to_owned()),
            (false, _) => {
                if planned.role != Role::Empty {
                    self.prove(planned, &description, &*variant, watch)?;
                }
                self.bodies.push(bound(share, planned, &*variant, watch, ports)?);
                self.bodies.len() - 1
            }
        };
        self.bursts.extend(quiet_level::sample(ports.clock));
        let prepared = &mut self.bodies[body];
        let batch = ports.clock.ticks_of(share.plan.batch_ns);
        let own_calls = if twin { 0 } else { calibrate(prepared, planned, batch, ports.clock) };
        if prepared.segments() > 1 {
            prepared.prove()?;
        }
        if let Some(watch) = watch {
            let start = ports.clock.now();
            (0..prepared.segments()).for_each(|segment| prepared.run(segment, own_calls));
            let first = ports.clock.now().saturating_sub(start);
            let unwatched = core::mem::replace(prepared, Box::new(Empty));
            *prepared = watch.works(unwatched, planned, first);
        }
        let width = match planned.role {
            Role::Empty => None,
            _ => width_of(variant.path(), ports.clock),
        };
        let slot = Slot { width, ..self.slot(planned, body, own_calls, reference) };
        self.records.push(record(planned, description, &*variant, &slot, &*self.bodies[body]));
        self.slots.push(slot);
        Ok(())
    }

    /// Proves a variant, once.
    fn prove(
        &mut self,
        planned: &PlannedCase,
        description: &Description,
        variant: &dyn Variant,
        watch: Option<&dyn Watch>,
    ) -> Result<(), String> {
        let prove = || {
            watch.iter().for_each(|watch| watch.proves(planned));
            variant.prove().map(|_| ()).map_err(|error| format!("{}: {error}", description.id))
        };
        let proof = self.proven.entry(format!("{} {}", planned.provider, planned.cipher));
        proof.or_insert_with(prove).clone()?;
        watch.iter().for_each(|watch| watch.prepares(planned));
        Ok(())
    }

    /// A case's place in the schedule.
    ///
    /// * `own_calls`: calls that fill a batch; of the reference's copies those of the reference count.
    fn slot(&self, planned: &PlannedCase, body: usize, own_calls: u32, reference: Option<usize>) -> Slot {
        let (carried_out, claimed) = INJECTED_SLOWDOWN;
        let claimed_calls = match (planned.role, reference) {
            (Role::Reference, _) => (own_calls / claimed).max(1) * claimed,
            (Role::AaTest | Role::InjectedSlowdown, Some(at)) => self.slots[at].calls,
            _ => own_calls,
        };
        let is_slowed = planned.role == Role::InjectedSlowdown;
        Slot {
            case: planned.case,
            body,
            calls: if is_slowed { claimed_calls / claimed * carried_out } else { claimed_calls },
            claimed_calls,
            visits: planned.visits,
            halves: planned.role == Role::Study && self.bodies[body].segments() == 1 && claimed_calls > 1,
            after_pause: planned.readiness == Readiness::AfterPause,
            ..Slot::default()
        }
    }

    /// Joins the slots of cases that name each other, once all are known: a partner that failed is none.
    pub(super) fn pair(&mut self, planned: &[PlannedCase]) {
        let at = |case| self.slots.iter().position(|slot| slot.case == case);
        let named = planned.iter().filter_map(|planned| Some((at(planned.case)?, at(planned.pair?)?)));
        for (first, second) in named.collect::<Vec<_>>() {
            self.slots[first].pair = u32::try_from(second).ok();
        }
    }
}

/// The provider of the reference: that of the plan, unless its code works on vectors whose width a core may hold back. Then
/// the first of those that are built in and have narrower code: beside a reference with states of its own every comparison
/// has them. Instructions come before tables, and tables before bits side by side, which take 60 cycles for a byte that
/// waits for the one before: batches of the 60 calls of the reference would last too long.
fn without_states(subject: &dyn Subject, planned: &str, sources: &dyn Sources) -> String {
    let path = |provider: &str| {
        let variant = subject.variant(provider, sources).ok()?;
        variant.path().filter(|_| variant.about().is_none())
    };
    if path(planned).and_then(CodePath::width).is_none() {
        return planned.to_owned();
    }
    let narrow = subject.providers(sources).into_iter().filter_map(|provider| {
        let path = path(&provider).filter(|path| path.width().is_none())?;
        Some(((!path.is_by_instructions(), path != CodePath::Tables), provider))
    });
    narrow.min_by_key(|(rank, _)| *rank).map_or_else(|| planned.to_owned(), |(_, provider)| provider)
}

/// Makes a case ready, and looks at calls of it one by one where it is of a library of the user's own.
fn bound<C: Clocks, R>(
    share: &Share,
    planned: &PlannedCase,
    variant: &dyn Variant,
    watch: Option<&dyn Watch>,
    ports: &mut Ports<'_, C, R>,
) -> Result<Box<dyn Prepared>, String> {
    let mut body: Box<dyn Prepared> = match planned.role {
        Role::Empty => Box::new(Empty),
        _ => variant.prepare(planned, ports.payloads, share.plan.seed)?,
    };
    if watch.is_some() {
        let limit = ports.clock.ticks_of(SEEN_TIME);
        body.prove_often(&mut || ports.clock.ticks(), limit)?;
    }
    Ok(body)
}

/// The case as the header has it; the class of its core is the fingerprint's to tell.
fn record(
    planned: &PlannedCase,
    description: Description,
    variant: &dyn Variant,
    slot: &Slot,
    body: &dyn Prepared,
) -> Case {
    let segments = body.segments();
    let payload_B = if description.has_payload { planned.payload_B } else { 0 };
    Case {
        planned: PlannedCase { payload_B, ..planned.clone() },
        family: description.family.to_owned(),
        mode: description.mode,
        path: variant.path(),
        of: variant.of(),
        version: variant.version(),
        key_bits: description.key_bits.into(),
        block_bits: description.block_bits.into(),
        rounds: description.rounds.map(u32::from),
        tag_bits: (description.tag_bits > 0).then(|| description.tag_bits.into()),
        calls: slot.claimed_calls,
        segments,
        segment_B: (segments > 1).then(|| body.offset(1)),
        core_class: None,
    }
}
