//! Whether the processor is another program: an emulator passes for a machine, and what it takes is nobody's cost.
//!
//! One sign of the first kind is enough; those of the second kind may have another reason each and count together.
#![forbid(unsafe_code)]

use super::linux::{CpuInfo, Files};

/// A hypervisor's own processor, which it only offers where it emulates: implementer 0 is nobody's.
///
/// # Source
/// QEMU, target/arm/tcg/cpu64.c: the main identification register of `-cpu max`.
const NOBODY: &str = "0x00";

/// What other programs' code is translated by, as their mappings are called.
const TRANSLATORS: [&str; 5] = ["qemu-", "rosetta", "box64", "FEXInterpreter", "libndk_translation"];

/// The entry of the auxiliary vector that says where the kernel's own shared object (vDSO) is, and that which closes it.
const AT_SYSINFO_EHDR: u64 = 33;
const AT_NULL: u64 = 0;

/// The rate of the generic timer of QEMU's user mode.
///
/// # Source
/// QEMU 7.2, target/arm/internals.h, `GTIMER_SCALE` of 16 ns.
const EMULATED_TIMER_HZ: u64 = 62_500_000;

/// What the program knows of itself.
pub(super) struct Program {
    /// Its instruction set.
    pub(super) isa: &'static str,
    /// Whether the hypervisor says that it emulates.
    pub(super) is_told: bool,
    /// Rate of its tick counter where that tells it.
    pub(super) ticks_per_second: Option<u64>,
}

/// By what an emulator is noticed; `None` where none is.
pub(super) fn noticed(files: &Files, cpuinfo: &CpuInfo, program: &Program) -> Option<String> {
    let sure = sure_signs(files, cpuinfo, program);
    let unsure = unsure_signs(files, program);
    (!sure.is_empty() || unsure.len() > 1).then(|| [sure, unsure].concat().join("; "))
}

fn sure_signs(files: &Files, cpuinfo: &CpuInfo, program: &Program) -> Vec<String> {
    let mut signs = Vec::new();
    if program.is_told {
        signs.push("the hypervisor says that it emulates".to_owned());
    }
    let called = files.text("proc/self/status").and_then(|text| field(&text, "Name"));
    signs.extend(called.filter(|name| name.starts_with("qemu-")).map(|name| format!("the process is called {name}")));
    if let Some(system) = files.text("proc/sys/kernel/arch").filter(|system| !runs(system, program.isa)) {
        signs.push(format!("the system is of {system}, the program of {}", program.isa));
    }
    if let Some(described) = described_isa(cpuinfo).filter(|described| !described.contains(&program.isa)) {
        signs.push(format!("the processor is described as one of {}", described[0]));
    }
    if cpuinfo.get("CPU implementer").map(String::as_str) == Some(NOBODY) {
        signs.push(format!("the processor's implementer is {NOBODY}, nobody's"));
    }
    let maps = files.text("proc/self/maps").unwrap_or_default();
    let names = maps.lines().filter_map(|line| line.rsplit('/').next());
    signs.extend(
        TRANSLATORS
            .iter()
            .filter(|translator| names.clone().any(|name| name.starts_with(**translator)))
            .map(|translator| format!("{translator} is mapped beside the program")),
    );
    signs
}

fn unsure_signs(files: &Files, program: &Program) -> Vec<String> {
    let mut signs = Vec::new();
    if program.isa != "arm" && files.auxiliary(AT_SYSINFO_EHDR) == Some(None) {
        signs.push("the kernel gave no vDSO".to_owned());
    }
    if program.isa == "aarch64" && program.ticks_per_second == Some(EMULATED_TIMER_HZ) {
        signs.push("the timer has QEMU's rate of 62.5 MHz".to_owned());
    }
    signs
}

/// A line of `/proc/self/status`.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()))
}

/// Whether a system of this machine runs programs of an instruction set by itself.
fn runs(machine: &str, isa: &str) -> bool {
    let own = match isa {
        "x86_64" => machine == "x86_64",
        "x86" => machine == "x86_64" || (machine.starts_with('i') && machine.ends_with("86")),
        "aarch64" => machine.starts_with("aarch64"),
        "arm" => machine.starts_with("arm") || machine.starts_with("aarch64"),
        _ => machine.starts_with(isa),
    };
    own || machine.is_empty()
}

/// The instruction sets of processors that are described by such lines.
fn described_isa(cpuinfo: &CpuInfo) -> Option<&'static [&'static str]> {
    let has = |name: &str| cpuinfo.contains_key(name);
    if has("vendor_id") && has("flags") {
        Some(&["x86_64", "x86"])
    } else if has("CPU implementer") {
        Some(&["aarch64", "arm"])
    } else if has("hart") {
        Some(&["riscv64", "riscv32"])
    } else {
        None
    }
}

impl Files {
    /// An entry of the program's auxiliary vector: `None` where it can't be read, `Some(None)` where it has no such entry
    /// or that is 0.
    fn auxiliary(&self, wanted: u64) -> Option<Option<u64>> {
        let bytes = std::fs::read(self.root().join("proc/self/auxv")).ok()?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        let size = size_of::<usize>();
        let mut entries = bytes.chunks_exact(2 * size).map(|pair| (word(&pair[..size]), word(&pair[size..])));
        entries.clone().any(|(kind, _)| kind == AT_NULL).then_some(())?;
        Some(entries.find(|(kind, value)| *kind == wanted && *value != 0).map(|(_, value)| value))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::super::tests::Machine;
    use super::*;

    const VDSO: [u64; 4] = [33, 0x7000, 0, 0];

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn noticed_on(machine: &Machine, isa: &'static str, ticks_per_second: Option<u64>) -> Option<String> {
        let files = Files::new(machine.root(), 0);
        noticed(&files, &files.cpuinfo(), &Program { isa, is_told: false, ticks_per_second })
    }

    #[test]
    fn a_board_is_no_emulator() {
        let machine = Machine::new(
            "pi",
            &[
                ("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n"),
                ("proc/sys/kernel/arch", "aarch64\n"),
                ("proc/self/status", "Name:\twattlock-probe\n"),
                ("proc/self/maps", "400000-500000 r-xp 0 0:0 1 /home/pi/qemu/wattlock-probe\n"),
            ],
        );
        machine.write("proc/self/auxv", &bytes(&VDSO));
        assert_eq!(noticed_on(&machine, "aarch64", Some(54_000_000)), None);
        assert_eq!(noticed_on(&machine, "arm", None), None, "a program of 32 bits on it");
        assert_eq!(noticed_on(&machine, "aarch64", Some(62_500_000)), None, "one unsure sign");
    }

    #[test]
    fn a_program_of_another_processor_is_emulated() {
        let cpuinfo = "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t: aes\n";
        let machine = Machine::new("translated", &[("proc/cpuinfo", cpuinfo), ("proc/self/status", "Name:\tprobe\n")]);
        let found = noticed_on(&machine, "aarch64", None).unwrap();
        assert_eq!(found, "the processor is described as one of x86_64");
        assert_eq!(noticed_on(&machine, "x86_64", None), None);
        for (path, text, sign) in [
            ("proc/self/status", "Name:\tqemu-aarch64\n", "the process is called qemu-aarch64"),
            ("proc/sys/kernel/arch", "x86_64\n", "the system is of x86_64, the program of aarch64"),
            ("proc/self/maps", "7f00-7f10 r-xp 0 0:0 1 /usr/bin/box64\n", "box64 is mapped beside the program"),
            ("proc/cpuinfo", "processor: 0\nCPU implementer: 0x00\nCPU part: 0x051\n", "nobody's"),
        ] {
            let machine = Machine::new("one-sign", &[(path, text)]);
            assert!(noticed_on(&machine, "aarch64", None).unwrap().contains(sign), "{sign}");
        }
    }

    #[test]
    fn two_unsure_signs_are_one_sure_one() {
        let machine = Machine::new("unsure", &[]);
        machine.write("proc/self/auxv", &bytes(&[6, 4096, 0, 0]));
        assert_eq!(noticed_on(&machine, "aarch64", None), None);
        let found = noticed_on(&machine, "aarch64", Some(62_500_000)).unwrap();
        assert_eq!(found, "the kernel gave no vDSO; the timer has QEMU's rate of 62.5 MHz");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_of_another_processor_would_be_noticed_on_this_machine() {
        let files = Files::new(Path::new("/"), 0);
        let isa = if cfg!(target_arch = "riscv64") { "aarch64" } else { "riscv64" };
        let found = noticed(&files, &files.cpuinfo(), &Program { isa, is_told: false, ticks_per_second: None });
        assert!(found.is_some());
    }
}
