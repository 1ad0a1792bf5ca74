//! OpenSSL against the ciphers that are built in.
#![allow(clippy::unwrap_used, clippy::panic)]

use wattlock_ciphers::{Cipher, Direction, Error, Suite, proof};
use wattlock_records::CodePath;

use super::evp::{aes_path, library, name, suite};
use super::keyed::EvpSuite;
use super::*;
use crate::adapter::agreement;
use crate::libraries::libcrypto::Libcrypto;

fn spec(id: &str) -> Spec {
    Spec::parse(id).unwrap()
}

/// Where there is a library.
fn evp_suite(id: &str) -> Option<EvpSuite> {
    let spec = spec(id);
    let evp = library().and_then(|library| library.fetch(&name(&spec)?));
    evp.inspect_err(|error| wattlock_test_tools::missing(&error.to_string())).ok().map(|evp| suite(&spec, evp).unwrap())
}

#[test]
fn every_cipher_that_openssl_has_passes_the_proof_of_its_card() {
    let ids = [
        "aes128-cbc",
        "aes256-ctr",
        "aes128-cfb",
        "aes192-ofb",
        "3des-cbc",
        "3des2-ecb",
        "camellia256-ctr",
        "sm4-cbc",
        "chacha20",
        "aes128-gcm",
        "aes128-ccm",
        "aes256-ccm8",
        "aes128-ocb3",
        "chacha20-poly1305",
    ];
    agreement::proves_all(&OpenSsl, &ids);
}

#[test]
fn openssl_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
    agreement::agrees_with_what_is_built_in(&OpenSsl);
}

#[test]
fn a_cipher_that_is_another_one_fails_the_proof() {
    let Some(ctr) = evp_suite("aes128-ctr") else { return };
    assert!(proof::prove_suite(&spec("aes128-cbc"), &ctr).is_err());
}

#[test]
fn rc2_knows_its_effective_bits() {
    for id in ["rc2-128-cbc", "rc2-128-e64-cbc", "rc2-128-e63-cbc", "rc2-64-e128-ecb", "rc2-1024-cbc"] {
        let Some(suite) = evp_suite(id) else { return };
        assert!(proof::prove_suite(&spec(id), &suite).is_ok(), "{id}");
    }
}

#[test]
fn what_does_not_fit_is_refused_before_the_library_sees_it() {
    let Some(cbc) = evp_suite("aes128-cbc") else { return };
    let (key, iv, mut output) = ([1; 16], [2; 16], [0; 32]);
    let refusal = |result: Result<usize, Error>| result.unwrap_err();
    assert!(matches!(
        cbc.key_setup(&key[1..], Direction::Encrypt).err(),
        Some(Error::WrongKeyLength { given_bits: 120, .. })
    ));
    let mut cipher = cbc.key_setup(&key, Direction::Encrypt).unwrap();
    assert_eq!(refusal(cipher.encrypt(&iv[1..], &[], &mut output)), Error::WrongIvLength { given_B: 15, right_B: 16 });
    let small = Error::OutputTooSmall { given_B: 31, needed_B: 32 };
    assert_eq!(refusal(cipher.encrypt(&iv, &[0; 16], &mut output[..31])), small);
    assert_eq!(refusal(cipher.decrypt(&iv, &[0; 32], &mut output[..31])), small);
    let cut = Error::NotWholeBlocks { given_B: 17, block_B: 16 };
    assert_eq!(refusal(cipher.decrypt(&iv, &[0; 17], &mut output)), cut);
    assert_eq!(cipher.encrypt_part(&mut [0; 16], &[0; 17], &mut output), Err(cut));
    assert_eq!(refusal(cipher.decrypt(&iv, &[0; 32], &mut output)), Error::BadPadding);
    assert_eq!(refusal(cipher.decrypt(&iv, &[], &mut output)), Error::BadPadding);
    // And goes on as if nothing had been.
    assert_eq!(cipher.encrypt(&iv, &[0; 16], &mut output), Ok(32));
}

#[test]
fn ctr_of_small_blocks_and_unknown_families_are_errors_that_say_so() {
    assert_eq!(name(&spec("des-ctr")).unwrap_err(), "OpenSSL has no CTR mode for blocks of 64 bits");
    assert!(name(&spec("rc6-20-128-cbc")).unwrap_err().contains("no cipher of this family"));
}

#[test]
fn a_library_that_is_absent_is_an_error_that_says_how_to_get_it() {
    let error = Libcrypto::open(&["libno-such-crypto.so.9"]).err().unwrap();
    assert!(error.contains("libno-such-crypto.so.9") && error.contains("package libssl3"), "{error}");
}

#[test]
fn the_path_of_aes_is_read_from_the_features_that_the_library_found() {
    assert_eq!(aes_path("CPUINFO: OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab"), Some(CodePath::Aesni));
    assert_eq!(aes_path("OPENSSL_ia32cap=0xfdfa3203078bffff:0x0 env:~0x200000000000000"), Some(CodePath::Ssse3));
    assert_eq!(aes_path("OPENSSL_ia32cap=0xfdfa3003078bffff:0x0"), Some(CodePath::Tables));
    assert_eq!(aes_path("OPENSSL_armcap=0x7d"), Some(CodePath::Armv8));
    assert_eq!(aes_path("OPENSSL_armcap=0x1"), None);
    assert_eq!(aes_path("N/A"), None);
}
