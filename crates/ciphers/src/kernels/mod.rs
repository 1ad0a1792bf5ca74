//! Ciphers of ours that use the instructions of a processor, chosen when they run.
#![allow(unsafe_code, reason = "one of the three places: each block says why it is right")]

#[cfg(feature = "rijndael")]
pub(crate) mod rijndael;
