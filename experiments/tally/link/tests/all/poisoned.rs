//! No branch and no address depends on a secret, as valgrind's memcheck sees the optimised code (`examples/poisoned.rs`).

use std::path::PathBuf;
use std::process::{Command, Output};

use wattlock_test_tools as tools;

/// What memcheck's runs end with that reported something.
const REPORTED: i32 = 9;

/// The program as it is used: optimised, and without the assertions of a test's build.
fn program() -> PathBuf {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut build = Command::new(env!("CARGO"));
    build.args([
        "build",
        "--quiet",
        "--release",
        "--locked",
        "-p",
        "wattlock-tally",
        "--features",
        "watched",
        "--example",
        "poisoned",
    ]);
    assert!(build.current_dir(&folder).status().unwrap().success());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder.join("target"), PathBuf::from);
    target.join("release/examples/poisoned")
}

fn watched(program: &PathBuf, part: &str) -> Output {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", &format!("--error-exitcode={REPORTED}")]).arg(program).arg(part);
    valgrind.output().unwrap()
}

#[test]
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    ignore = "requests to valgrind are written for x86-64"
)]
fn no_branch_and_no_address_depends_on_a_secret() {
    if !tools::is_installed("valgrind", "valgrind") {
        return;
    }
    let program = program();
    for part in ["sealing", "hearing", "flights"] {
        let output = watched(&program, part);
        assert!(output.status.success(), "{part}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for (part, reported) in [
        ("control-compare", "Conditional jump or move depends on uninitialised value"),
        ("control-hearing", "Conditional jump or move depends on uninitialised value"),
        ("control-sealed", "Use of uninitialised value"),
        ("control-address", "Use of uninitialised value"),
    ] {
        let output = watched(&program, part);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(REPORTED) && said.contains(reported), "{part}: {said}");
    }
}
