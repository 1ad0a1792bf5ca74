//! What Linux tells in `/proc` and `/sys`. Elsewhere these files are missing, and nothing is seen.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wattlock_meters::topology::processors;
use wattlock_records::{Cache, Hardware, Kernel, Load, Power, Temperature, Virtualisation};

/// Features of x86 processors that ciphers and clocks depend on.
const X86_FLAGS: &str = "adx aes avx avx2 avx512bw avx512f avx512vl bmi2 constant_tsc gfni hypervisor nonstop_tsc \
    pclmulqdq rdrand rdtscp sha_ni sse2 sse4_1 ssse3 tsc_known_freq vaes vpclmulqdq";
/// The same of ARM.
const ARM_FLAGS: &str = "aes asimd neon pmull sha1 sha2 sha3 sha512 sm4 sve sve2";

/// Sensors that sit in the processor. Others (disks, radios) may take milliseconds to answer.
const PROCESSOR_SENSORS: &[&str] = &["coretemp", "k10temp", "zenpower", "cpu", "soc", "x86_pkg_temp"];

/// Linux tells times in 1/100 s to programs, whatever its own clock is (`USER_HZ`).
const TICK_MS: u64 = 10;

/// `ADDR_NO_RANDOMIZE` of personality(2).
const NO_RANDOM_LAYOUT: u32 = 0x0004_0000;

/// `/proc` and `/sys` under some root, looked at from one processor.
pub(super) struct Files {
    root: PathBuf,
    cpu: u32,
}

/// The lines of one processor in `/proc/cpuinfo`, by name.
pub(super) type CpuInfo = BTreeMap<String, String>;

impl Files {
    pub(super) fn new(root: &Path, cpu: u32) -> Self {
        Self { root: root.to_owned(), cpu }
    }

    /// Where `proc` and `sys` lie.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The text of a file without the space around it; `None` where it is missing, unreadable or empty.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.root.join(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// A file that belongs to the processor.
    fn cpu_text(&self, path: &str) -> Option<String> {
        self.text(&format!("sys/devices/system/cpu/cpu{}/{path}", self.cpu))
    }

    fn cpu_number(&self, path: &str) -> Option<u32> {
        self.cpu_text(path)?.parse().ok()
    }

    /// Names in a folder, sorted; `None` where there is no such folder.
    fn names(&self, path: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(self.root.join(path)).ok()?;
        let mut names: Vec<_> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort();
        Some(names)
    }

    /// The processor's own lines; the last processor's where it is not among them.
    pub(super) fn cpuinfo(&self) -> CpuInfo {
        let text = self.text("proc/cpuinfo").unwrap_or_default();
        let mut found = CpuInfo::new();
        for block in text.split("\n\n") {
            let lines = block.lines().filter_map(|line| line.split_once(':'));
            let block: CpuInfo = lines.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
            // Some ARM kernels close with a block about the board, which numbers no processor.
            let number = block.get("processor").and_then(|number| number.parse().ok());
            if number.is_some() {
                found = block;
            }
            if number == Some(self.cpu) {
                break;
            }
        }
        found
    }

    pub(super) fn hardware(&self, cpuinfo: &CpuInfo) -> Hardware {
        let text = |name: &str| cpuinfo.get(name).cloned();
        let number = |name: &str| parse(cpuinfo.get(name)?);
        let midr_low = || Some(number("CPU variant")? * 16 + number("CPU revision")?);
        let flags = text("flags").or_else(|| text("Features"));
        Hardware {
            vendor: text("vendor_id").or_else(|| text("CPU implementer")),
            model_name: text("model name").or_else(|| self.text("proc/device-tree/model")),
            family: number("cpu family").or_else(|| number("CPU architecture")),
            model: number("model").or_else(|| number("CPU part")),
            stepping: number("stepping").or_else(midr_low),
            microcode: text("microcode"),
            flags: flags.map(|all| of_interest(&all)),
            core_type: self.core_type(),
            core_class: self.core_class(self.cpu),
            core_capacity: self.core_capacity(),
            processors: self.online().and_then(|all| u32::try_from(all.len()).ok()),
            caches: self.caches(),
        }
    }

    /// Processors on line.
    pub(super) fn online(&self) -> Option<Vec<u32>> {
        self.text("sys/devices/system/cpu/online").and_then(|list| processors(&list))
    }

    pub(super) fn core_capacity(&self) -> Option<u32> {
        self.cpu_number("cpu_capacity")
    }

    pub(super) fn core_type(&self) -> Option<String> {
        let kinds = [("cpu_core", "performance"), ("cpu_atom", "efficiency")];
        let holds = |folder: &str| {
            let list = self.text(&format!("sys/devices/{folder}/cpus")).and_then(|list| processors(&list));
            list.is_some_and(|list| list.contains(&self.cpu))
        };
        kinds.iter().find(|(folder, _)| holds(folder)).map(|(_, kind)| (*kind).to_owned())
    }

    fn caches(&self) -> Option<Vec<Cache>> {
        let names = self.names(&format!("sys/devices/system/cpu/cpu{}/cache", self.cpu))?;
        let cache = |name: &String| {
            let size = self.cpu_text(&format!("cache/{name}/size"))?;
            Some(Cache {
                level: self.cpu_number(&format!("cache/{name}/level"))?,
                holds: self.cpu_text(&format!("cache/{name}/type"))?,
                size_KiB: size.strip_suffix('K')?.parse().ok()?,
                shared_by: self.cpu_text(&format!("cache/{name}/shared_cpu_list")).and_then(|list| processors(&list)),
            })
        };
        let caches: Vec<_> = names.iter().filter_map(cache).collect();
        (!caches.is_empty()).then_some(caches)
    }

    pub(super) fn virtualisation(&self, cpuinfo: &CpuInfo, emulator: Option<String>) -> Virtualisation {
        let flags = cpuinfo.get("flags");
        Virtualisation {
            hypervisor: flags.map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")),
            product: self.text("sys/class/dmi/id/product_name"),
            emulator,
        }
    }

    pub(super) fn kernel(&self) -> Kernel {
        const WEAKNESSES: &str = "sys/devices/system/cpu/vulnerabilities";
        let mitigations = self.names(WEAKNESSES).map(|names| {
            let state = |name: &String| self.text(&format!("{WEAKNESSES}/{name}"));
            names.into_iter().filter_map(|name| Some((name.clone(), state(&name)?))).collect()
        });
        let personality = self.text("proc/self/personality").and_then(|text| u32::from_str_radix(&text, 16).ok());
        let fixed_layout = personality.is_some_and(|bits| bits & NO_RANDOM_LAYOUT != 0);
        Kernel {
            os: std::env::consts::OS.to_owned(),
            release: self.text("proc/sys/kernel/osrelease"),
            mitigations,
            clock_source: self.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            aslr: if fixed_layout { Some(0) } else { self.number("proc/sys/kernel/randomize_va_space") },
        }
    }

    pub(super) fn power(&self) -> Power {
        let siblings = self.cpu_text("topology/thread_siblings_list").and_then(|list| processors(&list));
        let battery = self.supply("Battery");
        let of_battery = |file: &str| self.text(&format!("{}/{file}", battery.as_ref()?));
        Power {
            governor: self.cpu_text("cpufreq/scaling_governor"),
            driver: self.cpu_text("cpufreq/scaling_driver"),
            preference: self.cpu_text("cpufreq/energy_performance_preference"),
            least_kHz: self.cpu_number("cpufreq/scaling_min_freq"),
            most_kHz: self.cpu_number("cpufreq/scaling_max_freq"),
            boost: self.boost(),
            smt_siblings: siblings.map(|all| all.into_iter().filter(|cpu| *cpu != self.cpu).collect()),
            on_mains: self
                .supply("Mains")
                .and_then(|mains| self.number::<u32>(&format!("{mains}/online")))
                .map(|online| online != 0),
            battery_percent: of_battery("capacity").and_then(|text| text.parse().ok()),
            battery_status: of_battery("status"),
            profile: self.text("sys/firmware/acpi/platform_profile"),
            temperatures: self.temperatures(),
        }
    }

    fn boost(&self) -> Option<bool> {
        let allowed = self.number::<u32>("sys/devices/system/cpu/cpufreq/boost").map(|boost| boost != 0);
        let forbidden = self.number::<u32>("sys/devices/system/cpu/intel_pstate/no_turbo");
        allowed.or_else(|| forbidden.map(|forbidden| forbidden == 0))
    }

    /// The folder of the machine's own supply of a kind; a mouse's battery is not it.
    fn supply(&self, kind: &str) -> Option<String> {
        const SUPPLIES: &str = "sys/class/power_supply";
        let folders = self.names(SUPPLIES)?.into_iter().map(|name| format!("{SUPPLIES}/{name}"));
        let mut own = folders.filter(|folder| self.text(&format!("{folder}/scope")).as_deref() != Some("Device"));
        own.find(|folder| self.text(&format!("{folder}/type")).as_deref() == Some(kind))
    }

    fn temperatures(&self) -> Option<Vec<Temperature>> {
        let mut found = Vec::new();
        for (class, name_file) in [("sys/class/thermal", "type"), ("sys/class/hwmon", "name")] {
            for folder in self.names(class).unwrap_or_default() {
                let Some(sensor) = self.text(&format!("{class}/{folder}/{name_file}")) else { continue };
                if PROCESSOR_SENSORS.iter().any(|known| sensor.starts_with(known)) {
                    let value = self.number(&format!("{class}/{folder}/temp"));
                    let value = value.or_else(|| self.number(&format!("{class}/{folder}/temp1_input")));
                    found.extend(value.map(|milli_C| Temperature { sensor, milli_C }));
                }
            }
        }
        (!found.is_empty()).then_some(found)
    }

    pub(super) fn load(&self) -> Load {
        let stat = self.text("proc/stat").unwrap_or_default();
        let cpu_line = stat.lines().next().and_then(|line| line.strip_prefix("cpu "));
        // proc(5): user, nice, system, idle, iowait, irq, softirq, steal; guest times are within user's.
        let times: Vec<u64> =
            cpu_line.unwrap_or_default().split_whitespace().map_while(|time| time.parse().ok()).take(8).collect();
        let pressure = self.text("proc/pressure/cpu");
        let some = pressure.iter().flat_map(|text| text.lines()).find(|line| line.starts_with("some "));
        let averages = self.text("proc/loadavg").map(|text| {
            text.split_whitespace().map_while(|average| average.parse().ok()).take(3).collect::<Vec<f64>>()
        });
        Load {
            pressure_10s_percent: some
                .and_then(|line| line.split_whitespace().find_map(|word| word.strip_prefix("avg10=")))
                .and_then(|share| share.parse().ok()),
            averages: averages.and_then(|averages| averages.try_into().ok()),
            steal_ms: times.get(7).map(|ticks| ticks * TICK_MS),
            total_ms: (times.len() == 8).then(|| times.iter().sum::<u64>() * TICK_MS),
        }
    }
}

/// A number as `/proc/cpuinfo` writes it, decimal or `0x`.
fn parse(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn of_interest(flags: &str) -> Vec<String> {
    let of_interest = |flag: &&str| X86_FLAGS.split(' ').chain(ARM_FLAGS.split(' ')).any(|known| known == *flag);
    let mut known: Vec<_> = flags.split_whitespace().filter(of_interest).map(str::to_owned).collect();
    known.sort();
    known
}
