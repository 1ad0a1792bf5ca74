//! One part of the link with secrets that memcheck holds for undefined: `valgrind poisoned PART` reports each branch and
//! each address that depends on one. `tests/all/poisoned.rs` runs all parts; those that begin with `control` are wrong on purpose.
#![allow(non_snake_case)]

#[cfg(target_arch = "x86_64")]
use std::arch::asm;
use std::hint::black_box;
use std::process::ExitCode;

use wattlock_tally::sealing::{KEY_B, Key, TAG_B, Tag, open, seal};
use wattlock_tally::{Error, Handshake, Hint, Pair, Parameters, Protection, Resuming, Root, Sensor};

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

/// Says that these octets are sent, or that a verdict is known to all.
fn public(octets: &[u8]) {
    request(MAKE_DEFINED, octets);
}

/// A verdict, which everybody learns from what is done next.
fn verdict(is_so: bool) -> bool {
    let octet = black_box([u8::from(is_so)]);
    public(&octet);
    octet[0] == 1
}

fn pair() -> Pair {
    Pair { secret: secret([7; 32]), link: *b"door" }
}

/// The keys of a root and of a generation, hints, and records of all lengths with short and whole tags.
fn seal_frames() -> Result<(), Error> {
    let mut frame = [0; 64];
    let root = Root::new(&pair(), [1; 8], [2; 8]);
    for hint in [Hint::None, Hint::Octet, Hint::Pair] {
        let mut sensor = Sensor::new(root.clone(), Parameters::new(hint));
        for length_B in [0, 1, 15, 16, 17, 40] {
            let sealed = sensor.seal(&secret([5; 40])[..length_B], Protection::Short, &mut frame)?;
            public(&frame[..sealed.length_B]);
        }
    }
    Ok(())
}

/// What opening computes of a record, and the comparison of its tag; the verdict itself is known to all.
fn open_and_compare() {
    let key = Key::new(secret([9; KEY_B]));
    for length_B in [0, 1, 15, 16, 17, 40] {
        let mut body = [5; 40];
        let tag = open(&key, &[0; 16], &[], &[5; 40][..length_B], &mut body[..length_B]);
        for bits in [4, 8, 32, 36, 64, 128] {
            assert!(!verdict(tag.begins_with(&[0; TAG_B][..usize::div_ceil(bits, 8)], bits)));
        }
        let mut again = black_box(body);
        let same = seal(&key, &[0; 16], &[], &mut again[..length_B]);
        assert!(verdict(same.begins_with(tag.octets(), 128)));
        black_box(tag.xor(&same));
    }
}

/// The first flights of a resumption and of a handshake: both ends' keys, and the exchange's public key.
fn begin() -> Result<(), Error> {
    let (_, opening) = Resuming::begin(pair(), [1; 8]);
    public(&opening);
    let (_, flight) = Handshake::begin(&pair(), secret([4; 32]))?;
    public(&flight);
    Ok(())
}

/// A comparison that ends at the first difference.
fn compare_early() -> Result<(), Error> {
    let tag = Tag::new(secret([1; TAG_B]));
    for (octet, sent) in tag.octets().iter().zip([1; TAG_B]) {
        if black_box(*octet) != sent {
            return Err(Error::Tag);
        }
    }
    Ok(())
}

/// A frame that nobody declared public: that it is reported shows that the secret reaches it.
fn read_sealed() -> Result<(), Error> {
    let mut frame = [0; 64];
    let mut sensor = Sensor::new(Root::new(&pair(), [1; 8], [2; 8]), Parameters::new(Hint::None));
    sensor.seal(&[5; 16], Protection::Short, &mut frame)?;
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
    let done = match std::env::args().nth(1).as_deref() {
        Some("sealing") => seal_frames(),
        Some("opening") => {
            open_and_compare();
            Ok(())
        }
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
