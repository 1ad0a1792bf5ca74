//! Two ends over a link that loses each seventh frame: what 200 messages cost in octets, and how many are verified.
#![allow(non_snake_case)]

use wattlock_tally::{Answered, Error, Gateway, Hint, Pair, Parameters, Protection, Resuming, Sensor};

const PAYLOAD: &[u8; 16] = b"21.5 degrees, ok";
const MESSAGES: u32 = 200;

fn main() -> Result<(), Error> {
    let pair = Pair { secret: [7; 32], link: *b"roof" };
    let (resuming, opening) = Resuming::begin(pair.clone(), [1; 8].into());
    let (root, flight) = Answered::default().answer(&pair, &opening, [2; 8].into())?;
    let parameters = Parameters::new(Hint::Octet);
    let mut gateway: Gateway = Gateway::new(root, parameters);
    let mut sensor = Sensor::new(resuming.finish(&flight)?, parameters);

    let (mut added_B, mut down_B, mut delivered, mut verified) = (0, 0, 0, 0);
    let mut frame = [0; 64];
    for number in 0..MESSAGES {
        let sealed = sensor.seal(PAYLOAD, Protection::Short, &mut frame)?;
        added_B += sealed.length_B - PAYLOAD.len();
        if number % 7 == 6 {
            continue;
        }
        gateway.hear(&frame[..sealed.length_B], None)?;
        delivered += 1;
        while gateway.receive().is_some() {
            verified += 1;
        }
        if let Some(length_B) = gateway.speak(&mut frame)? {
            down_B += length_B;
            if number % 7 != 3 {
                sensor.hear(&frame[..length_B])?;
            }
        }
    }
    println!("{MESSAGES} messages of {} octets: {added_B} octets added up, {down_B} sent down", PAYLOAD.len());
    println!("{delivered} delivered, {verified} of them verified, {} still provisional", gateway.provisional().count());
    Ok(())
}
