//! RC4: a key stream, keys of 1 to 256 bytes.
#![forbid(unsafe_code)]

use ::cipher::{KeyInit, StreamCipher};

use crate::algorithm::{Algorithm, rc4::Way};
use crate::card::{BLANK, Card, Code, Mode, Sizes, Timing};
use crate::cipher::{BuiltIn, Cipher};
use crate::modes::{beside, check_key, no_iv, wrong_key};
use crate::visit::ways;
use crate::{Error, Spec};

/// The state itself.
const CODE: Code = Code::of_crate("rc4", "0.2.0", Timing::TableLookups, Algorithm::rc4(Way::Crate));

static ALL: [Card; 1] = [Card {
    id: "rc4",
    family: "rc4",
    mode: Mode::Stream,
    templates: &["rc4-{key}"],
    listed: &["rc4-40", "rc4-64", "rc4-104", "rc4-128", "rc4-256"],
    key_bits: Sizes::every(8, 8, 2048),
    block_bits: 8,
    iv_bits: 0,
    source: "RFC 6229, 2011; RFC 7465, 2015",
    codes: &[CODE],
    definition: Some(by_definition),
    vectors: include_str!("../../vectors/rc4.txt"),
    ..BLANK
}];

pub(crate) const CARDS: &[&[Card]] = &[&ALL];

ways! { Crate => visit_built_in::<KeyStream> }

/// The key stream and where it stands; encrypting and decrypting are one thing.
pub(crate) struct KeyStream(::rc4::Rc4);

impl KeyStream {
    #[inline]
    fn apply(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        no_iv(iv)?;
        // RC4 counts nothing that could run out, so the unchecked call omits no check.
        self.0.unchecked_apply_keystream_inout(beside(input, output)?);
        Ok(())
    }
}

impl BuiltIn for KeyStream {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        check_key(spec, key)?;
        ::rc4::Rc4::new_from_slice(key).map(Self).map_err(|_| wrong_key(spec, key))
    }
}

impl Cipher for KeyStream {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.apply(iv, input, output).map(|()| input.len())
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.apply(iv, input, output).map(|()| input.len())
    }

    #[inline]
    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.apply(iv, input, output)
    }

    #[inline]
    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.apply(iv, input, output)
    }
}

/// RC4 as it is defined, to hold the library against: any key length, no thought of speed.
fn by_definition(key: &[u8], _iv: &[u8], message: &[u8], output: &mut [u8]) {
    let mut state = [0; 256];
    state.iter_mut().zip(0..=255_u8).for_each(|(place, value)| *place = value);
    let mut j = 0_u8;
    for (i, key) in (0..=255_u8).zip(key.iter().cycle()) {
        j = j.wrapping_add(state[usize::from(i)]).wrapping_add(*key);
        state.swap(usize::from(i), usize::from(j));
    }
    let (mut i, mut j) = (0_u8, 0_u8);
    for (message, output) in message.iter().zip(output) {
        i = i.wrapping_add(1);
        j = j.wrapping_add(state[usize::from(i)]);
        state.swap(usize::from(i), usize::from(j));
        let sum = state[usize::from(i)].wrapping_add(state[usize::from(j)]);
        *output = message ^ state[usize::from(sum)];
    }
}
