//! What mutations begin with: captures, frames and conversations as they are meant.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use wattlock_frames::authentication::{Algorithm, Authentication, Between};
use wattlock_frames::{Frame, Key, MAX_EXPANSION_B, Protocol, fcs, fragments};

use crate::air::{self, ACCESS_POINT, GROUP, STATION};
use crate::unprotect::{
    CHANGED, HEAR, KEY_FRAME, LATER, PROTECT, SAME_NUMBER, SHA256, SHORT, SIGN, TO_ALL, UNDER_LEARNED, UP, WRAP, step,
};

const IP: [u8; 36] = {
    let mut ip = [0; 36];
    (ip[0], ip[3], ip[9], ip[22], ip[24]) = (0x45, 36, 17, 1, 2);
    ip
};

fn snap(ether_type: [u8; 2], packet: &[u8]) -> Vec<u8> {
    [&[0xaa, 0xaa, 3, 0, 0, 0][..], &ether_type, packet].concat()
}

/// Frames of every kind and every number of addresses, in the clear.
fn clear() -> Vec<Vec<u8>> {
    let body = snap([8, 0], &IP);
    let mut all = vec![
        air::data(true, STATION, 1, None, &body),
        air::data(false, ACCESS_POINT, 2, Some(5), &body),
        air::data(true, air::ALL, 3, None, &body),
        air::data(false, ACCESS_POINT, 4, Some(3), &[7; 300]),
        [&[0x80, 0, 0, 0][..], &[0xff; 6], &ACCESS_POINT, &ACCESS_POINT, &[0; 14], b"\0\x04home"].concat(),
        [&[0xd4, 0, 0, 0][..], &STATION].concat(),
        [&[0xb4, 0, 0, 0][..], &STATION, &ACCESS_POINT].concat(),
        [&[0x48, 1, 0, 0][..], &ACCESS_POINT, &STATION, &ACCESS_POINT, &[0; 2]].concat(),
    ];
    let mut four = air::data(true, STATION, 5, None, &body);
    (four[1], four[0]) = (3, 0x88);
    four.splice(24..24, [2, 0, 0, 0, 0, 4, 6, 0]);
    let mut with_control = four.clone();
    with_control[1] |= 0x80;
    with_control.splice(32..32, [1, 2, 3, 4]);
    let mut aggregate = air::data(true, STATION, 6, Some(0), &[&STATION[..], &ACCESS_POINT, &[0, 44], &body].concat());
    aggregate[24] |= 0x80;
    all.extend([four, with_control, aggregate]);
    let between = Between { receiver: ACCESS_POINT, transmitter: STATION, bssid: ACCESS_POINT, sequence: 9 };
    for (algorithm, step, challenge) in [
        (Algorithm::OpenSystem, 1, None),
        (Algorithm::SharedKey, 2, Some(&[7; 128])),
        (Algorithm::SharedKey, 3, Some(&[7; 128])),
    ] {
        let mut mpdu = vec![0; 200];
        let frame = Authentication { algorithm, step, status: 0, challenge };
        let length_B = frame.write(&between, &mut mpdu).expect("200 octets are enough");
        mpdu.truncate(length_B);
        all.push(mpdu);
    }
    all
}

fn protected(mpdu: &[u8], protocol: Protocol) -> Option<Vec<u8>> {
    let key: Vec<u8> = (0..32).collect();
    let mut key = Key::new(protocol, &key[..protocol.key_B()]).ok()?;
    let mut output = vec![0; mpdu.len() + MAX_EXPANSION_B];
    let length_B = key.protect(&Frame::parse(mpdu).ok()?, 1, 0, &mut output).ok()?;
    output.truncate(length_B);
    Some(output)
}

/// For the target `frame`.
pub fn frames() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for mpdu in clear() {
        for what in [16, 64, 255] {
            all.push([&[what][..], &mpdu].concat());
        }
        all.extend(
            Protocol::ALL
                .iter()
                .filter_map(|protocol| protected(&mpdu, *protocol))
                .map(|mpdu| [vec![1], mpdu].concat()),
        );
    }
    let packet = air::key_frame(false, 0x010a, 16, 3, &air::element(4, 4, 2, false));
    all.push([&[0][..], &packet].concat());
    let mpdu = air::data(false, ACCESS_POINT, 1, None, &[&air::LLC_EAPOL[..], &packet].concat());
    all.push([&[32][..], &mpdu].concat());
    all
}

fn handshake(protocol: Protocol, version: u16, akm: u8, is_wpa: bool) -> Vec<Vec<u8>> {
    let key_B = u16::try_from(protocol.key_B()).expect("a key is short");
    let suite = air::suite(protocol);
    let element = air::element(suite, suite, akm, is_wpa);
    let of =
        |information: u16, nonce: u8, data: &[u8]| air::key_frame(is_wpa, information | version, key_B, nonce, data);
    let how = if akm == 6 { SHA256 } else { 0 } | if key_B == 16 { SHORT } else { 0 };
    let group = &GROUP[..protocol.key_B()];
    let at = u8::try_from(Protocol::ALL.iter().position(|one| *one == protocol).expect("all are there")).expect("few");
    let mut steps =
        vec![step(KEY_FRAME, how, &of(0x88, 3, &[])), step(KEY_FRAME, how | UP | SIGN, &of(0x108, 5, &element))];
    if is_wpa {
        steps.push(step(KEY_FRAME, how | SIGN, &of(0x1c8, 3, &element)));
        steps.push(step(KEY_FRAME, how | SIGN | WRAP, &of(0x390, 3, group)));
    } else {
        let data = [element.clone(), air::kde(group, 1)].concat();
        steps.push(step(KEY_FRAME, how | SIGN | WRAP, &of(0x13c8, 3, &data)));
        steps.push(step(KEY_FRAME, how | UP | SIGN, &of(0x308, 0, &[])));
        steps.push(step(KEY_FRAME, how | SIGN | WRAP, &of(0x1380, 3, &air::kde(group, 2))));
    }
    let body = snap([8, 0], &IP);
    steps.push(step(UNDER_LEARNED, at, &body));
    steps.push(step(UNDER_LEARNED, at | TO_ALL | 1 << 3, &body));
    steps.push(step(UNDER_LEARNED, at | SAME_NUMBER, &body));
    steps
}

/// For the target `unprotect`.
pub fn conversations() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (at, protocol) in (0_u8..).zip(Protocol::ALL) {
        let mut steps: Vec<_> = clear().iter().map(|mpdu| step(PROTECT, at, mpdu)).collect();
        steps.extend(clear().iter().take(3).map(|mpdu| step(PROTECT, at | CHANGED, mpdu)));
        steps.extend(clear().iter().filter_map(|mpdu| protected(mpdu, protocol)).map(|mpdu| step(HEAR, 0, &mpdu)));
        all.push(steps.concat());
        let mpdu = air::data(false, ACCESS_POINT, 77, Some(2), &[3; 200]);
        let frame = Frame::parse(&mpdu).expect("it is a frame");
        for body_B in [16, 50, 101, 204] {
            let count = fragments::count(&frame, body_B, protocol).expect("16 are enough");
            let mut steps = vec![step(PROTECT, at, &clear()[0])];
            for part in 0..count {
                let mut output = vec![0; 300];
                let length_B = fragments::write(&frame, body_B, part, count, &mut output).expect("there is room");
                steps.push(step(PROTECT, at, &output[..length_B]));
            }
            all.push(steps.concat());
        }
    }
    // Two wrong Michaels, and one after minutes.
    let wrong = step(PROTECT, 2 | CHANGED, &air::data(false, ACCESS_POINT, 4, Some(3), &[7; 60]));
    all.push([wrong.clone(), wrong.clone(), wrong.clone(), step(KEY_FRAME, LATER, &[]), wrong].concat());
    for (protocol, version, akm, is_wpa) in [
        (Protocol::Ccmp128, 2, 2, false),
        (Protocol::Ccmp128, 3, 6, false),
        (Protocol::Gcmp256, 3, 6, false),
        (Protocol::Gcmp128, 2, 2, false),
        (Protocol::Ccmp256, 2, 2, false),
        (Protocol::Tkip, 1, 2, false),
        (Protocol::Tkip, 1, 2, true),
    ] {
        let steps = handshake(protocol, version, akm, is_wpa);
        all.push(steps.concat());
        // The first message was missed; the whole comes twice.
        all.push(steps[1..].concat());
        all.push([steps.concat(), steps.concat()].concat());
    }
    all
}

fn words(is_big: bool, words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| if is_big { word.to_be_bytes() } else { word.to_le_bytes() }).collect()
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("a seed is short")
}

fn pcap(is_big: bool, magic: u32, network: u32, packets: &[Vec<u8>], whole_B: u32) -> Vec<u8> {
    let version = if is_big { 2 << 16 | 4 } else { 4 << 16 | 2 };
    let mut bytes = words(is_big, &[magic, version, 0, 0, 65535, network]);
    for (at, packet) in (0_u32..).zip(packets) {
        bytes.extend(words(is_big, &[at, 7 * at * at, length(packet), length(packet).max(whole_B)]));
        bytes.extend(packet);
    }
    bytes
}

fn block(is_big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length_B = words(is_big, &[length(&body) + 12]);
    [words(is_big, &[kind]), length_B.clone(), body, length_B].concat()
}

fn pcapng(is_big: bool, link: u16, packets: &[Vec<u8>]) -> Vec<u8> {
    let half = |value: u16| if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
    let section = [words(is_big, &[0x1a2b_3c4d]), half(1).to_vec(), half(0).to_vec(), vec![0xff; 8]].concat();
    let option = |code: u16, value: &[u8]| {
        let length_B = u16::try_from(value.len()).expect("an option is short");
        let mut bytes = [&half(code)[..], &half(length_B), value].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let plain = [half(link).to_vec(), half(0).to_vec(), words(is_big, &[0])].concat();
    let options = [option(9, &[9]), option(13, &[4]), option(14, &[0; 8]), vec![0; 4]].concat();
    let mut bytes = block(is_big, 0x0a0d_0d0a, &section);
    bytes.extend(block(is_big, 1, &plain));
    bytes.extend(block(is_big, 1, &[plain, options].concat()));
    for (at, packet) in (0_u32..).zip(packets) {
        let head = words(is_big, &[at & 1, at, 5 * at, length(packet), length(packet) + (at & 2)]);
        bytes.extend(block(is_big, 6, &[head, packet.clone()].concat()));
    }
    bytes.extend(block(is_big, 4, &[0; 4]));
    bytes.extend(block(is_big, 5, &words(is_big, &[0, 1, 2])));
    bytes.extend(block(is_big, 0x0bad, &[1, 2, 3, 4]));
    bytes.extend(
        packets
            .iter()
            .flat_map(|packet| block(is_big, 3, &[words(is_big, &[length(packet)]), packet.clone()].concat())),
    );
    bytes
}

fn gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

/// For the target `capture`.
pub fn captures() -> Vec<Vec<u8>> {
    let frames = clear();
    let radiotap = |flags: u8, mpdu: &Vec<u8>| {
        let head = [&[0, 0, 25, 0, 3, 0, 0, 0][..], &[0; 8], &[flags], &[0; 8]].concat();
        let tail = if flags & 0x10 == 0 { Vec::new() } else { fcs(mpdu).to_vec() };
        [head, mpdu.clone(), tail].concat()
    };
    let of_device = |flags: u8| frames.iter().map(|mpdu| radiotap(flags, mpdu)).collect::<Vec<_>>();
    let prism: Vec<_> =
        frames.iter().map(|mpdu| [&[0x44, 0, 0, 0, 24, 0, 0, 0][..], &[0; 16], mpdu].concat()).collect();
    let ppi: Vec<_> = frames.iter().map(|mpdu| [&[0, 0, 8, 0, 105, 0, 0, 0][..], mpdu].concat()).collect();
    let ip: Vec<_> = vec![IP.to_vec(), [&[0x60, 0, 0, 0, 0, 8, 6, 64][..], &[0; 40]].concat(), vec![0; 9]];
    let ethernet: Vec<_> = [[8, 0], [0x86, 0xdd], [8, 6]]
        .iter()
        .flat_map(|kind| {
            let plain = [&[2; 12][..], kind, &IP].concat();
            [plain.clone(), [&[2; 12][..], &[0x81, 0, 0, 1, 0x88, 0xa8, 0, 2], &plain[12..]].concat()]
        })
        .collect();
    let cooked: Vec<_> = ip.iter().map(|ip| [&[0; 14][..], &[8, 0], ip].concat()).collect();
    let cooked_2: Vec<_> = ip.iter().map(|ip| [&[8, 0][..], &[0; 18], ip].concat()).collect();
    let (micro, nano) = (0xa1b2_c3d4, 0xa1b2_3c4d);
    let mut all = vec![
        pcap(false, micro, 105, &frames, 0),
        pcap(true, micro, 105, &frames, 0),
        pcap(false, nano, 105 | 1 << 26 | 2 << 28, &frames, 400),
        pcap(false, micro, 127, &of_device(0), 0),
        pcap(false, micro, 127, &of_device(0x10), 0),
        pcap(false, micro, 127, &of_device(0x20), 0),
        pcap(true, nano, 127, &of_device(0x50), 0),
        pcap(false, micro, 119, &prism, 0),
        pcap(false, micro, 192, &ppi, 0),
        pcap(false, micro, 1, &ethernet, 0),
        pcap(false, micro, 113, &cooked, 0),
        pcap(false, micro, 276, &cooked_2, 0),
        pcap(false, micro, 101, &ip, 262_144),
        pcap(false, micro, 147, &ip, 0),
        pcapng(false, 105, &frames),
        pcapng(true, 105, &frames),
        pcapng(false, 127, &of_device(0x30)),
        pcapng(true, 1, &ethernet),
    ];
    let zipped =
        [gzip(&all[0], Compression::none()), gzip(&all[14], Compression::none()), gzip(&all[3], Compression::best())];
    all.extend(zipped);
    all
}
