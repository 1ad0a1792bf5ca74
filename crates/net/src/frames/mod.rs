//! Frames of IEEE 802.11: captures of them read and written, their protection put on and taken off.

pub mod capture;
pub mod census;
pub mod handshakes;
pub mod link;
pub mod observer;
pub mod wireless;
