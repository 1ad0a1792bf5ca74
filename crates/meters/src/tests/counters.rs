//! Counters of the processor, as files and as events: quanta, wraps, resets, what overlaps.

use super::*;

pub(super) const PACKAGE: &str = "class/powercap/intel-rapl:0";
const RANGE_UJ: u64 = 262_143_328_850;

pub(super) fn powercap_tree(name: &str) -> PathBuf {
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
    then: impl Fn(&MadeUpTime, Nanoseconds, &Path) + 'static,
) -> Result<EnergyBlock, MeterError> {
    let time = MadeUpTime::default();
    let (tree, theirs) = (root.to_path_buf(), time.clone());
    let mut load = passing(&time, move |now| {
        put(&tree, &format!("{PACKAGE}/energy_uj"), &format!("{:020}", shown_uJ(now, start_uJ)));
        then(&theirs, now, &tree);
    });
    let mut opened = powercap::open(root, powercap::KIND, "package-0", time).unwrap();
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
    let error = weigh_package(&powercap_tree("suspend"), 5_000_000, |time, now, tree| {
        if now > 250_000_000 {
            time.suspended.store(60_000_000_000, Ordering::Relaxed);
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
    let time = MadeUpTime::default();
    let tree = root.clone();
    let mut load =
        passing(&time, move |now| put(&tree, &format!("{PACKAGE}/energy_uj"), &shown_uJ(now, 0).to_string()));
    let mut opened = powercap::open(&root, powercap::KIND, "package-0", time).unwrap();
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

fn summed(root: &Path, names: &[&str]) -> Result<Opened, Missing> {
    let open = |name: &&str| powercap::open(root, powercap::KIND, name, MadeUpTime::default());
    sum::open(names.iter().map(open).collect::<Result<_, _>>()?)
}

#[test]
fn meters_that_share_energy_are_never_added_up() {
    let root = powercap_tree("sum");
    for names in [["package-0", "package-0/core"], ["psys", "package-0/dram"], ["package-0", "package-0"]] {
        let why = summed(&root, &names).err().unwrap().why;
        assert!(why.contains("not added up"), "{why}");
    }
    let memory = powercap::open(&root, powercap::KIND, "package-0/dram", MadeUpTime::default()).unwrap();
    let mut other = powercap::open(&root, powercap::KIND, "package-0", MadeUpTime::default()).unwrap();
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
    let mut opened = powercap::open(&root, powercap::KIND, "package-0", MadeUpTime::default()).unwrap();
    assert_eq!(opened.meter.read().unwrap().counter, 42_000);
}

#[test]
fn permission_denied_says_what_would_grant_it_and_at_what_price() {
    // Root reads everything: the advice is asked for.
    assert!(powercap::GRANT.contains("udev") && powercap::GRANT.contains("PLATYPUS"));
    let root = powercap_tree("denied");
    fs::remove_file(root.join(PACKAGE).join("energy_uj")).unwrap();
    let missing = powercap::open(&root, powercap::KIND, "package-0", MadeUpTime::default()).err().unwrap();
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
