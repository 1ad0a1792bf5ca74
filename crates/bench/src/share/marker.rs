//! The marker by which the recording of an instrument beside the device is aligned: busy and idle by the Barker code of 13.
//!
//! Shifted against itself that code agrees in at most one chip of 13, so that a recording has one place where it fits.
//! Source: R. H. Barker, "Group synchronizing of binary digital systems", in Communication Theory, Butterworth, 1953.

use alloc::format;
use alloc::vec::Vec;

use wattlock_engine::{MeterError, Nanoseconds};
use wattlock_records::MarkerRecord;

use super::ports::{Clocks, EnergyMeter};

/// Which chips are busy.
pub const BARKER_13: [bool; 13] = [true, true, true, true, true, false, false, true, true, false, true, false, true];
/// Idle chips before and after it.
const REST_CHIPS: u64 = 2;

/// Carries a marker out, and gives its times.
pub(super) fn mark(
    clock: &mut impl Clocks,
    meter: &mut dyn EnergyMeter,
    chip: Nanoseconds,
    (process, marker): (u32, u32),
) -> MarkerRecord {
    let mut edges_ns = Vec::with_capacity(BARKER_13.len() + 1);
    clock.sleep(REST_CHIPS * chip);
    let suspended_ns = clock.suspended();
    let mut level = Ok(());
    let start = clock.now();
    let mut due = start;
    for is_busy in BARKER_13 {
        edges_ns.push(clock.now());
        level = level.and(meter.show(is_busy));
        due += chip;
        spend(clock, due, is_busy);
    }
    edges_ns.push(clock.now());
    level = level.and(meter.show(false));
    clock.sleep(REST_CHIPS * chip);
    let error = level.err().map(|cause: MeterError| format!("the pin: {}", meter.message(cause)));
    MarkerRecord { process, marker, chip_ns: chip, edges_ns, busy: BARKER_13.to_vec(), suspended_ns, error }
}

/// Works or rests until `due`; a chip that the system cut short of time is late and not longer.
fn spend(clock: &mut impl Clocks, due: Nanoseconds, is_busy: bool) {
    if is_busy {
        while clock.now() < due {
            clock.burst();
        }
    } else {
        let left = due.saturating_sub(clock.now());
        clock.sleep(left);
    }
}
