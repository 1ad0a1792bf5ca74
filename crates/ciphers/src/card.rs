//! What a card holds: data only.
#![forbid(unsafe_code)]

use core::fmt;

use crate::algorithm::Algorithm;

/// One family in one mode: what is true of it before any key is chosen.
#[derive(Debug)]
#[non_exhaustive]
pub struct Card {
    /// Family and mode: `aes-cbc`.
    pub id: &'static str,
    /// The cipher without its mode: `aes`.
    pub family: &'static str,
    /// How blocks become a message.
    pub mode: Mode,
    /// How ids are written. `{key}`, `{effective}` and `{rounds}` stand for a [`Spec`](crate::Spec)'s numbers;
    /// the first pattern is for keys whose effective bits are all their bits and for all the rounds of the cipher.
    pub templates: &'static [&'static str],
    /// The ids that a catalogue prints; the patterns allow more.
    pub listed: &'static [&'static str],
    /// Bits of the key as it is given, parity bits included (DES 64).
    pub key_bits: Sizes,
    /// Bits that the key schedule keeps, where they are a parameter (RC2).
    pub effective_bits: Option<Sizes>,
    /// Rounds, where they are a parameter (RC5, RC6, reduced Rijndael).
    pub rounds: Option<Sizes>,
    /// Where the first pattern names no rounds although they are a parameter: those of the whole cipher, by key bits.
    pub full_rounds: Option<fn(u16) -> u16>,
    /// Bits of a block; 8 for a stream cipher.
    pub block_bits: u16,
    /// Bits of the IV or nonce; 0 where there is none.
    pub iv_bits: u16,
    /// Bits of the tag; 0 where nothing authenticates.
    pub tag_bits: u16,
    /// Where the cipher is defined.
    pub source: &'static str,
    /// The implementations that are built in; the first is the one that others are compared with.
    pub codes: &'static [Code],
    /// The most bytes under one nonce; AEADs alone have a bound.
    pub(crate) most_B: u64,
    pub(crate) definition: Option<Definition>,
    pub(crate) vectors: &'static str,
}

/// A key stream as it is defined, byte by byte: key, IV, message, output.
pub(crate) type Definition = fn(&[u8], &[u8], &[u8], &mut [u8]);

/// The provider of the crates that RustCrypto keeps.
const RUSTCRYPTO: &str = "rustcrypto";

/// The provider of AES without its instructions.
pub(crate) const RUSTCRYPTO_SOFT: &str = "rustcrypto-soft";

/// The provider of what is written here.
const OURS: &str = "wattlock";

/// The provider of what is written here as it was when the papers were: by tables.
const OUR_TABLES: &str = "wattlock-tables";

/// The version of what is written here.
const OUR_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The five modes of a block cipher, from the card of the family.
///
/// * The card, the name before the mode, how ids begin, the ids that are listed, without their modes.
macro_rules! five_modes {
    ($card:expr, $name:literal, [$($template:literal),+], [$($listed:literal),+ $(,)?]) => {{
        use crate::card::{Card, Mode};
        const OF: Card = $card;
        [
            Card { id: concat!($name, "-cbc"), mode: Mode::Cbc, templates: &[$(concat!($template, "-cbc")),+],
                listed: &[$(concat!($listed, "-cbc")),+], ..OF },
            Card { id: concat!($name, "-ctr"), mode: Mode::Ctr, templates: &[$(concat!($template, "-ctr")),+],
                listed: &[$(concat!($listed, "-ctr")),+], ..OF },
            Card { id: concat!($name, "-ecb"), mode: Mode::Ecb, templates: &[$(concat!($template, "-ecb")),+],
                listed: &[$(concat!($listed, "-ecb")),+], iv_bits: 0, ..OF },
            Card { id: concat!($name, "-cfb"), mode: Mode::Cfb, templates: &[$(concat!($template, "-cfb")),+],
                listed: &[$(concat!($listed, "-cfb")),+], ..OF },
            Card { id: concat!($name, "-ofb"), mode: Mode::Ofb, templates: &[$(concat!($template, "-ofb")),+],
                listed: &[$(concat!($listed, "-ofb")),+], ..OF },
        ]
    }};
}
pub(crate) use five_modes;

/// What a family's card starts from; its file says the rest.
pub(crate) const BLANK: Card = Card {
    id: "",
    family: "",
    mode: Mode::Ecb,
    templates: &[],
    listed: &[],
    key_bits: Sizes::only(128),
    effective_bits: None,
    rounds: None,
    full_rounds: None,
    block_bits: 128,
    iv_bits: 128,
    tag_bits: 0,
    source: "",
    codes: &[],
    most_B: u64::MAX,
    definition: None,
    vectors: "",
};

/// One implementation of a card that is built in.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Code {
    /// Whose code it is.
    pub provider: &'static str,
    /// The crate that holds the primitive.
    pub crate_name: &'static str,
    /// That crate's version.
    pub version: &'static str,
    /// What the time of this code depends on.
    pub timing: Timing,
    /// The path that it takes on this machine.
    pub(crate) path: fn() -> &'static str,
    pub(crate) algorithm: Algorithm,
}

impl Code {
    /// A crate of RustCrypto that has one way only: tables, or what is no more than for any processor.
    pub(crate) const fn of_crate(
        crate_name: &'static str,
        version: &'static str,
        timing: Timing,
        algorithm: Algorithm,
    ) -> Self {
        let path: fn() -> &'static str = match timing {
            Timing::TableLookups => || "tables",
            _ => || "portable",
        };
        Self { provider: RUSTCRYPTO, crate_name, version, timing, path, algorithm }
    }

    /// Written here, with one way only.
    pub(crate) const fn ours(timing: Timing, algorithm: Algorithm) -> Self {
        Self { provider: OURS, ..Self::of_crate("wattlock-ciphers", OUR_VERSION, timing, algorithm) }
    }

    /// Written here by tables that key and data choose from: not constant-time, for history.
    pub(crate) const fn by_tables(algorithm: Algorithm) -> Self {
        Self { provider: OUR_TABLES, ..Self::ours(Timing::TableLookups, algorithm) }
    }

    /// The same with several ways, of which `path` names the one that this machine takes.
    pub(crate) const fn on(self, path: fn() -> &'static str) -> Self {
        Self { path, ..self }
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        (self.provider, self.algorithm) == (other.provider, other.algorithm)
    }
}

impl Eq for Code {}

impl Card {
    /// The provider of a code that this build had to leave out, and why.
    pub fn left_out(&self) -> Option<(&'static str, &'static str)> {
        let would_take_instructions = cfg!(all(feature = "aes-soft", not(aes_force_soft))) && self.family == "aes";
        would_take_instructions.then_some((
            RUSTCRYPTO_SOFT,
            "this program was built without `--cfg aes_force_soft`: other flags hid `.cargo/config.toml`; unset RUSTFLAGS or add the flag to it, and build again",
        ))
    }
}

impl PartialEq for Card {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Card {}

/// How blocks become a message (NIST SP 800-38A, RFC 5116).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Each block by itself, PKCS#7 padding.
    Ecb,
    /// Each block added to the ciphertext before it, PKCS#7 padding.
    Cbc,
    /// A key stream from a counter, big-endian over the whole block.
    Ctr,
    /// The ciphertext block before, encrypted, is the key stream: the whole block is fed back.
    Cfb,
    /// The key stream is encrypted on and on.
    Ofb,
    /// A cipher that is a key stream by itself.
    Stream,
    /// Authenticated encryption with associated data.
    Aead,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Mode::Ecb => "ecb",
            Mode::Cbc => "cbc",
            Mode::Ctr => "ctr",
            Mode::Cfb => "cfb",
            Mode::Ofb => "ofb",
            Mode::Stream => "stream",
            Mode::Aead => "aead",
        })
    }
}

/// What the time of the code depends on, beyond the length: of this code, not of the algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Timing {
    /// Neither on the key nor on the data.
    Constant,
    /// On the cache: tables are read at places that the key and the data choose.
    TableLookups,
    /// On the data: other operations are carried out for some values.
    Branches,
    /// On the processor: constant where a rotation by any amount takes the same time, as on the usual 32- and 64-bit ones.
    DataRotations,
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Timing::Constant => "constant",
            Timing::TableLookups => "table lookups",
            Timing::Branches => "branches",
            Timing::DataRotations => "data-dependent rotations",
        })
    }
}

/// The values that a parameter may take: from `least` to `most` in steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// The smallest value.
    pub least: u16,
    /// The largest value.
    pub most: u16,
    /// The distance between two neighbours, at least 1.
    pub step: u16,
}

impl Sizes {
    /// The only value.
    pub(crate) const fn only(value: u16) -> Self {
        Self { least: value, most: value, step: 1 }
    }

    /// From `least` to `most`, both included.
    pub(crate) const fn every(step: u16, least: u16, most: u16) -> Self {
        Self { least, most, step }
    }

    /// Whether `value` is one of them.
    pub const fn contains(&self, value: u16) -> bool {
        value >= self.least && value <= self.most && (value - self.least).is_multiple_of(self.step)
    }

    /// All of them, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + use<> {
        (self.least..=self.most).step_by(usize::from(self.step))
    }
}

impl fmt::Display for Sizes {
    /// `128`, `128, 192 or 256`, `8 to 1024 in steps of 8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, most, step } = *self;
        if (most - least) / step > 4 {
            write!(f, "{least} to {most}")?;
            return if step == 1 { Ok(()) } else { write!(f, " in steps of {step}") };
        }
        for size in self.iter() {
            match size {
                _ if size == least => write!(f, "{size}")?,
                _ if size == most => write!(f, " or {size}")?,
                _ => write!(f, ", {size}")?,
            }
        }
        Ok(())
    }
}
