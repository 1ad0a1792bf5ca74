//! Frames of IEEE 802.11: captures of them read and written, their protection put on and taken off, and what that costs.
#![forbid(unsafe_code)]

pub mod capture;
pub mod cells;
pub mod census;
pub mod handshakes;
pub mod link;
pub mod observer;
