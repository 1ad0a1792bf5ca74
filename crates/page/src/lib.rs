//! The instrument as a WebAssembly module: what a page in a browser measures with.
//!
//! | file | holds |
//! |---|---|
//! | [`device`] | what the page says of the browser, and the fingerprint that follows |
//! | [`battery`] | the device's battery, as its browser tells it |
//! | [`clock`] | the engine's clock over a time that the page tells |
//! | [`plan`] | plan lines as a share |
//! | [`sources`] | whose code there is: what is built in, and the browser's own |
//! | [`webcrypto`] | the browser's own AES |
//! | [`digests`] | a digest of what each cipher makes, so that two builds can be compared |
//! | [`verbs`] | `measure`, `catalogue`, `digests`: words and a text in, lines out |
//! | `browser` | the module's imports and exports; only where it is compiled for a browser |
//!
//! Engine and bench are those of `wattlock-probe`; plan lines come in and record lines go out, as there. No tool makes
//! the bindings: the module has four exports and nine imports, all of numbers and addresses.
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

pub mod battery;
#[cfg(target_arch = "wasm32")]
mod browser;
pub mod clock;
pub mod device;
pub mod digests;
pub mod plan;
pub mod sources;
pub mod verbs;
pub mod webcrypto;
