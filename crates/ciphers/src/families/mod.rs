//! The families: one file each, and one line in the list below, which makes the family's module, its place in the
//! catalogue and its arm of the dispatch. The cargo feature on the line is the optional dependency of that name, or an
//! entry of `[features]`.
//!
//! A family's file has `CARDS`, its cards in the order of the catalogue, and the type behind each of its codes, which
//! `algorithm` lists as its `Way`: by the macro `ways!`, or by a `visit` where key bits or rounds choose the type.
#![forbid(unsafe_code)]

use crate::Spec;
use crate::algorithm::Algorithm;
use crate::card::{Card, Code};
use crate::visit::Visitor;

macro_rules! families {
    ($($(#[$gate:meta])? $family:ident;)+) => {
        $($(#[$gate])? mod $family;)+

        /// The cards of each family, in the order in which a catalogue prints them.
        pub(crate) static FAMILIES: &[&[&[Card]]] = &[$($(#[$gate])? $family::CARDS),+];

        impl Spec {
            /// Hands what `code` makes of this spec to `visitor`.
            #[inline]
            pub fn visit<V: Visitor>(&self, code: &Code, visitor: V) -> V::Output {
                match code.algorithm {
                    $($(#[$gate])? Algorithm::$family(way) => way.visit(self, visitor)),+
                }
            }
        }
    };
}

families! {
    #[cfg(feature = "aes")] aes;
    #[cfg(feature = "des")] des;
    #[cfg(feature = "rc2")] rc2;
    #[cfg(feature = "rc4")] rc4;
    #[cfg(feature = "rc5")] rc5;
    #[cfg(feature = "rc6")] rc6;
    #[cfg(feature = "blowfish")] blowfish;
    #[cfg(feature = "cast")] cast;
    #[cfg(feature = "idea")] idea;
    #[cfg(feature = "rijndael")] rijndael;
    #[cfg(feature = "tea")] tea;
    #[cfg(feature = "camellia")] camellia;
    #[cfg(feature = "twofish")] twofish;
    #[cfg(feature = "serpent")] serpent;
    #[cfg(feature = "sm4")] sm4;
    #[cfg(feature = "speck")] speck;
    #[cfg(feature = "present")] present;
    #[cfg(feature = "chacha20")] chacha20;
    #[cfg(feature = "salsa20")] salsa20;
    #[cfg(feature = "aes-gcm")] aes_gcm;
    #[cfg(feature = "aes-ccm")] aes_ccm;
    #[cfg(feature = "aes-gcm-siv")] aes_gcm_siv;
    #[cfg(feature = "aes-ocb3")] aes_ocb3;
    #[cfg(feature = "aes-eax")] aes_eax;
    #[cfg(feature = "chacha20-poly1305")] chacha20_poly1305;
    #[cfg(feature = "ascon")] ascon;
    baselines;
}
