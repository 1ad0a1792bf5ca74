//! Made-up trees of the kernel's drivers of sensors: which of their channels are meters, what they are called and what
//! they read.

use super::*;

const BATTERY: &str = "class/power_supply/sbs-5-000b";

/// A chip of these files.
fn chip(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = tree(&format!("driver-{name}"), &[("class/hwmon/hwmon0/name", name)]);
    files.iter().for_each(|(file, text)| put(&root, &format!("class/hwmon/hwmon0/{file}"), text));
    root
}

/// The meters that may be used, without their kind and chip.
fn usable(root: &Path) -> Vec<String> {
    let all = hwmon::found(root).into_iter().filter(|found| found.missing.is_none());
    all.map(|found| found.record.domain.split_once('/').unwrap().1.to_owned()).collect()
}

/// What its thread sampled first, milliwatts, seen by how the counter rises.
fn power_mW(root: &Path, domain: &str) -> f64 {
    let mut opened = hwmon::open(root, domain, SystemTime).map_err(|missing| missing.why).unwrap();
    let first = opened.meter.read().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(40));
    let last = opened.meter.read().unwrap();
    (last.counter - first.counter) as f64 / (last.after - first.after) as f64 * 1000.0
}

/// A chip, its files, and which of its channels are meters.
type Page = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const PAGES: &[Page] = &[
    (
        "ina226",
        &[("in0_input", "1"), ("in1_input", "5000"), ("curr1_input", "100"), ("power1_input", "500000")],
        &["power1"],
    ),
    (
        "ina238",
        &[("in0_input", "1"), ("in1_input", "5000"), ("curr1_input", "100"), ("power1_input", "500000")],
        &["power1"],
    ),
    ("ina228", &[("in1_input", "5000"), ("power1_input", "500000"), ("energy1_input", "7")], &["energy1"]),
    (
        "amd_energy",
        &[
            ("energy1_input", "7"),
            ("energy1_label", "Ecore000"),
            ("energy33_input", "9"),
            ("energy33_label", "Esocket0"),
        ],
        &["Ecore000", "Esocket0"],
    ),
    ("power_meter", &[("power1_average", "90000000"), ("power1_average_interval", "1000")], &["power1"]),
    ("fam15h_power", &[("power1_input", "9000000"), ("power1_crit", "95000000")], &["power1"]),
    (
        "corsairpsu",
        &[
            ("in0_input", "230000"),
            ("in1_input", "12000"),
            ("curr1_input", "400"),
            ("curr2_input", "5000"),
            ("power1_input", "90000000"),
            ("power1_label", "power total"),
            ("power2_input", "60000000"),
            ("power2_label", "power +12v"),
        ],
        &["power +12v", "power total"],
    ),
    (
        "lm25066",
        &[
            ("in1_label", "vin"),
            ("in1_input", "12000"),
            ("in2_label", "vmon"),
            ("in2_input", "900"),
            ("in3_label", "vout1"),
            ("in3_input", "11900"),
            ("curr1_label", "iin"),
            ("curr1_input", "500"),
            ("power1_label", "pin"),
            ("power1_input", "6000000"),
        ],
        &["pin"],
    ),
    (
        "tps53679",
        &[
            ("in1_label", "vin"),
            ("in1_input", "12000"),
            ("in2_label", "vout1"),
            ("in2_input", "1000"),
            ("in3_label", "vout2"),
            ("in3_input", "800"),
            ("curr1_label", "iout1"),
            ("curr1_input", "9000"),
            ("curr2_label", "iout1.0"),
            ("curr2_input", "4000"),
            ("curr3_label", "iout2"),
            ("curr3_input", "3000"),
            ("power1_label", "pout1"),
            ("power1_input", "9000000"),
        ],
        &["out2", "pout1"],
    ),
    ("ltc2945", &[("in1_input", "5000"), ("in2_input", "900"), ("curr1_input", "100")], &["curr1"]),
    (
        "ltc2947",
        &[("in0_input", "5000"), ("in1_input", "3300"), ("curr1_input", "100"), ("curr1_label", "IP-IM")],
        &["IP-IM"],
    ),
    ("ltc4260", &[("in1_input", "48000"), ("in2_input", "900"), ("curr1_input", "100")], &["curr1"]),
    (
        "ltc4282",
        &[
            ("in0_input", "11900"),
            ("in0_label", "VSOURCE"),
            ("curr1_input", "100"),
            ("power1_input", "1200000"),
            ("power1_label", "Power"),
            ("energy1_input", "7"),
            ("energy1_enable", "0"),
        ],
        &["Power"],
    ),
    (
        "ltc4245",
        &[("in5_input", "12000"), ("curr1_input", "100"), ("power1_input", "1200000"), ("power4_input", "1200000")],
        &["12v", "Vee"],
    ),
    (
        "max16065",
        &[("in0_input", "900"), ("in1_input", "1800"), ("in12_input", "12000"), ("curr1_input", "100")],
        &["curr1"],
    ),
    (
        "tps23861",
        &[
            ("in0_input", "54000"),
            ("in0_label", "Port1"),
            ("in1_input", "54100"),
            ("in1_label", "Port2"),
            ("in1_enable", "0"),
            ("in4_input", "55000"),
            ("in4_label", "Input"),
            ("curr1_input", "100"),
            ("curr2_input", "50"),
        ],
        &["Port1"],
    ),
    (
        "macsmc_hwmon",
        &[
            ("power1_input", "9000000"),
            ("power1_label", "Total System Power"),
            ("in1_input", "12000"),
            ("in1_label", "AC Input"),
            ("curr7_input", "700"),
            ("curr7_label", "AC Input"),
        ],
        &["AC Input", "Total System Power"],
    ),
    ("highflownext", &[("power1_input", "9000000"), ("power1_label", "Dissipated power")], &[]),
    ("coretemp", &[("temp1_input", "40000")], &[]),
];

#[test]
fn the_channels_of_each_driver_are_those_that_its_page_names() {
    for (name, files, right) in PAGES {
        assert_eq!(usable(&chip(name, files)), *right, "{name}");
    }
}

#[test]
fn voltage_and_current_are_of_a_single_rail_and_sums_and_shunts_of_none() {
    let root = chip(
        "ina3221",
        &[
            ("in1_label", "VDD_GPU"),
            ("in1_input", "19000"),
            ("curr1_input", "500"),
            ("in2_label", "VDD_CPU"),
            ("in2_input", "19000"),
            ("curr2_input", "1000"),
            ("in3_label", "VIN_5V0"),
            ("in3_input", "5000"),
            ("curr3_input", "1500"),
            ("in4_input", "1"),
            ("in5_input", "2"),
            ("in6_input", "3"),
            ("in7_label", "sum of shunt voltages"),
            ("in7_input", "6"),
            ("curr4_input", "3000"),
        ],
    );
    assert_eq!(usable(&root), ["VDD_CPU", "VDD_GPU", "VIN_5V0"]);
    let power_mW = power_mW(&root, "ina3221/VIN_5V0");
    assert!((power_mW - 7500.0).abs() < 1.0, "{power_mW}");
    // A rail of a power supply: `in1` goes with `curr2`, and `in0` is the mains.
    let root = chip("corsairpsu", &[("in0_input", "230000"), ("in1_input", "12000"), ("curr2_input", "5000")]);
    assert_eq!(usable(&root), ["curr2"]);
    let power_mW = self::power_mW(&root, "corsairpsu/curr2");
    assert!((power_mW - 60_000.0).abs() < 1.0, "{power_mW}");
}

#[test]
fn channels_of_the_same_label_can_both_be_chosen() {
    let root = chip(
        "ina3221",
        &[
            ("in1_label", "VDD"),
            ("in1_input", "5000"),
            ("curr1_input", "100"),
            ("in2_label", "VDD"),
            ("in2_input", "5000"),
            ("curr2_input", "300"),
            ("in3_label", "OFF"),
            ("in3_input", "0"),
            ("curr3_input", "0"),
        ],
    );
    assert_eq!(usable(&root), ["OFF", "VDD#curr1", "VDD#curr2"]);
    assert!((power_mW(&root, "ina3221/VDD#curr2") - 1500.0).abs() < 1.0);
    // Two chips that nothing tells apart.
    for at in [3, 4] {
        put(&root, &format!("class/hwmon/hwmon{at}/name"), "ltc2945");
        put(&root, &format!("class/hwmon/hwmon{at}/power1_input"), &format!("{at}000000"));
    }
    let names: Vec<String> = hwmon::found(&root).into_iter().map(|found| found.record.domain).collect();
    assert_eq!(names[3..], ["ltc2945/power1~1", "ltc2945/power1~2"]);
    assert!((power_mW(&root, "ltc2945/power1~2") - 4000.0).abs() < 1.0);
}

#[test]
fn there_are_as_many_channels_as_files() {
    let names: Vec<String> = (1..=129).map(|at| format!("energy{at}_input")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "5")).collect();
    assert_eq!(hwmon::found(&chip("amd_energy", &files)).len(), 129);
}

#[test]
fn a_driver_that_nobody_knows_has_no_power_by_numbers_and_says_so() {
    let root = chip("newchip", &[("in1_input", "1"), ("curr1_input", "3000")]);
    let found = hwmon::found(&root);
    assert_eq!(found.len(), 1);
    let missing = found[0].missing.clone().unwrap();
    assert!(missing.why.contains("of the driver newchip belongs to which current is not known"), "{}", missing.why);
    assert!(hwmon::open(&root, "newchip/curr1", SystemTime).is_err());
    put(&root, "class/hwmon/hwmon0/in1_label", "5V");
    put(&root, "class/hwmon/hwmon0/curr1_label", "5V");
    assert_eq!(usable(&root), ["5V"]);
}

#[test]
fn a_channel_that_is_switched_off_says_so() {
    let root = chip("ina3221", &[("in2_input", "5000"), ("curr2_input", "100"), ("in2_enable", "0")]);
    let missing = hwmon::open(&root, "", SystemTime).err().unwrap();
    assert!(missing.why.contains("in2_enable holds 0: the channel is switched off"), "{}", missing.why);
}

#[test]
fn a_channel_whose_driver_says_that_it_failed_has_no_power_whatever_it_shows() {
    let root = chip("ina219", &[("in1_input", "5000"), ("curr1_input", "100"), ("in1_fault", "1")]);
    let missing = hwmon::open(&root, "", SystemTime).err().unwrap();
    assert!(missing.why.contains("in1_fault holds \"1\": the driver says"), "{}", missing.why);
    put(&root, "class/hwmon/hwmon0/in1_fault", "0");
    let mut opened = hwmon::open(&root, "", SystemTime).map_err(|missing| missing.why).unwrap();
    assert!(opened.meter.read().is_ok());
    put(&root, "class/hwmon/hwmon0/in1_fault", "1");
    std::thread::sleep(std::time::Duration::from_millis(40));
    assert_eq!(opened.meter.read().unwrap_err(), MeterError::Unreadable);
}

#[test]
fn more_power_than_a_number_holds_is_no_power() {
    let most = "9223372036854775807";
    for files in [&[("power1_input", most)][..], &[("in1_input", most), ("curr1_input", "1000")]] {
        let missing = hwmon::open(&chip("ina219", files), "", SystemTime).err().unwrap();
        assert!(missing.why.contains("more than any sensor measures"), "{}", missing.why);
    }
}

#[test]
fn a_label_that_would_end_a_line_or_steer_a_terminal_is_no_name() {
    for label in ["a\nb", "\x1b[31m", ""] {
        assert_eq!(usable(&chip("occ", &[("power1_input", "9"), ("power1_label", label)])), ["power1"]);
    }
}

/// A smart battery, which the kernel shows twice; its current flows out.
fn battery_behind_hwmon(status: &str) -> PathBuf {
    let files = [("in0_input", "12000"), ("curr1_input", "-1600"), ("temp1_input", "30000")];
    let root = chip("sbs_5_000b", &files);
    for (file, text) in
        [("type", "Battery"), ("voltage_now", "12000000"), ("current_now", "-1600000"), ("status", status)]
    {
        put(&root, &format!("{BATTERY}/{file}"), text);
    }
    root
}

#[test]
fn a_battery_behind_hwmon_has_no_power_while_it_is_charged() {
    let root = battery_behind_hwmon("Charging");
    let missing = hwmon::found(&root).remove(0).missing.unwrap();
    assert!(missing.why.contains("sbs-5-000b/status holds \"Charging\""), "{}", missing.why);
    assert!(hwmon::open(&root, "sbs_5_000b/curr1", SystemTime).is_err());
    put(&root, &format!("{BATTERY}/status"), "Discharging");
    let mut opened = hwmon::open(&root, "sbs_5_000b/curr1", SystemTime).map_err(|missing| missing.why).unwrap();
    assert_eq!(opened.description.update_period_ns, 1_000_000_000);
    assert_eq!(opened.description.overlaps, ["battery:sbs-5-000b"]);
    assert!(opened.meter.read().is_ok());
    // The charger comes midway.
    put(&root, "class/power_supply/usb/type", "USB");
    put(&root, "class/power_supply/usb/online", "1");
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert_eq!(opened.meter.read().unwrap_err(), MeterError::NotDischarging);
}

#[test]
fn a_power_meter_of_a_battery_counts_only_while_that_is_discharged() {
    let root = chip("power_meter", &[("power1_input", "9000000"), ("power1_is_battery", "1")]);
    for (file, text) in [("type", "Battery"), ("status", "Charging")] {
        put(&root, &format!("class/power_supply/BAT0/{file}"), text);
    }
    assert!(usable(&root).is_empty());
    put(&root, "class/power_supply/BAT0/status", "Discharging");
    assert_eq!(usable(&root), ["power1"]);
}

#[test]
fn a_charger_and_the_battery_of_a_mouse_are_no_meters_of_the_machine() {
    for (file, kind, why) in [("online", "USB", "a charger"), ("scope", "Battery", "a device beside the machine")] {
        let root = chip("ucsi_source_psy", &[("in0_input", "20000"), ("curr1_input", "3000")]);
        put(&root, "class/power_supply/ucsi-source-psy/type", kind);
        put(&root, &format!("class/power_supply/ucsi-source-psy/{file}"), "Device");
        let missing = hwmon::open(&root, "", SystemTime).err().unwrap();
        assert!(missing.why.contains(why), "{}", missing.why);
    }
}

#[test]
fn labels_with_a_plus_are_names_and_no_sums() {
    let root = chip(
        "corsairpsu",
        &[
            ("power2_input", "60000000"),
            ("power2_label", "power +12v"),
            ("power3_input", "5000000"),
            ("power3_label", "power +5v"),
        ],
    );
    let open = |meter: &str| {
        let plan = wattlock_records::EnergyPlan {
            meter: meter.to_owned(),
            sys_root: Some(root.display().to_string()),
            stream: None,
            block_ns: 0,
            superblocks: 0,
            baseline: wattlock_records::Baseline::Idle,
        };
        open(&plan, None)
    };
    assert!(open("hwmon:corsairpsu/power +12v").is_ok());
    let shared = open("hwmon:corsairpsu/power +12v+hwmon:corsairpsu/power +5v").err().unwrap();
    assert!(
        shared.why.starts_with("hwmon:corsairpsu/power +12v and hwmon:corsairpsu/power +5v count"),
        "{}",
        shared.why
    );
    let empty = open("hwmon:corsairpsu/power +12v+").err().unwrap();
    assert!(empty.why.contains("there is no meter \"\""), "{}", empty.why);
}

#[cfg(unix)]
#[test]
fn zones_whose_target_is_not_mounted_are_said_to_be_links_to_nothing() {
    let root = tree("dangling", &[("class/powercap/note", "")]);
    let target = "../../devices/virtual/powercap/intel-rapl";
    std::os::unix::fs::symlink(target, root.join("class/powercap/intel-rapl:0")).unwrap();
    let said = "the zones are links whose target isn't mounted";
    let found = powercap::found(&root);
    assert_eq!(found.len(), 1);
    assert!(found[0].missing.as_ref().is_some_and(|missing| missing.why.ends_with(said)));
    let missing = powercap::open(&root, "powercap", "package-0", SystemTime).err().unwrap();
    assert!(missing.why.ends_with(said) && missing.hint.contains("systempaths=unconfined"), "{missing:?}");
}
