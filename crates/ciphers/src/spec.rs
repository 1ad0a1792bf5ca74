//! A cipher with its parameters, and the ids that name it.
#![forbid(unsafe_code)]

use crate::{Card, Code, Error, Sizes};
use core::fmt;

/// A cipher with its parameters: what an id names. Printed, it is the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spec {
    /// The family and the mode.
    pub card: &'static Card,
    /// Bits of the key as it is given.
    pub key_bits: u16,
    /// Bits of it that the key schedule keeps; all, but for RC2.
    pub effective_bits: u16,
    /// Rounds, where they are a parameter.
    pub rounds: Option<u8>,
}

impl Spec {
    /// What `id` names if it is written as the card's ids are; `None` where it is not.
    pub(crate) fn of_card(card: &'static Card, id: &str) -> Option<Result<Self, Error>> {
        let numbers = card.templates.iter().find_map(|template| Numbers::read(template, id))?;
        Some(Self::of(card, &numbers))
    }

    fn of(card: &'static Card, numbers: &Numbers) -> Result<Self, Error> {
        let family = card.family;
        let key_bits = numbers.key.unwrap_or(card.key_bits.least);
        if !card.key_bits.contains(key_bits) {
            return Err(Error::NoSuchKeyBits { family, given: key_bits, right: card.key_bits });
        }
        let effective_bits = numbers.effective.unwrap_or(key_bits);
        if let Some(right) = card.effective_bits.filter(|right| !right.contains(effective_bits)) {
            return Err(Error::NoSuchEffectiveBits { family, given: effective_bits, right });
        }
        let full = card.full_rounds.map(|of| of(key_bits));
        let rounds = card.rounds.map(|right| {
            let most = full.unwrap_or(right.most); // no cipher has more rounds than all
            (Sizes { most, ..right }, numbers.rounds.or(full).unwrap_or(right.least))
        });
        if let Some((right, given)) = rounds.filter(|(right, given)| !right.contains(*given)) {
            return Err(Error::NoSuchRounds { family, given, right });
        }
        let rounds = rounds.and_then(|(_, given)| u8::try_from(given).ok());
        Ok(Self { card, key_bits, effective_bits, rounds })
    }

    /// Bytes of the key.
    pub fn key_B(&self) -> usize {
        usize::from(self.key_bits / 8)
    }

    /// Bytes of the IV; 0 where there is none.
    pub fn iv_B(&self) -> usize {
        usize::from(self.card.iv_bits / 8)
    }

    /// Bytes of a block; 1 for a stream cipher.
    pub fn block_B(&self) -> usize {
        usize::from(self.card.block_bits / 8)
    }

    /// Bytes of the tag; 0 where nothing authenticates.
    pub fn tag_B(&self) -> usize {
        usize::from(self.card.tag_bits / 8)
    }

    /// Whether it has fewer rounds than the cipher: something to learn from, not to protect anything with.
    pub fn is_reduced(&self) -> bool {
        let full = self.card.full_rounds.map(|of| of(self.key_bits));
        full.is_some_and(|full| self.rounds.map(u16::from) != Some(full))
    }

    /// The code of this provider that is built in; `None` where it has none.
    pub fn code(&self, provider: &str) -> Option<&'static Code> {
        self.card.codes.iter().find(|code| code.provider == provider)
    }

    /// The path that the code takes on this machine, in the words of the records.
    ///
    /// * `vaes512`, `vaes256`, `aesni`, `armv8` or `fixsliced` for AES, the first three or `bitsliced` for Rijndael; `avx512`,
    ///   `avx2` or `portable` for our IDEA, RC2, RC5, RC6, TEA and XTEA; `avx2`, `sse2` or `portable` for ChaCha20; of code
    ///   that has one way only `tables` where it looks up by bytes of key and data, else `portable`.
    pub fn path(&self, code: &Code) -> &'static str {
        (code.path)()
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reduced = self.effective_bits != self.key_bits || self.is_reduced();
        let mut rest = self.card.templates[usize::from(reduced).min(self.card.templates.len() - 1)];
        while let Some((before, name, after)) = first_number(rest) {
            f.write_str(before)?;
            match name {
                "key" => write!(f, "{}", self.key_bits)?,
                "effective" => write!(f, "{}", self.effective_bits)?,
                _ => write!(f, "{}", self.rounds.unwrap_or(0))?,
            }
            rest = after;
        }
        f.write_str(rest)
    }
}

/// The numbers found in an id.
#[derive(Default)]
struct Numbers {
    key: Option<u16>,
    effective: Option<u16>,
    rounds: Option<u16>,
}

impl Numbers {
    /// Reads `id` as `template` writes it; `None` where it is written otherwise.
    fn read(template: &str, id: &str) -> Option<Self> {
        let mut numbers = Self::default();
        let (mut template, mut id) = (template, id);
        while let Some((before, name, after)) = first_number(template) {
            id = id.strip_prefix(before)?;
            let (number, rest) = id.split_at(id.bytes().take_while(u8::is_ascii_digit).count());
            if number.is_empty() || number.starts_with('0') {
                return None;
            }
            // A number too large for any parameter is kept as the largest, to be refused with the right ones.
            let value = number.parse().unwrap_or(u16::MAX);
            match name {
                "key" => numbers.key = Some(value),
                "effective" => numbers.effective = Some(value),
                _ => numbers.rounds = Some(value),
            }
            (template, id) = (after, rest);
        }
        (template == id).then_some(numbers)
    }
}

/// What stands before the first `{name}`, the name, what stands behind.
fn first_number(template: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = template.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}
