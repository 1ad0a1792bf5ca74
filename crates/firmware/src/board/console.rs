//! The console: semihosting, which the emulator answers, so that no debugger is needed.

use core::fmt;

/// Writes text up to a zero byte; ends the program, with success or without.
///
/// # Source
/// Arm, Semihosting for AArch32 and AArch64, 2.0, 6: SYS_WRITE0, SYS_EXIT and its reasons.
const SYS_WRITE0: usize = 0x04;
const SYS_EXIT: usize = 0x18;
const STOPPED_APPLICATION_EXIT: usize = 0x2_0026;
const STOPPED_RUN_TIME_ERROR: usize = 0x2_0023;

/// Text goes out in pieces of this size.
const PIECE_B: usize = 127;

unsafe extern "C" {
    fn wattlock_semihosting(operation: usize, argument: usize) -> usize;
}

/// Where the image writes what it has to say.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for piece in text.as_bytes().chunks(PIECE_B) {
            let mut ended = [0_u8; PIECE_B + 1];
            ended[..piece.len()].copy_from_slice(piece);
            // SAFETY: the argument is the address of text that ends in a zero byte.
            unsafe { wattlock_semihosting(SYS_WRITE0, ended.as_ptr() as usize) };
        }
        Ok(())
    }
}

/// Ends the emulator.
pub fn exit(is_success: bool) -> ! {
    let reason = if is_success { STOPPED_APPLICATION_EXIT } else { STOPPED_RUN_TIME_ERROR };
    // SAFETY: the argument is a reason that semihosting knows.
    unsafe { wattlock_semihosting(SYS_EXIT, reason) };
    #[allow(clippy::empty_loop, reason = "nobody answered: there is nothing left to do")]
    loop {}
}
