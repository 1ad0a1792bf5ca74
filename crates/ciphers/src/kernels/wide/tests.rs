//! Each way against the crates that others wrote, block by block.
#![allow(clippy::unwrap_used, non_snake_case)]

use ::cipher::block::{BlockCipherDecrypt, BlockCipherEncrypt};
use ::cipher::consts::{U8, U12, U16, U20, U24, U28, U32};
use ::cipher::{Array, BlockSizeUser, KeyInit};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof, proptest};
use proptest::prop_assert_eq;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use super::Way;
use crate::kernels::{idea::Idea, rc2::Rc2, rc5::Rc5, rc6::Rc6, tea::Tea, tea::Xtea};
use crate::modes::block_cipher;
use crate::modes::sliced::{Feedback, Kernel};

extern crate std;
use std::vec::Vec;

/// More than the widest way takes at once, twice, and some.
const MOST_BLOCKS: usize = 150;

fn here() -> impl Iterator<Item = Way> {
    Way::ALL.iter().copied().filter(|way| way.is_here())
}

/// A message, what is added to it, an IV.
#[derive(Debug, Clone)]
struct Texts {
    count: usize,
    bytes: Vec<u8>,
    iv: [u8; 16],
}

/// IVs of which half run over within a message: the whole, the lower half, one word.
fn texts() -> impl Strategy<Value = Texts> {
    let runs_over =
        (any::<[u8; 16]>(), select(&[4_usize, 8, 16][..]), 0..=MOST_BLOCKS).prop_map(|(mut iv, last_B, few)| {
            iv[16 - last_B..].fill(0xff);
            iv[15] = 0xff - u8::try_from(few).unwrap();
            iv
        });
    let iv = prop_oneof![any::<[u8; 16]>(), runs_over];
    let bytes = vec(any::<u8>(), MOST_BLOCKS * 16 + 5);
    (0..=MOST_BLOCKS, bytes, iv).prop_map(|(count, bytes, iv)| Texts { count, bytes, iv })
}

fn blocks<const B: usize>(bytes: &[u8], count: usize) -> Vec<[u8; B]> {
    bytes.as_chunks::<B>().0[..count].to_vec()
}

fn sum<const B: usize>(mut block: [u8; B], other: [u8; B]) -> [u8; B] {
    block.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= other);
    block
}

/// The counter after this one, big-endian over the whole block.
fn next<const B: usize>(mut counter: [u8; B]) -> [u8; B] {
    for byte in counter.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
    counter
}

/// Everything that the kernel does is what `other` gives when it is called block by block.
fn is<const B: usize, K, C>(kernel: &K, other: &C, way: Way, texts: &Texts) -> Result<(), TestCaseError>
where
    K: Kernel<B>,
    C: BlockCipherEncrypt + BlockCipherDecrypt,
    Array<u8, C::BlockSize>: From<[u8; B]> + Into<[u8; B]>,
{
    let forth = |block: [u8; B]| {
        let mut block = Array::from(block);
        other.encrypt_block(&mut block);
        block.into()
    };
    let back = |block: [u8; B]| {
        let mut block = Array::from(block);
        other.decrypt_block(&mut block);
        block.into()
    };
    let (input, add) = (blocks::<B>(&texts.bytes, texts.count), blocks::<B>(&texts.bytes[5..], texts.count));
    let iv: [u8; B] = *texts.iv.last_chunk().unwrap();
    let mut output = input.clone();

    kernel.encrypt(&input, None, &mut output);
    prop_assert_eq!(&output, &input.iter().map(|block| forth(*block)).collect::<Vec<_>>(), "{:?}", way);
    kernel.decrypt(&input, None, &mut output);
    prop_assert_eq!(&output, &input.iter().map(|block| back(*block)).collect::<Vec<_>>(), "{:?}", way);
    let pairs = || input.iter().copied().zip(add.iter().copied());
    kernel.encrypt(&input, Some(&add), &mut output);
    prop_assert_eq!(&output, &pairs().map(|(block, add)| sum(forth(block), add)).collect::<Vec<_>>(), "{:?}", way);
    kernel.decrypt(&input, Some(&add), &mut output);
    prop_assert_eq!(&output, &pairs().map(|(block, add)| sum(back(block), add)).collect::<Vec<_>>(), "{:?}", way);

    let (mut counter, mut expected) = (iv, Vec::new());
    for block in &input {
        expected.push(sum(forth(counter), *block));
        counter = next(counter);
    }
    let mut counted = iv;
    kernel.count(&mut counted, &input, &mut output);
    prop_assert_eq!((&output, counted), (&expected, counter), "{:?}", way);

    for feedback in [Feedback::Cbc, Feedback::Cfb, Feedback::Ofb] {
        let (mut last, mut expected) = (iv, Vec::new());
        for block in &input {
            let result = match feedback {
                Feedback::Cbc => forth(sum(last, *block)),
                Feedback::Cfb | Feedback::Ofb => sum(forth(last), *block),
            };
            last = if feedback == Feedback::Ofb { forth(last) } else { result };
            expected.push(result);
        }
        let mut chain = iv;
        kernel.chain(feedback, &mut chain, &input, &mut output);
        prop_assert_eq!((&output, chain), (&expected, last), "{:?}", way);
    }
    Ok(())
}

fn rc5_is<C>(rounds: usize, key: &[u8], texts: &Texts) -> Result<(), TestCaseError>
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U8>,
{
    let other = C::new_from_slice(key).unwrap();
    here().try_for_each(|way| is(&Rc5::by(way, rounds, key).unwrap(), &other, way, texts))
}

fn rc6_is<C>(rounds: usize, key: &[u8], texts: &Texts) -> Result<(), TestCaseError>
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>,
{
    let other = C::new_from_slice(key).unwrap();
    here().try_for_each(|way| is(&Rc6::by(way, rounds, key).unwrap(), &other, way, texts))
}

/// TEA or, if `EXTENDED`, XTEA, as its paper writes it: a step at a time, from the words of the key.
struct Defined<const EXTENDED: bool>([u32; 4]);

impl<const EXTENDED: bool> Defined<EXTENDED> {
    fn of(key: [u8; 16]) -> Self {
        Self(core::array::from_fn(|at| u32::from_be_bytes(key.as_chunks().0[at])))
    }

    /// What the first or, if `second`, the second step of a cycle adds to a word; the sum is that of the step.
    fn added(&self, z: u32, sum: u32, second: bool) -> u32 {
        if EXTENDED {
            let at = if second { sum >> 11 } else { sum } & 3;
            ((z << 4) ^ (z >> 5)).wrapping_add(z) ^ sum.wrapping_add(self.0[at as usize])
        } else {
            let [one, other] = self.0.as_chunks::<2>().0[usize::from(second)];
            (z << 4).wrapping_add(one) ^ z.wrapping_add(sum) ^ (z >> 5).wrapping_add(other)
        }
    }

    /// The sums of the two steps of a cycle.
    fn sums(cycle: u32) -> [u32; 2] {
        let [before, after] = [cycle, cycle + 1].map(|number| number.wrapping_mul(0x9e37_79b9));
        [if EXTENDED { before } else { after }, after]
    }

    fn encrypt_one(&self, block: [u8; 8]) -> [u8; 8] {
        let [mut y, mut z] = [0, 1].map(|at: usize| u32::from_be_bytes(block.as_chunks().0[at]));
        for [first, second] in (0..32).map(Self::sums) {
            y = y.wrapping_add(self.added(z, first, false));
            z = z.wrapping_add(self.added(y, second, true));
        }
        (u64::from(y) << 32 | u64::from(z)).to_be_bytes()
    }

    fn decrypt_one(&self, block: [u8; 8]) -> [u8; 8] {
        let [mut y, mut z] = [0, 1].map(|at: usize| u32::from_be_bytes(block.as_chunks().0[at]));
        for [first, second] in (0..32).rev().map(Self::sums) {
            z = z.wrapping_sub(self.added(y, second, true));
            y = y.wrapping_sub(self.added(z, first, false));
        }
        (u64::from(y) << 32 | u64::from(z)).to_be_bytes()
    }
}

type DefinedTea = Defined<false>;
type DefinedXtea = Defined<true>;
block_cipher!(DefinedTea, U8);
block_cipher!(DefinedXtea, U8);

/// Words of 16 bits of which many are zero or next to it, where a product modulo 2^16 + 1 is another.
fn edges(count: usize) -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![select(&[0, 0, 1, 2, 0x8000, 0xffff][..]), any::<u16>()];
    vec(word, count).prop_map(|words| words.into_iter().flat_map(u16::to_be_bytes).collect())
}

proptest! {
    #[test]
    fn every_way_of_rc5_is_what_the_rc5_crate_gives(key in any::<[u8; 16]>(), rounds in 2..=7, texts in texts()) {
        match rounds {
            2 => rc5_is::<::rc5::RC5<u32, U8, U16>>(8, &key, &texts)?,
            3 => rc5_is::<::rc5::RC5<u32, U12, U16>>(12, &key, &texts)?,
            4 => rc5_is::<::rc5::RC5<u32, U16, U16>>(16, &key, &texts)?,
            5 => rc5_is::<::rc5::RC5<u32, U20, U16>>(20, &key, &texts)?,
            6 => rc5_is::<::rc5::RC5<u32, U24, U16>>(24, &key, &texts)?,
            _ => rc5_is::<::rc5::RC5<u32, U28, U16>>(28, &key, &texts)?,
        }
    }

    #[test]
    fn every_way_of_rc6_is_what_the_rc6_crate_gives(key in any::<[u8; 32]>(), at in 0..15_usize, texts in texts()) {
        macro_rules! by_key {
            ($rounds:ident, $number:literal) => {
                match at % 3 {
                    0 => rc6_is::<::rc6::RC6<u32, $rounds, U16>>($number, &key[..16], &texts)?,
                    1 => rc6_is::<::rc6::RC6<u32, $rounds, U24>>($number, &key[..24], &texts)?,
                    _ => rc6_is::<::rc6::RC6<u32, $rounds, U32>>($number, &key, &texts)?,
                }
            };
        }
        match at / 3 {
            0 => by_key!(U8, 8),
            1 => by_key!(U12, 12),
            2 => by_key!(U16, 16),
            3 => by_key!(U20, 20),
            _ => by_key!(U24, 24),
        }
    }

    #[test]
    fn every_way_of_rc2_is_what_the_rc2_crate_gives(
        key in vec(any::<u8>(), 1..=128),
        effective_bits in 1..=1024_usize,
        texts in texts(),
    ) {
        let other = ::rc2::Rc2::new_with_eff_key_len(&key, effective_bits);
        for way in here() {
            is(&Rc2::by(way, effective_bits, &key).unwrap(), &other, way, &texts)?;
        }
    }

    #[test]
    fn every_way_of_tea_and_xtea_is_what_their_papers_define(key in any::<[u8; 16]>(), texts in texts()) {
        for way in here() {
            is(&Tea::by(way, &key).unwrap(), &DefinedTea::of(key), way, &texts)?;
            is(&Xtea::by(way, &key).unwrap(), &DefinedXtea::of(key), way, &texts)?;
        }
    }

    #[test]
    fn every_way_of_idea_is_what_the_idea_crate_gives(
        key in prop_oneof![edges(8), vec(any::<u8>(), 16)],
        mut texts in texts(),
        bytes in edges(MOST_BLOCKS * 8 + 2),
        at_edges in any::<bool>(),
    ) {
        if at_edges {
            texts.bytes[..bytes.len()].copy_from_slice(&bytes);
        }
        let other = ::idea::Idea::new_from_slice(&key).unwrap();
        for way in here() {
            is(&Idea::by(way, &key).unwrap(), &other, way, &texts)?;
        }
    }
}

#[test]
fn a_schedule_is_refused_for_a_key_or_rounds_that_do_not_exist() {
    let key = [0; 129];
    for rounds in [0, 29] {
        assert!(Rc5::by(Way::Scalar, rounds, &key[..16]).is_none());
    }
    for rounds in [0, 10, 28] {
        assert!(Rc6::by(Way::Scalar, rounds, &key[..16]).is_none());
    }
    for key_B in [0, 15, 36] {
        assert!(Rc5::by(Way::Scalar, 12, &key[..key_B]).is_none());
        assert!(Rc6::by(Way::Scalar, 20, &key[..key_B]).is_none());
    }
    for (effective_bits, key_B) in [(0, 16), (1025, 16), (128, 0), (128, 129)] {
        assert!(Rc2::by(Way::Scalar, effective_bits, &key[..key_B]).is_none());
    }
    for key_B in [0, 15, 17] {
        assert!(Tea::by(Way::Scalar, &key[..key_B]).is_none());
        assert!(Xtea::by(Way::Scalar, &key[..key_B]).is_none());
        assert!(Idea::by(Way::Scalar, &key[..key_B]).is_none());
    }
    assert!(Rc5::by(Way::Scalar, 28, &key[..16]).is_some());
    assert!(Rc6::by(Way::Scalar, 24, &key[..32]).is_some());
    assert!(Rc2::by(Way::Scalar, 1024, &key[..128]).is_some());
}
