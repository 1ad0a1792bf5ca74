//! The quiet level: what a burst takes beside its canary where nothing shares the core.

use alloc::vec::Vec;

use wattlock_engine::{Clock, burst_ppm, clock_changed};

/// Samples of the burst from which the quiet level is found.
const LEAST_SAMPLES: usize = 100;
/// Samples that agree, at least.
const LEAST_ALIKE: usize = 3;

/// What a burst takes just now, in millionths of a canary; `None` where the two canaries around it do not agree.
pub(super) fn sample(clock: &mut impl Clock) -> Option<u32> {
    let (before, burst, after) = (clock.canary(), clock.burst(), clock.canary());
    if clock_changed(before, after) { None } else { burst_ppm(burst, before.midpoint(after)) }
}

/// Takes samples until there are enough.
pub(super) fn complete(samples: &mut Vec<u32>, clock: &mut impl Clock) {
    samples.extend((samples.len()..LEAST_SAMPLES).filter_map(|_| sample(clock)));
}

/// The quiet level of the core just now; `None` where the clock changed too often to tell.
pub fn now(clock: &mut impl Clock) -> Option<u32> {
    let mut samples = Vec::new();
    complete(&mut samples, clock);
    of(&mut samples)
}

/// The least level that a tenth of the samples agree on, to 1 % and three of them at least; `None` where none do.
///
/// What a burst takes of its canary on a core that is not shared is a fact of the core, and samples of it lie close
/// together. One below it comes from a canary that was interrupted or shared, and stands alone.
pub(super) fn of(samples: &mut [u32]) -> Option<u32> {
    if samples.len() < LEAST_SAMPLES / 4 {
        return None;
    }
    samples.sort_unstable();
    let many = (samples.len() / 10).max(LEAST_ALIKE);
    let alike =
        |group: &&[u32]| group.last().zip(group.first()).is_some_and(|(most, least)| most - least <= least / 100);
    samples.windows(many).find(alike).and_then(|group| group.get(many / 2).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_canaries_that_were_interrupted_do_not_make_the_core_quieter_than_it_is() {
        let interrupted = [225, 1_570, 40_000, 122_892, 190_000, 231_000, 255_000, 266_000, 269_900, 273_747, 279_000];
        let mut samples: Vec<u32> = (0..60).map(|step| 307_400 + step * 50).chain(interrupted).collect();
        samples.extend((0..30).map(|step| 400_000 + step * 900));
        let found = of(&mut samples);
        assert!(found.is_some_and(|ppm| (307_400..308_400).contains(&ppm)), "{found:?}");
    }

    #[test]
    fn a_core_that_is_quiet_in_a_tenth_of_the_samples_tells_it() {
        let mut samples: Vec<u32> = (0..10).map(|step| 307_400 + step * 50).collect();
        samples.extend((0..90).map(|step| 390_000 + step * 300));
        assert!(of(&mut samples).is_some_and(|ppm| ppm < 308_000));
    }

    #[test]
    fn samples_that_agree_on_nothing_and_too_few_tell_nothing() {
        assert_eq!(of(&mut (1..=100).map(|step| step * 4_000).collect::<Vec<_>>()), None);
        assert_eq!(of(&mut [307_400; 24]), None);
    }
}
