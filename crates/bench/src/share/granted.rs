//! The granted level: what a witness takes beside its canary where the core grants its width.

use alloc::vec::Vec;

use wattlock_engine::{Granted, Nanoseconds, Slot, Width, burst_ppm, clock_changed};
use wattlock_records::CodePath;

use super::ports::Clocks;
use super::quiet_level::{LEAST_SAMPLES, blur, of};

/// In so long a core grants a state to code that runs, or it never does. Seen: 1.7 ms at 90 % on an Ice Lake server.
pub(super) const STATE_NS: Nanoseconds = 2_000_000;

/// The width that code of this path works on, where there is a witness of it. Of code whose path is not known it is the
/// widest that the processor has: a witness of more than the code asks for costs time, and of less tells nothing.
pub(super) fn width_of(path: Option<CodePath>, clock: &mut impl Clocks) -> Option<Width> {
    let widths: &[Width] = match path.map(CodePath::width) {
        None => &[Width::Bits512, Width::Bits256],
        Some(Some(Width::Bits512)) => &[Width::Bits512],
        Some(Some(Width::Bits256)) => &[Width::Bits256],
        Some(None) => &[],
    };
    widths.iter().copied().find(|width| clock.witness(*width).is_some())
}

/// The granted levels of the widths that slots work on.
pub(super) fn now(slots: &[Slot], clock: &mut impl Clocks) -> Granted {
    let mut level = |width| {
        let is_used = slots.iter().any(|slot| slot.width == Some(width));
        if is_used { level(width, clock) } else { None }
    };
    Granted { bits256_ppm: level(Width::Bits256), bits512_ppm: level(Width::Bits512) }
}

/// Of one width, as the quiet level is found: by samples that begin once the core had time to grant it.
fn level(width: Width, clock: &mut impl Clocks) -> Option<u32> {
    let (start, most) = (clock.ticks(), clock.ticks_of(STATE_NS));
    while clock.ticks().saturating_sub(start) < most {
        clock.witness(width)?;
    }
    let (mut samples, mut before) = (Vec::new(), clock.canary());
    for _ in 0..LEAST_SAMPLES {
        let witness = clock.witness(width)?;
        let after = clock.canary();
        if !clock_changed(before, after, clock.step()) {
            samples.extend(burst_ppm(witness, before.midpoint(after)));
        }
        before = after;
    }
    let blur = blur(clock);
    of(&mut samples, blur)
}
