//! Handshakes of every key management, frame by frame, and what they teach. Who made them is in the table's head.
#![allow(clippy::unwrap_used, non_snake_case)]

use cmac::Cmac;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use wattlock_frames::handshake::{
    Akm, Brought, DirectLink, Handshake, Holders, KeyFrame, Known, Learned, Master, PmkR1, Ptk, Temporal, Transition,
    Why, asked_for, network_name,
};
use wattlock_frames::{Address, Error, Frame, Protocol};

/// Of the second octet of the frame control: an access point sent it.
const FROM_DS: u8 = 0x02;
const ACCESS_POINT: Address = [2, 0, 0, 0, 0, 1];
const NEXT_ACCESS_POINT: Address = [2, 0, 0, 0, 0, 9];
const STATION: Address = [2, 0, 0, 0, 0, 2];
const PEER: Address = [2, 0, 0, 0, 0, 3];
const NAMES: [&[u8]; 2] = [b"another", b"home"];

/// A network's rows of the table: what, and its octets.
struct Network {
    name: &'static str,
    rows: Vec<(&'static str, Vec<u8>)>,
}

impl Network {
    fn every() -> Vec<Self> {
        let mut networks: Vec<Self> = Vec::new();
        for line in include_str!("handshakes.txt").lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split(' ').collect();
            let octets =
                (0..fields[2].len()).step_by(2).map(|at| u8::from_str_radix(&fields[2][at..at + 2], 16).unwrap());
            if networks.last().is_none_or(|network| network.name != fields[0]) {
                networks.push(Self { name: fields[0], rows: Vec::new() });
            }
            networks.last_mut().unwrap().rows.push((fields[1], octets.collect()));
        }
        networks
    }

    /// Those with the four frames of a handshake.
    fn of_pairs() -> Vec<Self> {
        let networks: Vec<Self> = Self::every().into_iter().filter(|network| network.all("frame").len() == 4).collect();
        assert_eq!(networks.len(), 19);
        networks
    }

    fn named(name: &str) -> Self {
        Self::every().into_iter().find(|network| network.name == name).unwrap()
    }

    fn all(&self, what: &str) -> Vec<&[u8]> {
        self.rows.iter().filter(|row| row.0 == what).map(|row| &row.1[..]).collect()
    }

    fn one(&self, what: &str) -> &[u8] {
        self.all(what)[0]
    }

    fn takes_passphrase(&self) -> bool {
        !self.all("passphrase").is_empty()
    }

    fn is_fast(&self) -> bool {
        self.name.starts_with("ft-")
    }

    fn key(&self) -> &[u8] {
        self.one(if self.takes_passphrase() { "passphrase" } else { "master" })
    }

    fn masters(&self) -> [Master<'_>; 1] {
        [Master { key: self.key(), of_passphrase: self.takes_passphrase() }]
    }

    fn protocol(&self) -> Protocol {
        match self.name {
            "tkip" | "wpa" => Protocol::Tkip,
            "psk-ccmp256" => Protocol::Ccmp256,
            "psk-gcmp" | "suite-b" => Protocol::Gcmp128,
            "sae-gcmp256" | "owe-20" | "owe-21" | "suite-b-192" | "ft-eap-sha384" => Protocol::Gcmp256,
            _ => Protocol::Ccmp128,
        }
    }
}

fn hear(handshake: &mut Handshake, mpdu: &[u8], known: &Known<'_>) -> Result<Learned, Error> {
    let frame = Frame::parse(mpdu).unwrap();
    handshake.hear(&KeyFrame::parse(frame.eapol().unwrap())?.unwrap(), known)
}

fn shown(key: Option<Temporal>) -> Option<(Vec<u8>, Option<Protocol>)> {
    key.map(|key| (key.bytes().to_vec(), key.protocol))
}

/// The pair's key, and the group's behind its number.
fn pair_and_group(learned: Learned) -> [Option<(Vec<u8>, Option<Protocol>)>; 2] {
    let group = learned.group.map(|(number, key)| ([&[number], key.bytes()].concat(), key.protocol));
    [shown(learned.pairwise), group]
}

#[test]
fn the_second_frame_teaches_the_key_of_the_pair_the_third_that_of_the_group_and_a_later_one_the_next() {
    for network in Network::of_pairs() {
        let masters = network.masters();
        let known = Known { masters: &masters, names: &NAMES };
        let mut handshake = Handshake::new(ACCESS_POINT, STATION);
        let key = |what| network.all(what).first().map(|key| (key.to_vec(), Some(network.protocol())));
        let none = || [None, None];
        let [first, second, third, fourth] = network.all("frame")[..] else { unreachable!() };
        for (mpdu, right) in [
            (first, none()),
            (second, [key("pair"), None]),
            (third, [key("pair"), key("group")]),
            (fourth, none()),
            (network.one("again"), [None, key("next")]),
        ] {
            let learned = hear(&mut handshake, mpdu, &known).unwrap();
            assert!(pair_and_group(learned) == right, "{}", network.name);
        }
        assert_eq!((handshake.heard(), handshake.why()), ([true; 4], None), "{}", network.name);
    }
}

#[test]
fn the_third_frame_makes_up_for_the_first_and_nothing_does_for_the_second() {
    for network in Network::of_pairs() {
        let masters = network.masters();
        let known = Known { masters: &masters, names: &NAMES };
        let [first, second, third, _] = network.all("frame")[..] else { unreachable!() };
        let mut handshake = Handshake::new(ACCESS_POINT, STATION);
        assert_eq!(handshake.why(), Some(Why::NoSupplicant));
        assert_eq!(pair_and_group(hear(&mut handshake, second, &known).unwrap()), [None, None]);
        assert_eq!((handshake.heard(), handshake.why()), ([false, true, false, false], Some(Why::NoAuthenticator)));
        let learned = hear(&mut handshake, third, &known).unwrap();
        assert_eq!(learned.pairwise.unwrap().bytes(), network.one("pair"), "{}", network.name);
        assert_eq!(learned.group.is_some(), !network.all("group").is_empty(), "{}", network.name);

        let mut handshake = Handshake::new(ACCESS_POINT, STATION);
        hear(&mut handshake, first, &known).unwrap();
        assert_eq!(hear(&mut handshake, third, &known).err(), Some(Error::Mic));
        assert_eq!(hear(&mut handshake, network.one("again"), &known).err(), Some(Error::Mic));
        assert_eq!((handshake.heard(), handshake.why()), ([true, false, true, false], Some(Why::NoSupplicant)));
    }
}

#[test]
fn a_second_frame_that_nobody_signed_does_not_take_the_place_of_the_right_one() {
    for network in Network::of_pairs() {
        let masters = network.masters();
        let known = Known { masters: &masters, names: &NAMES };
        let [first, second, third, _] = network.all("frame")[..] else { unreachable!() };
        let mut handshake = Handshake::new(ACCESS_POINT, STATION);
        let mut forged = second.to_vec();
        // An octet of its nonce.
        forged[32 + 17] ^= 1;
        hear(&mut handshake, first, &known).unwrap();
        hear(&mut handshake, second, &known).unwrap();
        assert_eq!(hear(&mut handshake, &forged, &known).err(), Some(Error::Mic), "{}", network.name);
        let learned = hear(&mut handshake, third, &known).unwrap();
        assert_eq!(learned.pairwise.unwrap().bytes(), network.one("pair"), "{}", network.name);
    }
}

#[test]
fn no_octet_of_a_second_or_third_frame_can_be_changed() {
    for network in Network::of_pairs() {
        let masters = network.masters();
        let known = Known { masters: &masters, names: &NAMES };
        let [first, second, third, _] = network.all("frame")[..] else { unreachable!() };
        for (earlier, mpdu) in [(vec![first], second), (vec![first, second], third)] {
            // The packet behind header and LLC: its version and its length are what the packet is found by.
            for at in (36..mpdu.len()).step_by(3) {
                let mut changed = mpdu.to_vec();
                changed[at] ^= 0x10;
                let mut handshake = Handshake::new(ACCESS_POINT, STATION);
                earlier.iter().for_each(|mpdu| drop(hear(&mut handshake, mpdu, &known).unwrap()));
                let learned = Frame::parse(&changed).unwrap().eapol().map(KeyFrame::parse).map(|frame| match frame {
                    Ok(Some(frame)) => handshake.hear(&frame, &known),
                    Ok(None) => Ok(Learned::default()),
                    Err(error) => Err(error),
                });
                let taught = learned.is_some_and(|learned| {
                    learned.is_ok_and(|learned| learned.pairwise.is_some() || learned.group.is_some())
                });
                assert!(!taught, "{}: octet {at} of {}", network.name, mpdu.len());
            }
        }
    }
}

#[test]
fn a_handshake_that_no_key_fits_says_what_is_missing() {
    for network in Network::of_pairs() {
        let [first, second, ..] = network.all("frame")[..] else { unreachable!() };
        let why = |masters: &[Master<'_>], names: &[&[u8]]| {
            let mut handshake = Handshake::new(ACCESS_POINT, STATION);
            hear(&mut handshake, first, &Known { masters, names }).unwrap();
            let refused = hear(&mut handshake, second, &Known { masters, names });
            assert_eq!(refused.err(), Some(Error::Mic), "{}", network.name);
            handshake.why()
        };
        let of_passphrase = network.takes_passphrase();
        let other = vec![0xee; network.key().len()];
        let (right, wrong) = (network.masters(), [Master { key: &other, of_passphrase }]);
        assert_eq!(why(&wrong, &NAMES), Some(Why::WrongMaster), "{}", network.name);
        assert_eq!(why(&[], &NAMES), Some(Why::NoMaster), "{}", network.name);
        let short = [Master { key: &other[1..], of_passphrase }];
        assert_eq!(why(&short, &NAMES), Some(Why::NoMaster), "{}", network.name);
        if !of_passphrase {
            let of_passphrase = [Master { key: network.key(), of_passphrase: true }];
            assert_eq!(why(&of_passphrase, &NAMES), Some(Why::NoMaster), "{}", network.name);
        }
        if network.is_fast() {
            assert_eq!(why(&right, &[]), Some(Why::NoName), "{}", network.name);
            assert_eq!(why(&right, &NAMES[..1]), Some(Why::WrongMaster), "{}", network.name);
        }
        // The right one is found behind others.
        let (masters, mut handshake) = ([wrong[0], short[0], right[0]], Handshake::new(ACCESS_POINT, STATION));
        let known = Known { masters: &masters, names: &NAMES };
        hear(&mut handshake, first, &known).unwrap();
        assert!(hear(&mut handshake, second, &known).unwrap().pairwise.is_some(), "{}", network.name);
    }
}

/// A second frame that shows no suite: an RSN element that ends behind its version, under a MIC of its own.
fn without_suites(network: &Network, akm: Akm, temporal_B: usize) -> (Vec<u8>, Vec<u8>) {
    let (second, ptk) = (network.all("frame")[1], pair_key(network, akm, temporal_B));
    let mut mpdu = [&second[..32 + 97], &[0, 4, 48, 2, 1, 0]].concat();
    mpdu[34..36].copy_from_slice(&99_u16.to_be_bytes());
    sign(&mut mpdu, akm, &ptk);
    (mpdu, ptk.temporal().to_vec())
}

/// Puts the MIC of a suite with one of 16 octets into a key frame.
fn sign(mpdu: &mut [u8], akm: Akm, ptk: &Ptk) {
    mpdu[32 + 81..32 + 97].fill(0);
    let mic = if akm == Akm::PSK {
        let mut mac = <Hmac<Sha1> as KeyInit>::new_from_slice(ptk.kck()).unwrap();
        mac.update(&mpdu[32..]);
        mac.finalize().into_bytes()[..16].to_vec()
    } else {
        let mut mac = <Cmac<aes::Aes128> as KeyInit>::new_from_slice(ptk.kck()).unwrap();
        mac.update(&mpdu[32..]);
        mac.finalize().into_bytes().to_vec()
    };
    mpdu[32 + 81..32 + 97].copy_from_slice(&mic);
}

/// A pair's key, of what its first two frames show.
fn pair_key(network: &Network, akm: Akm, temporal_B: usize) -> Ptk {
    let [first, second, ..] = network.all("frame")[..] else { unreachable!() };
    // Header 24, LLC 8; the nonce stands at octet 17 of the packet, the MIC at 81, the data's length at 97.
    let nonces = [first, second].map(|mpdu| <&[u8; 32]>::try_from(&mpdu[32 + 17..32 + 49]).unwrap());
    let brought = Brought { addresses: [ACCESS_POINT, STATION], nonces };
    Ptk::derive(akm, network.key(), &brought, temporal_B).unwrap()
}

#[test]
fn a_third_frame_in_the_clear_confirms_the_pair_and_tells_no_group_key() {
    for (name, akm) in [("psk", Akm::PSK), ("psk-sha256", Akm::PSK_SHA256)] {
        let network = Network::named(name);
        let [first, second, third, _] = network.all("frame")[..] else { unreachable!() };
        let mut clear = third.to_vec();
        clear[32 + 5] &= !0x10;
        sign(&mut clear, akm, &pair_key(&network, akm, 16));
        let (masters, mut handshake) = (network.masters(), Handshake::new(ACCESS_POINT, STATION));
        let known = Known { masters: &masters, names: &[] };
        hear(&mut handshake, first, &known).unwrap();
        hear(&mut handshake, second, &known).unwrap();
        let [pair, group] = pair_and_group(hear(&mut handshake, &clear, &known).unwrap());
        assert_eq!((pair.unwrap().0, group), (network.one("pair").to_vec(), None), "{name}");
    }
}

#[test]
fn the_access_point_sends_the_first_and_the_third_frame_and_asks_for_an_answer() {
    for network in Network::of_pairs() {
        let is_from_access_point = network.all("frame").into_iter().map(|mpdu| {
            let frame = Frame::parse(mpdu).unwrap();
            let key_frame = KeyFrame::parse(frame.eapol().unwrap()).unwrap().unwrap();
            assert_eq!(key_frame.is_from_authenticator(), mpdu[1] & FROM_DS != 0);
            key_frame.is_from_authenticator()
        });
        assert_eq!(is_from_access_point.collect::<Vec<_>>(), [true, false, true, false], "{}", network.name);
    }
}

#[test]
fn where_no_suite_was_shown_the_version_of_the_frame_says_it_and_both_lengths_are_tried() {
    // The PRF of the first suites gives the same octets whatever the length: the longest one has them all.
    for (name, akm, lengths_B) in [("psk", Akm::PSK, &[32][..]), ("psk-sha256", Akm::PSK_SHA256, &[16, 32])] {
        let network = Network::named(name);
        for temporal_B in lengths_B {
            let (second, temporal) = without_suites(&network, akm, *temporal_B);
            let (masters, mut handshake) = (network.masters(), Handshake::new(ACCESS_POINT, STATION));
            let known = Known { masters: &masters, names: &[] };
            hear(&mut handshake, network.all("frame")[0], &known).unwrap();
            let learned = hear(&mut handshake, &second, &known).unwrap();
            assert!(shown(learned.pairwise) == Some((temporal, None)), "{name}, {temporal_B} octets");
            assert_eq!(handshake.akm(), None);
        }
    }
}

#[test]
fn the_keys_of_a_mobility_domain_have_the_names_that_a_request_tells_and_the_longest_names_fit() {
    for network in Network::of_pairs().into_iter().filter(Network::is_fast) {
        let akm = Transition::parse(&Frame::parse(network.one("request")).unwrap()).unwrap().akm;
        let of = Holders {
            ssid: b"home",
            domain: [0xa1, 0xb2],
            r0: b"nas1.example",
            r1: NEXT_ACCESS_POINT,
            station: STATION,
        };
        let pmk = PmkR1::derive(akm, network.key(), &of).unwrap();
        let names_holder = network.one("request").windows(16).any(|name| name == pmk.r1_name);
        assert!(names_holder && pmk.key().len() == network.key().len(), "{}", network.name);
        assert_ne!(pmk.r0_name, pmk.r1_name);
        let longest = Holders { ssid: &[7; 32], r0: &[8; 48], ..of };
        assert!(PmkR1::derive(akm, network.key(), &longest).is_ok());
        assert!(PmkR1::derive(akm, network.key(), &Holders { ssid: &[7; 33], ..longest }).is_err());
    }
}

#[test]
fn beacons_and_associations_tell_the_name_and_requests_the_key_management() {
    let names = [
        ("psk", "PSK"),
        ("psk-sha256", "PSK-SHA256"),
        ("ft-psk", "FT-PSK"),
        ("802.1x", "802.1X"),
        ("802.1x-sha256", "802.1X-SHA256"),
        ("ft-eap", "FT-802.1X"),
        ("sae", "SAE"),
        ("ft-sae", "FT-SAE"),
        ("owe-19", "OWE"),
        ("suite-b", "Suite-B"),
        ("suite-b-192", "Suite-B-192"),
        ("ft-eap-sha384", "FT-802.1X-SHA384"),
        ("wpa", "WPA PSK"),
    ];
    for (network, management) in names {
        let network = Network::named(network);
        let beacon = network.one("beacon");
        assert_eq!(network_name(&Frame::parse(beacon).unwrap()), Some((ACCESS_POINT, &b"home"[..])));
        assert_eq!(asked_for(&Frame::parse(beacon).unwrap()), None, "an access point asks for nothing");
        // What the beacon tells, as an association, a reassociation and an answer to a probe would.
        let elements = &beacon[24 + 12..];
        for (control, fixed_B, is_of_station) in [(0x00, 4, true), (0x20, 10, true), (0x50, 12, false)] {
            let header = [&[control, 0, 0, 0][..], &ACCESS_POINT, &STATION, &ACCESS_POINT, &[0, 0]].concat();
            let mut mpdu = [&header[..], &[0; 12][..fixed_B], elements].concat();
            let frame = Frame::parse(&mpdu).unwrap();
            let teller = if is_of_station { ACCESS_POINT } else { STATION };
            assert_eq!(network_name(&frame), Some((teller, &b"home"[..])));
            let asked = asked_for(&frame).map(|akm| akm.to_string());
            assert_eq!(asked.as_deref(), is_of_station.then_some(management));
            mpdu[1] = 0x40;
            assert_eq!(network_name(&Frame::parse(&mpdu).unwrap()), None, "it is protected");
        }
        let [_, second, ..] = network.all("frame")[..] else { unreachable!() };
        let mut handshake = Handshake::new(ACCESS_POINT, STATION);
        handshake.suppose(Akm::TDLS);
        assert_eq!(handshake.akm(), Some(Akm::TDLS));
        hear(&mut handshake, second, &Known::default()).unwrap();
        assert_eq!(handshake.akm().unwrap().to_string(), management);
        handshake.suppose(Akm::TDLS);
        assert_eq!(handshake.akm().unwrap().to_string(), management, "what was said stays");
    }
    // A hidden network tells nothing, or as many zeros; nobody has a name of more than 32 octets.
    for (name, is_told) in [(vec![], false), (vec![0; 4], false), (vec![7; 32], true), (vec![7; 33], false)] {
        let element = [&[0, u8::try_from(name.len()).unwrap()], &name[..]].concat();
        let beacon = [&[0x80, 0, 0, 0][..], &[0xff; 6], &ACCESS_POINT, &ACCESS_POINT, &[0; 14], &element].concat();
        assert_eq!(network_name(&Frame::parse(&beacon).unwrap()).is_some(), is_told);
    }
}

#[test]
fn a_station_that_moves_takes_its_keys_along_and_nobody_can_change_how() {
    for network in Network::of_pairs().into_iter().filter(Network::is_fast) {
        let masters = network.masters();
        let known = Known { masters: &masters, names: &NAMES };
        let right = Some((network.one("moved").to_vec(), Some(network.protocol())));
        for (what, group) in [("request", None), ("response", Some(network.one("group")))] {
            let mpdu = network.one(what);
            let frame = Frame::parse(mpdu).unwrap();
            let transition = Transition::parse(&frame).unwrap();
            assert_eq!((transition.access_point, transition.station), (NEXT_ACCESS_POINT, STATION));
            let [pair, found] = pair_and_group(transition.keys(&known).unwrap());
            let group = group.map(|group| (group.to_vec(), Some(network.protocol())));
            assert!((&pair, found) == (&right, group), "{}, {what}", network.name);
            assert_eq!(transition.keys(&Known { names: &[], ..known }).err(), Some(Why::NoName));
            assert_eq!(transition.keys(&Known { masters: &[], ..known }).err(), Some(Why::NoMaster));
            // From the RSN element on all is covered by the MIC, or names the holders of the keys.
            let from = mpdu.windows(2).position(|head| head == [48, 38]).unwrap();
            for at in from..mpdu.len() {
                let mut changed = mpdu.to_vec();
                changed[at] ^= 1;
                let keys = Transition::parse(&Frame::parse(&changed).unwrap()).map(|it| it.keys(&known));
                assert!(!matches!(keys, Some(Ok(_))), "{}, {what}: octet {at}", network.name);
            }
            let mut protected = mpdu.to_vec();
            protected[1] |= 0x40;
            assert!(Transition::parse(&Frame::parse(&protected).unwrap()).is_none());
        }
        // An association that begins with a four-way handshake has the same elements, and no nonces yet.
        let mut first = network.one("request").to_vec();
        let at = first.windows(3).position(|head| head[0] == 55 && head[2] == 0).unwrap();
        first[at + 3] = 0;
        assert!(Transition::parse(&Frame::parse(&first).unwrap()).is_none(), "{}", network.name);
    }
}

#[test]
fn the_setup_of_a_direct_link_shows_its_key_and_nobody_can_change_it() {
    let network = Network::named("tdls");
    for (number, mpdu) in (2..).zip(network.all("setup")) {
        let frame = Frame::parse(mpdu).unwrap();
        let link = DirectLink::parse(&frame).unwrap();
        assert_eq!((link.number(), link.initiator, link.responder), (number, STATION, PEER));
        let right = Some((network.one("pair").to_vec(), Some(Protocol::Ccmp128)));
        assert!(shown(link.key().ok()) == right);
        let rsn_at = mpdu.windows(2).position(|head| head == [48, 20]).unwrap();
        for at in rsn_at..mpdu.len() {
            let mut changed = mpdu.to_vec();
            changed[at] ^= 1;
            let key = DirectLink::parse(&Frame::parse(&changed).unwrap()).map(|link| link.key());
            assert!(!matches!(key, Some(Ok(_))), "octet {at}");
        }
        for (at, bit) in [(0, 0x40), (1, 0x40), (1, 0x04), (22, 1), (30, 1), (32, 1), (33, 1), (34, 4)] {
            let mut changed = mpdu.to_vec();
            changed[at] ^= bit;
            let changed = Frame::parse(&changed).unwrap();
            assert!(DirectLink::parse(&changed).is_none(), "octet {at}: a frame of another kind");
        }
    }
}

#[test]
fn every_key_management_has_the_name_and_the_properties_of_its_suite() {
    let rsn = |number| Akm::of(&[0x00, 0x0f, 0xac, number]).unwrap();
    // Table 9-151: number, name, of a fast transition, of a passphrase, whether its keys are followed here.
    let suites = [
        (1, "802.1X", false, false, true),
        (2, "PSK", false, true, true),
        (3, "FT-802.1X", true, false, true),
        (4, "FT-PSK", true, true, true),
        (5, "802.1X-SHA256", false, false, true),
        (6, "PSK-SHA256", false, true, true),
        (7, "TDLS", false, false, false),
        (8, "SAE", false, false, true),
        (9, "FT-SAE", true, false, true),
        (10, "AP-PeerKey", false, false, false),
        (11, "Suite-B", false, false, true),
        (12, "Suite-B-192", false, false, true),
        (13, "FT-802.1X-SHA384", true, false, true),
        (14, "FILS-SHA256", false, false, false),
        (15, "FILS-SHA384", false, false, false),
        (16, "FT-FILS-SHA256", false, false, false),
        (17, "FT-FILS-SHA384", false, false, false),
        (18, "OWE", false, false, true),
        (19, "FT-PSK-SHA384", false, false, false),
        (20, "PSK-SHA384", false, false, false),
        (24, "SAE-EXT-KEY", false, false, false),
        (25, "FT-SAE-EXT-KEY", false, false, false),
        (99, "00-0f-ac:99", false, false, false),
    ];
    for (number, name, is_fast, takes_passphrase, is_followed) in suites {
        let akm = rsn(number);
        assert_eq!(akm.to_string(), name);
        let properties = (akm.is_fast_transition(), akm.takes_passphrase(), akm.is_followed());
        assert_eq!(properties, (is_fast, takes_passphrase, is_followed), "{name}");
    }
    assert_eq!([Akm::WPA_8021X, Akm::WPA_PSK].map(|akm| akm.to_string()), ["WPA 802.1X", "WPA PSK"]);
    assert_eq!([Akm::WPA_8021X, Akm::WPA_PSK].map(Akm::takes_passphrase), [false, true]);
    assert!(Akm::of(&[0; 3]).is_none() && Akm::of(&[0; 5]).is_none());
}
