//! Shows that a cipher computes what was published.
//!
//! Two things are asked of a spec. First its vectors: the blocks of its family's text that name this very id; a part
//! encrypted, a part decrypted and a whole message encrypted must all agree with them. Then composition: a
//! pseudo-random message, longer than any path that takes many blocks at once, must come out as the mode's definition
//! says when the primitive is called block by block (NIST SP 800-38A, 6.1, 6.2, 6.5; for RC4 the definition itself),
//! and come back by decryption. The counter of CTR is made to run over its end.

use crate::modes::Cipher;
use crate::vectors::{Malformed, Vector, Vectors, decode};
use crate::{Error, MAX_IV_B, MAX_KEY_B, MAX_PADDING_B, Mode, Spec, Visitor};
use core::fmt;

/// What a spec was proven by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proof {
    /// Vectors of this very id, all passed.
    pub vectors: u16,
    /// Those of them that somebody published; the others were computed with another implementation.
    pub published: u16,
    /// Whether the mode was compared with a plain loop over its primitive.
    pub composed: bool,
    /// The strongest of them: `published`, `computed` or `composition`.
    pub kind: &'static str,
}

/// Why a spec is not proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofError {
    /// The cipher refused what the proof gave it.
    Refused(Error),
    /// A line of the vectors' text can't be read.
    Malformed {
        /// Its number, from 1.
        line: usize,
    },
    /// The cipher computes something else than a vector says.
    Vector {
        /// The line on which the vector starts, from 1.
        line: usize,
        /// What was done when they differed.
        operation: &'static str,
    },
    /// The mode computes something else than its definition.
    Composition {
        /// What was done when they differed.
        operation: &'static str,
    },
}

impl From<Error> for ProofError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProofError::Refused(error) => write!(f, "the cipher refused its proof: {error}"),
            ProofError::Malformed { line } => {
                write!(f, "line {line} of the test vectors can't be read")
            }
            ProofError::Vector { line, operation } => {
                write!(f, "to {operation} gives something else than the test vector of line {line}")
            }
            ProofError::Composition { operation } => {
                write!(f, "to {operation} gives something else than the definition of the mode")
            }
        }
    }
}

impl core::error::Error for ProofError {}

/// Runs the vectors of this id, then the composition.
///
/// # Errors
/// [`ProofError`], at the first difference: the spec must not be used.
pub fn prove(spec: &Spec) -> Result<Proof, ProofError> {
    prove_by(spec, spec.card.vectors)
}

/// As [`prove`], by the vectors of `text`.
///
/// * `text`: blocks of the lines `cipher`, `key`, `iv`, `offset`, `plaintext`, `ciphertext`, each with its value, an
///   empty line between two blocks, before them a line `# source: ` with where they come from.
///
/// # Errors
/// As of [`prove`].
pub fn prove_by(spec: &Spec, text: &str) -> Result<Proof, ProofError> {
    prove_each(spec, text, |trial, spec| spec.visit(trial))
}

/// As [`prove`], but of the cipher of the type `C`, whoever's code it is.
///
/// The same vectors; the definition of the mode is composed from the primitive that is built in.
///
/// # Errors
/// As of [`prove`].
pub fn prove_with<C: Cipher>(spec: &Spec) -> Result<Proof, ProofError> {
    prove_each(spec, spec.card.vectors, |trial, spec| trial.visit::<C>(spec))
}

/// How a trial is held: by whose code.
type Hold = fn(&Trial<'_>, &Spec) -> Verdict;

fn prove_each(spec: &Spec, text: &str, hold: Hold) -> Result<Proof, ProofError> {
    let (mut vectors, mut published) = (0, 0);
    for vector in Vectors::of(text) {
        let vector = vector.map_err(|Malformed(line)| ProofError::Malformed { line })?;
        if Spec::of_card(spec.card, vector.cipher) == Some(Ok(*spec)) {
            check(spec, &vector, hold)?;
            vectors += 1;
            published += u16::from(vector.is_published());
        }
    }
    compose(spec, hold)?;
    let kind = match (published, vectors) {
        (0, 0) => "composition",
        (0, _) => "computed",
        _ => "published",
    };
    Ok(Proof { vectors, published, composed: true, kind })
}

/// No vector's text is longer.
const TEXT_B: usize = 64;
/// More blocks than any path takes at once (64), and some.
const BLOCKS: usize = 70;
/// As many of the largest block.
const MESSAGE_B: usize = BLOCKS * MAX_IV_B;
/// CTR and RC4 end inside of a block.
const CUT_B: usize = 3;

fn check(spec: &Spec, vector: &Vector<'_>, hold: Hold) -> Result<(), ProofError> {
    let line = vector.line;
    let read = |hex, buffer| decode(hex, buffer).ok_or(ProofError::Malformed { line });
    let (mut key, mut iv) = ([0; MAX_KEY_B], [0; MAX_IV_B]);
    let (mut plaintext, mut ciphertext) = ([0; TEXT_B], [0; TEXT_B]);
    let trial = Trial {
        key: read(vector.key, &mut key)?,
        iv: read(vector.iv, &mut iv)?,
        offset: vector.offset,
        plaintext: read(vector.plaintext, &mut plaintext)?,
        ciphertext: read(vector.ciphertext, &mut ciphertext)?,
    };
    hold(&trial, spec)?.map_err(|operation| ProofError::Vector { line, operation })
}

fn compose(spec: &Spec, hold: Hold) -> Result<(), ProofError> {
    let (mut key, mut iv) = ([0; MAX_KEY_B], [0xff; MAX_IV_B]);
    let (mut message, mut expected) = ([0; MESSAGE_B], [0; MESSAGE_B]);
    scatter(&mut key, 1);
    scatter(&mut message, 2);
    let key = &key[..spec.key_B()];
    let iv = &mut iv[..spec.iv_B()];
    if let Some(last) = iv.last_mut() {
        *last = 0xfb; // five blocks before the counter runs over its end
    }
    let cut_B = if matches!(spec.card.mode, Mode::Ctr | Mode::Stream) { CUT_B } else { 0 };
    let message = &message[..BLOCKS * spec.block_B() - cut_B];
    let expected = &mut expected[..message.len()];
    match spec.in_ecb() {
        Some(ecb) => ecb.visit(Definition { mode: spec.card.mode, key, iv, message, expected })?,
        None => crate::rc4::by_definition(key, message, expected),
    }
    let trial = Trial { key, iv, offset: 0, plaintext: message, ciphertext: expected };
    hold(&trial, spec)?.map_err(|operation| ProofError::Composition { operation })
}

/// Fills `bytes` with what looks random and is the same each time (SplitMix64).
fn scatter(bytes: &mut [u8], seed: u64) {
    let mut state = seed;
    for chunk in bytes.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
    }
}

/// What a cipher is held against.
struct Trial<'t> {
    key: &'t [u8],
    iv: &'t [u8],
    offset: usize,
    plaintext: &'t [u8],
    ciphertext: &'t [u8],
}

impl Trial<'_> {
    /// A fresh cipher for a stream that stands where the trial starts; a block cipher has no state but its key.
    fn ready<C: Cipher>(&self, spec: &Spec) -> Result<C, Error> {
        let mut cipher = C::key_setup(spec, self.key)?;
        let (zeros, mut ignored) = ([0; TEXT_B], [0; TEXT_B]);
        let mut left_B = self.offset;
        while left_B > 0 {
            let some_B = left_B.min(TEXT_B);
            cipher.encrypt_part(&mut [], &zeros[..some_B], &mut ignored)?;
            left_B -= some_B;
        }
        Ok(cipher)
    }
}

/// Refused, or else the operation that gave something else.
type Verdict = Result<Result<(), &'static str>, Error>;

impl Visitor for &Trial<'_> {
    type Output = Verdict;

    fn visit<C: Cipher>(self, spec: &Spec) -> Verdict {
        let stream = spec.card.mode == Mode::Stream;
        let length_B = self.plaintext.len();
        let mut output = [0; MESSAGE_B + MAX_PADDING_B];
        let mut chain = [0; MAX_IV_B];
        let chain = chain.get_mut(..self.iv.len()).unwrap_or_default();

        let mut cipher: C = self.ready(spec)?;
        chain.copy_from_slice(self.iv);
        cipher.encrypt_part(chain, self.plaintext, &mut output)?;
        if output[..length_B] != *self.ciphertext {
            return Ok(Err("encrypt a part"));
        }
        if stream {
            cipher = self.ready(spec)?;
        }
        chain.copy_from_slice(self.iv);
        cipher.decrypt_part(chain, self.ciphertext, &mut output)?;
        if output[..length_B] != *self.plaintext {
            return Ok(Err("decrypt a part"));
        }
        if stream {
            cipher = self.ready(spec)?;
        }
        let written_B = cipher.encrypt(self.iv, self.plaintext, &mut output)?;
        if written_B < length_B || output[..length_B] != *self.ciphertext {
            return Ok(Err("encrypt"));
        }
        if stream {
            cipher = self.ready(spec)?;
        }
        let mut back = [0; MESSAGE_B + MAX_PADDING_B];
        let back_B = cipher.decrypt(self.iv, &output[..written_B], &mut back)?;
        if back[..back_B] != *self.plaintext {
            return Ok(Err("decrypt"));
        }
        Ok(Ok(()))
    }
}

/// A mode by its definition, one call of the primitive a block.
struct Definition<'d> {
    mode: Mode,
    key: &'d [u8],
    iv: &'d [u8],
    message: &'d [u8],
    expected: &'d mut [u8],
}

impl Visitor for Definition<'_> {
    type Output = Result<(), Error>;

    fn visit<C: Cipher>(self, ecb: &Spec) -> Result<(), Error> {
        let mut primitive = C::key_setup(ecb, self.key)?;
        let block_B = ecb.block_B();
        let (mut chain, mut output) = ([0; MAX_IV_B], [0; MAX_IV_B]);
        let (chain, output) = (&mut chain[..block_B], &mut output[..block_B]);
        chain[..self.iv.len()].copy_from_slice(self.iv);
        for (text, expected) in self.message.chunks(block_B).zip(self.expected.chunks_mut(block_B)) {
            match self.mode {
                Mode::Cbc => {
                    add(chain, text);
                    primitive.encrypt_part(&mut [], chain, expected)?;
                    chain.copy_from_slice(expected);
                }
                Mode::Ctr => {
                    primitive.encrypt_part(&mut [], chain, output)?;
                    expected.copy_from_slice(text);
                    add(expected, output);
                    count(chain);
                }
                Mode::Ecb | Mode::Stream => primitive.encrypt_part(&mut [], text, expected)?,
            }
        }
        Ok(())
    }
}

fn add(to: &mut [u8], other: &[u8]) {
    for (to, other) in to.iter_mut().zip(other) {
        *to ^= other;
    }
}

/// The next counter, big-endian over the whole block (NIST SP 800-38A, B.1, with m = b).
fn count(counter: &mut [u8]) {
    for byte in counter.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::modes::{Cbc, Ctr};
    use ::aes::Aes128;

    fn verdict_on<C: Cipher>(id: &str, mode: Mode) -> Verdict {
        let spec = Spec::parse(id).unwrap();
        let (key, iv, message, mut expected) = ([1; 16], [2; 16], [3; 160], [0; 160]);
        let definition = Definition { mode, key: &key, iv: &iv, message: &message, expected: &mut expected };
        spec.in_ecb().unwrap().visit(definition)?;
        let trial = Trial { key: &key, iv: &iv, offset: 0, plaintext: &message, ciphertext: &expected };
        (&trial).visit::<C>(&spec)
    }

    #[test]
    fn composition_notices_another_mode_than_the_definition() {
        assert_eq!(verdict_on::<Cbc<Aes128>>("aes128-cbc", Mode::Cbc), Ok(Ok(())));
        assert_eq!(verdict_on::<Ctr<Aes128>>("aes128-ctr", Mode::Ctr), Ok(Ok(())));
        let differs = Ok(Err("encrypt a part"));
        assert_eq!(verdict_on::<Ctr<Aes128>>("aes128-cbc", Mode::Cbc), differs);
        assert_eq!(verdict_on::<Cbc<Aes128>>("aes128-ctr", Mode::Ctr), differs);
    }

    #[test]
    fn the_counter_runs_over_its_end_to_zero() {
        let mut counter = [0xff; 16];
        count(&mut counter);
        assert_eq!(counter, [0; 16]);
        count(&mut counter[..8]);
        assert_eq!(counter[..9], [0, 0, 0, 0, 0, 0, 0, 1, 0]);
    }
}
