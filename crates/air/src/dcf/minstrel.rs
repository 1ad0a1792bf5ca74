//! Minstrel, the rate adaptation of Linux for rates without MCS: statistics of every rate over windows of 100 ms, a chain
//! of four rates for the tries of a frame, and one frame in ten that tries another rate.
//!
//! A rate that is slower than the best one is tried *second*, so that it costs nothing while the best one gets through;
//! only where it was not used for 20 windows does it stand first. Rates with MCS go by it too, where Linux has
//! `minstrel_ht`.
//!
//! # Source
//! Linux 3.10, net/mac80211/rc80211_minstrel.c, which ns-3's MinstrelWifiManager follows; as there, a rate that was put
//! second counts as tried only if its turn came. Later kernels take a rate that gets through more often than nine times
//! in ten for one that does so nine times in ten.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::draws::below;
use super::network::{Network, RATES_MAX};
use super::on_air::lowest_basic;
use crate::Nanoseconds;
use crate::frame::ACK_B;
use crate::phy::Rate;

/// How often statistics become probabilities.
const WINDOW_NS: Nanoseconds = 100_000_000;
/// One frame in so many tries another rate: 10 %.
const LOOKAROUND: i64 = 10;
/// What the probability keeps of its value before at the end of a window.
const KEEPS: f64 = 0.75;
/// Windows without use after which a slower rate is tried first.
const SKIPPED_WINDOWS: u32 = 20;
/// Frames of a window that may try a rate which hardly ever or nearly always gets through.
const SAMPLE_LIMIT: u8 = 4;
/// The same bounds, of the probability.
const SELDOM: f64 = 0.10;
const NEARLY_ALWAYS: f64 = 0.95;
/// Frame by whose time rates are compared, and by which tries are given them.
const FRAME_B: u32 = 1_200;
/// A rate is tried as often as fits in this, at most [`TRIES_MAX`] times.
const SEGMENT_NS: Nanoseconds = 6_000_000;
const TRIES_MAX: u8 = 7;
/// Frames after which the counts of frames and samples start anew.
const COUNTED: i64 = 10_000;

/// What is known of one rate.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Of a frame of [`FRAME_B`].
    frame_ns: Nanoseconds,
    /// Tries that fit in a segment, and those that it has in a chain now.
    most_tries: u8,
    tries: u8,
    /// This window's.
    sent: u32,
    acknowledged: u32,
    /// Share of frames that get through.
    success: f64,
    used: bool,
    skipped: u32,
    /// Frames that may still try it in this window; none for as many as there are.
    samples_left: Option<u8>,
}

impl Known {
    fn new(rate: Rate, network: &Network) -> Self {
        let Network { channel, timing, .. } = network;
        let lasts_ns = |rate: Rate, size_B: u32| rate.time_on_air_ns(size_B, channel) + timing.sifs_ns;
        let (frame_ns, ack_ns) = (lasts_ns(rate, FRAME_B), lasts_ns(rate, ACK_B));
        let mut all_ns = frame_ns + lasts_ns(lowest_basic(network), ACK_B);
        let mut most_tries = 1;
        for failures in 0..u32::from(TRIES_MAX) - 1 {
            all_ns += frame_ns + ack_ns + timing.slot_ns * Nanoseconds::from(timing.window(failures)) / 2;
            if all_ns >= SEGMENT_NS {
                break;
            }
            most_tries += 1;
        }
        Self { frame_ns, most_tries, tries: most_tries, ..Self::default() }
    }

    /// Closes a window.
    fn close(&mut self) {
        if self.sent > 0 {
            let now = f64::from(self.acknowledged) / f64::from(self.sent);
            self.success = if self.used { KEEPS * self.success + (1.0 - KEEPS) * now } else { now };
            (self.used, self.skipped) = (true, 0);
        } else {
            self.skipped += 1;
        }
        (self.sent, self.acknowledged) = (0, 0);
        (self.samples_left, self.tries) = match self.most_tries / 2 {
            _ if (SELDOM..=NEARLY_ALWAYS).contains(&self.success) => (None, self.most_tries),
            1 => (Some(SAMPLE_LIMIT), 1),
            _ => (Some(SAMPLE_LIMIT), 2),
        };
    }

    /// Frames a nanosecond, as far as their order goes.
    fn throughput(&self) -> f64 {
        self.success / self.frame_ns.max(1) as f64
    }
}

/// One sender's statistics toward one receiver.
#[derive(Debug, Clone, Default)]
pub(super) struct Minstrel {
    rates: [Known; RATES_MAX],
    count: u8,
    /// Of the highest throughput, of the second highest, and the surest.
    best: [u8; 3],
    /// Of the frame on its way: rates, each with its tries.
    chain: [(u8, u8); 4],
    /// The chain's second rate is one that is tried.
    second_is_sample: bool,
    /// Rates in the order in which they are tried, drawn anew when all had their turn.
    order: [u8; RATES_MAX],
    turn: u8,
    frames: i64,
    samples: i64,
    deferred: i64,
    closes_ns: Nanoseconds,
}

impl Minstrel {
    /// Knows nothing yet; begins at the lowest rate.
    pub(super) fn new(network: &Network) -> Self {
        let mut minstrel = Self { closes_ns: WINDOW_NS, ..Self::default() };
        for (known, &rate) in minstrel.rates.iter_mut().zip(network.rates) {
            *known = Known::new(rate, network);
            minstrel.count += 1;
        }
        minstrel
    }

    /// Rate of the next try of a frame that was sent `retries` times; none where its chain has ended.
    pub(super) fn rate(&self, retries: u32) -> Option<u8> {
        let mut before = 0;
        self.chain.iter().find_map(|&(rate, tries)| {
            before += u32::from(tries);
            (retries < before).then_some(rate)
        })
    }

    /// Makes the chain of a new frame.
    pub(super) fn begin(&mut self, now_ns: Nanoseconds, random: &mut Xoshiro256PlusPlus) {
        if now_ns >= self.closes_ns {
            self.close();
            self.closes_ns = now_ns + WINDOW_NS;
        }
        let [first, second, surest] = self.best;
        let mut chain = [first, second, surest].map(|rate| self.with_tries(rate));
        self.second_is_sample = false;
        if let Some((rate, at)) = self.sample(random) {
            if at == 1 {
                // The best one keeps its place, and only the second one's is taken.
                self.second_is_sample = true;
            } else {
                chain[1] = chain[0];
            }
            chain[at] = self.with_tries(rate);
        }
        self.chain = [chain[0], chain[1], chain[2], (0, TRIES_MAX)];
    }

    /// All tries of the chain.
    pub(super) fn tries(&self) -> u32 {
        self.chain.iter().map(|&(_, tries)| u32::from(tries)).sum()
    }

    fn with_tries(&self, rate: u8) -> (u8, u8) {
        (rate, self.rates[usize::from(rate)].tries)
    }

    /// The rate that this frame tries, if any, and its place in the chain.
    fn sample(&mut self, random: &mut Xoshiro256PlusPlus) -> Option<(u8, usize)> {
        self.frames += 1;
        let due = self.frames / LOOKAROUND - (self.samples + self.deferred / 2);
        if due < 0 {
            return None;
        }
        let backlog = 2 * i64::from(self.count);
        if self.frames >= COUNTED {
            (self.frames, self.samples, self.deferred) = (0, 0, 0);
        } else if due > backlog {
            // Samples that were due and never used are not made up for all at once.
            self.samples += due - backlog;
        }
        let rate = self.next(random);
        let best_ns = self.rates[usize::from(self.best[0])].frame_ns;
        let known = &mut self.rates[usize::from(rate)];
        if known.frame_ns > best_ns && known.skipped < SKIPPED_WINDOWS {
            self.deferred += 1;
            return Some((rate, 1));
        }
        match &mut known.samples_left {
            Some(0) => return None,
            Some(left) => *left -= 1,
            None => {}
        }
        self.samples += 1;
        Some((rate, 0))
    }

    /// The next rate in turn.
    fn next(&mut self, random: &mut Xoshiro256PlusPlus) -> u8 {
        let count = usize::from(self.count);
        let turn = usize::from(self.turn);
        if turn == 0 {
            for i in 0..count {
                let j = usize::try_from(below(random.next_u64(), i as u64 + 1)).unwrap_or(0);
                self.order[i] = self.order[j];
                self.order[j] = u8::try_from(i).unwrap_or(0);
            }
        }
        self.turn = if turn + 1 >= count { 0 } else { self.turn + 1 };
        self.order[turn]
    }

    /// What became of a try.
    ///
    /// * `sent`, `acknowledged`: MPDUs.
    pub(super) fn learn(&mut self, rate: u8, sent: u32, acknowledged: u32) {
        if let Some(known) = self.rates.get_mut(usize::from(rate)) {
            known.sent += sent;
            known.acknowledged += acknowledged;
        }
    }

    /// A frame is through, or given up, after so many tries.
    pub(super) fn end(&mut self, tries: u32) {
        let reached = tries > u32::from(self.chain[0].1);
        self.samples += i64::from(self.second_is_sample && reached);
        self.deferred = (self.deferred - 1).max(0);
    }

    /// Ends a window: which rates are best from now on.
    fn close(&mut self) {
        let (mut first, mut second, mut surest) = (0, 0, 0);
        for i in 0..usize::from(self.count) {
            self.rates[i].close();
            let throughput = |i: usize| self.rates[i].throughput();
            let success = |i: usize| self.rates[i].success;
            if throughput(i) > throughput(first) {
                (first, second) = (i, first);
            } else if i != first && throughput(i) > throughput(second) {
                second = i;
            }
            // Of those that nearly always get through the fastest, else the one that does so most often.
            let surer = if success(i) >= NEARLY_ALWAYS {
                throughput(i) >= throughput(surest)
            } else {
                success(i) >= success(surest)
            };
            if surer {
                surest = i;
            }
        }
        self.best = [first, second, surest].map(|i| u8::try_from(i).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    const RATES: [Rate; 4] =
        [Rate::Ofdm { Mb_s: 6 }, Rate::Ofdm { Mb_s: 12 }, Rate::Ofdm { Mb_s: 24 }, Rate::Ofdm { Mb_s: 54 }];

    /// Windows in which of ten frames at each rate so many got through.
    fn after(windows: u64, through: [u32; 4]) -> Minstrel {
        let mut minstrel = Minstrel::new(&Network { rates: &RATES, ..Network::default() });
        for _ in 0..windows {
            for (rate, acknowledged) in (0..).zip(through) {
                minstrel.learn(rate, 10, acknowledged);
            }
            minstrel.close();
        }
        minstrel
    }

    /// Frames that all get through at once: how many of them tried each rate, first and second.
    fn sampled(minstrel: &mut Minstrel, frames: u32) -> [[u32; 4]; 2] {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (best, mut counts) = (minstrel.best[0], [[0; 4]; 2]);
        for _ in 0..frames {
            minstrel.begin(0, &mut random);
            if minstrel.chain[0].0 != best {
                counts[0][usize::from(minstrel.chain[0].0)] += 1;
            } else if minstrel.second_is_sample {
                counts[1][usize::from(minstrel.chain[1].0)] += 1;
            }
            minstrel.end(1);
        }
        counts
    }

    #[test]
    fn a_chain_is_the_best_the_second_the_surest_and_the_lowest_rate() {
        let mut minstrel = after(1, [10, 9, 9, 6]);
        // By frames of 1200 octets: 54 Mb/s at 0.6 before 24 at 0.9; only 6 Mb/s gets through 95 times in 100.
        assert_eq!(minstrel.best, [3, 2, 0]);
        minstrel.frames = 1;
        minstrel.samples = 10;
        minstrel.begin(0, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        // What gets through nearly always is tried twice, at most; the others as often as fits in 6 ms.
        assert_eq!(minstrel.chain[..3], [(3, 6), (2, 6), (0, 1)]);
        assert_eq!(minstrel.tries(), 6 + 6 + 1 + 7);
        let rates = [0, 5, 6, 11, 12, 13, 19, 20].map(|tries| minstrel.rate(tries));
        assert_eq!(rates, [Some(3), Some(3), Some(2), Some(2), Some(0), Some(0), Some(0), None]);
    }

    #[test]
    fn a_window_keeps_three_quarters_of_what_was_known() {
        let mut minstrel = after(1, [10, 10, 10, 10]);
        minstrel.learn(3, 10, 0);
        minstrel.close();
        assert_eq!(minstrel.rates[3].success, 0.75);
        assert_eq!((minstrel.rates[2].success, minstrel.rates[2].skipped), (1.0, 1));
    }

    #[test]
    fn a_slower_rate_is_tried_second_until_it_was_not_used_for_twenty_windows() {
        let mut minstrel = after(1, [10; 4]);
        let [first, second] = sampled(&mut minstrel, 1_000);
        assert_eq!(first, [0; 4]);
        assert!(second[..3].iter().all(|&count| count > 50), "{second:?}");
        for _ in 0..20 {
            minstrel.learn(3, 10, 10);
            minstrel.close();
        }
        // Then it is tried first, four times in a window.
        assert_eq!(sampled(&mut minstrel, 1_000)[0], [4, 4, 4, 0]);
    }

    #[test]
    fn a_faster_rate_is_tried_first_by_a_tenth_of_the_frames_and_a_hopeless_one_four_times() {
        let [first, _] = sampled(&mut after(1, [10, 10, 5, 10]), 1_000);
        assert_eq!(first, [0; 4], "54 Mb/s is best and the others are slower");
        // 12 Mb/s is best: 24 gets through now and then, 54 never.
        let [first, _] = sampled(&mut after(1, [10, 10, 2, 0]), 1_000);
        assert_eq!((first[0], first[3]), (0, 4));
        assert!((90..=100).contains(&first[2]), "{first:?}");
    }

    #[test]
    fn a_rate_put_second_counts_as_tried_only_when_its_turn_came() {
        let mut minstrel = after(1, [10; 4]);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        while !minstrel.second_is_sample {
            minstrel.begin(0, &mut random);
            minstrel.end(1);
        }
        let before = minstrel.samples;
        minstrel.end(u32::from(minstrel.chain[0].1));
        assert_eq!(minstrel.samples, before);
        minstrel.end(u32::from(minstrel.chain[0].1) + 1);
        assert_eq!(minstrel.samples, before + 1);
    }
}
