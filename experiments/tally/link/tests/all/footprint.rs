//! The sensor's end alone, linked for a Cortex-M0 (`../image/`): the linker refuses what takes more than 12 KiB of flash or 1.5 KiB of RAM.

use std::fs;
use std::path::Path;
use std::process::Command;

use wattlock_test_tools as tools;

const IMAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../image");

/// What the linker says to this memory, empty if the image fits; None where the target is not installed.
fn refusal(script: &Path) -> Option<String> {
    let mut build = Command::new(env!("CARGO"));
    build.args(["rustc", "--quiet", "--release", "--locked", "--target", "thumbv6m-none-eabi", "--target-dir"]);
    build.arg(tools::own("image")).arg("--").arg(format!("-Clink-arg=-T{}", script.display()));
    let output = build.current_dir(IMAGE).env_remove("RUSTFLAGS").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("rustup target add") {
        tools::missing("the Rust target thumbv6m-none-eabi (rustup target add thumbv6m-none-eabi)");
        return None;
    }
    assert!(output.status.success() || !said.is_empty());
    Some(if output.status.success() { String::new() } else { said })
}

#[test]
fn the_sensor_fits_into_12_KiB_of_flash_and_1536_octets_of_ram_of_a_cortex_m0() {
    let script = Path::new(IMAGE).join("image.x");
    let Some(refused) = refusal(&script) else { return };
    assert_eq!(refused, "");
    // An image of the right things: much smaller a memory is refused, by its name.
    let text = fs::read_to_string(&script).unwrap();
    for (room, smaller, region) in [("12K", "6K", "FLASH"), ("1536", "1K", "RAM")] {
        let control = tools::own(&format!("{smaller}.x"));
        fs::write(&control, text.replace(&format!("LENGTH = {room}"), &format!("LENGTH = {smaller}"))).unwrap();
        let refused = refusal(&control).unwrap();
        assert!(refused.contains(&format!("will not fit in region '{region}'")), "{refused}");
    }
}
