//! What the processor and the emulator decide: start and faults, the stack, the markers, the console.
//!
//! The one place of the image where `unsafe` stands: assembly, memory that the linker lays out, and what reads it.

#[cfg(target_arch = "arm")]
mod arm;
mod console;
#[cfg(target_arch = "riscv32")]
mod riscv;
mod stack;

use core::cell::UnsafeCell;
use core::hint::black_box;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use wattlock_ciphers::MAX_PADDING_B;

pub use console::{Console, exit};
pub use stack::{on_stack, stack_pointer};

/// The longest payload that the image has room for.
pub const LARGEST_PAYLOAD_B: usize = 16 * 1024;
/// The longest associated data.
pub const LARGEST_AAD_B: usize = 2 * 1024;
/// Room for the plan's lines.
const PLAN_B: usize = 16 * 1024;

/// What cases are carried out in.
pub struct Memory {
    /// The message.
    pub plain: [u8; LARGEST_PAYLOAD_B],
    /// Its ciphertext, with padding or tag.
    pub sealed: [u8; LARGEST_PAYLOAD_B + MAX_PADDING_B],
    /// What is written.
    pub output: [u8; LARGEST_PAYLOAD_B + 2 * MAX_PADDING_B],
    /// Associated data.
    pub aad: [u8; LARGEST_AAD_B],
}

struct Once {
    is_taken: AtomicBool,
    memory: UnsafeCell<Memory>,
}

// SAFETY: `memory` hands the inside out once, and there is one thread.
unsafe impl Sync for Once {}

static MEMORY: Once = Once {
    is_taken: AtomicBool::new(false),
    memory: UnsafeCell::new(Memory {
        plain: [0; LARGEST_PAYLOAD_B],
        sealed: [0; LARGEST_PAYLOAD_B + MAX_PADDING_B],
        output: [0; LARGEST_PAYLOAD_B + 2 * MAX_PADDING_B],
        aad: [0; LARGEST_AAD_B],
    }),
};

/// The memory for cases, once.
pub fn memory() -> Option<&'static mut Memory> {
    if MEMORY.is_taken.load(Ordering::Relaxed) {
        return None;
    }
    MEMORY.is_taken.store(true, Ordering::Relaxed);
    // SAFETY: nobody else has it, since it is handed out once.
    Some(unsafe { &mut *MEMORY.memory.get() })
}

/// The plan, which the host writes into the finished image.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".plan")]
#[allow(non_upper_case_globals, reason = "the host looks for it by this name")]
static wattlock_plan: [u8; PLAN_B] = [0; PLAN_B];

/// The bytes of the plan as they stand in the image that runs.
pub fn plan() -> &'static [u8] {
    // What the compiler sees is a table of zeros: it must not take it for what is there.
    black_box(&wattlock_plan)
}

unsafe extern "C" {
    safe fn wattlock_count_begin();
    safe fn wattlock_count_end();
}

/// How often something was carried out between the markers.
static REGIONS: AtomicU32 = AtomicU32::new(0);

/// The number of the last region, from 0.
pub fn last_region() -> u32 {
    REGIONS.load(Ordering::Relaxed).wrapping_sub(1)
}

/// Carries out `work` between the markers by which its instructions are counted.
#[inline(always)]
pub fn between_markers<T>(work: impl FnOnce() -> T) -> T {
    // ARMv6-M has no atomic addition, and nobody else adds.
    REGIONS.store(last_region().wrapping_add(2), Ordering::Relaxed);
    wattlock_count_begin();
    let result = work();
    wattlock_count_end();
    result
}

/// Makes `$run` what the image starts with.
macro_rules! entry {
    ($run:path) => {
        #[unsafe(no_mangle)]
        extern "C" fn wattlock_main() -> ! {
            $run()
        }
    };
}
pub(crate) use entry;
