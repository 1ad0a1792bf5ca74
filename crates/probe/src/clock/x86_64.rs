//! x86-64: the time-stamp counter, and a chain of `imul`.

use core::arch::asm;
use core::arch::x86_64::{_mm_lfence, _rdtsc};

use wattlock_engine::Width;

/// What the tick counter is.
pub const COUNTER: &str = "time-stamp counter";

/// Models of Intel's family 6 that are Atoms, from Bonnell to Crestmont: their multiplier has another latency.
///
/// # Source
/// Intel, Software Developer's Manual, volume 4, table 2-1 (`DisplayFamily_DisplayModel`).
const ATOMS: [u32; 24] = [
    0x1c, 0x26, 0x27, 0x35, 0x36, 0x37, 0x4a, 0x4c, 0x4d, 0x5a, 0x5c, 0x5d, 0x5f, 0x65, 0x6e, 0x75, 0x7a, 0x86, 0x8a,
    0x96, 0x9c, 0xaf, 0xb6, 0xbe,
];

/// Cycles of `imul r64, r64` on this core: 3 on Intel's large cores since Nehalem and AMD's since Zen; `None` on others
/// (Atoms and efficiency cores, Bulldozer, Jaguar, and whatever is not known).
///
/// # Source
/// Fog, Instruction tables (2024); Abel and Reineke, uops.info (2019), IMUL (R64, R64).
pub(super) fn multiply_latency_cycles(_cpu: Option<u32>) -> Option<u64> {
    let vendor = cpuid(0, 0);
    let signature = cpuid(1, 0).eax;
    let model = (signature >> 4 & 0xf) | (signature >> 12 & 0xf0);
    let family = (signature >> 8 & 0xf) + (signature >> 20 & 0xff);
    let is_hybrid = vendor.eax >= 7 && cpuid(7, 0).edx & 1 << 15 != 0;
    let core_type = if is_hybrid && vendor.eax >= 0x1a { cpuid(0x1a, 0).eax >> 24 } else { LARGE_CORE };
    is_three(vendor.ebx, family, model, core_type).then_some(3)
}

/// What leaf 1AH says of a large core of a hybrid processor.
const LARGE_CORE: u32 = 0x40;
/// The first four letters of the vendor.
const INTEL: u32 = u32::from_le_bytes(*b"Genu");
const AMD: u32 = u32::from_le_bytes(*b"Auth");
const HYGON: u32 = u32::from_le_bytes(*b"Hygo");

fn is_three(vendor: u32, family: u32, model: u32, core_type: u32) -> bool {
    match (vendor, family) {
        (INTEL, 6) => model >= 0x1a && !ATOMS.contains(&model) && core_type == LARGE_CORE,
        (AMD | HYGON, family) => family >= 0x17,
        _ => false,
    }
}

/// Whether the hypervisor says of itself that it emulates the processor.
///
/// # Source
/// QEMU, target/i386: the signature of leaf 40000000H is `TCGTCGTCGTCG` where no hypervisor of the host is used.
pub(crate) fn is_emulated() -> bool {
    const HYPERVISOR: u32 = 1 << 31;
    let signature = || cpuid(0x4000_0000, 0);
    let words = || [signature().ebx, signature().ecx, signature().edx];
    cpuid(1, 0).ecx & HYPERVISOR != 0 && words() == ["TCGT", "CGTC", "GTCG"].map(word)
}

fn word(text: &str) -> u32 {
    text.bytes().rev().fold(0, |word, byte| word << 8 | u32::from(byte))
}

fn cpuid(leaf: u32, part: u32) -> core::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 processor has the instruction; it reads registers alone.
    #[allow(unused_unsafe, reason = "safe from Rust 1.94 on")]
    unsafe {
        core::arch::x86_64::__cpuid_count(leaf, part)
    }
}

/// The rate is not told by the processor in a way that all of them share: it is measured.
pub(super) fn rate() -> Option<u64> {
    None
}

#[inline]
pub(super) fn ticks() -> u64 {
    // SAFETY: both instructions exist on every x86-64 processor and touch no memory. The fences keep the read in
    // order with the instructions around it.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

/// Carries out `count` additions (rounded up to eight) that don't wait for one another.
#[inline(never)]
pub(super) fn add_burst(count: u64) {
    let rounds = count.div_ceil(8).max(1);
    // SAFETY: works on registers alone; flags are declared as changed by default.
    unsafe {
        asm!(
            "2:",
            "add {a}, 1", "add {b}, 1", "add {c}, 1", "add {d}, 1",
            "add {e}, 1", "add {f}, 1", "add {g}, 1", "add {h}, 1",
            "dec {n}",
            "jnz 2b",
            a = inout(reg) 0_u64 => _, b = inout(reg) 0_u64 => _,
            c = inout(reg) 0_u64 => _, d = inout(reg) 0_u64 => _,
            e = inout(reg) 0_u64 => _, f = inout(reg) 0_u64 => _,
            g = inout(reg) 0_u64 => _, h = inout(reg) 0_u64 => _,
            n = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
}

/// Carries out `count` multiplications (rounded up to eight), each of which waits for the one before.
#[inline(never)]
pub(super) fn multiply_chain(count: u64) {
    let rounds = count.div_ceil(8).max(1);
    // SAFETY: works on registers alone; flags are declared as changed by default.
    unsafe {
        asm!(
            "2:",
            "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}",
            "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}",
            "dec {n}",
            "jnz 2b",
            x = inout(reg) 3_u64 => _,
            n = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
}

/// Rounds of eight wide operations of a witness: about 3 us on a core of 4 GHz that carries out one a cycle.
const WITNESS_ROUNDS: u64 = 1_500;

/// A burst of wide operations that this processor has, of those for which a core asks for a licence: rounds of AES, which
/// are what the wide code here is made of, else multiplications.
///
/// # Source
/// Intel, 64 and IA-32 Architectures Optimization Reference Manual, 2.5.3 (Skylake Server): licences by width and by
/// whether floating point and multiplications take part.
#[derive(Clone, Copy)]
pub(super) enum Witness {
    Aes256,
    Aes512,
    Multiply256,
    Multiply512,
}

/// The witness of a width; `None` where the processor or the system has no such width.
pub(super) fn witness(width: Width) -> Option<Witness> {
    let (has_aes, has_width) = match width {
        Width::Bits256 => (is_x86_feature_detected!("vaes"), is_x86_feature_detected!("avx2")),
        Width::Bits512 => (is_x86_feature_detected!("vaes"), is_x86_feature_detected!("avx512f")),
    };
    has_width.then_some(match (width, has_aes) {
        (Width::Bits256, true) => Witness::Aes256,
        (Width::Bits256, false) => Witness::Multiply256,
        (Width::Bits512, true) => Witness::Aes512,
        (Width::Bits512, false) => Witness::Multiply512,
    })
}

/// Rounds of eight operations that don't wait for one another, on eight registers of a width.
macro_rules! wide_burst {
    ($operation:literal, $register:literal) => {
        // SAFETY: `witness` found the instructions, with the registers that the system saves. Works on registers alone,
        // whose upper parts are cleared at the end.
        unsafe {
            asm!(
                "2:",
                concat!($operation, " ", $register, "0, ", $register, "0, ", $register, "0"),
                concat!($operation, " ", $register, "1, ", $register, "1, ", $register, "1"),
                concat!($operation, " ", $register, "2, ", $register, "2, ", $register, "2"),
                concat!($operation, " ", $register, "3, ", $register, "3, ", $register, "3"),
                concat!($operation, " ", $register, "4, ", $register, "4, ", $register, "4"),
                concat!($operation, " ", $register, "5, ", $register, "5, ", $register, "5"),
                concat!($operation, " ", $register, "6, ", $register, "6, ", $register, "6"),
                concat!($operation, " ", $register, "7, ", $register, "7, ", $register, "7"),
                "dec {n}",
                "jnz 2b",
                "vzeroupper",
                n = inout(reg) WITNESS_ROUNDS => _,
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                options(nomem, nostack),
            );
        }
    };
}

impl Witness {
    /// Carries the burst out.
    #[inline(never)]
    pub(super) fn run(self) {
        match self {
            Self::Aes256 => wide_burst!("vaesenc", "ymm"),
            Self::Aes512 => wide_burst!("vaesenc", "zmm"),
            Self::Multiply256 => wide_burst!("vpmuludq", "ymm"),
            Self::Multiply512 => wide_burst!("vpmuludq", "zmm"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_runs_on_every_width_that_the_processor_has_and_there_is_none_of_any_other() {
        for (width, feature) in
            [(Width::Bits256, is_x86_feature_detected!("avx2")), (Width::Bits512, is_x86_feature_detected!("avx512f"))]
        {
            assert_eq!(witness(width).is_some(), feature, "{width:?}");
            witness(width).iter().for_each(|burst| burst.run());
        }
    }

    #[test]
    fn the_latency_is_known_on_large_cores_and_on_no_other() {
        for (vendor, family, model, core_type, known) in [
            (INTEL, 6, 0x1a, LARGE_CORE, true),
            (INTEL, 6, 0x97, LARGE_CORE, true),
            (INTEL, 6, 0x97, 0x20, false),
            (INTEL, 6, 0xbe, LARGE_CORE, false),
            (INTEL, 6, 0x17, LARGE_CORE, false),
            (INTEL, 15, 6, LARGE_CORE, false),
            (AMD, 0x15, 2, LARGE_CORE, false),
            (AMD, 0x19, 0x11, LARGE_CORE, true),
            (HYGON, 0x18, 0, LARGE_CORE, true),
            (u32::from_le_bytes(*b"Cent"), 6, 0x1a, LARGE_CORE, false),
        ] {
            assert_eq!(is_three(vendor, family, model, core_type), known, "{vendor:x} {family:x} {model:x}");
        }
    }
}
