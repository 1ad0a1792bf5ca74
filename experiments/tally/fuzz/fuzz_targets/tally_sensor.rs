//! `wattlock_tally_fuzz::tally_sensor` under libFuzzer: `cargo +nightly fuzz run tally_sensor --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    wattlock_tally_fuzz::tally_sensor(bytes);
});
