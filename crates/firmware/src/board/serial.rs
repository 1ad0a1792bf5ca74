//! The console of a board: a UART, or a debug probe by RTT. Each line ends in `*` and the CRC of what stands before it, in
//! both directions, so that a lost or wrong byte is noticed.

use core::fmt;
use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{AtomicU32, Ordering};

use super::machine::START;
#[cfg(on_rtt)]
use super::rtt::send;
#[cfg(not(on_rtt))]
use super::uart::{receive, send};

/// A line of the plan is shorter.
#[cfg(not(on_rtt))]
pub const LONGEST_LINE_B: usize = 256;
/// What a CRC starts with.
const CRC_START: u32 = 0xffff;

/// CRC-16 with the polynomial of CCITT, a byte more.
fn crc(so_far: u32, byte: u8) -> u32 {
    let mixed = so_far ^ (u32::from(byte) << 8);
    (0..8).fold(mixed, |crc, _| if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }) & 0xffff
}

/// Writes the registers that let clocks, pins and the UART work.
pub fn start() {
    for step in START {
        let address = step.address as *mut u32;
        // SAFETY: a register of the board that the image is for.
        unsafe {
            // A register that is only waited for may not be written.
            if step.clear | step.set != 0 {
                write_volatile(address, (read_volatile(address) & !step.clear) | step.set);
            }
            while read_volatile(address) & step.wait != step.wait {}
        }
    }
}

/// The next line that the host sends, without its CRC; `None` where it is not whole.
#[cfg(not(on_rtt))]
pub fn line(buffer: &mut [u8; LONGEST_LINE_B]) -> Option<&str> {
    let mut length = 0;
    loop {
        match receive() {
            b'\n' => break,
            byte => {
                if let Some(place) = buffer.get_mut(length) {
                    *place = byte;
                }
                length += 1;
            }
        }
    }
    let whole = core::str::from_utf8(buffer.get(..length)?).ok()?;
    let (text, sum) = whole.rsplit_once('*')?;
    let right = text.bytes().fold(CRC_START, crc);
    (u32::from_str_radix(sum, 16) == Ok(right)).then_some(text)
}

/// The CRC of the line that is being written.
static WRITTEN: AtomicU32 = AtomicU32::new(CRC_START);

/// Where the image writes what it has to say.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if byte == b'\n' {
                let sum = WRITTEN.load(Ordering::Relaxed);
                send(b'*');
                for shift in [12, 8, 4, 0] {
                    send(b"0123456789abcdef"[(sum >> shift) as usize & 15]);
                }
                WRITTEN.store(CRC_START, Ordering::Relaxed);
            } else {
                WRITTEN.store(crc(WRITTEN.load(Ordering::Relaxed), byte), Ordering::Relaxed);
            }
            send(byte);
        }
        Ok(())
    }
}

/// Ends: the host takes the board away from an image that has said all.
#[cfg(on_rtt)]
#[allow(clippy::empty_loop, reason = "there is nothing left to do")]
pub fn exit(_is_success: bool) -> ! {
    loop {}
}

/// Starts the board anew: a panic and a fault are of one case, and others follow.
#[cfg(not(on_rtt))]
pub fn exit(_is_success: bool) -> ! {
    #[cfg(target_arch = "arm")]
    // SAFETY: AIRCR with its key and SYSRESETREQ (Arm, ARMv6-M Architecture Reference Manual, B3.2.6).
    unsafe {
        write_volatile(0xe000_ed0c as *mut u32, 0x05fa_0004);
    }
    #[cfg(target_arch = "riscv32")]
    // SAFETY: what the core starts with; it sets the stack and all variables.
    unsafe {
        core::arch::asm!("j _start", options(noreturn));
    }
    #[cfg(target_arch = "arm")]
    #[allow(clippy::empty_loop, reason = "the reset comes in some cycles")]
    loop {}
}
