//! `wattlock-net`, the toolbox of the network: what a ciphertext costs once it leaves the device, and what goes over the
//! air. A library with a thin program, so that fuzzing and tests link it.
//!
//! | room | holds |
//! |---|---|
//! | `scenario` | a JSON scenario to a network, an engine's answer to a record: `air` |
//! | [`frames`] | captures read and written, their packets counted, handshakes followed, protection put on and taken off: `capture`, `frames` |
//! | `transfer` | files through a cipher and an encoding to another machine, both sides measured: `transfer` |
//! | `verbs` | a file a verb: options, help, exit codes |
//!
//! A run of measurements is bound to the hash of `wattlock-probe`, which links nothing of this crate: a change here leaves
//! runs comparable. Without the feature `verbs` only [`frames`] is left, which is what fuzzing links. Cipher and meter of a transfer come from `providers` and `meters`, as the instrument's do.
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

pub mod frames;
#[cfg(feature = "verbs")]
mod scenario;
#[cfg(feature = "verbs")]
mod transfer;
#[cfg(feature = "verbs")]
pub mod verbs;

/// The version of what the programs of the network write and read. It rises when a field changes its meaning or goes.
#[cfg(feature = "verbs")]
pub const SCHEMA: u32 = 2;
