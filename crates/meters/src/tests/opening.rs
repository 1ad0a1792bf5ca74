//! What opening a meter refuses: the wrong package, no value, no movement, no answer.

use super::super::file::NoNumber;
use super::super::sampled::Sampled;
use super::batteries::battery_tree;
use super::counters::{PACKAGE, powercap_tree};
use super::*;

/// What opening a meter of a tree says, the load pinned to `cpu`.
fn opened(root: &Path, meter: &str, cpu: Option<u32>) -> Result<Opened, Missing> {
    let plan = wattlock_records::EnergyPlan {
        meter: meter.to_owned(),
        sys_root: Some(root.display().to_string()),
        stream: None,
        block_ns: 0,
        superblocks: 0,
        baseline: wattlock_records::Baseline::Idle,
    };
    open(&plan, cpu)
}

fn refusal(root: &Path, meter: &str, cpu: Option<u32>) -> Missing {
    opened(root, meter, cpu).err().unwrap()
}

/// Two packages; processors 0 and 1 are in the first, 2 and 3 in the second.
fn two_packages(name: &str) -> PathBuf {
    let root = tree(name, &[]);
    for package in 0..2 {
        let zone = format!("class/powercap/intel-rapl:{package}");
        put(&root, &format!("{zone}/name"), &format!("package-{package}"));
        put(&root, &format!("{zone}/energy_uj"), &format!("{}", 1000 + package));
    }
    for cpu in 0..4 {
        let topology = format!("devices/system/cpu/cpu{cpu}/topology");
        put(&root, &format!("{topology}/physical_package_id"), &format!("{}", cpu / 2));
        put(&root, &format!("{topology}/core_cpus_list"), &format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1));
    }
    root
}

#[test]
fn one_of_several_packages_is_not_taken_unasked() {
    let missing = refusal(&two_packages("unasked"), "powercap", Some(3));
    assert_eq!(missing.why, "there are 2 packages: powercap:package-0, powercap:package-1");
    assert!(missing.hint.contains("powercap:package-0+powercap:package-1"), "{}", missing.hint);
    assert_eq!(opened(&powercap_tree("only"), "powercap", Some(3)).unwrap().description.domain, "package-0");
}

#[test]
fn a_package_that_the_pinned_processor_is_not_in_is_an_error() {
    let root = two_packages("elsewhere");
    let missing = refusal(&root, "powercap:package-0", Some(3));
    assert!(missing.why.contains("processor 3, which is in package-1"), "{}", missing.why);
    assert!(missing.hint.contains("powercap:package-1"), "{}", missing.hint);
    for (meter, cpu) in [
        ("powercap:package-1", Some(3)),
        ("powercap:package-0+powercap:package-1", Some(3)),
        ("powercap:package-0", Some(1)),
        ("powercap:package-0", None),
    ] {
        assert!(opened(&root, meter, cpu).is_ok(), "{meter} {cpu:?}");
    }
}

#[test]
fn a_die_that_the_pinned_processor_is_not_in_is_an_error() {
    let root = two_packages("die");
    for die in 0..2 {
        put(&root, &format!("class/powercap/intel-rapl:{die}/name"), &format!("package-0-die-{die}"));
        put(&root, &format!("devices/system/cpu/cpu{die}/topology/die_id"), &format!("{die}"));
    }
    assert!(opened(&root, "powercap:package-0-die-1", Some(1)).is_ok());
    assert!(refusal(&root, "powercap:package-0-die-0", Some(1)).hint.contains("package-0-die-1"));
}

#[test]
fn mirrored_dies_are_not_added_up() {
    let root = two_packages("mirrors");
    put(&root, "class/powercap/intel-rapl:1/energy_uj", "1000");
    let missing = refusal(&root, "powercap:package-0+powercap:package-1", None);
    assert!(missing.why.contains("not added up"), "{}", missing.why);
}

#[test]
fn perf_counts_the_package_or_the_core_of_the_pinned_processor() {
    let root = two_packages("perf-packages");
    for (pmu, event, mask) in [("power", "energy-pkg", "0,2"), ("power_core", "energy-core", "0,2")] {
        put(&root, &format!("devices/{pmu}/cpumask"), mask);
        put(&root, &format!("devices/{pmu}/events/{event}"), "event=0x02");
        put(&root, &format!("devices/{pmu}/events/{event}.scale"), "2.3283064365386962890625e-10");
        put(&root, &format!("devices/{pmu}/events/{event}.unit"), "Joules");
    }
    for event in perf::events(&root) {
        let counting = [None, Some(1), Some(3)].map(|pinned| event.counts_for(&root, pinned).unwrap());
        assert_eq!(counting, [0, 0, 2], "{event:?}");
        assert!(event.counts_for(&root, Some(9)).is_err(), "no topology tells where processor 9 is");
        let overlaps = event.describe(&[], &root, 2).overlaps;
        assert!(overlaps.iter().all(|name| name.contains(":package-1")), "{overlaps:?}");
    }
}

#[test]
fn perf_counts_the_core_of_the_pinned_processor_where_its_package_has_several() {
    let root = two_packages("perf-cores");
    (0..4).for_each(|cpu| put(&root, &format!("devices/system/cpu/cpu{cpu}/topology/physical_package_id"), "0"));
    for (pmu, event) in [("power", "energy-pkg"), ("power_core", "energy-core")] {
        put(&root, &format!("devices/{pmu}/cpumask"), "0,2");
        put(&root, &format!("devices/{pmu}/events/{event}"), "event=0x02");
        put(&root, &format!("devices/{pmu}/events/{event}.scale"), "2.3283064365386962890625e-10");
        put(&root, &format!("devices/{pmu}/events/{event}.unit"), "Joules");
    }
    let counting: Vec<u32> =
        perf::events(&root).iter().map(|event| event.counts_for(&root, Some(3)).unwrap()).collect();
    assert_eq!(counting, [0, 2], "of the package any processor, of the core its own");
}

#[test]
fn a_package_is_named_without_its_die() {
    let die = topology::Place::named("package-1-die-0").unwrap();
    assert_eq!((die.to_string(), die.package().to_string()), ("package-1-die-0".to_owned(), "package-1".to_owned()));
    assert!(die.package().holds(die) && !die.holds(die.package()));
}

#[test]
fn a_sampled_meter_says_nothing_where_its_last_read_went_well() {
    let root = battery_tree("says", &[("power_now", "4000000")]);
    let mut opened = opened(&root, "battery", None).unwrap();
    assert!(opened.meter.read().is_ok() && opened.meter.said().is_none());
}

#[test]
fn a_counter_that_is_no_count_is_refused_with_its_file_and_its_text() {
    for text in ["-5", "12 J", "", "99999999999999999", "99999999999999999999999999999"] {
        let root = powercap_tree("no-count");
        put(&root, &format!("{PACKAGE}/energy_uj"), text);
        let why = refusal(&root, "powercap:package-0", None).why;
        assert!(why.contains(&format!("energy_uj holds \"{}", &text[..text.len().min(17)])), "{why}");
    }
    let root = powercap_tree("vanishes");
    let mut opened = opened(&root, "powercap:package-0", None).unwrap();
    put(&root, &format!("{PACKAGE}/energy_uj"), "none");
    let error = opened.meter.read().unwrap_err();
    let message = for_a_record(&described(error, &*opened.meter), root.to_str());
    assert!(
        message
            .ends_with("/sys/class/powercap/intel-rapl:0/energy_uj holds \"none\", which is no count of microjoules")
    );
    assert!(!message.contains(&*root.to_string_lossy()), "{message}");
}

#[test]
fn a_counter_that_stands_still_is_told_before_anything_is_timed() {
    let root = powercap_tree("still");
    let mut opened = opened(&root, "powercap:package-0", None).unwrap();
    let missing = moves(&mut opened).unwrap_err();
    assert!(missing.why.contains("stood at 1 mJ for 5"), "{}", missing.why);
}

#[test]
fn a_sentinel_at_opening_is_refused_with_its_file_and_what_would_mend_it() {
    for (file, shown) in [("energy_now", "65535"), ("charge_now", "-2147483648"), ("current_now", "2147483647")] {
        let root = battery_tree("opening", &[(file, shown), ("voltage_now", "11400000")]);
        let missing = refusal(&root, "battery:BAT0", None);
        assert!(missing.why.contains(&format!("BAT0/{file} holds {shown:?}")), "{}", missing.why);
        assert!(!missing.hint.is_empty());
    }
}

#[test]
fn a_negative_level_is_an_error_where_a_negative_current_is_none() {
    for file in ["energy_now", "charge_now"] {
        let root = battery_tree("negative", &[(file, "-4000000"), ("voltage_now", "11400000")]);
        let why = refusal(&root, "battery", None).why;
        assert!(why.contains(&format!("{file} holds \"-4000000\", and it can't be negative")), "{why}");
    }
    let root = battery_tree("positive", &[("power_now", "-4000000")]);
    assert!(opened(&root, "battery", None).is_ok());
}

#[test]
fn a_level_beyond_any_battery_is_an_error() {
    let root = battery_tree("beyond", &[("energy_now", "9000000000000000")]);
    assert!(refusal(&root, "battery", None).why.contains("more than any battery holds"));
}

#[test]
fn a_charger_of_usb_pd_or_without_a_cable_charges() {
    for (kind, online) in [("USB", "2"), ("USB_PD", "1"), ("Wireless", "1"), ("Mains", "1")] {
        let root = battery_tree("chargers", &[("energy_now", "50000000")]);
        put(&root, "class/power_supply/usb/type", kind);
        put(&root, "class/power_supply/usb/online", online);
        let why = refusal(&root, "battery", None).why;
        assert!(why.contains(&format!("usb/online holds {online:?}")), "{why}");
        put(&root, "class/power_supply/usb/online", "0");
        assert!(opened(&root, "battery", None).is_ok(), "{kind}");
    }
}

#[test]
fn an_average_is_updated_no_faster_than_it_averages_and_says_over_what() {
    let root = tree(
        "average",
        &[
            ("class/hwmon/hwmon1/name", "power_meter"),
            ("class/hwmon/hwmon1/update_interval", "10"),
            ("class/hwmon/hwmon1/power1_average", "90000000"),
        ],
    );
    let missing = refusal(&root, "hwmon", None);
    assert!(missing.why.contains("power1_average_interval"), "{}", missing.why);
    put(&root, "class/hwmon/hwmon1/power1_average_interval", "1000");
    let described = opened(&root, "hwmon", None).unwrap().description;
    assert_eq!(described.update_period_ns, 1_000_000_000);
    assert!(described.scope.contains("an average over 1000 ms"), "{}", described.scope);
    put(&root, "class/hwmon/hwmon1/power1_input", "90000000");
    assert_eq!(opened(&root, "hwmon", None).unwrap().description.update_period_ns, 10_000_000);
}

#[test]
fn a_board_without_sensors_is_said_to_have_none() {
    let root = tree("bare", &[("class/hwmon/hwmon0/name", "coretemp")]);
    assert!(refusal(&root, "hwmon", None).why.starts_with("there is no sensor of power"));
}

/// Answers so often, and then never again.
struct Hanging(u32);

impl Gauge for Hanging {
    fn power_nW(&mut self) -> Result<u64, NoNumber> {
        let Some(left) = self.0.checked_sub(1) else {
            loop {
                std::thread::park();
            }
        };
        self.0 = left;
        Ok(1_000_000_000)
    }
}

#[test]
fn a_driver_that_hangs_does_not_hold_the_meter_for_longer_than_its_patience() {
    let description = wattlock_engine::MeterDescription {
        range: None,
        update_period: 1_000_000,
        round_trip: u64::MAX,
        patience: 400_000_000,
    };
    let error = Sampled::start(Hanging(0), description, SystemTime).err().unwrap();
    assert_eq!(error.cause, MeterError::NoAnswer { waited: 400_000_000 });
    let mut meter = Sampled::start(Hanging(3), description, SystemTime).unwrap();
    let error = energy_block(&mut Sleep, 30_000_000, &mut meter).unwrap_err();
    assert!(matches!(error, MeterError::NoAnswer { .. }), "{error}");
}
