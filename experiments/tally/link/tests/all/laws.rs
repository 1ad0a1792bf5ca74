//! What holds under every schedule of loss, order, duplicates, replays and noise.

use proptest::prelude::*;
use wattlock_tally::{Error, Gateway, Hint, Parameters, Protection, Sensor, SensorHeard};

use crate::link::{Frame, Link};

const HINTS: [Hint; 3] = [Hint::None, Hint::Octet, Hint::Pair];

#[derive(Debug, Clone)]
enum Step {
    /// A message; whether it arrives, and whether what the gateway then says arrives.
    Message { whole: bool, up: bool, down: bool },
    /// A frame of before arrives again.
    Replay { back: usize },
    /// A report of before arrives again.
    ReplayDown { back: usize },
    /// A frame that nobody sealed.
    Noise { octets: Vec<u8> },
    /// A frame is changed in one bit.
    Changed { bit: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (prop::bool::weighted(0.1), prop::bool::weighted(0.8), prop::bool::weighted(0.8))
            .prop_map(|(whole, up, down)| Step::Message { whole, up, down }),
        1 => (0_usize..80).prop_map(|back| Step::Replay { back }),
        1 => (0_usize..8).prop_map(|back| Step::ReplayDown { back }),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(|octets| Step::Noise { octets }),
        1 => (0_usize..400).prop_map(|bit| Step::Changed { bit }),
    ]
}

#[derive(Default)]
struct Air {
    up: Vec<Frame>,
    down: Vec<Vec<u8>>,
}

impl Air {
    fn carry_out(&mut self, link: &mut Link, step: &Step) {
        match step {
            Step::Message { whole, up, down } => {
                let frames = link.rescue().into_iter().collect::<Vec<_>>();
                let frame = link.seal(if *whole { Protection::Whole } else { Protection::Short });
                for frame in frames.into_iter().chain([frame]) {
                    if *up {
                        let _ = link.up(&frame);
                    }
                    self.up.push(frame);
                }
                if let Some(frame) = link.speak() {
                    if *down {
                        let _ = link.sensor.hear(&frame);
                    }
                    self.down.push(frame);
                }
            }
            Step::Replay { back } => {
                if let Some(frame) = self.up.iter().rev().nth(*back) {
                    let _ = link.up(frame);
                }
            }
            Step::ReplayDown { back } => {
                if let Some(frame) = self.down.iter().rev().nth(*back) {
                    let _ = link.sensor.hear(frame);
                }
            }
            Step::Noise { octets } => {
                let told = (wattlock_tally::Kind::Short, link.sensor.counter());
                for _ in 0..=octets.len() % 6 {
                    assert!(link.up(&(told, octets.clone())).is_err());
                }
                assert!(link.sensor.hear(octets).is_err());
            }
            Step::Changed { bit } => {
                if let Some((told, mut octets)) = self.up.last().cloned() {
                    let place = bit / 8 % octets.len();
                    octets[place] ^= 1 << (bit % 8);
                    assert!(link.up(&(told, octets)).is_err());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn whatever_the_air_does_each_message_is_verified_once_is_what_was_sent_and_no_larger_than_with_whole_tags(
        steps in prop::collection::vec(step(), 0..300), hint in prop::sample::select(HINTS.to_vec()),
        every in 1_u32..=32, tag_B in 4_u8..=8,
    ) {
        let mut link = Link::new(hint, Parameters::new(hint).report_every(every).unwrap().short_tag(tag_B).unwrap());
        link.short_tag_B = usize::from(tag_B);
        let mut air = Air::default();
        for step in &steps {
            air.carry_out(&mut link, step);
        }
        // Quiet: nothing is lost, and all that opened is settled.
        let settled = link.sensor.counter();
        for _ in 0..200 {
            link.slot(Protection::Short);
        }
        for counter in link.opened.iter().filter(|counter| **counter < settled) {
            prop_assert!(link.verified.contains_key(counter) != link.lost.contains(counter), "{counter}");
        }
        prop_assert!(link.verified.values().all(|bits| *bits >= 128));
        prop_assert!(link.sensor.generation().abs_diff(link.gateway.generation()) <= 1);
    }
}

#[test]
fn without_loss_everything_is_verified_at_128_bits_for_five_octets_a_message() {
    let mut link = Link::new(Hint::Octet, Parameters::new(Hint::Octet));
    for _ in 0..1000 {
        link.slot(Protection::Short);
    }
    assert_eq!(link.opened.len(), 1000);
    assert!(link.lost.is_empty());
    assert!(link.verified.len() >= 1000 - 16 - 4, "{}", link.verified.len());
    assert!(link.verified.values().all(|bits| *bits == 128));
}

#[test]
fn a_message_with_a_whole_tag_is_verified_at_once_and_verifies_what_was_attested() {
    let mut link = Link::new(Hint::Octet, Parameters::new(Hint::Octet).report_every(4).unwrap());
    for _ in 0..5 {
        link.slot(Protection::Short);
    }
    // The first had a whole tag and brought the first report; the report behind the next four has been heard.
    assert_eq!(link.verified.keys().copied().collect::<Vec<_>>(), [0]);
    link.slot(Protection::Whole);
    assert_eq!(link.verified.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_lost_report_is_said_again_unchanged_and_what_came_meanwhile_is_carried_over() {
    let mut link = Link::new(Hint::Octet, Parameters::new(Hint::Octet).report_every(4).unwrap());
    link.slot(Protection::Whole);
    let mut reports = Vec::new();
    for _ in 0..12 {
        let frame = link.seal(Protection::Short);
        link.up(&frame).unwrap();
        reports.extend(link.speak());
    }
    assert_eq!(reports.len(), 9);
    assert!(reports.iter().all(|report| *report == reports[0]));
    assert_eq!(link.sensor.hear(&reports[0]), Ok(SensorHeard::NextGeneration));
    for _ in 0..30 {
        link.slot(Protection::Short);
    }
    assert!((0..13).all(|counter| link.verified.contains_key(&counter)));
}

#[test]
fn a_report_of_a_message_whose_tag_is_gone_leads_to_a_rescue() {
    let mut link = Link::new(Hint::Octet, Parameters::new(Hint::Octet).report_every(1).unwrap());
    for _ in 0..4 {
        link.slot(Protection::Short);
    }
    let frame = link.seal(Protection::Short);
    link.up(&frame).unwrap();
    let report = link.speak().unwrap();
    for _ in 0..64 {
        link.seal(Protection::Short);
    }
    assert_eq!(link.sensor.hear(&report), Ok(SensorHeard::TooOld));
    for _ in 0..40 {
        link.slot(Protection::Short);
    }
    assert!(link.lost.contains(&4) && !link.verified.contains_key(&4));
    assert!((70..100).all(|counter| link.verified.contains_key(&counter)), "{:?}", link.verified);
}

#[test]
fn noise_that_looks_like_a_fork_costs_a_rescue_and_no_message() {
    let mut link = Link::new(Hint::Octet, Parameters::new(Hint::Octet).report_every(4).unwrap());
    for _ in 0..20 {
        link.slot(Protection::Short);
    }
    for _ in 0..4 {
        assert_eq!(link.gateway.hear(&[20; 13], None), Err(Error::Tag));
    }
    let request = link.speak().unwrap();
    assert_eq!(request.len(), wattlock_tally::REQUEST_B);
    assert_eq!(link.sensor.hear(&request), Ok(SensorHeard::RescueAsked));
    for _ in 0..20 {
        link.slot(Protection::Short);
    }
    assert!((0..20).all(|counter| link.verified.contains_key(&counter)));
    assert!(link.lost.is_empty());
}

#[test]
fn a_spent_budget_refuses_short_tags_until_whole_ones_have_led_to_the_next_generation() {
    let mut link = Link::new(Hint::Octet, Parameters::new(Hint::Octet));
    for _ in 0..5 {
        link.slot(Protection::Short);
    }
    for _ in 0..16 {
        assert_eq!(link.gateway.hear(&[40; 13], None), Err(Error::Tag));
        let frame = link.seal(Protection::Whole);
        link.up(&frame).unwrap();
    }
    assert!(link.gateway.is_spent());
    let frame = link.seal(Protection::Short);
    assert_eq!(link.up(&frame), Err(Error::ShortTag));
    let report = link.speak().unwrap();
    assert_eq!(report[0] >> 6, 1, "it asks for whole tags");
    assert_eq!(link.sensor.hear(&report), Ok(SensorHeard::NextGeneration));
    let frame = link.seal(Protection::Short);
    assert_eq!(frame.0.0, wattlock_tally::Kind::Whole);
    link.up(&frame).unwrap();
    assert!(!link.gateway.is_spent());
}

#[test]
fn a_budget_spent_just_behind_a_report_that_was_heard_shuts_nobody_out_for_long() {
    let mut link = Link::new(Hint::None, Parameters::new(Hint::None).report_every(8).unwrap());
    for _ in 0..300 {
        // The fifteenth and sixteenth guess of a generation come when the sensor has begun the next one: it can't know.
        for _ in 0..2 {
            let told = (wattlock_tally::Kind::Short, link.sensor.counter());
            assert!(link.gateway.hear(&[5; 13], Some(told)).is_err());
        }
        link.slot(Protection::Short);
    }
    assert!(link.opened.len() > 200, "{}", link.opened.len());
}

#[test]
fn without_reports_each_eighth_message_has_a_whole_tag() {
    let mut link = Link::new(Hint::Octet, Parameters::new(Hint::Octet));
    link.slot(Protection::Short);
    link.slot(Protection::Short);
    let kinds: Vec<_> = (0..200).map(|_| link.seal(Protection::Short)).collect();
    let whole: Vec<u32> =
        kinds.iter().filter(|frame| frame.0.0 == wattlock_tally::Kind::Whole).map(|frame| frame.0.1).collect();
    assert_eq!(whole, (72..202).step_by(8).collect::<Vec<u32>>());
    // After an outage of more counters than the hint tells apart, a whole tag brings the gateway back.
    let outage = kinds.last().map(|frame| frame.0.1).unwrap();
    for _ in 0..8 {
        let frame = link.seal(Protection::Short);
        let _ = link.up(&frame);
    }
    assert!(link.opened.iter().any(|counter| *counter > outage));
}

#[test]
fn a_short_tag_far_ahead_is_refused_and_a_whole_one_is_not() {
    let mut link = Link::new(Hint::None, Parameters::new(Hint::None));
    link.slot(Protection::Short);
    link.slot(Protection::Short);
    let frames: Vec<Frame> = (0..64).map(|_| link.seal(Protection::Short)).collect();
    let whole = link.seal(Protection::Whole);
    let told = (wattlock_tally::Kind::Short, u32::MAX - 1);
    assert_eq!(link.gateway.hear(&[0; 12], Some(told)), Err(Error::Unexpected));
    assert_eq!(link.up(&frames[0]), Ok(()));
    let (next, beyond) = (link.gateway.window().next, link.gateway.window().next + 64);
    assert_eq!((next, whole.0.1), (3, 66));
    assert_eq!(link.gateway.hear(&[0; 12], Some((wattlock_tally::Kind::Short, beyond))), Err(Error::Unexpected));
    assert_eq!(link.gateway.hear(&[0; 12], Some((wattlock_tally::Kind::Short, beyond - 1))), Err(Error::Tag));
    assert_eq!(link.up(&whole), Ok(()));
}

#[test]
fn the_sensors_end_takes_at_most_1536_octets() {
    assert!(size_of::<Sensor>() <= 1536, "{}", size_of::<Sensor>());
    assert!(size_of::<Gateway>() <= 9000, "{}", size_of::<Gateway>());
}

#[test]
fn a_record_too_short_for_its_tag_counts_nowhere() {
    for hint in [Hint::Octet, Hint::None] {
        let mut link = Link::new(hint, Parameters::new(hint));
        let told = |link: &Link| (wattlock_tally::Kind::Short, link.sensor.counter());
        let short = |link: &mut Link| {
            let frame = if hint == Hint::Octet { vec![0; 4] } else { vec![0; 3] };
            let told = told(link);
            (0..4).for_each(|_| assert_eq!(link.up(&(told, frame.clone())), Err(Error::Length)));
        };
        // Below a new root, where short tags are refused, and with a spent budget.
        short(&mut link);
        link.slot(Protection::Short);
        short(&mut link);
        assert_eq!(link.speak().map(|frame| frame.len()), Some(wattlock_tally::REPORT_B), "no rescue is asked for");
        (0..4).for_each(|_| link.slot(Protection::Short));
        while !link.gateway.is_spent() {
            let next = told(&link);
            let noise = if hint == Hint::Octet { vec![u8::try_from(next.1).unwrap(); 13] } else { vec![5; 13] };
            assert_eq!(link.up(&(next, noise)), Err(Error::Tag));
            let frame = link.seal(Protection::Whole);
            link.up(&frame).unwrap();
        }
        short(&mut link);
        assert_eq!(link.speak().map(|frame| frame.len()), Some(wattlock_tally::REPORT_B), "no rescue is asked for");
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let parameters = Parameters::new(Hint::Octet);
    assert_eq!(parameters.short_tag(3).err(), Some(Error::Parameter));
    assert_eq!(parameters.short_tag(9).err(), Some(Error::Parameter));
    assert_eq!(parameters.budget(0).err(), Some(Error::Parameter));
    assert_eq!(parameters.verified_at(96).err(), Some(Error::Parameter));
    assert_eq!(parameters.report_every(33).err(), Some(Error::Parameter));
}
