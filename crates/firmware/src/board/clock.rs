//! The clock of a board: the counter that its core has.
//!
//! # Source
//! Arm, `ARMv6`-M Architecture Reference Manual, B3.3 (`SysTick`); `ARMv7`-M, B3.3 and C1.8 (DEMCR, DWT); The RISC-V
//! Instruction Set Manual, volume II, 3.1.10 (`mcycle`).

#[cfg(target_arch = "arm")]
use core::ptr::{read_volatile, write_volatile};

use super::machine::{CLOCK, Clock};

#[cfg(target_arch = "arm")]
mod registers {
    pub const SYST_CSR: *mut u32 = 0xe000_e010 as *mut u32;
    pub const SYST_RVR: *mut u32 = 0xe000_e014 as *mut u32;
    pub const SYST_CVR: *mut u32 = 0xe000_e018 as *mut u32;
    pub const DEMCR: *mut u32 = 0xe000_edfc as *mut u32;
    pub const DWT_CTRL: *mut u32 = 0xe000_1000 as *mut u32;
    pub const DWT_CYCCNT: *mut u32 = 0xe000_1004 as *mut u32;
    /// Enabled, by the processor's clock, no exception.
    pub const SYST_ON: u32 = 0b101;
    pub const SYST_COUNTFLAG: u32 = 1 << 16;
    pub const SYST_GREATEST: u32 = 0x00ff_ffff;
    pub const DEMCR_TRCENA: u32 = 1 << 24;
    pub const DWT_CYCCNTENA: u32 = 1;
}

/// A call took more than the clock counts.
#[cfg(target_arch = "arm")]
pub const TOO_LONG: u32 = u32::MAX;

/// Lets the clock run.
#[cfg(target_arch = "arm")]
pub fn start() {
    use registers::{DEMCR, DEMCR_TRCENA, DWT_CTRL, DWT_CYCCNTENA, SYST_CSR, SYST_GREATEST, SYST_ON, SYST_RVR};
    // SAFETY: registers that every core with this clock has; nobody else uses them.
    unsafe {
        match CLOCK {
            Clock::Dwt => {
                write_volatile(DEMCR, read_volatile(DEMCR) | DEMCR_TRCENA);
                write_volatile(DWT_CTRL, read_volatile(DWT_CTRL) | DWT_CYCCNTENA);
            }
            _ => {
                write_volatile(SYST_RVR, SYST_GREATEST);
                write_volatile(SYST_CSR, SYST_ON);
            }
        }
    }
}

/// The clock before a call.
#[cfg(target_arch = "arm")]
#[inline(always)]
pub fn before() -> u32 {
    use registers::{DWT_CYCCNT, SYST_CVR};
    // SAFETY: as above.
    unsafe {
        match CLOCK {
            Clock::Dwt => read_volatile(DWT_CYCCNT),
            _ => {
                // Counts down from its greatest, and its flag is lowered.
                write_volatile(SYST_CVR, 0);
                while read_volatile(SYST_CVR) == 0 {}
                read_volatile(SYST_CVR)
            }
        }
    }
}

/// What passed since `before`; [`TOO_LONG`] where the clock began anew.
#[cfg(target_arch = "arm")]
#[inline(always)]
pub fn since(before: u32) -> u32 {
    use registers::{DWT_CYCCNT, SYST_COUNTFLAG, SYST_CSR, SYST_CVR, SYST_GREATEST};
    // SAFETY: as above.
    unsafe {
        match CLOCK {
            Clock::Dwt => read_volatile(DWT_CYCCNT).wrapping_sub(before),
            _ => {
                let now = read_volatile(SYST_CVR);
                let has_wrapped = read_volatile(SYST_CSR) & SYST_COUNTFLAG != 0;
                if has_wrapped { TOO_LONG } else { before.wrapping_sub(now) & SYST_GREATEST }
            }
        }
    }
}

/// `rounds` of a loop of two instructions, whose cycles a core can't hide.
#[cfg(target_arch = "arm")]
pub fn known_loop(rounds: u32) -> u32 {
    let from = before();
    // SAFETY: counts a register down.
    unsafe {
        core::arch::asm!(
            "2: subs {0}, #1",
            "bne 2b",
            inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
    since(from)
}

/// Lets the clock run: `mcycle` does.
#[cfg(target_arch = "riscv32")]
pub fn start() {
    let _ = matches!(CLOCK, Clock::Mcycle);
}

/// The clock before a call.
#[cfg(target_arch = "riscv32")]
#[inline(always)]
pub fn before() -> u32 {
    let now;
    // SAFETY: reads a counter.
    unsafe { core::arch::asm!("csrr {0}, mcycle", out(reg) now, options(nomem, nostack)) };
    now
}

/// What passed since `before`.
#[cfg(target_arch = "riscv32")]
#[inline(always)]
pub fn since(from: u32) -> u32 {
    before().wrapping_sub(from)
}

/// `rounds` of a loop of two instructions, whose cycles a core can't hide.
#[cfg(target_arch = "riscv32")]
pub fn known_loop(rounds: u32) -> u32 {
    let from = before();
    // SAFETY: counts a register down.
    unsafe {
        core::arch::asm!(
            "2: addi {0}, {0}, -1",
            "bnez {0}, 2b",
            inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
    since(from)
}
