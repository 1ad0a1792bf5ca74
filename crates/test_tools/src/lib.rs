//! What a test may want beside the programs: programs of others, and files of its own. Nothing but tests links this.
#![forbid(unsafe_code)]
#![allow(clippy::expect_used, reason = "a test fails by it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The build's folder for tests.
const TEMPORARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tmp");

/// A path of this run's own: two runs of the tests at once don't write each other's files.
///
/// # Panics
/// Where the build's folder can't be written to.
#[must_use]
pub fn own(name: &str) -> PathBuf {
    let folder = Path::new(TEMPORARY).join(std::process::id().to_string());
    std::fs::create_dir_all(&folder).expect("the build's folder can be written to");
    folder.canonicalize().expect("it was made just now").join(name)
}

/// Says that a test could not test: fails where `WATTLOCK_REQUIRE_TOOLS` is set, as where CI has installed what is wanted;
/// elsewhere it goes into the file that `make test` shows at its end. A passing test's own words nobody reads.
///
/// # Panics
/// Where the tools are required, or the list can't be written.
pub fn missing(what: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    assert!(std::env::var_os("WATTLOCK_REQUIRE_TOOLS").is_none(), "{test} wants {what}, and it is missing");
    let list = Path::new(TEMPORARY).with_file_name("untested");
    let line = format!("{test}: {what} is missing\n");
    std::fs::create_dir_all(TEMPORARY).expect("the build's folder can be written to");
    let mut options = std::fs::OpenOptions::new();
    let written = options.create(true).append(true).open(list);
    written
        .and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes()))
        .expect("the list can be written");
}

/// Whether a program is installed; where it is not, see [`missing`].
#[must_use]
pub fn is_installed(program: &str, package: &str) -> bool {
    let is_there = Command::new(program).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !is_there {
        missing(&format!("{program} (apt install {package})"));
    }
    is_there
}
