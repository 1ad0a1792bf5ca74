//! `wattlock-probe facts`: what is true of this device, before anything is measured on it.
#![forbid(unsafe_code)]

use std::fs::{self, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use wattlock_bench::share::ports::Clocks as _;
use wattlock_meters::thread;
use wattlock_records::{ClockFacts, Facts, SCHEMA};
use wattlock_terminal::failure::{Failure, deliver};

use crate::clock;
use crate::fingerprint;

/// How it is called.
pub const EXAMPLE: &str = "Example:\n  wattlock-probe facts";

/// Below `/sys`, as `wattlock-probe meters` looks there.
const METER_ROOTS: [&str; 4] = ["class/powercap", "devices/power", "class/hwmon", "class/power_supply"];

/// Where programs may be put, in the order in which they are tried: a folder of the user's own first.
const PROGRAM_FOLDERS: [&str; 5] = [".cache", "/data/local/tmp", "/var/tmp", "/tmp", "/dev/shm"];

/// Says what is true of this device: processor, cores by class, system, clocks, where meters may be, emulator or not.
///
/// One line of JSON.
#[derive(clap::Args)]
pub struct Options {}

/// Prints them.
///
/// # Errors
/// Standard output that can't be written (9).
pub fn run(_options: Options) -> Result<ExitCode, Failure> {
    let line = serde_json::to_string(&facts()).map_err(|error| Failure::new(9, error.to_string()))?;
    deliver(format!("{line}\n").as_bytes()).map(|()| ExitCode::SUCCESS)
}

fn facts() -> Facts {
    let processors = thread::allowed();
    let first = processors.first().copied();
    let print = fingerprint::take(first);
    let mut clock = clock::real(first);
    Facts {
        schema: SCHEMA,
        build: print.build,
        kernel: print.kernel,
        model_name: print.hardware.model_name,
        core_classes: fingerprint::core_classes(&processors),
        processors,
        page_B: page_B(),
        program_folder: folders().find(|folder| runs_programs(folder)).map(|folder| folder.display().to_string()),
        clocks: ClockFacts {
            counter: clock::COUNTER.to_owned(),
            ticks_per_second: clock.ticks_per_second(),
            canary_cycles: clock.canary_cycles(),
            unix_ns: clock.unix(),
        },
        meter_roots: METER_ROOTS
            .iter()
            .map(|root| format!("/sys/{root}"))
            .filter(|root| Path::new(root).is_dir())
            .collect(),
        emulator: print.virtualisation.emulator,
    }
}

fn folders() -> impl Iterator<Item = PathBuf> {
    let home = std::env::home_dir();
    PROGRAM_FOLDERS.iter().filter_map(move |folder| {
        let is_own = !folder.starts_with('/');
        if is_own { home.as_ref().map(|home| home.join(folder)) } else { Some(PathBuf::from(folder)) }
    })
}

/// Whether a program can be put into a folder and started there: tried with a script, which is gone afterwards.
fn runs_programs(folder: &Path) -> bool {
    let trial = || -> io::Result<bool> {
        let own = tempfile::Builder::new().prefix("wattlock-").tempdir_in(folder)?;
        let script = own.path().join("trial");
        fs::write(&script, "#!/bin/sh\nexit 0\n")?;
        make_executable(&script)?;
        let quiet = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        quiet(&mut Command::new(&script)).map(|status| status.success())
    };
    trial().unwrap_or(false)
}

#[cfg(unix)]
fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_executable(_file: &Path) -> io::Result<()> {
    let _: Option<Permissions> = None;
    Ok(())
}

#[cfg(unix)]
fn page_B() -> Option<u64> {
    use nix::unistd::{SysconfVar, sysconf};
    sysconf(SysconfVar::PAGE_SIZE).ok().flatten().and_then(|bytes| u64::try_from(bytes).ok())
}

#[cfg(not(unix))]
fn page_B() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_are_those_of_this_device() {
        let facts = facts();
        assert_eq!(facts.build.isa, std::env::consts::ARCH);
        let classed: usize = facts.core_classes.iter().map(|class| class.processors.len()).sum();
        assert_eq!(classed, facts.processors.len(), "each processor is of one class");
        assert!(facts.page_B.is_none_or(|bytes| bytes.is_power_of_two() && bytes >= 4096));
        assert!(facts.program_folder.is_none_or(|folder| Path::new(&folder).is_dir()));
    }

    #[test]
    fn a_folder_that_is_not_there_runs_no_program() {
        assert!(!runs_programs(Path::new("/there/is/no/such/folder")));
    }
}
