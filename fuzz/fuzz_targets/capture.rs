//! `wattlock_fuzz::capture` under libFuzzer: `cargo +nightly fuzz run capture --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    wattlock_fuzz::capture(bytes);
});
