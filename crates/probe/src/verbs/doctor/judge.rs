//! What is made of what was seen. The bounds are those of docs/method/doctor.md.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use serde::Serialize;
use wattlock_records::{Fingerprint, Temperature};

/// What watching the processor gave.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// Canaries in the order in which they ran.
    pub(super) canaries: Vec<u64>,
    pub(super) batches: u64,
    /// Batches that would not count, by cause.
    pub(super) dirty_batches: BTreeMap<String, u64>,
    pub(super) batch_ticks: u64,
    pub(super) timer_ticks: u64,
    pub(super) spun_ticks: u64,
    /// Ticks of the spin in which the processor did something else.
    pub(super) lost_ticks: u64,
}

/// What is thought of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Verdict {
    #[serde(rename = "ok")]
    Ok,
    #[serde(rename = "warn")]
    Warn,
    #[serde(rename = "fail")]
    Fail,
    #[serde(rename = "not visible")]
    NotVisible,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    /// What was looked at.
    pub(super) check: &'static str,
    /// What is thought of it.
    pub(super) verdict: Verdict,
    /// What was seen, with its unit; null where nothing was.
    pub(super) value: Option<String>,
    /// What to do, or what it means; null where there is nothing to say.
    pub(super) advice: Option<&'static str>,
}

impl Check {
    fn seen(check: &'static str, value: String, verdict: Verdict, advice: &'static str) -> Self {
        let advice = (!advice.is_empty()).then_some(advice);
        Self { check, verdict, value: Some(value), advice }
    }

    fn not_visible(check: &'static str, advice: &'static str) -> Self {
        Self { check, verdict: Verdict::NotVisible, value: None, advice: Some(advice) }
    }
}

/// All checks, those that were watched first.
pub(super) fn all(seen: &Seen, before: &Fingerprint, after: &Fingerprint, pinned: Option<u32>) -> Vec<Check> {
    vec![
        clock_spread(&seen.canaries),
        clock_trend(&seen.canaries),
        gap_loss(seen.lost_ticks, seen.spun_ticks),
        dirty_share(&seen.dirty_batches, seen.batches),
        timer_cost(seen.timer_ticks, seen.batch_ticks),
        pinning(pinned),
        governor(before.power.governor.as_deref()),
        boost(before.power.boost),
        smt(before.power.smt_siblings.as_deref(), before.virtualisation.hypervisor),
        mains(before.power.on_mains, before.power.battery_percent),
        saver(before.power.profile.as_deref()),
        temperatures(before.power.temperatures.as_deref(), after.power.temperatures.as_deref()),
        aslr(before.kernel.aslr),
        constant_ticks(&before.build.isa, before.hardware.flags.as_deref()),
    ]
}

/// The ratio of the 95th to the 5th percentile of the canaries: how far the clock of the core wanders.
fn clock_spread(canaries: &[u64]) -> Check {
    const NAME: &str = "core clock, p95/p5";
    let mut sorted = canaries.to_vec();
    sorted.sort_unstable();
    let at = |percent: usize| sorted.get(sorted.len().saturating_sub(1) * percent / 100).copied();
    let (Some(low), Some(high)) = (at(5).filter(|low| *low > 0), at(95)) else {
        return Check::not_visible(NAME, "no canary ran: watch for longer");
    };
    let thousandths = high * 1000 / low;
    let value = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    match thousandths {
        ..=1030 => Check::seen(NAME, value, Verdict::Ok, ""),
        1031..=1100 => {
            Check::seen(NAME, value, Verdict::Ok, "not quiet (1.03), but cycles are corrected for it; times are not")
        }
        _ => Check::seen(NAME, value, Verdict::Warn, "trust cycles, not times; fix the frequency or stop other work"),
    }
}

/// Whether the canaries grow longer over the time: the median of the last fifth over that of the first.
fn clock_trend(canaries: &[u64]) -> Check {
    const NAME: &str = "core clock, slowing down";
    /// Fewer canaries than this in a fifth have no median to speak of.
    const LEAST: usize = 20;
    let fifth = canaries.len() / 5;
    let first = median(&canaries[..fifth]);
    let last = median(&canaries[canaries.len() - fifth..]);
    let (Some(first), Some(last)) = (first.filter(|first| *first > 0 && fifth >= LEAST), last) else {
        return Check::not_visible(NAME, "too few canaries: watch for longer");
    };
    let thousandths = last.saturating_sub(first) * 1000 / first;
    let value = percent(thousandths);
    if thousandths > 50 {
        Check::seen(NAME, value, Verdict::Warn, "the processor throttles: let it cool, or measure in shorter runs")
    } else {
        Check::seen(NAME, value, Verdict::Ok, "")
    }
}

fn median(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

fn gap_loss(lost: u64, spun: u64) -> Check {
    const NAME: &str = "time lost in gaps over 1 us";
    if spun == 0 {
        return Check::not_visible(NAME, "nothing was spun: watch for longer");
    }
    let thousandths = lost * 1000 / spun;
    let value = percent(thousandths);
    match thousandths {
        ..5 => Check::seen(NAME, value, Verdict::Ok, ""),
        5..=30 => Check::seen(NAME, value, Verdict::Ok, "not quiet (0.5 %): batches that are hit are measured again"),
        _ => Check::seen(
            NAME,
            value,
            Verdict::Warn,
            "other work or other guests share the processor: stop it, or try --cpu",
        ),
    }
}

fn dirty_share(dirty: &BTreeMap<String, u64>, batches: u64) -> Check {
    const NAME: &str = "discarded batches";
    if batches == 0 {
        return Check::not_visible(NAME, "no batch was measured: watch for longer");
    }
    let thousandths = dirty.values().sum::<u64>() * 1000 / batches;
    let causes: Vec<_> = dirty.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
    let causes = if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(", ")) };
    let value = format!("{}{causes} of {batches}", percent(thousandths));
    match thousandths {
        ..50 => Check::seen(NAME, value, Verdict::Ok, ""),
        50..=400 => Check::seen(NAME, value, Verdict::Warn, "runs take longer: stop other work, or try another --cpu"),
        _ => Check::seen(NAME, value, Verdict::Fail, "too few batches would count: stop other work first"),
    }
}

fn timer_cost(timer: u64, batch: u64) -> Check {
    const NAME: &str = "two timer reads in a batch";
    if batch == 0 {
        return Check::not_visible(NAME, "the length of a batch is not known");
    }
    let thousandths = timer * 1000 / batch;
    let advice = "the tick counter is slow to read: longer batches";
    if thousandths < 10 {
        Check::seen(NAME, percent(thousandths), Verdict::Ok, "")
    } else {
        Check::seen(NAME, percent(thousandths), Verdict::Warn, advice)
    }
}

fn pinning(cpu: Option<u32>) -> Check {
    const NAME: &str = "pinned to a processor";
    match cpu {
        Some(cpu) => Check::seen(NAME, format!("processor {cpu}"), Verdict::Ok, ""),
        None => Check::seen(NAME, "no".to_owned(), Verdict::Warn, "batches that migrate are measured again"),
    }
}

fn governor(governor: Option<&str>) -> Check {
    const NAME: &str = "frequency governor";
    match governor {
        None => Check::not_visible(NAME, "the canary tells the clock all the same"),
        Some("performance") => Check::seen(NAME, "performance".to_owned(), Verdict::Ok, ""),
        Some(other) => Check::seen(
            NAME,
            other.to_owned(),
            Verdict::Warn,
            "`cpupower frequency-set -g performance` for steady times",
        ),
    }
}

fn boost(boost: Option<bool>) -> Check {
    const NAME: &str = "boost";
    match boost {
        None => Check::not_visible(NAME, "the canary tells the clock all the same"),
        Some(false) => Check::seen(NAME, "off".to_owned(), Verdict::Ok, ""),
        Some(true) => {
            Check::seen(NAME, "on".to_owned(), Verdict::Warn, "times and joules depend on heat and on the other cores")
        }
    }
}

/// A guest sees the siblings that its hypervisor shows, so that none is no answer there.
fn smt(siblings: Option<&[u32]>, hypervisor: Option<bool>) -> Check {
    const NAME: &str = "processors on the same core";
    match siblings {
        None => Check::not_visible(NAME, "see the discarded batches and the spread of the clock"),
        Some([]) if hypervisor == Some(true) => {
            Check::not_visible(NAME, "the hypervisor shows none; other guests may run on the same core")
        }
        Some([]) => Check::seen(NAME, "none".to_owned(), Verdict::Ok, ""),
        Some(others) => {
            let list = others.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            Check::seen(NAME, list, Verdict::Warn, "leave them idle while measuring")
        }
    }
}

fn mains(on_mains: Option<bool>, battery_percent: Option<u32>) -> Check {
    const NAME: &str = "power supply";
    let charge = battery_percent.map(|percent| format!(", battery at {percent} %")).unwrap_or_default();
    match on_mains {
        None => Check::not_visible(NAME, "measure on mains, unless the battery is the question"),
        Some(true) => Check::seen(NAME, format!("mains{charge}"), Verdict::Ok, ""),
        Some(false) => {
            Check::seen(NAME, format!("no mains{charge}"), Verdict::Warn, "the clock may be held down: plug it in")
        }
    }
}

fn saver(profile: Option<&str>) -> Check {
    const NAME: &str = "power profile";
    match profile {
        None => Check::not_visible(NAME, "switch any saver mode off"),
        Some(saver @ ("low-power" | "quiet" | "cool")) => Check::seen(
            NAME,
            saver.to_owned(),
            Verdict::Warn,
            "a saver mode holds the clock down: choose another profile",
        ),
        Some(other) => Check::seen(NAME, other.to_owned(), Verdict::Ok, ""),
    }
}

/// The hottest sensor before and after.
fn temperatures(before: Option<&[Temperature]>, after: Option<&[Temperature]>) -> Check {
    const NAME: &str = "hottest sensor of the processor";
    /// Makers state 95 to 105 degrees Celsius as the most for their processors; the clock is held down before that.
    const HOT_MILLI_C: i64 = 90_000;
    let hottest = |all: Option<&[Temperature]>| all?.iter().map(|sensor| sensor.milli_C).max();
    let (Some(before), Some(after)) = (hottest(before), hottest(after)) else {
        return Check::not_visible(NAME, "throttling shows in the trend of the clock");
    };
    let value = format!("{} C before, {} C after", before / 1000, after / 1000);
    if before.max(after) >= HOT_MILLI_C {
        Check::seen(NAME, value, Verdict::Warn, "let it cool; the clock is held down near the limit")
    } else {
        Check::seen(NAME, value, Verdict::Ok, "")
    }
}

/// Fresh processes are the unit of replication because each has its own layout.
fn aslr(level: Option<u32>) -> Check {
    const NAME: &str = "memory layout drawn at random";
    const ADVICE: &str = "`sysctl kernel.randomize_va_space=2`, and no `setarch -R`";
    match level {
        None => Check::not_visible(NAME, "intervals are too narrow where it is off"),
        Some(0) => Check::seen(NAME, "off".to_owned(), Verdict::Fail, ADVICE),
        Some(1) => Check::seen(NAME, "all but the heap".to_owned(), Verdict::Warn, ADVICE),
        Some(_) => Check::seen(NAME, "on".to_owned(), Verdict::Ok, ""),
    }
}

/// Whether the tick counter keeps its rate. Arm's generic timer does so by its architecture (Arm DDI 0487,
/// The Generic Timer); a processor without a counter of its own is timed by the system's clock, which does.
fn constant_ticks(isa: &str, flags: Option<&[String]>) -> Check {
    const NAME: &str = "tick counter of constant rate";
    const ADVICE: &str = "times follow the core's clock: trust ratios and cycles";
    match (isa, flags) {
        ("x86_64" | "x86", None) => Check::not_visible(NAME, ADVICE),
        ("x86_64" | "x86", Some(flags)) => {
            let has = |name: &str| flags.iter().any(|flag| flag == name);
            if has("constant_tsc") {
                Check::seen(NAME, "constant TSC".to_owned(), Verdict::Ok, "")
            } else {
                Check::seen(NAME, "TSC without a promise".to_owned(), Verdict::Warn, ADVICE)
            }
        }
        ("aarch64", _) => Check::seen(NAME, "generic timer".to_owned(), Verdict::Ok, ""),
        _ => Check::seen(NAME, "the system's clock".to_owned(), Verdict::Ok, ""),
    }
}

/// `12.3 %` from thousandths.
fn percent(thousandths: u64) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

#[cfg(test)]
mod tests;
