//! Baselines without any security: a repeated key added to the message, and a copy. They tell what a pass over the bytes
//! costs by itself.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, baselines::Way};
use crate::card::{BLANK, Card, Code, Mode, Sizes, Timing};
use crate::cipher::{BuiltIn, Cipher};
use crate::modes::{check_key, has_room, no_iv};
use crate::visit::ways;
use crate::{Error, Spec};

const CODE: Code = Code::ours(Timing::Constant, Algorithm::baselines(Way::Xor));

const XOR: Card = Card {
    id: "xor",
    family: "xor",
    mode: Mode::Stream,
    templates: &["xor"],
    listed: &["xor"],
    block_bits: 8,
    iv_bits: 0,
    source: "no security: a key of 16 bytes, added over and over",
    codes: &[CODE],
    definition: Some(added),
    ..BLANK
};

static ALL: [Card; 2] = [
    XOR,
    Card {
        id: "null",
        family: "null",
        templates: &["null"],
        listed: &["null"],
        key_bits: Sizes::only(0),
        source: "no security: a copy",
        codes: &[Code { algorithm: Algorithm::baselines(Way::Null), ..CODE }],
        definition: Some(copied),
        ..XOR
    },
];

pub(crate) const CARDS: &[&[Card]] = &[&ALL];

ways! {
    Xor => visit_built_in::<Xor>,
    Null => visit_built_in::<Null>,
}

fn added(key: &[u8], _iv: &[u8], message: &[u8], output: &mut [u8]) {
    for ((output, message), key) in output.iter_mut().zip(message).zip(key.iter().cycle()) {
        *output = message ^ key;
    }
}

fn copied(_key: &[u8], _iv: &[u8], message: &[u8], output: &mut [u8]) {
    output.copy_from_slice(message);
}

/// The key alone.
pub(crate) struct Xor([u8; 16]);

impl BuiltIn for Xor {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        check_key(spec, key)?;
        let mut kept = [0; 16];
        kept.copy_from_slice(key);
        Ok(Self(kept))
    }
}

impl Cipher for Xor {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        no_iv(iv)?;
        let output = has_room(output, input.len())?;
        let (blocks, tail) = input.as_chunks::<16>();
        let (outputs, tail_output) = output.as_chunks_mut::<16>();
        for (input, output) in blocks.iter().zip(outputs) {
            *output = (u128::from_ne_bytes(*input) ^ u128::from_ne_bytes(self.0)).to_ne_bytes();
        }
        added(&self.0, iv, tail, tail_output);
        Ok(input.len())
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.encrypt(iv, input, output)
    }
}

/// Nothing.
pub(crate) struct Null;

impl BuiltIn for Null {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        check_key(spec, key).map(|()| Self)
    }
}

impl Cipher for Null {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        no_iv(iv)?;
        has_room(output, input.len())?.copy_from_slice(input);
        Ok(input.len())
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.encrypt(iv, input, output)
    }
}
