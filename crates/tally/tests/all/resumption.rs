//! Resumption: who may make a root, and what a replayed flight does.

use wattlock_tally::{Error, Gateway, Hint, Parameters, Protection, Resuming, Sensor, answer, link_of};

use crate::link::{ends, pair};

#[test]
fn each_flight_is_refused_when_a_bit_or_the_secret_is_another() {
    let (resuming, opening) = Resuming::begin(pair(), [1; 8]);
    assert_eq!(link_of(&opening), Some(*b"test"));
    let (_, flight) = answer(&pair(), &opening, [2; 8]).unwrap();
    for bit in 0..160 {
        let mut changed = opening;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(answer(&pair(), &changed, [2; 8]).is_err(), "{bit}");
    }
    for bit in 0..128 {
        let mut changed = flight;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(resuming.finish(&changed).err(), Some(Error::Tag), "{bit}");
    }
    let mut other = pair();
    other.secret[31] ^= 1;
    assert_eq!(answer(&other, &opening, [2; 8]).err(), Some(Error::Tag));
    assert_eq!(resuming.finish(&opening).err(), Some(Error::Length));
    assert_eq!(resuming.finish(&opening[4..]).err(), Some(Error::Tag), "reflection");
}

#[test]
fn an_opening_makes_one_root() {
    let (resuming, opening) = Resuming::begin(pair(), [1; 8]);
    let [flight, again] = [[2; 8], [3; 8]].map(|nonce| answer(&pair(), &opening, nonce).unwrap().1);
    assert!(resuming.finish(&flight).is_ok());
    assert_eq!(resuming.finish(&flight).err(), Some(Error::Unexpected), "its counters would begin at 0 again");
    assert_eq!(resuming.finish(&again).err(), Some(Error::Unexpected));
}

#[test]
fn an_answer_to_another_nonce_is_refused() {
    let (_, opening) = Resuming::begin(pair(), [1; 8]);
    let (_, flight) = answer(&pair(), &opening, [2; 8]).unwrap();
    let (later, _) = Resuming::begin(pair(), [3; 8]);
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
