//! `wattlock-net capture`: what it counts in captures made here octet by octet, and in captures cut anywhere.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

const SECOND: u64 = 1_700_000_000;

use wattlock_test_tools::own;

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = own(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn run(path: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wattlock-net")).arg("capture").args(options).arg(path).output().unwrap()
}

fn lines(name: &str, bytes: &[u8], options: &[&str]) -> Vec<Value> {
    let done = run(&file(name, bytes), options);
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    done.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(read).collect()
}

fn read(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

fn of_kind(lines: &[Value], kind: &str) -> Vec<Value> {
    lines.iter().filter(|line| line["kind"] == kind).cloned().collect()
}

/// `(frame, protected, size_B, count)` of the size lines.
fn sizes(lines: &[Value]) -> Vec<(String, bool, u64, u64)> {
    let size = |line: Value| {
        let frame = line["frame"].as_str().unwrap().to_owned();
        (frame, line["protected"].as_bool().unwrap(), line["size_B"].as_u64().unwrap(), line["count"].as_u64().unwrap())
    };
    of_kind(lines, "size").into_iter().map(size).collect()
}

fn word(is_big: bool, value: u32) -> [u8; 4] {
    if is_big { value.to_be_bytes() } else { value.to_le_bytes() }
}

fn half(is_big: bool, value: u16) -> [u8; 2] {
    if is_big { value.to_be_bytes() } else { value.to_le_bytes() }
}

/// A pcap whose packets are 1 ms apart.
fn pcap(is_big: bool, is_fine: bool, network: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let magic = if is_fine { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut bytes = word(is_big, magic).to_vec();
    bytes.extend([half(is_big, 2), half(is_big, 4)].concat());
    [0, 0, 65535, network].into_iter().for_each(|value| bytes.extend(word(is_big, value)));
    for (at, packet) in (0_u32..).zip(packets) {
        let fraction = at * if is_fine { 1_000_000 } else { 1000 };
        let length_B = u32::try_from(packet.len()).unwrap();
        for value in [u32::try_from(SECOND).unwrap(), fraction, length_B, length_B] {
            bytes.extend(word(is_big, value));
        }
        bytes.extend(packet);
    }
    bytes
}

fn block(is_big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length_B = word(is_big, u32::try_from(body.len() + 12).unwrap());
    [&word(is_big, kind)[..], &length_B, &body, &length_B].concat()
}

fn option(is_big: bool, code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = [half(is_big, code), half(is_big, u16::try_from(value.len()).unwrap())].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn section(is_big: bool) -> Vec<u8> {
    let mut body = word(is_big, 0x1a2b_3c4d).to_vec();
    body.extend([half(is_big, 1), half(is_big, 0)].concat());
    body.extend([0xff; 8]);
    block(is_big, 0x0a0d_0d0a, &body)
}

fn interface(is_big: bool, link: u16, options: &[u8]) -> Vec<u8> {
    let mut body = [half(is_big, link), half(is_big, 0)].concat();
    body.extend(word(is_big, 0));
    body.extend(options);
    if !options.is_empty() {
        body.extend([0; 4]);
    }
    block(is_big, 1, &body)
}

fn enhanced(is_big: bool, interface: u32, ticks: u64, packet: &[u8]) -> Vec<u8> {
    let length_B = u32::try_from(packet.len()).unwrap();
    let (high, low) = (u32::try_from(ticks >> 32).unwrap(), u32::try_from(ticks & 0xffff_ffff).unwrap());
    let mut body: Vec<u8> =
        [interface, high, low, length_B, length_B].into_iter().flat_map(|value| word(is_big, value)).collect();
    body.extend(packet);
    block(is_big, 6, &body)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A beacon of 40 octets, an acknowledgement of 10, data in the clear of 100, protected data of 200.
fn wireless() -> Vec<Vec<u8>> {
    let frame = |control: [u8; 2], size_B: usize| {
        let mut mpdu = control.to_vec();
        mpdu.extend((2..size_B).map(|at| u8::try_from(at).unwrap()));
        mpdu
    };
    vec![frame([0x80, 0], 40), frame([0xd4, 0], 10), frame([0x08, 1], 100), frame([0x08, 0x41], 200)]
}

/// What `wireless` is on the air: four octets of FCS more.
fn wireless_sizes() -> Vec<(String, bool, u64, u64)> {
    vec![
        ("management".into(), false, 44, 1),
        ("control".into(), false, 14, 1),
        ("data".into(), false, 104, 1),
        ("data".into(), true, 204, 1),
    ]
}

fn with_fcs(mpdu: &[u8]) -> Vec<u8> {
    [mpdu, &crc32(mpdu).to_le_bytes()].concat()
}

/// IEEE Std 802.3, 3.2.9, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    })
}

fn radiotap(flags: u8, mpdu: &[u8]) -> Vec<u8> {
    // A TSF, which stands on a multiple of eight, and the flags.
    let mut bytes = vec![0, 0, 25, 0, 3, 0, 0, 0];
    bytes.extend([0; 8]);
    bytes.push(flags);
    bytes.resize(25, 0);
    bytes.extend(mpdu);
    bytes
}

#[test]
fn every_form_of_a_capture_gives_the_same_census() {
    let frames = wireless();
    let mut captures: Vec<(String, Vec<u8>)> = Vec::new();
    for is_big in [false, true] {
        for is_fine in [false, true] {
            captures.push((format!("pcap-{is_big}-{is_fine}"), pcap(is_big, is_fine, 105, &frames)));
        }
        let fine = option(is_big, 9, &[9]);
        let named = [option(is_big, 2, b"wlan0"), fine].concat();
        let mut bytes = [section(is_big), interface(is_big, 105, &named)].concat();
        for (at, frame) in (0_u64..).zip(&frames) {
            bytes.extend(enhanced(is_big, 0, SECOND * 1_000_000_000 + at * 1_000_000, frame));
        }
        // Statistics and a block that nobody knows change nothing.
        bytes.extend(block(is_big, 5, &[0; 12]));
        bytes.extend(block(is_big, 0x7777, &[1, 2, 3, 4]));
        captures.push((format!("pcapng-{is_big}"), bytes));
    }
    let zipped: Vec<_> = captures.iter().map(|(name, bytes)| (format!("{name}-gz"), gzip(bytes))).collect();
    for (name, bytes) in captures.into_iter().chain(zipped) {
        let lines = lines(&name, &bytes, &[]);
        assert_eq!(sizes(&lines), wireless_sizes(), "{name}");
        let gaps = of_kind(&lines, "gap");
        assert_eq!(gaps.len(), 1, "{name}");
        assert!(gaps[0]["from_ns"].as_u64().unwrap() <= 1_000_000 && gaps[0]["below_ns"].as_u64().unwrap() > 1_000_000);
        assert_eq!(gaps[0]["count"], 3);
        let right = json!({"kind": "summary", "packets": 4, "counted": 4, "total_B": 366, "truncated": 0, "damaged": 0,
            "malformed": 0, "unknown_link": 0, "first_ns": SECOND * 1_000_000_000,
            "last_ns": SECOND * 1_000_000_000 + 3_000_000, "backwards": 0, "cut": false});
        assert_eq!(lines.last(), Some(&right), "{name}");
    }
}

#[test]
fn headers_of_devices_are_not_counted_and_an_fcs_is_counted_once() {
    let frames = wireless();
    let prism = |mpdu: &Vec<u8>| [&[0, 0, 0, 0x44, 144, 0, 0, 0][..], &[0; 136], mpdu].concat();
    let avs = |mpdu: &Vec<u8>| [&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64][..], &[0; 56], mpdu].concat();
    let ppi = |mpdu: &Vec<u8>| [&[0, 0, 12, 0, 105, 0, 0, 0][..], &[0; 4], mpdu].concat();
    let all = |with: &dyn Fn(&Vec<u8>) -> Vec<u8>| frames.iter().map(with).collect::<Vec<_>>();
    for (name, network, packets) in [
        ("bare-fcs", 105, all(&|mpdu| with_fcs(mpdu))),
        // Bit 26 and two words of two octets: the capture says that an FCS stands behind each.
        ("said-fcs", 105 | 1 << 26 | 2 << 28, all(&|mpdu| [&mpdu[..], &[0; 4]].concat())),
        ("said-none", 105 | 1 << 26, all(&|mpdu| mpdu.clone())),
        ("radiotap", 127, all(&|mpdu| radiotap(0, mpdu))),
        ("radiotap-fcs", 127, all(&|mpdu| radiotap(0x10, &with_fcs(mpdu)))),
        // A device that says that there is an FCS and leaves it off, and the other way round.
        ("radiotap-lies", 127, all(&|mpdu| radiotap(0x10, mpdu))),
        ("radiotap-hides", 127, all(&|mpdu| radiotap(0, &with_fcs(mpdu)))),
        ("avs", 163, all(&avs)),
        ("prism-avs", 119, all(&avs)),
        ("prism", 119, all(&prism)),
        ("ppi", 192, all(&ppi)),
    ] {
        assert_eq!(sizes(&lines(name, &pcap(false, false, network, &packets), &[])), wireless_sizes(), "{name}");
    }
}

#[test]
fn packets_in_a_header_of_ppi_are_of_the_medium_that_it_names() {
    let ppi = |link: u8, inside: &[u8]| [&[0, 0, 12, 0, link, 0, 0, 0][..], &[0; 4], inside].concat();
    // Ethernet with ARP inside.
    let ethernet = [&[2; 12][..], &[8, 6], &[0; 46]].concat();
    let rows = lines("ppi-ethernet", &pcap(false, false, 192, &[ppi(1, &ethernet)]), &[]);
    assert_eq!(sizes(&rows), [("arp".into(), false, 60, 1)]);
    let done = run(&file("ppi-loopback", &pcap(false, false, 192, &[ppi(108, &[2, 0, 0, 0, 0x45])])), &[]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(10), "{said}");
    assert!(said.contains("of link type 108, which is none that is read"), "{said}");
    // A frame with a second header of a device.
    let rows = lines("ppi-radiotap", &pcap(false, false, 192, &[ppi(127, &radiotap(0, &wireless()[2]))]), &[]);
    assert_eq!(rows.last().unwrap()["malformed"], 1);
}

#[test]
fn padding_behind_a_header_was_not_on_the_air() {
    let mut padded = vec![0x88, 0x01];
    padded.resize(26, 0);
    padded.extend([0; 2]);
    padded.extend([7; 10]);
    let lines = lines("padded", &pcap(false, false, 127, &[radiotap(0x20, &padded)]), &[]);
    assert_eq!(sizes(&lines), [("data".into(), false, 40, 1)]);
}

#[test]
fn the_obsolete_block_of_a_packet_is_read_as_the_enhanced_one_is() {
    for is_big in [false, true] {
        let frames = wireless();
        let capture = |as_block: &dyn Fn(&Vec<u8>) -> Vec<u8>| {
            let blocks: Vec<u8> = frames.iter().flat_map(as_block).collect();
            [section(is_big), interface(is_big, 105, &[]), interface(is_big, 105, &[]), blocks].concat()
        };
        let obsolete = |frame: &Vec<u8>| {
            let length_B = u32::try_from(frame.len()).unwrap();
            let mut body = [half(is_big, 1), half(is_big, 0xffff)].concat();
            body.extend([0, 77, length_B, length_B].into_iter().flat_map(|value| word(is_big, value)));
            body.extend(frame);
            block(is_big, 2, &body)
        };
        let lines_of = |name: &str, capture: &[u8]| lines(name, capture, &["--packets"]);
        let right = lines_of("enhanced", &capture(&|frame| enhanced(is_big, 1, 77, frame)));
        assert_eq!(lines_of("obsolete", &capture(&obsolete)), right);
        let cut = [section(is_big), interface(is_big, 105, &[]), block(is_big, 2, &[0; 12])].concat();
        assert_eq!(lines_of("too-short", &cut).last().unwrap()["cut"], true);
    }
}

#[test]
fn what_is_damaged_malformed_or_of_another_link_is_told_and_not_counted() {
    let good = wireless().remove(2);
    let mut device_too_long = radiotap(0, &good);
    device_too_long[2..4].copy_from_slice(&[0xff, 0xff]);
    let mut other_version = good.clone();
    other_version[0] |= 1;
    let packets = [
        radiotap(0x40, &good),
        device_too_long,
        radiotap(0, &other_version),
        radiotap(0, &good[..20]),
        vec![0, 0],
        Vec::new(),
        radiotap(0, &good),
    ];
    let rows = lines("malformed", &pcap(false, false, 127, &packets), &[]);
    let summary = rows.last().unwrap();
    assert_eq!(
        (&summary["packets"], &summary["counted"], &summary["damaged"], &summary["malformed"]),
        (&json!(7), &json!(1), &json!(1), &json!(5))
    );
}

#[test]
fn a_capture_of_a_link_type_that_is_not_read_is_an_error_and_of_several_a_warning() {
    // Of a loopback interface, as BSD captures it: link types 0 and 108.
    for link in [0, 108, 147] {
        let done = run(&file(&format!("link-{link}"), &pcap(false, false, link, &[vec![2, 0, 0, 0, 0x45]])), &[]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(10), "{said}");
        assert!(said.contains(&format!("of link type {link}, which is none that is read")), "{said}");
        assert!(said.contains("hint: 802.11 (105"), "{said}");
        let summary: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!((&summary["unknown_link"], &summary["counted"]), (&json!(1), &json!(0)));
    }
    let mut bytes = section(false);
    [108, 105].into_iter().for_each(|link| bytes.extend(interface(false, link, &[])));
    bytes.extend(enhanced(false, 0, 5, &[2, 0, 0, 0, 0x45]));
    bytes.extend(enhanced(false, 1, 5, &wireless()[2]));
    let done = run(&file("two-links", &bytes), &[]);
    assert!(done.status.success());
    assert!(String::from_utf8_lossy(&done.stderr).contains("warning: "), "{done:?}");
}

#[test]
fn packets_cut_short_by_the_capture_count_with_their_size_before() {
    let mut bytes = pcap(false, false, 127, &[radiotap(0x10, &wireless()[3])]);
    // The packet's own length: 25 octets of radiotap, 1500 of MPDU with its FCS.
    bytes[36..40].copy_from_slice(&1525_u32.to_le_bytes());
    let rows = lines("snapped", &bytes, &[]);
    assert_eq!(sizes(&rows), [("data".into(), true, 1500, 1)]);
    assert_eq!(rows.last().unwrap()["truncated"], 1);
    bytes[36..40].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    let rows = lines("absurd", &bytes, &[]);
    assert_eq!(rows.last().unwrap()["malformed"], 1, "no packet has 4 GiB");
}

#[test]
fn packets_of_ethernet_and_ip_are_told_by_what_they_carry() {
    let ipv4 = |protocol: u8, offset: u8| {
        let mut bytes = vec![0x45, 0, 0, 40, 0, 0, 0, offset, 64, protocol];
        bytes.resize(40, 0);
        bytes
    };
    let ipv6 = |next: u8| {
        let mut bytes = vec![0x60, 0, 0, 0, 0, 10, next, 64];
        bytes.resize(50, 0);
        bytes
    };
    let ethernet = |kind: &[u8], inside: &[u8]| [&[2; 12][..], kind, inside].concat();
    let packets = [
        ethernet(&[8, 0], &ipv4(6, 0)),
        ethernet(&[8, 0], &ipv4(6, 0)),
        ethernet(&[0x81, 0, 0, 5, 0x86, 0xdd], &ipv6(17)),
        ethernet(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 5, 8, 0], &ipv4(1, 0)),
        ethernet(&[8, 0], &ipv4(17, 9)),
        ethernet(&[8, 6], &[0; 28]),
        ethernet(&[0x88, 0xcc], &[0; 10]),
        ethernet(&[8, 0], &ipv4(6, 0)[..5]),
    ];
    let rows = lines("ethernet", &pcap(false, false, 1, &packets), &[]);
    let right = [("tcp", 54, 2), ("udp", 68, 1), ("icmp", 62, 1), ("ip", 54, 1), ("arp", 42, 1), ("other", 24, 1)];
    assert_eq!(sizes(&rows), right.map(|(frame, size_B, count)| (frame.to_owned(), false, size_B, count)));
    assert_eq!(rows.last().unwrap()["malformed"], 1);

    let mut cooked = vec![0; 14];
    cooked.extend([8, 0]);
    cooked.extend(ipv4(17, 0));
    let mut cooked_2 = vec![0x86, 0xdd];
    cooked_2.resize(20, 0);
    cooked_2.extend(ipv6(6));
    // One capture, an interface of each link type; the last packet stands without interface and time.
    let mut bytes = section(false);
    [101, 113, 276, 1].into_iter().for_each(|link| bytes.extend(interface(false, link, &[])));
    for (interface, packet) in [(0, ipv4(6, 0)), (1, cooked), (2, cooked_2), (3, packets[0].clone())] {
        bytes.extend(enhanced(false, interface, 5, &packet));
    }
    bytes.extend(block(false, 3, &[&40_u32.to_le_bytes()[..], &ipv4(6, 0)].concat()));
    let rows = lines("mixed", &bytes, &["--packets"]);
    let right = [("tcp", 40, 2), ("tcp", 50, 1), ("tcp", 54, 1), ("udp", 40, 1)];
    assert_eq!(sizes(&rows), right.map(|(frame, size_B, count)| (frame.to_owned(), false, size_B, count)));
    let times: Vec<_> = of_kind(&rows, "packet").into_iter().map(|line| line["time_ns"].clone()).collect();
    assert_eq!(times, [json!(5000), json!(5000), json!(5000), json!(5000), Value::Null]);
}

#[test]
fn an_interface_says_how_fine_its_times_are_from_when_they_count_and_how_long_its_fcs_is() {
    for is_big in [false, true] {
        let offset = if is_big { 100_i64.to_be_bytes() } else { 100_i64.to_le_bytes() };
        // 2^-10 s; 100 s; four octets.
        let options = [option(is_big, 9, &[0x8a]), option(is_big, 14, &offset), option(is_big, 13, &[4])].concat();
        let mut bytes = [section(is_big), interface(is_big, 105, &options)].concat();
        bytes.extend(enhanced(is_big, 0, 1536, &wireless()[2]));
        let rows = lines(&format!("offset-{is_big}"), &bytes, &["--packets"]);
        assert_eq!(of_kind(&rows, "packet")[0]["time_ns"], 101_500_000_000_u64);
        assert_eq!(sizes(&rows), [("data".into(), false, 100, 1)]);
    }
}

#[test]
fn a_time_before_1970_or_beyond_all_numbers_is_none_and_is_told() {
    for (is_big, offset_s, resolution, ticks) in [
        (false, -100_i64, 9, 5),
        (true, -100, 9, 5),
        (false, i64::MIN, 6, 5),
        (false, i64::MAX, 6, u64::MAX),
        (false, 0, 0, u64::MAX),
        (false, 0, 0x80, u64::MAX),
    ] {
        let offset = if is_big { offset_s.to_be_bytes() } else { offset_s.to_le_bytes() };
        let options = [option(is_big, 9, &[resolution]), option(is_big, 14, &offset)].concat();
        let interfaces = [interface(is_big, 105, &options), interface(is_big, 105, &[])].concat();
        let mut bytes = [section(is_big), interfaces].concat();
        bytes.extend(enhanced(is_big, 0, ticks, &wireless()[2]));
        bytes.extend(enhanced(is_big, 1, 7, &wireless()[2]));
        let done = run(&file(&format!("untimed-{is_big}-{offset_s}-{resolution}"), &bytes), &["--packets"]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
        assert!(said.contains(": 1 of its packets are stamped before 1970 or after 2554"), "{said}");
        let rows: Vec<_> = String::from_utf8_lossy(&done.stdout).lines().map(|line| read(line.as_bytes())).collect();
        let times: Vec<_> = of_kind(&rows, "packet").into_iter().map(|line| line["time_ns"].clone()).collect();
        assert_eq!(times, [Value::Null, json!(7000)]);
        let summary = rows.last().unwrap();
        assert_eq!((&summary["counted"], &summary["first_ns"]), (&json!(2), &json!(7000)));
        assert_eq!(of_kind(&rows, "gap").len(), 0);
    }
}

#[test]
fn a_time_before_the_one_before_is_no_gap() {
    let mut bytes = [section(false), interface(false, 105, &[])].concat();
    for ticks in [10, 5, 6] {
        bytes.extend(enhanced(false, 0, ticks, &wireless()[0]));
    }
    let rows = lines("backwards", &bytes, &[]);
    assert_eq!(rows.last().unwrap()["backwards"], 1);
    assert_eq!(of_kind(&rows, "gap").len(), 1);
}

#[test]
fn a_file_that_is_no_capture_is_refused_with_what_is_one() {
    let done = run(&file("none", b"not a capture at all, but long enough to hold a header"), &[]);
    assert_eq!(done.status.code(), Some(10));
    assert!(String::from_utf8_lossy(&done.stderr).contains("hint: captures are pcap or pcapng"));
}

#[test]
fn a_capture_cut_anywhere_gives_the_packets_before_the_cut() {
    let frames = &wireless()[..2];
    let mut blocks = [section(false), interface(false, 105, &option(false, 9, &[6]))].concat();
    let first = blocks.len();
    frames.iter().for_each(|frame| blocks.extend(enhanced(false, 0, 7, frame)));
    let second = first + 32 + 40;
    for (name, bytes, ends) in [
        ("cut.pcap", pcap(true, false, 105, frames), [24, 24 + 16 + 40, 24 + 16 + 40 + 16 + 10]),
        ("cut.pcapng", blocks.clone(), [first, second, blocks.len()]),
    ] {
        assert_eq!(ends[2], bytes.len());
        for length_B in 0..=bytes.len() {
            let done = run(&file(name, &bytes[..length_B]), &[]);
            if done.status.code() == Some(10) {
                assert!(length_B < ends[0], "{name}: {length_B}");
                continue;
            }
            let text = String::from_utf8(done.stdout).unwrap();
            let summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
            let whole = ends[1..].iter().filter(|end| length_B >= **end).count();
            assert_eq!(summary["packets"], whole, "{name}: {length_B}");
            let starts = if name == "cut.pcap" { &ends[..] } else { &[28, ends[0], ends[1], ends[2]] };
            assert_eq!(summary["cut"], !starts.contains(&length_B), "{name}: {length_B}");
        }
    }
}

/// What a gzip gives before it ends or fails.
fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut inflated = Vec::new();
    let _ = flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut inflated);
    inflated
}

#[test]
fn a_gzip_cut_anywhere_gives_the_packets_that_inflate_and_counts_the_cut() {
    let small = pcap(false, false, 105, &wireless());
    // Of noise, which inflates bit by bit: more than is read ahead to tell the format.
    let mut noise = 1_u32;
    let mut frame = |at: usize| {
        let mut mpdu = wireless()[2][..24].to_vec();
        mpdu.extend((0..100 + at % 50).map(|_| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise.to_be_bytes()[0]
        }));
        mpdu
    };
    let frames: Vec<_> = (0..1000).map(&mut frame).collect();
    let large = pcap(false, false, 105, &frames);
    let mut blocks = [section(false), interface(false, 105, &[])].concat();
    frames.iter().for_each(|frame| blocks.extend(enhanced(false, 0, 7, frame)));
    let first = [section(false), interface(false, 105, &[])].concat().len();
    for (name, clear, head_B, around_B, frames, step) in [
        ("cut.pcap.gz", small, 24, 16, wireless(), 1),
        ("large.pcap.gz", large, 24, 16, frames.clone(), 9_973),
        ("large.pcapng.gz", blocks, first, 32, frames, 9_973),
    ] {
        let bytes = gzip(&clear);
        let mut end = head_B;
        let ends: Vec<usize> = frames
            .iter()
            .map(|frame| {
                let padded_B = if around_B == 32 { frame.len().next_multiple_of(4) } else { frame.len() };
                end += around_B + padded_B;
                end
            })
            .collect();
        assert_eq!(ends.last(), Some(&clear.len()));
        for length_B in (0..bytes.len()).step_by(step).chain([bytes.len() - 1]) {
            let there_B = inflated(&bytes[..length_B]).len();
            let done = run(&file(name, &bytes[..length_B]), &[]);
            let printed = String::from_utf8(done.stdout).unwrap();
            if done.status.code() == Some(10) {
                assert!(there_B < head_B, "{name}: {length_B}");
                continue;
            }
            let summary: Value = serde_json::from_str(printed.lines().last().unwrap_or_default()).unwrap_or_default();
            let whole = ends.iter().filter(|end| **end <= there_B).count();
            assert_eq!((&summary["packets"], &summary["cut"]), (&json!(whole), &json!(true)), "{name}: {length_B}");
        }
    }
}
