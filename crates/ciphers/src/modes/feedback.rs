//! CFB with whole blocks fed back, and OFB (NIST SP 800-38A, 6.3 and 6.4): any length, no padding.

use ::cipher::array::Array;
use ::cipher::block::{BlockCipherEncBackend, BlockCipherEncClosure};
use ::cipher::typenum::Unsigned;
use ::cipher::{Block, BlockSizeUser, ParBlocks, array::ArraySize};

use super::{Primitive, block_of, has_room, schedule};
use crate::cipher::{BuiltIn, Cipher};
use crate::{Error, Spec};

/// Which feedback goes where.
#[derive(Clone, Copy)]
enum Way {
    CfbEncrypt,
    CfbDecrypt,
    Ofb,
}

/// One message or part, to be carried out where the primitive's backend is known.
struct Work<'w, B: ArraySize> {
    way: Way,
    /// What is encrypted next; becomes the IV of the next part.
    chain: &'w mut Array<u8, B>,
    input: &'w [u8],
    /// As long as the input.
    output: &'w mut [u8],
}

impl<B: ArraySize> BlockSizeUser for Work<'_, B> {
    type BlockSize = B;
}

impl<B: ArraySize> BlockCipherEncClosure for Work<'_, B> {
    #[inline(always)]
    fn call<C: BlockCipherEncBackend<BlockSize = B>>(self, backend: &C) {
        let Self { way, chain, mut input, mut output } = self;
        if matches!(way, Way::CfbDecrypt) && C::ParBlocksSize::USIZE > 1 {
            let many_B = C::ParBlocksSize::USIZE * B::USIZE;
            while input.len() >= many_B {
                let (here, rest) = input.split_at(many_B);
                let (there, after) = core::mem::take(&mut output).split_at_mut(many_B);
                let mut key_stream = ParBlocks::<C>::default();
                let blocks = Array::<u8, B>::slice_as_chunks(here).0;
                key_stream[0] = chain.clone();
                key_stream[1..].clone_from_slice(&blocks[..blocks.len() - 1]);
                *chain = blocks[blocks.len() - 1].clone();
                backend.encrypt_par_blocks_inplace(&mut key_stream);
                let outputs = Array::<u8, B>::slice_as_chunks_mut(there).0;
                for ((output, input), key) in outputs.iter_mut().zip(blocks).zip(&key_stream) {
                    output.iter_mut().zip(input).zip(key).for_each(|((o, i), k)| *o = i ^ k);
                }
                (input, output) = (rest, after);
            }
        }
        let (blocks, tail) = Array::<u8, B>::slice_as_chunks(input);
        let (outputs, tail_output) = Array::<u8, B>::slice_as_chunks_mut(output);
        for (input, output) in blocks.iter().zip(outputs) {
            backend.encrypt_block_inplace(chain);
            let mut mixed = input.clone();
            mixed.iter_mut().zip(chain.iter()).for_each(|(m, k)| *m ^= k);
            match way {
                Way::CfbEncrypt => *chain = mixed.clone(),
                Way::CfbDecrypt => *chain = input.clone(),
                Way::Ofb => {}
            }
            *output = mixed;
        }
        if !tail.is_empty() {
            backend.encrypt_block_inplace(chain);
            tail_output.iter_mut().zip(tail).zip(chain.iter()).for_each(|((o, i), k)| *o = i ^ k);
        }
    }
}

#[inline]
fn part<P: Primitive>(
    primitive: &P,
    way: Way,
    chain: &mut Block<P>,
    input: &[u8],
    output: &mut [u8],
) -> Result<(), Error> {
    let output = has_room(output, input.len())?;
    primitive.encrypt_with_backend(Work { way, chain, input, output });
    Ok(())
}

/// One key schedule, a mode of feedback.
macro_rules! feedback {
    ($name:ident, $encrypt:expr, $decrypt:expr, $what:literal) => {
        #[doc = $what]
        pub(crate) struct $name<P>(P);

        impl<P: Primitive> BuiltIn for $name<P> {
            #[inline]
            fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
                schedule(spec, key).map(Self)
            }
        }

        impl<P: Primitive> Cipher for $name<P> {
            #[inline]
            fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
                part(&self.0, $encrypt, &mut block_of::<P>(iv)?.clone(), input, output)?;
                Ok(input.len())
            }

            #[inline]
            fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
                part(&self.0, $decrypt, &mut block_of::<P>(iv)?.clone(), input, output)?;
                Ok(input.len())
            }

            #[inline]
            fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
                let mut chain = block_of::<P>(iv)?.clone();
                part(&self.0, $encrypt, &mut chain, input, output)?;
                iv.copy_from_slice(&chain);
                Ok(())
            }

            #[inline]
            fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
                let mut chain = block_of::<P>(iv)?.clone();
                part(&self.0, $decrypt, &mut chain, input, output)?;
                iv.copy_from_slice(&chain);
                Ok(())
            }
        }
    };
}

feedback!(Cfb, Way::CfbEncrypt, Way::CfbDecrypt, "One key schedule, the ciphertext fed back.");
feedback!(Ofb, Way::Ofb, Way::Ofb, "One key schedule, the key stream fed back.");
