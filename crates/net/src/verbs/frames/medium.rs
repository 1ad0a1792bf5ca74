//! The medium of a capture.

use wattlock_terminal::failure::Failure;

use crate::frames::capture::Packet;
use crate::frames::link;

/// Refuses a packet of another medium.
pub fn wireless(packet: &Packet) -> Result<(), Failure> {
    if link::is_wireless(packet.link) {
        return Ok(());
    }
    let message = format!("link type {} is not of IEEE 802.11", packet.link);
    Err(Failure::new(10, message).hint("captures of a card in monitor mode are: link types 105 and 127"))
}
