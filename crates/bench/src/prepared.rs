//! A case that is ready for the clock, and the empty one.

use alloc::boxed::Box;
use alloc::string::String;
use core::hint::black_box;

use wattlock_engine::Case;

/// A case that the engine can time and that can be held to its outputs.
pub trait Prepared: Case {
    /// Cuts a call into segments of `segment_B` bytes; gives whether this case can be cut.
    fn cut(&mut self, _segment_B: usize) -> bool {
        false
    }

    /// Where a segment begins in the payload.
    fn offset(&self, _segment: u32) -> u64 {
        0
    }

    /// Carries the operation out once, cut as it is, and compares its output with the right one.
    ///
    /// # Errors
    /// What differs, or the cipher's own error.
    fn prove(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// As [`Prepared::prove`] for many calls one after another, and whether a message that was seen before costs less:
    /// what fails now and then, writes outside of its room, takes an output that is there already for its own, or
    /// remembers what it is asked for, shows here. From then on some calls are looked at before each visit too.
    ///
    /// * `now`: a clock of any unit. `limit`: so much of it each of these may take, and the first time calls of a short
    ///   message four times as much.
    ///
    /// # Errors
    /// As of [`Prepared::prove`]; what it writes to, that it remembers.
    fn prove_often(&mut self, _now: &mut dyn FnMut() -> u64, _limit: u64) -> Result<(), String> {
        Ok(())
    }

    /// As [`Prepared::prove`], after the timing, with what the visits left behind.
    ///
    /// # Errors
    /// What differs, or the cipher's own error.
    fn check(&mut self) -> Result<(), String>;

    /// Something is still at work here: called where one visit may last long.
    fn beat(&mut self) {}
}

impl Case for Box<dyn Prepared> {
    fn segments(&self) -> u32 {
        (**self).segments()
    }
    fn settle(&mut self, seed: u64) {
        (**self).settle(seed);
    }
    fn buffers(&self) -> (usize, usize) {
        (**self).buffers()
    }
    fn run(&mut self, segment: u32, calls: u32) {
        (**self).run(segment, calls);
    }
}

/// The entry without anything behind it: what the loop itself costs.
pub struct Empty;

impl Case for Empty {
    fn run(&mut self, _segment: u32, calls: u32) {
        for call in 0..calls {
            black_box(call);
        }
    }
}

impl Prepared for Empty {
    fn check(&mut self) -> Result<(), String> {
        Ok(())
    }
}
