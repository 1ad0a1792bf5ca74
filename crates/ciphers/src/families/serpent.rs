//! Serpent (Anderson, Biham, Knudsen 1998): blocks of 128 bits, keys of 128, 192 and 256; bytes in the order of NESSIE.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, serpent::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::modes::primitive;
use crate::visit::ways;

/// Bit-sliced.
const CODE: Code = Code::of_crate("serpent", "0.6.0", Timing::Constant, Algorithm::serpent(Way::Crate));

const FAMILY: Card = Card {
    family: "serpent",
    key_bits: Sizes::every(64, 128, 256),
    source: "Anderson, Biham, Knudsen, Serpent: A Proposal for the Advanced Encryption Standard, 1998",
    codes: &[CODE],
    vectors: include_str!("../../vectors/serpent.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(FAMILY, "serpent", ["serpent{key}"], ["serpent128", "serpent192", "serpent256"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! { Crate => visit_mode::<::serpent::Serpent> }

primitive!(::serpent::Serpent);
