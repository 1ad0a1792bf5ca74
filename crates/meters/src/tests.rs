//! Every trap of energy meters as a test named after it: one load P(t) in made-up time feeds made-up trees and streams.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]

mod opening;
mod streams;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wattlock_engine::{EnergyBlock, Load, Meter, MeterError, Nanoseconds, energy_block};

use super::hwmon::VoltageCurrent;
use super::sampled::{Gauge, Samples, sample};
use super::*;

/// The one load: 3 W, and 2 W more in every other 0.2 s.
fn power_W(at: Nanoseconds) -> f64 {
    if at / 200_000_000 % 2 == 1 { 5.0 } else { 3.0 }
}

/// Its energy up to a moment, joules.
fn energy_J(at: Nanoseconds) -> f64 {
    let (whole, part) = (at / 400_000_000, at % 400_000_000);
    let high = part.saturating_sub(200_000_000);
    whole as f64 * 1.6 + (part - high) as f64 * 3e-9 + high as f64 * 5e-9
}

/// What must happen when time passes.
type Follow = Rc<RefCell<dyn FnMut(Nanoseconds)>>;

/// Made-up time: it passes when something works, and a made-up tree follows it.
#[derive(Clone, Default)]
struct World {
    now: Arc<AtomicU64>,
    suspended: Arc<AtomicU64>,
}

impl Time for World {
    fn now(&self) -> Nanoseconds {
        self.now.load(Ordering::Relaxed)
    }
    fn suspended(&self) -> Nanoseconds {
        self.suspended.load(Ordering::Relaxed)
    }
}

/// Lets time pass.
struct Passing(World, Follow);

impl Load for Passing {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        let now = self.0.now.fetch_add(time, Ordering::Relaxed) + time;
        (self.1.borrow_mut())(now);
        1
    }
}

fn passing(world: &World, follow: impl FnMut(Nanoseconds) + 'static) -> Passing {
    let follow: Follow = Rc::new(RefCell::new(follow));
    (follow.borrow_mut())(world.now());
    Passing(world.clone(), follow)
}

/// A new tree with these files.
fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = std::env::temp_dir().join(format!("wattlock-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    files.iter().for_each(|(path, text)| put(&root, path, text));
    root
}

fn put(root: &Path, path: &str, text: &str) {
    fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
    fs::write(root.join(path), format!("{text}\n")).unwrap();
}

/// The block's energy is the load's, within the meter's own statement: 1.96 of its standard uncertainty.
fn assert_true(block: &EnergyBlock, record: &MeterRecord) {
    let (from, to) = (block.start.moment(), block.end.moment());
    let truth = (energy_J(to) - energy_J(from)) * 1e9;
    let edges = record.update_period_ns as f64 / 6_f64.sqrt() * 5.0;
    let allowed = 1.96 * edges.hypot(record.quantum_nJ / 6_f64.sqrt());
    let gross = block.gross as f64;
    assert!((gross - truth).abs() <= allowed, "{gross} nJ for {truth} nJ, allowed {allowed}");
}

// The processor's counters -----------------------------------------------------------------------------------------

const PACKAGE: &str = "class/powercap/intel-rapl:0";
const RANGE_UJ: u64 = 262_143_328_850;

fn powercap_tree(name: &str) -> PathBuf {
    let mut files = Vec::new();
    for (zone, called, counter) in [
        ("intel-rapl:0", "package-0", "1000"),
        ("intel-rapl:0:0", "core", "500"),
        ("intel-rapl:0:1", "dram", "300"),
        ("intel-rapl:1", "psys", "2000"),
        ("intel-rapl-mmio:0", "package-0", "1000"),
    ] {
        files.push((format!("class/powercap/{zone}/name"), called.to_owned()));
        files.push((format!("class/powercap/{zone}/energy_uj"), counter.to_owned()));
        files.push((format!("class/powercap/{zone}/max_energy_range_uj"), RANGE_UJ.to_string()));
    }
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    tree(name, &files)
}

/// The counter in quanta of 61 uJ, updated each millisecond with a jitter of 5 %, wrapped.
fn shown_uJ(now: Nanoseconds, start_uJ: u64) -> u64 {
    let update = now / 1_000_000;
    let jitter = update.wrapping_mul(7919) % 50_000;
    let at = if now % 1_000_000 < jitter { update.saturating_sub(1) } else { update } * 1_000_000;
    (start_uJ + (energy_J(at) * 1e6) as u64 / 61 * 61) % RANGE_UJ
}

fn weigh_package(
    root: &Path,
    start_uJ: u64,
    then: impl Fn(&World, Nanoseconds, &Path) + 'static,
) -> Result<EnergyBlock, MeterError> {
    let world = World::default();
    let (tree, theirs) = (root.to_path_buf(), world.clone());
    let mut load = passing(&world, move |now| {
        put(&tree, &format!("{PACKAGE}/energy_uj"), &format!("{:020}", shown_uJ(now, start_uJ)));
        then(&theirs, now, &tree);
    });
    let mut opened = powercap::open(root, powercap::KIND, "package-0", world).unwrap();
    let block = energy_block(&mut load, 500_000_000, &mut *opened.meter);
    block.inspect(|block| assert_true(block, &opened.description))
}

#[test]
fn a_counter_with_quanta_and_jitter_tells_the_truth_within_its_statement() {
    let block = weigh_package(&powercap_tree("plain"), 1000, |_, _, _| {}).unwrap();
    assert!(block.gross > 1_500_000_000, "{}", block.gross);
}

#[test]
fn a_powercap_zone_tells_its_quantum_its_update_and_its_range_as_the_makers_state_them() {
    let package = &powercap::found(&powercap_tree("stated"))[0].record;
    // 2^-14 J and about 1 ms (Intel SDM volume 3B, 16.10.1 and 16.10.3); the range as its file says, in nanojoules.
    assert_eq!((package.quantum_nJ, package.update_period_ns), (61_035.156_25, 1_000_000));
    assert_eq!(package.range_nJ, Some(262_143_328_850_000));
    // Without a limit of its own it is taken to draw 1000 W at most: it goes round in 262 s.
    assert_eq!(package.round_trip_ns, Some(262_143_328_850));
}

#[test]
fn a_zone_with_limits_is_taken_to_draw_twice_the_highest_of_them_and_no_more_than_any_zone() {
    let root = powercap_tree("limits");
    // Of the long-term, the short-term and the peak limit, microwatts.
    for (limits, most_W) in
        [(["15000000", "25000000", "0"], 50), (["700000", "0", "0"], 2), (["0", "700000000", "0"], 1000)]
    {
        for (at, limit) in limits.iter().enumerate() {
            put(&root, &format!("{PACKAGE}/constraint_{at}_max_power_uw"), limit);
        }
        let found = powercap::found(&root);
        let package = found.iter().find(|found| found.record.name == "powercap:package-0").unwrap();
        assert_eq!(package.record.round_trip_ns, Some(RANGE_UJ * 1000 / most_W), "{limits:?}");
    }
}

#[test]
fn counter_wrapped_once_is_unrolled() {
    let block = weigh_package(&powercap_tree("wrap"), RANGE_UJ - 500_000, |_, _, _| {}).unwrap();
    assert!(block.end.counter < block.start.counter);
}

#[test]
fn wrapped_with_an_unreadable_range_is_an_error() {
    let root = powercap_tree("range");
    fs::remove_file(root.join(PACKAGE).join("max_energy_range_uj")).unwrap();
    let error = weigh_package(&root, RANGE_UJ - 500_000, |_, _, _| {}).unwrap_err();
    assert!(matches!(error, MeterError::WentBackwards { .. }), "{error}");
}

#[test]
fn went_backwards_after_suspend_is_an_error() {
    let error = weigh_package(&powercap_tree("suspend"), 5_000_000, |world, now, tree| {
        if now > 250_000_000 {
            world.suspended.store(60_000_000_000, Ordering::Relaxed);
            put(tree, &format!("{PACKAGE}/energy_uj"), &format!("{:020}", now / 1000));
        }
    })
    .unwrap_err();
    assert_eq!(error, MeterError::Suspended { suspended: 60_000_000_000 });
}

#[test]
fn reset_without_a_suspend_is_no_wrap() {
    let error = weigh_package(&powercap_tree("reset"), 5_000_000, |_, now, tree| {
        if now > 250_000_000 {
            put(tree, &format!("{PACKAGE}/energy_uj"), &format!("{:020}", now / 1000));
        }
    })
    .unwrap_err();
    assert!(matches!(error, MeterError::WentBackwards { .. }), "{error}");
}

#[test]
fn stuck_at_zero_is_an_error_and_is_listed() {
    let root = powercap_tree("zero");
    let error =
        weigh_package(&root, 0, |_, _, tree| put(tree, &format!("{PACKAGE}/energy_uj"), "00000000000000000000"));
    assert!(matches!(error, Err(MeterError::Stuck { counter: 0, .. })), "{error:?}");
    let found = powercap::found(&root);
    let package = found.iter().find(|found| found.record.name == "powercap:package-0").unwrap();
    assert!(package.missing.as_ref().unwrap().why.contains("stands at 0"));
}

#[test]
fn a_window_shorter_than_five_counter_updates_is_refused() {
    let root = powercap_tree("short");
    let world = World::default();
    let tree = root.clone();
    let mut load =
        passing(&world, move |now| put(&tree, &format!("{PACKAGE}/energy_uj"), &shown_uJ(now, 0).to_string()));
    let mut opened = powercap::open(&root, powercap::KIND, "package-0", world).unwrap();
    let error = energy_block(&mut load, 100_000, &mut *opened.meter).unwrap_err();
    assert!(matches!(error, MeterError::WindowTooShort { .. }), "{error}");
}

fn overlaps(root: &Path, name: &str) -> Vec<String> {
    powercap::found(root).into_iter().find(|found| found.record.name == name).unwrap().record.overlaps
}

#[test]
fn package_and_core_and_psys_are_not_to_be_added_up_and_twins_count_once() {
    let root = powercap_tree("overlap");
    let package = overlaps(&root, "powercap:package-0");
    for other in ["powercap:package-0/core", "powercap:psys", "powercap-mmio:package-0"] {
        assert!(package.contains(&other.to_owned()), "{other} in {package:?}");
    }
    assert!(overlaps(&root, "powercap:psys").contains(&"powercap:package-0/dram".to_owned()));
}

fn summed(root: &Path, names: &[&str]) -> Result<super::Opened, super::Missing> {
    let open = |name: &&str| powercap::open(root, powercap::KIND, name, World::default());
    sum::open(names.iter().map(open).collect::<Result<_, _>>()?)
}

#[test]
fn meters_that_share_energy_are_never_added_up() {
    let root = powercap_tree("sum");
    for names in [["package-0", "package-0/core"], ["psys", "package-0/dram"], ["package-0", "package-0"]] {
        let why = summed(&root, &names).err().unwrap().why;
        assert!(why.contains("not added up"), "{why}");
    }
    let memory = powercap::open(&root, powercap::KIND, "package-0/dram", World::default()).unwrap();
    let mut other = powercap::open(&root, powercap::KIND, "package-0", World::default()).unwrap();
    other.description.kind = "perf".to_owned();
    assert!(sum::open(vec![memory, other]).err().unwrap().why.contains("two kinds"));
}

#[test]
fn a_package_and_its_memory_are_added_up_through_a_wrap_of_one_and_not_through_a_reset() {
    let root = powercap_tree("added");
    let show = |zone: &str, counter: u64| {
        put(&root, &format!("class/powercap/{zone}/energy_uj"), &format!("{counter:020}"));
    };
    show(PACKAGE.trim_start_matches("class/powercap/"), RANGE_UJ - 10);
    let mut opened = summed(&root, &["package-0", "package-0/dram"]).unwrap();
    assert_eq!(opened.meter.read().unwrap().counter, 0);
    show("intel-rapl:0", 32);
    show("intel-rapl:0:1", 400);
    assert_eq!(opened.meter.read().unwrap().counter, (42 + 100) * 1000);
    show("intel-rapl:0:1", 3);
    assert!(matches!(opened.meter.read(), Err(MeterError::WentBackwards { from: 400_000, to: 3000 })));
}

#[test]
fn a_counter_above_its_range_is_refused_in_a_sum_too() {
    let root = powercap_tree("above");
    let mut opened = summed(&root, &["package-0", "package-0/dram"]).unwrap();
    put(&root, &format!("{PACKAGE}/energy_uj"), &RANGE_UJ.to_string());
    assert!(opened.meter.read().is_ok());
    put(&root, &format!("{PACKAGE}/energy_uj"), &(RANGE_UJ + 1).to_string());
    let (counter, range) = ((RANGE_UJ + 1) * 1000, RANGE_UJ * 1000);
    assert_eq!(opened.meter.read(), Err(MeterError::BeyondRange { counter, range }));
}

#[test]
fn a_sum_says_what_the_last_read_of_its_members_found_and_nothing_where_it_went_well() {
    let root = powercap_tree("said");
    let mut opened = summed(&root, &["package-0", "package-0/dram"]).unwrap();
    assert!(opened.meter.read().is_ok() && opened.meter.said().is_none());
    put(&root, "class/powercap/intel-rapl:0:1/energy_uj", "none");
    assert_eq!(opened.meter.read(), Err(MeterError::Unreadable));
    assert!(opened.meter.said().is_some_and(|said| said.contains("intel-rapl:0:1/energy_uj holds \"none\"")));
}

#[test]
fn mirrored_dies_are_told_by_their_identical_counters() {
    let root = powercap_tree("mirror");
    for (zone, die, counter) in
        [("intel-rapl:2", "package-1-die-0", "7777"), ("intel-rapl:3", "package-1-die-1", "7777")]
    {
        put(&root, &format!("class/powercap/{zone}/name"), die);
        put(&root, &format!("class/powercap/{zone}/energy_uj"), counter);
    }
    assert!(overlaps(&root, "powercap:package-1-die-0").contains(&"powercap:package-1-die-1".to_owned()));
}

#[test]
fn a_zone_is_told_by_its_name_and_not_by_its_index() {
    let root = tree(
        "index",
        &[
            ("class/powercap/intel-rapl:0/name", "psys"),
            ("class/powercap/intel-rapl:0/energy_uj", "1"),
            ("class/powercap/intel-rapl:1/name", "package-0"),
            ("class/powercap/intel-rapl:1/energy_uj", "42"),
        ],
    );
    let mut opened = powercap::open(&root, powercap::KIND, "package-0", World::default()).unwrap();
    assert_eq!(opened.meter.read().unwrap().counter, 42_000);
}

#[test]
fn permission_denied_says_what_would_grant_it_and_at_what_price() {
    // Root reads everything: the advice is asked for.
    assert!(powercap::GRANT.contains("udev") && powercap::GRANT.contains("PLATYPUS"));
    let root = powercap_tree("denied");
    fs::remove_file(root.join(PACKAGE).join("energy_uj")).unwrap();
    let missing = powercap::open(&root, powercap::KIND, "package-0", World::default()).err().unwrap();
    assert!(missing.why.contains("energy_uj"), "{}", missing.why);
}

#[test]
fn a_copied_tree_describes_perf_and_does_not_hold_its_counters() {
    let root = tree(
        "perf",
        &[
            ("devices/power/type", "21"),
            ("devices/power/cpumask", "0"),
            ("devices/power/events/energy-pkg", "event=0x02"),
            ("devices/power/events/energy-pkg.scale", "2.3283064365386962890625e-10"),
            ("devices/power/events/energy-pkg.unit", "Joules"),
        ],
    );
    let found = perf::found(&root);
    assert_eq!(found[0].record.name, "perf:energy-pkg");
    assert!(found[0].record.overlaps.contains(&"powercap:package-0".to_owned()));
    assert!(found[0].missing.as_ref().unwrap().why.contains("copied tree"));
}

// Batteries --------------------------------------------------------------------------------------------------------

const BATTERY: &str = "class/power_supply/BAT0";

fn battery_tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
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
    let world = World::default();
    let tree = root.to_path_buf();
    let mut load = passing(&world, move |now| {
        let drawn_uWh = energy_J(now / 1_000_000_000 * 1_000_000_000) / 3600.0 * 1e6;
        let level = (50_000_000.0 - drawn_uWh) as u64 / 10_000 * 10_000;
        put(&tree, &format!("{BATTERY}/energy_now"), &level.to_string());
        then(now, &tree);
    });
    let mut opened = battery::open(root, "", world).unwrap();
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
        assert!(battery::open(&root, "", World::default()).is_err(), "{status}");
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
        let mut opened = battery::open(&root, "", World::default()).unwrap();
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
    let mut opened = battery::open(&root, "", World::default()).unwrap();
    let before = opened.meter.read().unwrap().counter;
    put(&root, &format!("{BATTERY}/voltage_now"), "11000000");
    put(&root, &format!("{BATTERY}/charge_now"), "3999000");
    let drawn = opened.meter.read().unwrap().counter - before;
    assert_eq!(drawn, 41_400_000_000, "1 mAh at 11.5 V");
}

// Sensors ----------------------------------------------------------------------------------------------------------

fn take(samples: &mut Samples, gauge: &mut dyn Gauge, world: &World) {
    let (at, power_nW) = sample(gauge, world);
    samples.push(at, power_nW);
}

#[test]
fn a_sampled_sensor_tells_the_truth_by_trapezoids() {
    let root = tree("ina", &[("class/hwmon/hwmon3/name", "ina3221")]);
    let world = World::default();
    let at = |file: &str| root.join("class/hwmon/hwmon3").join(file);
    let (mut gauge, mut samples) = (VoltageCurrent(at("in1_input"), at("curr1_input")), Samples::default());
    for _ in 0..=1000 {
        put(&root, "class/hwmon/hwmon3/in1_input", "5000");
        put(&root, "class/hwmon/hwmon3/curr1_input", &format!("{}", power_W(world.now()) / 5.0 * 1000.0));
        take(&mut samples, &mut gauge, &world);
        world.now.fetch_add(1_000_000, Ordering::Relaxed);
    }
    let measured = samples.reading(0).unwrap().counter as f64;
    assert!((measured - energy_J(1_000_000_000) * 1e9).abs() < 5e6, "{measured} nJ");
    let described = hwmon::found(&root);
    assert_eq!(described[0].record.name, "hwmon:ina3221/curr1");
    put(&root, "class/hwmon/hwmon3/curr1_input", "");
    take(&mut samples, &mut gauge, &world);
    assert_eq!(samples.reading(0).unwrap_err().cause, MeterError::Unreadable);
}

#[test]
fn a_sensor_of_power_is_read_in_microwatts_of_either_sign() {
    let root = tree("power", &[("class/hwmon/hwmon3/name", "ina226"), ("class/hwmon/hwmon3/power1_input", "2500000")]);
    let mut gauge = hwmon::Power(root.join("class/hwmon/hwmon3/power1_input"));
    assert_eq!(gauge.power_nW(), Ok(2_500_000_000));
    put(&root, "class/hwmon/hwmon3/power1_input", "-40000");
    assert_eq!(gauge.power_nW(), Ok(40_000_000));
}

/// A meter that takes its time.
struct Slow(std::time::Duration);

impl Meter for Slow {
    fn description(&self) -> wattlock_engine::MeterDescription {
        wattlock_engine::MeterDescription { range: None, update_period: 1, round_trip: 1, patience: 1 }
    }
    fn read(&mut self) -> Result<wattlock_engine::Reading, MeterError> {
        std::thread::sleep(self.0);
        Ok(wattlock_engine::Reading { counter: 0, before: 0, after: 0, suspended: 0 })
    }
}

#[test]
fn what_a_read_costs_is_the_time_that_it_takes() {
    let cost_ns = read_cost(&mut Slow(std::time::Duration::from_millis(1))).unwrap();
    assert!((1_000_000..1_000_000_000).contains(&cost_ns), "{cost_ns}");
}

#[test]
fn a_sensor_with_an_energy_counter_is_read_as_one() {
    let root = tree(
        "energy",
        &[
            ("class/hwmon/hwmon0/name", "amd_energy"),
            ("class/hwmon/hwmon0/energy1_input", "5"),
            ("class/hwmon/hwmon0/energy1_label", "Esocket0"),
        ],
    );
    let mut opened = hwmon::open(&root, "amd_energy/Esocket0", World::default()).unwrap();
    assert_eq!(opened.meter.read().unwrap().counter, 5000);
}
