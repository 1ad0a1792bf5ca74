//! 802.11 time: how long a frame is on the air, who may send when, what gets lost, and how long a transfer takes.
//!
//! | module | holds | clause of IEEE Std 802.11-2020 |
//! |---|---|---|
//! | [`phy`] | time on air of DSSS/CCK, OFDM, ERP-OFDM, HT, VHT, HE | 15 to 19, 21; 27 of 802.11ax |
//! | [`frame`] | octets: headers, protection, control frames | 9, 12 |
//! | [`access`] | slots, gaps, contention windows, response rates | 10 |
//! | [`signal`] | path loss, noise, and from them the share of frames that is lost | |
//! | [`one_station`] | the time of an exchange without contention, in closed form | |
//! | [`bianchi`] | saturated stations as a Markov chain | |
//! | [`dcf`] | the event-driven simulator | 10.3, 10.23 |
//!
//! Times are whole nanoseconds; only probabilities and decibels are `f64`. Nothing allocates: the simulator works on
//! nodes that the caller gives. All stations hear one another; there are no hidden ones.
//!
//! # Example
//! 1500 octets by OFDM at 54 Mb/s in the band of 5 GHz: a preamble of 20 us, and 56 symbols of 4 us.
//! ```
//! use wattlock_air::phy::{Band, Channel, Rate};
//!
//! let channel = Channel { band: Band::Ghz5, ..Channel::default() };
//! let rate = Rate::Ofdm { Mb_s: 54 };
//! rate.check(&channel)?;
//! assert_eq!(rate.time_on_air_ns(1500, &channel), 244_000);
//! # Ok::<(), wattlock_air::phy::PhyError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

pub mod access;
pub mod bianchi;
pub mod dcf;
pub mod frame;
pub mod one_station;
pub mod phy;
pub mod signal;

/// Whole nanoseconds.
pub type Nanoseconds = u64;
