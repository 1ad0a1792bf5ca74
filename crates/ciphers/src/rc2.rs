//! RC2 (RFC 2268): blocks of 64 bits, keys of 1 to 128 bytes, 1 to 1024 effective bits.

use crate::card::{Algorithm, Card, Code, Mode, RUSTCRYPTO, Sizes, Timing};
use crate::modes::Primitive;
use crate::spec::Spec;
use ::rc2::Rc2;

const CODE: Code = Code {
    provider: RUSTCRYPTO,
    crate_name: "rc2",
    version: "0.9.0",
    timing: Timing::TableLookups, // mashing reads the key table where the data says
    algorithm: Algorithm::Rc2,
};

const RC2: Card = Card {
    id: "rc2",
    family: "rc2",
    mode: Mode::Ecb,
    templates: &[],
    listed: &[],
    key_bits: Sizes::every(8, 8, 1024),
    effective_bits: Some(Sizes::every(1, 1, 1024)),
    rounds: None,
    full_rounds: None,
    block_bits: 64,
    iv_bits: 64,
    tag_bits: 0,
    proof: "",
    source: "RFC 2268, 1998",
    codes: &[CODE],
    definition: None,
    vectors: include_str!("../../../python/wattlock/data/vectors/rc2.txt"),
};

pub(crate) static CBC: Card = Card {
    id: "rc2-cbc",
    mode: Mode::Cbc,
    proof: "a published vector of 128 bits (pyca/cryptography), vectors computed with pycryptodome and libtomcrypt of the other listed sizes; the mode compared block by block with its definition; any other size by that comparison alone",
    templates: &["rc2-{key}-cbc", "rc2-{key}-e{effective}-cbc"],
    listed: &["rc2-40-cbc", "rc2-64-cbc", "rc2-128-cbc", "rc2-128-e64-cbc"],
    ..RC2
};

pub(crate) static CTR: Card = Card {
    id: "rc2-ctr",
    mode: Mode::Ctr,
    proof: "vectors computed with pycryptodome and libtomcrypt of the listed sizes; the mode compared block by block with its definition; any other size by that comparison alone",
    templates: &["rc2-{key}-ctr", "rc2-{key}-e{effective}-ctr"],
    listed: &["rc2-40-ctr", "rc2-64-ctr", "rc2-128-ctr", "rc2-128-e64-ctr"],
    ..RC2
};

pub(crate) static ECB: Card = Card {
    id: "rc2-ecb",
    mode: Mode::Ecb,
    proof: "published vectors (RFC 2268) and vectors computed with pycryptodome and libtomcrypt of the listed sizes; the mode compared block by block with its definition; any other size by that comparison alone",
    templates: &["rc2-{key}-ecb", "rc2-{key}-e{effective}-ecb"],
    listed: &["rc2-40-ecb", "rc2-64-ecb", "rc2-128-ecb", "rc2-128-e64-ecb"],
    iv_bits: 0,
    ..RC2
};

impl Primitive for Rc2 {
    #[inline]
    fn schedule(spec: &Spec, key: &[u8]) -> Option<Self> {
        Some(Self::new_with_eff_key_len(key, usize::from(spec.effective_bits)))
    }
}
