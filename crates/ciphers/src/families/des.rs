//! DES (FIPS 46-3) and Triple DES (NIST SP 800-67) with two keys and with three: blocks of 64 bits.
//!
//! `key_bits` counts the parity bits, as a key is given: 64, 128 and 192.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, des::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::kernels::des::Des;
use crate::modes::primitive;
use crate::modes::sliced::Sliced;
use crate::visit::ways;

const CODE: Code = Code::of_crate("des", "0.9.0", Timing::TableLookups, Algorithm::des(Way::Single));

/// As libraries had it when the papers were written: twice as fast as the crate's.
const TABLES: Code = Code::by_tables(Algorithm::des(Way::SingleTables));

const DES: Card = Card {
    family: "des",
    key_bits: Sizes::only(64),
    block_bits: 64,
    iv_bits: 64,
    source: "NIST FIPS 46-3, 1999",
    codes: &[CODE, TABLES],
    vectors: include_str!("../../vectors/des.txt"),
    ..BLANK
};

const TRIPLE: Card = Card {
    family: "3des",
    key_bits: Sizes::only(192),
    source: "NIST SP 800-67 Rev. 2, 2017, keying option 1",
    codes: &[
        Code { algorithm: Algorithm::des(Way::Triple), ..CODE },
        Code { algorithm: Algorithm::des(Way::TripleTables), ..TABLES },
    ],
    ..DES
};

const TWO_KEY: Card = Card {
    family: "3des2",
    key_bits: Sizes::only(128),
    source: "NIST SP 800-67 Rev. 1, 2012, keying option 2",
    codes: &[
        Code { algorithm: Algorithm::des(Way::TwoKey), ..CODE },
        Code { algorithm: Algorithm::des(Way::TripleTables), ..TABLES },
    ],
    ..TRIPLE
};

static DES_MODES: [Card; 5] = five_modes!(DES, "des", ["des"], ["des"]);
static TRIPLE_MODES: [Card; 5] = five_modes!(TRIPLE, "3des", ["3des"], ["3des"]);
static TWO_KEY_MODES: [Card; 5] = five_modes!(TWO_KEY, "3des2", ["3des2"], ["3des2"]);

pub(crate) const CARDS: &[&[Card]] = &[&DES_MODES, &TRIPLE_MODES, &TWO_KEY_MODES];

ways! {
    Single => visit_mode::<::des::Des>,
    Triple => visit_mode::<::des::TdesEde3>,
    TwoKey => visit_mode::<::des::TdesEde2>,
    SingleTables => visit_built_in::<Sliced<Des<1>, 8>>,
    TripleTables => visit_built_in::<Sliced<Des<3>, 8>>,
}

primitive!(::des::Des, ::des::TdesEde3, ::des::TdesEde2);
