//! TEA and XTEA: blocks of 64 bits, keys of 128, 64 rounds (32 cycles); words big-endian.
//!
//! Wheeler and Needham write C on words and fix no order of bytes; big-endian words are what most published vectors and
//! libraries have (libtomcrypt, Botan, libmcrypt).
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, tea::Way};
use crate::card::{BLANK, Card, Code, Timing, five_modes};
use crate::kernels::wide;
use crate::modes::sliced::Sliced;
use crate::visit::ways;

const CODE: Code = Code::ours(Timing::Constant, Algorithm::tea(Way::Tea)).on(wide::path);

const TEA: Card = Card {
    family: "tea",
    block_bits: 64,
    iv_bits: 64,
    source: "Wheeler and Needham, TEA, a Tiny Encryption Algorithm, 1994",
    codes: &[CODE],
    vectors: include_str!("../../vectors/tea.txt"),
    ..BLANK
};

const XTEA: Card = Card {
    family: "xtea",
    source: "Needham and Wheeler, Tea extensions, 1997",
    codes: &[Code { algorithm: Algorithm::tea(Way::Xtea), ..CODE }],
    ..TEA
};

static TEA_MODES: [Card; 5] = five_modes!(TEA, "tea", ["tea"], ["tea"]);
static XTEA_MODES: [Card; 5] = five_modes!(XTEA, "xtea", ["xtea"], ["xtea"]);

pub(crate) const CARDS: &[&[Card]] = &[&TEA_MODES, &XTEA_MODES];

ways! {
    Tea => visit_built_in::<Sliced<crate::kernels::tea::Tea, 8>>,
    Xtea => visit_built_in::<Sliced<crate::kernels::tea::Xtea, 8>>,
}
