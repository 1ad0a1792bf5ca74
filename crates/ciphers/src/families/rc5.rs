//! RC5-32/r/16: words of 32 bits, so blocks of 64, and keys of 16 bytes; 8 to 28 rounds in steps of 4.
#![forbid(unsafe_code)]

use ::cipher::consts::{U8, U12, U16, U20, U24, U28};

use crate::Spec;
use crate::algorithm::{Algorithm, rc5::Way};
use crate::card::{BLANK, Card, Code, Sizes, Timing, five_modes};
use crate::kernels::wide;
use crate::modes::primitive;
use crate::modes::sliced::Sliced;
use crate::visit::Visitor;

type Rounds8 = ::rc5::RC5<u32, U8, U16>;
type Rounds12 = ::rc5::RC5<u32, U12, U16>;
type Rounds16 = ::rc5::RC5<u32, U16, U16>;
type Rounds20 = ::rc5::RC5<u32, U20, U16>;
type Rounds24 = ::rc5::RC5<u32, U24, U16>;
type Rounds28 = ::rc5::RC5<u32, U28, U16>;

const CODE: Code = Code::of_crate("rc5", "0.1.0", Timing::DataRotations, Algorithm::rc5(Way::Crate));

/// Many blocks at once.
const WIDE: Code = Code::ours(CODE.timing, Algorithm::rc5(Way::Wide)).on(wide::path);

const FAMILY: Card = Card {
    family: "rc5",
    rounds: Some(Sizes::every(4, 8, 28)),
    block_bits: 64,
    iv_bits: 64,
    source: "Rivest, The RC5 Encryption Algorithm, 1994; RFC 2040, 1996",
    codes: &[CODE, WIDE],
    vectors: include_str!("../../vectors/rc5.txt"),
    ..BLANK
};

static MODES: [Card; 5] = five_modes!(
    FAMILY,
    "rc5",
    ["rc5-32-{rounds}-{key}"],
    ["rc5-32-8-128", "rc5-32-12-128", "rc5-32-16-128", "rc5-32-20-128", "rc5-32-24-128", "rc5-32-28-128"]
);

pub(crate) const CARDS: &[&[Card]] = &[&MODES];

impl Way {
    #[inline]
    pub(crate) fn visit<V: Visitor>(self, spec: &Spec, visitor: V) -> V::Output {
        match (self, spec.rounds) {
            (Self::Wide, _) => spec.visit_built_in::<Sliced<crate::kernels::rc5::Rc5, 8>, V>(visitor),
            (Self::Crate, Some(8)) => spec.visit_mode::<Rounds8, V>(visitor),
            (Self::Crate, Some(12)) => spec.visit_mode::<Rounds12, V>(visitor),
            (Self::Crate, Some(16)) => spec.visit_mode::<Rounds16, V>(visitor),
            (Self::Crate, Some(20)) => spec.visit_mode::<Rounds20, V>(visitor),
            (Self::Crate, Some(24)) => spec.visit_mode::<Rounds24, V>(visitor),
            (Self::Crate, _) => spec.visit_mode::<Rounds28, V>(visitor),
        }
    }
}

primitive!(Rounds8, Rounds12, Rounds16, Rounds20, Rounds24, Rounds28);
