//! The cores that are counted: what their images are compiled for, and the emulator's machine that runs them.

use wattlock_ciphers::nearest_of;
use wattlock_records::quoted;
use wattlock_terminal::failure::Failure;

/// A core and where its images run.
#[derive(Debug)]
pub struct Core {
    /// As records name it.
    pub name: &'static str,
    /// What images are compiled for.
    pub target: &'static str,
    /// The emulator.
    pub emulator: &'static str,
    /// The system's package that has it.
    pub package: &'static str,
    /// Its machine.
    pub machine: &'static str,
    /// What the machine is told beside.
    pub options: &'static [&'static str],
}

const ARM: Core =
    Core { name: "", target: "", emulator: "qemu-system-arm", package: "qemu-system-arm", machine: "", options: &[] };

/// The machine's own 16 KiB of RAM hold no proof: an image's stack and flash are counted, not tried.
const MICROBIT: Core = Core {
    name: "cortex-m0",
    target: "thumbv6m-none-eabi",
    machine: "microbit",
    options: &["-global", "nrf51-soc.flash-size=1048576", "-global", "nrf51-soc.sram-size=4194304"],
    ..ARM
};

const VIRT: Core = Core {
    name: "sifive-e31",
    target: "riscv32imc-unknown-none-elf",
    emulator: "qemu-system-riscv32",
    package: "qemu-system-misc",
    machine: "virt",
    options: &["-bios", "none"],
};

/// All of them. Cores of one instruction set share their images.
pub const CORES: [Core; 7] = [
    MICROBIT,
    Core { name: "cortex-m0plus", ..MICROBIT },
    Core { name: "cortex-m3", target: "thumbv7m-none-eabi", machine: "mps2-an385", ..ARM },
    Core { name: "cortex-m4", target: "thumbv7em-none-eabi", machine: "mps2-an386", ..ARM },
    Core { name: "cortex-m33", target: "thumbv8m.main-none-eabi", machine: "mps2-an505", ..ARM },
    VIRT,
    Core { name: "esp32-c3", ..VIRT },
];

/// The core of a name.
///
/// # Errors
/// Code 3, with those that there are.
pub fn named(name: &str) -> Result<&'static Core, Failure> {
    CORES.iter().find(|core| core.name == name).ok_or_else(|| {
        let names = || CORES.iter().map(|core| core.name);
        let meant = nearest_of(name, names()).map(|name| format!("did you mean {name:?}? ")).unwrap_or_default();
        let all = names().collect::<Vec<_>>().join(", ");
        Failure::new(3, format!("no core {}", quoted(name))).hint(format!("{meant}there are {all}"))
    })
}

impl Core {
    /// The instruction set, as the target's name begins.
    pub fn isa(&self) -> &'static str {
        self.target.split('-').next().unwrap_or(self.target)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_nobody_knows_is_refused_with_the_one_that_was_meant() {
        assert_eq!(named("cortex-m33").unwrap().isa(), "thumbv8m.main");
        let failure = named("cortexm4").unwrap_err();
        assert_eq!(failure.code, 3);
        assert!(failure.hint.unwrap().starts_with("did you mean \"cortex-m4\"? there are cortex-m0, "));
    }
}
