//! Key establishment and signatures: an operation made ready, carried out twice between the markers, and checked.
//!
//! Keys and messages are drawn from the seed. What must come out is what the other side has, or what the same operation
//! gives from the bytes of its keys, whose code was proven by published answers before.
#![forbid(unsafe_code)]

use core::hint::black_box;
use core::mem;

use wattlock_ciphers::establish::{Answer, Exchange, ExchangeVisitor, Given, Operation, answers, visit};
use wattlock_engine::SplitMix64;

use crate::board::{self, Memory};
use crate::counted;
use crate::outcome::{Done, Failed};
use crate::plan::Case;
use crate::trial::{self, BLANK, TIMES, draw};

/// What is signed: as long as a key or a hash.
const MESSAGE_B: usize = 32;
/// An id is not longer.
const MOST_ID_B: usize = 16;

/// Where cases of schemes are carried out.
#[derive(Default)]
pub struct Bench {
    /// The scheme that was proven last, by its id.
    proven: Id,
}

/// The id of a scheme, which a plan's line does not outlive.
#[derive(Default, PartialEq, Eq, Clone, Copy)]
struct Id([u8; MOST_ID_B]);

impl Id {
    fn of(scheme: &str) -> Self {
        let mut id = Self::default();
        id.0.iter_mut().zip(scheme.bytes()).for_each(|(place, byte)| *place = byte);
        id
    }
}

impl Bench {
    /// Carries out a case of a scheme.
    pub fn attempt(&mut self, case: &Case<'_>, operation: Operation, memory: &mut Memory) -> Result<Done, Failed> {
        let scheme = case.cipher;
        if self.proven != Id::of(scheme) {
            self.proven = Id::default();
            for answer in answers().filter(|answer| answer.scheme() == scheme) {
                prove(&answer, memory)?;
            }
            self.proven = Id::of(scheme);
        }
        let Memory { plain, sealed, .. } = memory;
        let mut room = Room(plain);
        let ready = Ready::of(scheme, operation, &mut trial::random_of(case), &mut room)?;
        visit(scheme, operation, Attempt { case, ready, room: Room(sealed) }).ok_or(Failed::NoSuchOperation)?
    }
}

/// Memory that is given away piece by piece.
struct Room<'m>(&'m mut [u8]);

impl<'m> Room<'m> {
    fn take(&mut self, size_B: usize) -> Result<&'m mut [u8], Failed> {
        let whole = mem::take(&mut self.0);
        let too_long = Failed::TooLong { given_B: size_B, most_B: whole.len() };
        let (piece, rest) = whole.split_at_mut_checked(size_B).ok_or(too_long)?;
        self.0 = rest;
        Ok(piece)
    }

    fn drawn(&mut self, size_B: usize, random: &mut SplitMix64) -> Result<&'m [u8], Failed> {
        let piece = self.take(size_B)?;
        draw(random, piece);
        Ok(piece)
    }
}

/// An operation from bytes to bytes.
struct FromBytes<'r, 'm, 'g> {
    given: Given<'g>,
    room: &'r mut Room<'m>,
}

impl<'m> ExchangeVisitor for FromBytes<'_, 'm, '_> {
    type Output = Result<[&'m [u8]; 2], Failed>;

    fn visit<E: Exchange + 'static>(self) -> Self::Output {
        let Self { given, room } = self;
        let [first_B, second_B] = E::MADE_B;
        let (first, second) = (room.take(first_B)?, room.take(second_B)?);
        E::carry_out(&E::load(&given)?, &given, [&mut *first, &mut *second])?;
        Ok([first, second])
    }
}

fn carry_out<'m>(
    scheme: &str,
    operation: Operation,
    given: Given<'_>,
    room: &mut Room<'m>,
) -> Result<[&'m [u8]; 2], Failed> {
    visit(scheme, operation, FromBytes { given, room }).ok_or(Failed::NoSuchOperation)?
}

/// How many bytes an operation draws.
struct Drawn;

impl ExchangeVisitor for Drawn {
    type Output = usize;

    fn visit<E: Exchange + 'static>(self) -> usize {
        E::DRAWN_B
    }
}

/// Holds a scheme's code against a published answer.
fn prove(answer: &Answer, memory: &mut Memory) -> Result<(), Failed> {
    let (source, operation) = (answer.source, answer.value("operation"));
    let wrong = || Failed::WrongAnswer { source, operation };
    let known = Operation::named(operation).ok_or_else(wrong)?;
    let Memory { plain, sealed, output, .. } = memory;
    let mut room = Room(plain);
    let mut octets = |name: &str| {
        let size_B = answer.value(name).len() / 2;
        let piece = room.take(size_B)?;
        answer.octets(name, piece).ok_or_else(wrong)
    };
    let (mut given, expected): (_, &[&str]) = match known {
        Operation::Generate => (Given { drawn: octets("drawn")?, ..Given::default() }, &["public", "secret"]),
        Operation::Agree => {
            (Given { secret: octets("secret")?, public: octets("public")?, ..Given::default() }, &["shared"])
        }
        Operation::Sign => (Given { secret: octets("secret")?, ..Given::default() }, &["sent"]),
        Operation::Verify => (Given { public: octets("public")?, sent: octets("sent")?, ..Given::default() }, &[]),
        Operation::Encapsulate => {
            (Given { public: octets("public")?, drawn: octets("drawn")?, ..Given::default() }, &["sent", "shared"])
        }
        Operation::Decapsulate => {
            (Given { secret: octets("secret")?, sent: octets("sent")?, ..Given::default() }, &["shared"])
        }
    };
    if matches!(known, Operation::Sign | Operation::Verify) {
        given.message = octets("message")?;
    }
    let made = carry_out(answer.scheme(), known, given, &mut Room(output));
    match (answer.is_refused(), made) {
        (true, Err(Failed::RefusesExchange(_))) => Ok(()),
        (true, _) => Err(wrong()),
        (false, made) => {
            let is_right = made?.iter().zip(expected).all(|(made, name)| {
                // A key pair is published by its public key alone where the secret is what it was made of.
                let right = answer.octets(name, &mut *sealed);
                answer.value(name).is_empty() || right == Some(*made)
            });
            if is_right { Ok(()) } else { Err(wrong()) }
        }
    }
}

/// What goes into a case, and what must come out.
struct Ready<'m> {
    given: Given<'m>,
    right: [&'m [u8]; 2],
}

impl<'m> Ready<'m> {
    fn of(scheme: &str, operation: Operation, random: &mut SplitMix64, room: &mut Room<'m>) -> Result<Self, Failed> {
        let draw = |operation, random: &mut SplitMix64, room: &mut Room<'m>| {
            let size_B = visit(scheme, operation, Drawn).ok_or(Failed::NoSuchOperation)?;
            room.drawn(size_B, random)
        };
        let made = |operation, given, room: &mut Room<'m>| carry_out(scheme, operation, given, room);
        let none = Given::default();
        let seed = draw(Operation::Generate, random, room)?;
        let [public, secret] = made(Operation::Generate, Given { drawn: seed, ..none }, room)?;
        let message = room.drawn(MESSAGE_B, random)?;
        Ok(match operation {
            Operation::Generate => Self { given: Given { drawn: seed, ..none }, right: [public, secret] },
            Operation::Agree => {
                let drawn = draw(Operation::Generate, random, room)?;
                let [peer, peers_secret] = made(Operation::Generate, Given { drawn, ..none }, room)?;
                let right = made(Operation::Agree, Given { secret: peers_secret, public, ..none }, room)?;
                Self { given: Given { secret, public: peer, ..none }, right }
            }
            Operation::Sign | Operation::Verify => {
                let right = made(Operation::Sign, Given { secret, message, ..none }, room)?;
                let signed = Given { public, message, sent: right[0], ..none };
                made(Operation::Verify, signed, room)?;
                if made(Operation::Verify, Given { message: seed, ..signed }, room).is_ok() {
                    return Err(Failed::BrokenLaw("a signature is taken for that of another message"));
                }
                match operation {
                    Operation::Sign => Self { given: Given { secret, message, ..none }, right },
                    _ => Self { given: signed, right: [&[], &[]] },
                }
            }
            Operation::Encapsulate | Operation::Decapsulate => {
                let drawn = draw(Operation::Encapsulate, random, room)?;
                let right = made(Operation::Encapsulate, Given { public, drawn, ..none }, room)?;
                let [sent, shared] = right;
                let received = Given { secret, sent, ..none };
                if made(Operation::Decapsulate, received, room)?[0] != shared {
                    return Err(Failed::BrokenLaw("the other side has another secret"));
                }
                match operation {
                    Operation::Encapsulate => Self { given: Given { public, drawn, ..none }, right },
                    _ => Self { given: received, right: [shared, &[]] },
                }
            }
        })
    }
}

struct Attempt<'a, 'm> {
    case: &'a Case<'a>,
    ready: Ready<'m>,
    room: Room<'m>,
}

impl ExchangeVisitor for Attempt<'_, '_> {
    type Output = Result<Done, Failed>;

    fn visit<E: Exchange + 'static>(self) -> Self::Output {
        let Self { case, ready: Ready { given, right }, mut room } = self;
        let [first_B, second_B] = E::MADE_B;
        let (first, second) = (room.take(first_B)?, room.take(second_B)?);
        let mut stack_B = 0;
        for _ in 0..TIMES {
            first.fill(BLANK);
            second.fill(BLANK);
            let key = counted::load::<E>(&given)?;
            let mut done = Ok(());
            stack_B = trial::stack_of(case.stack_B, || {
                let (given, made) = (black_box(&given), [&mut *first, &mut *second]);
                done = if case.keyed_each {
                    board::between_markers(|| {
                        let key = counted::load::<E>(given)?;
                        counted::exchange::<E>(black_box(&key), given, made)
                    })
                } else {
                    board::between_markers(|| counted::exchange::<E>(black_box(&key), given, made))
                };
            });
            done?;
            if [&*first, &*second] != right {
                return Err(Failed::Differs);
            }
        }
        let functions = [counted::load::<E> as *const () as usize, counted::exchange::<E> as *const () as usize];
        Ok(Done { path: "-", state_B: size_of::<E::Key>(), stack_B, functions })
    }
}
