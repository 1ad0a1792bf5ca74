//! Any other processor: the system's monotonic clock, and a chain of multiplications that the compiler can't shorten.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

/// What the tick counter is.
pub const COUNTER: &str = "the system's monotonic clock";

/// Not known for an unknown core.
pub(super) fn multiply_latency_cycles(_cpu: Option<u32>) -> Option<u64> {
    None
}

pub(super) fn rate() -> Option<u64> {
    Some(1_000_000_000)
}

pub(super) fn ticks() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[inline(never)]
pub(super) fn add_burst(count: u64) {
    let mut sums = black_box([0_u64; 8]);
    for round in 0..count / 8 {
        sums.iter_mut().for_each(|sum| *sum = black_box(sum.wrapping_add(round)));
    }
    black_box(sums);
}

#[inline(never)]
pub(super) fn multiply_chain(count: u64) {
    let mut x = black_box(3_u64);
    for _ in 0..count {
        x = x.wrapping_mul(x);
    }
    black_box(x);
}
