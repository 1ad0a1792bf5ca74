//! Each part of the proof finds what no other part does: an implementation with one fault, and the part that names it.
#![allow(clippy::unwrap_used, non_snake_case)]

use wattlock_ciphers::proof::{Message, ProofError, expected, prove_suite};
use wattlock_ciphers::{Cipher, Direction, Error, Spec, Suite, Visitor};

/// What is wrong with an implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// Messages of 33 bytes are encrypted with a wrong bit, and decrypted so that they come back.
    Of33BothWays,
    /// Ciphertexts of 33 bytes are decrypted with a wrong bit.
    Of33Back,
    /// Ciphertexts of 33 bytes are refused.
    Of33Refused,
    /// Parts of more than 64 blocks are wrong behind those, both ways, and whole messages are right.
    LongParts,
    /// As that, on the way back alone.
    LongPartsBack,
    /// Takes so much for right padding.
    Takes(Padding),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Padding {
    OfZero,
    LongerThanABlock,
    Of255,
    /// The last byte alone is looked at.
    ByItsLastByte,
    /// The first and the last byte are looked at.
    ByItsEnds,
    Missing,
}

#[derive(Clone)]
struct Faulty {
    id: &'static str,
    fault: Fault,
}

struct FaultyCipher {
    fault: Fault,
    sound: Box<dyn Cipher>,
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
        let spec = Spec::parse(self.id).unwrap();
        Ok(FaultyCipher { fault: self.fault, sound: spec.visit(&spec.card.codes[0], WithKey(key))? })
    }
}

impl FaultyCipher {
    fn takes(&self, padding: Padding) -> bool {
        self.fault == Fault::Takes(padding)
    }
}

impl Cipher for FaultyCipher {
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let written = self.sound.encrypt(iv, input, output)?;
        if input.len() == 33 && self.fault == Fault::Of33BothWays {
            output[7] ^= 1;
        }
        Ok(written)
    }

    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let done = self.sound.decrypt(iv, input, output);
        if done == Err(Error::BadPadding) {
            // The sound one left the whole text, or none: once more, without looking at its end.
            let mut chain = iv.to_vec();
            self.sound.decrypt_part(&mut chain, input, output)?;
            let last = input.len().checked_sub(1).map(|end| usize::from(output[end]));
            let first = last
                .and_then(|last| input.len().checked_sub(last))
                .map(|from| usize::from(output[from.min(input.len() - 1)]));
            return match last {
                None if self.takes(Padding::Missing) => Ok(0),
                Some(0) if self.takes(Padding::OfZero) => Ok(input.len()),
                Some(255) if self.takes(Padding::Of255) => Ok(0),
                Some(17) if self.takes(Padding::LongerThanABlock) => Ok(input.len().saturating_sub(17)),
                Some(last @ 1..=16) if self.takes(Padding::ByItsLastByte) => Ok(input.len() - last),
                Some(last @ 1..=16) if self.takes(Padding::ByItsEnds) && first == Some(last) => Ok(input.len() - last),
                _ => done,
            };
        }
        let written = done?;
        match (input.len(), self.fault) {
            (33, Fault::Of33BothWays) => output[7] ^= 1,
            (33, Fault::Of33Back) => output[32] ^= 0x80,
            (33, Fault::Of33Refused) => return Err(Error::BadPadding),
            _ => {}
        }
        Ok(written)
    }

    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.sound.encrypt_part(iv, input, output)?;
        if input.len() > 64 * 16 && self.fault == Fault::LongParts {
            output[64 * 16] ^= 1;
        }
        Ok(())
    }

    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.sound.decrypt_part(iv, input, output)?;
        if input.len() > 64 * 16 && [Fault::LongParts, Fault::LongPartsBack].contains(&self.fault) {
            output[64 * 16] ^= 1;
        }
        Ok(())
    }
}

fn found(id: &'static str, fault: Fault) -> Result<(), ProofError> {
    prove_suite(&Spec::parse(id).unwrap(), &Faulty { id, fault }).map(|_| ())
}

#[test]
fn an_implementation_without_a_fault_is_proven() {
    for id in ["aes128-ctr", "aes128-cbc", "aes128-ecb"] {
        assert_eq!(found(id, Fault::Nothing), Ok(()), "{id}");
    }
}

#[test]
fn agreement_finds_a_length_of_which_both_ways_are_wrong_alike() {
    let length = ProofError::Disagreement { operation: "encrypt", length_B: 33 };
    assert_eq!(found("aes128-ctr", Fault::Of33BothWays), Err(length));
}

#[test]
fn agreement_finds_a_length_of_which_the_way_back_alone_is_wrong() {
    let length = ProofError::Disagreement { operation: "decrypt", length_B: 33 };
    assert_eq!(found("aes128-ctr", Fault::Of33Back), Err(length));
    assert_eq!(found("aes128-ctr", Fault::Of33Refused), Err(ProofError::Refused(Error::BadPadding)));
}

#[test]
fn composition_finds_parts_that_are_wrong_where_many_blocks_are_taken_at_once() {
    let found_by = |operation| Err(ProofError::Composition { operation });
    assert_eq!(found("aes128-ctr", Fault::LongParts), found_by("encrypt a part"));
    assert_eq!(found("aes128-ctr", Fault::LongPartsBack), found_by("decrypt a part"));
}

#[test]
fn padding_that_is_none_is_found_whatever_is_wrong_with_it() {
    let disagreement = |operation, length_B| Err(ProofError::Disagreement { operation, length_B });
    for id in ["aes128-cbc", "aes128-ecb"] {
        for (padding, operation) in [
            (Padding::OfZero, "refuse padding of 0 bytes at the end of"),
            (Padding::LongerThanABlock, "refuse padding longer than a block at the end of"),
            (Padding::Of255, "refuse padding of 255 bytes at the end of"),
            (Padding::ByItsLastByte, "refuse padding whose first byte differs, at the end of"),
            (Padding::ByItsEnds, "refuse padding whose middle differs, at the end of"),
        ] {
            assert_eq!(found(id, Fault::Takes(padding)), disagreement(operation, 16), "{id}: {padding:?}");
        }
        let missing = disagreement("refuse a message without its padding of", 0);
        assert_eq!(found(id, Fault::Takes(Padding::Missing)), missing, "{id}");
    }
}

/// What the card's code under this name makes of a message.
struct Encrypted<'e>(Message<'e>, &'e mut [u8]);

impl Visitor for Encrypted<'_> {
    type Output = usize;

    fn visit<S: Suite>(self, _: &Spec, suite: S) -> usize {
        let Message { key, iv, text, .. } = self.0;
        suite.key_setup(key, Direction::Encrypt).unwrap().encrypt(iv, text, self.1).unwrap()
    }
}

#[test]
fn the_definition_says_what_the_first_code_has_to_give_at_any_length() {
    for id in [
        "blowfish128-ecb",
        "blowfish128-cbc",
        "blowfish128-cfb",
        "blowfish128-ofb",
        "blowfish128-ctr",
        "camellia256-cbc",
        "rc4-128",
        "xor",
        "chacha20",
        "salsa20",
    ] {
        let spec = Spec::parse(id).unwrap();
        let first = &spec.card.codes[0];
        assert_eq!(spec.card.codes.len(), 1, "{id}: another code would be asked");
        for length_B in [0, 1, 31, 32, 33, 4096, 70_001] {
            let text: Vec<u8> = (0..length_B).map(|at: usize| (at * at / 32).to_le_bytes()[0]).collect();
            let (key, iv) = (vec![0x5b; spec.key_B()], vec![0xfe; spec.iv_B()]);
            let message = Message { key: &key, iv: &iv, aad: &[], text: &text };
            let (mut right, mut ours) = (vec![0; length_B + 32], vec![0; length_B + 32]);
            let right_B = expected(&spec, Some(first), message, &mut right).unwrap().unwrap();
            let ours_B = spec.visit(first, Encrypted(message, &mut ours));
            assert_eq!(ours[..ours_B], right[..right_B], "{id}, {length_B} bytes");
        }
    }
}

#[test]
fn a_code_is_never_held_against_itself() {
    let spec = Spec::parse("chacha20-poly1305").unwrap();
    let (key, iv) = ([1; 32], [2; 12]);
    let message = Message { key: &key, iv: &iv, aad: &[3], text: b"text" };
    let mut output = [0; 64];
    assert_eq!(expected(&spec, Some(&spec.card.codes[0]), message, &mut output), Ok(None));
    assert_eq!(expected(&spec, None, message, &mut output), Ok(Some(20)));
}
