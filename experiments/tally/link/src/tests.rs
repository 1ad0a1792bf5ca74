//! Forgeries by guessing, counted with tags so short that some succeed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::vec::Vec;

use crate::record::{head, nonce};
use crate::sealing::seal;
use crate::{
    Answered, Error, Fate, Gateway, Hint, Kind, Pair, Parameters, Protection, Resuming, Root, Sensor, SensorHeard,
    Standing,
};

mod chances;

fn ends<const HELD: usize, const PAYLOAD_B: usize>(parameters: Parameters) -> (Sensor, Gateway<HELD, PAYLOAD_B>) {
    let pair = Pair { secret: [0x21; 32], link: *b"test" };
    let (resuming, opening) = Resuming::begin(pair.clone(), [1; 8].into());
    let (root, flight) = Answered::default().answer(&pair, &opening, [2; 8].into()).unwrap();
    (Sensor::new(resuming.finish(&flight).unwrap(), parameters), Gateway::new(root, parameters))
}

/// Guesses from a fixed seed (xorshift64*), so that a failure repeats.
struct Guesses(u64);

impl Guesses {
    fn octets<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            self.0.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes()[0]
        })
    }
}

/// A record of two octets with a guessed tag of `bits`, below 9.
fn guessed(guesses: &mut Guesses, bits: u8) -> [u8; 3] {
    let mut frame: [u8; 3] = guesses.octets();
    frame[2] &= !(0xff_u8.checked_shr(u32::from(bits)).unwrap_or(0));
    frame
}

/// The logarithm of a factorial, by Stirling's series above 20.
fn ln_factorial(number: u32) -> f64 {
    let n = f64::from(number);
    if number <= 20 {
        return (1..=number).map(|factor| f64::from(factor).ln()).sum();
    }
    (n + 0.5) * n.ln() - n + 0.5 * (2.0 * core::f64::consts::PI).ln() + 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3))
}

/// The probability of exactly so many successes in so many tries.
fn binomial(tries: u32, successes: u32, chance: f64) -> f64 {
    let ways = ln_factorial(tries) - ln_factorial(successes) - ln_factorial(tries - successes);
    (ways + f64::from(successes) * chance.ln() + f64::from(tries - successes) * (-chance).ln_1p()).exp()
}

/// The probability of at least so many successes, and of at most so many.
fn tails(tries: u32, successes: u32, chance: f64) -> (f64, f64) {
    let expected = f64::from(tries) * chance;
    let reach = 60.0 + 12.0 * expected.sqrt();
    let near = |number: &u32| (f64::from(*number) - expected).abs() < reach;
    let most: f64 = (0..=successes).rev().filter(near).map(|number| binomial(tries, number, chance)).sum();
    let least: f64 = (successes..=tries).filter(near).map(|number| binomial(tries, number, chance)).sum();
    (least, most)
}

/// The probability of one side beyond 3.5 standard deviations of a normal distribution.
const BEYOND: f64 = 2.326e-4;

#[test]
fn the_tails_are_those_of_the_binomial_distribution() {
    // 10 tries at a half: 11 and 1013 of 1024; 30 at a tenth: at least 4 with 0.352560.
    let (least, most) = tails(10, 9, 0.5);
    assert!((least - 11.0 / 1024.0).abs() < 1e-9 && (most - 1023.0 / 1024.0).abs() < 1e-9, "{least} {most}");
    let (least, _) = tails(30, 4, 0.1);
    assert!((least - 0.352_560).abs() < 1e-6, "{least}");
}

/// What a link under attack did.
#[derive(Debug, Clone, Copy)]
struct Attacked {
    accepted: u32,
    verified: u32,
    genuine: u32,
}

/// An attack on tags of so many bits: so many guesses a slot, just before the genuine message.
#[derive(Clone, Copy)]
struct Attack {
    bits: u8,
    budget: u32,
    acceptances: u32,
    guesses_a_slot: u32,
}

fn attacked(attack: Attack, slots: u32) -> Attacked {
    let Attack { bits, budget, acceptances, guesses_a_slot } = attack;
    let parameters = Parameters::for_statistics(Hint::None, bits, budget, acceptances, 8);
    let (mut sensor, mut gateway): (Sensor, Gateway) = ends(parameters);
    let mut guesses = Guesses(0xacc0 + u64::from(bits));
    let (mut forged, mut forged_verified, mut genuine_verified) = (0, 0, 0);
    let mut frame = [0; 64];
    for _ in 0..slots {
        let counter = sensor.counter();
        for ahead in 0..guesses_a_slot {
            let told = Some((Kind::Short, counter + ahead % 4));
            forged += u32::from(gateway.hear(&guessed(&mut guesses, bits), told).is_ok());
        }
        if let Some(number) = sensor.rescue_due() {
            let length_B = sensor.rescue(&mut frame).unwrap().unwrap();
            let _ = gateway.hear(&frame[..length_B], Some((Kind::Rescue, number)));
        }
        let sealed = sensor.seal(b"a genuine message", Protection::Short, &mut frame).unwrap();
        let _ = gateway.hear(&frame[..sealed.length_B], Some((sealed.kind, sealed.counter)));
        while let Some(message) = gateway.receive() {
            if message.payload() == b"a genuine message" {
                genuine_verified += 1;
            } else {
                forged_verified += 1;
            }
        }
        while gateway.lost().is_some() {}
        if let Some(length_B) = gateway.speak(&mut frame).unwrap() {
            let _ = sensor.hear(&frame[..length_B]);
        }
    }
    Attacked { accepted: forged, verified: forged_verified, genuine: genuine_verified }
}

/// Whether no more forgeries are verified than one in (2 (f + 1) 2^-t)^n of those accepted, by the binomial distribution.
fn verified_no_more_often_than_claimed(attack: Attack, slots: u32) -> Attacked {
    let attacked = attacked(attack, slots);
    let tries = f64::from(2 * (attack.budget + 1));
    let step = (tries * 0.5_f64.powi(i32::from(attack.bits))).min(1.0);
    let chance = step.powi(i32::try_from(attack.acceptances).unwrap());
    let Attack { bits, acceptances, guesses_a_slot, .. } = attack;
    std::println!(
        "{bits} bits, {guesses_a_slot} guesses a slot, n = {acceptances}: {attacked:?}, claimed {chance:.2e} of them"
    );
    let (least, _) = tails(attacked.accepted, attacked.verified, chance.min(1.0 - 1e-12));
    assert!(least > BEYOND, "{attacked:?}, chance {chance}");
    attacked
}

#[test]
fn a_forgery_that_was_accepted_is_verified_no_more_often_than_claimed() {
    for acceptances in [1, 2, 4] {
        let attack = Attack { bits: 8, budget: 16, acceptances, guesses_a_slot: 1 };
        let attacked = verified_no_more_often_than_claimed(attack, 60_000);
        assert!(attacked.accepted >= 100 && attacked.genuine > 40_000, "{attacked:?}");
    }
}

#[test]
fn a_report_that_lists_a_message_never_sent_proves_a_forgery_and_the_rescue_refutes_it() {
    let parameters = Parameters::for_statistics(Hint::None, 8, 10_000, 4, 4);
    let (mut sensor, mut gateway): (Sensor, Gateway) = ends(parameters);
    let mut frame = [0; 64];
    let mut say = |sensor: &mut Sensor, gateway: &mut Gateway| {
        let sealed = sensor.seal(b"genuine", Protection::Short, &mut frame).unwrap();
        let _ = gateway.hear(&frame[..sealed.length_B], Some((sealed.kind, sealed.counter)));
        gateway.speak(&mut frame).unwrap().and_then(|length_B| sensor.hear(&frame[..length_B]).ok())
    };
    say(&mut sensor, &mut gateway);
    let never_sent = 9;
    let mut guesses = Guesses(1);
    while gateway.hear(&guessed(&mut guesses, 8), Some((Kind::Short, never_sent))).is_err() {}
    let heard: Vec<SensorHeard> = (0..4).filter_map(|_| say(&mut sensor, &mut gateway)).collect();
    assert_eq!(heard, [SensorHeard::ForgeryProven]);
    let number = sensor.rescue_due().unwrap();
    let mut frame = [0; 64];
    let length_B = sensor.rescue(&mut frame).unwrap().unwrap();
    gateway.hear(&frame[..length_B], Some((Kind::Rescue, number))).unwrap();
    // Both ends shared the keys in use: only the report was wrong, so its other messages go into the next one.
    assert_eq!(gateway.lost(), Some((never_sent, Fate::Refuted)));
    assert_eq!(gateway.provisional().count(), 3);
    assert!(gateway.standings().all(|(counter, standing)| counter == 0 || standing == Standing::Unreported));
}

#[test]
fn no_short_tag_opens_with_the_keys_that_a_root_begins_with() {
    let parameters = Parameters::new(Hint::None);
    let (mut sensor, mut gateway): (Sensor, Gateway) = ends(parameters);
    let mut frame = [0; 64];
    let sealed = sensor.seal(b"first", Protection::Whole, &mut frame).unwrap();
    gateway.hear(&frame[..sealed.length_B], Some((sealed.kind, sealed.counter))).unwrap();
    gateway.speak(&mut frame).unwrap().unwrap();
    let pair = Pair { secret: [0x21; 32], link: *b"test" };
    let first = Root::new(&pair, [1; 8], [2; 8]).first(32);
    let mut body = *b"lucky";
    let tag = seal(&first.short, &nonce(0, 1), &[], &mut body);
    let forged = [&body[..], &tag.octets()[..4]].concat();
    assert_eq!(gateway.hear(&forged, Some((Kind::Short, 1))), Err(Error::Tag));
}

/// A link on which a forgery was accepted so many counters ahead: what it cost.
#[derive(Debug, Default)]
struct Leap {
    refused: usize,
    rescues: usize,
    verified: Vec<u32>,
}

fn leap(ahead: u32) -> Leap {
    let parameters = Parameters::for_statistics(Hint::Octet, 8, 10_000, 4, 4);
    let (mut sensor, mut gateway): (Sensor, Gateway) = ends(parameters);
    let (mut frame, mut guesses, mut leap) = ([0; 64], Guesses(u64::from(ahead)), Leap::default());
    for slot in 0..150 {
        if slot == 6 {
            let counter = gateway.window().next + ahead;
            while gateway.hear(&[&[head(0, counter)][..], &guesses.octets::<2>()].concat(), None).is_err() {}
            assert_eq!(gateway.window().next, counter + 1);
        }
        if let Some(length_B) = sensor.rescue(&mut frame).unwrap() {
            leap.rescues += 1;
            let _ = gateway.hear(&frame[..length_B], None);
        }
        let sealed = sensor.seal(b"genuine", Protection::Short, &mut frame).unwrap();
        leap.refused += usize::from(gateway.hear(&frame[..sealed.length_B], None).is_err());
        while let Some(message) = gateway.receive() {
            assert_eq!(message.payload(), b"genuine");
            leap.verified.push(message.counter());
        }
        while gateway.lost().is_some() {}
        if let Some(length_B) = gateway.speak(&mut frame).unwrap() {
            let _ = sensor.hear(&frame[..length_B]);
        }
    }
    leap
}

#[test]
fn a_forgery_ahead_of_the_counters_costs_a_rescue_and_none_of_the_messages_behind_it() {
    for ahead in [12, 20, 31] {
        let leap = leap(ahead);
        assert!(leap.refused <= 4 && leap.rescues == 1, "{ahead} ahead: {leap:?}");
        assert!((12..140).all(|counter| leap.verified.contains(&counter)), "{ahead} ahead: {leap:?}");
    }
}
