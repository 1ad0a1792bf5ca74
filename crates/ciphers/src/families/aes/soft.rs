//! AES without its instructions: fixsliced, four blocks at a time, no table (Adomnicai and Peyrin 2021).
//!
//! The crate `aes` 0.8 stands beside 0.9 for this: its `--cfg aes_force_soft` (set in `.cargo/config.toml`) compiles its
//! code for AES instructions out, and 0.9 doesn't know it.
#![forbid(unsafe_code)]

use ::aes_soft::cipher::{BlockDecrypt, BlockEncrypt, KeyInit, generic_array::GenericArray};
use ::cipher::block::{
    BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend, BlockCipherEncClosure,
    BlockCipherEncrypt,
};
use ::cipher::consts::{U4, U16};
use ::cipher::inout::InOut;
use ::cipher::{Block, BlockSizeUser, ParBlocks, ParBlocksSizeUser};

use crate::Spec;
use crate::algorithm::{Algorithm, aes::Way};
use crate::card::{Code, RUSTCRYPTO_SOFT, Timing};
use crate::modes::Primitive;

/// Bit-sliced without a table.
pub(super) const CODE: Code = Code {
    provider: RUSTCRYPTO_SOFT,
    ..Code::of_crate("aes", "0.8.4", Timing::Constant, Algorithm::aes(Way::Soft)).on(|| "fixsliced")
};

/// The older crate's cipher under the newer traits.
pub(crate) struct Soft<C>(C);

pub(crate) type Soft128 = Soft<::aes_soft::Aes128>;
pub(crate) type Soft192 = Soft<::aes_soft::Aes192>;
pub(crate) type Soft256 = Soft<::aes_soft::Aes256>;

type Old = GenericArray<u8, ::aes_soft::cipher::consts::U16>;

impl<C: BlockEncrypt + BlockDecrypt + KeyInit + 'static> Primitive for Soft<C>
where
    C: ::aes_soft::cipher::BlockSizeUser<BlockSize = ::aes_soft::cipher::consts::U16>,
{
    #[inline]
    fn schedule(_: &Spec, key: &[u8]) -> Option<Self> {
        C::new_from_slice(key).ok().map(Self)
    }
}

impl<C> BlockSizeUser for Soft<C> {
    type BlockSize = U16;
}

impl<C> ParBlocksSizeUser for Soft<C> {
    type ParBlocksSize = U4;
}

/// One direction: the names differ, the shape does not.
macro_rules! direction {
    ($backend:ident, $one:ident, $many:ident, $cipher:ident, $with:ident, $closure:ident, $old:ident, $old_one:ident, $old_many:ident) => {
        impl<C> $backend for Soft<C>
        where
            C: $old + ::aes_soft::cipher::BlockSizeUser<BlockSize = ::aes_soft::cipher::consts::U16>,
        {
            #[inline]
            fn $one(&self, mut block: InOut<'_, '_, Block<Self>>) {
                let mut old = Old::from(<[u8; 16]>::from(*block.get_in()));
                self.0.$old_one(&mut old);
                *block.get_out() = <[u8; 16]>::from(old).into();
            }

            #[inline]
            fn $many(&self, mut blocks: InOut<'_, '_, ParBlocks<Self>>) {
                let mut old: [Old; 4] =
                    <[Block<Self>; 4]>::from(blocks.get_in().clone()).map(|block| Old::from(<[u8; 16]>::from(block)));
                self.0.$old_many(&mut old);
                *blocks.get_out() = old.map(|block| <[u8; 16]>::from(block).into()).into();
            }
        }

        impl<C> $cipher for Soft<C>
        where
            C: $old + ::aes_soft::cipher::BlockSizeUser<BlockSize = ::aes_soft::cipher::consts::U16>,
        {
            #[inline]
            fn $with(&self, f: impl $closure<BlockSize = U16>) {
                f.call(self);
            }
        }
    };
}

direction!(
    BlockCipherEncBackend,
    encrypt_block,
    encrypt_par_blocks,
    BlockCipherEncrypt,
    encrypt_with_backend,
    BlockCipherEncClosure,
    BlockEncrypt,
    encrypt_block,
    encrypt_blocks
);
direction!(
    BlockCipherDecBackend,
    decrypt_block,
    decrypt_par_blocks,
    BlockCipherDecrypt,
    decrypt_with_backend,
    BlockCipherDecClosure,
    BlockDecrypt,
    decrypt_block,
    decrypt_blocks
);
