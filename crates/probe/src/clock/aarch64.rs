//! AArch64: the virtual counter, and a chain of 32-bit `mul`, whose latency sources agree on for more cores than that of
//! the 64-bit one.

use core::arch::asm;

/// What the tick counter is.
pub const COUNTER: &str = "generic timer";

/// Cycles of `mul w, w, w` by the part of a core of Arm's: `(part, cycles)`. Others are not known by table.
///
/// Of the Cortex-A53 and A55 sources say 3 or 4; of the A73, A75, A77, A78 and X1 none was found that is their own.
///
/// # Source
/// LLVM 19, scheduling models of Cortex-A57, Neoverse N1, N2, V1, V2 and A510, a chain of 1,000 through llvm-mca; Arm,
/// Cortex-A72 and Cortex-A76 Software Optimization Guides, multiply accumulate, W-form.
const LATENCIES: [(u32, u64); 12] = [
    (0xd07, 3), // Cortex-A57
    (0xd08, 3), // Cortex-A72
    (0xd0b, 2), // Cortex-A76
    (0xd0c, 2), // Neoverse N1
    (0xd40, 2), // Neoverse V1
    (0xd46, 3), // Cortex-A510
    (0xd47, 2), // Cortex-A710
    (0xd48, 2), // Cortex-X2
    (0xd49, 2), // Neoverse N2
    (0xd4d, 2), // Cortex-A715
    (0xd4e, 2), // Cortex-X3
    (0xd4f, 2), // Neoverse V2
];

/// The implementer's number of Arm.
const ARM: u64 = 0x41;

/// The latency by the part of a core; `None` where the part is not known.
pub(super) fn multiply_latency_cycles(cpu: Option<u32>) -> Option<u64> {
    let cpu = cpu?;
    let file = format!("/sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
    let text = std::fs::read_to_string(file).ok()?;
    latency_of(u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()?)
}

/// By the main identification register: implementer in bits 31 to 24, part in bits 15 to 4.
fn latency_of(midr: u64) -> Option<u64> {
    let part = u32::try_from(midr >> 4 & 0xfff).ok()?;
    let known = LATENCIES.iter().find(|(known, _)| midr >> 24 & 0xff == ARM && *known == part);
    known.map(|(_, cycles)| *cycles)
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
            "mul {x:w}, {x:w}, {x:w}", "mul {x:w}, {x:w}, {x:w}", "mul {x:w}, {x:w}, {x:w}", "mul {x:w}, {x:w}, {x:w}",
            "mul {x:w}, {x:w}, {x:w}", "mul {x:w}, {x:w}, {x:w}", "mul {x:w}, {x:w}, {x:w}", "mul {x:w}, {x:w}, {x:w}",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            x = inout(reg) 3_u32 => _,
            n = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latency_is_known_of_arm_s_cores_in_the_table_and_of_no_other() {
        assert_eq!(latency_of(0x410f_d083), Some(3));
        assert_eq!(latency_of(0x413f_d0c1), Some(2));
        assert_eq!(latency_of(0x410f_d034), None, "Cortex-A53: sources disagree");
        assert_eq!(latency_of(0x510f_d083), None, "another maker's");
        assert_eq!(latency_of(0x000f_0510), None, "QEMU's own");
    }
}
