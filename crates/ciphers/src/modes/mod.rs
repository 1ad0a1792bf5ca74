//! ECB, CBC, CTR, CFB and OFB around any block cipher (NIST SP 800-38A; padding RFC 5652, 6.3).
//!
//! The first three are RustCrypto's, built around a reference to the key schedule (`&P`), so that no message copies it,
//! and called on whole slices, so that their many-block paths are used.
#![forbid(unsafe_code)]

#[cfg(feature = "aead")]
mod aead;
mod feedback;
#[cfg(any(
    feature = "aes",
    feature = "des",
    feature = "idea",
    feature = "rc2",
    feature = "rc5",
    feature = "rc6",
    feature = "rijndael",
    feature = "tea"
))]
pub(crate) mod sliced;
#[cfg(any(feature = "chacha20", feature = "salsa20"))]
pub(crate) mod stream;

#[cfg(feature = "aead")]
pub(crate) use aead::{AEAD, Aead};
pub(crate) use feedback::{Cfb, Ofb};

use crate::cipher::{BuiltIn, Cipher};
use crate::{Error, Spec};
use ::cbc::{Decryptor, Encryptor};
use ::cipher::block::{BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt};
use ::cipher::block_padding::Pkcs7;
use ::cipher::common::InnerInit;
use ::cipher::consts::{U8, U16};
use ::cipher::inout::InOutBuf;
use ::cipher::typenum::Unsigned;
use ::cipher::{Block, BlockSizeUser, InnerIvInit, IvState, StreamCipherCore, array::ArraySize};
use ::ctr::{CtrCore, CtrFlavor, flavors};

/// A block cipher with its key schedule.
pub(crate) trait Primitive:
    'static + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize: WholeBlockCounter>
{
    /// The schedule of a key whose length was checked against `spec`; `None` where the library refuses it.
    fn schedule(spec: &Spec, key: &[u8]) -> Option<Self>;
}

/// A block size whose counter spans the whole block.
pub(crate) trait WholeBlockCounter: ArraySize {
    /// The `ctr` crate's name for it.
    type Flavor: CtrFlavor<Self>;
}

impl WholeBlockCounter for U8 {
    type Flavor = flavors::Ctr64BE;
}

impl WholeBlockCounter for U16 {
    type Flavor = flavors::Ctr128BE;
}

/// Refuses a key that is not as long as the spec says.
#[inline]
pub(crate) fn check_key(spec: &Spec, key: &[u8]) -> Result<(), Error> {
    if key.len() * 8 == usize::from(spec.key_bits) { Ok(()) } else { Err(wrong_key(spec, key)) }
}

pub(crate) fn wrong_key(spec: &Spec, key: &[u8]) -> Error {
    Error::WrongKeyLength { given_bits: key.len() * 8, right_bits: spec.key_bits }
}

#[inline]
fn schedule<P: Primitive>(spec: &Spec, key: &[u8]) -> Result<P, Error> {
    check_key(spec, key)?;
    P::schedule(spec, key).ok_or_else(|| wrong_key(spec, key))
}

/// Refuses an IV where there is none.
#[inline]
pub(crate) fn no_iv(iv: &[u8]) -> Result<(), Error> {
    if iv.is_empty() { Ok(()) } else { Err(Error::WrongIvLength { given_B: iv.len(), right_B: 0 }) }
}

#[inline]
fn block_of<P: BlockSizeUser>(iv: &[u8]) -> Result<&Block<P>, Error> {
    iv.try_into().map_err(|_| Error::WrongIvLength { given_B: iv.len(), right_B: P::BlockSize::USIZE })
}

/// As much of the output as is needed.
#[inline]
pub(crate) fn has_room(output: &mut [u8], needed_B: usize) -> Result<&mut [u8], Error> {
    let given_B = output.len();
    output.get_mut(..needed_B).ok_or(Error::OutputTooSmall { given_B, needed_B })
}

/// Input and as much of the output, side by side.
#[inline]
pub(crate) fn beside<'i, 'o>(input: &'i [u8], output: &'o mut [u8]) -> Result<InOutBuf<'i, 'o, u8>, Error> {
    let too_small = Error::OutputTooSmall { given_B: output.len(), needed_B: input.len() };
    InOutBuf::new(input, has_room(output, input.len())?).map_err(|_| too_small)
}

#[inline]
fn whole_blocks<'i, 'o, P: BlockSizeUser>(
    input: &'i [u8],
    output: &'o mut [u8],
) -> Result<InOutBuf<'i, 'o, Block<P>>, Error> {
    let block_B = P::BlockSize::USIZE;
    if !input.len().is_multiple_of(block_B) {
        return Err(Error::NotWholeBlocks { given_B: input.len(), block_B });
    }
    Ok(beside(input, output)?.into_chunks().0)
}

#[inline]
fn pad_and_encrypt<M: BlockModeEncrypt>(mode: M, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    let block_B = M::BlockSize::USIZE;
    let too_small = Error::OutputTooSmall { given_B: output.len(), needed_B: (input.len() / block_B + 1) * block_B };
    mode.encrypt_padded_b2b::<Pkcs7>(input, output).map(<[u8]>::len).map_err(|_| too_small)
}

#[inline]
fn decrypt_and_unpad<M: BlockModeDecrypt>(mode: M, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    whole_blocks::<M>(input, output)?;
    mode.decrypt_padded_b2b::<Pkcs7>(input, output).map(<[u8]>::len).map_err(|_| Error::BadPadding)
}

/// One key schedule, each block by itself.
pub(crate) struct Ecb<P>(P);

impl<P: Primitive> BuiltIn for Ecb<P> {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        schedule(spec, key).map(Self)
    }
}

impl<P: Primitive> Cipher for Ecb<P> {
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        no_iv(iv)?;
        pad_and_encrypt(::ecb::Encryptor::inner_init(&self.0), input, output)
    }

    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        no_iv(iv)?;
        decrypt_and_unpad(::ecb::Decryptor::inner_init(&self.0), input, output)
    }

    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        no_iv(iv)?;
        self.0.encrypt_blocks_inout(whole_blocks::<P>(input, output)?);
        Ok(())
    }

    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        no_iv(iv)?;
        self.0.decrypt_blocks_inout(whole_blocks::<P>(input, output)?);
        Ok(())
    }
}

/// One key schedule, each block added to the ciphertext before it.
pub(crate) struct Cbc<P>(P);

impl<P: Primitive> BuiltIn for Cbc<P> {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        schedule(spec, key).map(Self)
    }
}

impl<P: Primitive> Cipher for Cbc<P> {
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        pad_and_encrypt(Encryptor::inner_iv_init(&self.0, block_of::<P>(iv)?), input, output)
    }

    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        decrypt_and_unpad(Decryptor::inner_iv_init(&self.0, block_of::<P>(iv)?), input, output)
    }

    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let mut mode = Encryptor::inner_iv_init(&self.0, block_of::<P>(iv)?);
        mode.encrypt_blocks_inout(whole_blocks::<P>(input, output)?);
        iv.copy_from_slice(&mode.iv_state());
        Ok(())
    }

    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let mut mode = Decryptor::inner_iv_init(&self.0, block_of::<P>(iv)?);
        mode.decrypt_blocks_inout(whole_blocks::<P>(input, output)?);
        iv.copy_from_slice(&mode.iv_state());
        Ok(())
    }
}

/// One key schedule, a key stream from encrypted counters.
pub(crate) struct Ctr<P>(P);

type Counter<'p, P> = CtrCore<&'p P, <<P as BlockSizeUser>::BlockSize as WholeBlockCounter>::Flavor>;

impl<P: Primitive> Ctr<P> {
    /// Adds the key stream that starts at `iv`; the counter after it is in what it returns.
    fn apply(&self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<Counter<'_, P>, Error> {
        let mut counter = Counter::<P>::inner_iv_init(&self.0, block_of::<P>(iv)?);
        let (blocks, mut tail) = beside(input, output)?.into_chunks();
        counter.apply_keystream_blocks_inout(blocks);
        if !tail.is_empty() {
            let mut key_stream = Block::<P>::default();
            counter.write_keystream_block(&mut key_stream);
            tail.xor_in2out(&key_stream[..tail.len()]);
        }
        Ok(counter)
    }

    fn apply_part(&self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let next = self.apply(iv, input, output)?.iv_state();
        iv.copy_from_slice(&next);
        Ok(())
    }
}

impl<P: Primitive> BuiltIn for Ctr<P> {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        schedule(spec, key).map(Self)
    }
}

impl<P: Primitive> Cipher for Ctr<P> {
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.apply(iv, input, output).map(|_| input.len())
    }

    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.apply(iv, input, output).map(|_| input.len())
    }

    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.apply_part(iv, input, output)
    }

    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.apply_part(iv, input, output)
    }
}

/// A primitive of a crate that checks its key itself.
macro_rules! primitive {
    ($($of:ty),+ $(,)?) => {
        $(impl crate::modes::Primitive for $of {
            #[inline]
            fn schedule(_: &crate::Spec, key: &[u8]) -> Option<Self> {
                ::cipher::KeyInit::new_from_slice(key).ok()
            }
        })+
    };
}

/// A block cipher of ours: its schedule, and one block either way.
macro_rules! block_cipher {
    ($of:ident, $block:ty) => {
        impl ::cipher::BlockSizeUser for $of {
            type BlockSize = $block;
        }

        impl ::cipher::ParBlocksSizeUser for $of {
            type ParBlocksSize = ::cipher::consts::U1;
        }

        impl ::cipher::block::BlockCipherEncBackend for $of {
            #[inline]
            fn encrypt_block(&self, mut block: ::cipher::inout::InOut<'_, '_, ::cipher::Block<Self>>) {
                let done = self.encrypt_one((*block.get_in()).into());
                *block.get_out() = done.into();
            }
        }

        impl ::cipher::block::BlockCipherDecBackend for $of {
            #[inline]
            fn decrypt_block(&self, mut block: ::cipher::inout::InOut<'_, '_, ::cipher::Block<Self>>) {
                let done = self.decrypt_one((*block.get_in()).into());
                *block.get_out() = done.into();
            }
        }

        impl ::cipher::block::BlockCipherEncrypt for $of {
            #[inline]
            fn encrypt_with_backend(&self, f: impl ::cipher::block::BlockCipherEncClosure<BlockSize = $block>) {
                f.call(self);
            }
        }

        impl ::cipher::block::BlockCipherDecrypt for $of {
            #[inline]
            fn decrypt_with_backend(&self, f: impl ::cipher::block::BlockCipherDecClosure<BlockSize = $block>) {
                f.call(self);
            }
        }
    };
}

pub(crate) use {block_cipher, primitive};
