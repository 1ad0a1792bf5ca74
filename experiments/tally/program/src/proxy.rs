//! What a bad link does to datagrams, alike for the same seed: loss, bursts of it, duplicates, delay behind later ones.
//!
//! What becomes of a datagram depends on seed, way and its number on that way, never on time.

use wattlock_engine::SplitMix64;

use super::records::{Passed, Way};

/// A delayed datagram goes on behind 1 to so many later ones.
const LATEST: u32 = 8;

/// How bad a link is; shares are from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Datagrams that are lost.
    pub loss: f64,
    /// Mean datagrams of a burst of losses; `None` where each is lost for itself.
    pub burst: Option<f64>,
    /// Datagrams that go on twice.
    pub duplicate: f64,
    /// Datagrams that go on behind later ones.
    pub reorder: f64,
    /// Random seed.
    pub seed: u64,
}

impl Rules {
    /// Why there is no such link, if there is none.
    pub fn wrong(&self) -> Option<String> {
        let burst = self.burst?;
        let least = (self.loss / (1.0 - self.loss)).max(1.0);
        (burst < least).then(|| format!("{burst} datagrams: with a loss of {} it is at least {least:.2}", self.loss))
    }
}

/// One way through the proxy.
pub struct Path {
    rules: Rules,
    random: SplitMix64,
    /// Whether a burst of losses is on.
    bad: bool,
    number: u64,
    /// Datagrams that are delayed, each with how many others go first: `LATEST` at most.
    delayed: Vec<(u32, Vec<u8>)>,
}

impl Path {
    /// A way on which nothing was sent yet.
    pub fn new(rules: Rules, way: Way) -> Self {
        // Two ways of one seed are apart by half of the generator's period.
        let mut random = SplitMix64::new(if way == Way::Up { rules.seed } else { rules.seed ^ 1 << 63 });
        let bad = share(&mut random) < rules.loss;
        Self { rules, random, bad, number: 0, delayed: Vec::new() }
    }

    /// Takes a datagram; gives its number, what becomes of it, and what goes on now.
    pub fn pass(&mut self, datagram: &[u8]) -> (u64, Passed, Vec<Vec<u8>>) {
        let number = self.number;
        self.number += 1;
        // All is drawn for each, so that what becomes of one depends on no other rule.
        let [lost, twice, late] = std::array::from_fn(|_| share(&mut self.random));
        let behind = 1 + self.random.below(LATEST);
        let dropped = self.loses(lost);
        let mut on = Vec::new();
        let fate = if dropped {
            Passed::Dropped
        } else if late < self.rules.reorder {
            Passed::Delayed
        } else if twice < self.rules.duplicate {
            on.extend([datagram.to_vec(), datagram.to_vec()]);
            Passed::Duplicated
        } else {
            on.push(datagram.to_vec());
            Passed::Passed
        };
        for (left, octets) in &mut self.delayed {
            *left -= 1;
            if *left == 0 {
                on.push(std::mem::take(octets));
            }
        }
        self.delayed.retain(|(left, _)| *left > 0);
        if fate == Passed::Delayed {
            self.delayed.push((behind, datagram.to_vec()));
        }
        (number, fate, on)
    }

    /// What is still delayed: nothing came for so long that it goes on.
    pub fn release(&mut self) -> Vec<Vec<u8>> {
        self.delayed.drain(..).map(|(_, octets)| octets).collect()
    }

    /// Gilbert's channel: good, where nothing is lost, and bad, where all is.
    ///
    /// # Source
    /// E. N. Gilbert, Capacity of a burst-noise channel, Bell System Technical Journal 39 (1960), with h = 0.
    fn loses(&mut self, drawn: f64) -> bool {
        let Some(burst) = self.rules.burst else { return drawn < self.rules.loss };
        let lost = self.bad;
        let leaves = 1.0 / burst;
        let enters = self.rules.loss * leaves / (1.0 - self.rules.loss);
        self.bad = if lost { drawn >= leaves } else { drawn < enters };
        lost
    }
}

/// A number in [0, 1).
fn share(random: &mut SplitMix64) -> f64 {
    f64::from(random.below(u32::MAX)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { loss: 0.1, burst: None, duplicate: 0.0, reorder: 0.0, seed: 7 };

    fn lost(rules: Rules, way: Way, datagrams: u32) -> Vec<bool> {
        let mut path = Path::new(rules, way);
        (0..datagrams).map(|_| path.pass(b"x").1 == Passed::Dropped).collect()
    }

    #[test]
    fn the_share_that_is_lost_and_the_length_of_bursts_are_those_of_the_rules() {
        const DATAGRAMS: u32 = 200_000;
        for (loss, burst) in [(0.1, None), (0.3, None), (0.1, Some(5.0)), (0.3, Some(2.0)), (0.0, Some(3.0))] {
            let lost = lost(Rules { loss, burst, ..RULES }, Way::Up, DATAGRAMS);
            let count = lost.iter().filter(|lost| **lost).count();
            let bursts = lost.windows(2).filter(|two| !two[0] && two[1]).count().max(1);
            let (share, length) = (count as f64 / f64::from(DATAGRAMS), count as f64 / bursts as f64);
            // Six standard deviations of independent losses; bursts of b are about b times as wide.
            let wide = 6.0 * (loss * burst.map_or(1.0, |burst| 2.0 * burst) / f64::from(DATAGRAMS)).sqrt();
            assert!((share - loss).abs() <= wide, "{loss} {burst:?}: {share}");
            let expected = if loss == 0.0 { 0.0 } else { burst.unwrap_or(1.0 / (1.0 - loss)) };
            assert!((length - expected).abs() <= 0.05 * expected, "{loss} {burst:?}: {length}");
        }
    }

    #[test]
    fn what_becomes_of_datagrams_is_alike_for_a_seed_and_differs_with_seed_and_way() {
        let first = lost(RULES, Way::Up, 1000);
        assert_eq!(first, lost(Rules { duplicate: 0.5, ..RULES }, Way::Up, 1000));
        assert_ne!(first, lost(RULES, Way::Down, 1000));
        assert_ne!(first, lost(Rules { seed: 8, ..RULES }, Way::Up, 1000));
    }

    #[test]
    fn a_datagram_that_is_not_lost_goes_on_once_or_twice_and_at_most_eight_later() {
        let rules = Rules { loss: 0.2, duplicate: 0.2, reorder: 0.3, ..RULES };
        let mut path = Path::new(rules, Way::Up);
        let (mut fates, mut came) = (Vec::new(), vec![0; 5000]);
        for number in 0..5000_usize {
            let (_, fate, on) = path.pass(&number.to_be_bytes());
            fates.push(fate);
            for octets in on {
                let one = octets.iter().fold(0, |one, octet| one << 8 | usize::from(*octet));
                assert!(number - one <= 8, "{one} came at {number}");
                came[one] += 1;
            }
        }
        for octets in path.release() {
            came[octets.iter().fold(0, |one, octet| one << 8 | usize::from(*octet))] += 1;
        }
        for (fate, came) in fates.iter().zip(came) {
            let times = match fate {
                Passed::Dropped => 0,
                Passed::Duplicated => 2,
                Passed::Passed | Passed::Delayed => 1,
            };
            assert_eq!(came, times);
        }
        assert!([Passed::Dropped, Passed::Duplicated, Passed::Delayed].iter().all(|fate| fates.contains(fate)));
    }
}
