//! What holds for every protocol, whatever the bytes are.
#![allow(clippy::unwrap_used, non_snake_case)]

use proptest::prelude::*;
use rc4::{KeyInit, StreamCipher};
use wattlock_frames::authentication::{Algorithm, Authentication, Between, answers};
use wattlock_frames::handshake::{DirectLink, Handshake, KeyFrame, Known, Master, Transition};
use wattlock_frames::tkip::{Countermeasures, Event, Michael, phase_1, phase_2};
use wattlock_frames::{Error, Frame, Key, MAX_EXPANSION_B, Malformed, Msdu, Protocol, Replay, fitting, fragments};

fn key(protocol: Protocol) -> Key {
    let bytes: Vec<u8> = (0..32).collect();
    Key::new(protocol, &bytes[..protocol.key_B()]).unwrap()
}

fn data(qos: bool, sequence: u16, body: &[u8]) -> Vec<u8> {
    let mut mpdu = vec![if qos { 0x88 } else { 0x08 }, 0x01, 0, 0];
    mpdu.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3]);
    mpdu.extend((sequence << 4).to_le_bytes());
    mpdu.extend(if qos { &[5, 0][..] } else { &[] });
    mpdu.extend(body);
    mpdu
}

fn protect(key: &mut Key, mpdu: &[u8], number: u64) -> Vec<u8> {
    let mut output = vec![0; mpdu.len() + MAX_EXPANSION_B];
    let length_B = key.protect(&Frame::parse(mpdu).unwrap(), number, 0, &mut output).unwrap();
    output.truncate(length_B);
    output
}

fn unprotect(key: &mut Key, mpdu: &[u8], replay: Option<&mut Replay>) -> Result<(Vec<u8>, Msdu), Error> {
    let mut output = vec![0; mpdu.len()];
    let opened = key.unprotect(&Frame::parse(mpdu)?, replay, &mut output)?;
    output.truncate(opened.length_B);
    Ok((output, opened.msdu))
}

#[test]
fn a_number_that_was_there_before_is_refused_and_one_that_comes_late_under_block_acknowledgement_is_not() {
    for protocol in Protocol::ALL.into_iter().filter(|protocol| protocol.head_B() == 8) {
        for (qos, late) in [(true, true), (false, false)] {
            let (mut key, mut replay) = (key(protocol), Replay::new());
            let frames: Vec<_> = (1..=100).map(|n| protect(&mut key, &data(qos, 1, b"body"), n)).collect();
            assert!(unprotect(&mut key, &frames[98], Some(&mut replay)).is_ok());
            assert_eq!(unprotect(&mut key, &frames[98], Some(&mut replay)), Err(Error::Replay));
            assert_eq!(unprotect(&mut key, &frames[90], Some(&mut replay)).is_ok(), late);
            assert_eq!(unprotect(&mut key, &frames[90], Some(&mut replay)), Err(Error::Replay));
            assert_eq!(unprotect(&mut key, &frames[1], Some(&mut replay)).is_ok(), late);
            assert!(unprotect(&mut key, &frames[99], Some(&mut replay)).is_ok());
        }
    }
}

/// A frame with this number of `data` under CCMP, where `change` has changed it first: whether it is new.
fn is_taken(key: &mut Key, replay: &mut Replay, number: u64, change: impl Fn(&mut Vec<u8>)) -> bool {
    let mut mpdu = data(true, 1, b"body");
    change(&mut mpdu);
    let sealed = protect(key, &mpdu, number);
    match unprotect(key, &sealed, Some(replay)) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error, Error::Replay);
            false
        }
    }
}

#[test]
fn a_late_frame_is_taken_once_within_the_longest_window_and_refused_behind_it() {
    let (mut key, mut replay) = (key(Protocol::Ccmp128), Replay::new());
    let mut take = |number| is_taken(&mut key, &mut replay, number, |_| ());
    assert!(take(5000));
    // Of 802.11ax a window of 256, of 802.11be one of 1024.
    assert!(take(4937) && take(4745) && take(3977) && !take(3976));
    assert!(!take(4937) && !take(4745) && !take(3977) && !take(5000));
    // The window goes along: 3978 to 5001, of which some were there.
    assert!(take(5001) && !take(3977) && take(3978) && !take(3978) && !take(4745));
    // What lies between two leaps was not there, what lay where it lies now is forgotten.
    assert!(take(5900) && take(5899) && take(5769) && !take(5001) && take(4999) && !take(5000));
    // As far as it can go along: what was there at its end is there still, and one further it is forgotten.
    assert!(take(6923) && !take(5900) && !take(5899) && take(5901));
    // A leap over the whole window forgets what lay in it, and still takes the oldest of it.
    assert!(take(9000) && take(7977) && !take(7976) && !take(5900));
}

#[test]
fn a_frame_to_a_group_and_a_fragment_are_never_late() {
    let (mut key, mut replay) = (key(Protocol::Ccmp128), Replay::new());
    // From the access point to all: nobody acknowledges blocks of those (10.25.1).
    let to_all = |mpdu: &mut Vec<u8>| {
        mpdu[1] = 0x02;
        mpdu[4..10].fill(0xff);
    };
    assert!(is_taken(&mut key, &mut replay, 50, to_all));
    assert!(!is_taken(&mut key, &mut replay, 49, to_all));
    assert!(is_taken(&mut key, &mut replay, 51, to_all));
    let fragment = |mpdu: &mut Vec<u8>| mpdu[1] |= 0x04;
    assert!(is_taken(&mut key, &mut replay, 60, |_| ()));
    assert!(!is_taken(&mut key, &mut replay, 59, fragment) && is_taken(&mut key, &mut replay, 59, |_| ()));
}

#[test]
fn every_traffic_identifier_and_management_count_for_themselves() {
    let (mut key, mut replay) = (key(Protocol::Ccmp128), Replay::new());
    let of = |tid: u8| move |mpdu: &mut Vec<u8>| mpdu[24] = tid;
    let without_qos = |mpdu: &mut Vec<u8>| {
        mpdu[0] = 0x08;
        mpdu.drain(24..26);
    };
    let action = |mpdu: &mut Vec<u8>| {
        (mpdu[0], mpdu[1]) = (0xd0, 0);
        mpdu.drain(24..26);
    };
    assert!(is_taken(&mut key, &mut replay, 500, of(0)));
    // Management has a counter of its own, which data don't move, nor it theirs (12.5.3.4.4).
    assert!(is_taken(&mut key, &mut replay, 3, action) && !is_taken(&mut key, &mut replay, 3, action));
    assert!(!is_taken(&mut key, &mut replay, 2, action) && is_taken(&mut key, &mut replay, 4, action));
    assert!(is_taken(&mut key, &mut replay, 900, action) && is_taken(&mut key, &mut replay, 501, of(0)));
    for tid in 1..16 {
        assert!(is_taken(&mut key, &mut replay, 7, of(tid)), "traffic identifier {tid}");
    }
    // A frame without QoS is of identifier 0.
    assert!(!is_taken(&mut key, &mut replay, 400, without_qos) && is_taken(&mut key, &mut replay, 502, without_qos));
}

#[test]
fn a_forged_frame_moves_no_counter_and_leaves_no_octet_of_its_body() {
    let (mut key, mut replay) = (key(Protocol::Ccmp128), Replay::new());
    let right = protect(&mut key, &data(true, 1, b"body"), 7);
    let mut forged = protect(&mut key, &data(true, 1, b"body"), 900);
    forged[40] ^= 1;
    let mut output = vec![0xee; forged.len()];
    let refused = key.unprotect(&Frame::parse(&forged).unwrap(), Some(&mut replay), &mut output);
    assert_eq!(refused, Err(Error::Mic));
    assert!(output[26..forged.len() - 8].iter().all(|octet| *octet == 0));
    assert!(unprotect(&mut key, &right, Some(&mut replay)).is_ok());
}

#[test]
fn an_msdu_under_tkip_is_whole_only_with_its_last_fragment_however_it_is_cut() {
    for body_B in 16..140 {
        let mpdu = data(true, 9, &(0..200).collect::<Vec<u8>>());
        let frame = Frame::parse(&mpdu).unwrap();
        let count = fragments::count(&frame, body_B, Protocol::Tkip).unwrap();
        let (mut sender, mut receiver, mut replay) = (key(Protocol::Tkip), key(Protocol::Tkip), Replay::new());
        let mut bodies = Vec::new();
        for at in 0..count {
            let mut part = vec![0; 300];
            let length_B = fragments::write(&frame, body_B, at, count, &mut part).unwrap();
            let protected = protect(&mut sender, &part[..length_B], 10 + u64::from(at));
            let (clear, msdu) = unprotect(&mut receiver, &protected, Some(&mut replay)).unwrap();
            assert_eq!(clear, part[..length_B]);
            let whole = Msdu::Whole { cut_before_B: 0 };
            assert_eq!(msdu, if at + 1 < count { Msdu::UnderWay } else { whole }, "cut at {body_B}");
            bodies.extend_from_slice(&clear[26..]);
        }
        assert_eq!(bodies, frame.body(), "cut at {body_B}");
    }
}

/// One fragment under TKIP from the parts that the standard names, with `text` as its clear body.
fn sealed_by_parts(key: &[u8], header: &[u8], text: &[u8], number: u32) -> Vec<u8> {
    let temporal: &[u8; 16] = key[..16].try_into().unwrap();
    let ttak = phase_1(temporal, header[10..16].try_into().unwrap(), number >> 16);
    let seed = phase_2(temporal, &ttak, u16::try_from(number & 0xffff).unwrap());
    let mut sealed = [text, &crc32fast::hash(text).to_le_bytes()].concat();
    rc4::Rc4::new_from_slice(&*seed).unwrap().apply_keystream(&mut sealed);
    let mut mpdu = [header, &seed[..3], &[0x20, 0, 0, 0, 0], &sealed].concat();
    mpdu[1] |= 0x40;
    mpdu
}

#[test]
fn of_a_michael_across_two_fragments_as_much_is_cut_off_the_one_before_as_is_missing_in_the_last() {
    let bytes: Vec<u8> = (0..32).collect();
    let mpdu = data(true, 9, &[7; 100]);
    let (header, body) = mpdu.split_at(26);
    // To the distribution system: under the second key.
    let mut michael = Michael::of(bytes[24..32].try_into().unwrap(), &Frame::parse(&mpdu).unwrap());
    michael.update(body);
    let msdu = [body, &michael.finish()].concat();
    for in_last_B in 1..=20 {
        let (first, last) = msdu.split_at(msdu.len() - in_last_B);
        let (mut of_first, mut of_last) = (header.to_vec(), header.to_vec());
        of_first[1] |= 0x04;
        of_last[22] |= 1;
        let mut receiver = key(Protocol::Tkip);
        let sealed = sealed_by_parts(&bytes, &of_first, first, 7);
        assert_eq!(unprotect(&mut receiver, &sealed, None).unwrap().1, Msdu::UnderWay);
        let (clear, whole) = unprotect(&mut receiver, &sealed_by_parts(&bytes, &of_last, last, 8), None).unwrap();
        assert_eq!(clear.len(), 26 + in_last_B.saturating_sub(8), "{in_last_B} octets in the last");
        assert_eq!(whole, Msdu::Whole { cut_before_B: 8_usize.saturating_sub(in_last_B) });
    }
}

#[test]
fn michael_has_a_key_of_its_own_for_what_goes_to_the_distribution_system_alone() {
    let bytes: Vec<u8> = (0..32).collect();
    for (flags, michael_at) in [(0, 16), (1, 24), (2, 16), (3, 16)] {
        let mut mpdu = data(true, 9, &[7; 100]);
        mpdu[1] = flags;
        let protected = protect(&mut key(Protocol::Tkip), &mpdu, 5);
        for at in 16..32 {
            let mut other = bytes.clone();
            other[at] ^= 1;
            let opened = unprotect(&mut Key::new(Protocol::Tkip, &other).unwrap(), &protected, None);
            let is_its_own = (michael_at..michael_at + 8).contains(&at);
            assert_eq!(opened.err(), is_its_own.then_some(Error::Michael), "flags {flags}, octet {at} of the key");
        }
    }
}

#[test]
fn a_protocol_is_named_by_its_id() {
    let ids = ["wep40", "wep104", "tkip", "ccmp128", "ccmp256", "gcmp128", "gcmp256"];
    assert_eq!(Protocol::ALL.map(Protocol::id), ids);
    assert_eq!(Protocol::ALL.map(|protocol| protocol.to_string()), ids);
}

#[test]
fn a_fragment_that_is_missing_or_changed_lets_no_msdu_through() {
    let mpdu = data(true, 9, &[7; 100]);
    let frame = Frame::parse(&mpdu).unwrap();
    let (mut sender, mut receiver) = (key(Protocol::Tkip), key(Protocol::Tkip));
    let parts: Vec<_> = (0..3)
        .map(|at| {
            let mut part = vec![0; 300];
            let length_B = fragments::write(&frame, 40, at, 3, &mut part).unwrap();
            protect(&mut sender, &part[..length_B], 10 + u64::from(at))
        })
        .collect();
    assert!(unprotect(&mut receiver, &parts[0], None).is_ok());
    assert_eq!(unprotect(&mut receiver, &parts[2], None), Err(Malformed::Fragment.into()));
    // All fragments, and a gap between their packet numbers: somebody else's has come between (12.5.2.6).
    for numbers in [[30, 32, 33], [30, 31, 33], [30, 29, 31]] {
        let (mut sender, mut receiver) = (key(Protocol::Tkip), key(Protocol::Tkip));
        let outcomes = (0..3_u8).zip(numbers).map(|(at, number)| {
            let mut part = vec![0; 300];
            let length_B = fragments::write(&frame, 40, at, 3, &mut part).unwrap();
            let sealed = protect(&mut sender, &part[..length_B], number);
            unprotect(&mut receiver, &sealed, None).map(|(_, msdu)| msdu)
        });
        let last = outcomes.last().unwrap();
        assert!(matches!(last, Err(Error::Malformed(Malformed::Fragment) | Error::Replay)), "{numbers:?}: {last:?}");
    }
    // Another priority: the ICV knows nothing of it, Michael does.
    let mut whole = protect(&mut sender, &data(true, 10, &[7; 100]), 20);
    whole[24] = 6;
    assert_eq!(unprotect(&mut receiver, &whole, None), Err(Error::Michael));
}

#[test]
fn the_second_wrong_michael_within_a_minute_switches_tkip_off_for_a_minute() {
    let second = 1_000_000_000;
    let mut station = Countermeasures::default();
    assert_eq!(station.failed(0), Event::Reported);
    assert_eq!(station.failed(61 * second), Event::Reported);
    assert_eq!(station.failed(100 * second), Event::Off { until_ns: 160 * second });
    assert_eq!(station.failed(159 * second), Event::StillOff);
    assert!(station.is_off(160 * second - 1) && !station.is_off(160 * second));
    // After exactly 60 s it is still the second one within a minute, a nanosecond later a first one again.
    for (later, right) in [(60 * second, Event::Off { until_ns: 120 * second }), (60 * second + 1, Event::Reported)] {
        let mut station = Countermeasures::default();
        assert_eq!((station.failed(0), station.failed(later)), (Event::Reported, right));
    }
}

#[test]
fn a_shared_key_is_answered_by_four_frames_of_the_standards_sizes() {
    let challenge = [0x5a; 128];
    let between = Between { receiver: [2; 6], transmitter: [4; 6], bssid: [2; 6], sequence: 1 };
    let mut sizes_B = Vec::new();
    for step in 1..=4 {
        let challenge = matches!(step, 2 | 3).then_some(&challenge);
        let frame = Authentication { algorithm: Algorithm::SharedKey, step, status: 0, challenge };
        let mut mpdu = vec![0; 200];
        let length_B = frame.write(&between, &mut mpdu).unwrap();
        mpdu.truncate(length_B);
        assert_eq!(Authentication::parse(&Frame::parse(&mpdu).unwrap()), Ok(frame));
        if step == 3 {
            mpdu = protect(&mut key(Protocol::Wep104), &mpdu, 5);
        }
        sizes_B.push(mpdu.len());
        if step == 3 {
            let third = Frame::parse(&mpdu).unwrap();
            assert_eq!(answers(&mut key(Protocol::Wep104), &third, &[0x5a; 128]), Ok(true));
            assert_eq!(answers(&mut key(Protocol::Wep104), &third, &[0x5b; 128]), Ok(false));
            assert_eq!(answers(&mut key(Protocol::Wep40), &third, &[0x5a; 128]), Err(Error::Icv));
        }
    }
    assert_eq!(sizes_B, [30, 160, 168, 30]);
}

#[test]
fn a_key_frame_that_ends_anywhere_is_malformed() {
    let whole = [&[2, 3, 0, 95, 2, 0, 0x8a][..], &[0; 92]].concat();
    assert!(matches!(KeyFrame::parse(&whole), Ok(Some(_))));
    for length_B in 5..whole.len() {
        // Its own length says as much as is there, too: five octets are one before the information.
        let mut cut = whole[..length_B].to_vec();
        assert_eq!(KeyFrame::parse(&cut).err(), Some(Malformed::KeyFrame.into()), "{length_B} octets");
        cut[3] = u8::try_from(length_B - 4).unwrap();
        assert_eq!(KeyFrame::parse(&cut).err(), Some(Malformed::KeyFrame.into()), "{length_B} octets, as it says");
    }
}

#[test]
fn a_management_frame_goes_to_no_distribution_system_whatever_its_flags_say() {
    let mut mpdu = data(false, 1, &[9; 40]);
    (mpdu[0], mpdu[1]) = (0xc0, 0x03);
    let frame = Frame::parse(&mpdu).unwrap();
    assert_eq!((frame.destination(), frame.source()), (frame.receiver(), frame.transmitter()));
    for protocol in Protocol::ALL {
        let protected = protect(&mut key(protocol), &mpdu, 5);
        assert_eq!(unprotect(&mut key(protocol), &protected, None).map(|(clear, _)| clear), Ok(mpdu.clone()));
    }
}

proptest! {
    #[test]
    fn every_frame_comes_back_and_is_told_from_the_others(
        body in proptest::collection::vec(any::<u8>(), 0..600), qos: bool, number in 0_u64..1 << 24, flags in 0_u8..4,
    ) {
        for protocol in Protocol::ALL {
            let mut mpdu = data(qos, 3, &[&[0; 6][..], &body].concat());
            mpdu[1] = flags;
            let mut key = key(protocol);
            let protected = protect(&mut key, &mpdu, number);
            prop_assert!(fitting(&Frame::parse(&protected).unwrap(), protocol.key_B()).any(|one| one == protocol));
            prop_assert_eq!(unprotect(&mut key, &protected, None).unwrap().0, mpdu);
        }
    }

    #[test]
    fn no_bytes_make_anything_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), first in 0_u8..=255, flags: u8,
    ) {
        let mpdu = [&[first & !3, flags | 0x40][..], &bytes].concat();
        let mut output = [0; 300];
        for protocol in Protocol::ALL {
            if let Ok(frame) = Frame::parse(&mpdu) {
                let _ = key(protocol).unprotect(&frame, Some(&mut Replay::new()), &mut output);
                let _ = key(protocol).protect(&frame, 1, 0, &mut output);
                let _ = DirectLink::parse(&frame).map(|link| link.key());
                let _ = Transition::parse(&frame).map(|transition| transition.keys(&Known::default()));
            }
        }
        if let Ok(Some(frame)) = KeyFrame::parse(&mpdu[2..]) {
            let masters = [Master { key: &[1; 32], of_passphrase: true }];
            let _ = Handshake::new([2; 6], [4; 6]).hear(&frame, &Known { masters: &masters, names: &[b"name"] });
        }
    }

    #[test]
    fn a_changed_bit_is_never_taken_for_a_right_frame(at in 24_usize..80, bit in 0_u8..8) {
        for protocol in Protocol::ALL.into_iter().filter(|protocol| protocol.tail_B() > 4) {
            let mut key = key(protocol);
            let mut protected = protect(&mut key, &data(true, 1, &[9; 40]), 77);
            let at = at.min(protected.len() - 1);
            // The reserved octet, the key's number and the A-MSDU flag are not authenticated.
            prop_assume!(!(24..26).contains(&at) && at != 28 && at != 29);
            protected[at] ^= 1 << bit;
            prop_assert!(unprotect(&mut key, &protected, None).is_err());
        }
    }
}
