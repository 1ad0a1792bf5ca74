//! One part of the link with secrets that memcheck holds for undefined: `valgrind poisoned PART` reports each branch and
//! each address that depends on one. `tests/all/poisoned.rs` runs all parts; those that begin with `control` are wrong on purpose.
#![allow(non_snake_case)]

#[cfg(target_arch = "x86_64")]
use std::arch::asm;
use std::hint::black_box;
use std::process::ExitCode;

use wattlock_tally::{
    Answered, Error, Gateway, Handshake, Hint, Kind, Pair, Parameters, Protection, Resuming, Sensor, SensorHeard,
    tell_disclosed,
};

const RUNNING_ON_VALGRIND: u64 = 0x1001;
// 'M', 'C' in the two highest octets: a request to memcheck (valgrind/memcheck.h).
const MAKE_UNDEFINED: u64 = 0x4d43_0001;
const MAKE_DEFINED: u64 = 0x4d43_0002;

/// Asks valgrind, which knows these instructions (valgrind.h); elsewhere they do nothing and the answer is 0.
fn request(number: u64, octets: &[u8]) -> u64 {
    let question = [number, octets.as_ptr() as u64, octets.len() as u64, 0, 0, 0];
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "nobody answers"))]
    let mut said = 0_u64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the four rotations add up to 128 bits and the exchange is of a register with itself; no memory is changed.
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") question.as_ptr(), inout("rdx") said,
        );
    }
    said
}

/// These octets, as a secret.
fn secret<const N: usize>(octets: [u8; N]) -> [u8; N] {
    let octets = black_box(octets);
    request(MAKE_UNDEFINED, &octets);
    octets
}

/// Says that these octets are sent, or otherwise known to all.
fn public(octets: &mut [u8]) {
    request(MAKE_DEFINED, octets);
}

fn pair() -> Pair {
    Pair { secret: secret([7; 32]), link: *b"door" }
}

/// Both ends, by a resumption: the tags of its flights, a refused answer, and all keys of a root and a generation.
fn ends(hint: Hint) -> Result<(Sensor, Gateway), Error> {
    let parameters = Parameters::new(hint).report_every(4)?;
    let pair = pair();
    let (resuming, mut opening) = Resuming::begin(pair.clone(), [1; 8].into());
    public(&mut opening);
    let (root, mut flight) = Answered::default().answer(&pair, &opening, [2; 8].into())?;
    public(&mut flight);
    let mut changed = flight;
    changed[15] ^= 1;
    assert_eq!(resuming.finish(&changed).err(), Some(Error::Tag));
    Ok((Sensor::new(resuming.finish(&flight)?, parameters), Gateway::new(root, parameters)))
}

/// The keys of a root and of a generation, hints, and records of all lengths with whole tags.
fn seal_frames() -> Result<(), Error> {
    let mut frame = [0; 64];
    for hint in [Hint::None, Hint::Octet, Hint::Pair] {
        let (mut sensor, _) = ends(hint)?;
        for length_B in [0, 1, 15, 16, 17, 40] {
            let sealed = sensor.seal(&secret([5; 40])[..length_B], Protection::Short, &mut frame)?;
            public(&mut frame[..sealed.length_B]);
        }
    }
    Ok(())
}

/// A link with lost, changed and repeated records, reports, a spent budget and a rescue: short and whole keys of many generations.
fn hear_frames() -> Result<(), Error> {
    for hint in [Hint::None, Hint::Octet, Hint::Pair] {
        let (mut sensor, mut gateway) = ends(hint)?;
        let (mut short, mut refused, mut verified, mut rescued) = (0, 0, 0, 0);
        for number in 0..100_usize {
            let mut frame = [0; 64];
            if let Some(rescue) = sensor.rescue_due() {
                let length_B = sensor.rescue(&mut frame)?.unwrap_or_default();
                public(&mut frame[..length_B]);
                gateway.hear(&frame[..length_B], Some((Kind::Rescue, rescue)))?;
                rescued += 1;
            }
            let protection = if number % 30 == 29 { Protection::Whole } else { Protection::Short };
            let sealed = sensor.seal(&secret([5; 40])[..number % 41], protection, &mut frame)?;
            let (record, told) = (&mut frame[..sealed.length_B], Some((sealed.kind, sealed.counter)));
            public(record);
            short += usize::from(sealed.kind == Kind::Short);
            // Changed records: a few, as many as bring a rescue, and as many as spend the budget.
            let changed = [0, 2, 0, 5, 0, 0, 17][number / 5 % 7];
            for _ in 0..usize::from(number % 5 == 2) * changed {
                record[sealed.length_B - 1] ^= 1;
                refused += usize::from(gateway.hear(record, told).is_err());
                record[sealed.length_B - 1] ^= 1;
            }
            if number % 11 != 7 {
                refused += usize::from(gateway.hear(record, told).is_err());
                refused += usize::from(gateway.hear(record, told).is_err());
            }
            while gateway.receive().is_some() {
                verified += 1;
            }
            while gateway.lost().is_some() {}
            if let Some(length_B) = gateway.speak(&mut frame)? {
                public(&mut frame[..length_B]);
                frame[length_B - 1] ^= 1;
                assert!(sensor.hear(&frame[..length_B]).is_err());
                frame[length_B - 1] ^= 1;
                let heard = sensor.hear(&frame[..length_B]);
                assert!(number > 0 || heard == Ok(SensorHeard::NextGeneration));
            }
        }
        let reached = (short > 40, refused > 60, verified > 40, rescued > 0, sensor.generation() > 10);
        assert_eq!(reached, (true, true, true, true, true), "{short} {refused} {verified} {rescued}");
    }
    Ok(())
}

/// The first flight of a handshake: its keys, and the exchange's public key. Those of a resumption are in [`ends`].
fn begin() -> Result<(), Error> {
    ends(Hint::None)?;
    let (_, mut flight) = Handshake::begin(&pair(), secret([4; 32]))?;
    public(&mut flight);
    Ok(())
}

/// A comparison that ends at the first difference.
fn compare_early() -> Result<(), Error> {
    for octet in secret([1; 16]) {
        if black_box(octet) != 1 {
            return Err(Error::Tag);
        }
    }
    Ok(())
}

/// A frame that nobody declared public: that it is reported shows that the secret reaches it.
fn read_sealed() -> Result<(), Error> {
    let mut frame = [0; 64];
    ends(Hint::None)?.0.seal(&[5; 16], Protection::Short, &mut frame)?;
    look_up(frame[0]);
    Ok(())
}

/// A table, looked up by what may be a secret.
fn look_up(place: u8) {
    let table = black_box([0_u8; 256]);
    black_box(table[usize::from(place)]);
}

fn main() -> ExitCode {
    if request(RUNNING_ON_VALGRIND, &[]) == 0 {
        eprintln!("error: not under valgrind, so nothing is watched\nhint: valgrind --error-exitcode=9 {}", file!());
        return ExitCode::from(2);
    }
    let part = std::env::args().nth(1);
    // Whether a tag was right, and what a report lists, everybody learns.
    if part.as_deref() != Some("control-hearing") {
        tell_disclosed(public);
    }
    let done = match part.as_deref() {
        Some("sealing") => seal_frames(),
        Some("hearing" | "control-hearing") => hear_frames(),
        Some("flights") => begin(),
        Some("control-compare") => compare_early(),
        Some("control-sealed") => read_sealed(),
        Some("control-address") => {
            look_up(secret([6])[0]);
            Ok(())
        }
        _ => Err(Error::Parameter),
    };
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) }
}
