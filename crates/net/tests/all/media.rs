//! What devices put around a frame, right and wrong, and captures of several media: frames are opened all the same, and
//! where none is, a sentence says why.

use std::path::Path;
use std::process::{Command, Output};

use wattlock_test_tools::own as file;

const KEY: &str = "000102030405060708090a0b0c0d0e0f";

fn le(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn length_B(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}

fn pcap(link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let head = le(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, link]);
    let packet = |packet: &Vec<u8>| [le(&[1, 0, length_B(packet), length_B(packet)]), packet.clone()].concat();
    [head, packets.iter().flat_map(packet).collect()].concat()
}

/// A pcapng of interfaces by their link types; each packet says its interface.
fn pcapng(links: &[u32], packets: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let padded_B = body.len().next_multiple_of(4);
        let whole_B = u32::try_from(padded_B + 12).unwrap();
        [le(&[kind, whole_B]), body.to_vec(), vec![0; padded_B - body.len()], le(&[whole_B])].concat()
    };
    let mut bytes = block(0x0a0d_0d0a, &le(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]));
    links.iter().for_each(|link| bytes.extend(block(1, &le(&[*link, 0]))));
    for (interface, packet) in packets {
        let head = le(&[*interface, 0, 5, length_B(packet), length_B(packet)]);
        bytes.extend(block(6, &[head, packet.clone()].concat()));
    }
    bytes
}

fn frames(words: &[&str], name: &str, capture: &[u8]) -> Output {
    let (input, output) = (file(&format!("{name}.pcap")), file(&format!("{name}-out.pcap")));
    std::fs::write(&input, capture).unwrap();
    Command::new(env!("CARGO_BIN_EXE_wattlock-net")).arg("frames").args(words).arg(input).arg(output).output().unwrap()
}

fn summary(done: &Output) -> serde_json::Value {
    serde_json::from_slice(&done.stdout).unwrap()
}

fn said(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// Eight data frames in the clear.
fn clear() -> Vec<Vec<u8>> {
    let frame = |sequence: u8| [&[0x08, 1, 0, 0][..], &[2; 18], &[sequence << 4, 0], &[7; 40]].concat();
    (1..=8).map(frame).collect()
}

/// The same under CCMP.
fn sealed(name: &str) -> Vec<Vec<u8>> {
    let done = frames(&["protect", "--protocol", "ccmp", "--key", KEY], name, &pcap(105, &clear()));
    assert_eq!(summary(&done)["done"], 8, "{}", said(&done));
    read(&file(&format!("{name}-out.pcap")))
}

/// The packets of a pcap.
fn read(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let (mut rest, mut all) = (&bytes[24..], Vec::new());
    while let Some((head, behind)) = rest.split_at_checked(16) {
        let there_B = u32::from_le_bytes(*head[8..].first_chunk().unwrap()) as usize;
        all.push(behind[..there_B].to_vec());
        rest = &behind[there_B..];
    }
    all
}

fn radiotap(flags: u8, mpdu: &[u8]) -> Vec<u8> {
    [&[0, 0, 9, 0, 2, 0, 0, 0, flags][..], mpdu].concat()
}

fn with_fcs(mpdu: &[u8]) -> Vec<u8> {
    [mpdu, &wattlock_frames::fcs(mpdu)].concat()
}

#[test]
fn frames_are_opened_behind_each_header_and_whatever_a_flag_says_of_the_fcs() {
    let sealed = sealed("headers");
    let avs = |mpdu: &[u8]| [&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64][..], &[0; 56], mpdu].concat();
    let prism = |mpdu: &[u8]| [&[0x44, 0, 0, 0, 144, 0, 0, 0][..], &[0; 136], mpdu].concat();
    let all = |wrapped: &dyn Fn(&[u8]) -> Vec<u8>| sealed.iter().map(|mpdu| wrapped(mpdu)).collect::<Vec<_>>();
    for (name, link, packets) in [
        ("fcs-said-and-absent", 127, all(&|mpdu| radiotap(0x10, mpdu))),
        ("fcs-there-and-not-said", 127, all(&|mpdu| radiotap(0, &with_fcs(mpdu)))),
        ("fcs", 127, all(&|mpdu| radiotap(0x10, &with_fcs(mpdu)))),
        ("avs", 163, all(&avs)),
        ("avs-fcs", 163, all(&|mpdu| avs(&with_fcs(mpdu)))),
        ("avs-as-prism", 119, all(&avs)),
        ("prism", 119, all(&prism)),
    ] {
        let done = frames(&["unprotect", "--tk", KEY], name, &pcap(link, &packets));
        assert_eq!(summary(&done)["done"], 8, "{name}: {}", said(&done));
        assert_eq!(said(&done), "", "{name}");
    }
    // Where others have a right FCS, a frame without is damaged.
    let mut packets = all(&|mpdu| radiotap(0x10, &with_fcs(mpdu)));
    packets[0][20] ^= 1;
    let done = frames(&["unprotect", "--tk", KEY], "damaged", &pcap(127, &packets));
    let summary = summary(&done);
    assert_eq!((&summary["done"], &summary["failed"]["malformed"]), (&7.into(), &1.into()), "{summary}");
}

#[test]
fn of_several_media_the_frames_of_802_11_are_read_and_the_others_counted() {
    let ethernet = [[2; 12].as_slice(), &[8, 0], &[0x45; 40]].concat();
    let mut packets = vec![(0, ethernet.clone())];
    packets.extend(sealed("mixed").iter().map(|mpdu| (1, radiotap(0, mpdu))));
    let capture = pcapng(&[1, 127], &packets);
    let done = frames(&["unprotect", "--tk", KEY], "mixed-media", &capture);
    let summary = summary(&done);
    assert_eq!((&summary["done"], &summary["frames"], &summary["other_media"]), (&8.into(), &8.into(), &1.into()));
    assert!(said(&done).contains("1 packets of other media are left out, the first of link type 1"), "{}", said(&done));
    // The second in a header of PPI, which names it.
    let wrapped = [&[0, 0, 8, 0, 1, 0, 0, 0], &ethernet[..]].concat();
    for (name, capture) in [("no-air", pcapng(&[1], &[(0, ethernet)])), ("no-air-in-ppi", pcap(192, &[wrapped]))] {
        let done = frames(&["unprotect", "--tk", KEY], name, &capture);
        assert_eq!(done.status.code(), Some(10));
        assert!(said(&done).contains("link type 1 is not of IEEE 802.11"), "{}", said(&done));
    }
}

/// A name, the words of the verb, the packets, and what is said.
type Why<'a> = (&'a str, &'a [&'a str], &'a [Vec<u8>], &'a str);

#[test]
fn where_nothing_is_opened_a_sentence_says_why_and_what_helps() {
    let (sealed, other) = (sealed("why"), "ff".repeat(16));
    let cut: Vec<Vec<u8>> = sealed.iter().map(|mpdu| mpdu[..8].to_vec()).collect();
    let tk = ["unprotect", "--tk", KEY];
    let sae = ["unprotect", "--passphrase", "correct horse", "--ssid", "home"];
    let all: [Why; 8] = [
        ("wrong-key", &["unprotect", "--tk", &other], &sealed, "under another key than was tried: see --tk"),
        ("no-key", &["unprotect"], &sealed, "no key was given: --passphrase with --ssid"),
        ("other-key", &["unprotect", "--wep", "0102030405"], &sealed, "the keys given are of another kind"),
        ("no-handshake", &sae, &sealed, "no handshake was heard: capture from before the station joins"),
        ("clear", &tk, &clear(), "none of its 8 frames is protected"),
        ("cut", &tk, &cut, "none of its 8 frames could be read"),
        ("empty", &tk, &[], "it holds no frame of 802.11"),
        ("again", &["protect", "--protocol", "ccmp", "--key", KEY], &sealed, "protected already"),
    ];
    for (name, words, packets, why) in all {
        let done = frames(words, name, &pcap(105, packets));
        assert!(done.status.success(), "{name}: {}", said(&done));
        let said = said(&done);
        assert!(said.starts_with("warning: ") && said.contains(why), "{name}: {said}");
        assert_eq!(said.lines().count(), 1, "{name}: {said}");
    }
    let name = file("no-authentication.pcap");
    std::fs::write(&name, pcap(105, &sealed)).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_wattlock-net"));
    let done = program.args(["frames", "authenticate", "--wep", "0102030405"]).arg(&name).output().unwrap();
    assert!(said(&done).contains("none of its 8 frames is of an authentication"), "{}", said(&done));
    let mut program = Command::new(env!("CARGO_BIN_EXE_wattlock-net"));
    let done = program.arg("capture").arg(file("cut.pcap")).output().unwrap();
    assert!(said(&done).contains("8 of its 8 packets could not be read"), "{}", said(&done));
}
