use std::fs;
use std::path::PathBuf;

use wattlock_records::{Cache, Hardware, Kernel, Load, Power, Virtualisation};

use super::*;

/// A made-up machine in a folder of its own, which goes with it.
pub(super) struct Machine(PathBuf);

impl Machine {
    pub(super) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("wattlock-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(root)
    }

    pub(super) fn root(&self) -> &Path {
        &self.0
    }

    pub(super) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn seen_from(&self, cpu: u32) -> Fingerprint {
        take_from(&self.0, Some(cpu))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // A folder that was never made can't be removed.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn where_nothing_can_be_seen_everything_is_null() {
    let seen = take_from(Path::new("/there/is/no/such/folder"), None);
    assert_eq!(seen.hardware, Hardware::default());
    assert_eq!(seen.virtualisation, Virtualisation::default());
    assert_eq!(seen.power, Power::default());
    assert_eq!(seen.load, Load::default());
    assert_eq!(seen.kernel, Kernel { os: std::env::consts::OS.to_owned(), ..Kernel::default() });
}

#[test]
fn a_laptop_is_seen_from_the_processor_that_is_asked_for() {
    let cpuinfo = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 154\nmodel name\t: Big Core\n\
                   stepping\t: 3\nmicrocode\t: 0x430\nflags\t\t: fpu vaes aes constant_tsc\n\n\
                   processor\t: 5\nvendor_id\t: GenuineIntel\nmodel name\t: Small Core\nflags\t\t: aes hypervisor\n\n";
    let machine = Machine::new(
        "laptop",
        &[
            ("proc/cpuinfo", cpuinfo),
            ("sys/devices/cpu_core/cpus", "0-3\n"),
            ("sys/devices/cpu_atom/cpus", "4-5,7\n"),
            ("sys/devices/system/cpu/online", "0-5,7\n"),
            ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0-1\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            ("sys/class/power_supply/AC/type", "Mains\n"),
            ("sys/class/power_supply/AC/online", "0\n"),
            ("sys/class/power_supply/BAT0/type", "Battery\n"),
            ("sys/class/power_supply/BAT0/capacity", "61\n"),
            ("sys/class/power_supply/BAT0/status", "Discharging\n"),
            ("sys/class/power_supply/hidpp_battery_0/type", "Battery\n"),
            ("sys/class/power_supply/hidpp_battery_0/scope", "Device\n"),
            ("sys/class/thermal/thermal_zone0/type", "iwlwifi_1\n"),
            ("sys/class/thermal/thermal_zone0/temp", "99000\n"),
            ("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone1/temp", "47000\n"),
            ("sys/class/hwmon/hwmon3/name", "coretemp\n"),
            ("sys/class/hwmon/hwmon3/temp1_input", "46500\n"),
        ],
    );
    let seen = machine.seen_from(0);
    assert_eq!(seen.hardware.model_name.as_deref(), Some("Big Core"));
    assert_eq!((seen.hardware.family, seen.hardware.model, seen.hardware.stepping), (Some(6), Some(154), Some(3)));
    assert_eq!(seen.hardware.flags.unwrap(), ["aes", "constant_tsc", "vaes"]);
    assert_eq!(seen.hardware.core_type.as_deref(), Some("performance"));
    assert_eq!(seen.hardware.processors, Some(7));
    let cache = Cache { level: 1, holds: "Data".to_owned(), size_KiB: 48, shared_by: Some(vec![0, 1]) };
    assert_eq!(seen.hardware.caches.unwrap(), [cache]);
    assert_eq!(seen.virtualisation.hypervisor, Some(false));
    assert_eq!(seen.power.governor.as_deref(), Some("powersave"));
    assert_eq!(seen.power.boost, Some(true));
    assert_eq!(seen.power.smt_siblings.unwrap(), [1]);
    assert_eq!(seen.power.on_mains, Some(false));
    assert_eq!((seen.power.battery_percent, seen.power.battery_status.as_deref()), (Some(61), Some("Discharging")));
    let sensors = seen.power.temperatures.unwrap().into_iter().map(|sensor| (sensor.sensor, sensor.milli_C));
    assert!(sensors.eq([("x86_pkg_temp".to_owned(), 47_000), ("coretemp".to_owned(), 46_500)]));

    let other = machine.seen_from(5);
    assert_eq!(other.hardware.model_name.as_deref(), Some("Small Core"));
    assert_eq!(other.hardware.core_type.as_deref(), Some("efficiency"));
    assert_eq!(other.hardware.caches, None);
    assert_eq!(other.virtualisation.hypervisor, Some(true));
}

#[test]
fn an_arm_board_is_named_by_its_device_tree_and_its_serial_number_is_not_told() {
    let cpuinfo = "processor\t: 0\nFeatures\t: fp asimd aes pmull sha1 sha2\nCPU implementer\t: 0x41\n\
                   CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd0b\nCPU revision\t: 2\n\n\
                   Hardware\t: BCM2835\nSerial\t\t: 100000001234abcd\n";
    let files = [("proc/cpuinfo", cpuinfo), ("proc/device-tree/model", "Raspberry Pi 5\0")];
    let seen = Machine::new("board", &files).seen_from(0);
    assert_eq!(seen.hardware.vendor.as_deref(), Some("0x41"));
    assert_eq!(seen.hardware.model_name.as_deref(), Some("Raspberry Pi 5"));
    assert_eq!((seen.hardware.model, seen.hardware.stepping), (Some(0xd0b), Some(0x12)));
    assert_eq!(seen.virtualisation.hypervisor, None, "the features of ARM do not say");
    assert!(!serde_json::to_string(&seen).unwrap().contains("1234abcd"));
}

#[test]
fn the_state_of_the_kernel_is_read_whole() {
    let machine = Machine::new(
        "kernel",
        &[
            ("proc/sys/kernel/osrelease", "6.12.9\n"),
            ("proc/sys/kernel/randomize_va_space", "2\n"),
            ("proc/self/personality", "00000000\n"),
            ("proc/stat", "cpu  100 0 50 1000 0 0 0 7 3 0\ncpu0 1 2 3\n"),
            ("proc/loadavg", "0.50 1.25 9.00 2/300 4242\n"),
            ("proc/pressure/cpu", "some avg10=2.90 avg60=0.74 avg300=0.53 total=5\nfull avg10=1.00 total=0\n"),
            ("sys/devices/system/cpu/vulnerabilities/spectre_v1", "Mitigation: barriers\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
        ],
    );
    let seen = machine.seen_from(0);
    assert_eq!(seen.kernel.release.as_deref(), Some("6.12.9"));
    assert_eq!(seen.kernel.aslr, Some(2));
    assert_eq!(seen.kernel.mitigations.unwrap()["spectre_v1"], "Mitigation: barriers");
    assert_eq!(seen.kernel.clock_source.as_deref(), Some("tsc"));
    assert_eq!((seen.load.steal_ms, seen.load.total_ms), (Some(70), Some(11_570)));
    assert_eq!(seen.load.averages, Some([0.5, 1.25, 9.0]));
    assert_eq!(seen.load.pressure_10s_percent, Some(2.9));
}

#[test]
fn a_process_started_without_a_random_layout_says_so_whatever_the_system_does() {
    let files = [("proc/sys/kernel/randomize_va_space", "2\n"), ("proc/self/personality", "00040000\n")];
    assert_eq!(Machine::new("setarch", &files).seen_from(0).kernel.aslr, Some(0));
}

#[test]
fn torn_files_are_not_visible_instead_of_wrong() {
    let files = [
        ("proc/loadavg", "0.50 1.2"),
        ("proc/stat", "cpu  100 0 50\n"),
        ("proc/pressure/cpu", "some avg10=\n"),
        ("proc/cpuinfo", "processor\t: 0\nmodel\t: many\nstepping"),
        ("sys/devices/system/cpu/online", "0-\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
    ];
    let seen = Machine::new("torn", &files).seen_from(0);
    assert_eq!(seen.load, Load::default());
    assert_eq!(seen.hardware, Hardware::default());
}

#[test]
fn the_build_knows_its_compiler_and_its_lock_file() {
    let build = build();
    assert!(build.rustc.is_some_and(|version| version.starts_with("rustc ")));
    let lock = include_bytes!("../../../../Cargo.lock");
    assert_eq!(build.lock_sha256, Some(sha256(lock)));
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    assert_eq!(build.executable_sha256, Some(sha256(&program)));
}

#[test]
fn a_hash_is_the_one_of_fips_180() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
