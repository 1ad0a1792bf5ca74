//! Gives the linker the memory of the machine that the image is for.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The machine of the emulator on which images for a target run.
const MACHINES: [(&str, &str); 5] = [
    ("thumbv6m-none-eabi", "microbit"),
    ("thumbv7m-none-eabi", "mps2-an385"),
    ("thumbv7em-none-eabi", "mps2-an386"),
    ("thumbv8m.main-none-eabi", "mps2-an505"),
    ("riscv32imc-unknown-none-elf", "virt"),
];

/// Schemes on lattices, whose stack is larger than that of any other code.
const LARGE_STACK: [&str; 2] = ["CARGO_FEATURE_ML_DSA", "CARGO_FEATURE_ML_KEM"];

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let target = variable("TARGET");
    println!("cargo:rerun-if-changed=memory");
    println!("cargo:rerun-if-changed=link.x");
    let Some((_, machine)) = MACHINES.iter().find(|(name, _)| *name == target) else {
        println!("cargo:error=no machine is known for the target {target}");
        return;
    };
    let memory = here.join("memory").join(format!("{machine}.x"));
    for (from, name) in [(memory.as_path(), "memory.x"), (Path::new("link.x"), "link.x")] {
        if let Err(error) = fs::copy(here.join(from), out.join(name)) {
            println!("cargo:error={}: {error}", from.display());
        }
    }
    // Of a board the host gives the memory and the registers.
    println!("cargo:rustc-check-cfg=cfg(on_board)");
    println!("cargo:rustc-check-cfg=cfg(on_rtt)");
    println!("cargo:rerun-if-env-changed=WATTLOCK_BOARD_RTT");
    if env::var_os("WATTLOCK_BOARD_RTT").is_some() {
        println!("cargo:rustc-cfg=on_rtt");
    }
    for (name, file) in [("WATTLOCK_BOARD_MEMORY", "memory.x"), ("WATTLOCK_BOARD_MACHINE", "machine.rs")] {
        println!("cargo:rerun-if-env-changed={name}");
        let Ok(text) = env::var(name) else { continue };
        println!("cargo:rustc-cfg=on_board");
        if let Err(error) = fs::write(out.join(file), text) {
            println!("cargo:error={file}: {error}");
        }
    }
    if LARGE_STACK.iter().any(|feature| env::var_os(feature).is_some()) {
        println!("cargo:rustc-link-arg-bins=--defsym=_large_stack=1");
    }
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rerun-if-env-changed=WATTLOCK_ADAPTER");
    if env::var_os("CARGO_FEATURE_ADAPTER").is_some() {
        let archive = variable("WATTLOCK_ADAPTER");
        println!("cargo:rerun-if-changed={archive}");
        println!("cargo:rustc-link-arg-bins={archive}");
    }
    // What calls what stays known after linking: the flash that a cipher takes is counted from it.
    println!("cargo:rustc-link-arg-bins=--emit-relocs");
}
