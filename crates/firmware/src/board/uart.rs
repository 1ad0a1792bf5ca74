//! The UART of a board, polled.

use core::ptr::{read_volatile, write_volatile};

use super::machine::{Flag, UART};

fn read(address: usize) -> u32 {
    // SAFETY: a register of the board that the image is for.
    unsafe {
        if UART.is_of_bytes { read_volatile(address as *const u8).into() } else { read_volatile(address as *const u32) }
    }
}

fn write(address: usize, value: u32) {
    // SAFETY: as above.
    unsafe {
        if UART.is_of_bytes {
            write_volatile(address as *mut u8, value.to_le_bytes()[0]);
        } else {
            write_volatile(address as *mut u32, value);
        }
    }
}

fn wait_for(flag: &Flag) {
    while read(flag.address) & flag.mask != flag.value {}
    if UART.has_events {
        write(flag.address, 0);
    }
}

/// Sends a byte.
pub fn send(byte: u8) {
    if UART.has_events {
        write(UART.send, byte.into());
        wait_for(&UART.can_send);
    } else {
        wait_for(&UART.can_send);
        write(UART.send, byte.into());
    }
}

/// Waits for a byte.
pub fn receive() -> u8 {
    wait_for(&UART.has_byte);
    read(UART.receive).to_le_bytes()[0]
}
