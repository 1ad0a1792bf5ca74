//! SM4 (GB/T 32907-2016): blocks of 128 bits, keys of 128.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, sm4::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::modes::primitive;
use crate::visit::ways;

const CODE: Code = Code::of_crate("sm4", "0.6.0", Timing::TableLookups, Algorithm::sm4(Way::Crate));

const FAMILY: Card = Card {
    family: "sm4",
    key_bits: Sizes::only(128),
    source: "GB/T 32907-2016; ISO/IEC 18033-3:2010/Amd 1:2021",
    codes: &[CODE],
    vectors: include_str!("../../vectors/sm4.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(FAMILY, "sm4", ["sm4"], ["sm4"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! { Crate => visit_mode::<::sm4::Sm4> }

primitive!(::sm4::Sm4);
