//! `wattlock-probe frames` on captures: there and back, and against programs of others where they are installed.
#![allow(clippy::unwrap_used, non_snake_case)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const K16: &str = "000102030405060708090a0b0c0d0e0f";
const K32: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const PROTOCOLS: [(&str, &str); 7] = [
    ("wep", "0102030405"),
    ("wep", "0102030405060708090a0b0c0d"),
    ("tkip", K32),
    ("ccmp", K16),
    ("ccmp256", K32),
    ("gcmp", K16),
    ("gcmp256", K32),
];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn frames(arguments: &[&str], input: &Path, output: &Path) -> serde_json::Value {
    let probe = Command::new(env!("CARGO_BIN_EXE_wattlock-probe"));
    let mut probe = { probe };
    let done = probe.arg("frames").args(arguments).arg(input).arg(output).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// A UDP packet to port 2000 in a frame of each direction, with QoS and without.
fn mpdus() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (kind, flags, rest) in [
        (0x08_u8, 1_u8, &[][..]),
        (0x08, 2, &[]),
        (0x08, 0, &[]),
        (0x88, 1, &[5, 0]),
        (0x88, 2, &[6, 0]),
        (0x08, 3, &[2, 0, 0, 0, 0, 4]),
        (0x88, 3, &[2, 0, 0, 0, 0, 4, 3, 0]),
    ] {
        for size_B in [0_u16, 1, 60, 1400] {
            let sequence = u16::try_from(all.len() + 1).unwrap() << 4;
            let mut mpdu = vec![kind, flags, 0, 0];
            (1..=3).for_each(|last| mpdu.extend([2, 0, 0, 0, 0, last]));
            mpdu.extend(sequence.to_le_bytes());
            mpdu.extend(rest);
            mpdu.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45, 0]);
            mpdu.extend((28 + size_B).to_be_bytes());
            mpdu.extend([0, 0, 0x40, 0, 0x40, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x03, 0xe8, 0x07, 0xd0]);
            mpdu.extend((8 + size_B).to_be_bytes());
            mpdu.extend([0, 0]);
            mpdu.extend((0..size_B).map(|at| at.to_le_bytes()[0]));
            all.push(mpdu);
        }
    }
    all
}

fn pcap(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 105].iter().flat_map(|word| word.to_le_bytes()).collect();
    for (second, packet) in (0_u32..).zip(packets) {
        let length = u32::try_from(packet.len()).unwrap();
        [second, 0, length, length].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(packet);
    }
    bytes
}

fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !is_there {
        eprintln!("skipped: {program} is missing");
    }
    is_there
}

#[test]
fn a_capture_comes_back_as_it_was_and_a_second_time_every_frame_is_a_replay() {
    for (at, (protocol, key)) in PROTOCOLS.into_iter().enumerate() {
        let (clear, sealed, back) = (file(&format!("c{at}")), file(&format!("s{at}.gz")), file(&format!("b{at}")));
        std::fs::write(&clear, pcap(&mpdus())).unwrap();
        let summary = frames(&["protect", "--protocol", protocol, "--key", key, "--fragment", "500"], &clear, &sealed);
        assert_eq!(summary["done"], 28, "{summary}");
        let option = if protocol == "wep" { "--wep" } else { "--tk" };
        let summary = frames(&["unprotect", option, key], &sealed, &back);
        assert_eq!(summary["written"], summary["frames"], "{summary}");
        let plain = file(&format!("p{at}"));
        frames(&["protect", "--protocol", protocol, "--key", key], &clear, &plain);
        frames(&["unprotect", option, key], &plain, &back);
        assert_eq!(std::fs::read(&back).unwrap()[24..], std::fs::read(&clear).unwrap()[24..], "{protocol}");
        let mut twice = std::fs::read(&plain).unwrap();
        twice.extend_from_within(24..);
        std::fs::write(&plain, twice).unwrap();
        let summary = frames(&["unprotect", option, key], &plain, &back);
        let replays = if protocol == "wep" { 0 } else { 28 };
        assert_eq!(summary["failed"]["replay"], replays, "{protocol}: {summary}");
    }
}

#[test]
fn a_capture_cut_in_the_middle_of_a_frame_yields_the_frames_before_it() {
    let (clear, sealed, back) = (file("cut"), file("cut.s"), file("cut.b"));
    std::fs::write(&clear, pcap(&mpdus())).unwrap();
    frames(&["protect", "--protocol", "ccmp", "--key", K16], &clear, &sealed);
    let whole = std::fs::read(&sealed).unwrap();
    std::fs::write(&sealed, &whole[..whole.len() - 9]).unwrap();
    let summary = frames(&["unprotect", "--tk", K16], &sealed, &back);
    assert_eq!((&summary["done"], &summary["cut"]), (&27.into(), &true.into()));
}

#[test]
fn tshark_decrypts_every_frame() {
    if !has("tshark") {
        return;
    }
    for (at, (protocol, key)) in PROTOCOLS.into_iter().enumerate() {
        let (clear, sealed) = (file(&format!("tc{at}")), file(&format!("ts{at}")));
        std::fs::write(&clear, pcap(&mpdus())).unwrap();
        frames(&["protect", "--protocol", protocol, "--key", key], &clear, &sealed);
        // tshark takes the temporal key of TKIP alone: it looks at no Michael.
        let (kind, key) = match protocol {
            "wep" => ("wep", key),
            "tkip" => ("tk", K16),
            _ => ("tk", key),
        };
        let done = Command::new("tshark")
            .args(["-o", "wlan.enable_decryption:TRUE", "-o", &format!("uat:80211_keys:\"{kind}\",\"{key}\"")])
            .args(["-T", "fields", "-e", "udp.dstport", "-r"])
            .arg(&sealed)
            .output()
            .unwrap();
        let ports = String::from_utf8_lossy(&done.stdout);
        assert_eq!(ports.lines().filter(|port| *port == "2000").count(), 28, "{protocol}: {ports}");
    }
}

#[test]
fn airdecap_decrypts_the_frames_of_wep_that_have_an_access_point() {
    if !has("airdecap-ng") {
        return;
    }
    for (at, (_, key)) in PROTOCOLS.into_iter().take(2).enumerate() {
        let (clear, sealed) = (file(&format!("ac{at}")), file(&format!("as{at}.pcap")));
        let with_access_point: Vec<_> = mpdus().into_iter().filter(|mpdu| matches!(mpdu[1], 1 | 2)).collect();
        std::fs::write(&clear, pcap(&with_access_point)).unwrap();
        // airdecap-ng takes two equal octets and a 3 for LLC and SNAP in the clear, so it leaves the IV 3 alone.
        frames(&["protect", "--protocol", "wep", "--key", key, "--pn", "256"], &clear, &sealed);
        let done = Command::new("airdecap-ng").args(["-w", key]).arg(&sealed).output().unwrap();
        let told = String::from_utf8_lossy(&done.stdout);
        let decrypted = told.lines().find(|line| line.contains("decrypted WEP")).unwrap_or_default();
        assert!(decrypted.ends_with(&format!(" {}", with_access_point.len())), "{told}");
    }
}
