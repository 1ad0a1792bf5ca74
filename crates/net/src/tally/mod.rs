//! tally's two ends over datagrams, and a proxy between them that loses, doubles and reorders (`docs/tally.md`).
//!
//! `sensor` and `gateway` know no socket: they take a datagram and give what is to be sent and told, so that tests and
//! fuzzing drive them. Where a nonce of a resumption comes from is a port, [`Nonces`]: the program's are durable numbers
//! and random octets.

mod gateway;
mod nonces;
mod sensor;

#[cfg(feature = "verbs")]
pub mod datagrams;
#[cfg(feature = "verbs")]
pub mod numbers;
#[cfg(feature = "verbs")]
pub mod proxy;
pub mod records;
#[cfg(feature = "verbs")]
pub mod trace;

#[cfg(test)]
#[cfg(feature = "verbs")]
mod tests;

pub use gateway::{GatewayEnd, Heard, MOST_FRAME_B, MOST_PAYLOAD_B};
pub use nonces::Nonces;
pub use sensor::SensorEnd;
