//! RC6-32/r: words of 32 bits, so blocks of 128, keys of 128, 192 and 256 bits; the cipher has 20 rounds, 8 to 24 in
//! steps of 4 are here.
#![forbid(unsafe_code)]

use ::cipher::consts::{U8, U12, U16, U20, U24, U32};

use crate::Spec;
use crate::algorithm::{Algorithm, rc6::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::kernels::wide;
use crate::modes::primitive;
use crate::modes::sliced::Sliced;
use crate::visit::Visitor;

/// By rounds, a type number.
type Key128<R> = ::rc6::RC6<u32, R, U16>;
type Key192<R> = ::rc6::RC6<u32, R, U24>;
type Key256<R> = ::rc6::RC6<u32, R, U32>;

const CODE: Code = Code::of_crate("rc6", "0.1.0", Timing::DataRotations, Algorithm::rc6(Way::Crate));

/// Many blocks at once.
const WIDE: Code = Code::ours(CODE.timing, Algorithm::rc6(Way::Wide)).on(wide::path);

const FAMILY: Card = Card {
    family: "rc6",
    key_bits: Sizes::every(64, 128, 256),
    rounds: Some(Sizes::every(4, 8, 24)),
    source: "Rivest, Robshaw, Sidney, Yin, The RC6 Block Cipher, 1998",
    codes: &[CODE, WIDE],
    vectors: include_str!("../../vectors/rc6.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(
    FAMILY,
    "rc6",
    ["rc6-{rounds}-{key}"],
    ["rc6-8-128", "rc6-12-128", "rc6-16-128", "rc6-20-128", "rc6-24-128", "rc6-20-192", "rc6-20-256"]
);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

impl Way {
    #[inline]
    pub(crate) fn visit<V: Visitor>(self, spec: &Spec, visitor: V) -> V::Output {
        match (self, spec.rounds) {
            (Self::Wide, _) => spec.visit_built_in::<Sliced<crate::kernels::rc6::Rc6, 16>, V>(visitor),
            (Self::Crate, Some(8)) => spec.visit_by_key::<Key128<U8>, Key192<U8>, Key256<U8>, V>(visitor),
            (Self::Crate, Some(12)) => spec.visit_by_key::<Key128<U12>, Key192<U12>, Key256<U12>, V>(visitor),
            (Self::Crate, Some(16)) => spec.visit_by_key::<Key128<U16>, Key192<U16>, Key256<U16>, V>(visitor),
            (Self::Crate, Some(20)) => spec.visit_by_key::<Key128<U20>, Key192<U20>, Key256<U20>, V>(visitor),
            (Self::Crate, _) => spec.visit_by_key::<Key128<U24>, Key192<U24>, Key256<U24>, V>(visitor),
        }
    }
}

macro_rules! rounds {
    ($($rounds:ident),+) => {
        $(
            primitive!(Key128<$rounds>, Key192<$rounds>, Key256<$rounds>);
        )+
    };
}

rounds!(U8, U12, U16, U20, U24);
