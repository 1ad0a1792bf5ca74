//! Rate adaptation: which of the network's rates the next frame goes at.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{RATES_MAX, below, share};
use crate::Nanoseconds;

/// How a sender finds its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RateControl {
    /// It stays at the one that it is given.
    #[default]
    Fixed,
    /// Up after 10 frames that were acknowledged, down after 2 that were not, and after 1 where it just went up
    /// (Kamerman and Monteban, WaveLAN-II, Bell Labs Technical Journal 2(3), 1997).
    Arf,
    /// Keeps statistics of every rate, sends at the one of the highest throughput, and tries others with a tenth of its
    /// frames, as Linux's Minstrel does.
    Minstrel,
    /// Knows the signal: the rate of the highest expected throughput.
    Ideal,
}

const MINSTREL_UPDATE_NS: Nanoseconds = 100_000_000;
const MINSTREL_TRIES: f64 = 0.1;
const MINSTREL_KEEPS: f64 = 0.75;

#[derive(Debug, Clone, Copy, Default)]
struct Record {
    sent: u32,
    acknowledged: u32,
    success: f64,
    known: bool,
}

/// One sender's state toward one receiver.
#[derive(Debug, Clone, Default)]
pub(super) struct Control {
    index: u8,
    won: u8,
    lost: u8,
    just_up: bool,
    sample: Option<u8>,
    update_ns: Nanoseconds,
    records: [Record; RATES_MAX],
    /// By throughput: best and second; by probability: best.
    chain: [u8; 3],
}

impl Control {
    /// Starts at `index`; ARF and Minstrel begin at the lowest rate.
    pub(super) fn start(kind: RateControl, index: u8) -> Self {
        let index = if matches!(kind, RateControl::Arf | RateControl::Minstrel) { 0 } else { index };
        Self { index, ..Self::default() }
    }

    /// Rate of the next frame.
    ///
    /// * `retries`: how often its head was sent before.
    /// * `costs_ns`: time of an exchange at each rate.
    pub(super) fn pick(
        &mut self,
        kind: RateControl,
        retries: u32,
        now_ns: Nanoseconds,
        costs_ns: &[Nanoseconds],
        random: &mut Xoshiro256PlusPlus,
    ) -> u8 {
        if kind != RateControl::Minstrel {
            return self.index;
        }
        if now_ns >= self.update_ns {
            self.update(costs_ns);
            self.update_ns = now_ns + MINSTREL_UPDATE_NS;
        }
        if retries == 0 {
            let tries = share(random.next_u64()) < MINSTREL_TRIES;
            let count = costs_ns.len().clamp(1, RATES_MAX);
            let drawn = below(random.next_u64(), count as u64);
            self.sample = tries.then_some(u8::try_from(drawn).unwrap_or(0));
        }
        self.index = match retries {
            0 | 1 => self.sample.unwrap_or(self.chain[0]),
            2 | 3 => self.chain[1],
            4 | 5 => self.chain[2],
            _ => 0,
        };
        self.index
    }

    fn update(&mut self, costs_ns: &[Nanoseconds]) {
        let count = costs_ns.len().min(RATES_MAX);
        for record in &mut self.records[..count] {
            if record.sent > 0 {
                let now = f64::from(record.acknowledged) / f64::from(record.sent);
                let before = if record.known { record.success } else { now };
                record.success = MINSTREL_KEEPS * before + (1.0 - MINSTREL_KEEPS) * now;
                record.known = true;
            }
            (record.sent, record.acknowledged) = (0, 0);
        }
        // Below a tenth a rate is worth nothing, as in Linux.
        let throughput = |records: &[Record; RATES_MAX], i: usize| {
            let success = records[i].success;
            if success < 0.1 { 0.0 } else { success / costs_ns[i] as f64 }
        };
        let (mut first, mut second, mut surest) = (0, 0, 0);
        for i in 0..count {
            if throughput(&self.records, i) > throughput(&self.records, first) {
                (first, second) = (i, first);
            } else if i != first && throughput(&self.records, i) >= throughput(&self.records, second) {
                second = i;
            }
            if self.records[i].success >= self.records[surest].success {
                surest = i;
            }
        }
        self.chain = [first, second, surest].map(|i| u8::try_from(i).unwrap_or(0));
    }

    /// What became of a frame sent at rate `index`.
    ///
    /// * `sent`, `acknowledged`: MPDUs.
    pub(super) fn learn(&mut self, kind: RateControl, index: u8, sent: u32, acknowledged: u32, rates: u8) {
        match kind {
            RateControl::Fixed | RateControl::Ideal => {}
            RateControl::Minstrel => {
                if let Some(record) = self.records.get_mut(usize::from(index)) {
                    record.sent += sent;
                    record.acknowledged += acknowledged;
                }
            }
            RateControl::Arf if acknowledged > 0 => {
                (self.won, self.lost, self.just_up) = (self.won + 1, 0, false);
                if self.won >= 10 {
                    self.just_up = self.index + 1 < rates;
                    self.index = (self.index + 1).min(rates.saturating_sub(1));
                    self.won = 0;
                }
            }
            RateControl::Arf => {
                (self.won, self.lost) = (0, self.lost + 1);
                if self.just_up || self.lost >= 2 {
                    self.index = self.index.saturating_sub(1);
                    self.lost = 0;
                }
                self.just_up = false;
            }
        }
    }
}
