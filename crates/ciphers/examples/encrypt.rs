//! Encrypts one message by any cipher of the catalogue that isn't an AEAD, under a key and an IV of counting bytes.
//!
//! `cargo run -p wattlock-ciphers --example encrypt -- twofish256-cbc "sixteen octets!!"`

#![allow(non_snake_case, reason = "the unit is the suffix of the name")]

use wattlock_ciphers::{Cipher, Direction, Error, MAX_IV_B, MAX_KEY_B, MAX_PADDING_B, Spec, Suite, Visitor};

/// What is done with the implementation that an id leads to.
struct Encrypt<'a> {
    message: &'a [u8],
}

impl Visitor for Encrypt<'_> {
    type Output = Result<Vec<u8>, Error>;

    fn visit<S: Suite>(self, spec: &Spec, suite: S) -> Self::Output {
        let key: [u8; MAX_KEY_B] = core::array::from_fn(|place| place.to_le_bytes()[0]);
        let iv: [u8; MAX_IV_B] = core::array::from_fn(|place| place.to_le_bytes()[0]);
        let mut output = vec![0; self.message.len() + MAX_PADDING_B];
        let mut cipher = suite.key_setup(&key[..spec.key_B()], Direction::Encrypt)?;
        let length_B = cipher.encrypt(&iv[..spec.iv_B()], self.message, &mut output)?;
        output.truncate(length_B);
        Ok(output)
    }
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let id = arguments.next().unwrap_or_else(|| "aes128-ctr".to_owned());
    let message = arguments.next().unwrap_or_else(|| "sixteen octets!!".to_owned());
    let spec = Spec::parse(&id)?;
    for code in spec.card.codes {
        let output = spec.visit(code, Encrypt { message: message.as_bytes() })?;
        let hex: String = output.iter().map(|octet| format!("{octet:02x}")).collect();
        println!("{id} by {} ({}): {hex}", code.provider, spec.path(code));
    }
    Ok(())
}
