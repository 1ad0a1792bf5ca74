//! An experimental link for small messages on battery-powered radios: short tags that add up to full strength.
//!
//! **Nobody outside the project has reviewed it, and it is no product's security yet.** It saves nothing on Wi-Fi,
//! nothing where BLE's own encryption is the whole security, and nothing for a device whose sleep decides how long its
//! battery lasts.
//!
//! A message carries the first 4 octets of a tag of 16. Now and then the gateway reports which messages it holds, and
//! both ends derive the next keys from the *whole* tags of exactly those. A later message that opens shows that both
//! hold the same: what was provisional becomes verified, for no octet more, and a forgery that got in is found.
//! `docs/specification.md` specifies it, `docs/risk.md` says what a short tag risks.
//!
//! [`Gateway::receive`] gives verified messages only. [`Gateway::provisional`] shows the others, with the bits that
//! stand behind each.
//!
//! Nothing allocates and no bytes make it panic. Tags are compared in constant time; keys, tags and messages are
//! overwritten when they are dropped.
//!
//! # Example
//! ```
//! use wattlock_tally::{Answered, Gateway, Hint, Nonce, Pair, Parameters, Protection, Resuming, Sensor};
//!
//! let pair = Pair { secret: [7; 32], link: *b"door" };
//! // The numbers are stored before they are used, the rest is random each time.
//! let (resuming, opening) = Resuming::begin(pair.clone(), Nonce { number: 1, random: [0x3a, 0x81, 0x5e, 0x07] });
//! let (root, flight) = Answered::default().answer(&pair, &opening, Nonce { number: 9, random: [0xc4, 0x12, 0x9b, 0xe0] })?;
//! let mut gateway: Gateway = Gateway::new(root, Parameters::new(Hint::Octet));
//! let mut sensor = Sensor::new(resuming.finish(&flight)?, Parameters::new(Hint::Octet));
//!
//! let mut frame = [0; 64];
//! for second in 0_u8..8 {
//!     let sealed = sensor.seal(&[second], Protection::Short, &mut frame)?;
//!     gateway.hear(&frame[..sealed.length_B], None)?;
//!     if let Some(length_B) = gateway.speak(&mut frame)? {
//!         sensor.hear(&frame[..length_B])?;
//!     }
//! }
//! // The first had a whole tag; the others have 4 octets, and wait for later messages.
//! assert_eq!(gateway.receive().map(|message| (message.counter(), message.bits)), Some((0, 128)));
//! assert!(gateway.receive().is_none());
//! assert_eq!(gateway.provisional().count(), 7);
//! # Ok::<(), wattlock_tally::Error>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "the unit is the suffix of the name: `body_B` counts bytes")]

#[cfg(any(test, feature = "watched"))]
extern crate std;

mod error;
mod gateway;
#[cfg(feature = "handshake")]
mod handshake;
mod held;
mod keys;
#[cfg(feature = "handshake")]
mod noise;
mod parameters;
pub mod proof;
mod record;
mod resume;
mod sealing;
mod sensor;
#[cfg(test)]
mod tests;
mod watched;
mod window;

pub use error::Error;
pub use gateway::{Fate, Gateway, Heard, Message, Provisional};
#[cfg(feature = "handshake")]
pub use handshake::{HANDSHAKE_ANSWER_B, HANDSHAKE_B, Handshake, answer_handshake};
pub use held::Standing;
pub use keys::{NONCE_B, Nonce, Pair, Root, SECRET_B};
pub use parameters::{Hint, Parameters};
pub use record::{Kind, REPORT_B, REQUEST_B, RESCUE_B};
pub use resume::{ANSWER_B, Answered, OPENING_B, OPENINGS, Resuming, link_of, nonce_of};
pub use sensor::{Heard as SensorHeard, Protection, RESUME_AFTER, RING, Sealed, Sensor};
#[cfg(feature = "watched")]
pub use watched::tell_disclosed;
pub use window::{WINDOW, Window};
