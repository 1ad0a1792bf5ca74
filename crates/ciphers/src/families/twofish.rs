//! Twofish (Schneier and others 1998): blocks of 128 bits, keys of 128, 192 and 256.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, twofish::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::modes::primitive;
use crate::visit::ways;

/// The crate computes its key-dependent boxes anew for each block, so it is slow.
const CODE: Code = Code::of_crate("twofish", "0.8.0", Timing::TableLookups, Algorithm::twofish(Way::Crate));

const FAMILY: Card = Card {
    family: "twofish",
    key_bits: Sizes::every(64, 128, 256),
    source: "Schneier, Kelsey, Whiting, Wagner, Hall, Ferguson, Twofish: A 128-Bit Block Cipher, 1998",
    codes: &[CODE],
    vectors: include_str!("../../vectors/twofish.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(FAMILY, "twofish", ["twofish{key}"], ["twofish128", "twofish192", "twofish256"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! { Crate => visit_mode::<::twofish::Twofish> }

primitive!(::twofish::Twofish);
