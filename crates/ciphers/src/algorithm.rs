//! Which code of which family: what a [`Code`](crate::Code) names, and the family's file makes a cipher of.
#![forbid(unsafe_code)]

macro_rules! algorithms {
    ($($(#[$gate:meta])? $family:ident { $($(#[$of_way:meta])* $way:ident),+ $(,)? })+) => {
        $(
            $(#[$gate])?
            pub(crate) mod $family {
                /// Which code of the family.
                #[derive(Debug, Clone, Copy, PartialEq, Eq)]
                pub(crate) enum Way {
                    $($(#[$of_way])* $way),+
                }
            }
        )+

        /// Which code of which family a card leads to; the key bits and the rounds of a spec say the rest.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(non_camel_case_types, reason = "a variant is named as its family's file")]
        pub(crate) enum Algorithm {
            $($(#[$gate])? $family($family::Way)),+
        }
    };
}

algorithms! {
    #[cfg(feature = "aes")] aes { Hardware, #[cfg(feature = "aes-soft")] Soft, Tables }
    #[cfg(feature = "des")] des { Single, Triple, TwoKey, SingleTables, TripleTables }
    #[cfg(feature = "rc2")] rc2 {
        Crate,
        /// Many blocks at once.
        Wide,
    }
    #[cfg(feature = "rc4")] rc4 { Crate }
    #[cfg(feature = "rc5")] rc5 {
        Crate,
        /// Many blocks at once.
        Wide,
    }
    #[cfg(feature = "rc6")] rc6 {
        Crate,
        /// Many blocks at once.
        Wide,
    }
    #[cfg(feature = "blowfish")] blowfish { Crate }
    #[cfg(feature = "cast")] cast { Crate }
    #[cfg(feature = "idea")] idea {
        Crate,
        /// Many blocks at once.
        Wide,
    }
    #[cfg(feature = "rijndael")] rijndael { Ours, Tables }
    #[cfg(feature = "tea")] tea { Tea, Xtea }
    #[cfg(feature = "camellia")] camellia { Crate }
    #[cfg(feature = "twofish")] twofish { Crate }
    #[cfg(feature = "serpent")] serpent { Crate }
    #[cfg(feature = "sm4")] sm4 { Crate }
    #[cfg(feature = "speck")] speck { Crate }
    #[cfg(feature = "present")] present { Ours }
    #[cfg(feature = "chacha20")] chacha20 { Crate }
    #[cfg(feature = "salsa20")] salsa20 { Crate }
    #[cfg(feature = "aes-gcm")] aes_gcm { Crate }
    #[cfg(feature = "aes-ccm")] aes_ccm { Tag16, Tag8 }
    #[cfg(feature = "aes-gcm-siv")] aes_gcm_siv { Crate }
    #[cfg(feature = "aes-ocb3")] aes_ocb3 { Crate }
    #[cfg(feature = "aes-eax")] aes_eax { Crate }
    #[cfg(feature = "chacha20-poly1305")] chacha20_poly1305 { ChaCha20, XChaCha20 }
    #[cfg(feature = "ascon")] ascon { Crate }
    baselines { Xor, Null }
}
