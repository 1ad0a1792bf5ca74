//! Ciphers of ours: those that use the instructions of a processor, chosen when they run, and those by tables.
#![allow(unsafe_code, reason = "one of the three places: each block says why it is right")]

#[cfg(feature = "des")]
pub(crate) mod des;
#[cfg(feature = "idea")]
pub(crate) mod idea;
#[cfg(feature = "rc2")]
pub(crate) mod rc2;
#[cfg(feature = "rc5")]
pub(crate) mod rc5;
#[cfg(feature = "rc6")]
pub(crate) mod rc6;
#[cfg(any(feature = "aes", feature = "rijndael"))]
pub(crate) mod rijndael;
#[cfg(feature = "tea")]
pub(crate) mod tea;
#[cfg(any(feature = "idea", feature = "rc2", feature = "rc5", feature = "rc6", feature = "tea"))]
pub(crate) mod wide;
#[cfg(any(feature = "aes", feature = "des", feature = "rijndael"))]
pub(crate) mod words;
