//! The catalogue: all cards, and the specs that ids name.
#![forbid(unsafe_code)]

use crate::card::{Card, Mode};
use crate::error::Error;
use crate::families::FAMILIES;
use crate::spec::Spec;

/// Every card, in the order in which a catalogue prints them.
pub fn cards() -> impl Iterator<Item = &'static Card> + Clone {
    FAMILIES.iter().flat_map(|cards| cards.iter()).flat_map(|cards| cards.iter())
}

impl Spec {
    /// The cipher that `id` names, such as `aes128-cbc` or `rc5-32-12-128-ctr`.
    ///
    /// # Errors
    /// [`Error::UnknownCipher`]; where only a number is wrong, the error that says the right ones.
    pub fn parse(id: &str) -> Result<Self, Error> {
        cards().find_map(|card| Self::of_card(card, id)).unwrap_or(Err(Error::UnknownCipher))
    }

    /// The same key and the same rounds, each block by itself; `None` for a stream cipher and an AEAD.
    pub(crate) fn in_ecb(&self) -> Option<Self> {
        let ecb = |card: &&'static Card| card.family == self.card.family && card.mode == Mode::Ecb;
        cards().find(ecb).map(|card| Self { card, ..*self })
    }
}

/// The specs that a catalogue prints, in the order of the cards.
pub fn listed() -> impl Iterator<Item = Spec> {
    cards().flat_map(|card| card.listed.iter().filter_map(move |id| Spec::of_card(card, id)?.ok()))
}

/// The listed spec whose id is least far from `id`, for "did you mean"; `None` where nothing is near.
///
/// Capital letters and `_` for `-` count as no difference.
pub fn nearest(id: &str) -> Option<Spec> {
    nearest_of(id, cards().flat_map(|card| card.listed.iter().copied())).and_then(|id| Spec::parse(id).ok())
}

/// Of `ids`, the one that takes the fewest changes to get to from `id`; `None` where all take more than half of its
/// characters.
#[must_use]
pub fn nearest_of<'i>(id: &str, ids: impl Iterator<Item = &'i str>) -> Option<&'i str> {
    let near = id.len().div_ceil(2);
    let mut best: Option<(usize, &str)> = None;
    for candidate in ids {
        let distance = edits(id, candidate);
        if distance <= near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, id)| id)
}

/// No listed id is longer.
const LONGEST_ID: usize = 24;

/// Characters to insert, delete or replace on the way from `given` to `id` (Levenshtein).
fn edits(given: &str, id: &str) -> usize {
    let mut row: [usize; LONGEST_ID + 1] = core::array::from_fn(|column| column);
    for (line, mine) in given.bytes().enumerate() {
        let mine = if mine == b'_' { b'-' } else { mine.to_ascii_lowercase() };
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, theirs) in id.bytes().take(LONGEST_ID).enumerate() {
            let replaced = diagonal + usize::from(mine != theirs);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[id.len().min(LONGEST_ID)]
}
