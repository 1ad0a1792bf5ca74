//! One process's share of a run, ports only: what can be measured, proven and made ready for the engine's clock.
//!
//! | file | holds |
//! |---|---|
//! | [`subject`] | what can be measured: kinds, subjects, a subject by one provider, their registry |
//! | [`subjects`] | the kinds, a file each: ciphers, key establishment, the protection of 802.11 frames |
//! | [`catalogue`] | all of that as rows, each with what is missing and why |
//! | [`share`] | the share itself: cases made ready and calibrated, batches timed, energy measured, a battery discharged |
//! | [`prepared`] | a case that is ready for the clock |
//! | [`implementation`] | whose code a cipher's case runs, built in or a library's |
//! | [`bind`] | a cipher with its key, its packets and its factors as one thing that the engine can time; its loops are compiled for each cipher |
//! | [`packets`], [`keys`] | where a case's packets lie, and the keys of timed key schedules |
//! | [`establish`] | key establishment: schemes, their operations from bytes to bytes, their proof |
//! | [`constants`] | what those who plan and read must agree on with it |
//!
//! Nothing is timed before it is proven: by published vectors, by composition, by agreement with another implementation,
//! and then each case at the length that is timed.
//!
//! Needs an allocator and no operating system: clocks, meters and libraries come from outside, behind ports.
#![no_std]
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bind;
pub mod catalogue;
pub mod constants;
pub mod establish;
pub mod implementation;
pub mod keys;
pub mod packets;
pub mod prepared;
pub mod share;
pub mod subject;
pub mod subjects;
