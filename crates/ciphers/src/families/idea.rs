//! IDEA (Lai and Massey 1991): blocks of 64 bits, keys of 128.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, idea::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::kernels::wide;
use crate::modes::primitive;
use crate::modes::sliced::Sliced;
use crate::visit::ways;

/// A multiplication by zero takes another way.
const CODE: Code = Code::of_crate("idea", "0.6.0", Timing::Branches, Algorithm::idea(Way::Crate));

/// Many blocks at once.
const WIDE: Code = Code::ours(Timing::Constant, Algorithm::idea(Way::Wide)).on(wide::path);

const FAMILY: Card = Card {
    family: "idea",
    key_bits: Sizes::only(128),
    block_bits: 64,
    iv_bits: 64,
    source: "Lai and Massey, A Proposal for a New Block Encryption Standard, 1991; ISO/IEC 18033-3:2005",
    codes: &[CODE, WIDE],
    vectors: include_str!("../../vectors/idea.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(FAMILY, "idea", ["idea"], ["idea"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! {
    Crate => visit_mode::<::idea::Idea>,
    Wide => visit_built_in::<Sliced<crate::kernels::idea::Idea, 8>>,
}

primitive!(::idea::Idea);
