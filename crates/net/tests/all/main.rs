//! `wattlock-net` from outside: one program of tests, a file a verb, and handshakes.
#![allow(clippy::unwrap_used, clippy::panic, non_snake_case)]

mod air;
mod capture;
mod frames;
mod handshakes;
mod media;
mod transfer;

use std::process::Command;

#[test]
fn wrong_usage_of_every_verb_is_one_error_and_one_hint() {
    for verb in ["air", "capture", "frames", "transfer", "schema"] {
        let done = Command::new(env!("CARGO_BIN_EXE_wattlock-net")).args([verb, "--nonesuch"]).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!((done.status.code(), said.lines().count()), (Some(2), 2), "{said}");
        assert!(said.starts_with("error: ") && said.contains("--nonesuch"), "{said}");
        assert!(said.contains(&format!("`wattlock-net {verb} --help`")), "{said}");
    }
}
