//! The proof notices an AEAD that breaks any one of the laws, and passes one that breaks none.
#![allow(clippy::unwrap_used, non_snake_case)]

use wattlock_ciphers::proof::{ProofError, prove_suite};
use wattlock_ciphers::{Cipher, Direction, Error, Spec, Suite, Visitor};

const ID: &str = "chacha20-poly1305";
const TAG_B: usize = 16;

/// What is wrong with an implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// Does not look at the tag.
    TakesAnyTag,
    /// Compares the first byte of the tag.
    TakesAnyEnd,
    /// Compares the last byte of the tag.
    TakesAnyStart,
    /// Compares as much of a tag as there is.
    TakesCutTags,
    /// Opens without the associated data where it does not open with it.
    TakesAnyData,
    /// Opens under the nonce with its lowest bit changed where it does not open under it.
    TakesTwoNonces,
    /// Writes the plaintext before it refuses.
    ReleasesPlaintext,
    /// Opens nothing more once it has refused.
    StaysRefused,
    /// Seals otherwise once it has refused.
    SealsOtherwiseAfterwards,
    /// Says that the output is too small instead of refusing.
    RefusesAsSomethingElse,
    /// Seals with a tag that has a wrong bit.
    WrongTag,
    /// Encrypts with a wrong bit, under the right tag of that.
    WrongTextPast64B,
    /// Forgets to write the tag.
    NoTag,
}

#[derive(Clone)]
struct Faulty(Fault);

struct FaultyCipher {
    fault: Fault,
    sound: Box<dyn Cipher>,
    refused: bool,
}

struct WithKey<'k>(&'k [u8]);

impl Visitor for WithKey<'_> {
    type Output = Result<Box<dyn Cipher>, Error>;

    fn visit<S: Suite>(self, _: &Spec, suite: S) -> Self::Output {
        Ok(Box::new(suite.key_setup(self.0, Direction::Encrypt)?))
    }
}

impl Suite for Faulty {
    type Cipher = FaultyCipher;

    fn key_setup(&self, key: &[u8], _: Direction) -> Result<FaultyCipher, Error> {
        let spec = Spec::parse(ID).unwrap();
        Ok(FaultyCipher { fault: self.0, sound: spec.visit(&spec.card.codes[0], WithKey(key))?, refused: false })
    }
}

impl FaultyCipher {
    fn sealed(&mut self, nonce: &[u8], aad: &[u8], text: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = vec![0; text.len() + TAG_B];
        self.sound.seal(nonce, aad, text, &mut sealed)?;
        Ok(sealed)
    }

    /// The plaintext, and whether the tag is that of it: the key stream of a stream cipher takes itself off again.
    fn opened(&mut self, nonce: &[u8], aad: &[u8], input: &[u8]) -> Result<(Vec<u8>, bool), Error> {
        let text_B = match self.fault {
            Fault::TakesCutTags => input.len().saturating_sub(TAG_B),
            _ => input.len().checked_sub(TAG_B).ok_or(Error::Forged)?,
        };
        let mut text = self.sealed(nonce, aad, &input[..text_B])?;
        text.truncate(text_B);
        let (right, given) = (self.sealed(nonce, aad, &text)?, &input[text_B..]);
        let right = &right[text_B..];
        let is_right = match self.fault {
            Fault::TakesAnyTag => true,
            Fault::TakesAnyEnd => right[0] == given[0],
            Fault::TakesAnyStart => right[TAG_B - 1] == given[TAG_B - 1],
            Fault::TakesCutTags => right.starts_with(given),
            _ => right == given,
        };
        Ok((text, is_right))
    }
}

impl Cipher for FaultyCipher {
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let mut text = input.to_vec();
        if let (Fault::WrongTextPast64B, Some(byte)) = (self.fault, text.get_mut(64)) {
            *byte ^= 1;
        }
        let mut sealed = self.sealed(nonce, aad, &text)?;
        match self.fault {
            Fault::WrongTag => sealed[input.len()] ^= 1,
            Fault::SealsOtherwiseAfterwards if self.refused => sealed[input.len()] ^= 1,
            Fault::NoTag => sealed.truncate(input.len()),
            _ => {}
        }
        output[..sealed.len()].copy_from_slice(&sealed);
        Ok(sealed.len())
    }

    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let (mut text, mut is_right) = self.opened(nonce, aad, input)?;
        if !is_right {
            let mut other = nonce.to_vec();
            other[0] ^= 1;
            match self.fault {
                Fault::TakesAnyData => (text, is_right) = self.opened(nonce, &[], input)?,
                Fault::TakesTwoNonces => (text, is_right) = self.opened(&other, aad, input)?,
                _ => {}
            }
        }
        if is_right || self.fault == Fault::ReleasesPlaintext {
            output[..text.len()].copy_from_slice(&text);
        }
        if !is_right || (self.refused && self.fault == Fault::StaysRefused) {
            self.refused = true;
            let small = Error::OutputTooSmall { given_B: 0, needed_B: 1 };
            return Err(if self.fault == Fault::RefusesAsSomethingElse { small } else { Error::Forged });
        }
        Ok(text.len())
    }
}

#[test]
fn a_sound_aead_from_outside_is_proven_by_what_was_published() {
    let proof = prove_suite(&Spec::parse(ID).unwrap(), &Faulty(Fault::Nothing)).unwrap();
    assert_eq!((proof.kind, proof.composed), ("published", false));
    assert!(proof.vectors > 10 && proof.published == proof.vectors, "{proof:?}");
}

#[test]
fn an_aead_that_breaks_one_law_is_found_out_and_the_law_is_named() {
    let law = |operation, length_B| ProofError::Disagreement { operation, length_B };
    for (fault, found) in [
        (Fault::TakesAnyTag, law("refuse a changed tag of", 0)),
        (Fault::TakesAnyEnd, law("refuse a changed tag of", 0)),
        (Fault::TakesAnyStart, law("refuse a changed tag of", 0)),
        (Fault::TakesCutTags, law("refuse a cut message of", 0)),
        (Fault::TakesAnyData, law("refuse changed associated data of", 0)),
        (Fault::TakesTwoNonces, law("refuse a changed nonce of", 0)),
        (Fault::ReleasesPlaintext, law("keep back the plaintext of", 1)),
        (Fault::StaysRefused, law("open, after forgeries,", 0)),
        (Fault::SealsOtherwiseAfterwards, law("seal, after forgeries,", 0)),
        (Fault::RefusesAsSomethingElse, ProofError::Refused(Error::OutputTooSmall { given_B: 0, needed_B: 1 })),
    ] {
        assert_eq!(prove_suite(&Spec::parse(ID).unwrap(), &Faulty(fault)), Err(found), "{fault:?}");
    }
}

#[test]
fn an_aead_that_seals_wrongly_fails_its_vectors() {
    for fault in [Fault::WrongTag, Fault::WrongTextPast64B, Fault::NoTag] {
        let verdict = prove_suite(&Spec::parse(ID).unwrap(), &Faulty(fault));
        assert!(matches!(verdict, Err(ProofError::Vector { operation: "seal", .. })), "{fault:?}: {verdict:?}");
    }
}
