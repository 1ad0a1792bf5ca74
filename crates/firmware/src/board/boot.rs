//! What stands in front of an image where the part's ROM asks for it.
//!
//! # Source
//! Raspberry Pi, RP2040 Datasheet, 2.8.1.3.1: the ROM loads the first 256 bytes of the flash and checks their CRC-32.

/// Sets the flash up for reading in place, then starts the image behind it; made by Raspberry Pi.
#[used]
#[unsafe(link_section = ".boot2")]
static BOOT: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;
