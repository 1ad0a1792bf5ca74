//! The quiet level: what a burst takes beside its canary where nothing shares the core.

use alloc::vec::Vec;

use wattlock_engine::{Clock, burst_ppm, clock_changed};

use super::ports::scale;

/// Samples of the burst from which the quiet level is found.
pub(super) const LEAST_SAMPLES: usize = 100;
/// Samples that agree, at least.
const LEAST_ALIKE: usize = 3;

/// What a burst takes just now, in millionths of a canary; `None` where the two canaries around it do not agree.
pub(super) fn sample(clock: &mut impl Clock) -> Option<u32> {
    let (before, burst, after) = (clock.canary(), clock.burst(), clock.canary());
    if clock_changed(before, after, clock.step()) { None } else { burst_ppm(burst, before.midpoint(after)) }
}

/// How far two steps of the clock move a sample, in millionths.
pub(super) fn blur(clock: &mut impl Clock) -> u32 {
    match clock.step() {
        0 => 0,
        step => burst_ppm(step.saturating_mul(2), clock.canary()).unwrap_or(0),
    }
}

/// Takes samples until there are enough.
pub(super) fn complete(samples: &mut Vec<u32>, clock: &mut impl Clock) {
    samples.extend((samples.len()..LEAST_SAMPLES).filter_map(|_| sample(clock)));
}

/// The quiet level of the core just now; `None` where the clock changed too often to tell.
pub fn now(clock: &mut impl Clock) -> Option<u32> {
    let mut samples = Vec::new();
    complete(&mut samples, clock);
    of(&mut samples, blur(clock))
}

/// The least level that a tenth of the samples agree on, to 1 % and three of them at least; `None` where none do.
///
/// What a burst takes of its canary on a core that is not shared is a fact of the core, and samples of it lie close
/// together. One below it comes from a canary that was interrupted or shared, and stands alone.
///
/// * `blur`: as of [`blur`]. Where the clock's steps move samples, the least that agree are those that were moved down:
///   the level is then the middle of all up to so far above them.
pub(super) fn of(samples: &mut [u32], blur: u32) -> Option<u32> {
    if samples.len() < LEAST_SAMPLES / 4 {
        return None;
    }
    samples.sort_unstable();
    let many = (samples.len() / 10).max(LEAST_ALIKE);
    let alike =
        |group: &&[u32]| group.last().zip(group.first()).is_some_and(|(most, least)| most - least <= least / 100);
    let least = samples.windows(many).position(|group| alike(&group))?;
    let last = u64::from(*samples.get(least + many - 1)?);
    let reach = last + scale(last, blur.into(), 1_000_000);
    let end = samples.partition_point(|sample| u64::from(*sample) < reach).max(least + many);
    samples.get(least.midpoint(end)).copied()
}

#[cfg(test)]
mod tests {
    use wattlock_engine::SplitMix64;

    use super::*;

    #[test]
    fn samples_of_canaries_that_were_interrupted_do_not_make_the_core_quieter_than_it_is() {
        let interrupted = [225, 1_570, 40_000, 122_892, 190_000, 231_000, 255_000, 266_000, 269_900, 273_747, 279_000];
        let mut samples: Vec<u32> = (0..60).map(|step| 307_400 + step * 50).chain(interrupted).collect();
        samples.extend((0..30).map(|step| 400_000 + step * 900));
        let found = of(&mut samples, 0);
        assert!(found.is_some_and(|ppm| (307_400..308_400).contains(&ppm)), "{found:?}");
    }

    #[test]
    fn a_core_that_is_quiet_in_a_tenth_of_the_samples_tells_it() {
        let mut samples: Vec<u32> = (0..10).map(|step| 307_400 + step * 50).collect();
        samples.extend((0..90).map(|step| 390_000 + step * 300));
        assert!(of(&mut samples, 0).is_some_and(|ppm| ppm < 308_000));
    }

    /// Samples of a burst beside canaries of 60 steps, by a clock that rises anywhere within its steps, as a browser's does.
    fn stepped(count: usize, burst: u64) -> Vec<u32> {
        const STEP: u64 = 5_000;
        let mut random = SplitMix64::new(burst);
        let mut read = |ticks: u64| {
            let start = random.next_u64() % STEP;
            let [first, last] = [start, start + ticks].map(|at| (at + random.next_u64() % STEP) / STEP);
            (last - first) * STEP
        };
        let sample = |_| burst_ppm(read(burst), read(303_100).midpoint(read(303_100))).unwrap_or(0);
        (0..count).map(sample).collect()
    }

    #[test]
    fn a_clock_of_coarse_steps_makes_no_core_quieter_than_it_is() {
        const BLUR: u32 = 33_000;
        for neighbours in [0, 30, 60] {
            let mut samples = stepped(100 - neighbours, 303_100);
            samples.extend(stepped(neighbours, 424_300));
            let found = of(&mut samples.clone(), BLUR).map(|ppm| ppm.abs_diff(1_000_000));
            assert!(found.is_some_and(|off| off < 9_000), "{found:?} of a million off beside {neighbours} in 100");
        }
    }

    #[test]
    fn a_clock_without_steps_makes_a_level_of_the_least_tenth_alone() {
        let random = &mut SplitMix64::new(3);
        for _ in 0..1_000 {
            let mut samples: Vec<u32> = (0..100).map(|_| 307_400 + random.below(9_000)).collect();
            let found = of(&mut samples, 0);
            let tenth = samples.windows(10).find(|group| group[9] - group[0] <= group[0] / 100);
            assert_eq!(found, tenth.map(|group| group[5]));
        }
    }

    #[test]
    fn samples_that_agree_on_nothing_and_too_few_tell_nothing() {
        assert_eq!(of(&mut (1..=100).map(|step| step * 4_000).collect::<Vec<_>>(), 0), None);
        assert_eq!(of(&mut [307_400; 24], 0), None);
    }
}
