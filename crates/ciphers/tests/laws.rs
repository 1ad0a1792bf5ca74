//! What holds for every listed id of every implementation that is built in.
#![allow(clippy::unwrap_used, clippy::panic, non_snake_case)]

use wattlock_ciphers::{Cipher, Direction, Error, MAX_IV_B, MAX_PADDING_B, Mode, Spec, Suite, Visitor, listed};

/// All lengths up to more than 16 blocks, then some: wider paths take at most 64 blocks at once.
const ALL_TO_B: usize = 600;
const LONGEST_B: usize = 4096;

/// Bytes that look random and are the same each time.
fn noise(length_B: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_769).max(1);
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    std::iter::repeat_with(next).take(length_B).collect()
}

fn key(spec: &Spec) -> Vec<u8> {
    noise(spec.key_B(), 1)
}

fn iv(spec: &Spec) -> Vec<u8> {
    noise(spec.iv_B(), 2)
}

fn pads(spec: &Spec) -> bool {
    matches!(spec.card.mode, Mode::Ecb | Mode::Cbc)
}

/// Bytes of `length_B` bytes of text once encrypted.
fn padded_B(spec: &Spec, length_B: usize) -> usize {
    if pads(spec) { (length_B / spec.block_B() + 1) * spec.block_B() } else { length_B }
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

/// Holds every code of the listed specs among `of` to a law.
fn for_each_listed(law: fn(&Spec, &Fresh), of: fn(&Spec) -> bool) {
    let specs: Vec<Spec> = listed().filter(|spec| spec.card.mode != Mode::Aead).filter(of).collect();
    assert!(!specs.is_empty());
    for spec in specs {
        assert!(!spec.card.codes.is_empty(), "{spec}");
        for code in spec.card.codes {
            println!("{spec} of {}", code.provider);
            law(&spec, &*spec.visit(code, Make));
        }
    }
}

fn all(_: &Spec) -> bool {
    true
}

fn setup(spec: &Spec, fresh: &Fresh) -> Box<dyn Cipher> {
    fresh(&key(spec)).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// Whether a message may be given in parts: an IV can say where it stands.
fn goes_on(cipher: &mut dyn Cipher, spec: &Spec) -> bool {
    let goes_on = cipher.encrypt_part(&mut iv(spec), &[], &mut []) != Err(Error::NoSuchOperation);
    assert!(goes_on || spec.card.mode == Mode::Stream, "{spec}");
    goes_on
}

fn comes_back(spec: &Spec, fresh: &Fresh) {
    let (iv, text) = (iv(spec), noise(LONGEST_B, 3));
    let mut sealed = vec![0; LONGEST_B + MAX_PADDING_B];
    let mut back = sealed.clone();
    let (mut sender, mut receiver) = (setup(spec, fresh), setup(spec, fresh));
    for length_B in (0..=ALL_TO_B).chain((ALL_TO_B..=LONGEST_B).step_by(61)) {
        let text = &text[..length_B];
        let written_B = sender.encrypt(&iv, text, &mut sealed).unwrap();
        assert_eq!(written_B, padded_B(spec, length_B), "{spec}");
        let back_B = receiver.decrypt(&iv, &sealed[..written_B], &mut back).unwrap();
        assert!(back[..back_B] == *text, "{spec}: {length_B} bytes do not come back");
    }
}

mod a_message_of_any_length_comes_back {
    use super::*;

    #[test]
    fn from_aes() {
        for_each_listed(comes_back, |spec| spec.card.family == "aes");
    }

    #[test]
    fn from_des() {
        for_each_listed(comes_back, |spec| spec.card.family == "des");
    }

    #[test]
    fn from_triple_des() {
        for_each_listed(comes_back, |spec| spec.card.family.starts_with("3des"));
    }

    #[test]
    fn from_all_others() {
        for_each_listed(comes_back, |spec| !spec.card.family.contains("des") && spec.card.family != "aes");
    }
}

fn refuses_wrong_keys(spec: &Spec, fresh: &Fresh) {
    let right_bits = spec.key_bits;
    let wrong_B = [0, spec.key_B().wrapping_sub(1), spec.key_B() + 1, spec.key_B() * 2, 1000];
    for given_B in wrong_B.into_iter().filter(|given_B| *given_B <= 1000 && *given_B != spec.key_B()) {
        let error = fresh(&vec![0; given_B]).err();
        assert_eq!(error, Some(Error::WrongKeyLength { given_bits: given_B * 8, right_bits }), "{spec}");
    }
}

#[test]
fn a_key_of_the_wrong_length_is_refused_with_the_right_one() {
    for_each_listed(refuses_wrong_keys, all);
    let spec = Spec::parse("aes128-cbc").unwrap();
    let error = Error::WrongKeyLength { given_bits: 120, right_bits: spec.key_bits };
    assert_eq!(error.to_string(), "the key has 120 bits (15 bytes), not 128 bits (16 bytes)");
}

fn refuses_wrong_ivs(spec: &Spec, fresh: &Fresh) {
    let mut cipher = setup(spec, fresh);
    let (text, mut output, right_B) = ([0; 32], [0; 64], spec.iv_B());
    for given_B in (0..=2 * MAX_IV_B).filter(|given_B| *given_B != right_B) {
        let (mut iv, wrong) = (vec![0; given_B], Error::WrongIvLength { given_B, right_B });
        assert_eq!(cipher.encrypt(&iv, &text, &mut output), Err(wrong), "{spec}");
        assert_eq!(cipher.decrypt(&iv, &text, &mut output), Err(wrong), "{spec}");
        if goes_on(&mut *cipher, spec) {
            assert_eq!(cipher.encrypt_part(&mut iv, &text, &mut output), Err(wrong), "{spec}");
            assert_eq!(cipher.decrypt_part(&mut iv, &text, &mut output), Err(wrong), "{spec}");
        }
    }
}

#[test]
fn an_iv_of_the_wrong_length_is_refused_with_the_right_one() {
    for_each_listed(refuses_wrong_ivs, all);
}

fn parts_make_the_whole(spec: &Spec, fresh: &Fresh) {
    if !goes_on(&mut *setup(spec, fresh), spec) {
        return;
    }
    let cut_B = if pads(spec) { 0 } else { 5 };
    let text = noise(90 * 16 - cut_B, 4);
    let mut whole = vec![0; text.len() + MAX_PADDING_B];
    setup(spec, fresh).encrypt(&iv(spec), &text, &mut whole).unwrap();
    for part_blocks in [1, 2, 7, 31, 65, 200] {
        let part_B = part_blocks * spec.block_B();
        let (mut cipher, mut chain, mut sealed) = (setup(spec, fresh), iv(spec), vec![0; text.len()]);
        for (text, sealed) in text.chunks(part_B).zip(sealed.chunks_mut(part_B)) {
            cipher.encrypt_part(&mut chain, text, sealed).unwrap();
        }
        assert!(sealed == whole[..text.len()], "{spec} encrypted in parts of {part_B}");
        let (mut cipher, mut chain, mut back) = (setup(spec, fresh), iv(spec), vec![0; text.len()]);
        for (sealed, back) in sealed.chunks(part_B).zip(back.chunks_mut(part_B)) {
            cipher.decrypt_part(&mut chain, sealed, back).unwrap();
        }
        assert!(back == text, "{spec} decrypted in parts of {part_B}");
    }
}

#[test]
fn a_message_encrypted_in_parts_is_the_message_encrypted_at_once() {
    for_each_listed(parts_make_the_whole, all);
}

fn refuses_bad_padding(spec: &Spec, fresh: &Fresh) {
    let (mut cipher, block_B) = (setup(spec, fresh), spec.block_B());
    let largest = u8::try_from(block_B).unwrap();
    let (mut sealed, mut back) = (vec![0; 2 * block_B], vec![0; 2 * block_B]);
    for (last, before) in [(0, 0), (largest + 1, largest + 1), (255, 255), (2, 1), (largest, 0)] {
        let mut text = noise(2 * block_B, 5);
        (text[2 * block_B - 1], text[2 * block_B - 2]) = (last, before);
        cipher.encrypt_part(&mut iv(spec), &text, &mut sealed).unwrap();
        assert_eq!(cipher.decrypt(&iv(spec), &sealed, &mut back), Err(Error::BadPadding), "{spec}: {last}, {before}");
    }
    assert_eq!(cipher.decrypt(&iv(spec), &[], &mut back), Err(Error::BadPadding), "{spec}");
}

#[test]
fn a_message_without_its_padding_is_refused() {
    for_each_listed(refuses_bad_padding, pads);
}

fn refuses_cut_blocks(spec: &Spec, fresh: &Fresh) {
    let (mut cipher, block_B) = (setup(spec, fresh), spec.block_B());
    let (given_B, mut output) = (2 * block_B + 1, [0; 64]);
    let (text, cut) = (vec![0; given_B], Error::NotWholeBlocks { given_B, block_B });
    assert_eq!(cipher.decrypt(&iv(spec), &text, &mut output), Err(cut), "{spec}");
    assert_eq!(cipher.encrypt_part(&mut iv(spec), &text, &mut output), Err(cut), "{spec}");
    assert_eq!(cipher.decrypt_part(&mut iv(spec), &text, &mut output), Err(cut), "{spec}");
}

#[test]
fn a_cut_block_is_refused_where_the_mode_takes_whole_blocks() {
    for_each_listed(refuses_cut_blocks, pads);
}

fn refuses_small_outputs(spec: &Spec, fresh: &Fresh) {
    let (mut cipher, text) = (setup(spec, fresh), [7; 96]); // whole blocks of every size
    let needed_B = padded_B(spec, text.len());
    let too_small = |needed_B| Err(Error::OutputTooSmall { given_B: needed_B - 1, needed_B });
    let mut output = vec![0; needed_B];
    assert_eq!(cipher.encrypt(&iv(spec), &text, &mut output[1..]), too_small(needed_B), "{spec}");
    assert_eq!(cipher.decrypt(&iv(spec), &text, &mut output[..95]), too_small(96), "{spec}");
    if goes_on(&mut *cipher, spec) {
        let part = cipher.encrypt_part(&mut iv(spec), &text, &mut output[..95]);
        assert_eq!(part.map(|()| 0), too_small(96), "{spec}");
    }
    assert_eq!(cipher.encrypt(&iv(spec), &text, &mut output), Ok(needed_B), "{spec}");
}

#[test]
fn an_output_that_is_one_byte_short_is_refused() {
    for_each_listed(refuses_small_outputs, all);
}

fn leaves_the_rest(spec: &Spec, fresh: &Fresh) {
    let (text, mut output) = ([7; 21], [0xee; 64]);
    let written_B = setup(spec, fresh).encrypt(&iv(spec), &text, &mut output).unwrap();
    assert!(output[written_B..].iter().all(|byte| *byte == 0xee), "{spec}");
}

#[test]
fn the_output_behind_the_result_is_left_as_it_was() {
    for_each_listed(leaves_the_rest, all);
}

fn repeats(spec: &Spec, fresh: &Fresh) {
    let (text, mut first, mut second) = (noise(64, 6), [0; 96], [0; 96]);
    let mut cipher = setup(spec, fresh);
    cipher.encrypt(&iv(spec), &text, &mut first).unwrap();
    cipher.encrypt(&iv(spec), &text, &mut second).unwrap();
    assert_eq!(first == second, spec.card.family != "rc4", "{spec}");
}

#[test]
fn a_cipher_starts_again_at_each_message_and_rc4_goes_on() {
    for_each_listed(repeats, all);
}
