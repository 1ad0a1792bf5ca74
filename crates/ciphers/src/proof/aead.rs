//! What is asked of an AEAD: its vectors, agreement with the card's first implementation, and the laws of RFC 5116: what
//! was sealed opens, and nothing that was changed does, nor leaves a byte of plaintext behind. A refusal leaves no trace in
//! the cipher either: the next message opens and seals as if there had been none.

use super::error::ProofError;
use super::held::{Held, TEXT_B, Verdict, and_then, first_code, scatter};
use crate::cipher::{Direction, Suite};
use crate::vectors::{Vector, decode};
use crate::{Error, MAX_IV_B, MAX_KEY_B, MAX_PADDING_B, Spec, Visitor};

/// Messages and their associated data, bytes: on both sides of a block, and longer than any path that takes many at once.
const LENGTHS_B: [(usize, usize); 12] = [
    (0, 0),
    (0, 5),
    (1, 0),
    (15, 1),
    (16, 16),
    (17, 15),
    (31, 33),
    (32, 0),
    (64, 12),
    (65, 40),
    (255, 20),
    (MOST_B, 13),
];
/// More than any path takes at once (64 blocks of 16), and some.
const MOST_B: usize = 1100;
/// What the output holds before an opening that must fail.
const UNTOUCHED: u8 = 0xa5;

pub(super) fn check(vector: &Vector<'_>, held: &dyn Held) -> Result<(), ProofError> {
    let line = vector.line;
    let read = |hex, buffer| decode(hex, buffer).ok_or(ProofError::Malformed { line });
    let (mut key, mut iv, mut aad) = ([0; MAX_KEY_B], [0; MAX_IV_B], [0; TEXT_B]);
    let (mut plaintext, mut ciphertext) = ([0; TEXT_B], [0; TEXT_B]);
    let trial = Trial {
        key: read(vector.key, &mut key)?,
        nonce: read(vector.iv, &mut iv)?,
        aad: read(vector.aad, &mut aad)?,
        plaintext: read(vector.plaintext, &mut plaintext)?,
        ciphertext: read(vector.ciphertext, &mut ciphertext)?,
    };
    trial.hold(held)?.map_err(|operation| ProofError::Vector { line, operation })
}

/// Messages of many lengths under many keys: as the card's first implementation seals them, and the laws.
pub(super) fn laws(spec: &Spec, held: &dyn Held) -> Result<(), ProofError> {
    let code = first_code(spec)?;
    for (seed, (length_B, aad_B)) in (100..).zip(LENGTHS_B) {
        let (mut key, mut nonce, mut aad) = ([0; MAX_KEY_B], [0; MAX_IV_B], [0; 64]);
        let (mut message, mut sealed) = ([0; MOST_B], [0; MOST_B + MAX_PADDING_B]);
        scatter(&mut key, seed);
        scatter(&mut nonce, seed << 8);
        scatter(&mut aad, seed << 16);
        scatter(&mut message, seed << 24);
        // Where a byte of plaintext was left is to be seen: none of them is zero or as the output was before.
        message.iter_mut().filter(|byte| [0, UNTOUCHED].contains(byte)).for_each(|byte| *byte = 1);
        let (key, nonce) = (&key[..spec.key_B()], &nonce[..spec.iv_B()]);
        let (aad, message) = (&aad[..aad_B], &message[..length_B]);
        let sealed_B = spec.visit(code, Seal { key, nonce, aad, message, output: &mut sealed })?;
        if sealed_B != length_B + spec.tag_B() {
            return Err(ProofError::Disagreement { operation: "seal", length_B });
        }
        let trial = Trial { key, nonce, aad, plaintext: message, ciphertext: &sealed[..sealed_B] };
        let verdict = and_then(trial.hold(held), || trial.refuses(held));
        verdict?.map_err(|operation| ProofError::Disagreement { operation, length_B })?;
    }
    Ok(())
}

struct Seal<'s> {
    key: &'s [u8],
    nonce: &'s [u8],
    aad: &'s [u8],
    message: &'s [u8],
    output: &'s mut [u8],
}

impl Visitor for Seal<'_> {
    type Output = Result<usize, Error>;

    fn visit<S: Suite>(self, _: &Spec, suite: S) -> Self::Output {
        use crate::cipher::Cipher as _;
        suite.key_setup(self.key, Direction::Encrypt)?.seal(self.nonce, self.aad, self.message, self.output)
    }
}

/// What an AEAD is compared with; the ciphertext ends in the tag.
struct Trial<'t> {
    key: &'t [u8],
    nonce: &'t [u8],
    aad: &'t [u8],
    plaintext: &'t [u8],
    ciphertext: &'t [u8],
}

impl Trial<'_> {
    fn hold(&self, held: &dyn Held) -> Verdict {
        let verdict = held.with_key(self.key, Direction::Encrypt, &mut |cipher| {
            let mut output = [0; MOST_B + MAX_PADDING_B];
            let written_B = cipher.seal(self.nonce, self.aad, self.plaintext, &mut output)?;
            Ok(if output[..written_B] == *self.ciphertext { Ok(()) } else { Err("seal") })
        });
        and_then(verdict, || {
            held.with_key(self.key, Direction::Decrypt, &mut |cipher| {
                let mut output = [0; MOST_B + MAX_PADDING_B];
                let written_B = cipher.open(self.nonce, self.aad, self.ciphertext, &mut output)?;
                Ok(if output[..written_B] == *self.plaintext { Ok(()) } else { Err("open") })
            })
        })
    }

    /// One bit changed in the text, the tag, the nonce, the associated data; a byte of each too few.
    fn refuses(&self, held: &dyn Held) -> Verdict {
        held.with_key(self.key, Direction::Decrypt, &mut |cipher| {
            let mut forgery = Forgery { nonce: [0; MAX_IV_B], aad: [0; 64], sealed: [0; MOST_B + MAX_PADDING_B] };
            for change in 0..7 {
                let Some((aad_B, given_B, named)) = forgery.of(self, change) else { continue };
                let Forgery { nonce, aad, sealed } = &forgery;
                let mut output = [UNTOUCHED; MOST_B + MAX_PADDING_B];
                match cipher.open(&nonce[..self.nonce.len()], &aad[..aad_B], &sealed[..given_B], &mut output) {
                    Err(Error::Forged) => {}
                    Err(error) => return Err(error),
                    Ok(_) => return Ok(Err(named)),
                }
                if output.iter().zip(self.plaintext).any(|(left, plain)| left == plain) {
                    return Ok(Err("keep back the plaintext of"));
                }
            }
            let mut output = [0; MOST_B + MAX_PADDING_B];
            match cipher.open(self.nonce, self.aad, self.ciphertext, &mut output) {
                Ok(written_B) if output[..written_B] == *self.plaintext => {}
                Ok(_) | Err(Error::Forged) => return Ok(Err("open, after forgeries,")),
                Err(error) => return Err(error),
            }
            let written_B = cipher.seal(self.nonce, self.aad, self.plaintext, &mut output)?;
            Ok(if output[..written_B] == *self.ciphertext { Ok(()) } else { Err("seal, after forgeries,") })
        })
    }
}

/// A message that somebody changed.
struct Forgery {
    nonce: [u8; MAX_IV_B],
    aad: [u8; 64],
    sealed: [u8; MOST_B + MAX_PADDING_B],
}

impl Forgery {
    /// Makes the forgery of this number; gives the bytes of associated data and of the sealed message, and what is not
    /// done where it opens. `None` where the message has nothing to change.
    fn of(&mut self, trial: &Trial<'_>, change: u8) -> Option<(usize, usize, &'static str)> {
        let (length_B, sealed_B) = (trial.plaintext.len(), trial.ciphertext.len());
        let (bit, nonce_B) = (1_u8 << (length_B % 8), trial.nonce.len());
        self.nonce[..nonce_B].copy_from_slice(trial.nonce);
        self.aad[..trial.aad.len()].copy_from_slice(trial.aad);
        self.sealed[..sealed_B].copy_from_slice(trial.ciphertext);
        let (mut aad_B, mut given_B) = (trial.aad.len(), sealed_B);
        let named = match change {
            0 if length_B == 0 => return None,
            0 => {
                self.sealed[length_B / 2] ^= bit;
                "refuse a changed text of"
            }
            1 => {
                self.sealed[length_B] ^= bit;
                "refuse a changed tag of"
            }
            2 => {
                self.sealed[sealed_B - 1] ^= bit;
                "refuse a changed tag of"
            }
            3 => {
                self.nonce[length_B % nonce_B] ^= bit;
                "refuse a changed nonce of"
            }
            4 => {
                // A byte of associated data changed, or one where there was none.
                self.aad[aad_B / 2] ^= bit;
                aad_B = aad_B.max(1);
                "refuse changed associated data of"
            }
            5 => {
                given_B = sealed_B - 1;
                "refuse a cut message of"
            }
            _ => {
                given_B = sealed_B - length_B - 1;
                "refuse less than a tag of"
            }
        };
        Some((aad_B, given_B, named))
    }
}
