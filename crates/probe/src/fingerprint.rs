//! What a measurement depends on beside the code under test: the machine, its state, the build.
//!
//! A fingerprint names no person and no place: no host name, no user, no path, no serial number. What can't be seen
//! is null, never a default.

#![forbid(unsafe_code)]

mod cores;
mod emulator;
mod linux;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use wattlock_records::{Build, CoreClass, Fingerprint};

use crate::clock;

/// The fingerprint of this machine.
///
/// * `cpu`: the processor that the measurement is pinned to; the first one stands for all where it is not.
#[must_use]
pub fn take(cpu: Option<u32>) -> Fingerprint {
    take_from(Path::new("/"), cpu)
}

/// The fingerprint of the machine whose `proc` and `sys` lie under `root`.
#[must_use]
pub fn take_from(root: &Path, cpu: Option<u32>) -> Fingerprint {
    let files = linux::Files::new(root, cpu.unwrap_or(0));
    let cpuinfo = files.cpuinfo();
    Fingerprint {
        hardware: files.hardware(&cpuinfo),
        virtualisation: files.virtualisation(&cpuinfo, emulator::noticed(&files, &cpuinfo, &program())),
        kernel: files.kernel(),
        power: files.power(),
        load: files.load(),
        build: build(),
        browser: None,
    }
}

/// The kinds of cores among some processors of this machine, the fastest first.
#[must_use]
pub fn core_classes(processors: &[u32]) -> Vec<CoreClass> {
    linux::Files::new(Path::new("/"), 0).usable_core_classes(processors)
}

fn program() -> emulator::Program {
    emulator::Program {
        isa: std::env::consts::ARCH,
        is_told: clock::is_emulated(),
        ticks_per_second: clock::told_rate(),
    }
}

/// How this program was made.
#[must_use]
pub fn build() -> Build {
    const LOCK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/Cargo.lock"));
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: known(env!("WATTLOCK_BUILD_COMMIT")),
        dirty: env!("WATTLOCK_BUILD_DIRTY").parse().ok(),
        rustc: known(env!("WATTLOCK_BUILD_RUSTC")),
        target: known(env!("WATTLOCK_BUILD_TARGET")),
        isa: std::env::consts::ARCH.to_owned(),
        profile: known(env!("WATTLOCK_BUILD_PROFILE")),
        opt_level: known(env!("WATTLOCK_BUILD_OPT_LEVEL")),
        lto: known(env!("WATTLOCK_BUILD_LTO")),
        codegen_units: known(env!("WATTLOCK_BUILD_CODEGEN_UNITS")),
        flags: known(env!("WATTLOCK_BUILD_FLAGS")),
        lock_sha256: (!LOCK.is_empty()).then(|| sha256(LOCK)),
        executable_sha256: executable_sha256(),
        sources_sha256: None,
    }
}

fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The hash of this program; on Linux of the bytes that run, even where the file was replaced since.
fn executable_sha256() -> Option<String> {
    let running = File::open("/proc/self/exe");
    let mut file = running.or_else(|_| std::env::current_exe().and_then(File::open)).ok()?;
    // In small pieces: memory for the whole file would cost more than its hash.
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(HEXLOWER.encode(&hash.finalize())),
            length => hash.update(&piece[..length]),
        }
    }
}

fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
