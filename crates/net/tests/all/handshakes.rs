//! `wattlock-net frames unprotect --passphrase` on handshakes made here from the standard's text, with group keys and
//! rekeying; tshark and airdecap-ng decrypt the same captures where they are installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use aes::Aes128;
use aes_kw::KwAes128;
use cmac::Cmac;
use hmac::{Hmac, KeyInit, Mac};
use rc4::StreamCipher as _;
use wattlock_frames::{Frame, Key, MAX_EXPANSION_B, Protocol};
use wattlock_test_tools::{is_installed, own};

const ACCESS_POINT: [u8; 6] = [2, 0, 0, 0, 0, 1];
const STATION: [u8; 6] = [2, 0, 0, 0, 0, 2];
const ALL: [u8; 6] = [0xff; 6];
const EAPOL: [u8; 2] = [0x88, 0x8e];
const IPV4: [u8; 2] = [8, 0];

/// A network: what its information element and its key frames say.
struct Network {
    name: &'static str,
    protocol: Protocol,
    /// Version of the key descriptor (12.7.2): 1 is HMAC-MD5 and ARC4, 2 HMAC-SHA-1 and AES, 3 AES-CMAC and AES.
    version: u16,
    /// Number of the cipher suite (table 9-149).
    suite: u8,
    /// Number of the AKM suite (table 9-151).
    akm: u8,
    /// WPA from before the standard: its own element, group key in a handshake of its own.
    is_wpa: bool,
}

const NETWORKS: [Network; 7] = [
    network("ccmp", Protocol::Ccmp128, 2, 4, 2, false),
    network("ccmp-sha256", Protocol::Ccmp128, 3, 4, 6, false),
    network("gcmp256", Protocol::Gcmp256, 3, 9, 6, false),
    network("gcmp", Protocol::Gcmp128, 2, 8, 2, false),
    network("ccmp256", Protocol::Ccmp256, 2, 10, 2, false),
    network("tkip", Protocol::Tkip, 1, 2, 2, false),
    network("wpa", Protocol::Tkip, 1, 2, 2, true),
];

const fn network(name: &'static str, protocol: Protocol, version: u16, suite: u8, akm: u8, is_wpa: bool) -> Network {
    Network { name, protocol, version, suite, akm, is_wpa }
}

fn mac<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = <M as KeyInit>::new_from_slice(key).unwrap();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

fn made_up(seed: u8, length_B: u8) -> Vec<u8> {
    (0..length_B).map(|at| at.wrapping_mul(37).wrapping_add(seed)).collect()
}

/// A capture under construction: its frames, and what numbers come next.
struct Air<'a> {
    of: &'a Network,
    /// KCK, KEK, TK.
    ptk: Vec<u8>,
    frames: Vec<Vec<u8>>,
    sequence: u16,
    packet: u64,
}

impl Air<'_> {
    fn mpdu(&mut self, is_down: bool, to: [u8; 6], kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
        self.sequence += 1;
        let mut mpdu = vec![0x08, if is_down { 2 } else { 1 }, 0, 0];
        let addresses = if is_down { [to, ACCESS_POINT, ACCESS_POINT] } else { [ACCESS_POINT, STATION, to] };
        mpdu.extend(addresses.concat());
        mpdu.extend((self.sequence << 4).to_le_bytes());
        mpdu.extend([0xaa, 0xaa, 3, 0, 0, 0]);
        mpdu.extend(kind);
        mpdu.extend(payload);
        mpdu
    }

    /// An EAPOL-Key frame (12.7.2); unsigned without a MIC.
    fn key_frame(&self, info: u16, nonce: &[u8], iv: &[u8], data: &[u8], replay: u64) -> Vec<u8> {
        let length_B = u16::try_from(self.of.protocol.key_B()).unwrap();
        let frame = |mic: &[u8]| {
            let mut bytes = vec![2, 3];
            bytes.extend(u16::try_from(95 + data.len()).unwrap().to_be_bytes());
            bytes.push(if self.of.is_wpa { 254 } else { 2 });
            bytes.extend((info | self.of.version).to_be_bytes());
            bytes.extend(length_B.to_be_bytes());
            bytes.extend(replay.to_be_bytes());
            [nonce, iv, &[0; 16], mic].iter().for_each(|part| bytes.extend(*part));
            bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
            bytes.extend(data);
            bytes
        };
        let empty = frame(&[0; 16]);
        if info & 0x100 == 0 {
            return empty;
        }
        let kck = &self.ptk[..16];
        frame(&match self.of.version {
            1 => mac::<Hmac<md5::Md5>>(kck, &[&empty]),
            2 => mac::<Hmac<sha1::Sha1>>(kck, &[&empty])[..16].to_vec(),
            _ => mac::<Cmac<Aes128>>(kck, &[&empty]),
        })
    }

    /// Key data under the KEK, and the IV that goes with it (12.7.2).
    fn wrapped(&self, data: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let kek = &self.ptk[16..32];
        if self.of.version == 1 {
            let iv = made_up(91, 16);
            let mut cipher = rc4::Rc4::new_from_slice(&[&iv, kek].concat()).unwrap();
            cipher.apply_keystream(&mut [0; 256]);
            let mut sealed = data.to_vec();
            cipher.apply_keystream(&mut sealed);
            return (sealed, iv);
        }
        let mut padded = data.to_vec();
        if !padded.len().is_multiple_of(8) {
            padded.push(0xdd);
            padded.resize(padded.len().next_multiple_of(8), 0);
        }
        let mut sealed = vec![0; padded.len() + 8];
        KwAes128::new_from_slice(kek).unwrap().wrap_key(&padded, &mut sealed).unwrap();
        (sealed, vec![0; 16])
    }

    fn protected(&mut self, key: &[u8], key_id: u8, mpdu: &[u8]) {
        let mut output = vec![0; mpdu.len() + MAX_EXPANSION_B];
        let mut key = Key::new(self.of.protocol, key).unwrap();
        let length_B = key.protect(&Frame::parse(mpdu).unwrap(), self.packet, key_id, &mut output).unwrap();
        output.truncate(length_B);
        self.packet += 1;
        self.frames.push(output);
    }
}

/// A group key as key data (12.7.2, GTK KDE).
fn kde(key: &[u8], key_id: u8) -> Vec<u8> {
    [&[0xdd, u8::try_from(6 + key.len()).unwrap(), 0, 0x0f, 0xac, 1, key_id, 0], key].concat()
}

fn udp(payload_B: u16) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend((28 + payload_B).to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 0x40, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x03, 0xe8, 0x07, 0xd0]);
    bytes.extend((8 + payload_B).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.resize(bytes.len() + usize::from(payload_B), 0);
    bytes
}

/// Octets of what a pair's frames carry, each once in both directions.
const PAIR_B: [u16; 30] = [
    0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 500, 511, 512, 1000,
    1023, 1024, 1400,
];
/// Frames of the pair.
const OF_PAIR: usize = 2 * PAIR_B.len();

/// Beacon, association, handshake, frames each way, one to all, a new group key, one to all under it.
fn capture(of: &Network) -> Vec<Vec<u8>> {
    let pmk: [u8; 32] = [
        // PBKDF2 of "correct horse" in "home", by Python's hashlib.
        0xe2, 0x8c, 0x9a, 0xaa, 0x2f, 0x46, 0x26, 0x6e, 0xf5, 0xb8, 0xdb, 0x9a, 0x65, 0xae, 0x46, 0x48, 0xf5, 0xc9,
        0x9d, 0x4e, 0x5b, 0x46, 0x3c, 0xa6, 0x16, 0x48, 0x25, 0x58, 0xcc, 0xd5, 0x16, 0x28,
    ];
    let (authenticator, supplicant) = (made_up(3, 32), made_up(5, 32));
    let context = [&ACCESS_POINT[..], &STATION, &authenticator, &supplicant].concat();
    let key_B = of.protocol.key_B();
    let label = b"Pairwise key expansion";
    let bits = u16::try_from(8 * (32 + key_B)).unwrap().to_le_bytes();
    let block = |at: u8| match of.akm {
        6 => mac::<Hmac<sha2::Sha256>>(&pmk, &[&[at + 1, 0], label, &context, &bits]),
        _ => mac::<Hmac<sha1::Sha1>>(&pmk, &[label, &[0], &context, &[at]]),
    };
    let ptk: Vec<u8> = (0..4).flat_map(block).take(32 + key_B).collect();
    let temporal = ptk[32..].to_vec();
    let mut air = Air { of, ptk, frames: Vec::new(), sequence: 0, packet: 1 };
    let element = if of.is_wpa {
        vec![0xdd, 22, 0, 0x50, 0xf2, 1, 1, 0, 0, 0x50, 0xf2, 2, 1, 0, 0, 0x50, 0xf2, 2, 1, 0, 0, 0x50, 0xf2, 2]
    } else {
        let (suite, akm) = ([0, 0x0f, 0xac, of.suite], [0, 0x0f, 0xac, of.akm]);
        [&[48, 20, 1, 0], &suite[..], &[1, 0], &suite, &[1, 0], &akm, &[0, 0]].concat()
    };
    let beacon = [&[0x80, 0, 0, 0][..], &ALL, &ACCESS_POINT, &ACCESS_POINT, &[0; 10], &[0x64, 0, 0x11, 0, 0, 4]];
    air.frames.push([&beacon.concat(), &b"home"[..], &element].concat());
    let association = [&[0; 4][..], &ACCESS_POINT, &STATION, &ACCESS_POINT, &[0, 0, 0x11, 0, 0, 0, 0, 4]].concat();
    air.frames.push([&association, &b"home"[..], &[1, 1, 2], &element].concat());

    let (first, second) = (made_up(7, u8::try_from(key_B).unwrap()), made_up(11, u8::try_from(key_B).unwrap()));
    let group = air.wrapped(&[element.clone(), kde(&first, 1)].concat());
    let third = if of.is_wpa { (0x1c8, element.clone(), vec![0; 16]) } else { (0x13c8, group.0, group.1) };
    for (is_down, info, nonce, iv, data, replay) in [
        (true, 0x88, &authenticator[..], &[0; 16][..], &[][..], 1),
        (false, 0x108, &supplicant, &[0; 16], &element, 1),
        (true, third.0, &authenticator, &third.2, &third.1, 2),
        (false, if of.is_wpa { 0x108 } else { 0x308 }, &[0; 32], &[0; 16], &[], 2),
    ] {
        let key_frame = air.key_frame(info, nonce, iv, data, replay);
        let frame = air.mpdu(is_down, if is_down { STATION } else { ACCESS_POINT }, EAPOL, &key_frame);
        air.frames.push(frame);
    }
    if of.is_wpa {
        let (data, iv) = air.wrapped(&first);
        let key_frame = air.key_frame(0x390, &authenticator, &iv, &data, 3);
        let frame = air.mpdu(true, STATION, EAPOL, &key_frame);
        air.protected(&temporal, 0, &frame);
    }
    for payload_B in PAIR_B {
        for (is_down, to) in [(true, STATION), (false, ACCESS_POINT)] {
            let frame = air.mpdu(is_down, to, IPV4, &udp(payload_B));
            air.protected(&temporal, 0, &frame);
        }
    }
    let to_all = air.mpdu(true, ALL, IPV4, &udp(40));
    air.protected(&first, 1, &to_all);
    let (data, iv) = air.wrapped(&if of.is_wpa { second.clone() } else { kde(&second, 2) });
    let key_frame = air.key_frame(if of.is_wpa { 0x3a0 } else { 0x1380 }, &authenticator, &iv, &data, 4);
    let frame = air.mpdu(true, STATION, EAPOL, &key_frame);
    air.protected(&temporal, 0, &frame);
    let to_all = air.mpdu(true, ALL, IPV4, &udp(40));
    air.protected(&second, 2, &to_all);
    air.frames
}

fn written(name: &str, frames: &[Vec<u8>]) -> PathBuf {
    let path = own(&format!("handshake-{name}.pcap"));
    let mut bytes: Vec<u8> =
        [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65535, 105_u32].into_iter().flat_map(u32::to_le_bytes).collect();
    for (at, frame) in (0_u32..).zip(frames) {
        let length_B = u32::try_from(frame.len()).unwrap();
        [at, 0, length_B, length_B].into_iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(frame);
    }
    std::fs::write(&path, bytes).unwrap();
    path
}

fn unprotected(path: &Path, passphrase: &str) -> serde_json::Value {
    let mut probe = Command::new(env!("CARGO_BIN_EXE_wattlock-net"));
    probe.args(["frames", "unprotect", "--ssid", "home", "--passphrase", passphrase]);
    let done = probe.arg(path).arg(path.with_extension("clear")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// Frames that are protected: those of the pair, two to all, the new group key; of WPA the first group key too.
fn protected_frames(of: &Network) -> usize {
    OF_PAIR + if of.is_wpa { 4 } else { 3 }
}

#[test]
fn handshakes_teach_the_keys_of_a_pair_and_of_a_group_and_its_next() {
    for of in &NETWORKS {
        let path = written(of.name, &capture(of));
        let right = unprotected(&path, "correct horse");
        assert_eq!(right["done"], protected_frames(of), "{}: {right}", of.name);
        assert_eq!(right["keys_learned"], 3, "{}: {right}", of.name);
        let wrong = unprotected(&path, "another horse");
        assert_eq!((&wrong["done"], &wrong["keys_learned"]), (&0.into(), &0.into()), "{}: {wrong}", of.name);
        assert_eq!(wrong["failed"]["no_key"], protected_frames(of), "{}: {wrong}", of.name);
    }
}

#[test]
fn a_third_message_that_was_changed_teaches_no_group_key() {
    // The second message confirms the pair's key; WPA's group key has a handshake of its own.
    for of in NETWORKS.iter().filter(|of| !of.is_wpa) {
        let mut frames = capture(of);
        let last = frames[4].len() - 1;
        frames[4][last] ^= 1;
        let summary = unprotected(&written(&format!("{}-changed", of.name), &frames), "correct horse");
        assert_eq!(
            (&summary["keys_learned"], &summary["done"]),
            (&2.into(), &(OF_PAIR + 2).into()),
            "{}: {summary}",
            of.name
        );
        assert_eq!(summary["failed"]["no_key"], 1, "{}: {summary}", of.name);
    }
}

#[test]
fn tshark_decrypts_the_same_captures() {
    if !is_installed("tshark", "tshark") {
        return;
    }
    for of in &NETWORKS {
        let path = written(&format!("{}-tshark", of.name), &capture(of));
        let mut tshark = Command::new("tshark");
        tshark.args(["-o", "wlan.enable_decryption:TRUE", "-o", r#"uat:80211_keys:"wpa-pwd","correct horse:home""#]);
        let done = tshark.args(["-T", "fields", "-e", "udp.dstport", "-r"]).arg(path).output().unwrap();
        let ports = String::from_utf8(done.stdout).unwrap();
        // tshark 4.0 gets no group key from a third message under ARC4: of TKIP under RSN it decrypts the pair's frames.
        let right = OF_PAIR + if of.name == "tkip" { 0 } else { 2 };
        assert_eq!(ports.split_whitespace().filter(|port| *port == "2000").count(), right, "{}", of.name);
    }
}

#[test]
fn airdecap_ng_decrypts_what_it_knows_of_the_same_captures() {
    if !is_installed("airdecap-ng", "aircrack-ng") {
        return;
    }
    // It knows neither GCMP nor CCMP-256 nor SHA-256, and of groups nothing.
    for of in NETWORKS.iter().filter(|of| ["ccmp", "tkip", "wpa"].contains(&of.name)) {
        let path = written(&format!("{}-airdecap", of.name), &capture(of));
        let done = Command::new("airdecap-ng").args(["-e", "home", "-p", "correct horse"]).arg(path).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let line = said.lines().find(|line| line.contains("decrypted WPA")).unwrap_or_default();
        let count: usize = line.split_whitespace().last().unwrap().parse().unwrap();
        // And the group keys that come under the pair's.
        assert_eq!(count, OF_PAIR + if of.is_wpa { 2 } else { 1 }, "{}: {said}", of.name);
    }
}
