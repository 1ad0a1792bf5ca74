//! `wattlock_tally_fuzz::tally_gateway` under libFuzzer: `cargo +nightly fuzz run tally_gateway --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    wattlock_tally_fuzz::tally_gateway(bytes);
});
