//! RISC-V: the time register, which every program may read, and a chain of `mul`. The cycle register may not be read.

use core::arch::asm;

/// What the tick counter is.
pub const COUNTER: &str = "time register";

/// The latency differs from core to core, and no core says what it is.
pub(super) fn multiply_latency_cycles(_cpu: Option<u32>) -> Option<u64> {
    None
}

/// By the device tree: the rate of the time register is the platform's.
///
/// # Source
/// The RISC-V Instruction Set Manual, volume I, Zicntr; Devicetree Specification, 3.8.1, `timebase-frequency`.
pub(super) fn rate() -> Option<u64> {
    let bytes = std::fs::read("/proc/device-tree/cpus/timebase-frequency").ok()?;
    let rate = match bytes.len() {
        4 => u64::from(u32::from_be_bytes(bytes.try_into().ok()?)),
        _ => u64::from_be_bytes(bytes.try_into().ok()?),
    };
    (rate > 0).then_some(rate)
}

#[inline]
pub(super) fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that user code may read; no memory is touched. The fences keep the read in order.
    unsafe { asm!("fence iorw, iorw", "rdtime {}", "fence iorw, iorw", out(reg) ticks, options(nostack)) };
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
            "addi {a}, {a}, 1", "addi {b}, {b}, 1", "addi {c}, {c}, 1", "addi {d}, {d}, 1",
            "addi {e}, {e}, 1", "addi {f}, {f}, 1", "addi {g}, {g}, 1", "addi {h}, {h}, 1",
            "addi {n}, {n}, -1",
            "bnez {n}, 2b",
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
            "addi {n}, {n}, -1",
            "bnez {n}, 2b",
            x = inout(reg) 3_u64 => _,
            n = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
}
