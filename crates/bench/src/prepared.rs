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

    /// As [`Prepared::prove`] for many calls one after another under one key: what fails now and then, or takes an
    /// output that is there already for its own, shows here.
    ///
    /// * `is_late`: whether the time for it is over.
    ///
    /// # Errors
    /// As of [`Prepared::prove`].
    fn prove_often(&mut self, _is_late: &mut dyn FnMut() -> bool) -> Result<(), String> {
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
