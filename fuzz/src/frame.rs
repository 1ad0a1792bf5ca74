//! The frame parser, and what is written of frames that it reads.

use std::hash::{DefaultHasher, Hash, Hasher};

use wattlock_frames::authentication::{Authentication, Between, answers};
use wattlock_frames::handshake::{DirectLink, Handshake, KeyFrame, Known, Master, Transition, network_name};
use wattlock_frames::{Frame, Key, MAX_EXPANSION_B, Msdu, Protocol, Replay, fitting, fragments};

/// Reads the first byte as what is done, the rest as an MPDU.
///
/// # Panics
/// Where a view does not cover its bytes, fragments are not the frame, or what was protected does not come back.
pub fn frame(bytes: &[u8]) -> u64 {
    let Some((&what, mpdu)) = bytes.split_first() else { return 0 };
    let mut told = DefaultHasher::new();
    let key_frame = KeyFrame::parse(mpdu);
    if let Ok(Some(key_frame)) = &key_frame {
        for key_B in [32, 48, 64] {
            let masters = [Master { key: &[1; 64][..key_B], of_passphrase: key_B == 32 }];
            let _ = Handshake::new([2; 6], [4; 6]).hear(key_frame, &Known { masters: &masters, names: &[b"name"] });
        }
    }
    key_frame.map(|frame| frame.is_some_and(|frame| frame.is_from_authenticator())).map_err(drop).hash(&mut told);
    let frame = match Frame::parse(mpdu) {
        Ok(frame) => frame,
        Err(_) => return told.finish(),
    };
    assert_eq!([frame.header(), frame.body()].concat(), mpdu);
    views(&frame).hash(&mut told);
    let masters = [Master { key: &[1; 32], of_passphrase: false }];
    let _ = Transition::parse(&frame).map(|one| one.keys(&Known { masters: &masters, names: &[b"name"] }));
    let _ = DirectLink::parse(&frame).map(|link| link.key());
    network_name(&frame).is_some().hash(&mut told);
    if let Ok(authentication) = Authentication::parse(&frame) {
        let mut output = [0; 200];
        let [receiver, transmitter, bssid] = [frame.receiver(), frame.transmitter(), frame.third()];
        let between = Between { receiver, transmitter, bssid, sequence: frame.sequence() };
        let length_B = authentication.write(&between, &mut output).expect("200 octets are enough");
        let written = Frame::parse(&output[..length_B]).expect("what is written is a frame");
        assert_eq!(Authentication::parse(&written), Ok(authentication));
    }
    let mut output = vec![0; mpdu.len() + MAX_EXPANSION_B];
    let bytes: Vec<u8> = (0..32).collect();
    for protocol in Protocol::ALL {
        let key = || Key::new(protocol, &bytes[..protocol.key_B()]).expect("the length is right");
        let opened = key().unprotect(&frame, Some(&mut Replay::new()), &mut output);
        opened.map(|opened| opened.msdu == Msdu::UnderWay).hash_as(&mut told);
        let _ = key().unprotect(&frame, None, &mut output[..mpdu.len() / 2]);
        if let Ok(length_B) = key().protect(&frame, u64::from(what), what, &mut output) {
            there_and_back(&frame, key(), &output[..length_B], protocol);
        }
        let _ = answers(&mut key(), &frame, &[7; 128]);
        cut(&frame, protocol, usize::from(what), key).hash(&mut told);
    }
    told.finish()
}

trait HashAs {
    fn hash_as(self, told: &mut DefaultHasher);
}

impl<T: Hash, E: ToString> HashAs for Result<T, E> {
    fn hash_as(self, told: &mut DefaultHasher) {
        self.map_err(|error| error.to_string()).hash(told);
    }
}

/// Calls all that looks at a frame.
fn views(frame: &Frame<'_>) -> impl Hash + use<> {
    let _ = (frame.receiver(), frame.transmitter(), frame.third(), frame.destination(), frame.source());
    for number in [0, 1, 63, 64, 65, (1 << 48) - 1, 5] {
        let mut replay = Replay::new();
        replay.note(frame, number);
        assert!(!replay.is_new(frame, number));
    }
    let fitting: Vec<_> = [0, 5, 13, 16, 32].into_iter().flat_map(|key_B| fitting(frame, key_B)).collect();
    let is = (frame.is_protected(), frame.carries_data(), frame.is_fragment());
    let has = (frame.fourth().is_some(), frame.qos_control().is_some(), frame.eapol().map(<[u8]>::len));
    let aggregate = (frame.is_aggregate(), frame.is_forged_aggregate(), frame.is_group_addressed());
    (frame.subtype(), frame.kind() as u8, frame.tid(), is, has, aggregate, fitting)
}

fn there_and_back(frame: &Frame<'_>, mut key: Key, protected: &[u8], protocol: Protocol) {
    let sealed = Frame::parse(protected).expect("a protected frame is a frame");
    assert!(sealed.is_protected() && protected.len() <= frame.mpdu().len() + MAX_EXPANSION_B);
    let mut output = vec![0; protected.len()];
    let opened = key.unprotect(&sealed, Some(&mut Replay::new()), &mut output).expect("it was protected with this key");
    assert_eq!(&output[..opened.length_B], frame.mpdu());
    assert_eq!(opened.msdu == Msdu::UnderWay, protocol == Protocol::Tkip && frame.has_more_fragments());
}

/// Cuts the frame into fragments, and puts them together after they were protected and unprotected.
fn cut(frame: &Frame<'_>, protocol: Protocol, body_B: usize, key: impl Fn() -> Key) -> Option<u8> {
    let count = fragments::count(frame, body_B, protocol).ok()?;
    let (mut sender, mut receiver, mut replay) = (key(), key(), Replay::new());
    let mut part = vec![0; frame.mpdu().len()];
    let mut sealed = vec![0; part.len() + MAX_EXPANSION_B];
    let (mut clear, mut whole) = (sealed.clone(), Vec::new());
    for at in 0..count {
        let length_B =
            fragments::write(frame, body_B, at, count, &mut part).expect("a part is no longer than the whole");
        let part = Frame::parse(&part[..length_B]).expect("a fragment is a frame");
        let Ok(length_B) = sender.protect(&part, 10 + u64::from(at), 0, &mut sealed) else { return None };
        let sealed = Frame::parse(&sealed[..length_B]).expect("a protected frame is a frame");
        let opened = match receiver.unprotect(&sealed, Some(&mut replay), &mut clear) {
            Ok(opened) => opened,
            // Michael across three fragments: none that is legal is so short.
            Err(_) if protocol == Protocol::Tkip && body_B < 8 => return None,
            Err(error) => panic!("fragment {at} of {count}: {error}"),
        };
        let body = clear[..opened.length_B].get(frame.header().len()..).expect("the header comes back");
        if let Msdu::Whole { cut_before_B } = opened.msdu {
            whole.truncate(whole.len() - cut_before_B);
        }
        whole.extend_from_slice(body);
    }
    assert_eq!(whole, frame.body());
    Some(count)
}
