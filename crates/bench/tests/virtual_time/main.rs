//! The whole share in virtual time: a made-up kind of subject beside those that there are, a scripted clock, a counter and
//! a battery that the clock feeds. Order, failures, energy and discharge, without waiting.
#![allow(clippy::unwrap_used)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

mod planned;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};
use wattlock_bench::establish::Provider;
use wattlock_bench::implementation::Offer;
use wattlock_bench::prepared::Prepared;
use wattlock_bench::share::ports::{Battery, Clocks, EnergyMeter, Ports, Records, Watch};
use wattlock_bench::share::{Share, carry_out};
use wattlock_bench::subject::{Description, Kind, Payloads, Proven, Registry, Sources, Subject, Variant};
use wattlock_bench::subjects::KINDS;
use wattlock_ciphers::Spec;
use wattlock_engine::{Case, Clock, Meter, MeterDescription, MeterError, Moment, Nanoseconds, Reading, Ticks, Width};
use wattlock_records::{
    Build, CodePath, Fingerprint, GaugeReading, Hardware, Kernel, Load, MeterRecord, PlannedCase, Power, Record,
};

/// Nanojoules that the machine draws in a nanosecond: 2 W.
const POWER_NW_A_NS: u64 = 2;
const UPDATE_NS: Nanoseconds = 1_000_000;

/// What all parts of a test see. One tick is one nanosecond.
#[derive(Default)]
struct Machine {
    now: Nanoseconds,
    /// What happened, in order, one line an event; calls that are timed are left out.
    log: Vec<String>,
    /// A meter that no longer answers from this time on.
    meter_ends: Option<Nanoseconds>,
    /// The charger is plugged in at this time.
    charged: Option<Nanoseconds>,
    /// Calls of the second made-up subject fail from this time on.
    breaks: Option<Nanoseconds>,
    /// An instrument beside the machine records, and markers have chips of this length.
    chip: Option<Nanoseconds>,
    /// The processor has vectors of 512 bits.
    has_wide: bool,
    /// When the pin of the markers changed, and to what.
    pin: Vec<(Nanoseconds, bool)>,
}

type Shared = Rc<RefCell<Machine>>;

#[derive(Clone)]
struct Device(Shared);

impl Clock for Device {
    fn ticks(&mut self) -> Ticks {
        self.0.borrow().now
    }

    fn cpu_time(&mut self) -> Option<Nanoseconds> {
        Some(self.0.borrow().now)
    }

    fn canary(&mut self) -> Ticks {
        self.0.borrow_mut().now += 9_000;
        9_000
    }

    fn burst(&mut self) -> Ticks {
        self.0.borrow_mut().now += 3_000;
        3_000
    }

    fn witness(&mut self, width: Width) -> Option<Ticks> {
        let mut machine = self.0.borrow_mut();
        (machine.has_wide && width == Width::Bits512).then(|| {
            machine.now += 4_500;
            4_500
        })
    }

    fn moment(&mut self) -> Moment {
        Moment { switches: Some(0), cpu: Some(0) }
    }
}

impl Clocks for Device {
    fn ticks_per_second(&self) -> u64 {
        1_000_000_000
    }

    fn canary_cycles(&self) -> Option<u64> {
        Some(36_000)
    }

    fn now(&mut self) -> Nanoseconds {
        let mut machine = self.0.borrow_mut();
        machine.now += 20;
        machine.now
    }

    fn suspended(&mut self) -> Nanoseconds {
        7
    }

    fn unix(&mut self) -> Nanoseconds {
        self.0.borrow().now + 1_000_000
    }

    fn sleep(&mut self, time: Nanoseconds) {
        self.0.borrow_mut().now += time;
    }
}

impl Meter for Device {
    fn description(&self) -> MeterDescription {
        MeterDescription { range: None, update_period: UPDATE_NS, round_trip: u64::MAX, patience: 50 * UPDATE_NS }
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        let mut machine = self.0.borrow_mut();
        let before = machine.now;
        machine.now += 1_000;
        if machine.meter_ends.is_some_and(|end| before >= end) {
            return Err(MeterError::Unreadable);
        }
        let counter = before / UPDATE_NS * UPDATE_NS * POWER_NW_A_NS;
        Ok(Reading { counter, before, after: machine.now, suspended: 0 })
    }

    fn chip(&self) -> Option<Nanoseconds> {
        self.0.borrow().chip
    }

    fn show(&mut self, is_busy: bool) -> Result<(), MeterError> {
        let mut machine = self.0.borrow_mut();
        let now = machine.now;
        machine.pin.push((now, is_busy));
        Ok(())
    }
}

impl EnergyMeter for Device {
    fn record(&self) -> MeterRecord {
        MeterRecord {
            name: "made-up:all".to_owned(),
            kind: "made-up".to_owned(),
            domain: "all".to_owned(),
            scope: "all".to_owned(),
            unit: "nJ".to_owned(),
            quantum_nJ: 1.0,
            update_period_ns: UPDATE_NS,
            range_nJ: None,
            round_trip_ns: None,
            gain_relative_uncertainty: 0.0,
            gain_source: "made up".to_owned(),
            overlaps: Vec::new(),
            read_ns: None,
        }
    }

    fn message(&self, cause: MeterError) -> String {
        format!("made-up:all: {cause}")
    }
}

impl Battery for Device {
    fn record(&self) -> MeterRecord {
        EnergyMeter::record(self)
    }

    /// A percent a second.
    fn level(&mut self) -> GaugeReading {
        let spent = self.0.borrow().now / 1_000_000_000;
        GaugeReading { percent: Some(90 - u8::try_from(spent).unwrap()), ..GaugeReading::default() }
    }

    fn discharging(&mut self) -> Result<(), String> {
        let machine = self.0.borrow();
        if machine.charged.is_some_and(|time| machine.now >= time) { Err("it is charged".to_owned()) } else { Ok(()) }
    }
}

/// The watch of a library of the user's own.
struct Seen(Shared);

impl Seen {
    fn note(&self, line: String) {
        self.0.borrow_mut().log.push(line);
    }
}

impl Watch for Seen {
    fn prepares(&self, planned: &PlannedCase) {
        self.note(format!("prepares {}", planned.case));
    }

    fn proves(&self, planned: &PlannedCase) {
        self.note(format!("proves {}", planned.case));
    }

    fn works(&self, body: Box<dyn Prepared>, planned: &PlannedCase, first: Nanoseconds) -> Box<dyn Prepared> {
        self.note(format!("watches {}, whose first batch took {first} ns", planned.case));
        body
    }

    fn rests(&self) {
        self.note("rests".to_owned());
    }

    fn times(&self) {
        self.note("times".to_owned());
    }
}

/// A kind that nobody else knows: sums whose call takes as many nanoseconds as it has bytes.
struct Sums(Shared);

struct Sum {
    id: &'static str,
    machine: Shared,
    path: Option<CodePath>,
}

const SUMS: [&str; 4] = ["sum", "sum-that-breaks", "sum-unproven", "sum-of-several"];
/// Who has the last of them, by which path.
const SEVERAL: [(&str, CodePath); 4] = [
    ("wide", CodePath::Vaes512),
    ("slow", CodePath::Tables),
    ("half-wide", CodePath::Vaes256),
    ("narrow", CodePath::Aesni),
];

impl Kind for Sums {
    fn ids(&self) -> Box<dyn Iterator<Item = &'static str>> {
        Box::new(SUMS.into_iter())
    }

    fn find(&self, id: &str) -> Result<Box<dyn Subject>, String> {
        match SUMS.into_iter().find(|sum| *sum == id) {
            Some(id) => Ok(Box::new(Sum { id, machine: Rc::clone(&self.0), path: None })),
            None => Err("no such sum".to_owned()),
        }
    }
}

impl Subject for Sum {
    fn description(&self) -> Description {
        Description {
            id: self.id.to_owned(),
            card: self.id,
            family: "sums",
            mode: "sum".to_owned(),
            key_bits: 0,
            effective_bits: 0,
            block_bits: 0,
            rounds: None,
            iv_B: 0,
            tag_bits: 32,
            source: "made up",
            has_payload: true,
            operations: None,
            public_key_B: None,
            message_B: None,
        }
    }

    fn providers(&self, _sources: &dyn Sources) -> Vec<String> {
        match self.id {
            "sum-of-several" => SEVERAL.iter().map(|(name, _)| (*name).to_owned()).collect(),
            _ => vec!["nobody".to_owned(), "mine".to_owned()],
        }
    }

    fn proof(&self, _provider: &str, _sources: &dyn Sources) -> String {
        "none".to_owned()
    }

    fn variant(&self, provider: &str, sources: &dyn Sources) -> Result<Box<dyn Variant>, String> {
        if !self.providers(sources).iter().any(|name| name == provider) {
            return Err(format!("{provider} has no sums"));
        }
        let path = SEVERAL.iter().find(|(name, _)| *name == provider).map(|(_, path)| *path);
        Ok(Box::new(Self { id: self.id, machine: Rc::clone(&self.machine), path }))
    }
}

impl Variant for Sum {
    fn version(&self) -> String {
        "4.5.6".to_owned()
    }

    fn path(&self) -> Option<CodePath> {
        self.path
    }

    fn prove(&self) -> Result<Proven, String> {
        self.machine.borrow_mut().log.push(format!("{} is proven", self.id));
        if self.id == "sum-unproven" { Err("one and one is three".to_owned()) } else { Ok(Proven::by("published")) }
    }

    fn prepare(&self, planned: &PlannedCase, payloads: &dyn Payloads, _seed: u64) -> Result<Box<dyn Prepared>, String> {
        let label = planned.data.as_str();
        let found = label == "random" || payloads.bytes(label).is_some_and(|bytes| bytes.len() == 3);
        if !found {
            return Err(format!("no payload {label}"));
        }
        let call_ns = planned.payload_B;
        let breaks = self.id == "sum-that-breaks";
        Ok(Box::new(Adding { machine: Rc::clone(&self.machine), call_ns, breaks, broke: false }))
    }
}

struct Adding {
    machine: Shared,
    call_ns: Nanoseconds,
    breaks: bool,
    broke: bool,
}

impl Case for Adding {
    fn run(&mut self, _segment: u32, calls: u32) {
        let mut machine = self.machine.borrow_mut();
        machine.now += self.call_ns * u64::from(calls);
        self.broke |= self.breaks && machine.breaks.is_some_and(|time| machine.now >= time);
    }
}

impl Prepared for Adding {
    fn check(&mut self) -> Result<(), String> {
        if self.broke { Err("it broke".to_owned()) } else { Ok(()) }
    }
}

/// No code but what is built in.
struct Nothing;

impl Sources for Nothing {
    fn cipher_providers(&self, _spec: &Spec) -> Vec<String> {
        Vec::new()
    }

    fn cipher(&self, provider: &str, spec: &Spec) -> Result<Offer, String> {
        Err(format!("{spec}: {provider} has no such cipher"))
    }

    fn exchanges(&self) -> Vec<Provider> {
        Vec::new()
    }
}

impl Payloads for Nothing {
    fn bytes(&self, label: &str) -> Option<Rc<[u8]>> {
        (label == "three").then(|| Rc::from([1, 2, 3]))
    }
}

/// Keeps the records as a reader sees them, and fails when it is full.
struct Kept {
    lines: Vec<Value>,
    flushed: usize,
    most: usize,
}

impl Records for Kept {
    type Error = &'static str;

    fn write(&mut self, record: &Record) -> Result<(), &'static str> {
        self.lines.push(serde_json::to_value(record).unwrap());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), &'static str> {
        self.flushed = self.lines.len();
        if self.lines.len() > self.most { Err("disk full") } else { Ok(()) }
    }
}

fn case(number: u32, changed: Value) -> PlannedCase {
    let mut case = json!({
        "case": number, "role": "study", "cipher": "sum", "provider": "nobody", "operation": "encrypt",
        "keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "payload_B": 1000,
        "data": "random", "visits": 6,
    });
    case.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
    serde_json::from_value(case).unwrap()
}

fn share(changed: Value, cases: Vec<PlannedCase>) -> Share {
    let mut plan =
        json!({"schema": 2, "process": 3, "seed": 5, "cpu": null, "rounds": 6, "batch_ns": 100_000, "quiet_ppm": null});
    plan.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
    Share { plan: serde_json::from_value(plan).unwrap(), cases, failed: BTreeMap::new() }
}

fn fingerprint() -> Fingerprint {
    let build: Build = Build {
        version: String::new(),
        commit: None,
        dirty: None,
        rustc: None,
        target: None,
        isa: String::new(),
        profile: None,
        opt_level: None,
        lto: None,
        codegen_units: None,
        flags: None,
        lock_sha256: None,
        executable_sha256: None,
        sources_sha256: None,
    };
    Fingerprint {
        hardware: Hardware::default(),
        virtualisation: wattlock_records::Virtualisation::default(),
        kernel: Kernel::default(),
        power: Power::default(),
        load: Load::default(),
        build,
        browser: None,
    }
}

/// Carries a share out on a device of this machine; gives what the sink kept, and how it ended.
fn measured(machine: &Shared, share: &Share, most: usize) -> (Vec<Value>, Result<(), &'static str>) {
    let (mut clock, mut meter, mut battery) =
        (Device(Rc::clone(machine)), Device(Rc::clone(machine)), Device(Rc::clone(machine)));
    let (sums, watch) = (Sums(Rc::clone(machine)), Seen(Rc::clone(machine)));
    let kinds: Vec<&dyn Kind> = KINDS.iter().copied().chain([&sums as &dyn Kind]).collect();
    let mut kept = Kept { lines: Vec::new(), flushed: 0, most };
    let ports = Ports {
        clock: &mut clock,
        records: &mut kept,
        registry: Registry::of(&kinds),
        sources: &Nothing,
        payloads: &Nothing,
        meter: Some(&mut meter),
        battery: Some(&mut battery),
        watch: Some(&watch),
        fingerprint: &fingerprint,
    };
    let ended = carry_out(share, ports);
    assert_eq!(kept.flushed, kept.lines.len(), "all that was taken was written");
    (kept.lines, ended)
}

fn lines<'l>(records: &'l [Value], kind: &str) -> Vec<&'l Value> {
    records.iter().filter(|line| line["kind"] == kind).collect()
}

#[test]
fn a_kind_that_nobody_knows_is_measured_as_any_other() {
    let machine = Shared::default();
    let cases = vec![
        case(0, json!({"role": "reference"})),
        case(1, json!({"role": "aa_test"})),
        case(2, json!({"role": "injected_slowdown"})),
        case(3, json!({"payload_B": 500, "data": "three"})),
    ];
    let (records, ended) = measured(&machine, &share(json!({}), cases), usize::MAX);
    assert_eq!(ended, Ok(()));
    let header = &records[0];
    assert_eq!((&header["kind"], &header["process"], &header["seed"]), (&json!("header"), &json!(3), &json!(5)));
    // A burst of 3 us beside a canary of 9.
    assert_eq!(header["quiet_ppm"], 333_333);
    assert!(!header.as_object().unwrap().contains_key("step_ticks"), "its clock has no step: {header}");
    let resolved = header["cases"].as_array().unwrap();
    let field = |name: &str| resolved[3][name].clone();
    assert_eq!([field("family"), field("version"), field("path")], [json!("sums"), json!("4.5.6"), Value::Null]);
    assert_eq!([field("tag_bits"), field("calls"), field("segments")], [json!(32), json!(200), json!(1)]);
    // 100 calls fill a batch; the reference's are a multiple of 60.
    assert!(resolved[..3].iter().all(|case| case["calls"] == 60), "{resolved:?}");
    for batch in lines(&records, "batch") {
        let call_ns = match batch["case"].as_u64().unwrap() {
            2 => 61.0 / 60.0 * 1000.0,
            3 => 500.0,
            _ => 1000.0,
        };
        let calls = batch["calls"].as_f64().unwrap();
        assert!((batch["wall_ns"].as_f64().unwrap() - calls * call_ns).abs() < 1.0, "{batch}");
        assert!(batch["clean"].as_bool().unwrap() && batch["process"] == 3, "{batch}");
    }
    let whole = |number: u64| lines(&records, "batch").iter().filter(|batch| batch["case"] == number).count();
    // Six visits, and four half batches of what is the study's own.
    assert_eq!([whole(0), whole(1), whole(2), whole(3)], [6, 6, 6, 10]);
    let end = records.last().unwrap();
    assert_eq!((&end["kind"], end["batches"].as_u64()), (&json!("end"), Some(lines(&records, "batch").len() as u64)));
    let proofs = machine.borrow().log.iter().filter(|line| line.contains("is proven")).count();
    assert_eq!(proofs, 1, "what is proven is proven once");
}

#[test]
fn rounds_are_written_in_order_and_a_full_disk_ends_the_share_with_a_whole_round() {
    let cases = || vec![case(0, json!({})), case(1, json!({"payload_B": 20}))];
    let (records, _) = measured(&Shared::default(), &share(json!({}), cases()), usize::MAX);
    let rounds: Vec<u64> = lines(&records, "batch").iter().map(|batch| batch["round"].as_u64().unwrap()).collect();
    assert!(rounds.is_sorted() && rounds.last() == Some(&5), "{rounds:?}");
    let (cut, ended) = measured(&Shared::default(), &share(json!({}), cases()), 5);
    assert_eq!(ended, Err("disk full"));
    assert_eq!(cut[1..], records[1..cut.len()], "the same share gives the same records");
    assert!(lines(&cut, "end").is_empty());
}

#[test]
fn what_fails_before_the_timing_or_in_it_is_a_record_and_the_others_are_measured() {
    let machine = Shared::default();
    machine.borrow_mut().breaks = Some(1);
    let mut share = share(
        json!({}),
        vec![
            case(0, json!({"cipher": "sum-unproven"})),
            case(1, json!({"cipher": "sum-unproven", "payload_B": 7})),
            case(2, json!({"cipher": "no-such-thing"})),
            case(3, json!({"provider": "somebody"})),
            case(4, json!({"data": "four"})),
            case(5, json!({"role": "aa_test"})),
            case(6, json!({})),
            case(7, json!({})),
            case(8, json!({"cipher": "sum-that-breaks", "payload_B": 100_000})),
            case(9, json!({"cipher": "wep40", "provider": "wattlock"})),
            case(10, json!({"cipher": "aes128-cbc"})),
        ],
    );
    share.failed.insert(6, "it hung".to_owned());
    let (records, ended) = measured(&machine, &share, usize::MAX);
    assert_eq!(ended, Ok(()));
    let failures: Vec<(u64, &str)> = lines(&records, "failure")
        .iter()
        .map(|line| (line["case"].as_u64().unwrap(), line["error"].as_str().unwrap()))
        .collect();
    let unproven = "sum-unproven: one and one is three";
    let unknown = failures[2].1;
    assert!(!unknown.is_empty() && unknown != "no such sum", "the ciphers say why: {unknown}");
    let expected = [
        (0, unproven),
        (1, unproven),
        (2, unknown),
        (3, "somebody has no sums"),
        (4, "no payload four"),
        (5, "a copy of the reference, but the plan has no reference before it"),
        (6, "it hung"),
        (9, "wep40 has no operation Encrypt: it has [Protect, Unprotect]"),
        (10, "aes128-cbc: nobody has no such cipher"),
        (8, "it broke"),
    ];
    assert_eq!(failures, expected);
    assert!(lines(&records, "failure").iter().all(|line| line["follows"] == "skip_case"));
    // What breaks in the timing is told behind it.
    let place = |kind: &str, case: u64| records.iter().position(|line| line["kind"] == kind && line["case"] == case);
    assert!(place("failure", 6) < place("batch", 7) && place("batch", 7) < place("failure", 8));
    assert_eq!(lines(&records, "header")[0]["cases"].as_array().unwrap().len(), 2);
    let proofs = machine.borrow().log.iter().filter(|line| *line == "sum-unproven is proven").count();
    assert_eq!(proofs, 1, "what can't be proven is not tried again");
}

#[test]
fn a_library_of_the_users_own_is_watched_and_nothing_else_is() {
    let machine = Shared::default();
    let own = case(1, json!({"provider": "mine"}));
    let libraries = json!({"libraries": [{"name": "mine", "path": "libmine.so"}], "rounds": 1});
    measured(&machine, &share(libraries, vec![case(0, json!({})), own]), usize::MAX).1.unwrap();
    let log = &machine.borrow().log;
    let watched = ["sum is proven", "rests", "prepares 1", "proves 1", "sum is proven", "prepares 1"];
    assert_eq!(log[..6], watched);
    assert!(log[6].starts_with("watches 1, whose first batch took 100"), "{}", log[6]);
    assert_eq!(log[7..], ["rests", "times"]);
}

fn energy(superblocks: u32) -> Value {
    json!({"energy": {"meter": "made-up:all", "block_ns": 20 * UPDATE_NS, "superblocks": superblocks,
                      "baseline": "idle"}})
}

#[test]
fn superblocks_of_energy_hold_what_the_counter_rose_by() {
    let cases = vec![case(0, json!({})), case(1, json!({"payload_B": 3000}))];
    let (records, _) = measured(&Shared::default(), &share(energy(2), cases), usize::MAX);
    assert!(lines(&records, "batch").is_empty());
    assert_eq!(records[0]["meter"]["name"], "made-up:all");
    let blocks = lines(&records, "energy_block");
    // Baseline, two cases, baseline, two cases backwards, baseline; twice.
    let roles: Vec<Option<u64>> = blocks[..7].iter().map(|block| block["case"].as_u64()).collect();
    assert!(roles.iter().eq(roles.iter().rev()), "{roles:?}");
    assert_eq!([roles[0], roles[3], roles[6]], [None; 3]);
    assert_eq!(blocks.len(), 14);
    for block in &blocks {
        let edge = |name: &str| block[name]["counter_nJ"].as_u64().unwrap();
        assert_eq!(block["gross_nJ"].as_u64().unwrap(), edge("end") - edge("start"), "{block}");
        assert!(block["gross_nJ"].as_u64().unwrap() >= 20 * UPDATE_NS * POWER_NW_A_NS, "{block}");
        let (calls, run_ns) = (block["calls"].as_u64().unwrap(), block["run_ns"].as_u64().unwrap());
        let call_ns = block["case"].as_u64().map_or(0, |case| if case == 0 { 1000 } else { 3000 });
        assert!(calls * call_ns <= run_ns && (call_ns == 0 || calls * call_ns * 10 > run_ns * 9), "{block}");
    }
    assert_eq!(records.last().unwrap()["energy_blocks"], 14);
}

#[test]
fn blocks_that_an_instrument_records_lie_between_two_markers_and_have_no_joules_of_their_own() {
    let machine = Shared::default();
    let chip_ns = 20 * UPDATE_NS;
    machine.borrow_mut().chip = Some(chip_ns);
    let (records, _) = measured(&machine, &share(energy(1), vec![case(0, json!({}))]), usize::MAX);
    let kinds: Vec<&str> = records.iter().filter_map(|record| record["kind"].as_str()).collect();
    let expected = [
        "header",
        "marker",
        "energy_block",
        "energy_block",
        "energy_block",
        "energy_block",
        "energy_block",
        "marker",
        "end",
    ];
    assert_eq!(kinds, expected);
    for (number, marker) in (0_u64..).zip(lines(&records, "marker")) {
        assert_eq!((marker["marker"].as_u64(), marker["chip_ns"].as_u64()), (Some(number), Some(chip_ns)));
        let edges: Vec<u64> =
            marker["edges_ns"].as_array().unwrap().iter().map(|edge| edge.as_u64().unwrap()).collect();
        assert_eq!(edges.len(), 14);
        // Late by a burst at most, and not from chip to chip.
        assert!(edges.iter().zip(0..).all(|(edge, at)| (edge - edges[0]).abs_diff(at * chip_ns) <= 4_000), "{edges:?}");
        let busy: Vec<bool> = marker["busy"].as_array().unwrap().iter().map(|chip| chip.as_bool().unwrap()).collect();
        assert_eq!(busy, [true, true, true, true, true, false, false, true, true, false, true, false, true]);
    }
    let pin = machine.borrow().pin.clone();
    assert_eq!(pin.len(), 28);
    assert!(!pin[13].1 && !pin[27].1, "low again when a marker is over");
    let blocks = lines(&records, "energy_block");
    for pair in blocks.windows(2) {
        let (end, start) = (&pair[0]["end"]["not_after_ns"], &pair[1]["start"]["not_before_ns"]);
        assert!(start.as_u64().unwrap() - end.as_u64().unwrap() >= 10_000_000, "each has 5 ms of its load around it");
    }
    for block in &blocks {
        assert_eq!((&block["gross_nJ"], &block["error"]), (&Value::Null, &Value::Null), "{block}");
        assert_eq!(block["start"]["counter_nJ"], Value::Null);
        assert!(block["run_ns"].as_u64().unwrap() >= 20 * UPDATE_NS, "{block}");
    }
    assert_eq!(records.last().unwrap()["energy_blocks"], 5);
}

#[test]
fn a_meter_that_fails_for_good_ends_the_blocks_and_not_the_records() {
    let machine = Shared::default();
    machine.borrow_mut().meter_ends = Some(90_000_000);
    let (records, ended) = measured(&machine, &share(energy(5), vec![case(0, json!({}))]), usize::MAX);
    assert_eq!(ended, Ok(()));
    let blocks = lines(&records, "energy_block");
    let last = blocks.last().unwrap();
    assert_eq!((&last["follows"], &last["gross_nJ"]), (&json!("end_run"), &Value::Null));
    assert_eq!(last["error"], "made-up:all: the energy counter can't be read");
    assert!(blocks.len() > 1 && blocks[..blocks.len() - 1].iter().all(|block| block["error"].is_null()));
    assert_eq!(records.last().unwrap()["energy_blocks"], blocks.len());
}

fn discharge(changed: Value) -> Share {
    let mut battery = json!({"case": 1, "log_every_s": 2, "until_percent": 85});
    battery.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
    share(json!({ "battery": battery }), vec![case(0, json!({})), case(1, json!({"payload_B": 100_000}))])
}

#[test]
fn a_battery_is_discharged_by_one_case_until_its_level_or_its_calls() {
    let (records, _) = measured(&Shared::default(), &discharge(json!({})), usize::MAX);
    let levels = lines(&records, "battery_level");
    let percents: Vec<u64> = levels.iter().map(|line| line["level_percent"].as_u64().unwrap()).collect();
    assert_eq!(percents, [90, 88, 86, 84]);
    assert!(levels.iter().all(|line| line["case"] == 1 && line["error"].is_null()));
    let calls: Vec<u64> = levels.iter().map(|line| line["repeats_done"].as_u64().unwrap()).collect();
    // Two seconds of calls of 100 us each.
    assert!(calls.windows(2).all(|pair| (19_900..=20_000).contains(&(pair[1] - pair[0]))), "{calls:?}");
    assert_eq!(levels[0]["unix_ns"].as_u64().unwrap() - levels[0]["t_ns"].as_u64().unwrap(), 1_000_000 - 7);

    let (records, _) = measured(&Shared::default(), &discharge(json!({"repeats": 25_000, "done": 4})), usize::MAX);
    let last = lines(&records, "battery_level").pop().unwrap()["repeats_done"].as_u64().unwrap();
    assert_eq!(last, 25_000);
    assert!(lines(&records, "batch").is_empty() && records.last().unwrap()["kind"] == "end");
}

#[test]
fn a_charger_ends_a_discharge_with_a_line_that_says_so() {
    let machine = Shared::default();
    machine.borrow_mut().charged = Some(3_000_000_000);
    let (records, _) = measured(&machine, &discharge(json!({})), usize::MAX);
    let levels = lines(&records, "battery_level");
    assert_eq!(levels.len(), 3);
    assert_eq!(levels[2]["error"], "it is charged");
}
