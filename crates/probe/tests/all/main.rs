//! `wattlock-probe` from outside: one program of tests, a file a theme.
#![allow(clippy::unwrap_used, clippy::panic, non_snake_case)]

#[cfg(feature = "board")]
mod board;
mod cli;
mod own_library;
mod providers;
#[cfg(all(unix, feature = "board"))]
mod rtt;
#[cfg(all(unix, feature = "board"))]
mod serial;
