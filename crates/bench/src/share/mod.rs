//! One process's share of a run: its cases proven, prepared and calibrated, then batches timed, blocks of energy measured
//! or a battery discharged, each a record.
//!
//! | file | holds |
//! |---|---|
//! | [`ports`] | what a device has to have: clocks, a meter, a battery, a sink of records, a watch |
//! | `request` | what a process is asked for |
//! | `prepared` | the cases of the plan, each proven, bound and calibrated |
//! | `calibration` | calls that fill a batch, and where a long call is cut |
//! | `quiet_level` | what a burst takes where nothing shares the core |
//! | `granted` | the width of vectors that code works on, and what its witness takes where the core grants it |
//! | `timing` | batches to records |
//! | `energy` | blocks of energy: superblocks of all cases around a baseline |
//! | `marker` | the pattern of load by which a recording is aligned |
//! | `discharge` | one case repeated while a battery discharges |

pub mod calibration;
mod discharge;
mod energy;
mod granted;
mod marker;
pub mod ports;
mod prepared;
pub mod quiet_level;
mod request;
mod timing;

use alloc::boxed::Box;

use wattlock_engine::{Case as _, Slot};
use wattlock_records::{End, Failure, Follows, GrantedLevels, Header, Record, SCHEMA};

pub use self::request::Share;

use self::ports::{Clocks, Ports, Records};
use self::prepared::Cases;
use self::timing::Levels;
use crate::prepared::Prepared;

/// Carries a share out: the header and what failed before the timing, then what is measured, what failed after it, the
/// end. What goes wrong with one case is a record.
///
/// # Errors
/// Those of the sink of records.
pub fn carry_out<C: Clocks, R: Records>(share: &Share, mut ports: Ports<'_, C, R>) -> Result<(), R::Error> {
    let process = share.plan.process;
    let mut cases = Cases::default();
    for planned in &share.cases {
        if let Err(error) = cases.add(share, planned, &mut ports) {
            cases.failures.push(Failure { process, case: planned.case, error, follows: Follows::SkipCase });
        }
        ports.watch.iter().for_each(|watch| watch.rests());
    }
    cases.pair(&share.cases);
    quiet_level::complete(&mut cases.bursts, ports.clock);
    let blur = quiet_level::blur(ports.clock);
    let quiet_ppm = quiet_level::of(&mut cases.bursts, blur).into_iter().chain(share.plan.quiet_ppm).min();
    let levels = Levels { quiet_ppm, granted: granted::now(&cases.slots, ports.clock) };
    let header = header(share, &mut cases, levels, &mut ports);
    ports.records.write(&Record::Header(Box::new(header)))?;
    for failure in cases.failures {
        ports.records.write(&Record::Failure(failure))?;
    }
    ports.records.flush()?;
    ports.watch.iter().for_each(|watch| watch.times());

    let (slots, mut bodies) = (cases.slots, cases.bodies);
    let start = ports.clock.now();
    let (batches, energy_blocks) = measure(share, &slots, &mut bodies, levels, &mut ports)?;
    let wall_ns = ports.clock.now().saturating_sub(start);

    for slot in &slots {
        let Some(Err(error)) = bodies.get_mut(slot.body).map(|body| body.check()) else { continue };
        let failure = Failure { process, case: slot.case, error, follows: Follows::SkipCase };
        ports.records.write(&Record::Failure(failure))?;
    }
    ports.records.write(&Record::End(End { process, batches, energy_blocks, wall_ns }))?;
    ports.records.flush()
}

/// Discharges a battery, measures energy or times batches, as the plan says; gives the lines of batches and of blocks.
fn measure<C: Clocks, R: Records>(
    share: &Share,
    slots: &[Slot],
    bodies: &mut [Box<dyn Prepared>],
    levels: Levels,
    ports: &mut Ports<'_, C, R>,
) -> Result<(u64, u64), R::Error> {
    let Ports { clock, records, meter, battery, .. } = ports;
    if let Some((plan, battery)) = share.plan.battery.as_ref().zip(battery.as_deref_mut()) {
        // A case that failed has its record already.
        if let Some(slot) = slots.iter().find(|slot| slot.case == plan.case)
            && let Some(body) = bodies.get_mut(slot.body)
        {
            let all_segments = || {
                body.beat();
                (0..body.segments()).for_each(|segment| body.run(segment, slot.calls));
                u64::from(slot.calls)
            };
            let mut discharge = discharge::Discharge { plan, process: share.plan.process, battery };
            discharge.carry_out(all_segments, *clock, *records)?;
        }
        return Ok((0, 0));
    }
    if let Some((plan, meter)) = share.plan.energy.as_ref().zip(meter.as_deref_mut()) {
        let (process, seed) = (share.plan.process, share.plan.seed);
        let mut measurement = energy::Measurement { plan, process, seed, slots, bodies, clock: *clock, meter };
        return Ok((0, measurement.carry_out(*records)?));
    }
    Ok((timing::time(&share.plan, slots, bodies, levels, *clock, *records)?, 0))
}

fn header<C: Clocks, R>(share: &Share, cases: &mut Cases, levels: Levels, ports: &mut Ports<'_, C, R>) -> Header {
    let fingerprint = (ports.fingerprint)();
    cases.records.iter_mut().for_each(|case| case.core_class.clone_from(&fingerprint.hardware.core_class));
    Header {
        schema: SCHEMA,
        process: share.plan.process,
        seed: share.plan.seed,
        fingerprint,
        ticks_per_second: Some(ports.clock.ticks_per_second()),
        canary_cycles: ports.clock.canary_cycles(),
        quiet_ppm: levels.quiet_ppm,
        granted_ppm: GrantedLevels::of(levels.granted),
        step_ticks: Some(ports.clock.step()).filter(|step| *step > 0),
        timer_ticks: Some(ports.clock.timer_ticks()),
        cpu_timer_ns: ports.clock.cpu_timer(),
        pinned_cpu: share.plan.cpu,
        meter: ports.meter.as_ref().map(|meter| meter.record()),
        battery: ports.battery.as_ref().map(|battery| battery.record()),
        cases: core::mem::take(&mut cases.records),
    }
}
