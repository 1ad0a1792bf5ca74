//! Bad padding of every kind is refused: a message that ends in none must not come out as one that does (RFC 5652, 6.3).

use super::error::ProofError;
use super::held::{Held, Verdict, first_code, scatter};
use crate::cipher::{Direction, Suite};
use crate::{Error, MAX_IV_B, MAX_KEY_B, Spec, Visitor};

/// Blocks of the messages.
const BLOCKS: [usize; 3] = [1, 2, 5];
const MOST_B: usize = 5 * MAX_IV_B;

/// Messages whose last block is wrong in one way each, as the card's first code encrypts them.
pub(super) fn refused(spec: &Spec, held: &dyn Held) -> Result<(), ProofError> {
    let (code, block_B) = (first_code(spec)?, spec.block_B());
    let (mut key, mut iv) = ([0; MAX_KEY_B], [0; MAX_IV_B]);
    scatter(&mut key, 7);
    scatter(&mut iv, 8);
    let (key, iv) = (&key[..spec.key_B()], &iv[..spec.iv_B()]);
    for length_B in BLOCKS.map(|blocks| blocks * block_B) {
        let (mut message, mut sealed) = ([0; MOST_B], [0; MOST_B]);
        let (message, sealed) = (&mut message[..length_B], &mut sealed[..length_B]);
        for (operation, spoil) in KINDS {
            scatter(message, 9);
            spoil(&mut message[length_B - block_B..]);
            spec.visit(code, Unpadded { key, iv, message, sealed })?;
            refuses(held, key, iv, sealed)?.map_err(|()| ProofError::Disagreement { operation, length_B })?;
        }
    }
    refuses(held, key, iv, &[])?
        .map_err(|()| ProofError::Disagreement { operation: "refuse a message without its padding of", length_B: 0 })
}

/// What is wrong with the last block, and how it becomes so.
type Kind = (&'static str, fn(&mut [u8]));

const KINDS: [Kind; 6] = [
    ("refuse padding of 0 bytes at the end of", |last| fill(last, 1, 0)),
    ("refuse padding longer than a block at the end of", |last| fill(last, last.len(), wide(last.len() + 1))),
    ("refuse padding of 255 bytes at the end of", |last| fill(last, last.len(), 255)),
    ("refuse padding whose first byte differs, at the end of", |last| spoiled(last, last.len(), 0)),
    ("refuse padding whose middle differs, at the end of", |last| spoiled(last, last.len() - 1, last.len() / 2)),
    ("refuse padding of 2 bytes of which one differs, at the end of", |last| spoiled(last, 2, last.len() - 2)),
];

fn fill(last: &mut [u8], count: usize, byte: u8) {
    let from = last.len() - count;
    last[from..].fill(byte);
}

/// Right padding of `count` bytes, but for the one at `place` of the block.
fn spoiled(last: &mut [u8], count: usize, place: usize) {
    fill(last, count, wide(count));
    last[place] ^= 0x40;
}

#[allow(clippy::cast_possible_truncation, reason = "a block has at most 32 bytes")]
fn wide(count: usize) -> u8 {
    count as u8
}

fn refuses(held: &dyn Held, key: &[u8], iv: &[u8], sealed: &[u8]) -> Result<Result<(), ()>, Error> {
    let verdict: Verdict = held.with_key(key, Direction::Decrypt, &mut |cipher| {
        let mut output = [0; MOST_B];
        match cipher.decrypt(iv, sealed, &mut output) {
            Err(Error::BadPadding) => Ok(Ok(())),
            Err(error) => Err(error),
            Ok(_) => Ok(Err("")),
        }
    });
    Ok(verdict?.map_err(|_| ()))
}

struct Unpadded<'u> {
    key: &'u [u8],
    iv: &'u [u8],
    message: &'u [u8],
    sealed: &'u mut [u8],
}

impl Visitor for Unpadded<'_> {
    type Output = Result<(), Error>;

    fn visit<S: Suite>(self, spec: &Spec, suite: S) -> Self::Output {
        use crate::cipher::Cipher as _;
        let mut chain = [0; MAX_IV_B];
        let chain = &mut chain[..spec.iv_B()];
        chain.copy_from_slice(self.iv);
        suite.key_setup(self.key, Direction::Encrypt)?.encrypt_part(chain, self.message, self.sealed)
    }
}
