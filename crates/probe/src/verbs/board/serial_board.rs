//! A board: its memory and registers, from its file in `wattlock/data/boards`, as the image of a family gets them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use wattlock_terminal::failure::Failure;

/// What the ROM of an RP2040 loads.
const BOOT_B: u32 = 256;

/// A board's file, as far as an image and the host need it.
#[derive(Debug, Clone, Deserialize)]
pub struct Board {
    /// As its file is called.
    #[serde(skip)]
    pub name: String,
    /// Its core.
    pub core: String,
    /// The core's clock after the start that the image does.
    pub clock_Hz: u64,
    /// Of the line.
    pub baud: u32,
    /// How an image gets onto it, in the words of a shell; `{elf}` is the image.
    pub flash_command: String,
    /// Its image speaks by RTT, and has its plan in itself.
    #[serde(skip)]
    pub is_on_rtt: bool,
    /// What the part wants in front of the image: the feature of the image that has it.
    pub boot: Option<String>,
    clock: Clock,
    payload_B: u32,
    memory: Memory,
    uart: Uart,
    #[serde(default)]
    start: Vec<Step>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Clock {
    Dwt,
    SysTick,
    Mcycle,
}

#[derive(Debug, Clone, Deserialize)]
struct Memory {
    flash: u32,
    flash_B: u32,
    ram: u32,
    ram_B: u32,
    stack_B: u32,
}

#[derive(Debug, Clone, Deserialize)]
struct Flag {
    address: u32,
    mask: u32,
    value: u32,
}

#[derive(Debug, Clone, Deserialize)]
struct Uart {
    can_send: Flag,
    send: u32,
    has_byte: Flag,
    receive: u32,
    #[serde(default)]
    has_events: bool,
    #[serde(default)]
    is_of_bytes: bool,
}

#[derive(Debug, Clone, Deserialize)]
struct Step {
    address: u32,
    #[serde(default)]
    clear: u32,
    #[serde(default)]
    set: u32,
    #[serde(default)]
    wait: u32,
}

impl Board {
    /// Reads a board's file.
    ///
    /// # Errors
    /// Code 3: it can't be read.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        let wrong = |why: String| {
            let hint = "the boards are in `wattlock/data/boards`; copy the nearest one for a board of yours";
            Failure::new(3, format!("the board {}: {why}", file.display())).hint(hint)
        };
        let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let board: Self = toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))?;
        Ok(Self { name: file.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned(), ..board })
    }

    /// The variables by which the build of an image gets it; `image`: what the image calls itself.
    pub fn variables(&self, image: &str) -> Vec<(&'static str, String)> {
        let mut variables =
            vec![("WATTLOCK_BOARD_MEMORY", self.memory()), ("WATTLOCK_BOARD_MACHINE", self.machine(image))];
        variables.extend(self.is_on_rtt.then(|| ("WATTLOCK_BOARD_RTT", "1".to_owned())));
        variables
    }

    fn memory(&self) -> String {
        let Memory { flash, flash_B, ram, ram_B, stack_B } = &self.memory;
        let (before, sections) = match self.boot {
            // What the ROM loads stands in front of the flash that the image has.
            Some(_) => (
                format!("  BOOT : ORIGIN = {:#x}, LENGTH = {BOOT_B}\n", flash.saturating_sub(BOOT_B)),
                "SECTIONS\n{\n  .boot2 : { KEEP(*(.boot2)) } > BOOT\n}\n",
            ),
            None => (String::new(), ""),
        };
        format!(
            "MEMORY\n{{\n{before}  FLASH : ORIGIN = {flash:#x}, LENGTH = {flash_B}\n  RAM : ORIGIN = {ram:#x}, LENGTH = {ram_B}\n}}\n_stack_size = {stack_B};\n{sections}"
        )
    }

    /// The constants of the image, in Rust.
    pub fn machine(&self, image: &str) -> String {
        let flag = |flag: &Flag| {
            format!("Flag {{ address: {:#x}, mask: {:#x}, value: {:#x} }}", flag.address, flag.mask, flag.value)
        };
        let Uart { can_send, send, has_byte, receive, has_events, is_of_bytes } = &self.uart;
        let mut text = format!(
            "/// The image's name.\npub const IMAGE: &str = {image:?};\n\
             /// The longest payload.\npub const LARGEST_PAYLOAD_B: usize = {};\n\
             /// The clock.\npub const CLOCK: Clock = Clock::{:?};\n\
             /// The line.\npub const UART: Uart = Uart {{ can_send: {}, send: {send:#x}, has_byte: {}, receive: {receive:#x}, \
             has_events: {has_events}, is_of_bytes: {is_of_bytes} }};\n\
             /// What is written at the start.\npub const START: &[Write] = &[\n",
            self.payload_B,
            self.clock,
            flag(can_send),
            flag(has_byte),
        );
        for Step { address, clear, set, wait } in &self.start {
            let _ = writeln!(
                text,
                "    Write {{ address: {address:#x}, clear: {clear:#x}, set: {set:#x}, wait: {wait:#x} }},"
            );
        }
        text.push_str("];\n");
        // The memory decides the code too: it is part of what the image's hash is made of.
        let _ = writeln!(text, "// {}{}", self.memory().replace('\n', " "), if self.is_on_rtt { "RTT" } else { "" });
        text
    }
}
