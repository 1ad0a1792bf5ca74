//! The board that an image is for, as the host described it when the image was built: registers, no driver a vendor.
#![allow(dead_code, reason = "a board has one clock, and its UART one kind of flag")]

/// What counts the core's cycles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// DWT.CYCCNT, 32 bits.
    Dwt,
    /// `SysTick`, 24 bits, on the processor's clock.
    SysTick,
    /// The counter `mcycle` of RISC-V.
    Mcycle,
}

/// A register's flag: it is up when the masked bits have the value.
pub struct Flag {
    /// Where it stands.
    pub address: usize,
    /// Which bits it has.
    pub mask: u32,
    /// What they are when it is up.
    pub value: u32,
}

/// A UART that is polled.
pub struct Uart {
    /// There is room for a byte; of events: the byte is out.
    pub can_send: Flag,
    /// Where bytes go out.
    pub send: usize,
    /// A byte has come.
    pub has_byte: Flag,
    /// Where bytes come in.
    pub receive: usize,
    /// Its flags are events, which rise after a byte and are lowered by writing zero.
    pub has_events: bool,
    /// Its registers are bytes.
    pub is_of_bytes: bool,
}

/// A register that is written at the start: the bits that are cleared, then those that are set; then bits waited for.
pub struct Write {
    /// Where it stands.
    pub address: usize,
    /// Cleared bits.
    pub clear: u32,
    /// Set bits.
    pub set: u32,
    /// All of these are set before the start goes on.
    pub wait: u32,
}

include!(concat!(env!("OUT_DIR"), "/machine.rs"));
