//! Modes by their definitions, one call of the primitive a block, and what a right implementation makes of a message.

use super::held::first_code;
use crate::cipher::{Cipher, Suite};
use crate::{Code, Error, MAX_IV_B, Mode, Spec, Visitor};

/// A message under a key.
#[derive(Debug, Clone, Copy)]
pub struct Message<'m> {
    /// The key.
    pub key: &'m [u8],
    /// The IV or nonce.
    pub iv: &'m [u8],
    /// Associated data of an AEAD.
    pub aad: &'m [u8],
    /// The plaintext, of any length.
    pub text: &'m [u8],
}

/// What a right implementation makes of `message`, padding and tag included: by the card's first code; where that is the
/// one in question by the second, or else by the definition of the mode or stream.
///
/// * `code`: the code in question, `None` for one from outside of this crate.
/// * Returns the bytes written; `None` where nothing but `code` itself could tell.
///
/// # Errors
/// What the other code refuses.
pub fn expected(
    spec: &Spec,
    code: Option<&Code>,
    message: Message<'_>,
    output: &mut [u8],
) -> Result<Option<usize>, Error> {
    if let Some(other) = spec.card.codes.iter().find(|other| Some(*other) != code) {
        return spec.visit(other, Forward { message, output }).map(Some);
    }
    match (spec.in_ecb(), spec.card.definition) {
        (Some(ecb), _) => by_definition(spec, &ecb, message, output).map(Some),
        (None, Some(definition)) => {
            let written_B = message.text.len();
            definition(message.key, message.iv, message.text, &mut output[..written_B]);
            Ok(Some(written_B))
        }
        (None, None) => Ok(None),
    }
}

struct Forward<'f> {
    message: Message<'f>,
    output: &'f mut [u8],
}

impl Visitor for Forward<'_> {
    type Output = Result<usize, Error>;

    fn visit<S: Suite>(self, spec: &Spec, suite: S) -> Self::Output {
        let Message { key, iv, aad, text } = self.message;
        let mut cipher = suite.key_setup(key, crate::Direction::Encrypt)?;
        match spec.card.mode {
            Mode::Aead => cipher.seal(iv, aad, text, self.output),
            _ => cipher.encrypt(iv, text, self.output),
        }
    }
}

/// The whole message, its padding by PKCS#7 (RFC 5652, 6.3) where the mode pads.
fn by_definition(spec: &Spec, ecb: &Spec, message: Message<'_>, output: &mut [u8]) -> Result<usize, Error> {
    let Message { key, iv, text, .. } = message;
    let (mode, block_B) = (spec.card.mode, ecb.block_B());
    let pads = matches!(mode, Mode::Ecb | Mode::Cbc);
    let whole_B = if pads { text.len() / block_B * block_B } else { text.len() };
    let (whole, rest) = text.split_at(whole_B);
    let (expected, after) = output.split_at_mut(whole_B);
    let chain = &mut [0; MAX_IV_B];
    ecb.visit(first_code(ecb)?, ByDefinition { mode, key, iv, chain, message: whole, expected })?;
    if !pads {
        return Ok(whole_B);
    }
    let mut last = [0; MAX_IV_B];
    let last = &mut last[..block_B];
    #[allow(clippy::cast_possible_truncation, reason = "a block has at most 32 bytes")]
    last.fill((block_B - rest.len()) as u8);
    last[..rest.len()].copy_from_slice(rest);
    let iv = *chain;
    let iv = &iv[..if mode == Mode::Cbc { block_B } else { 0 }];
    let expected = &mut after[..block_B];
    ecb.visit(first_code(ecb)?, ByDefinition { mode, key, iv, chain, message: last, expected })?;
    Ok(whole_B + block_B)
}

/// A mode by its definition, one call of the primitive a block (NIST SP 800-38A, 6.1 to 6.5).
pub(super) struct ByDefinition<'d> {
    pub(super) mode: Mode,
    pub(super) key: &'d [u8],
    pub(super) iv: &'d [u8],
    /// Where the value is left with which the next part of the message begins.
    pub(super) chain: &'d mut [u8; MAX_IV_B],
    pub(super) message: &'d [u8],
    pub(super) expected: &'d mut [u8],
}

impl Visitor for ByDefinition<'_> {
    type Output = Result<(), Error>;

    fn visit<S: Suite>(self, ecb: &Spec, suite: S) -> Result<(), Error> {
        let mut primitive = suite.key_setup(self.key, crate::Direction::Encrypt)?;
        self.compute(ecb, &mut primitive)
    }
}

impl ByDefinition<'_> {
    fn compute(self, ecb: &Spec, primitive: &mut dyn Cipher) -> Result<(), Error> {
        let block_B = ecb.block_B();
        let mut output = [0; MAX_IV_B];
        let (chain, output) = (&mut self.chain[..block_B], &mut output[..block_B]);
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
                Mode::Cfb | Mode::Ofb => {
                    primitive.encrypt_part(&mut [], chain, output)?;
                    expected.copy_from_slice(text);
                    add(expected, output);
                    let fed_back = if self.mode == Mode::Cfb { &*expected } else { &*output };
                    chain[..fed_back.len()].copy_from_slice(fed_back);
                }
                _ => primitive.encrypt_part(&mut [], text, expected)?,
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
    use super::*;

    #[test]
    fn the_counter_runs_over_its_end_to_zero() {
        let mut counter = [0xff; 16];
        count(&mut counter);
        assert_eq!(counter, [0; 16]);
        count(&mut counter[..8]);
        assert_eq!(counter[..9], [0, 0, 0, 0, 0, 0, 0, 1, 0]);
    }
}
