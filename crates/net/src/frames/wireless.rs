//! Link types of captures of 802.11 (tcpdump.org, Link-Layer Header Types), by what stands before a frame.

/// Nothing.
pub const IEEE802_11: i32 = 105;
/// A header of Prism's.
pub const PRISM: i32 = 119;
/// One of radiotap.
pub const RADIOTAP: i32 = 127;
/// One of AVS.
pub const AVS: i32 = 163;
/// One of PPI, which names a link type of its own.
pub const PPI: i32 = 192;

/// Whether frames of this link type can be read.
pub fn is_wireless(link: i32) -> bool {
    matches!(link, IEEE802_11 | PRISM | RADIOTAP | PPI | AVS)
}
