//! One data frame protected by each protocol, and how many octets that adds.
//!
//! `cargo run -p wattlock-frames --example protect`

#![allow(non_snake_case, reason = "the unit is the suffix of the name")]

use wattlock_frames::{Error, Frame, Key, MAX_EXPANSION_B, Protocol};

const BODY_B: usize = 100;
/// A data frame to the distribution system: type, duration, three addresses, sequence.
const HEADER: [u8; 24] = [0x08, 0x01, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3, 0x10, 0];

fn main() -> Result<(), Error> {
    let mut mpdu = HEADER.to_vec();
    mpdu.resize(HEADER.len() + BODY_B, 0x5a);
    let key_bytes: [u8; 32] = core::array::from_fn(|place| place.to_le_bytes()[0]);
    for protocol in [Protocol::Wep104, Protocol::Tkip, Protocol::Ccmp128, Protocol::Gcmp256] {
        let mut key = Key::new(protocol, &key_bytes[..protocol.key_B()])?;
        let mut output = vec![0; mpdu.len() + MAX_EXPANSION_B];
        let length_B = key.protect(&Frame::parse(&mpdu)?, 1, 0, &mut output)?;
        println!("{protocol}: {} octets become {length_B}", mpdu.len());
    }
    Ok(())
}
