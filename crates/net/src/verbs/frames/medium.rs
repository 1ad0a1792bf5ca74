//! The media of a capture: frames of 802.11 are read, what other interfaces captured is counted.

use wattlock_terminal::failure::Failure;

use crate::frames::capture::{Packet, Stamp};
use crate::frames::wireless::is_wireless;

/// What was captured from other media.
#[derive(Debug, Default)]
pub struct Others {
    /// Packets that are none of 802.11.
    pub packets: u64,
    wireless: u64,
    first: i32,
}

impl Others {
    /// Whether a packet is a frame of 802.11.
    ///
    /// # Errors
    /// It isn't, and the capture has one medium.
    pub fn pass(&mut self, packet: &Packet) -> Result<bool, Failure> {
        let packet = &packet.unwrapped();
        if is_wireless(packet.link) {
            self.wireless += 1;
            return Ok(true);
        }
        if self.packets == 0 {
            self.first = packet.link;
        }
        self.packets += 1;
        if self.wireless == 0 && matches!(packet.stamp, Stamp::Pcap(..)) { Err(self.refused()) } else { Ok(false) }
    }

    /// Says what was left out.
    ///
    /// # Errors
    /// It was all that there is.
    pub fn report(&self, name: &str) -> Result<(), Failure> {
        match (self.packets, self.wireless) {
            (0, _) => {}
            (_, 0) => return Err(self.refused()),
            (packets, _) => eprintln!(
                "warning: {name}: {packets} packets of other media are left out, the first of link type {}",
                self.first
            ),
        }
        Ok(())
    }

    fn refused(&self) -> Failure {
        let message = format!("link type {} is not of IEEE 802.11", self.first);
        Failure::new(10, message).hint("captures of a card in monitor mode are: link types 105 and 127")
    }
}
