//! A digest of what each cipher that is built in makes, so that two builds of the same code can be compared.
#![forbid(unsafe_code)]

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use wattlock_bench::implementation::built_in;
use wattlock_bench::subjects::REGISTRY;
use wattlock_ciphers::{Code, Direction, Error, Mode, Spec, listed};

use crate::sources::PageSources;

/// Around the blocks of 8 and 16 bytes, and a packet.
const LENGTHS_B: [usize; 9] = [0, 1, 7, 8, 15, 16, 17, 64, 1500];
/// A ciphertext is longer than its message by a block of padding or a tag.
const ROOM_B: usize = 32;
const AAD: &[u8] = b"what is authenticated and not encrypted";

/// A line for each cipher and each of its codes, `ID PROVIDER SHA-256`, and one for all else that can be measured,
/// `ID PROVIDER PROOF`.
///
/// # Errors
/// The first that fails its proof or a message.
pub fn digests() -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    for spec in listed() {
        for code in spec.card.codes {
            let digest = digest(&spec, code).map_err(|error| format!("{spec} {}: {error}", code.provider))?;
            lines.push(format!("{spec} {} {digest}", code.provider));
        }
    }
    let sources = PageSources::built_in();
    for id in REGISTRY.ids().filter(|id| Spec::parse(id).is_err()) {
        let subject = REGISTRY.find(id)?;
        for provider in subject.providers(&sources) {
            // RSA is left out of what is built in.
            if let Ok(variant) = subject.variant(&provider, &sources) {
                lines.push(format!("{id} {provider} {}", variant.prove()?.kind));
            }
        }
    }
    Ok(lines)
}

fn digest(spec: &Spec, code: &'static Code) -> Result<String, Error> {
    let implementation = built_in(spec, code);
    let key: Vec<u8> = (1..=u8::MAX).take(spec.key_B()).collect();
    let iv: Vec<u8> = (100..=u8::MAX).take(spec.iv_B()).collect();
    let mut cipher = implementation.key_setup(&key, Direction::Encrypt)?;
    let mut hash = Sha256::new();
    for length_B in LENGTHS_B {
        let message: Vec<u8> = (0..=u8::MAX).cycle().take(length_B).collect();
        let mut output = vec![0; length_B + ROOM_B];
        let written_B = match spec.card.mode {
            Mode::Aead => cipher.seal(&iv, AAD, &message, &mut output)?,
            _ => cipher.encrypt(&iv, &message, &mut output)?,
        };
        hash.update(&output[..written_B]);
    }
    Ok(HEXLOWER.encode(&hash.finalize()))
}
