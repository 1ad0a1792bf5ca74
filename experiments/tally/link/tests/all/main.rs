//! Tests of the link from outside.
#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod footprint;
mod laws;
mod link;
mod outages;
mod poisoned;
mod resumption;
