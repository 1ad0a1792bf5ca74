//! The console of a board with a debug probe: a ring in RAM that the probe reads while the core runs.
//!
//! # Source
//! SEGGER, UM08001 J-Link, RTT: the control block, its names, and a channel that waits while its ring is full (mode 2);
//! probe-rs finds it by the symbol `_SEGGER_RTT`.

use core::cell::UnsafeCell;
use core::ptr::write_volatile;
use core::sync::atomic::{AtomicU32, Ordering};

/// More than the lines of a case: nothing waits while cycles are counted, since nothing is said then.
const RING_B: u32 = 1024;
const WAITS_WHILE_FULL: u32 = 2;

struct Ring(UnsafeCell<[u8; RING_B as usize]>);

// SAFETY: one thread writes, and the debug probe reads what the block says is written.
unsafe impl Sync for Ring {}

static RING: Ring = Ring(UnsafeCell::new([0; RING_B as usize]));

/// One channel up, none down.
#[repr(C)]
struct Block {
    id: [u8; 16],
    up: u32,
    down: u32,
    name: *const u8,
    ring: *const Ring,
    ring_B: u32,
    written: AtomicU32,
    read: AtomicU32,
    mode: AtomicU32,
}

// SAFETY: what changes is atomic; the pointers are of statics.
unsafe impl Sync for Block {}

#[used]
#[unsafe(export_name = "_SEGGER_RTT")]
static BLOCK: Block = Block {
    id: *b"SEGGER RTT\0\0\0\0\0\0",
    up: 1,
    down: 0,
    name: c"Terminal".as_ptr().cast(),
    ring: &raw const RING,
    ring_B: RING_B,
    written: AtomicU32::new(0),
    read: AtomicU32::new(0),
    mode: AtomicU32::new(WAITS_WHILE_FULL),
};

/// Sends a byte; waits while the ring is full.
pub fn send(byte: u8) {
    let place = BLOCK.written.load(Ordering::Relaxed);
    let next = (place + 1) % RING_B;
    while BLOCK.read.load(Ordering::Acquire) == next {}
    // SAFETY: the place lies in the ring, and the probe reads it after `written` has passed it.
    unsafe { write_volatile(RING.0.get().cast::<u8>().wrapping_add(place as usize), byte) };
    BLOCK.written.store(next, Ordering::Release);
}
