//! The way that an implementation goes on a processor.

use serde::de::IntoDeserializer as _;
use serde::de::value::{self, StrDeserializer};
use serde::{Deserialize, Serialize};
use wattlock_engine::Width;

/// The path of an implementation: what its speed and the constancy of its time rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CodePath {
    /// Look-ups in tables by bytes of key and data.
    Tables,
    /// Bits of several blocks side by side, without look-ups: Adomnicai and Peyrin, 2021.
    Fixsliced,
    /// Bits of several blocks side by side, without look-ups: Biham, 1997.
    Bitsliced,
    /// The AES instructions of x86 on 128 bits.
    Aesni,
    /// The same on 256 bits.
    Vaes256,
    /// The same on 512 bits.
    Vaes512,
    /// SSE2.
    Sse2,
    /// SSSE3: of AES the permutations of Hamburg, 2009.
    Ssse3,
    /// AVX2.
    Avx2,
    /// AVX-512.
    Avx512,
    /// Advanced SIMD of Arm.
    Neon,
    /// The AES instructions of `ARMv8`.
    Armv8,
    /// A unit for ciphers beside the processor.
    Hardware,
    /// Code for any processor, of which no more is known.
    Portable,
}

impl CodePath {
    /// The path of this name, as it stands in records; `None` where there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name: StrDeserializer<'_, value::Error> = name.into_deserializer();
        Self::deserialize(name).ok()
    }

    /// Whether it is of instructions on 128 bits, or of a unit for ciphers.
    #[must_use]
    pub const fn is_by_instructions(self) -> bool {
        matches!(self, Self::Aesni | Self::Sse2 | Self::Ssse3 | Self::Neon | Self::Armv8 | Self::Hardware)
    }

    /// The width of the vectors that it works on, where a core may hold that back; `None` of all that is no wider than
    /// 128 bits.
    #[must_use]
    pub const fn width(self) -> Option<Width> {
        match self {
            Self::Vaes512 | Self::Avx512 => Some(Width::Bits512),
            Self::Vaes256 | Self::Avx2 => Some(Width::Bits256),
            Self::Tables
            | Self::Fixsliced
            | Self::Bitsliced
            | Self::Aesni
            | Self::Sse2
            | Self::Ssse3
            | Self::Neon
            | Self::Armv8
            | Self::Hardware
            | Self::Portable => None,
        }
    }
}
