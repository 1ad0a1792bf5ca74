//! tally's two ends over datagrams, and a proxy between them that loses, doubles and reorders.
//!
//! | room | holds |
//! |---|---|
//! | `sensor`, `gateway` | the ends: they know no socket, take a datagram and give what is to be sent and told, so that tests and fuzzing drive them |
//! | [`Nonces`], `numbers` | where a nonce of a resumption comes from is a port; the program's are durable numbers and random octets |
//! | `datagrams`, `proxy`, `trace` | the ends and the proxy over UDP; the messages of a file |
//! | [`records`] | the lines that they tell |
//! | `options` | the command line |
//!
//! Without the feature `program` only the ends and their lines are left, which is what fuzzing links.
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `payload_B` counts bytes")]

mod gateway;
mod nonces;
mod sensor;

#[cfg(feature = "program")]
pub mod datagrams;
#[cfg(feature = "program")]
pub mod numbers;
#[cfg(feature = "program")]
pub mod options;
#[cfg(feature = "program")]
pub mod proxy;
pub mod records;
#[cfg(feature = "program")]
pub mod trace;

#[cfg(all(test, feature = "program"))]
mod tests;

pub use gateway::{GatewayEnd, Heard, MOST_FRAME_B, MOST_PAYLOAD_B};
pub use nonces::Nonces;
pub use sensor::SensorEnd;
