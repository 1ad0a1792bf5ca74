//! Rijndael (Daemen and Rijmen 1999) with blocks and keys of 128, 192 and 256 bits; ours, because no kept crate has the
//! larger blocks.
//!
//! The cipher has as many rounds as the larger of block and key has words, and six. An id may name fewer, from four on:
//! `rijndael256-256-r7-cbc` takes the first seven and the key that the next would start with, the last of them without
//! MixColumn, as the last one always is. Such a cipher is reduced: it protects nothing.
#![forbid(unsafe_code)]

use crate::Spec;
use crate::algorithm::{Algorithm, rijndael::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::kernels::rijndael::{Rijndael, TableRijndael, path};
use crate::modes::sliced::Sliced;
use crate::visit::Visitor;

/// The AES instructions, or else bit planes without a table.
const CODE: Code = Code::ours(Timing::Constant, Algorithm::rijndael(Way::Ours)).on(path);

/// As libraries had it when no processor had instructions for it.
const TABLES: Code = Code::by_tables(Algorithm::rijndael(Way::Tables));

const FAMILY: Card = Card {
    key_bits: Sizes::every(64, 128, 256),
    rounds: Some(Sizes::every(1, 4, 14)),
    source: "Daemen and Rijmen, AES Proposal: Rijndael, version 2, 1999",
    codes: &[CODE, TABLES],
    vectors: include_str!("../../vectors/rijndael.txt"),
    ..BLANK
};

/// All rounds of a block and a key of so many bits (AES Proposal, table 1).
const fn rounds(block_bits: u16, key_bits: u16) -> u16 {
    (if block_bits > key_bits { block_bits } else { key_bits }) / 32 + 6
}

static OF_128: [Card; 5] = five_modes!(
    Card {
        family: "rijndael128",
        full_rounds: Some(|key_bits| rounds(128, key_bits)),
        block_bits: 128,
        iv_bits: 128,
        ..FAMILY
    },
    "rijndael128",
    ["rijndael128-{key}", "rijndael128-{key}-r{rounds}"],
    ["rijndael128-128", "rijndael128-192", "rijndael128-256", "rijndael128-128-r7"]
);

static OF_192: [Card; 5] = five_modes!(
    Card {
        family: "rijndael192",
        full_rounds: Some(|key_bits| rounds(192, key_bits)),
        block_bits: 192,
        iv_bits: 192,
        ..FAMILY
    },
    "rijndael192",
    ["rijndael192-{key}", "rijndael192-{key}-r{rounds}"],
    ["rijndael192-128", "rijndael192-192", "rijndael192-256", "rijndael192-192-r7"]
);

static OF_256: [Card; 5] = five_modes!(
    Card {
        family: "rijndael256",
        full_rounds: Some(|key_bits| rounds(256, key_bits)),
        block_bits: 256,
        iv_bits: 256,
        ..FAMILY
    },
    "rijndael256",
    ["rijndael256-{key}", "rijndael256-{key}-r{rounds}"],
    ["rijndael256-128", "rijndael256-192", "rijndael256-256", "rijndael256-256-r7"]
);

pub(crate) const CARDS: &[&[Card]] = &[&OF_128, &OF_192, &OF_256];

impl Way {
    #[inline]
    pub(crate) fn visit<V: Visitor>(self, spec: &Spec, visitor: V) -> V::Output {
        match (self, spec.card.block_bits) {
            (Self::Ours, 128) => spec.visit_built_in::<Sliced<Rijndael<16>, 16>, V>(visitor),
            (Self::Ours, 192) => spec.visit_built_in::<Sliced<Rijndael<24>, 24>, V>(visitor),
            (Self::Ours, _) => spec.visit_built_in::<Sliced<Rijndael<32>, 32>, V>(visitor),
            (Self::Tables, 128) => spec.visit_built_in::<Sliced<TableRijndael<16, 4>, 16>, V>(visitor),
            (Self::Tables, 192) => spec.visit_built_in::<Sliced<TableRijndael<24, 6>, 24>, V>(visitor),
            (Self::Tables, _) => spec.visit_built_in::<Sliced<TableRijndael<32, 8>, 32>, V>(visitor),
        }
    }
}
