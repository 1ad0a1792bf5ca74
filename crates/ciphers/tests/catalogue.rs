//! What the cards say and how ids are read.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;
use std::fs::read_to_string;
use std::path::Path;
use wattlock_ciphers::{Error, MAX_IV_B, MAX_KEY_B, MAX_PADDING_B, Mode, Spec, cards, listed, nearest};

fn parsed(id: &str) -> Spec {
    Spec::parse(id).unwrap_or_else(|error| panic!("{id}: {error}"))
}

#[test]
fn every_listed_id_prints_as_it_is_read() {
    for id in cards().flat_map(|card| card.listed) {
        assert_eq!(parsed(id).to_string(), *id);
    }
    let ids: Vec<_> = cards().flat_map(|card| card.listed).copied().collect();
    assert_eq!(listed().map(|spec| spec.to_string()).collect::<Vec<_>>(), ids);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}

#[test]
fn a_card_is_a_family_and_a_mode() {
    let ids: HashSet<_> = cards().map(|card| card.id).collect();
    assert_eq!(ids.len(), cards().count());
    for card in cards() {
        let suffix =
            if matches!(card.mode, Mode::Stream | Mode::Aead) { String::new() } else { format!("-{}", card.mode) };
        assert_eq!(card.id, format!("{}{suffix}", card.family));
        match card.mode {
            Mode::Ecb => assert_eq!(card.iv_bits, 0, "{}", card.id),
            Mode::Stream | Mode::Aead => {}
            _ => assert_eq!(card.iv_bits, card.block_bits, "{}", card.id),
        }
        assert_eq!(card.tag_bits > 0, card.mode == Mode::Aead, "{}", card.id);
    }
}

#[test]
fn the_bounds_hold_for_every_card() {
    for card in cards() {
        assert!(usize::from(card.key_bits.most) <= MAX_KEY_B * 8, "{}", card.id);
        assert!(usize::from(card.iv_bits) <= MAX_IV_B * 8, "{}", card.id);
        assert!(usize::from(card.block_bits) <= MAX_PADDING_B * 8, "{}", card.id);
        let codes = card.codes.iter().flat_map(|code| [code.provider, code.crate_name, code.version]);
        assert!(codes.chain([card.source]).all(|text| !text.is_empty()), "{}", card.id);
        let providers: HashSet<_> = card.codes.iter().map(|code| code.provider).collect();
        assert!(!card.codes.is_empty() && providers.len() == card.codes.len(), "{}", card.id);
    }
}

#[test]
fn the_versions_on_the_cards_are_those_that_cargo_locked() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = read_to_string(path).unwrap();
    for code in cards().flat_map(|card| card.codes) {
        let entry = format!("name = \"{}\"\nversion = \"{}\"\n", code.crate_name, code.version);
        assert!(lock.contains(&entry), "{} {} is not in Cargo.lock", code.crate_name, code.version);
    }
}

#[test]
fn an_id_gives_its_numbers() {
    let spec = parsed("rc2-128-e64-cbc");
    assert_eq!((spec.key_bits, spec.effective_bits, spec.rounds), (128, 64, None));
    assert_eq!((spec.key_B(), spec.iv_B(), spec.block_B()), (16, 8, 8));
    let spec = parsed("rc5-32-16-128-ctr");
    assert_eq!((spec.key_bits, spec.effective_bits, spec.rounds), (128, 128, Some(16)));
    assert_eq!(parsed("3des-cbc").key_bits, 192);
    assert_eq!(parsed("3des2-cbc").key_bits, 128);
    assert_eq!(parsed("des-ecb").iv_B(), 0);
    assert_eq!((parsed("rc4-128").iv_B(), parsed("rc4-128").block_B()), (0, 1));
}

#[test]
fn effective_bits_that_are_all_bits_are_not_written() {
    assert_eq!(parsed("rc2-128-e128-cbc").to_string(), "rc2-128-cbc");
    assert_eq!(parsed("rc2-128-e128-cbc"), parsed("rc2-128-cbc"));
}

#[test]
fn rounds_that_are_all_rounds_are_not_written_and_fewer_are_marked() {
    assert_eq!(parsed("rijndael256-128-r14-cbc").to_string(), "rijndael256-128-cbc");
    assert_eq!(parsed("rijndael128-192-cbc").rounds, Some(12));
    assert!(!parsed("rijndael128-192-r12-ctr").is_reduced() && !parsed("rc6-8-128-cbc").is_reduced());
    for id in ["rijndael128-192-r11-ctr", "rijndael192-128-r4-ecb"] {
        assert_eq!(parsed(id).to_string(), id);
        assert!(parsed(id).is_reduced(), "{id}");
    }
}

#[test]
fn unlisted_sizes_that_the_family_allows_are_read() {
    for id in ["blowfish40-ctr", "rc2-8-e1024-ecb", "rc4-2048", "rc2-1024-cbc"] {
        assert_eq!(parsed(id).to_string(), id);
    }
}

#[test]
fn a_wrong_number_in_an_id_is_answered_with_the_right_ones() {
    for (id, message) in [
        ("aes100-cbc", "aes has no key of 100 bits, only of 128, 192 or 256"),
        ("blowfish24-cbc", "blowfish has no key of 24 bits, only of 32 to 448 in steps of 8"),
        ("rc4-99999999", "rc4 has no key of 65535 bits, only of 8 to 2048 in steps of 8"),
        ("rc5-32-12-64-cbc", "rc5 has no key of 64 bits, only of 128"),
        ("rc5-32-13-128-cbc", "rc5 has no 13 rounds here, only 8 to 28 in steps of 4"),
        ("rc6-13-128-cbc", "rc6 has no 13 rounds here, only 8, 12, 16, 20 or 24"),
        ("rijndael128-128-r11-cbc", "rijndael128 has no 11 rounds here, only 4 to 10"),
        ("rijndael192-256-r3-ecb", "rijndael192 has no 3 rounds here, only 4 to 14"),
        ("rijndael256-160-cbc", "rijndael256 has no key of 160 bits, only of 128, 192 or 256"),
        ("rc2-128-e1025-cbc", "rc2 has no 1025 effective key bits, only 1 to 1024"),
    ] {
        assert_eq!(Spec::parse(id).unwrap_err().to_string(), message, "{id}");
    }
}

#[test]
fn an_id_that_is_written_otherwise_is_unknown() {
    for id in ["", "aes", "aes-cbc", "AES128-CBC", "aes0128-cbc", "aes128-cbc ", "des64-cbc", "rc4", "rc4-128-ctr"] {
        assert_eq!(Spec::parse(id), Err(Error::UnknownCipher), "{id}");
    }
}

#[test]
fn a_misspelt_id_finds_the_one_that_was_meant() {
    for (given, meant) in [
        ("aes128cbc", "aes128-cbc"),
        ("AES_128_CTR", "aes128-ctr"),
        ("3des-cbk", "3des-cbc"),
        ("rc5-32-12-16-cbc", "rc5-32-12-128-cbc"),
        ("blowfish-128-cbc", "blowfish128-cbc"),
        ("rc4-129", "rc4-128"),
    ] {
        assert_eq!(nearest(given).map(|spec| spec.to_string()).as_deref(), Some(meant), "{given}");
    }
    for far in ["", "x", "kangaroo", "a name that is much longer than any id can be, by far"] {
        assert_eq!(nearest(far), None, "{far}");
    }
}

#[test]
fn each_path_has_a_name() {
    let path = |id| parsed(id).path(parsed(id).code("rustcrypto").unwrap());
    let aes = path("aes128-cbc");
    assert!(["vaes512", "vaes256", "aesni", "armv8", "fixsliced"].contains(&aes), "{aes}");
    assert_eq!((path("des-cbc"), path("blowfish128-cbc"), path("rc5-32-12-128-cbc")), ("tables", "tables", "portable"));
    for id in ["aes128-ctr", "aes128-gcm", "aes128-ccm", "aes128-ccm8", "aes128-gcm-siv", "aes128-ocb3", "aes128-eax"] {
        assert_eq!(path(id), aes, "{id}");
    }
    let rijndael = parsed("rijndael256-256-cbc");
    let way = rijndael.path(rijndael.code("wattlock").unwrap());
    assert!(["vaes512", "vaes256", "aesni", "bitsliced"].contains(&way), "{way}");
    // Both look for the same instructions, but for the permutation of bytes that the widest way needs here.
    assert_eq!(way == "bitsliced", !cfg!(target_arch = "x86_64") || aes == "fixsliced", "{way}, {aes}");
}

#[test]
fn the_soft_aes_is_built_without_the_aes_instructions() {
    // Where RUSTFLAGS hides the flag of `.cargo/config.toml` there must be no such code at all, and a reason in its place.
    let spec = parsed("aes128-cbc");
    assert_eq!(spec.code("rustcrypto-soft").is_some(), cfg!(aes_force_soft));
    assert_eq!(
        spec.card.left_out().map(|(provider, _)| provider),
        (!cfg!(aes_force_soft)).then_some("rustcrypto-soft")
    );
    assert_eq!(parsed("des-cbc").card.left_out(), None);
    assert!(cfg!(aes_force_soft) || std::env::var_os("RUSTFLAGS").is_some(), "`.cargo/config.toml` is not read");
}
