//! RC2 (RFC 2268): blocks of 64 bits, keys of 1 to 128 bytes, 1 to 1024 effective bits.
#![forbid(unsafe_code)]

use ::rc2::Rc2;

use crate::Spec;
use crate::algorithm::{Algorithm, rc2::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::kernels::wide;
use crate::modes::Primitive;
use crate::modes::sliced::Sliced;
use crate::visit::ways;

/// Mashing reads the key table where the data says.
const CODE: Code = Code::of_crate("rc2", "0.9.0", Timing::TableLookups, Algorithm::rc2(Way::Crate));

/// Many blocks at once.
const WIDE: Code = Code::ours(CODE.timing, Algorithm::rc2(Way::Wide)).on(wide::path);

const FAMILY: Card = Card {
    family: "rc2",
    key_bits: Sizes::every(8, 8, 1024),
    effective_bits: Some(Sizes::every(1, 1, 1024)),
    block_bits: 64,
    iv_bits: 64,
    source: "RFC 2268, 1998",
    codes: &[CODE, WIDE],
    vectors: include_str!("../../vectors/rc2.txt"),
    ..BLANK
};

static MODES: [Card; 5] =
    five_modes!(FAMILY, "rc2", ["rc2-{key}", "rc2-{key}-e{effective}"], ["rc2-40", "rc2-64", "rc2-128", "rc2-128-e64"]);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

ways! {
    Crate => visit_mode::<Rc2>,
    Wide => visit_built_in::<Sliced<crate::kernels::rc2::Rc2, 8>>,
}

impl Primitive for Rc2 {
    #[inline]
    fn schedule(spec: &Spec, key: &[u8]) -> Option<Self> {
        Some(Self::new_with_eff_key_len(key, usize::from(spec.effective_bits)))
    }
}
