//! What every case has: bytes from the seed, an output that is blank before, a stack of its own.
#![forbid(unsafe_code)]

use wattlock_engine::SplitMix64;

use crate::board;
use crate::plan::Case;

/// What an output holds before something is written to it.
pub const BLANK: u8 = 0xa5;
/// The second time is what counts: the state of nothing but the memory differs from the first.
pub const TIMES: usize = 2;

/// The generator of a case.
pub fn random_of(case: &Case<'_>) -> SplitMix64 {
    SplitMix64::new(case.seed ^ (u64::from(case.number) << 32))
}

/// Fills `bytes` from the generator, eight a draw.
pub fn draw(random: &mut SplitMix64, bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(8) {
        let word = random.next_u64().to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
}

/// Carries `work` out on a stack of `size_B`; gives how much of it is used.
pub fn stack_of(size_B: usize, mut work: impl FnMut()) -> usize {
    let mut stack_at = 0;
    let deepest = board::on_stack(size_B, &mut || {
        stack_at = board::stack_pointer();
        work();
    });
    stack_at.saturating_sub(deepest)
}
