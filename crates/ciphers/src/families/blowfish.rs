//! Blowfish (Schneier 1993): blocks of 64 bits, keys of 32 to 448.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, blowfish::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::modes::primitive;
use crate::visit::ways;

const CODE: Code = Code::of_crate("blowfish", "0.10.0", Timing::TableLookups, Algorithm::blowfish(Way::Crate));

const FAMILY: Card = Card {
    family: "blowfish",
    key_bits: Sizes::every(8, 32, 448),
    block_bits: 64,
    iv_bits: 64,
    source: "Schneier, Description of a New Variable-Length Key, 64-Bit Block Cipher, 1993",
    codes: &[CODE],
    vectors: include_str!("../../vectors/blowfish.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(
    FAMILY,
    "blowfish",
    ["blowfish{key}"],
    ["blowfish32", "blowfish64", "blowfish128", "blowfish256", "blowfish448"]
);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! { Crate => visit_mode::<::blowfish::Blowfish> }

primitive!(::blowfish::Blowfish);
