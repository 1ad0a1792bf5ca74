//! Batteries: steps, chargers, numbers that stand for none.

use super::*;

const BATTERY: &str = "class/power_supply/BAT0";

pub(super) fn battery_tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = tree(
        name,
        &[
            ("class/power_supply/BAT0/type", "Battery"),
            ("class/power_supply/BAT0/status", "Discharging"),
            ("class/power_supply/AC/type", "Mains"),
            ("class/power_supply/AC/online", "0"),
        ],
    );
    files.iter().for_each(|(file, text)| put(&root, &format!("{BATTERY}/{file}"), text));
    root
}

/// A gauge of 50 Wh in steps of 10 mWh, its value kept for a second.
fn weigh_battery(root: &Path, then: impl Fn(Nanoseconds, &Path) + 'static) -> Result<EnergyBlock, MeterError> {
    let time = MadeUpTime::default();
    let tree = root.to_path_buf();
    let mut load = passing(&time, move |now| {
        let drawn_uWh = energy_J(now / 1_000_000_000 * 1_000_000_000) / 3600.0 * 1e6;
        let level = (50_000_000.0 - drawn_uWh) as u64 / 10_000 * 10_000;
        put(&tree, &format!("{BATTERY}/energy_now"), &level.to_string());
        then(now, &tree);
    });
    let mut opened = battery::open(root, "", time).unwrap();
    let block = energy_block(&mut load, 100_000_000_000, &mut *opened.meter);
    block.inspect(|block| assert_true(block, &opened.description))
}

#[test]
fn a_gauge_with_steps_and_a_cache_tells_the_truth_within_its_statement() {
    weigh_battery(&battery_tree("steps", &[("energy_now", "50000000")]), |_, _| {}).unwrap();
}

#[test]
fn a_charger_plugged_in_midway_is_an_error() {
    let error = weigh_battery(&battery_tree("midway", &[("energy_now", "50000000")]), |now, tree| {
        if now > 50_000_000_000 {
            put(tree, "class/power_supply/AC/online", "1");
        }
    });
    assert_eq!(error.unwrap_err(), MeterError::NotDischarging);
}

#[test]
fn a_status_that_is_not_discharging_with_the_cable_out_is_an_error() {
    for status in ["Not charging", "Unknown", "Full", "Charging"] {
        let root = battery_tree("status", &[("energy_now", "50000000"), ("status", status)]);
        assert!(battery::open(&root, "", MadeUpTime::default()).is_err(), "{status}");
        assert!(battery::found(&root)[0].missing.is_some(), "{status}");
    }
}

#[test]
fn numbers_that_drivers_show_where_they_have_none_are_errors() {
    for (shown, value) in [
        // All ones in 16 bits, as they are and in thousandths, and in 32; the least and the greatest of 32 bits.
        ("65535", 65_535),
        ("65535000", 65_535_000),
        ("4294967295", 4_294_967_295),
        ("-2147483648", -2_147_483_648),
        ("2147483647", 2_147_483_647),
    ] {
        let root = battery_tree("sentinel", &[("energy_now", shown)]);
        let mut opened = battery::open(&root, "", MadeUpTime::default()).unwrap();
        assert_eq!(opened.meter.read().unwrap_err(), MeterError::NoValue { shown: value });
    }
}

#[test]
fn battery_current_of_either_sign_is_current_drawn() {
    for (name, current) in [("out", "-400000"), ("in", "400000")] {
        let root = battery_tree(name, &[("current_now", current), ("voltage_now", "11400000")]);
        let mut gauge = battery::Draw::of(&root).unwrap();
        assert_eq!(gauge.power_nW(), Ok(4_560_000_000));
    }
}

#[test]
fn power_in_uw_in_current_now_is_an_error() {
    // 13 W: as microamperes they would empty 1.2 Ah in five minutes.
    let files = [("current_now", "13000000"), ("voltage_now", "11400000"), ("charge_full", "1200000")];
    let mut gauge = battery::Draw::of(&battery_tree("uw", &files)).unwrap();
    assert_eq!(gauge.power_nW().unwrap_err().cause, MeterError::NoValue { shown: 13_000_000 });
}

#[test]
fn a_voltage_that_sags_is_not_counted_as_charge_drawn() {
    let root = battery_tree("sag", &[("charge_now", "4000000"), ("voltage_now", "12000000")]);
    let mut opened = battery::open(&root, "", MadeUpTime::default()).unwrap();
    let before = opened.meter.read().unwrap().counter;
    put(&root, &format!("{BATTERY}/voltage_now"), "11000000");
    put(&root, &format!("{BATTERY}/charge_now"), "3999000");
    let drawn = opened.meter.read().unwrap().counter - before;
    assert_eq!(drawn, 41_400_000_000, "1 mAh at 11.5 V");
}
