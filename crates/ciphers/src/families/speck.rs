//! Speck (Beaulieu and others 2013) with blocks of 64 and 128 bits; words big-endian, as the paper prints them.
#![forbid(unsafe_code)]

use crate::Spec;
use crate::algorithm::{Algorithm, speck::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::modes::primitive;
use crate::visit::Visitor;

const CODE: Code = Code::of_crate("speck-cipher", "0.1.0", Timing::Constant, Algorithm::speck(Way::Crate));

const OF_128: Card = Card {
    family: "speck128",
    key_bits: Sizes::every(64, 128, 256),
    source: "Beaulieu, Shors, Smith, Treatman-Clark, Weeks, Wingers, The Simon and Speck Families of Lightweight Block Ciphers, 2013",
    codes: &[CODE],
    vectors: include_str!("../../vectors/speck.txt"),
    ..BLANK
};

const OF_64: Card =
    Card { family: "speck64", key_bits: Sizes::every(32, 96, 128), block_bits: 64, iv_bits: 64, ..OF_128 };

static MODES_OF_128: [Card; 5] =
    five_modes!(OF_128, "speck128", ["speck128-{key}"], ["speck128-128", "speck128-192", "speck128-256"]);
static MODES_OF_64: [Card; 5] = five_modes!(OF_64, "speck64", ["speck64-{key}"], ["speck64-96", "speck64-128"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES_OF_128, &MODES_OF_64];

impl Way {
    #[inline]
    pub(crate) fn visit<V: Visitor>(self, spec: &Spec, visitor: V) -> V::Output {
        match (spec.card.block_bits, spec.key_bits) {
            (64, 96) => spec.visit_mode::<::speck_cipher::Speck64_96, V>(visitor),
            (64, _) => spec.visit_mode::<::speck_cipher::Speck64_128, V>(visitor),
            (_, 128) => spec.visit_mode::<::speck_cipher::Speck128_128, V>(visitor),
            (_, 192) => spec.visit_mode::<::speck_cipher::Speck128_192, V>(visitor),
            _ => spec.visit_mode::<::speck_cipher::Speck128_256, V>(visitor),
        }
    }
}

primitive!(
    ::speck_cipher::Speck64_96,
    ::speck_cipher::Speck64_128,
    ::speck_cipher::Speck128_128,
    ::speck_cipher::Speck128_192,
    ::speck_cipher::Speck128_256,
);
