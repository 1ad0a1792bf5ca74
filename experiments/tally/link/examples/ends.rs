//! Two ends driven by lines of standard input, so that another implementation can be compared state by state.
//!
//! `ends HINT_B MESSAGES TAG_B FAILURES BITS SENSOR GATEWAY` makes them: octets of hint, messages a report, octets of a short tag, the budget of failures,
//! the bits of a verified message, the octet that fills each nonce.
//! Then a line a step, and a line of answer to each: `seal 0|1 HEX` (a payload, 1 with a whole tag), `rescue`, `up KIND NUMBER HEX`, `speak`, `down HEX`, `state`,
//! `opening HEX HEX` (as a gateway hears it, and the nonce that a new root gets), `confirmed` (the newest root).
//! An answer is what was made in hexadecimal, `-` for nothing, or the word of what happened.
#![allow(non_snake_case)]

use std::fmt::Write;
use std::io::{self, BufRead, Write as _};

use wattlock_tally::{
    Answered, Fate, Gateway, Hint, Kind, NONCE_B, Pair, Parameters, Protection, Resuming, Sensor, Standing,
};

struct Ends {
    sensor: Sensor,
    gateway: Gateway,
    received: String,
    answered: Answered,
}

fn pair() -> Pair {
    Pair { secret: [0x21; 32], link: *b"test" }
}

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::from("="), |mut text, octet| {
        let _ = write!(text, "{octet:02x}");
        text
    })
}

fn octets(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.strip_prefix('=')?;
    (0..digits.len()).step_by(2).map(|place| u8::from_str_radix(digits.get(place..place + 2)?, 16).ok()).collect()
}

fn ends(words: &[&str]) -> Option<Ends> {
    let hint = match *words.first()? {
        "0" => Hint::None,
        "1" => Hint::Octet,
        _ => Hint::Pair,
    };
    let number = |place: usize| words.get(place)?.parse::<u32>().ok();
    let parameters = Parameters::new(hint).report_every(number(1)?).ok()?;
    let parameters = parameters.short_tag(words.get(2)?.parse().ok()?).ok()?.budget(number(3)?).ok()?;
    let parameters = parameters.verified_at(number(4)?).ok()?;
    let pair = pair();
    let (resuming, opening) = Resuming::begin(pair.clone(), [words.get(5)?.parse().ok()?; 8].into());
    let (root, flight) = Answered::default().answer(&pair, &opening, [words.get(6)?.parse().ok()?; 8].into()).ok()?;
    let sensor = Sensor::new(resuming.finish(&flight).ok()?, parameters);
    Some(Ends {
        sensor,
        gateway: Gateway::new(root, parameters),
        received: String::new(),
        answered: Answered::default(),
    })
}

impl Ends {
    fn step(&mut self, words: &[&str]) -> Option<String> {
        let mut frame = [0; 256];
        let made =
            |frame: &[u8], length_B: Option<usize>| length_B.map_or("-".into(), |length_B| hex(&frame[..length_B]));
        Some(match words {
            ["seal", whole, payload] => {
                let protection = if *whole == "1" { Protection::Whole } else { Protection::Short };
                let sealed = self.sensor.seal(&octets(payload)?, protection, &mut frame).ok()?;
                format!("{} {}", sealed.kind as u8, hex(&frame[..sealed.length_B]))
            }
            ["rescue"] => {
                let length_B = self.sensor.rescue(&mut frame).ok()?;
                made(&frame, length_B)
            }
            ["up", kind, number, record] => {
                let kind = [Kind::Short, Kind::Whole, Kind::Rescue].into_iter().nth(kind.parse().ok()?)?;
                match self.gateway.hear(&octets(record)?, Some((kind, number.parse().ok()?))) {
                    Ok(heard) => format!("{} {}", heard.kind as u8, heard.counter),
                    Err(_) => "refused".into(),
                }
            }
            ["speak"] => {
                let length_B = self.gateway.speak(&mut frame).ok()?;
                made(&frame, length_B)
            }
            ["down", record] => {
                self.sensor.hear(&octets(record)?).map_or("refused".into(), |heard| format!("{heard:?}"))
            }
            ["opening", opening, nonce] => self.opening(&octets(opening)?, *octets(nonce)?.first_chunk()?),
            ["confirmed"] => {
                self.answered.confirm();
                "confirmed".into()
            }
            ["state"] => self.state(),
            _ => return None,
        })
    }

    fn opening(&mut self, opening: &[u8], nonce: [u8; NONCE_B]) -> String {
        let pair = pair();
        match self.answered.due(&pair, opening) {
            Ok(Some(answer)) => format!("again {}", hex(&answer)),
            Ok(None) => self
                .answered
                .answer(&pair, opening, nonce.into())
                .map_or("refused".into(), |(_, answer)| format!("new {}", hex(&answer))),
            Err(_) => "refused".into(),
        }
    }

    /// Generations, the expected counter, and what stands where; what is settled since the last state is taken.
    fn state(&mut self) -> String {
        let mut held: Vec<(u32, String)> = Vec::new();
        while let Some(message) = self.gateway.receive() {
            held.push((message.counter(), format!("verified.{}.{}", message.bits, hex(message.payload()))));
        }
        while let Some((counter, fate)) = self.gateway.lost() {
            let word = match fate {
                Fate::Doubted => "doubted",
                Fate::Refuted => "refuted",
                Fate::Expired => "expired",
            };
            held.push((counter, word.into()));
        }
        for (counter, standing) in self.gateway.standings() {
            let word = match standing {
                Standing::Unreported => "unreported".into(),
                Standing::Frozen => "frozen".into(),
                Standing::Attested { acceptances } => format!("attested.{acceptances}"),
                _ => continue,
            };
            held.push((counter, word));
        }
        held.sort();
        self.received.clear();
        for (counter, word) in held {
            let _ = write!(self.received, " {counter}:{word}");
        }
        let (sensor, gateway) = (&self.sensor, &self.gateway);
        let [resumes, spent] = [sensor.must_resume(), gateway.is_spent()].map(u8::from);
        let next = gateway.window().next;
        format!(
            "{} {} {resumes} {} {next} {spent}{}",
            sensor.generation(),
            sensor.counter(),
            gateway.generation(),
            self.received
        )
    }
}

fn main() -> io::Result<()> {
    let mut at_work: Option<Ends> = None;
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let said = match (words.first(), &mut at_work) {
            (Some(&"ends"), _) => {
                at_work = ends(&words[1..]);
                "ends".into()
            }
            (_, Some(ends)) => ends.step(&words).unwrap_or_else(|| "no such step".into()),
            (_, None) => "no ends".into(),
        };
        writeln!(output, "{said}")?;
        output.flush()?;
    }
    Ok(())
}
