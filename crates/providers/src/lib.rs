//! Whose code a cipher's case runs: the codes that are built in, and libraries that are opened at run time, a file each.
//!
//! [`Providers`] holds all of them: [`Providers::find`] gives a provider's code for a cipher. They are the `Sources` of
//! what `bench` measures.
//!
//! | folder | holds |
//! |---|---|
//! | `libraries` | a file a library of the system: its functions, ids, how it is found |
//! | `adapter` | what they share: functions looked up by name, modes and IVs as the catalogue has them, the file of a library and its hash, the child process that tries it first, the user's own library by `include/wattlock_cipher.h` |
//!
//! A library is opened in a process of its own before it is opened here, so that one that crashes or hangs is a row with
//! its reason. One that is absent is the same. The program that links this crate therefore needs a verb
//! `open-library PROVIDER`, which calls [`Providers::open_here`] and prints [`WORKS`] first.
//!
//! Without the feature `libraries` (a static program can't open any) only what is built in can be used, and there is no
//! `unsafe`; `closed` still names the libraries, with the reason.
//!
//! [`contained`] is such a process, and the one in which a library of the user's own is measured.
//!
//! A new library is a file in `libraries` and one line of the list there.
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]
#![cfg_attr(not(feature = "libraries"), forbid(unsafe_code))]

#[cfg(feature = "libraries")]
mod adapter;
#[cfg(any(test, not(feature = "libraries")))]
#[cfg_attr(feature = "libraries", allow(dead_code, reason = "its names alone are compared"))]
mod closed;
pub mod contained;
#[cfg(feature = "libraries")]
mod libraries;
mod library;
mod named;
mod registry;

pub use self::library::Library;
pub use self::named::library_file;
pub use self::registry::Providers;

/// What the child that tries a library says first where it works; a program that is not this one does not say it.
pub const WORKS: &str = "works:";

/// Set in the environment of a child that measures a user's own library, where it is watched.
pub const GUARDED: &str = "WATTLOCK_GUARDED";
