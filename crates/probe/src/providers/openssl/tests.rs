//! OpenSSL against the ciphers that are built in.
#![allow(clippy::unwrap_used, clippy::panic)]

use wattlock_ciphers::{MAX_PADDING_B, listed, proof};
use wattlock_engine::SplitMix64;

use super::*;
use crate::keys::bytes;
use crate::providers::Providers;

/// Drawn for each cipher: keys, IVs, lengths.
const DRAWS: u32 = 40;

/// The listed ciphers that the library has; none where it or its legacy provider is absent, which is said.
fn shared() -> Vec<Spec> {
    let missing = |spec: &Spec| match evp(spec) {
        Err(error) if named(spec) => {
            println!("skipped: {spec}: {error}");
            true
        }
        other => other.is_err(),
    };
    listed().filter(|spec| !missing(spec)).collect()
}

/// Whether OpenSSL has a name for this cipher.
fn named(spec: &Spec) -> bool {
    row(spec).zip(column(spec)).is_some_and(|(row, column)| !NAMES[row][column].is_empty())
}

fn spec(id: &str) -> Spec {
    Spec::parse(id).unwrap()
}

/// What a cipher makes of a message: encrypted whole and in two parts, with the IV behind the first; decrypted so too.
fn outcome(spec: &Spec, fresh: &dyn Fn() -> Box<dyn Cipher>, iv: &[u8], message: &[u8]) -> [Vec<u8>; 5] {
    let room = message.len() + MAX_PADDING_B;
    let [mut sealed, mut opened, mut parts, mut back] = [(); 4].map(|()| vec![0; room + MAX_PADDING_B]);
    let written = fresh().encrypt(iv, message, &mut sealed[..room]).unwrap();
    sealed.truncate(written);
    let length = fresh().decrypt(iv, &sealed, &mut opened).unwrap();
    opened.truncate(length);

    let whole = message.len() / spec.block_B() * spec.block_B();
    let cut = whole / 2 / spec.block_B() * spec.block_B();
    let (mut cipher, mut chain) = (fresh(), iv.to_vec());
    cipher.encrypt_part(&mut chain, &message[..cut], &mut parts).unwrap();
    let behind = chain.clone();
    cipher.encrypt_part(&mut chain, &message[cut..whole], &mut parts[cut..]).unwrap();
    parts.truncate(whole);
    let (mut cipher, mut chain) = (fresh(), iv.to_vec());
    cipher.decrypt_part(&mut chain, &parts[..cut], &mut back).unwrap();
    assert_eq!(chain, behind, "{spec}: the IV behind a decrypted part");
    cipher.decrypt_part(&mut chain, &parts[cut..], &mut back[cut..]).unwrap();
    assert_eq!(back[..whole], message[..whole], "{spec}");
    [sealed, opened, parts, behind, chain]
}

fn suite(spec: &Spec) -> EvpSuite {
    EvpSuite { spec: *spec, evp: evp(spec).unwrap() }
}

#[test]
fn openssl_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
    let (mut random, providers) = (SplitMix64::new(3), Providers::new());
    for spec in shared() {
        for draw in 0..DRAWS {
            let (key, iv) = (bytes(&mut random, spec.key_B()), bytes(&mut random, spec.iv_B()));
            let length = if draw < 20 { draw } else { random.below(5_000) };
            let message = bytes(&mut random, usize::try_from(length).unwrap());
            let built_in = providers.find("rustcrypto", &spec).unwrap().code;
            let right = outcome(&spec, &|| built_in.key_setup(&key, Direction::Encrypt).unwrap(), &iv, &message);
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                let fresh = || Box::new(suite(&spec).key_setup(&key, direction).unwrap()) as Box<dyn Cipher>;
                assert_eq!(outcome(&spec, &fresh, &iv, &message), right, "{spec}, {length} bytes");
            }
            assert_eq!(right[1], message, "{spec}");
        }
    }
}

#[test]
fn every_cipher_that_openssl_has_passes_the_proof_of_its_card() {
    for spec in shared() {
        let proof = proof::prove_suite(&spec, &suite(&spec)).unwrap_or_else(|error| panic!("{spec}: {error}"));
        assert_eq!(Ok(proof), proof::prove(&spec, &spec.card.codes[0]), "{spec}");
    }
}

#[test]
fn a_cipher_that_is_another_one_fails_the_proof() {
    if shared().is_empty() {
        return println!("skipped: no library");
    }
    assert!(proof::prove_suite(&spec("aes128-cbc"), &suite(&spec("aes128-ctr"))).is_err());
}

#[test]
fn rc2_knows_its_effective_bits() {
    let specs = ["rc2-128-cbc", "rc2-128-e64-cbc", "rc2-128-e63-cbc", "rc2-64-e128-ecb", "rc2-1024-cbc"].map(spec);
    if let Err(error) = evp(&specs[0]) {
        return println!("skipped: {error}");
    }
    for spec in specs {
        assert!(proof::prove_suite(&spec, &suite(&spec)).is_ok(), "{spec}");
    }
}

#[test]
fn what_does_not_fit_is_refused_before_the_library_sees_it() {
    if shared().is_empty() {
        return println!("skipped: no library");
    }
    let (key, iv, mut output) = ([1; 16], [2; 16], [0; 32]);
    let refusal = |result: Result<usize, Error>| result.unwrap_err();
    let cbc = spec("aes128-cbc");
    assert!(matches!(
        suite(&cbc).key_setup(&key[1..], Direction::Encrypt).err(),
        Some(Error::WrongKeyLength { given_bits: 120, .. })
    ));
    let mut cipher = suite(&cbc).key_setup(&key, Direction::Encrypt).unwrap();
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
    assert_eq!(evp(&spec("des-ctr")).err(), Some("OpenSSL has no CTR mode for blocks of 64 bits"));
    assert!(evp(&spec("rc6-20-128-cbc")).err().unwrap().contains("no cipher of this family"));
}

#[test]
fn a_library_that_is_absent_is_an_error_that_says_how_to_get_it() {
    let error = Libcrypto::open(&["libno-such-crypto.so.9"]).err().unwrap();
    assert!(error.contains("libno-such-crypto.so.9") && error.contains("package libssl3"), "{error}");
}

#[test]
fn the_path_of_aes_is_read_from_the_features_that_the_library_found() {
    assert_eq!(aes_path("CPUINFO: OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab"), Some("aesni"));
    assert_eq!(aes_path("OPENSSL_ia32cap=0xfdfa3203078bffff:0x0 env:~0x200000000000000"), Some("ssse3"));
    assert_eq!(aes_path("OPENSSL_ia32cap=0xfdfa3003078bffff:0x0"), Some("tables"));
    assert_eq!(aes_path("OPENSSL_armcap=0x7d"), Some("armv8-aes"));
    assert_eq!(aes_path("OPENSSL_armcap=0x1"), None);
    assert_eq!(aes_path("N/A"), None);
}

#[test]
fn a_counter_passes_its_end_and_carries_over_many_bytes() {
    let mut counter = [0xff; 16];
    count(&mut counter, 1);
    assert_eq!(counter, [0; 16]);
    count(&mut counter, 0x01_0203);
    assert_eq!(counter[12..], [0, 1, 2, 3]);
    counter[12..].copy_from_slice(&[0, 0xff, 0xff, 0xfe]);
    count(&mut counter, 3);
    assert_eq!(counter[12..], [1, 0, 0, 1]);
}
