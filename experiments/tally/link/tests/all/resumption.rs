//! Resumption: who may make a root, and what a replayed flight does.

use wattlock_tally::{
    Answered, Error, Gateway, Hint, Nonce, Parameters, Protection, Resuming, Sensor, link_of, nonce_of,
};

use crate::link::{ends, pair};

#[test]
fn each_flight_is_refused_when_a_bit_or_the_secret_is_another() {
    let (resuming, opening) = Resuming::begin(pair(), [1; 8].into());
    assert_eq!(link_of(&opening), Some(*b"test"));
    let (_, flight) = Answered::default().answer(&pair(), &opening, [2; 8].into()).unwrap();
    for bit in 0..160 {
        let mut changed = opening;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(Answered::default().answer(&pair(), &changed, [2; 8].into()).is_err(), "{bit}");
    }
    for bit in 0..128 {
        let mut changed = flight;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(resuming.finish(&changed).err(), Some(Error::Tag), "{bit}");
    }
    let mut other = pair();
    other.secret[31] ^= 1;
    assert_eq!(Answered::default().answer(&other, &opening, [2; 8].into()).err(), Some(Error::Tag));
    assert_eq!(resuming.finish(&opening).err(), Some(Error::Length));
    assert_eq!(resuming.finish(&opening[4..]).err(), Some(Error::Tag), "reflection");
}

#[test]
fn an_opening_makes_one_root() {
    let (resuming, opening) = Resuming::begin(pair(), [1; 8].into());
    let [flight, again] =
        [[2; 8], [3; 8]].map(|nonce| Answered::default().answer(&pair(), &opening, nonce.into()).unwrap().1);
    assert!(resuming.finish(&flight).is_ok());
    assert_eq!(resuming.finish(&flight).err(), Some(Error::Unexpected), "its counters would begin at 0 again");
    assert_eq!(resuming.finish(&again).err(), Some(Error::Unexpected));
}

/// The openings of `vectors/starts.txt`: what the gateway hears, and what it does about it.
const STARTS: &str = include_str!("../../vectors/starts.txt");

fn octets(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|place| u8::from_str_radix(&hex[place..place + 2], 16).unwrap()).collect()
}

#[test]
fn a_gateway_answers_openings_as_the_vectors_of_another_implementation_say() {
    let (mut answered, mut heard) = (Answered::default(), 0);
    for line in STARTS.lines().filter(|line| !line.starts_with('#')) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["confirmed"] => answered.confirm(),
            ["restored"] => answered = Answered::default(),
            ["opening", opening, "new", flight] => {
                let (opening, flight) = (octets(opening), octets(flight));
                let [of_sensor, of_gateway] = [&opening, &flight].map(|flight| nonce_of(flight).unwrap());
                let (resuming, own) = Resuming::begin(pair(), of_sensor);
                assert_eq!(own[..], opening);
                assert_eq!(answered.due(&pair(), &opening), Ok(None), "{line}");
                assert_eq!(answered.answer(&pair(), &opening, of_gateway).unwrap().1[..], flight);
                assert!(resuming.finish(&flight).is_ok());
            }
            ["opening", opening, "again", flight] => {
                let due = answered.due(&pair(), &octets(opening)).unwrap();
                assert_eq!(due.map(Vec::from), Some(octets(flight)), "{line}");
                assert_eq!(answered.answer(&pair(), &octets(opening), [9; 8].into()).err(), Some(Error::Replayed));
            }
            ["opening", opening, "refused"] => {
                assert_eq!(answered.due(&pair(), &octets(opening)), Err(Error::Replayed), "{line}");
                assert_eq!(answered.answer(&pair(), &octets(opening), [9; 8].into()).err(), Some(Error::Replayed));
            }
            _ => panic!("{line}"),
        }
        heard += 1;
    }
    assert_eq!(heard, 10);
}

#[test]
fn a_nonce_is_a_number_and_random_octets_where_the_flights_have_it() {
    let nonce = Nonce { number: 0x0102_0304, random: [5, 6, 7, 8] };
    assert_eq!(nonce.octets(), [1, 2, 3, 4, 5, 6, 7, 8]);
    let (_, opening) = Resuming::begin(pair(), nonce);
    let (_, flight) = Answered::default().answer(&pair(), &opening, [9; 8].into()).unwrap();
    assert_eq!((nonce_of(&opening), nonce_of(&flight)), (Some(nonce), Some([9; 8].into())));
    assert_eq!((nonce_of(&opening[1..]), nonce_of(&[])), (None, None));
}

#[test]
fn an_answer_to_another_nonce_is_refused() {
    let (_, opening) = Resuming::begin(pair(), [1; 8].into());
    let (_, flight) = Answered::default().answer(&pair(), &opening, [2; 8].into()).unwrap();
    let (later, _) = Resuming::begin(pair(), [3; 8].into());
    assert_eq!(later.finish(&flight).err(), Some(Error::Tag));
}

#[test]
fn a_replayed_opening_makes_a_root_that_is_never_confirmed() {
    let parameters = Parameters::new(Hint::Octet);
    let (mut sensor, mut gateway) = ends(parameters, [1, 2]);
    let (_, mut of_replay) = ends(parameters, [1, 9]);
    let mut frame = [0; 64];
    for _ in 0..8 {
        let sealed = sensor.seal(b"21.5", Protection::Short, &mut frame).unwrap();
        assert!(of_replay.hear(&frame[..sealed.length_B], None).is_err());
        gateway.hear(&frame[..sealed.length_B], None).unwrap();
    }
    assert!(gateway.is_confirmed());
    assert!(!of_replay.is_confirmed());
}

#[test]
fn short_tags_are_refused_before_a_root_is_confirmed() {
    let parameters = Parameters::new(Hint::Octet);
    let (_, mut gateway): (Sensor, Gateway) = ends(parameters, [1, 2]);
    assert_eq!(gateway.hear(&[0; 8], None).err(), Some(Error::ShortTag));
}

#[test]
fn records_of_another_pair_and_reports_of_another_pair_are_refused() {
    let parameters = Parameters::new(Hint::Octet);
    let (mut sensor, mut gateway) = ends(parameters, [1, 2]);
    let (mut other_sensor, mut other_gateway) = ends(parameters, [1, 3]);
    let mut frame = [0; 64];
    let sealed = sensor.seal(b"21.5", Protection::Whole, &mut frame).unwrap();
    assert_eq!(other_gateway.hear(&frame[..sealed.length_B], None), Err(Error::Tag));
    gateway.hear(&frame[..sealed.length_B], None).unwrap();
    let length_B = gateway.speak(&mut frame).unwrap().unwrap();
    assert_eq!(other_sensor.hear(&frame[..length_B]), Err(Error::Tag));
    sensor.hear(&frame[..length_B]).unwrap();
}
