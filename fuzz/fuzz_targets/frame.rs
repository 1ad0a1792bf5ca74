//! `wattlock_fuzz::frame` under libFuzzer: `cargo +nightly fuzz run frame --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    wattlock_fuzz::frame(bytes);
});
