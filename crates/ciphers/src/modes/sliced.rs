//! The same five modes around a kernel of ours, which takes slices of blocks of any size.

use super::{check_key, has_room, no_iv, wrong_key};
use crate::cipher::{BuiltIn, Cipher};
use crate::{Error, Mode, Spec};

/// What is encrypted next where one block must wait for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feedback {
    /// The plaintext, after the last ciphertext is added.
    Cbc,
    /// The last ciphertext; it becomes the key stream.
    Cfb,
    /// The last key stream.
    Ofb,
}

/// A block cipher with its key schedule, for blocks of `B` bytes. The slices of a call are equally long.
pub(crate) trait Kernel<const B: usize>: 'static + Sized {
    /// Blocks of a long message that are best taken together; at most 64.
    const AT_ONCE: usize;

    /// The schedule of a key whose length was checked against `spec`; `None` for a spec that the kernel does not know.
    fn schedule(spec: &Spec, key: &[u8]) -> Option<Self>;

    /// Encrypts each block by itself, then adds to it the block of `add` in the same place.
    fn encrypt(&self, input: &[[u8; B]], add: Option<&[[u8; B]]>, output: &mut [[u8; B]]);

    /// Decrypts each block by itself, then adds to it the block of `add` in the same place.
    fn decrypt(&self, input: &[[u8; B]], add: Option<&[[u8; B]]>, output: &mut [[u8; B]]);

    /// Encrypts one block after the other; `chain` is the IV and becomes that of the next part.
    fn chain(&self, feedback: Feedback, chain: &mut [u8; B], input: &[[u8; B]], output: &mut [[u8; B]]);

    /// Adds to each block the encryption of its counter, which is that of the first and becomes that of the next part.
    #[inline]
    fn count(&self, counter: &mut [u8; B], input: &[[u8; B]], output: &mut [[u8; B]]) {
        if input.len() > FEW {
            counted::<Self, B, MANY>(self, counter, input, output);
        } else {
            counted::<Self, B, FEW>(self, counter, input, output);
        }
    }
}

/// Room for blocks of a long message that are made here. Where memory is short, little.
const MANY: usize = if cfg!(target_pointer_width = "64") { 64 } else { 4 };
/// And for those of a short one.
const FEW: usize = 4;

#[inline]
fn counted<K: Kernel<B>, const B: usize, const N: usize>(
    kernel: &K,
    counter: &mut [u8; B],
    input: &[[u8; B]],
    output: &mut [[u8; B]],
) {
    let mut counters = [[0; B]; N];
    let at_once = K::AT_ONCE.clamp(1, N);
    for (input, output) in input.chunks(at_once).zip(output.chunks_mut(at_once)) {
        let counters = &mut counters[..input.len()];
        fill(counters, counter);
        kernel.encrypt(counters, Some(input), output);
    }
}

/// A kernel with a key in a mode.
pub(crate) struct Sliced<K, const B: usize> {
    kernel: K,
    mode: Mode,
}

impl<K: Kernel<B>, const B: usize> BuiltIn for Sliced<K, B> {
    #[inline]
    fn key_setup(spec: &Spec, key: &[u8]) -> Result<Self, Error> {
        check_key(spec, key)?;
        let kernel = K::schedule(spec, key).ok_or_else(|| wrong_key(spec, key))?;
        Ok(Self { kernel, mode: spec.card.mode })
    }
}

impl<K: Kernel<B>, const B: usize> Sliced<K, B> {
    #[inline]
    fn pads(&self) -> bool {
        matches!(self.mode, Mode::Ecb | Mode::Cbc)
    }

    /// The IV as a block; zeros where there is none.
    #[inline]
    fn start(&self, iv: &[u8]) -> Result<[u8; B], Error> {
        if self.mode == Mode::Ecb {
            return no_iv(iv).map(|()| [0; B]);
        }
        iv.try_into().map_err(|_| Error::WrongIvLength { given_B: iv.len(), right_B: B })
    }

    /// Refuses a part of a block where the mode takes whole ones.
    #[inline]
    fn whole_blocks(&self, input: &[u8]) -> Result<(), Error> {
        let is_whole = !self.pads() || input.len().is_multiple_of(B);
        if is_whole { Ok(()) } else { Err(Error::NotWholeBlocks { given_B: input.len(), block_B: B }) }
    }

    /// A part of a message, its output equally long.
    #[inline]
    fn encrypted(&self, chain: &mut [u8; B], input: &[u8], output: &mut [u8]) {
        let (blocks, tail) = input.as_chunks();
        let (outputs, tail_output) = output.as_chunks_mut();
        match self.mode {
            Mode::Ecb => self.kernel.encrypt(blocks, None, outputs),
            Mode::Cbc => self.kernel.chain(Feedback::Cbc, chain, blocks, outputs),
            Mode::Cfb => self.kernel.chain(Feedback::Cfb, chain, blocks, outputs),
            Mode::Ofb => self.kernel.chain(Feedback::Ofb, chain, blocks, outputs),
            _ => self.kernel.count(chain, blocks, outputs),
        }
        self.end(chain, tail, tail_output);
    }

    /// A part of a message the other way.
    #[inline]
    fn decrypted(&self, chain: &mut [u8; B], input: &[u8], output: &mut [u8]) {
        let (blocks, tail) = input.as_chunks();
        let (outputs, tail_output) = output.as_chunks_mut();
        match self.mode {
            Mode::Ecb => self.kernel.decrypt(blocks, None, outputs),
            Mode::Cbc | Mode::Cfb => self.unchained(chain, blocks, outputs),
            _ => return self.encrypted(chain, input, output),
        }
        self.end(chain, tail, tail_output);
    }

    /// What is left after the last whole block, in the modes that are key streams.
    #[inline]
    fn end(&self, chain: &mut [u8; B], tail: &[u8], output: &mut [u8]) {
        if tail.is_empty() || self.pads() {
            return;
        }
        let mut key_stream = [[0; B]];
        self.kernel.encrypt(&[*chain], None, &mut key_stream);
        for ((output, input), key) in output.iter_mut().zip(tail).zip(key_stream.as_flattened()) {
            *output = input ^ key;
        }
        count_on(chain, 1);
    }

    /// CBC and CFB decrypted: many blocks at once, each with the ciphertext before it.
    #[inline]
    fn unchained(&self, chain: &mut [u8; B], input: &[[u8; B]], output: &mut [[u8; B]]) {
        if input.len() > FEW {
            self.unchained_by::<MANY>(chain, input, output);
        } else {
            self.unchained_by::<FEW>(chain, input, output);
        }
    }

    /// The first blocks apart, so that whole groups are left.
    #[inline]
    fn unchained_by<const N: usize>(&self, chain: &mut [u8; B], input: &[[u8; B]], output: &mut [[u8; B]]) {
        let Some(last) = input.last() else { return };
        let few = (input.len() - 1) % K::AT_ONCE.clamp(1, N) + 1;
        let mut before = [[0; B]; N];
        before[0] = *chain;
        before[1..few].copy_from_slice(&input[..few - 1]);
        let (first, second) = output.split_at_mut(few);
        let shifted = &input[few - 1..input.len() - 1];
        if self.mode == Mode::Cbc {
            self.kernel.decrypt(&input[..few], Some(&before[..few]), first);
            self.kernel.decrypt(&input[few..], Some(shifted), second);
        } else {
            self.kernel.encrypt(&before[..few], Some(&input[..few]), first);
            self.kernel.encrypt(shifted, Some(&input[few..]), second);
        }
        *chain = *last;
    }
}

/// Counts on, big-endian over the whole block.
#[inline]
pub(crate) fn count_on<const B: usize>(counter: &mut [u8; B], by: u64) {
    let mut carry = by;
    for bytes in counter.as_rchunks_mut::<8>().1.iter_mut().rev() {
        let (sum, over) = u64::from_be_bytes(*bytes).overflowing_add(carry);
        *bytes = sum.to_be_bytes();
        carry = u64::from(over);
    }
}

/// Fills `counters` from `counter` on, which becomes the one after them.
#[inline]
fn fill<const B: usize>(counters: &mut [[u8; B]], counter: &mut [u8; B]) {
    let Some(low) = counter.last_chunk::<8>().map(|low| u64::from_be_bytes(*low)) else { return };
    let mut next = *counter;
    for (block, steps) in counters.iter_mut().zip(0..) {
        match low.checked_add(steps) {
            Some(sum) => {
                if let Some(low) = next.last_chunk_mut::<8>() {
                    *low = sum.to_be_bytes();
                }
            }
            None => {
                next = *counter;
                count_on(&mut next, steps);
            }
        }
        *block = next;
    }
    count_on(counter, counters.len() as u64);
}

/// Bytes of the message before PKCS#7 padding (RFC 5652, 6.3); `None` where it ends otherwise.
#[inline]
fn unpadded<const B: usize>(message: &[u8]) -> Option<usize> {
    let padding = *message.last()?;
    let padding_B = usize::from(padding);
    let text_B = message.len().checked_sub(padding_B).filter(|_| (1..=B).contains(&padding_B))?;
    message[text_B..].iter().all(|byte| *byte == padding).then_some(text_B)
}

impl<K: Kernel<B>, const B: usize> Cipher for Sliced<K, B> {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let mut chain = self.start(iv)?;
        if !self.pads() {
            self.encrypted(&mut chain, input, has_room(output, input.len())?);
            return Ok(input.len());
        }
        let (blocks, tail) = input.as_chunks::<B>();
        let written_B = (blocks.len() + 1) * B;
        let (whole, padded) = has_room(output, written_B)?.split_at_mut(blocks.len() * B);
        self.encrypted(&mut chain, blocks.as_flattened(), whole);
        // What is added is less than 256: B is at most 32.
        let mut last = [(B - tail.len()).to_le_bytes()[0]; B];
        last[..tail.len()].copy_from_slice(tail);
        self.encrypted(&mut chain, &last, padded);
        Ok(written_B)
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let mut chain = self.start(iv)?;
        self.whole_blocks(input)?;
        let output = has_room(output, input.len())?;
        self.decrypted(&mut chain, input, output);
        if self.pads() { unpadded::<B>(output).ok_or(Error::BadPadding) } else { Ok(input.len()) }
    }

    #[inline]
    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let mut chain = self.start(iv)?;
        self.whole_blocks(input)?;
        self.encrypted(&mut chain, input, has_room(output, input.len())?);
        iv.copy_from_slice(&chain[..iv.len()]);
        Ok(())
    }

    #[inline]
    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let mut chain = self.start(iv)?;
        self.whole_blocks(input)?;
        self.decrypted(&mut chain, input, has_room(output, input.len())?);
        iv.copy_from_slice(&chain[..iv.len()]);
        Ok(())
    }
}
