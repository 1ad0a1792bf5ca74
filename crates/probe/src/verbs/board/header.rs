//! The first record: the core, the emulator's machine or the board, and how its images were made.

use wattlock_records::{Case, Fingerprint, Hardware, Header, Kernel, Load, Plan, Power, SCHEMA, Virtualisation};

use super::cores::Core;
use super::images::{Images, Made, PROFILE};
use crate::fingerprint;

/// The header of a process that counts.
///
/// * `product`: the emulator's machine or the board. `emulator`: what is known of one; `None` on a board.
/// * `images`: where they come from; `made`: how they were made, `None` where there was none.
pub fn of(
    plan: &Plan,
    core: &Core,
    (product, emulator): (&str, Option<String>),
    images: &Images,
    made: Option<&Made>,
    cases: Vec<Case>,
) -> Header {
    let [profile, opt_level, lto, codegen_units] = PROFILE.map(|word| Some(word.to_owned()));
    let build = wattlock_records::Build {
        rustc: made.map(|made| made.compiler.clone()),
        target: Some(core.target.to_owned()),
        isa: core.isa().to_owned(),
        profile,
        opt_level,
        lto,
        codegen_units,
        lock_sha256: made.map(|made| made.lock_sha256.clone()),
        sources_sha256: images.sources_sha256(),
        ..fingerprint::build()
    };
    let fingerprint = Fingerprint {
        hardware: Hardware { model_name: Some(core.name.to_owned()), processors: Some(1), ..Hardware::default() },
        virtualisation: Virtualisation { hypervisor: None, product: Some(product.to_owned()), emulator },
        kernel: Kernel { os: "none".to_owned(), ..Kernel::default() },
        power: Power::default(),
        load: Load::default(),
        build,
        browser: None,
    };
    Header {
        schema: SCHEMA,
        process: plan.process,
        seed: plan.seed,
        fingerprint,
        ticks_per_second: None,
        canary_cycles: None,
        quiet_ppm: None,
        granted_ppm: None,
        step_ticks: None,
        timer_ticks: None,
        cpu_timer_ns: None,
        pinned_cpu: None,
        meter: None,
        battery: None,
        cases,
    }
}
