//! CAST-128 (RFC 2144), also called CAST5: blocks of 64 bits, keys of 40 to 128; 12 rounds up to 80 bits, 16 above.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, cast::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::modes::primitive;
use crate::visit::ways;

const CODE: Code = Code::of_crate("cast5", "0.12.0", Timing::TableLookups, Algorithm::cast(Way::Crate));

const FAMILY: Card = Card {
    family: "cast",
    key_bits: Sizes::every(8, 40, 128),
    block_bits: 64,
    iv_bits: 64,
    source: "RFC 2144, 1997",
    codes: &[CODE],
    vectors: include_str!("../../vectors/cast.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(FAMILY, "cast", ["cast{key}"], ["cast40", "cast80", "cast128"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! { Crate => visit_mode::<::cast5::Cast5> }

primitive!(::cast5::Cast5);
