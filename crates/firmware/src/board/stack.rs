//! The stack: painted before a call, looked at after it; and what happens when it, or anything else, goes wrong.

use core::ffi::c_void;
use core::fmt::Write as _;
use core::ptr;

use super::host::{Console, exit};

/// What unused stack holds.
const PAINT: u32 = 0x5741_5454;
/// The smallest room that a call gets, whatever is asked for.
const LEAST_B: usize = 64;
/// Between the stack of `on_stack` and that of its caller.
const GAP_B: usize = 256;
/// A stack pointer is a multiple of this.
const ALIGNMENT_B: usize = 16;

unsafe extern "C" {
    static _stack_bottom: u32;
    static _stack_top: u32;
    safe fn wattlock_stack_pointer() -> usize;
    fn wattlock_on_stack(top: usize, call: extern "C" fn(*mut c_void), context: *mut c_void);
}

fn bottom() -> usize {
    &raw const _stack_bottom as usize
}

/// Where the stack stands.
#[inline(always)]
pub fn stack_pointer() -> usize {
    wattlock_stack_pointer()
}

/// Calls `work` on a stack of its own, the lowest of the memory; gives the lowest address that it wrote to.
///
/// * `size_B`: its room; 0 for all that there is. One who needs more leaves the memory and ends in [`wattlock_fault`].
pub fn on_stack(size_B: usize, work: &mut dyn FnMut()) -> usize {
    extern "C" fn call(context: *mut c_void) {
        // SAFETY: the context is the one given below, which outlives the call.
        let work = unsafe { &mut *context.cast::<&mut dyn FnMut()>() };
        work();
    }
    let most = stack_pointer().saturating_sub(GAP_B);
    let asked = if size_B == 0 { most } else { bottom().saturating_add(size_B.max(LEAST_B)).min(most) };
    let top = asked / ALIGNMENT_B * ALIGNMENT_B;
    for address in (bottom()..top).step_by(size_of::<u32>()) {
        // SAFETY: a word of the stack's room, below all that is in use.
        unsafe { ptr::write_volatile(address as *mut u32, PAINT) };
    }
    let mut work = work;
    // SAFETY: the room between bottom and top belongs to nobody; the context is what `call` takes it for.
    unsafe { wattlock_on_stack(top, call, (&raw mut work).cast()) };
    let is_painted = |address: &usize| {
        // SAFETY: a word of the stack's room.
        unsafe { ptr::read_volatile(*address as *const u32) == PAINT }
    };
    (bottom()..top).step_by(size_of::<u32>()).find(|address| !is_painted(address)).unwrap_or(top)
}

/// What the fault handlers of the processor call, on a fresh stack: says what happened and ends.
///
/// * `cause`: the number of the exception. `stack`: where the stack stood.
#[unsafe(no_mangle)]
extern "C" fn wattlock_fault(cause: usize, stack: usize) -> ! {
    let top = &raw const _stack_top as usize;
    let is_overrun = stack < bottom() + LEAST_B || stack > top;
    let _ = writeln!(Console, "fault {} {cause}", if is_overrun { "stack" } else { "other" });
    exit(false)
}
