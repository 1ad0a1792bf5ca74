//! x86-64: the time-stamp counter, and a chain of `imul`.

use core::arch::asm;
use core::arch::x86_64::{_mm_lfence, _rdtsc};

/// `imul r64, r64` has a latency of 3 cycles on all of Intel's cores since Nehalem and AMD's since Zen 2.
///
/// # Source
/// Fog, Instruction tables (2024); Abel and Reineke, uops.info (2019), IMUL (R64, R64).
pub(super) const MULTIPLY_LATENCY_CYCLES: Option<u64> = Some(3);

/// The rate is not told by the processor in a way that all of them share: it is measured.
pub(super) fn rate() -> Option<u64> {
    None
}

#[inline]
pub(super) fn ticks() -> u64 {
    // SAFETY: both instructions exist on every x86-64 processor and touch no memory. The fences keep the read in
    // order with the instructions around it.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

/// Carries out `count` additions (rounded up to eight) that don't wait for one another.
#[inline(never)]
pub(super) fn add_burst(count: u64) {
    let rounds = count.div_ceil(8).max(1);
    // SAFETY: works on registers alone; flags are declared as changed by default.
    unsafe {
        asm!(
            "2:",
            "add {a}, 1", "add {b}, 1", "add {c}, 1", "add {d}, 1",
            "add {e}, 1", "add {f}, 1", "add {g}, 1", "add {h}, 1",
            "dec {n}",
            "jnz 2b",
            a = inout(reg) 0_u64 => _, b = inout(reg) 0_u64 => _,
            c = inout(reg) 0_u64 => _, d = inout(reg) 0_u64 => _,
            e = inout(reg) 0_u64 => _, f = inout(reg) 0_u64 => _,
            g = inout(reg) 0_u64 => _, h = inout(reg) 0_u64 => _,
            n = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
}

/// Carries out `count` multiplications (rounded up to eight), each of which waits for the one before.
#[inline(never)]
pub(super) fn multiply_chain(count: u64) {
    let rounds = count.div_ceil(8).max(1);
    // SAFETY: works on registers alone; flags are declared as changed by default.
    unsafe {
        asm!(
            "2:",
            "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}",
            "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}",
            "dec {n}",
            "jnz 2b",
            x = inout(reg) 3_u64 => _,
            n = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
}
