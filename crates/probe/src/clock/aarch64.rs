//! AArch64: the virtual counter, and a chain of `mul`.

use core::arch::asm;

/// The latency differs from core to core: without a table of sourced values cycles stay unknown and ratios alone hold.
pub(super) fn multiply_latency_cycles() -> Option<u64> {
    None
}

/// The counter tells its own rate.
pub(super) fn rate() -> Option<u64> {
    let rate: u64;
    // SAFETY: reads a register that user code may read; no memory is touched.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack)) };
    (rate > 0).then_some(rate)
}

#[inline]
pub(super) fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that user code may read; the barriers keep the read in order.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// Carries out `count` additions (rounded up to eight) that don't wait for one another.
#[inline(never)]
pub(super) fn add_burst(count: u64) {
    let rounds = count.div_ceil(8).max(1);
    // SAFETY: works on registers alone.
    unsafe {
        asm!(
            "2:",
            "add {a}, {a}, #1", "add {b}, {b}, #1", "add {c}, {c}, #1", "add {d}, {d}, #1",
            "add {e}, {e}, #1", "add {f}, {f}, #1", "add {g}, {g}, #1", "add {h}, {h}, #1",
            "subs {n}, {n}, #1",
            "b.ne 2b",
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
    // SAFETY: works on registers alone.
    unsafe {
        asm!(
            "2:",
            "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}",
            "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            x = inout(reg) 3_u64 => _,
            n = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
}
