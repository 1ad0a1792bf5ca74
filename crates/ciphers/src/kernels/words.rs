//! Block ciphers that take one block after the other, as words: what a processor without vectors does.
#![forbid(unsafe_code)]

use crate::Spec;
use crate::modes::sliced::{Feedback, Kernel};

/// A block cipher with its key schedule, on blocks of `B` bytes that are held as words.
pub(crate) trait OnWords<const B: usize>: 'static + Sized {
    /// The words of a block.
    type Block: Copy;
    /// What the key became, for one direction.
    type Keys: ?Sized;

    /// The schedule of a key whose length was checked against `spec`; `None` for a spec that the cipher does not know.
    fn schedule(spec: &Spec, key: &[u8]) -> Option<Self>;

    fn read(bytes: &[u8; B]) -> Self::Block;
    fn write(block: Self::Block, bytes: &mut [u8; B]);
    fn sum(left: Self::Block, right: Self::Block) -> Self::Block;

    /// What encrypts.
    fn forth(&self) -> &Self::Keys;
    /// What decrypts.
    fn back(&self) -> &Self::Keys;
    fn encrypted(keys: &Self::Keys, block: Self::Block) -> Self::Block;
    fn decrypted(keys: &Self::Keys, block: Self::Block) -> Self::Block;
}

/// Puts what `work` makes of each block into the same place, after the block of `add` was added to it.
#[inline(always)]
fn each<C: OnWords<B>, const B: usize>(
    input: &[[u8; B]],
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
    work: impl Fn(C::Block) -> C::Block,
) {
    for (at, (input, output)) in input.iter().zip(output).enumerate() {
        let mut block = work(C::read(input));
        if let Some(add) = add.and_then(|add| add.get(at)) {
            block = C::sum(block, C::read(add));
        }
        C::write(block, output);
    }
}

impl<C: OnWords<B>, const B: usize> Kernel<B> for C {
    const AT_ONCE: usize = 16;

    #[inline]
    fn schedule(spec: &Spec, key: &[u8]) -> Option<Self> {
        <C as OnWords<B>>::schedule(spec, key)
    }

    #[inline(never)]
    fn encrypt(&self, input: &[[u8; B]], add: Option<&[[u8; B]]>, output: &mut [[u8; B]]) {
        let keys = self.forth();
        each::<C, B>(input, add, output, |block| C::encrypted(keys, block));
    }

    #[inline(never)]
    fn decrypt(&self, input: &[[u8; B]], add: Option<&[[u8; B]]>, output: &mut [[u8; B]]) {
        let keys = self.back();
        each::<C, B>(input, add, output, |block| C::decrypted(keys, block));
    }

    #[inline(never)]
    fn chain(&self, feedback: Feedback, chain: &mut [u8; B], input: &[[u8; B]], output: &mut [[u8; B]]) {
        let keys = self.forth();
        let mut last = C::read(chain);
        for (input, output) in input.iter().zip(output) {
            let text = C::read(input);
            last = C::encrypted(keys, if feedback == Feedback::Cbc { C::sum(last, text) } else { last });
            let result = if feedback == Feedback::Cbc { last } else { C::sum(last, text) };
            C::write(result, output);
            if feedback == Feedback::Cfb {
                last = result;
            }
        }
        C::write(last, chain);
    }
}
