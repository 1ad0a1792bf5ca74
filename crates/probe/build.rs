//! What a build knows of itself and a running program does not: compiler, flags, lock file, commit.
//!
//! Whatever can't be learnt is left empty and becomes null in the fingerprint. Works without git and without the
//! workspace around the crate.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What decides the machine code; a change here outside the commit makes a build dirty. The crates are those that the
/// program links, so that a change in the toolbox of the network makes no other instrument (`house/test_layers.py`).
const SOURCES: [&str; 13] = [
    "crates/bench",
    "crates/ciphers",
    "crates/cores",
    "crates/engine",
    "crates/frames",
    "crates/meters",
    "crates/probe",
    "crates/providers",
    "crates/records",
    "crates/terminal",
    "Cargo.toml",
    "Cargo.lock",
    "python/wattlock/data/cores",
];

fn main() {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../..");
    for source in SOURCES.map(|name| root.join(name)).iter().filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", source.display());
    }
    let profile = variable("PROFILE");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    tell("RUSTC", &output(&variable("RUSTC"), &["--version"], &root).unwrap_or_default());
    tell("TARGET", &variable("TARGET"));
    tell("PROFILE", &profile);
    tell("OPT_LEVEL", &variable("OPT_LEVEL"));
    tell("LTO", &profile_setting(&manifest, &profile, "lto"));
    tell("CODEGEN_UNITS", &profile_setting(&manifest, &profile, "codegen-units"));
    tell("FLAGS", &flags());
    let (commit, dirty) = commit(&root).unwrap_or_default();
    tell("COMMIT", &commit);
    tell("DIRTY", &dirty);

    // The program hashes the lock file itself: a build script without dependencies has no SHA-256.
    let lock = fs::read(root.join("Cargo.lock")).unwrap_or_default();
    if let Err(error) = fs::write(Path::new(&variable("OUT_DIR")).join("Cargo.lock"), lock) {
        println!("cargo:error=the lock file can't be copied: {error}");
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn tell(name: &str, value: &str) {
    println!("cargo:rustc-env=WATTLOCK_BUILD_{name}={}", value.lines().next().unwrap_or_default());
}

fn output(program: &str, arguments: &[&str], directory: &Path) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(directory).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// A setting of a profile: from the environment, which cargo prefers, else as the workspace's manifest writes it.
fn profile_setting(manifest: &str, profile: &str, key: &str) -> String {
    let section = if profile == "debug" { "dev" } else { profile };
    let name = format!("CARGO_PROFILE_{section}_{key}").to_uppercase().replace('-', "_");
    println!("cargo:rerun-if-env-changed={name}");
    if let Ok(value) = env::var(&name) {
        return value;
    }
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == format!("[profile.{section}]");
        } else if let Some((_, value)) = line.split_once('=').filter(|(name, _)| inside && name.trim() == key) {
            return value.split('#').next().unwrap_or_default().trim().trim_matches('"').to_owned();
        }
    }
    String::new()
}

/// The flags given to the compiler; one that holds a path is named but not told.
fn flags() -> String {
    let all = variable("CARGO_ENCODED_RUSTFLAGS");
    let told = |flag: &str| match flag.split_once('=') {
        Some((name, value)) if value.contains(['/', '\\']) => format!("{name}=(a path)"),
        None if flag.contains(['/', '\\']) => "(a path)".to_owned(),
        _ => flag.to_owned(),
    };
    all.split('\u{1f}').map(told).collect::<Vec<_>>().join(" ")
}

/// The commit and whether the sources differ from it; `None` where the workspace is not the root of a git tree.
fn commit(root: &Path) -> Option<(String, String)> {
    let git = |arguments: &[&str]| output("git", arguments, root);
    let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    // A commit that leaves the sources alone must not make another program: HEAD moves with the branch only.
    let head = root.join(git(&["rev-parse", "--git-path", "HEAD"])?);
    println!("cargo:rerun-if-changed={}", head.display());
    let commit = git(&["rev-parse", "--verify", "HEAD"])?;
    let status = git(&[&["--no-optional-locks", "status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    Some((commit, (!status.is_empty()).to_string()))
}
