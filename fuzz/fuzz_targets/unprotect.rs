//! `wattlock_fuzz::unprotect` under libFuzzer: `cargo +nightly fuzz run unprotect --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    wattlock_fuzz::unprotect(bytes);
});
