//! A library that wattlock can weigh, in Rust: XTEA (Needham & Wheeler, "Tea extensions", 1997) in ECB, words big-endian.
//!
//!     rustc --edition 2024 -O --crate-type cdylib -o xtea_rs.so examples/library/xtea.rs
//!     wattlock-probe selftest --library ./xtea_rs.so
//!
//! In a crate of your own the four functions stand in a `cdylib` beside it (`crate-type = ["cdylib"]`), each a few lines
//! about its key setup and its `encrypt`. What they promise is in `crates/providers/include/wattlock_cipher.h`.
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `input_B` counts bytes")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;
use std::slice::{from_raw_parts, from_raw_parts_mut};

const ABI: u32 = 1;
const BLOCK_B: usize = 8;
const KEY_B: usize = 16;
const FAILED: i64 = -1;
const NO_SUCH_OPERATION: i64 = -2;
const BAD_PADDING: i64 = -4;

/// The cipher: what is weighed.
struct Xtea {
    round_keys: [u32; 64],
}

impl Xtea {
    fn new(key: &[u8; KEY_B]) -> Self {
        let word = |at: u32| u32::from_be_bytes(std::array::from_fn(|byte| key[4 * at as usize + byte]));
        let (mut round_keys, mut sum) = ([0; 64], 0_u32);
        for pair in round_keys.chunks_exact_mut(2) {
            pair[0] = sum.wrapping_add(word(sum & 3));
            sum = sum.wrapping_add(0x9e37_79b9);
            pair[1] = sum.wrapping_add(word(sum >> 11 & 3));
        }
        Self { round_keys }
    }

    fn encrypt(&self, block: u64) -> u64 {
        let (mut left, mut right) = ((block >> 32) as u32, block as u32);
        for pair in self.round_keys.chunks_exact(2) {
            left = left.wrapping_add(mix(right) ^ pair[0]);
            right = right.wrapping_add(mix(left) ^ pair[1]);
        }
        u64::from(left) << 32 | u64::from(right)
    }

    fn decrypt(&self, block: u64) -> u64 {
        let (mut left, mut right) = ((block >> 32) as u32, block as u32);
        for pair in self.round_keys.chunks_exact(2).rev() {
            right = right.wrapping_sub(mix(left) ^ pair[1]);
            left = left.wrapping_sub(mix(right) ^ pair[0]);
        }
        u64::from(left) << 32 | u64::from(right)
    }
}

fn mix(word: u32) -> u32 {
    (word << 4 ^ word >> 5).wrapping_add(word)
}

/// Whole blocks through a function, and the bytes of them.
fn blocks(input: &[u8], output: &mut [u8], through: impl Fn(u64) -> u64) -> usize {
    for (from, to) in input.chunks_exact(BLOCK_B).zip(output.chunks_exact_mut(BLOCK_B)) {
        let block = u64::from_be_bytes(from.try_into().expect("a block of eight bytes"));
        to.copy_from_slice(&through(block).to_be_bytes());
    }
    input.len() / BLOCK_B * BLOCK_B
}

fn encrypt_padded(cipher: &Xtea, input: &[u8], output: &mut [u8]) -> i64 {
    let whole_B = blocks(input, output, |block| cipher.encrypt(block));
    let rest = &input[whole_B..];
    let mut last = [(BLOCK_B - rest.len()) as u8; BLOCK_B];
    last[..rest.len()].copy_from_slice(rest);
    (whole_B + blocks(&last, &mut output[whole_B..], |block| cipher.encrypt(block))) as i64
}

fn decrypt_padded(cipher: &Xtea, input: &[u8], output: &mut [u8]) -> i64 {
    let whole_B = blocks(input, output, |block| cipher.decrypt(block));
    let padding_B = output[..whole_B].last().map_or(0, |last| usize::from(*last));
    let is_padded = (1..=BLOCK_B).contains(&padding_B)
        && output[whole_B - padding_B..whole_B].iter().all(|byte| usize::from(*byte) == padding_B);
    if is_padded { (whole_B - padding_B) as i64 } else { BAD_PADDING }
}

#[unsafe(no_mangle)]
pub extern "C" fn wattlock_ciphers(abi: u32) -> *const c_char {
    if abi == ABI { c"1.0.0\nxtea-ecb portable\n".as_ptr() } else { null_mut() }
}

/// # Safety
/// As the header says: `key` has `key_B` bytes, and `reuse` is null or a context of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wattlock_key_setup(
    cipher: usize,
    key: *const u8,
    key_B: usize,
    _direction: c_int,
    reuse: *mut c_void,
) -> *mut c_void {
    if cipher != 0 || key_B != KEY_B {
        return null_mut();
    }
    // SAFETY: there are KEY_B bytes.
    let made = Xtea::new(unsafe { &*key.cast::<[u8; KEY_B]>() });
    if reuse.is_null() {
        return Box::into_raw(Box::new(made)).cast();
    }
    // SAFETY: it is a context that nobody uses any more.
    unsafe { reuse.cast::<Xtea>().write(made) };
    reuse
}

/// # Safety
/// As the header says: a context of this library, and buffers of the lengths given that do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wattlock_process(
    context: *mut c_void,
    operation: c_int,
    _iv: *const u8,
    _iv_B: usize,
    _aad: *const u8,
    _aad_B: usize,
    input: *const u8,
    input_B: usize,
    output: *mut u8,
    output_room_B: usize,
) -> i64 {
    if input.is_null() || output.is_null() {
        return FAILED;
    }
    // SAFETY: the caller's promise.
    let (cipher, input, output) = unsafe {
        (&*context.cast::<Xtea>(), from_raw_parts(input, input_B), from_raw_parts_mut(output, output_room_B))
    };
    match operation {
        0 => encrypt_padded(cipher, input, output),
        1 => decrypt_padded(cipher, input, output),
        4 => blocks(input, output, |block| cipher.encrypt(block)) as i64,
        5 => blocks(input, output, |block| cipher.decrypt(block)) as i64,
        _ => NO_SUCH_OPERATION,
    }
}

/// # Safety
/// `context` is null or of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wattlock_free(context: *mut c_void) {
    if !context.is_null() {
        // SAFETY: it was made by `wattlock_key_setup`.
        drop(unsafe { Box::from_raw(context.cast::<Xtea>()) });
    }
}
