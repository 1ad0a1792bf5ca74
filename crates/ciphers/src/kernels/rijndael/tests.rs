//! Each way against the others and against what is not ours.
#![allow(clippy::unwrap_used, non_snake_case)]

use ::cipher::block::{BlockCipherDecrypt, BlockCipherEncrypt};
use ::cipher::consts::U16;
use ::cipher::{BlockSizeUser, KeyInit};
use proptest::collection::vec;
use proptest::prelude::{any, proptest};
use proptest::prop_assert_eq;
use proptest::sample::select;

use super::sbox::{restore, substitute};
use super::{MOST_ROUNDS, Rijndael, TableRijndael, Way};
use crate::modes::sliced::{Feedback, Kernel};

extern crate std;
use std::vec::Vec;

/// More than the widest way takes at once, and the next ways after it.
const MOST_BLOCKS: usize = 120;

fn here() -> impl Iterator<Item = Way> {
    Way::ALL.iter().copied().filter(|way| way.is_here())
}

/// The first of `bytes`.
fn blocks<const B: usize>(bytes: &[u8], count: usize) -> Vec<[u8; B]> {
    bytes.as_chunks::<B>().0[..count].to_vec()
}

/// Everything that a kernel does, one result after the other.
fn all<const B: usize>(by: &impl Kernel<B>, input: &[[u8; B]], add: &[[u8; B]], iv: [u8; B]) -> Vec<Vec<[u8; B]>> {
    let mut results = Vec::new();
    let mut output = input.to_vec();
    for add in [None, Some(add)] {
        by.encrypt(input, add, &mut output);
        results.push(output.clone());
        by.decrypt(input, add, &mut output);
        results.push(output.clone());
    }
    for feedback in [Feedback::Cbc, Feedback::Cfb, Feedback::Ofb] {
        let mut chain = iv;
        by.chain(feedback, &mut chain, input, &mut output);
        results.push(output.clone());
        results.push([chain].to_vec());
    }
    results
}

/// Every way and the tables give what the portable one gives, and back is the way back.
fn agree<const B: usize, const N: usize>(
    rounds: usize,
    key: &[u8],
    bytes: &[u8],
    count: usize,
) -> Result<(), &'static str> {
    let (input, add) = (blocks::<B>(bytes, count), blocks::<B>(&bytes[5..], count));
    let iv = *bytes.last_chunk().unwrap();
    let portable = Rijndael::<B>::by(Way::Portable, rounds, key).unwrap();
    let expected = all(&portable, &input, &add, iv);
    if all(&TableRijndael::<B, N>::of(rounds, key).unwrap(), &input, &add, iv) != expected {
        return Err("tables");
    }
    for way in here() {
        let by = Rijndael::<B>::by(way, rounds, key).unwrap();
        if all(&by, &input, &add, iv) != expected {
            return Err(way.name());
        }
        let mut back = input.clone();
        by.decrypt(&expected[0], None, &mut back);
        if back != input {
            return Err("decryption");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_way_gives_the_same_bytes(
        key_B in select(&[16_usize, 24, 32][..]),
        key in any::<[u8; 32]>(),
        rounds in 4..=MOST_ROUNDS,
        count in 0..=MOST_BLOCKS,
        bytes in vec(any::<u8>(), MOST_BLOCKS * 32 + 5),
    ) {
        let key = &key[..key_B];
        prop_assert_eq!(agree::<16, 4>(rounds, key, &bytes, count), Ok(()));
        prop_assert_eq!(agree::<24, 6>(rounds, key, &bytes, count), Ok(()));
        prop_assert_eq!(agree::<32, 8>(rounds, key, &bytes, count), Ok(()));
    }

    #[test]
    fn fewer_rounds_are_those_of_the_definition(
        key_B in select(&[16_usize, 24, 32][..]),
        key in any::<[u8; 32]>(),
        rounds in 1..=MOST_ROUNDS,
        block in any::<[u8; 32]>(),
    ) {
        fn encrypted<const B: usize>(way: Way, rounds: usize, key: &[u8], block: &[u8; 32]) -> Vec<u8> {
            let block: [u8; B] = *block.first_chunk().unwrap();
            let mut output = [block];
            Rijndael::<B>::by(way, rounds, key).unwrap().encrypt(&[block], None, &mut output);
            output.as_flattened().to_vec()
        }
        let key = &key[..key_B];
        for way in here() {
            prop_assert_eq!(encrypted::<16>(way, rounds, key, &block), definition(key, &block[..16], rounds));
            prop_assert_eq!(encrypted::<24>(way, rounds, key, &block), definition(key, &block[..24], rounds));
            prop_assert_eq!(encrypted::<32>(way, rounds, key, &block), definition(key, &block, rounds));
        }
    }

    #[test]
    fn a_block_of_128_bits_is_that_of_the_aes_crate(key in any::<[u8; 32]>(), block in any::<[u8; 16]>()) {
        let [small, middle, large] = [&key[..16], &key[..24], &key[..32]];
        for (key, rounds, expected) in [
            (small, 10, by_crate::<::aes::Aes128>(small, block)),
            (middle, 12, by_crate::<::aes::Aes192>(middle, block)),
            (large, 14, by_crate::<::aes::Aes256>(large, block)),
        ] {
            for way in here() {
                let by = Rijndael::<16>::by(way, rounds, key).unwrap();
                let (mut forth, mut back) = ([block], [block]);
                by.encrypt(&[block], None, &mut forth);
                by.decrypt(&[block], None, &mut back);
                prop_assert_eq!([forth[0], back[0]], expected, "{}", way.name());
            }
        }
    }
}

/// A block encrypted and a block decrypted.
fn by_crate<C>(key: &[u8], block: [u8; 16]) -> [[u8; 16]; 2]
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>,
{
    let cipher = C::new_from_slice(key).unwrap();
    let (mut forth, mut back) = (block.into(), block.into());
    cipher.encrypt_block(&mut forth);
    cipher.decrypt_block(&mut back);
    [forth.into(), back.into()]
}

/// The product in GF(2^8) (AES Proposal, 2.1.2).
fn times(left: u8, right: u8) -> u8 {
    (0..8).rev().fold(0, |sum: u8, bit| (sum << 1) ^ (0x1b * (sum >> 7)) ^ (left * ((right >> bit) & 1)))
}

/// SubByte (4.2.1): the inverse, which is the 254th power, then the affine map.
fn sub_byte(byte: u8) -> u8 {
    let inverse = (0..254).fold(1, |power, _| times(power, byte));
    (1..5).fold(inverse, |sum, turn| sum ^ inverse.rotate_left(turn)) ^ 0x63
}

/// One block after the text of the AES Proposal (4.2 and 4.3), byte by byte.
fn definition(key: &[u8], block: &[u8], rounds: usize) -> Vec<u8> {
    let (columns, key_words) = (block.len() / 4, key.len() / 4);
    let mut words: Vec<[u8; 4]> = key.as_chunks().0.to_vec();
    let mut constant = 1;
    for at in key_words..columns * (rounds + 1) {
        let [a, b, c, d] = words[at - 1];
        let mut word = [a, b, c, d];
        if at % key_words == 0 {
            word = [b, c, d, a].map(sub_byte);
            word[0] ^= constant;
            constant = times(constant, 2);
        } else if key_words > 6 && at % key_words == 4 {
            word = word.map(sub_byte);
        }
        words.push(core::array::from_fn(|row| word[row] ^ words[at - key_words][row]));
    }
    let shifts = if columns == 8 { [0, 1, 3, 4] } else { [0, 1, 2, 3] };
    let mut state: Vec<[u8; 4]> = block.as_chunks().0.to_vec();
    for round in 0..=rounds {
        if round > 0 {
            let old = state.clone();
            for (at, column) in state.iter_mut().enumerate() {
                *column = core::array::from_fn(|row| sub_byte(old[(at + shifts[row]) % columns][row]));
                if round < rounds {
                    let old = *column;
                    *column = core::array::from_fn(|row| {
                        times(old[row], 2) ^ times(old[(row + 1) % 4], 3) ^ old[(row + 2) % 4] ^ old[(row + 3) % 4]
                    });
                }
            }
        }
        for (column, key) in state.iter_mut().zip(&words[columns * round..]) {
            column.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        }
    }
    state.as_flattened().to_vec()
}

#[test]
fn the_gates_are_the_s_box_and_its_inverse() {
    for byte in 0..=u8::MAX {
        let planes: [u32; 8] = core::array::from_fn(|bit| u32::from(byte >> bit) & 1);
        let value = |planes: [u32; 8]| (0..8).fold(0, |sum, bit| sum | ((planes[bit] & 1) << bit));
        assert_eq!(value(substitute(planes)), u32::from(sub_byte(byte)));
        assert_eq!(value(restore(substitute(planes))), u32::from(byte));
    }
}

#[test]
fn a_schedule_is_refused_for_a_key_or_rounds_that_do_not_exist() {
    for key_B in (0..=40).filter(|key_B| ![16, 24, 32].contains(key_B)) {
        assert!(Rijndael::<32>::by(Way::Portable, 14, &[0; 40][..key_B]).is_none());
        assert!(TableRijndael::<32, 8>::of(14, &[0; 40][..key_B]).is_none());
    }
    for rounds in [0, MOST_ROUNDS + 1] {
        assert!(Rijndael::<32>::by(Way::Portable, rounds, &[0; 32]).is_none());
        assert!(TableRijndael::<32, 8>::of(rounds, &[0; 32]).is_none());
    }
    assert!(Rijndael::<32>::by(Way::Portable, MOST_ROUNDS, &[0; 32]).is_some());
}
