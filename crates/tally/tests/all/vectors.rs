//! The test vectors of `docs/tally.md`: one session, frame by frame.

use std::fmt::Write;

use wattlock_tally::{Gateway, Hint, Pair, Parameters, Protection, Resuming, Sensor, answer};

const VECTORS: &str = include_str!("../../vectors/tally1.txt");

fn line(text: &mut String, word: &str, octets: &[u8]) {
    let hex: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    writeln!(text, "{word} {hex}").unwrap();
}

/// The session: 14 messages with a report in 4, four frames of noise, the rescue that they cause, 6 messages more.
fn session() -> String {
    let mut text = String::new();
    let pair = Pair { secret: core::array::from_fn(|place| u8::try_from(place).unwrap()), link: *b"roof" };
    let (resuming, opening) = Resuming::begin(pair.clone(), [1; 8]);
    let (root, flight) = answer(&pair, &opening, [2; 8]).unwrap();
    line(&mut text, "opening", &opening);
    line(&mut text, "answer", &flight);
    let parameters = Parameters::new(Hint::Octet).report_every(4).unwrap();
    let mut gateway: Gateway = Gateway::new(root, parameters);
    let mut sensor = Sensor::new(resuming.finish(&flight).unwrap(), parameters);
    let mut frame = [0; 64];
    for number in 0..20_u8 {
        if number == 14 {
            for _ in 0..4 {
                assert!(gateway.hear(&[14; 9], None).is_err());
            }
            let length_B = gateway.speak(&mut frame).unwrap().unwrap();
            line(&mut text, "down", &frame[..length_B]);
            sensor.hear(&frame[..length_B]).unwrap();
            let length_B = sensor.rescue(&mut frame).unwrap().unwrap();
            line(&mut text, "rescue", &frame[..length_B]);
            gateway.hear(&frame[..length_B], None).unwrap();
        }
        let protection = if number == 7 { Protection::Whole } else { Protection::Short };
        let sealed = sensor.seal(&[0x21, 0x05, number], protection, &mut frame).unwrap();
        line(&mut text, "up", &frame[..sealed.length_B]);
        gateway.hear(&frame[..sealed.length_B], None).unwrap();
        while let Some(message) = gateway.receive() {
            writeln!(text, "verified {} {}", message.counter(), message.bits).unwrap();
        }
        if let Some(length_B) = gateway.speak(&mut frame).unwrap() {
            line(&mut text, "down", &frame[..length_B]);
            sensor.hear(&frame[..length_B]).unwrap();
        }
    }
    text
}

#[test]
fn a_session_is_frame_by_frame_what_the_vectors_say() {
    let vectors: String =
        VECTORS.lines().filter(|line| !line.starts_with('#')).fold(String::new(), |text, line| text + line + "\n");
    assert_eq!(session(), vectors);
}
