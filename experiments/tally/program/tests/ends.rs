#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, non_snake_case)]
//! `tally` over UDP: both ends and the proxy as programs, killed at random moments, on full disks, under hostile datagrams.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use wattlock_engine::SplitMix64;

const TALLY: &str = env!("CARGO_BIN_EXE_tally");
const OPENING_B: usize = 20;
const ANSWER_B: usize = 16;

/// A folder with a key, its own commands, and nothing left when it is dropped.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::write(place.path("key"), "5a".repeat(32)).unwrap();
        mode(&place.path("key"), 0o600);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `tally PART` with key and state; `--new` where the state is not there.
    fn end(&self, part: &str, state: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(TALLY);
        command.args([part, "--key-file"]).arg(self.path("key")).arg("--state").arg(self.path(state));
        if !self.path(state).exists() {
            command.arg("--new");
        }
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn gateway(&self, state: &str, arguments: &[&str]) -> Listening {
        Listening::start(self.end("receive", state, arguments))
    }
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

fn proxy(to: &str, arguments: &[&str]) -> Listening {
    let mut command = Command::new(TALLY);
    command.args(["proxy", "--to", to]).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    Listening::start(command)
}

/// A program that said where it listens; its lines are read as they come.
struct Listening {
    child: Child,
    address: String,
    lines: Option<thread::JoinHandle<Vec<Value>>>,
}

impl Listening {
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let (mut words, out) = (BufReader::new(child.stderr.take().unwrap()), child.stdout.take().unwrap());
        let mut line = String::new();
        words.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        let lines = Some(thread::spawn(move || lines(out)));
        Self { child, address, lines }
    }

    /// Its lines, once it has ended by itself.
    fn ended(mut self) -> Vec<Value> {
        assert!(self.child.wait().unwrap().success());
        self.lines.take().unwrap().join().unwrap()
    }

    /// Its lines until it is killed.
    fn killed(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.lines.take().unwrap().join().unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of JSON; the last may be cut where the program was killed.
fn lines(output: impl std::io::Read) -> Vec<Value> {
    let mut text = String::new();
    BufReader::new(output).read_to_string(&mut text).unwrap();
    text.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn of_kind<'l>(lines: &'l [Value], kind: &str) -> impl Iterator<Item = &'l Value> {
    let kind = kind.to_owned();
    lines.iter().filter(move |line| line["kind"] == kind)
}

fn counter(line: &Value) -> u64 {
    line["counter"].as_u64().unwrap()
}

/// Of the messages before the last hundred, how many came and how many were verified, each as it was sent.
fn through_the_proxy(messages: u64, rules: &[&str]) -> (usize, usize) {
    let place = Place::new();
    let gateway = place.gateway("gateway", &["--timeout", "2"]);
    let proxy = proxy(&gateway.address, &[rules, &["--timeout", "2", "--seed", "3"]].concat());
    let count = (messages + 100).to_string();
    let arguments = ["--to", &*proxy.address, "--messages", &*count, "--interval-ms", "5"];
    let sensor = place.end("send", "sensor", &arguments).output().unwrap();
    assert!(sensor.status.success(), "{}", said(&sensor));
    let (sent, told) = (lines(&sensor.stdout[..]), gateway.ended());
    assert!(of_kind(&proxy.ended(), "datagram").any(|line| line["fate"] == "dropped"));
    assert_eq!(of_kind(&sent, "root").count(), 1);
    let sent: BTreeMap<u64, &Value> = of_kind(&sent, "sent").map(|line| (counter(line), &line["payload"])).collect();
    assert_eq!(sent.len() as u64, messages + 100);
    let first = |line: &&Value| counter(line) < messages;
    let came: BTreeSet<u64> = of_kind(&told, "received").filter(first).map(counter).collect();
    let verified: Vec<&Value> = of_kind(&told, "verified").filter(first).collect();
    assert!(verified.iter().all(|line| *sent[&counter(line)] == line["payload"]));
    assert!(verified.iter().all(|line| line["bits"] == 128 && came.contains(&counter(line))));
    (came.len(), verified.len())
}

#[test]
fn of_a_thousand_messages_over_udp_all_that_came_are_verified_at_10_percent_loss() {
    // Where a busy machine stops a program for longer than 64 messages, a report is too old: then it is tried again.
    let tried = (0..3).map(|_| through_the_proxy(1000, &["--loss", "0.1"]));
    let whole = tried.inspect(|(came, verified)| assert!((850..950).contains(came) && *verified > came / 2));
    assert!(whole.into_iter().any(|(came, verified)| came == verified));
}

#[test]
fn bursts_duplicates_and_reordering_leave_nothing_verified_that_was_not_sent() {
    let rules = ["--loss", "0.3", "--burst", "3", "--duplicate", "0.1", "--reorder", "0.1"];
    let (came, verified) = through_the_proxy(200, &rules);
    assert!(came > 80 && verified > came / 2, "{came} {verified}");
}

/// Octets of the datagrams that a proxy took, and which way each went.
fn captured(lines: &[Value]) -> Vec<(bool, Vec<u8>)> {
    let octets = |line: &Value| {
        let text = line["octets"].as_str().unwrap();
        (0..text.len()).step_by(2).map(|place| u8::from_str_radix(&text[place..place + 2], 16).unwrap()).collect()
    };
    of_kind(lines, "datagram").map(|line| (line["way"] == "up", octets(line))).collect()
}

/// Numbers from the environment, for longer runs of the same test.
fn from_environment(name: &str, otherwise: u32) -> u32 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn however_often_and_whenever_an_end_is_killed_no_key_and_nonce_come_twice() {
    let kills = from_environment("WATTLOCK_TALLY_KILLS", 60);
    let (place, mut random) = (Place::new(), SplitMix64::new(from_environment("WATTLOCK_TALLY_SEED", 1).into()));
    // Numbers of both sides, by the run of the program that sent them, and all records: those of one key, nonce and message
    // are alike, and each run sends the same messages.
    let (mut of_sensors, mut of_gateways) = (BTreeMap::new(), BTreeMap::new());
    let (mut records, mut roots) = (BTreeSet::new(), 0);
    let mut gateway = place.gateway("gateway", &[]);
    let mut gateways = 0;
    for sensor in 0..kills {
        let serving = gateways;
        let proxy = proxy(&gateway.address, &["--duplicate", "0"]);
        let mut child = place.end("send", "sensor", &["--to", &proxy.address, "--interval-ms", "1"]).spawn().unwrap();
        // In the midst of storing, resuming or sending, however slow the machine is.
        let mut told = BufReader::new(child.stdout.take().unwrap());
        (0..random.below(12)).for_each(|_| assert!(told.read_line(&mut String::new()).unwrap() > 0));
        thread::sleep(Duration::from_micros(random.below(3000).into()));
        if sensor % 4 == 3 {
            gateway.killed();
            gateway = place.gateway("gateway", &[]);
            gateways += 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        thread::sleep(Duration::from_millis(20));
        let datagrams = captured(&proxy.killed());
        for (up, octets) in datagrams {
            match (up, octets.len()) {
                (true, OPENING_B) => {
                    let run = *of_sensors.entry(octets[4..8].to_vec()).or_insert(sensor);
                    assert_eq!(run, sensor, "a sensor's number came in two runs");
                }
                (false, ANSWER_B) => {
                    roots += 1;
                    let run = *of_gateways.entry(octets[..4].to_vec()).or_insert(serving);
                    assert_eq!(run, serving, "a gateway's number came in two runs");
                }
                (true, _) => assert!(records.insert(octets), "a record came twice"),
                (false, _) => {}
            }
        }
    }
    println!("{kills} kills, {} openings, {roots} answers, {} records", of_sensors.len(), records.len());
    assert!(of_sensors.len() > kills as usize / 2 && records.len() > kills as usize, "little was sent");
}

#[test]
fn a_full_disk_ends_an_end_before_anything_is_sent() {
    let place = Place::new();
    let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
    listener.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let to = listener.local_addr().unwrap().to_string();
    // The first run makes the state; nobody answers it.
    let made = place.end("send", "sensor", &["--to", &to, "--timeout", "1"]).output().unwrap();
    assert_eq!(made.status.code(), Some(4), "{}", said(&made));
    while listener.recv(&mut [0; 64]).is_ok() {}
    let state = std::fs::read(place.path("sensor")).unwrap();
    let send = place.end("send", "sensor", &["--to", &to]);
    let words: Vec<&str> = send.get_args().map(|word| word.to_str().unwrap()).collect();
    let full = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"", TALLY])
        .args(words)
        .output()
        .unwrap();
    let words = said(&full);
    assert_eq!((full.status.code(), words.lines().count()), (Some(10), 2), "{words}");
    assert!(words.starts_with("error: --state") && words.contains("hint: no number was used"), "{words}");
    assert!(full.stdout.is_empty() && listener.recv(&mut [0; 64]).is_err());
    assert_eq!(std::fs::read(place.path("sensor")).unwrap(), state);
}

#[test]
fn a_key_or_a_state_that_can_not_be_used_is_one_error_and_one_hint_and_nothing_is_sent() {
    let place = Place::new();
    let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
    listener.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let to = listener.local_addr().unwrap().to_string();
    std::fs::write(place.path("damaged"), "wattlock-tally-1 sensor 00 next 0\n").unwrap();
    for (name, text, file_mode) in [("open", "5a".repeat(32), 0o644), ("short", "5a".repeat(31), 0o600)] {
        std::fs::write(place.path(name), text).unwrap();
        mode(&place.path(name), file_mode);
    }
    let (key, folder) = ("5a".repeat(32), place.path("none/state"));
    let path = |name: &str| place.path(name).to_str().unwrap().to_owned();
    let cases: [(Vec<String>, i32, &str); 8] = [
        (vec!["--key-file".into(), path("open"), "--state".into(), path("a"), "--new".into()], 10, "chmod 600"),
        (vec!["--key-file".into(), path("short"), "--state".into(), path("a"), "--new".into()], 10, "64 hex digits"),
        (vec!["--key-file".into(), path("absent"), "--state".into(), path("a"), "--new".into()], 10, "No such file"),
        (vec!["--key".into(), "5a".into(), "--state".into(), path("a"), "--new".into()], 2, "64 hex digits"),
        (vec!["--key".into(), key.clone(), "--state".into(), path("a")], 10, "--new makes it"),
        (vec!["--key".into(), key.clone(), "--state".into(), path("damaged")], 10, "damaged"),
        (vec!["--key".into(), key.clone(), "--state".into(), path("damaged"), "--new".into()], 10, "leave out --new"),
        (
            vec!["--key".into(), key, "--state".into(), folder.to_str().unwrap().into(), "--new".into()],
            10,
            "a file in a folder",
        ),
    ];
    for (arguments, code, word) in cases {
        let done = Command::new(TALLY).args(["send", "--to", &to]).args(&arguments).output().unwrap();
        let words = said(&done);
        assert_eq!((done.status.code(), words.lines().count()), (Some(code), 2), "{arguments:?}: {words}");
        assert!(words.contains(word) && words.contains("hint: ") && !words.contains(&"5a".repeat(31)), "{words}");
    }
    assert!(listener.recv(&mut [0; 64]).is_err());
    let burst = ["proxy", "--to", &to, "--loss", "0.9", "--burst", "2"];
    let wrong = Command::new(TALLY).args(burst).output().unwrap();
    assert_eq!((wrong.status.code(), said(&wrong).lines().count()), (Some(2), 2), "{}", said(&wrong));
}

/// The most memory that a process has had so far.
#[cfg(target_os = "linux")]
fn most_memory_KiB(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn hostile_datagrams_end_nothing_and_fill_no_memory() {
    let begin = Instant::now();
    let place = Place::new();
    let gateway = place.gateway("gateway", &["--timeout", "2"]);
    let proxy = proxy(&gateway.address, &["--timeout", "2"]);
    let arguments = ["--to", &*proxy.address, "--messages", "300", "--interval-ms", "5"];
    let mut sensor = place.end("send", "sensor", &arguments).spawn().unwrap();
    let told = sensor.stdout.take().map(|out| thread::spawn(move || lines(out))).unwrap();
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (mut random, mut datagram) = (SplitMix64::new(5), [0; 3000]);
    for number in 0..20_000 {
        let length = random.below(if number % 50 == 0 { 3000 } else { 64 }) as usize;
        datagram[..length].iter_mut().for_each(|octet| *octet = random.below(256).to_be_bytes()[3]);
        if number % 3 == 0 {
            datagram[..4].copy_from_slice(b"0001");
        }
        let length = if number % 7 == 0 { OPENING_B } else { length };
        let _ = stranger.send_to(&datagram[..length], &gateway.address);
        if number % 100 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    let (of_gateway, of_sensor) = (most_memory_KiB(&gateway.child), most_memory_KiB(&sensor));
    assert!(sensor.wait().unwrap().success());
    assert!(of_gateway < 64 * 1024 && of_sensor < 64 * 1024, "{of_gateway} {of_sensor} KiB");
    assert_eq!(of_kind(&told.join().unwrap(), "sent").count(), 300);
    let told = gateway.ended();
    // At most a line a second.
    let refused = of_kind(&told, "refused").count() as u64;
    assert!((1..=begin.elapsed().as_secs() + 2).contains(&refused), "{refused} lines");
    assert!(of_kind(&told, "verified").count() > 0);
    drop(proxy);
}
