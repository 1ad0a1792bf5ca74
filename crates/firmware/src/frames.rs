//! Protection of frames: a frame made ready, protected or opened twice between the markers, and checked.
//!
//! Payload and key are drawn from the seed. What must come out is the frame itself: what was protected comes back, at the
//! very length that is counted, and a changed bit is refused. The protocol's code was proven by published frames before.
#![forbid(unsafe_code)]

use core::hint::black_box;

use wattlock_frames::proof::{self, HEADER};
use wattlock_frames::{Frame, Key, Protocol};

use crate::board::{self, Memory};
use crate::counted;
use crate::outcome::{Done, Failed};
use crate::plan::{Case, Operation};
use crate::trial::{self, BLANK, TIMES, draw};

/// The longest key.
const MOST_KEY_B: usize = 32;

/// Where cases of frames are carried out.
#[derive(Default)]
pub struct Bench {
    /// The protocol that was proven last.
    proven: Option<Protocol>,
}

impl Bench {
    /// Carries out a case of a protocol.
    pub fn attempt(&mut self, case: &Case<'_>, memory: &mut Memory) -> Result<Done, Failed> {
        let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.id() == case.cipher);
        let protocol = protocol.ok_or(Failed::NoSuchOperation)?;
        if self.proven != Some(protocol) {
            self.proven = None;
            proof::prove(protocol)?;
            self.proven = Some(protocol);
        }
        let Memory { plain, sealed, output, .. } = memory;
        let too_long = Failed::TooLong { given_B: case.payload_B, most_B: plain.len() - HEADER.len() };
        let clear = plain.get_mut(..HEADER.len() + case.payload_B).ok_or(too_long)?;
        let (header, payload) = clear.split_at_mut(HEADER.len());
        let mut key = [0; MOST_KEY_B];
        let key = &mut key[..protocol.key_B()];
        let mut random = trial::random_of(case);
        header.copy_from_slice(&HEADER);
        draw(&mut random, payload);
        draw(&mut random, key);
        let sealed_B = proof::comes_back(&mut Key::new(protocol, key)?, clear, sealed, output)?;
        let mut stack_B = 0;
        for _ in 0..TIMES {
            let input = if case.operation == Operation::Protect { &*clear } else { &sealed[..sealed_B] };
            let call = Call { protocol, key, input, operation: case.operation };
            let mut ready = counted::frame_key(protocol, key)?;
            // A key in use: TKIP keeps the first phase of its mixing for 65,536 frames.
            call.carry_out(&mut ready, 1, output)?;
            output.fill(BLANK);
            let mut written = Ok(0);
            stack_B = trial::stack_of(case.stack_B, || {
                let (call, ready) = (black_box(&call), black_box(&mut ready));
                let Call { protocol, key, input, operation } = *call;
                written = match (operation, case.keyed_each) {
                    (_, true) => board::between_markers(|| {
                        let mut keyed = counted::frame_key(protocol, key)?;
                        call.carry_out(&mut keyed, 2, output)
                    }),
                    (Operation::Protect, false) => board::between_markers(|| counted::protect(ready, input, 2, output)),
                    _ => board::between_markers(|| counted::unprotect(ready, input, output)),
                };
            });
            let made = &output[..written?];
            let is_right = if case.operation == Operation::Protect {
                let back_B = ready.unprotect(&Frame::parse(made)?, None, sealed)?.length_B;
                sealed[..back_B] == *clear
            } else {
                *made == *clear
            };
            if !is_right {
                return Err(Failed::DoesNotComeBack);
            }
        }
        let operation = match case.operation {
            Operation::Protect => counted::protect as *const () as usize,
            _ => counted::unprotect as *const () as usize,
        };
        let functions = [counted::frame_key as *const () as usize, operation];
        Ok(Done { path: "-", state_B: size_of::<Key>(), stack_B, functions })
    }
}

/// What is called between the markers, with its arguments.
struct Call<'c> {
    protocol: Protocol,
    key: &'c [u8],
    input: &'c [u8],
    operation: Operation,
}

impl Call<'_> {
    #[inline(always)]
    fn carry_out(&self, key: &mut Key, number: u64, output: &mut [u8]) -> Result<usize, wattlock_frames::Error> {
        match self.operation {
            Operation::Protect => counted::protect(key, self.input, number, output),
            _ => counted::unprotect(key, self.input, output),
        }
    }
}
