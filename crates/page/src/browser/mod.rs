//! The module's imports and exports.
//!
//! A question is JSON: the page asks for room by `room`, writes it there, and calls `answer`.

use std::panic;

use wattlock_ciphers::Mode;

use crate::battery::Gauge;
use crate::clock::{Time, add_burst, multiply_chain};
use crate::verbs::{self, Browser};
use crate::webcrypto::Subtle;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// The monotonic clock, nanoseconds.
    safe fn now_ns() -> f64;
    /// Time since 1970-01-01 UTC, nanoseconds.
    safe fn unix_ns() -> f64;
    /// Receives lines of the answer.
    fn write(text: *const u8, length_B: usize);
    /// Receives what went wrong.
    fn complain(text: *const u8, length_B: usize);
    /// A key of WebCrypto for CBC (0), CTR (1) or GCM (2), by a number above 0.
    fn crypto_key(mode: u32, key: *const u8, length_B: usize) -> u32;
    /// One message of WebCrypto; the bytes written, below 0 where it is refused.
    fn crypto_run(
        key: u32,
        decrypts: u32,
        iv: *const u8,
        iv_B: usize,
        aad: *const u8,
        aad_B: usize,
        input: *const u8,
        input_B: usize,
        output: *mut u8,
        output_B: usize,
    ) -> i32;
    /// A key is used no more.
    safe fn crypto_forget(key: u32);
    /// The battery's level, percent; below 0 where it is not told.
    safe fn battery_percent() -> i32;
    /// 1 while the battery is charged.
    safe fn battery_charges() -> i32;
}

/// The page's time.
struct PageTime;

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole nanoseconds above 0, below 2^63")]
impl Time for PageTime {
    fn now(&mut self) -> u64 {
        now_ns() as u64
    }

    fn unix(&mut self) -> u64 {
        unix_ns() as u64
    }
}

/// The browser's own ciphers.
struct BrowserCrypto;

impl Subtle for BrowserCrypto {
    fn key(&self, mode: Mode, key: &[u8]) -> Option<u32> {
        let number = match mode {
            Mode::Cbc => 0,
            Mode::Ctr => 1,
            _ => 2,
        };
        // SAFETY: the page reads so many bytes of a key that lives until it returns.
        Some(unsafe { crypto_key(number, key.as_ptr(), key.len()) }).filter(|key| *key > 0)
    }

    fn run(&self, key: u32, decrypts: bool, iv: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Option<usize> {
        // SAFETY: the page reads and writes so many bytes of slices that live until it returns; while it does not the
        // module is suspended, and nothing else of it runs.
        let written = unsafe {
            crypto_run(
                key,
                u32::from(decrypts),
                iv.as_ptr(),
                iv.len(),
                aad.as_ptr(),
                aad.len(),
                input.as_ptr(),
                input.len(),
                output.as_mut_ptr(),
                output.len(),
            )
        };
        usize::try_from(written).ok()
    }

    fn forget(&self, key: u32) {
        crypto_forget(key);
    }
}

/// The device's battery.
struct BrowserGauge;

impl Gauge for BrowserGauge {
    fn percent(&self) -> Option<u8> {
        u8::try_from(battery_percent()).ok().filter(|percent| *percent <= 100)
    }

    fn charges(&self) -> bool {
        battery_charges() != 0
    }
}

fn complain_of(text: &str) {
    // SAFETY: the page reads so many bytes of a text that lives until it returns.
    unsafe { complain(text.as_ptr(), text.len()) }
}

/// Room for a question of so many bytes; `answer` frees it.
#[unsafe(no_mangle)]
pub extern "C" fn room(length_B: usize) -> *mut u8 {
    Box::leak(vec![0_u8; length_B].into_boxed_slice()).as_mut_ptr()
}

/// Answers the question that was written to `room`; 0 where it went well.
///
/// # Safety
/// `text` is what `room` gave for `length_B`, and is used once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(text: *mut u8, length_B: usize) -> i32 {
    panic::set_hook(Box::new(|about| complain_of(&about.to_string())));
    // SAFETY: as the caller promises.
    let question = unsafe { Vec::from_raw_parts(text, length_B, length_B) };
    // SAFETY: the page reads so many bytes of lines that live until it returns.
    let mut out = |lines: &[u8]| unsafe { write(lines.as_ptr(), lines.len()) };
    let answered = String::from_utf8(question).map_err(|error| error.to_string()).and_then(|question| {
        let browser = Browser { time: PageTime, subtle: &BrowserCrypto, gauge: &BrowserGauge };
        verbs::answer(&question, browser, &mut out)
    });
    match answered {
        Ok(()) => 0,
        Err(error) => {
            complain_of(&error);
            1
        }
    }
}

/// So many multiplications of a canary, by which the page finds how long one is.
#[unsafe(no_mangle)]
pub extern "C" fn multiply(count: u32) {
    multiply_chain(u64::from(count));
}

/// So many additions of a burst.
#[unsafe(no_mangle)]
pub extern "C" fn add(count: u32) {
    add_burst(u64::from(count));
}
