//! What the processor and the emulator decide: start and faults, the stack, the markers, the console.
//!
//! The one place of the image where `unsafe` stands: assembly, memory that the linker lays out, and what reads it.

#[cfg(feature = "adapter")]
pub mod adapter;
#[cfg(target_arch = "arm")]
mod arm;
#[cfg(feature = "rp2040-w25q080")]
mod boot;
#[cfg(on_board)]
mod clock;
#[cfg(not(on_board))]
mod console;
#[cfg(on_board)]
mod machine;
#[cfg(target_arch = "riscv32")]
mod riscv;
#[cfg(on_rtt)]
mod rtt;
#[cfg(on_board)]
mod serial;
mod stack;
#[cfg(all(on_board, not(on_rtt)))]
mod uart;

use core::cell::UnsafeCell;
#[cfg(any(not(on_board), on_rtt))]
use core::hint::black_box;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use wattlock_ciphers::MAX_PADDING_B;

#[cfg(not(on_board))]
use console as host;
#[cfg(on_board)]
use serial as host;

pub use host::{Console, exit};
#[cfg(on_board)]
pub use machine::IMAGE;
#[cfg(all(on_board, not(on_rtt)))]
pub use serial::{LONGEST_LINE_B, line};
pub use stack::{on_stack, stack_pointer};

/// The longest payload that the image has room for.
#[cfg(not(on_board))]
pub const LARGEST_PAYLOAD_B: usize = 16 * 1024;
#[cfg(on_board)]
pub use machine::LARGEST_PAYLOAD_B;
/// The longest associated data.
pub const LARGEST_AAD_B: usize = 2 * 1024;
/// Room for the plan's lines.
#[cfg(any(not(on_board), on_rtt))]
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
#[cfg(any(not(on_board), on_rtt))]
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".plan")]
#[allow(non_upper_case_globals, reason = "the host looks for it by this name")]
static wattlock_plan: [u8; PLAN_B] = [0; PLAN_B];

/// The bytes of the plan as they stand in the image that runs.
#[cfg(any(not(on_board), on_rtt))]
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
    #[cfg(on_board)]
    let from = clock::before();
    let result = work();
    #[cfg(on_board)]
    {
        LAST_BUT_ONE.store(LAST.load(Ordering::Relaxed), Ordering::Relaxed);
        LAST.store(clock::since(from), Ordering::Relaxed);
    }
    wattlock_count_end();
    result
}

/// What the clock said of the last two regions.
#[cfg(on_board)]
static LAST: AtomicU32 = AtomicU32::new(0);
#[cfg(on_board)]
static LAST_BUT_ONE: AtomicU32 = AtomicU32::new(0);

/// Cycles of the last two regions, the earlier first; `u32::MAX` is more than the clock counts.
#[cfg(on_board)]
pub fn ticks() -> [u32; 2] {
    [LAST_BUT_ONE.load(Ordering::Relaxed), LAST.load(Ordering::Relaxed)]
}

/// Rounds of the loop by which the host sees whether the clock is the core's.
#[cfg(on_board)]
pub const KNOWN_ROUNDS: u32 = 20_000;

/// What the clock says of that loop.
#[cfg(on_board)]
pub fn known_loop() -> u32 {
    clock::known_loop(KNOWN_ROUNDS)
}

/// Lets the UART and the clock run.
#[cfg(on_board)]
pub fn start() {
    serial::start();
    clock::start();
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
