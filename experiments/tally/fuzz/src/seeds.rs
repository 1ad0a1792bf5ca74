//! What mutations begin with: conversations as they are meant.

use wattlock_fuzz::step;

use crate::{CHANGED, HEAR, LOST, MESSAGE, OPEN, REPLAY, RESTART, SPEAK};

/// For the targets `tally_gateway` and `tally_sensor`: a link that runs, one that loses, restarts, rescues, replays.
pub fn links() -> Vec<Vec<u8>> {
    let message = |number: u8| [step(MESSAGE, 0, &[number; 12]), step(SPEAK, 0, &[])].concat();
    let begun = [step(OPEN, 0, &[]), (0..12).flat_map(message).collect()].concat();
    let lossy = (0..40).flat_map(|number| {
        let how = if number % 3 == 0 { LOST } else { 0 };
        [step(MESSAGE, how, &[number; 3]), step(SPEAK, if number % 5 == 0 { LOST } else { 0 }, &[])].concat()
    });
    let noise = (0..4).flat_map(|number| step(HEAR, 0, &[number; 21]));
    let changed = (0..20).flat_map(|place| step(MESSAGE, CHANGED | place << 2, &[place; 16]));
    let replayed = (0..60).flat_map(|which| step(REPLAY, which, &[]));
    let restarts = (0..6).flat_map(|how| [step(RESTART, how, &[]), step(OPEN, 0, &[]), message(how)].concat());
    let again = [step(OPEN, 0, &[]), step(OPEN, LOST, &[]), step(OPEN, 2, &[])].concat();
    vec![
        begun.clone(),
        [begun.clone(), lossy.collect()].concat(),
        [begun.clone(), noise.collect(), step(SPEAK, 0, &[]), (0..9).flat_map(message).collect()].concat(),
        [begun.clone(), changed.collect(), (0..9).flat_map(message).collect()].concat(),
        [begun.clone(), replayed.collect(), message(7)].concat(),
        [begun.clone(), restarts.collect(), (0..9).flat_map(message).collect()].concat(),
        [again, begun].concat(),
        [step(OPEN, 0, &[]), (0..250).flat_map(|number| step(MESSAGE, 0, &[number; 2])).collect()].concat(),
        [step(OPEN, 0, &[]), (0..10).flat_map(|number| step(MESSAGE, 0, &[number; 1100])).collect()].concat(),
    ]
}
