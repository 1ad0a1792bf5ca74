//! Rate adaptation: which of the network's rates the next frame goes at.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::minstrel::Minstrel;
use super::network::{Network, RateControl};
use crate::Nanoseconds;

/// One sender's state toward one receiver.
#[derive(Debug, Clone, Default)]
pub(super) struct Control {
    index: u8,
    won: u8,
    lost: u8,
    just_up: bool,
    minstrel: Minstrel,
}

impl Control {
    /// Starts at `index`; ARF and Minstrel begin at the lowest rate.
    pub(super) fn start(network: &Network, index: u8) -> Self {
        match network.rate_control {
            RateControl::Fixed | RateControl::Ideal => Self { index, ..Self::default() },
            RateControl::Arf => Self::default(),
            RateControl::Minstrel => Self { minstrel: Minstrel::new(network), ..Self::default() },
        }
    }

    /// Rate of the next frame.
    ///
    /// * `retries`: how often its head was sent before.
    pub(super) fn pick(
        &mut self,
        kind: RateControl,
        retries: u32,
        now_ns: Nanoseconds,
        random: &mut Xoshiro256PlusPlus,
    ) -> u8 {
        if kind == RateControl::Minstrel {
            if retries == 0 {
                self.minstrel.begin(now_ns, random);
            }
            self.index = self.minstrel.rate(retries).unwrap_or(0);
        }
        self.index
    }

    /// How often a frame may be sent before it is given up.
    pub(super) fn limit(&self, network: &Network) -> u32 {
        match network.rate_control {
            RateControl::Minstrel => self.minstrel.tries().min(network.retry_limit),
            RateControl::Fixed | RateControl::Arf | RateControl::Ideal => network.retry_limit,
        }
    }

    /// A frame is through, or given up, after so many tries.
    pub(super) fn end(&mut self, kind: RateControl, tries: u32) {
        if kind == RateControl::Minstrel {
            self.minstrel.end(tries);
        }
    }

    /// What became of a frame sent at rate `index`.
    ///
    /// * `sent`, `acknowledged`: MPDUs.
    pub(super) fn learn(&mut self, kind: RateControl, index: u8, sent: u32, acknowledged: u32, rates: u8) {
        match kind {
            RateControl::Fixed | RateControl::Ideal => {}
            RateControl::Minstrel => self.minstrel.learn(index, sent, acknowledged),
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
