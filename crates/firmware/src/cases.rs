//! A case made ready, carried out twice between the markers, and checked.
//!
//! Key, IV, payload and associated data are those that the same case has on any other device: drawn from the run's seed
//! in the same order. What must come out is said by another implementation or by the definition of the mode, at the
//! very length that is counted, before anything is.
#![forbid(unsafe_code)]

use core::fmt::Write as _;
use core::hint::black_box;

use wattlock_ciphers::proof::{self, Message};
use wattlock_ciphers::{Cipher, Code, Direction, Error, MAX_IV_B, MAX_KEY_B, Mode, Spec, Suite, Visitor};

#[cfg(feature = "adapter")]
use crate::adapted::Adapted;
use crate::board::{self, Console, LARGEST_AAD_B, LARGEST_PAYLOAD_B, Memory};
use crate::counted;
use crate::exchanges;
#[cfg(feature = "frames")]
use crate::frames;
use crate::outcome::{Done, Failed};
use crate::plan::{Case, Operation};
use crate::trial::{self, BLANK, TIMES, draw};

/// A key setup is shown by what its key makes of so many bytes.
const KEY_SHOWN_B: usize = 64;
/// Where cases are carried out.
pub struct Bench {
    memory: &'static mut Memory,
    /// The code that was proven last: the cases of one follow each other.
    proven: Option<(Spec, Option<&'static Code>)>,
    /// The same of schemes.
    schemes: exchanges::Bench,
    /// And of protocols.
    #[cfg(feature = "frames")]
    frames: frames::Bench,
}

impl Bench {
    /// Nothing is proven yet.
    pub fn new(memory: &'static mut Memory) -> Self {
        Self {
            memory,
            proven: None,
            schemes: exchanges::Bench::default(),
            #[cfg(feature = "frames")]
            frames: frames::Bench::default(),
        }
    }

    /// Carries out a line of the plan and says how it went.
    pub fn carry_out(&mut self, line: &str) {
        let Some(case) = Case::read(line) else {
            let _ = writeln!(Console, "unreadable {line}");
            return;
        };
        let number = case.number;
        let _ = writeln!(Console, "case {number}");
        let _ = match self.attempt(&case) {
            Ok(Done { path, state_B, stack_B, functions: [key_setup, operation] }) => {
                let region = board::last_region();
                writeln!(Console, "counted {number} {path} {state_B} {stack_B} {region} {key_setup:x} {operation:x}")
            }
            Err(reason) => writeln!(Console, "failed {number} {reason}"),
        };
    }

    fn attempt(&mut self, case: &Case<'_>) -> Result<Done, Failed> {
        if let Operation::Establish(operation) = case.operation {
            return self.schemes.attempt(case, operation, self.memory);
        }
        #[cfg(feature = "frames")]
        if let Operation::Protect | Operation::Unprotect = case.operation {
            return self.frames.attempt(case, self.memory);
        }
        let spec = Spec::parse(case.cipher)?;
        let code = spec.code(case.provider);
        let fits = match case.operation {
            Operation::KeySetup => true,
            Operation::Encrypt | Operation::Decrypt => spec.card.mode != Mode::Aead,
            Operation::Seal | Operation::Open | Operation::OpenForged => spec.card.mode == Mode::Aead,
            Operation::Protect | Operation::Unprotect | Operation::Establish(_) => false,
        };
        if !fits {
            return Err(Failed::NoSuchOperation);
        }
        for (given_B, most_B) in [(case.payload_B, LARGEST_PAYLOAD_B), (case.aad_B, LARGEST_AAD_B)] {
            if given_B > most_B {
                return Err(Failed::TooLong { given_B, most_B });
            }
        }
        if self.proven != Some((spec, code)) {
            self.proven = None;
            prove(&spec, code)?;
            self.proven = Some((spec, code));
        }
        let Self { memory, .. } = self;
        match code {
            Some(of) => spec.visit(of, Attempt { case, code, state_B: None, memory }),
            #[cfg(feature = "adapter")]
            None => {
                let state_B = Some(board::adapter::context_B());
                Attempt { case, code, state_B, memory }.visit(&spec, Adapted::of(&spec))
            }
            #[cfg(not(feature = "adapter"))]
            None => Err(Failed::NoSuchCode),
        }
    }
}

/// Proves the catalogue's code, or else the adapter's.
fn prove(spec: &Spec, code: Option<&Code>) -> Result<(), Failed> {
    match code {
        Some(code) => proof::prove(spec, code).map_err(Failed::Unproven)?,
        #[cfg(feature = "adapter")]
        None => {
            let (given_B, most_B) = (board::adapter::context_B(), board::adapter::LARGEST_CONTEXT_B);
            if given_B > most_B {
                return Err(Failed::TooLong { given_B, most_B });
            }
            proof::prove_suite(spec, &Adapted::of(spec)).map_err(Failed::Unproven)?
        }
        #[cfg(not(feature = "adapter"))]
        None => return Err(Failed::NoSuchCode),
    };
    Ok(())
}

struct Attempt<'a> {
    case: &'a Case<'a>,
    /// `None` of an adapter's.
    code: Option<&'static Code>,
    /// What a key takes, where the cipher's type doesn't say it.
    state_B: Option<usize>,
    memory: &'a mut Memory,
}

impl Visitor for Attempt<'_> {
    type Output = Result<Done, Failed>;

    fn visit<S: Suite>(self, spec: &Spec, suite: S) -> Self::Output {
        let Self { case, code, state_B, memory } = self;
        let Memory { plain, sealed, output, aad } = memory;
        let payload_B = if case.operation == Operation::KeySetup { KEY_SHOWN_B } else { case.payload_B };
        let (mut key, mut iv) = ([0; MAX_KEY_B], [0; MAX_IV_B]);
        let (key, iv) = (&mut key[..spec.key_B()], &mut iv[..spec.iv_B()]);
        let (plain, aad) = (&mut plain[..payload_B], &mut aad[..case.aad_B]);
        let mut random = trial::random_of(case);
        for bytes in [&mut *key, &mut *iv, &mut *plain, &mut *aad] {
            draw(&mut random, bytes);
        }
        let message = Message { key, iv, aad, text: plain };
        let sealed_B = made_ready(&suite, spec, code, message, sealed, output)?;
        let sealed = &mut sealed[..sealed_B];
        if let (Operation::OpenForged, Some(last)) = (case.operation, sealed.last_mut()) {
            *last ^= 1;
        }
        let input: &[u8] = if case.operation.is_backward() { sealed } else { plain };
        let call = Call { suite: &suite, message, input, keyed_each: case.keyed_each, operation: case.operation };
        let mut stack_B = 0;
        for _ in 0..TIMES {
            output.fill(BLANK);
            let mut cipher = counted::key_setup(&suite, key, call.direction())?;
            let mut written = Ok(0);
            stack_B = trial::stack_of(case.stack_B, || {
                written = call.carry_out(black_box(&mut cipher), black_box(&mut *output));
            });
            call.check(&mut cipher, written, sealed, output)?;
        }
        let path = code.map_or("adapter", |code| spec.path(code));
        let state_B = state_B.unwrap_or(size_of::<S::Cipher>());
        Ok(Done { path, state_B, stack_B, functions: call.functions() })
    }
}

/// The ciphertext that is right for a message, which this code brings back; gives its bytes.
fn made_ready<S: Suite>(
    suite: &S,
    spec: &Spec,
    code: Option<&Code>,
    message: Message<'_>,
    sealed: &mut [u8],
    output: &mut [u8],
) -> Result<usize, Failed> {
    let Message { key, iv, aad, text } = message;
    let is_aead = spec.card.mode == Mode::Aead;
    let sealed_B = match proof::expected(spec, code, message, sealed)? {
        Some(sealed_B) => sealed_B,
        None => {
            let mut cipher = suite.key_setup(key, Direction::Encrypt)?;
            if is_aead { cipher.seal(iv, aad, text, sealed) } else { cipher.encrypt(iv, text, sealed) }?
        }
    };
    let sealed = &sealed[..sealed_B];
    let mut cipher = suite.key_setup(key, Direction::Decrypt)?;
    let back_B = if is_aead { cipher.open(iv, aad, sealed, output) } else { cipher.decrypt(iv, sealed, output) }?;
    if output[..back_B] == *text { Ok(sealed_B) } else { Err(Failed::DoesNotComeBack) }
}

/// What is called between the markers, with its arguments.
struct Call<'c, S> {
    suite: &'c S,
    message: Message<'c>,
    input: &'c [u8],
    keyed_each: bool,
    operation: Operation,
}

impl<S: Suite> Call<'_, S> {
    fn direction(&self) -> Direction {
        if self.operation.is_backward() { Direction::Decrypt } else { Direction::Encrypt }
    }

    /// Carries it out, once.
    fn carry_out(&self, cipher: &mut S::Cipher, output: &mut [u8]) -> Result<usize, Error> {
        let Self { suite, message, input, keyed_each, operation } = black_box(self);
        let Message { key, iv, aad, .. } = *message;
        if *operation == Operation::KeySetup {
            let made = board::between_markers(|| counted::key_setup(*suite, key, Direction::Encrypt));
            return black_box(made).map(|made| {
                *cipher = made;
                0
            });
        }
        if *keyed_each {
            let direction = self.direction();
            return board::between_markers(|| {
                let mut keyed = counted::key_setup(*suite, key, direction)?;
                let written = called(*operation, &mut keyed, (iv, aad), input, output);
                black_box(&keyed);
                written
            });
        }
        match operation {
            Operation::Encrypt => board::between_markers(|| counted::encrypt(cipher, iv, input, output)),
            Operation::Decrypt => board::between_markers(|| counted::decrypt(cipher, iv, input, output)),
            Operation::Seal => board::between_markers(|| counted::seal(cipher, iv, aad, input, output)),
            _ => board::between_markers(|| counted::open(cipher, iv, aad, input, output)),
        }
    }

    /// Whether what came out is right.
    fn check(
        &self,
        cipher: &mut S::Cipher,
        written: Result<usize, Error>,
        sealed: &[u8],
        output: &mut [u8],
    ) -> Result<(), Failed> {
        let Message { iv, aad, text, .. } = self.message;
        let (written_B, right) = match (self.operation, written) {
            (Operation::OpenForged, Err(Error::Forged)) => return Ok(()),
            (Operation::OpenForged, Ok(_)) => return Err(Failed::Opens),
            (Operation::KeySetup, Ok(_)) => {
                let sealed_B = match cipher.encrypt(iv, text, output) {
                    Err(Error::NoSuchOperation) => cipher.seal(iv, aad, text, output),
                    done => done,
                }?;
                (sealed_B, sealed)
            }
            (_, written) => (written?, if self.operation.is_backward() { text } else { sealed }),
        };
        if output[..written_B] == *right { Ok(()) } else { Err(Failed::Differs) }
    }

    /// The addresses of the key schedule and of what is done with the key.
    fn functions(&self) -> [usize; 2] {
        let key_setup = counted::key_setup::<S> as *const () as usize;
        let operation = match self.operation {
            Operation::KeySetup => key_setup,
            Operation::Encrypt => counted::encrypt::<S::Cipher> as *const () as usize,
            Operation::Decrypt => counted::decrypt::<S::Cipher> as *const () as usize,
            Operation::Seal => counted::seal::<S::Cipher> as *const () as usize,
            _ => counted::open::<S::Cipher> as *const () as usize,
        };
        [key_setup, operation]
    }
}

/// The operation by its function.
#[inline(always)]
fn called<C: Cipher>(
    operation: Operation,
    cipher: &mut C,
    (iv, aad): (&[u8], &[u8]),
    input: &[u8],
    output: &mut [u8],
) -> Result<usize, Error> {
    match operation {
        Operation::Encrypt => counted::encrypt(cipher, iv, input, output),
        Operation::Decrypt => counted::decrypt(cipher, iv, input, output),
        Operation::Seal => counted::seal(cipher, iv, aad, input, output),
        _ => counted::open(cipher, iv, aad, input, output),
    }
}
