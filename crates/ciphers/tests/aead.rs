//! What holds for every listed AEAD of every implementation that is built in.
#![allow(clippy::unwrap_used, clippy::panic, non_snake_case)]

use wattlock_ciphers::{Cipher, Direction, Error, Mode, Spec, Suite, Visitor, listed};

const LONGEST_B: usize = 70;
const LONGEST_AAD_B: usize = 40;
/// What an output holds before a call; no byte of a message or a nonce here is this or zero.
const UNTOUCHED: u8 = 0xee;

fn bytes(length_B: usize, from: u8) -> Vec<u8> {
    (from..=200).cycle().take(length_B).collect()
}

/// Makes a cipher of a key.
type Fresh = dyn Fn(&[u8]) -> Result<Box<dyn Cipher>, Error>;

struct Make;

impl Visitor for Make {
    type Output = Box<Fresh>;

    fn visit<S: Suite>(self, _: &Spec, suite: S) -> Self::Output {
        Box::new(move |key| Ok(Box::new(suite.key_setup(key, Direction::Encrypt)?)))
    }
}

struct Sealed {
    nonce: Vec<u8>,
    cipher: Box<dyn Cipher>,
}

impl Sealed {
    fn of(spec: &Spec, fresh: &Fresh) -> Self {
        Self { nonce: bytes(spec.iv_B(), 7), cipher: fresh(&bytes(spec.key_B(), 9)).unwrap() }
    }
}

/// Holds every code of every listed AEAD to a law.
fn for_each(law: fn(&Spec, &Fresh)) {
    let specs: Vec<Spec> = listed().filter(|spec| spec.card.mode == Mode::Aead).collect();
    assert!(specs.len() >= 14, "{} AEADs", specs.len());
    for spec in specs {
        assert!(!spec.card.codes.is_empty(), "{spec}");
        for code in spec.card.codes {
            println!("{spec} of {}", code.provider);
            law(&spec, &*spec.visit(code, Make));
        }
    }
}

fn comes_back(spec: &Spec, fresh: &Fresh) {
    let Sealed { nonce, mut cipher } = Sealed::of(spec, fresh);
    for length_B in (0..=LONGEST_B).chain([255, 1024, 4097]) {
        for aad_B in 0..=LONGEST_AAD_B {
            let (text, aad) = (bytes(length_B, 11), bytes(aad_B, 13));
            let sealed_B = length_B + spec.tag_B();
            let (mut sealed, mut opened) = (vec![UNTOUCHED; sealed_B + 3], vec![UNTOUCHED; length_B + 3]);
            assert_eq!(cipher.seal(&nonce, &aad, &text, &mut sealed), Ok(sealed_B), "{spec}");
            let opened_B = cipher.open(&nonce, &aad, &sealed[..sealed_B], &mut opened);
            assert_eq!(opened_B, Ok(length_B), "{spec}: {length_B} bytes with {aad_B}");
            assert!(opened[..length_B] == text, "{spec}: {length_B} bytes with {aad_B} do not come back");
            let behind = [&sealed[sealed_B..], &opened[length_B..]].concat();
            assert_eq!(behind, [UNTOUCHED; 6], "{spec}: what lies behind the result");
        }
    }
}

#[test]
fn a_message_of_any_length_with_data_of_any_length_comes_back_and_grows_by_its_tag() {
    for_each(comes_back);
}

/// The refusal leaves nothing but zeros and what was there before.
fn assert_forged(spec: &Spec, opened: Result<usize, Error>, output: &[u8], what: &str) {
    assert_eq!(opened, Err(Error::Forged), "{spec}: {what}");
    assert!(output.iter().all(|byte| [0, UNTOUCHED].contains(byte)), "{spec}: {what}: {output:02x?}");
}

fn refuses_every_change(spec: &Spec, fresh: &Fresh) {
    let Sealed { nonce, mut cipher } = Sealed::of(spec, fresh);
    for (length_B, aad_B) in [(0, 0), (5, 3), (16, 16), (37, 21)] {
        let (text, aad) = (bytes(length_B, 11), bytes(aad_B, 13));
        let mut sealed = vec![0; length_B + spec.tag_B()];
        cipher.seal(&nonce, &aad, &text, &mut sealed).unwrap();
        let mut refuses = |nonce: &[u8], aad: &[u8], sealed: &[u8], what: &str| {
            let mut output = vec![UNTOUCHED; length_B + 32];
            let opened = cipher.open(nonce, aad, sealed, &mut output);
            assert_forged(spec, opened, &output, what);
        };
        let changed = |bytes: &[u8], bit: usize| {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        };
        for bit in 0..8 * sealed.len() {
            refuses(&nonce, &aad, &changed(&sealed, bit), &format!("bit {bit} of text and tag changed"));
        }
        for bit in 0..8 * nonce.len() {
            refuses(&changed(&nonce, bit), &aad, &sealed, &format!("bit {bit} of the nonce changed"));
        }
        for bit in 0..8 * aad.len() {
            refuses(&nonce, &changed(&aad, bit), &sealed, &format!("bit {bit} of the associated data changed"));
        }
        refuses(&nonce, &[&aad[..], &[0]].concat(), &sealed, "a zero behind the associated data");
        for cut_B in 0..sealed.len() {
            refuses(&nonce, &aad, &sealed[..cut_B], &format!("cut to {cut_B} bytes"));
        }
        let mut output = vec![0; length_B];
        assert_eq!(cipher.open(&nonce, &aad, &sealed, &mut output), Ok(length_B), "{spec}, after all that");
        assert!(output == text, "{spec}, after all that");
    }
}

#[test]
fn any_bit_changed_and_any_byte_cut_is_refused_without_a_byte_of_plaintext() {
    for_each(refuses_every_change);
}

fn refuses_wrong_sizes(spec: &Spec, fresh: &Fresh) {
    let right_bits = spec.key_bits;
    for given_B in [0, spec.key_B() - 1, spec.key_B() + 1, 2 * spec.key_B()] {
        let error = fresh(&vec![1; given_B]).err();
        assert_eq!(error, Some(Error::WrongKeyLength { given_bits: given_B * 8, right_bits }), "{spec}");
    }
    let Sealed { nonce, mut cipher } = Sealed::of(spec, fresh);
    let (text, right_B) = (bytes(21, 11), spec.iv_B());
    let needed_B = text.len() + spec.tag_B();
    let mut output = vec![UNTOUCHED; needed_B];
    for given_B in (0..=33).filter(|given_B| *given_B != right_B) {
        let (nonce, wrong) = (bytes(given_B, 7), Err(Error::WrongIvLength { given_B, right_B }));
        assert_eq!(cipher.seal(&nonce, &[], &text, &mut output), wrong, "{spec}");
        assert_eq!(cipher.open(&nonce, &[], &text, &mut output), wrong, "{spec}");
    }
    let too_small = |needed_B| Err(Error::OutputTooSmall { given_B: needed_B - 1, needed_B });
    assert_eq!(cipher.seal(&nonce, &[], &text, &mut output[1..]), too_small(needed_B), "{spec}");
    assert_eq!(output, vec![UNTOUCHED; needed_B], "{spec}");
    cipher.seal(&nonce, &[], &text, &mut output).unwrap();
    assert_eq!(cipher.open(&nonce, &[], &output, &mut [0; 20]), too_small(21), "{spec}");
}

#[test]
fn a_key_a_nonce_or_an_output_of_the_wrong_length_is_refused_with_the_right_one() {
    for_each(refuses_wrong_sizes);
}

fn only_seals_and_opens(spec: &Spec, fresh: &Fresh) {
    let Sealed { mut nonce, mut cipher } = Sealed::of(spec, fresh);
    let (text, mut output) = ([7; 16], [0; 64]);
    assert_eq!(cipher.encrypt(&nonce, &text, &mut output), Err(Error::NoSuchOperation), "{spec}");
    assert_eq!(cipher.decrypt(&nonce, &text, &mut output), Err(Error::NoSuchOperation), "{spec}");
    assert_eq!(cipher.encrypt_part(&mut nonce, &text, &mut output), Err(Error::NoSuchOperation), "{spec}");
    assert_eq!(cipher.decrypt_part(&mut nonce, &text, &mut output), Err(Error::NoSuchOperation), "{spec}");
}

#[test]
fn an_aead_does_not_encrypt_and_no_other_cipher_seals() {
    for_each(only_seals_and_opens);
    for spec in listed().filter(|spec| spec.card.mode != Mode::Aead) {
        let mut cipher = spec.visit(&spec.card.codes[0], Make)(&bytes(spec.key_B(), 9)).unwrap();
        let (nonce, mut output) = (bytes(spec.iv_B(), 7), [0; 64]);
        assert_eq!(cipher.seal(&nonce, &[], &[7; 16], &mut output), Err(Error::NoSuchOperation), "{spec}");
        assert_eq!(cipher.open(&nonce, &[], &[7; 32], &mut output), Err(Error::NoSuchOperation), "{spec}");
    }
}

/// The longest message goes, one byte more is refused either way, with the limit.
fn assert_longest(id: &str, most_B: usize, whole: bool) {
    let spec = Spec::parse(id).unwrap();
    let Sealed { nonce, mut cipher } = Sealed::of(&spec, &*spec.visit(&spec.card.codes[0], Make));
    let (text, tag_B) = (vec![0; most_B + 1 + spec.tag_B()], spec.tag_B());
    let too_long = Err(Error::TooLong { given_B: most_B as u64 + 1, most_B: most_B as u64 });
    assert_eq!(cipher.seal(&nonce, &[], &text[..=most_B], &mut []), too_long, "{id}");
    assert_eq!(cipher.open(&nonce, &[], &text, &mut []), too_long, "{id}");
    if whole {
        let (mut sealed, mut opened) = (vec![0; most_B + tag_B], vec![UNTOUCHED; most_B]);
        assert_eq!(cipher.seal(&nonce, &[], &text[..most_B], &mut sealed), Ok(most_B + tag_B), "{id}");
        assert_eq!(cipher.open(&nonce, &[], &sealed, &mut opened), Ok(most_B), "{id}");
        assert!(opened == text[..most_B], "{id}");
    }
}

#[test]
fn a_message_longer_than_the_nonce_leaves_room_to_count_is_refused_with_the_limit() {
    for id in ["aes128-ccm", "aes256-ccm", "aes128-ccm8", "aes256-ccm8"] {
        assert_longest(id, 65_535, true);
    }
    // Refused before a byte of it is read: these pages are never touched.
    assert_longest("aes128-ocb3", (1 << 30) - 1, false);
}
