//! Shows that a cipher computes what was published.
//!
//! Three things are asked of an implementation. First the vectors of its spec: the blocks of its family's text that name
//! this very id; a part encrypted, a part decrypted and a whole message encrypted must all agree with them. Then
//! composition: a pseudo-random message, longer than any path that takes many blocks at once, must come out as the mode's
//! definition says when the primitive is called block by block (NIST SP 800-38A, 6.1 to 6.5; for a stream its own
//! definition), and come back by decryption. The counter of CTR is made to run over its end. Last, an implementation that
//! is not the card's first must agree with that one on messages of many lengths, and one that pads must refuse bad padding
//! of every kind. [`expected`] is for whoever times an implementation: it says what must come out at the very length.
#![forbid(unsafe_code)]

mod aead;
mod definition;
mod error;
mod held;
mod padding;

use self::definition::ByDefinition;
use self::held::{Held, TEXT_B, Verdict, and_then, first_code, scatter};
use crate::cipher::{Cipher, Direction, Suite};
use crate::vectors::{Malformed, Vector, Vectors, decode};
use crate::{Code, Error, MAX_IV_B, MAX_KEY_B, MAX_PADDING_B, Mode, Spec, Visitor};

pub use self::definition::{Message, expected};
pub use self::error::ProofError;

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
    /// The strongest of them: `published`, `computed`, `composition`, or `agreement` with the first implementation.
    pub kind: &'static str,
}

/// Where the vectors of this very id come from, in the order of its family's text, each once for each of its lines.
pub fn sources(spec: &Spec) -> impl Iterator<Item = &'static str> {
    let own = move |vector: &Vector<'_>| Spec::of_card(spec.card, vector.cipher) == Some(Ok(*spec));
    Vectors::of(spec.card.vectors).filter_map(Result::ok).filter(own).map(|vector| vector.source())
}

/// Proves a code that is built in.
///
/// # Errors
/// [`ProofError`], at the first difference: it must not be used.
pub fn prove(spec: &Spec, code: &Code) -> Result<Proof, ProofError> {
    prove_by(spec, code, spec.card.vectors)
}

/// As [`prove`], by the vectors of `text`.
///
/// * `text`: blocks of the lines `cipher`, `key`, `iv`, `aad`, `offset`, `plaintext`, `ciphertext`, each with its value,
///   an empty line between two blocks, before them a line `# source: ` with where they come from.
///
/// # Errors
/// As of [`prove`].
pub fn prove_by(spec: &Spec, code: &Code, text: &str) -> Result<Proof, ProofError> {
    let is_first = spec.card.codes.first() == Some(code);
    spec.visit(code, Prover { text, is_first })
}

/// Proves an implementation from outside of this crate: the vectors, the composition from the primitive that is built
/// in, and agreement with the card's first implementation.
///
/// # Errors
/// As of [`prove`].
pub fn prove_suite<S: Suite>(spec: &Spec, suite: &S) -> Result<Proof, ProofError> {
    prove_held(spec, suite, spec.card.vectors, false)
}

struct Prover<'t> {
    text: &'t str,
    is_first: bool,
}

impl Visitor for Prover<'_> {
    type Output = Result<Proof, ProofError>;

    fn visit<S: Suite>(self, spec: &Spec, suite: S) -> Self::Output {
        prove_held(spec, &suite, self.text, self.is_first)
    }
}

fn prove_held(spec: &Spec, held: &dyn Held, text: &str, is_first: bool) -> Result<Proof, ProofError> {
    let is_aead = spec.card.mode == Mode::Aead;
    let (mut vectors, mut published) = (0, 0);
    for vector in Vectors::of(text) {
        let vector = vector.map_err(|Malformed(line)| ProofError::Malformed { line })?;
        if Spec::of_card(spec.card, vector.cipher) == Some(Ok(*spec)) {
            if is_aead {
                aead::check(&vector, held)?
            } else {
                check(&vector, held)?
            }
            vectors += 1;
            published += u16::from(vector.is_published());
        }
    }
    let composed = !is_aead && compose(spec, held)?;
    if is_aead {
        aead::laws(spec, held)?;
    } else if !is_first {
        agree(spec, held)?;
    }
    if matches!(spec.card.mode, Mode::Ecb | Mode::Cbc) {
        padding::refused(spec, held)?;
    }
    let kind = match (published, vectors, composed) {
        (0, 0, false) if is_first => return Err(ProofError::Nothing),
        (0, 0, false) => "agreement",
        (0, 0, true) => "composition",
        (0, ..) => "computed",
        _ => "published",
    };
    Ok(Proof { vectors, published, composed, kind })
}

/// No vector of a stream with a nonce ends later, its offset included.
const REACH_B: usize = 512;
/// More blocks than any path takes at once (64), and some.
const BLOCKS: usize = 70;
/// As many of the largest block.
const MESSAGE_B: usize = BLOCKS * MAX_IV_B;
/// CTR and RC4 end inside of a block.
const CUT_B: usize = 3;

fn check(vector: &Vector<'_>, held: &dyn Held) -> Result<(), ProofError> {
    let line = vector.line;
    let malformed = ProofError::Malformed { line };
    let (mut key, mut iv) = ([0; MAX_KEY_B], [0; MAX_IV_B]);
    let (mut plaintext, mut ciphertext) = ([0; REACH_B], [0; REACH_B]);
    let key = decode(vector.key, &mut key).ok_or(malformed)?;
    let iv = decode(vector.iv, &mut iv).ok_or(malformed)?;
    // A stream without a nonce goes on, so that it can be brought to the offset; with one, the message starts before it.
    let (skipped_B, from_B) = if iv.is_empty() { (vector.offset, 0) } else { (0, vector.offset) };
    let end_B = from_B.saturating_add(vector.plaintext.len() / 2);
    if vector.plaintext.len() != vector.ciphertext.len() || end_B > REACH_B {
        return Err(malformed);
    }
    decode(vector.plaintext, &mut plaintext[from_B..]).ok_or(malformed)?;
    decode(vector.ciphertext, &mut ciphertext[from_B..]).ok_or(malformed)?;
    let (plaintext, ciphertext) = (&plaintext[..end_B], &ciphertext[..end_B]);
    let trial = Trial { key, iv, skipped_B, from_B, plaintext, ciphertext };
    trial.hold(held)?.map_err(|operation| ProofError::Vector { line, operation })
}

/// Gives whether there is a definition to compare with.
fn compose(spec: &Spec, held: &dyn Held) -> Result<bool, ProofError> {
    let (mut key, mut iv) = ([0; MAX_KEY_B], [0xff; MAX_IV_B]);
    let (mut message, mut expected) = ([0; MESSAGE_B], [0; MESSAGE_B]);
    scatter(&mut key, 1);
    scatter(&mut message, 2);
    let key = &key[..spec.key_B()];
    let iv = &mut iv[..spec.iv_B()];
    if let Some(last) = iv.last_mut() {
        *last = 0xfb; // five blocks before the counter runs over its end
    }
    let cut_B = if matches!(spec.card.mode, Mode::Ecb | Mode::Cbc) { 0 } else { CUT_B };
    let message = &message[..BLOCKS * spec.block_B() - cut_B];
    let expected = &mut expected[..message.len()];
    match (spec.in_ecb(), spec.card.definition) {
        (Some(ecb), _) => {
            let chain = &mut [0; MAX_IV_B];
            ecb.visit(first_code(&ecb)?, ByDefinition { mode: spec.card.mode, key, iv, chain, message, expected })?;
        }
        (None, Some(definition)) => definition(key, iv, message, expected),
        (None, None) => return Ok(false),
    }
    let trial = Trial { key, iv, skipped_B: 0, from_B: 0, plaintext: message, ciphertext: expected };
    trial.hold(held)?.map_err(|operation| ProofError::Composition { operation })?;
    Ok(true)
}

/// Lengths on both sides of each block size, and some that span many blocks, bytes.
const LENGTHS_B: [usize; 18] = [0, 1, 7, 8, 9, 14, 15, 16, 17, 24, 31, 32, 33, 64, 129, 255, 1000, MESSAGE_B];

/// Room for the longest message and its padding, wherever it is placed.
const ROOM_B: usize = MESSAGE_B + MAX_PADDING_B + 2 * PLACES_B;
/// Places that code may have a path for: a message begins in all of them in turn.
const PLACES_B: usize = 16;

/// What begins `at` bytes (of 16) behind a multiple of 16.
fn placed(room: &mut [u8; ROOM_B], at: usize) -> &mut [u8] {
    let aligned_B = room.as_ptr().align_offset(PLACES_B).min(PLACES_B);
    &mut room[aligned_B + at % PLACES_B..]
}

/// Whole messages of many lengths, in many places and under many keys, against the card's first implementation.
fn agree(spec: &Spec, held: &dyn Held) -> Result<(), ProofError> {
    let code = first_code(spec)?;
    for (length_at, length_B) in LENGTHS_B.into_iter().enumerate() {
        let (mut key, mut iv) = ([0; MAX_KEY_B], [0; MAX_IV_B]);
        let (mut message, mut expected) = ([0; ROOM_B], [0; ROOM_B]);
        let (input_at, output_at) = (5 * length_at, 7 * length_at + 1);
        let seed = length_at as u64 + 3;
        let message = placed(&mut message, input_at);
        let expected = placed(&mut expected, input_at);
        scatter(&mut key, seed);
        scatter(&mut iv, seed << 8);
        scatter(&mut message[..MESSAGE_B], seed << 16);
        let (key, iv, message) = (&key[..spec.key_B()], &iv[..spec.iv_B()], &message[..length_B]);
        let written_B = spec.visit(code, Encrypt { key, iv, message, output: expected })?;
        let expected = &expected[..written_B];
        let verdict = held.with_key(key, Direction::Encrypt, &mut |cipher| {
            let mut output = [0; ROOM_B];
            let output = placed(&mut output, output_at);
            let written_B = cipher.encrypt(iv, message, output)?;
            Ok(if output[..written_B] == *expected { Ok(()) } else { Err("encrypt") })
        });
        let verdict = and_then(verdict, || {
            held.with_key(key, Direction::Decrypt, &mut |cipher| {
                let mut output = [0; ROOM_B];
                let output = placed(&mut output, output_at);
                let written_B = cipher.decrypt(iv, expected, output)?;
                Ok(if output[..written_B] == *message { Ok(()) } else { Err("decrypt") })
            })
        })?;
        verdict.map_err(|operation| ProofError::Disagreement { operation, length_B })?;
    }
    Ok(())
}

struct Encrypt<'e> {
    key: &'e [u8],
    iv: &'e [u8],
    message: &'e [u8],
    output: &'e mut [u8],
}

impl Visitor for Encrypt<'_> {
    type Output = Result<usize, Error>;

    fn visit<S: Suite>(self, _: &Spec, suite: S) -> Self::Output {
        suite.key_setup(self.key, Direction::Encrypt)?.encrypt(self.iv, self.message, self.output)
    }
}

/// What a cipher is compared with.
struct Trial<'t> {
    key: &'t [u8],
    iv: &'t [u8],
    /// Bytes of key stream that are drawn before the message.
    skipped_B: usize,
    /// Bytes of the message that are not compared.
    from_B: usize,
    plaintext: &'t [u8],
    ciphertext: &'t [u8],
}

impl Trial<'_> {
    /// Brings a stream to where the trial starts; a block cipher has no state but its key.
    fn skip(&self, cipher: &mut dyn Cipher) -> Result<(), Error> {
        let (zeros, mut ignored) = ([0; TEXT_B], [0; TEXT_B]);
        let mut left_B = self.skipped_B;
        while left_B > 0 {
            let some_B = left_B.min(TEXT_B);
            cipher.encrypt_part(&mut [], &zeros[..some_B], &mut ignored)?;
            left_B -= some_B;
        }
        Ok(())
    }

    /// Each operation under a fresh key setup: parts, then the whole message and back.
    fn hold(&self, held: &dyn Held) -> Verdict {
        let compared = self.from_B..self.plaintext.len();
        let mut chain = [0; MAX_IV_B];
        chain[..self.iv.len()].copy_from_slice(self.iv);
        let part = |direction, from: &[u8], to: &[u8], named| {
            let mut chain = chain;
            let chain = &mut chain[..self.iv.len()];
            held.with_key(self.key, direction, &mut |cipher| {
                let mut output = [0; MESSAGE_B];
                self.skip(cipher)?;
                let done = match direction {
                    Direction::Encrypt => cipher.encrypt_part(chain, from, &mut output),
                    Direction::Decrypt => cipher.decrypt_part(chain, from, &mut output),
                };
                if done == Err(Error::NoSuchOperation) {
                    return Ok(Ok(())); // no IV can say where such a stream stands
                }
                done?;
                Ok(if output[compared.clone()] == to[self.from_B..] { Ok(()) } else { Err(named) })
            })
        };
        let verdict = part(Direction::Encrypt, self.plaintext, self.ciphertext, "encrypt a part");
        let verdict = and_then(verdict, || part(Direction::Decrypt, self.ciphertext, self.plaintext, "decrypt a part"));
        let (mut sealed, mut sealed_B) = ([0; MESSAGE_B + MAX_PADDING_B], 0);
        let verdict = and_then(verdict, || {
            held.with_key(self.key, Direction::Encrypt, &mut |cipher| {
                self.skip(cipher)?;
                sealed_B = cipher.encrypt(self.iv, self.plaintext, &mut sealed)?;
                let is_whole = sealed_B >= self.plaintext.len();
                let right = is_whole && sealed[compared.clone()] == self.ciphertext[self.from_B..];
                Ok(if right { Ok(()) } else { Err("encrypt") })
            })
        });
        and_then(verdict, || {
            held.with_key(self.key, Direction::Decrypt, &mut |cipher| {
                let mut output = [0; MESSAGE_B + MAX_PADDING_B];
                self.skip(cipher)?;
                let written_B = cipher.decrypt(self.iv, &sealed[..sealed_B], &mut output)?;
                Ok(if output[..written_B] == *self.plaintext { Ok(()) } else { Err("decrypt") })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cipher::{BuiltIn, Keyed};
    use crate::modes::{Cbc, Ctr};
    use ::aes::Aes128;

    fn verdict_on<C: BuiltIn>(id: &str, mode: Mode) -> Verdict {
        let spec = Spec::parse(id).unwrap();
        let (key, iv, message, mut expected) = ([1; 16], [2; 16], [3; 160], [0; 160]);
        let chain = &mut [0; MAX_IV_B];
        let definition = ByDefinition { mode, key: &key, iv: &iv, chain, message: &message, expected: &mut expected };
        let ecb = spec.in_ecb().unwrap();
        ecb.visit(first_code(&ecb)?, definition)?;
        let trial = Trial { key: &key, iv: &iv, skipped_B: 0, from_B: 0, plaintext: &message, ciphertext: &expected };
        trial.hold(&Keyed::<C>::of(&spec))
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
    fn an_implementation_that_differs_from_the_first_is_told_by_the_length() {
        let spec = Spec::parse("aes128-ctr").unwrap();
        assert_eq!(agree(&spec, &Keyed::<Ctr<Aes128>>::of(&spec)), Ok(()));
        let wrong = agree(&spec, &Keyed::<Cbc<Aes128>>::of(&spec));
        assert_eq!(wrong, Err(ProofError::Disagreement { operation: "encrypt", length_B: 0 }));
    }

    #[test]
    fn what_looks_random_is_the_published_sequence() {
        let mut bytes = [0; 20];
        scatter(&mut bytes, 0);
        let words = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f].map(u64::to_le_bytes);
        assert_eq!(bytes, words.as_flattened()[..20]);
    }
}
