//! Forgeries in a state whose chances are known exactly: no limit to guesses, and all reports jammed, so that two keys are
//! tried of each guess.
//!
//! With q = 2^-t a guess opens with the generation to come with q, otherwise with the one in use with q: 2q - q^2 together. A
//! frozen forgery is attested, and has its first acceptance, with the first guess that opens with the generation to come;
//! each guess that opens then with either key is one acceptance more.

use std::vec::Vec;

use super::{BEYOND, Guesses, ends, guessed, tails};
use crate::{Gateway, Hint, Kind, Parameters, Protection, Standing};

/// The gateway's code, with places for no more than a trial brings.
type Small = Gateway<48, 4>;

/// Trials of as many guesses as a tag has values.
struct Counted {
    guesses: u32,
    provisional: u32,
    trials: u32,
    verified: u32,
}

/// A gateway with a frozen forgery and two candidate keys, and the forgery's counter.
fn forged(parameters: Parameters, bits: u8, guesses: &mut Guesses) -> (Small, u32) {
    let (mut sensor, mut gateway) = ends::<48, 4>(parameters);
    let mut frame = [0; 64];
    for protection in [Protection::Whole, Protection::Short] {
        let sealed = sensor.seal(b"mine", protection, &mut frame).unwrap();
        gateway.hear(&frame[..sealed.length_B], Some((sealed.kind, sealed.counter))).unwrap();
        if protection == Protection::Whole {
            let report_B = gateway.speak(&mut frame).unwrap().unwrap();
            sensor.hear(&frame[..report_B]).unwrap();
        }
    }
    while gateway.receive().is_some() {}
    let counter = gateway.window().next;
    while gateway.hear(&guessed(guesses, bits), Some((Kind::Short, counter))).is_err() {}
    gateway.speak(&mut frame).unwrap().unwrap();
    assert!(gateway.standings().any(|held| held == (counter, Standing::Frozen)));
    (gateway, counter)
}

/// Trials of tags of so many bits with so many guesses in all, by a gateway that verifies after so many acceptances.
fn counted(bits: u8, acceptances: u32, guesses: u32) -> Counted {
    let parameters = Parameters::for_statistics(Hint::None, bits, u32::MAX / 4, acceptances, 1);
    let mut drawn = Guesses(0x7a11 + (u64::from(acceptances) << 8) + u64::from(bits));
    let (begin, forgery) = forged(parameters, bits, &mut drawn);
    let a_trial = 1 << bits;
    let (mut frame, mut provisional, mut verified) = ([0; 64], 0, 0);
    let mut gateway = begin.clone();
    for number in 0..guesses / a_trial * a_trial {
        if number % a_trial == 0 && gateway.window() != begin.window() {
            gateway = begin.clone();
        }
        let told = Some((Kind::Short, gateway.window().next));
        if gateway.hear(&guessed(&mut drawn, bits), told).is_err() {
            continue;
        }
        provisional += 1;
        while let Some(message) = gateway.receive() {
            verified += u32::from(message.counter() == forgery);
        }
        // The next report is frozen at once, and jammed.
        gateway.speak(&mut frame).unwrap().unwrap();
    }
    Counted { guesses: guesses / a_trial * a_trial, provisional, trials: guesses / a_trial, verified }
}

fn chance_of_a_guess(bits: u8) -> (f64, f64) {
    let one_key = 0.5_f64.powi(i32::from(bits));
    (one_key, one_key.mul_add(-one_key, 2.0 * one_key))
}

/// The chance that a trial verifies the forgery: that so many acceptances come in its guesses, the first by one key.
fn chance_of_a_trial(bits: u8, acceptances: u32) -> f64 {
    let (one_key, two_keys) = chance_of_a_guess(bits);
    let mut levels: Vec<f64> = std::vec![0.0; acceptances as usize + 1];
    levels[0] = 1.0;
    for _ in 0..1_u32 << bits {
        for level in (0..acceptances as usize).rev() {
            let risen = levels[level] * if level == 0 { one_key } else { two_keys };
            levels[level] -= risen;
            levels[level + 1] += risen;
        }
    }
    levels[acceptances as usize]
}

fn is_within(tries: u32, successes: u32, chance: f64) -> bool {
    let (least, most) = tails(tries, successes, chance);
    least.min(most) > BEYOND
}

/// Holds so many guesses a tag length and n against the exact chances; gateways that verify one acceptance early or late must not pass.
fn as_often_as_known(bits: u8, guesses: u32) {
    for acceptances in [1, 2, 4] {
        let (_, of_guess) = chance_of_a_guess(bits);
        let of_trial = chance_of_a_trial(bits, acceptances);
        let right = counted(bits, acceptances, guesses);
        let expected = [f64::from(right.guesses) * of_guess, f64::from(right.trials) * of_trial];
        std::println!(
            "{bits} bits, n = {acceptances}: {} of {} guesses released ({:.0} expected), {} of {} forgeries verified ({:.0})",
            right.provisional,
            right.guesses,
            expected[0],
            right.verified,
            right.trials,
            expected[1]
        );
        assert!(expected.iter().all(|expected| *expected >= 100.0), "{bits} {acceptances}: {expected:?}");
        assert!(is_within(right.guesses, right.provisional, of_guess), "{bits} {acceptances}: {}", right.provisional);
        assert!(is_within(right.trials, right.verified, of_trial), "{bits} {acceptances}: {}", right.verified);
        // With n = 1 there is no earlier one: the first acceptance is what attests.
        let earlier = (acceptances > 1).then(|| acceptances - 1);
        for other in earlier.into_iter().chain([acceptances + 1]) {
            let wrong = counted(bits, other, guesses);
            assert!(!is_within(wrong.trials, wrong.verified, of_trial), "{bits} bits: {other} for {acceptances}");
        }
    }
}

#[test]
fn a_forgery_is_released_and_verified_as_often_as_its_guesses_and_acceptances_say() {
    for (bits, guesses) in [(4, 30_000), (6, 100_000), (8, 320_000)] {
        as_often_as_known(bits, guesses);
    }
}

#[test]
// The same law at fewer guesses is the test above, which always runs; `.ci/run` runs this one as well.
#[ignore = "minutes in a debug build: cargo test -p wattlock-tally --release -- --ignored --nocapture"]
fn of_ten_million_guesses_a_length_forgeries_are_released_and_verified_as_often_as_they_say() {
    for bits in [4, 6, 8] {
        as_often_as_known(bits, 10_000_000 / 3);
    }
}
