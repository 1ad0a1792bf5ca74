//! Sealing against the published answers and against another implementation.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::vec::Vec;

use ascon_aead::aead::{AeadInOut, KeyInit};
use ascon_aead::{AsconAead128, AsconAead128Key, AsconAead128Nonce};

use super::*;

const ANSWERS: &str = include_str!("../../vectors/ascon.txt");

fn octets(hex: &str) -> Vec<u8> {
    let digits = if hex == "-" { "" } else { hex };
    (0..digits.len()).step_by(2).map(|place| u8::from_str_radix(&digits[place..place + 2], 16).unwrap()).collect()
}

fn answers(kind: &str) -> Vec<Vec<Vec<u8>>> {
    let lines = ANSWERS.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
    let answers: Vec<Vec<Vec<u8>>> = lines.map(|line| line.split(' ').map(octets).collect()).collect();
    assert_eq!(answers.len(), 84);
    answers
}

#[test]
fn ascon_aead128_gives_the_published_answers_and_opens_them() {
    for answer in answers("aead") {
        let [key, nonce, associated, message, sealed] = &answer[..] else { panic!("five fields") };
        let key = Key::new(key[..].try_into().unwrap());
        let nonce = nonce[..].try_into().unwrap();
        let mut body = message.clone();
        let tag = seal(&key, nonce, associated, &mut body);
        assert_eq!([&body[..], tag.octets()].concat(), *sealed);
        let sealed = body.clone();
        let again = open(&key, nonce, associated, &sealed, &mut body);
        assert_eq!((&body, again.octets()), (message, tag.octets()));
    }
}

#[test]
fn ascon_cxof128_gives_the_published_answers_however_its_message_is_cut() {
    for answer in answers("cxof") {
        let [label, message, expected] = &answer[..] else { panic!("three fields") };
        for cut in 0..=message.len() {
            let mut output = [0; 64];
            let (before, behind) = message.split_at(cut);
            cxof(label, &[before, behind], &mut output);
            assert_eq!(output[..], expected[..]);
        }
    }
}

#[test]
fn ascon_aead128_agrees_with_another_implementation_at_every_length() {
    let (key, nonce) = ([0x5a; 16], [0xc3; 16]);
    let other = AsconAead128::new(&AsconAead128Key::from(key));
    let text: Vec<u8> = (0..=255).collect();
    for length_B in 0..=70 {
        for associated_B in [0, 1, 7, 8, 15, 16, 17, 32, 33] {
            let mut body = text[..length_B].to_vec();
            let tag = seal(&Key::new(key), &nonce, &text[..associated_B], &mut body);
            let mut expected = text[..length_B].to_vec();
            let other_tag = other
                .encrypt_inout_detached(
                    &AsconAead128Nonce::from(nonce),
                    &text[..associated_B],
                    expected[..].as_mut().into(),
                )
                .unwrap();
            assert_eq!((body, &tag.octets()[..]), (expected, &other_tag[..]), "{length_B} {associated_B}");
        }
    }
}

#[test]
fn a_tag_is_compared_in_its_first_bits_and_in_no_others() {
    let tag = Tag::new(core::array::from_fn(|place| 0xf1 ^ u8::try_from(place).unwrap()));
    for bits in [4, 6, 8, 12, 32, 64, 128] {
        let length_B = usize::div_ceil(bits, 8);
        let sent = tag.cut(bits);
        assert!(tag.begins_with(&sent[..length_B], bits));
        assert!(!tag.begins_with(&sent[..length_B - 1], bits));
        for bit in 0..bits {
            let mut changed = sent;
            changed[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(!tag.begins_with(&changed[..length_B], bits), "{bits} {bit}");
        }
    }
}
