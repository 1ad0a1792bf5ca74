//! `wattlock-net frames` on captures: there and back, and against programs of others where they are installed.

use std::path::Path;
use std::process::Command;

use wattlock_test_tools::{is_installed, own as file};

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

fn frames(arguments: &[&str], input: &Path, output: &Path) -> serde_json::Value {
    let probe = Command::new(env!("CARGO_BIN_EXE_wattlock-net"));
    let mut probe = { probe };
    let done = probe.arg("frames").args(arguments).arg(input).arg(output).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// Octets of the payloads of [`mpdus`]: 30 of them, so that each protocol carries 210 frames.
fn payloads_B() -> impl Iterator<Item = u16> {
    [0, 1, 2, 3, 7, 8, 15, 16, 17, 31].into_iter().chain((1..=20).map(|step| 73 * step))
}

/// UDP packets to port 2000 in frames of each direction, with three and four addresses, with QoS and without.
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
        for size_B in payloads_B() {
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

/// The MPDUs of a capture.
fn read(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let mut rest = &bytes[24..];
    let mut all = Vec::new();
    while let Some((head, behind)) = rest.split_at_checked(16) {
        let length_B = u32::from_le_bytes(*head[8..].first_chunk().unwrap()) as usize;
        all.push(behind[..length_B].to_vec());
        rest = &behind[length_B..];
    }
    all
}

/// Fragments put together again: header of the first, without what says that it is one, and all bodies.
fn whole(fragments: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for mpdu in fragments {
        let header_B = 24 + if mpdu[1] & 3 == 3 { 6 } else { 0 } + if mpdu[0] & 0x80 == 0 { 0 } else { 2 };
        if mpdu[22] & 0x0f == 0 {
            let mut first = mpdu.clone();
            first[1] &= !4;
            all.push(first);
        } else {
            all.last_mut().unwrap().extend(&mpdu[header_B..]);
        }
    }
    all
}

#[test]
fn frames_of_every_form_come_back_octet_for_octet_and_a_second_time_each_is_a_replay() {
    for (at, (protocol, key)) in PROTOCOLS.into_iter().enumerate() {
        let [clear, sealed, back, again] =
            ["c", "s", "b", "a"].map(|name| file(&format!("{name}{at}{}", if name == "s" { ".gz" } else { "" })));
        std::fs::write(&clear, pcap(&mpdus())).unwrap();
        let protect = ["protect", "--protocol", protocol, "--key", key];
        let unprotect = ["unprotect", if protocol == "wep" { "--wep" } else { "--tk" }, key];
        let there_and_back = |clear: &Path| {
            let there = frames(&protect, clear, &sealed);
            let from = frames(&unprotect, &sealed, &again);
            let count = read(clear).len();
            assert_eq!((&there["done"], &from["done"]), (&count.into(), &count.into()), "{protocol}: {there} {from}");
            assert!(read(&again) == read(clear), "{protocol}: not the same octets");
        };
        there_and_back(&clear);
        // Cut while they are protected, and fragments that come as they are.
        let summary = frames(&[&protect[..], &["--fragment", "500"]].concat(), &clear, &sealed);
        assert_eq!(summary["done"], 210, "{summary}");
        let summary = frames(&unprotect, &sealed, &back);
        assert_eq!(summary["written"], summary["frames"], "{summary}");
        assert!(read(&back).len() > 300);
        assert!(whole(&read(&back)) == mpdus(), "{protocol}: fragments are not the whole");
        there_and_back(&back);

        let plain = file(&format!("p{at}"));
        frames(&protect, &clear, &plain);
        let mut twice = std::fs::read(&plain).unwrap();
        twice.extend_from_within(24..);
        std::fs::write(&plain, twice).unwrap();
        let summary = frames(&unprotect, &plain, &back);
        let replays = if protocol == "wep" { 0 } else { 210 };
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
    assert_eq!((&summary["done"], &summary["cut"]), (&209.into(), &true.into()));
}

#[test]
fn a_gzip_cut_in_the_middle_yields_the_frames_before_the_cut() {
    let (clear, sealed, back) = (file("cutz"), file("cutz.gz"), file("cutz.b"));
    std::fs::write(&clear, pcap(&mpdus())).unwrap();
    frames(&["protect", "--protocol", "ccmp", "--key", K16], &clear, &sealed);
    let whole = std::fs::read(&sealed).unwrap();
    std::fs::write(&sealed, &whole[..whole.len() / 2]).unwrap();
    let summary = frames(&["unprotect", "--tk", K16], &sealed, &back);
    assert_eq!(summary["cut"], true);
    let done = summary["done"].as_u64().unwrap();
    assert!((100..200).contains(&done), "{summary}");
}

#[test]
fn a_verb_that_fails_leaves_the_output_as_it_was() {
    let folder = file("fails");
    std::fs::create_dir(&folder).unwrap();
    let (clear, sealed) = (folder.join("clear.pcap"), folder.join("sealed.pcap"));
    std::fs::write(&clear, pcap(&mpdus())).unwrap();
    let there = || {
        let mut names: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    // Six packet numbers are left.
    let run_out = || {
        let done = Command::new(env!("CARGO_BIN_EXE_wattlock-net"))
            .args(["frames", "protect", "--protocol", "ccmp", "--key", K16, "--pn", "281474976710650"])
            .args([&clear, &sealed])
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(5), "{}", String::from_utf8_lossy(&done.stderr));
    };
    run_out();
    assert_eq!(there(), ["clear.pcap"]);
    std::fs::write(&sealed, b"of before").unwrap();
    run_out();
    assert_eq!(there(), ["clear.pcap", "sealed.pcap"]);
    assert_eq!(std::fs::read(&sealed).unwrap(), b"of before");
    // One that succeeds replaces it.
    frames(&["protect", "--protocol", "ccmp", "--key", K16], &clear, &sealed);
    assert_eq!(there(), ["clear.pcap", "sealed.pcap"]);
    assert!(std::fs::read(&sealed).unwrap().len() > 1000);
}

#[test]
fn a_key_of_the_wrong_length_is_told_with_the_right_ones_and_not_repeated() {
    let clear = file("lengths");
    std::fs::write(&clear, pcap(&mpdus())).unwrap();
    for (arguments, words) in [
        (&["protect", "--protocol", "wep", "--key", "a1b2c3d4e5f6"][..], "12 hex digits, not 10 or 26"),
        (&["protect", "--protocol", "ccmp", "--key", "a1b2c3d4e5f6"], "12 hex digits, not 32"),
        (&["unprotect", "--wep", "a1b2c3d4e5f6"], "--wep: the key has 12 hex digits, not 10 or 26"),
        (&["unprotect", "--tk", "a1b2c3d4e5f6"], "12 hex digits, not 32 or 64"),
        (&["protect", "--protocol", "wep", "--key", "a1b2c3d4e5f"], "--key: 11 hex digits, an odd number"),
        (&["protect", "--protocol", "wep", "--key", "a1:b2"], "--key: character 3 is no hex digit"),
    ] {
        let mut probe = Command::new(env!("CARGO_BIN_EXE_wattlock-net"));
        let done = probe.arg("frames").args(arguments).arg(&clear).arg(file("lengths.out")).output().unwrap();
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(4), "{stderr}");
        assert!(stderr.contains(words) && stderr.contains("hint: ") && !stderr.contains("a1"), "{stderr}");
    }
}

#[test]
fn a_copy_goes_through_a_link_with_the_mode_of_the_file_that_it_replaces() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (clear, target, link) = (file("modes"), file("modes.t"), file("modes.l"));
    std::fs::write(&clear, pcap(&mpdus())).unwrap();
    std::fs::write(&target, b"").unwrap();
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o604)).unwrap();
    let _ = std::fs::remove_file(&link);
    symlink(&target, &link).unwrap();
    let protect = ["protect", "--protocol", "ccmp", "--key", K16];
    assert_eq!(frames(&protect, &clear, &link)["written"], 210);
    assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o604);
    assert!(link.is_symlink() && std::fs::read(&target).unwrap().len() > 1000);
}

/// Protects `clear` into `out`; gives exit code, standard output and standard error.
fn protected(clear: &Path, out: &Path) -> (Option<i32>, Vec<u8>, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_wattlock-net"));
    program.args(["frames", "protect", "--protocol", "ccmp", "--key", K16]).args([clear, out]);
    let done = program.output().unwrap();
    (done.status.code(), done.stdout, String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn standard_output_by_any_name_gets_the_copy_alone_and_no_name_becomes_a_file() {
    let (clear, whole, link) = (file("streams"), file("streams.w"), file("streams.l"));
    std::fs::write(&clear, pcap(&mpdus())).unwrap();
    let (_, summary, _) = protected(&clear, &whole);
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink("/proc/self/fd/1", &link).unwrap();
    for name in [Path::new("-"), Path::new("/dev/stdout"), Path::new("/proc/self/fd/1"), &link] {
        let (code, out, error) = protected(&clear, name);
        assert_eq!((code, error.as_bytes()), (Some(0), summary.as_slice()), "{}", name.display());
        assert_eq!(out, std::fs::read(&whole).unwrap());
    }
    assert!(link.is_symlink() && Path::new("/dev/stdout").is_symlink());
}

#[test]
fn devices_pipes_and_sockets_stay_what_they_are() {
    use std::os::unix::fs::FileTypeExt as _;
    let (clear, folder) = (file("nodes.pcap"), file("nodes"));
    std::fs::write(&clear, pcap(&mpdus())).unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let [null, full, pipe, socket] = ["null", "full", "pipe", "socket"].map(|name| folder.join(name));
    let made = |program: &str, path: &Path, words: &[&str]| {
        Command::new(program).arg(path).args(words).output().is_ok_and(|done| done.status.success())
    };
    if made("mknod", &null, &["c", "1", "3"]) && made("mknod", &full, &["c", "1", "7"]) {
        assert_eq!(protected(&clear, &null).0, Some(0));
        let (code, _, error) = protected(&clear, &full);
        assert_eq!(code, Some(9), "{error}");
        assert!(error.contains("No space left on device") && error.contains("hint: free some space"), "{error}");
        assert!([&null, &full].iter().all(|path| path.metadata().unwrap().file_type().is_char_device()));
    }
    assert!(made("mkfifo", &pipe, &[]));
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe).unwrap()
    });
    assert_eq!(protected(&clear, &pipe).0, Some(0));
    assert_eq!(protected(&clear, &folder.join("whole")).0, Some(0));
    assert_eq!(reader.join().unwrap(), std::fs::read(folder.join("whole")).unwrap());
    let bound = std::os::unix::net::UnixListener::bind(&socket);
    for refused in [&folder, &folder.join("none/out"), &socket] {
        // A socket whose path is too long to be bound is only a missing file.
        if bound.is_err() && refused == &socket {
            continue;
        }
        let (code, _, error) = protected(&clear, refused);
        assert_eq!((code, error.lines().count()), (Some(9), 2), "{error}");
    }
    assert!(pipe.metadata().unwrap().file_type().is_fifo());
    assert!(bound.is_err() || socket.metadata().unwrap().file_type().is_socket());
}

#[test]
fn tshark_decrypts_every_frame_and_puts_the_fragments_together() {
    if !is_installed("tshark", "tshark") {
        return;
    }
    for (at, (protocol, key)) in PROTOCOLS.into_iter().enumerate() {
        let (clear, sealed) = (file(&format!("tc{at}")), file(&format!("ts{at}")));
        std::fs::write(&clear, pcap(&mpdus())).unwrap();
        let protect = ["protect", "--protocol", protocol, "--key", key];
        for cut in [&[][..], &["--fragment", "500"]] {
            frames(&[&protect[..], cut].concat(), &clear, &sealed);
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
            let count = ports.lines().filter(|port| *port == "2000").count();
            // 1460 octets of payload make three fragments and a last one with the end of Michael alone, which it leaves.
            let right = if protocol == "tkip" && !cut.is_empty() { 203 } else { 210 };
            assert_eq!(count, right, "{protocol} {cut:?}");
        }
    }
}

#[test]
fn airdecap_decrypts_the_frames_of_wep_that_have_an_access_point() {
    if !is_installed("airdecap-ng", "aircrack-ng") {
        return;
    }
    for (at, (_, key)) in PROTOCOLS.into_iter().take(2).enumerate() {
        let (clear, sealed) = (file(&format!("ac{at}")), file(&format!("as{at}.pcap")));
        let with_access_point: Vec<_> = mpdus().into_iter().filter(|mpdu| matches!(mpdu[1], 1 | 2)).collect();
        std::fs::write(&clear, pcap(&with_access_point)).unwrap();
        // airdecap-ng takes two equal octets and a 3 for LLC and SNAP in the clear, so it leaves the IV 3 alone.
        frames(&["protect", "--protocol", "wep", "--key", key, "--pn", "256"], &clear, &sealed);
        let done = Command::new("airdecap-ng").args(["-w", key]).arg(&sealed).output().unwrap();
        let words = String::from_utf8_lossy(&done.stdout);
        let decrypted = words.lines().find(|line| line.contains("decrypted WEP")).unwrap_or_default();
        assert!(decrypted.ends_with(&format!(" {}", with_access_point.len())), "{words}");
    }
}
