//! What was published as the digest of many messages rather than as single vectors.
#![allow(clippy::unwrap_used, non_snake_case)]

use std::fmt::Write;

use sha2::{Digest, Sha256};
use wattlock_ciphers::{Cipher, Direction, Spec, Suite, Visitor};

struct WithKey<'k>(&'k [u8]);

impl Visitor for WithKey<'_> {
    type Output = Box<dyn Cipher>;

    fn visit<S: Suite>(self, _: &Spec, suite: S) -> Self::Output {
        Box::new(suite.key_setup(self.0, Direction::Encrypt).unwrap())
    }
}

/// A cipher for each code of `id`.
fn all_of(id: &str, key: &[u8]) -> Vec<Box<dyn Cipher>> {
    let spec = Spec::parse(id).unwrap();
    spec.card.codes.iter().map(|code| spec.visit(code, WithKey(key))).collect()
}

fn sealed(cipher: &mut dyn Cipher, nonce: &[u8], aad: &[u8], text: &[u8]) -> Vec<u8> {
    let mut output = vec![0; text.len() + 16];
    assert_eq!(cipher.seal(nonce, aad, text, &mut output), Ok(output.len()));
    output
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02X}").unwrap();
        text
    })
}

/// Writes LWC_AEAD_KAT_128_128.txt anew: texts and data of 0 to 32 bytes that count up.
fn ascon_kat(cipher: &mut dyn Cipher, key: &[u8], [nonce, text, data]: [u8; 3]) -> String {
    let counted = |from: u8, length: u8| (from..from + length).collect::<Vec<_>>();
    let lengths = (0..=32).flat_map(|text_B| (0..=32).map(move |data_B| (text_B, data_B)));
    let mut file = String::new();
    for (count, (text_B, data_B)) in (1..).zip(lengths) {
        let (nonce, text, data) = (counted(nonce, 16), counted(text, text_B), counted(data, data_B));
        let ciphertext = sealed(cipher, &nonce, &data, &text);
        let fields = [("Key", key), ("Nonce", &nonce), ("PT", &text), ("AD", &data), ("CT", &ciphertext)];
        writeln!(file, "Count = {count}").unwrap();
        for (name, bytes) in fields {
            writeln!(file, "{name} = {}", hex(bytes)).unwrap();
        }
        file.push('\n');
    }
    file
}

/// The file's SHA-256 in its two editions: where nonce, text and data start to count, and the digest. The first is that
/// of ascon-c at commit 446347f, crypto_aead/asconaead128; the second is shipped with the tests of the crate ascon-aead.
#[test]
fn all_1089_known_answers_of_ascon_aead128_come_out_in_both_editions() {
    let key: Vec<u8> = (0..16).collect();
    for (starts, digest) in [
        ([0x10, 0x20, 0x30], "BBBC34692FE05E5FDA0A3B025585622AB3E3747495E5E3655B29AAE8C2A4BD33"),
        ([0, 0, 0], "6A5B08DDD81C0B4858D39A5572F2F81590B82F4A22FC72C6E67FE505248A6949"),
    ] {
        for mut cipher in all_of("ascon-aead128", &key) {
            assert_eq!(hex(&Sha256::digest(ascon_kat(&mut *cipher, &key, starts))), digest, "{starts:?}");
        }
    }
}

/// RFC 7253, Appendix A: 385 messages under one key, the last over all before it.
#[test]
fn the_wide_test_of_ocb3_gives_the_published_tag() {
    for (id, key_B, tag) in [
        ("aes128-ocb3", 16, "67E944D23256C5E0B6C61FA22FDF1EA2"),
        ("aes256-ocb3", 32, "D90EB8E9C977C88B79DD793D7FFA161C"),
    ] {
        let mut key = vec![0; key_B];
        key[key_B - 1] = 128; // the bits of the tag
        for mut cipher in all_of(id, &key) {
            let numbered = |number: u32| [&[0; 8], &number.to_be_bytes()[..]].concat();
            let mut all = Vec::new();
            for step in 0..128 {
                let zeros = vec![0; step as usize];
                all.extend(sealed(&mut *cipher, &numbered(3 * step + 1), &zeros, &zeros));
                all.extend(sealed(&mut *cipher, &numbered(3 * step + 2), &[], &zeros));
                all.extend(sealed(&mut *cipher, &numbered(3 * step + 3), &zeros, &[]));
            }
            assert_eq!(all.len(), 22_400);
            assert_eq!(hex(&sealed(&mut *cipher, &numbered(385), &all, &[])), tag, "{id}");
        }
    }
}
