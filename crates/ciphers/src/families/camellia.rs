//! Camellia (RFC 3713): blocks of 128 bits, keys of 128, 192 and 256.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, camellia::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::modes::primitive;
use crate::visit::ways;

const CODE: Code = Code::of_crate("camellia", "0.2.1", Timing::TableLookups, Algorithm::camellia(Way::Crate));

const FAMILY: Card = Card {
    family: "camellia",
    key_bits: Sizes::every(64, 128, 256),
    source: "RFC 3713, 2004; ISO/IEC 18033-3",
    codes: &[CODE],
    vectors: include_str!("../../vectors/camellia.txt"),
    ..BLANK
};

static MODES: [Card; 5] =
    five_modes!(FAMILY, "camellia", ["camellia{key}"], ["camellia128", "camellia192", "camellia256"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! { Crate => visit_by_key::<::camellia::Camellia128, ::camellia::Camellia192, ::camellia::Camellia256> }

primitive!(::camellia::Camellia128, ::camellia::Camellia192, ::camellia::Camellia256);
