//! A part: whose flash the code lies in, and how much of flash and RAM it has.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use wattlock_terminal::failure::Failure;

/// A part at a clock.
pub struct Part {
    /// As its file is called.
    pub name: String,
    /// Its clock.
    pub clock_Hz: u64,
    model: wattlock_cores::Part,
    memory: Memory,
}

#[derive(Deserialize)]
struct File {
    memory: Memory,
}

/// How much a variant of the part has.
#[derive(Deserialize)]
struct Memory {
    variant: String,
    flash_B: Option<u64>,
    ram_B: u64,
}

impl Memory {
    /// What of it is too small; `None` where all fits.
    fn lacks(&self, flash_B: u64, ram_B: u64) -> Option<String> {
        let sizes = [("flash", flash_B, self.flash_B), ("RAM", ram_B, Some(self.ram_B))];
        let over = sizes.into_iter().filter_map(|(kind, needed_B, has_B)| Some((kind, needed_B, has_B?)));
        let (kind, needed_B, has_B) = over.into_iter().find(|(_, needed_B, has_B)| needed_B > has_B)?;
        Some(format!("needs {needed_B} B of {kind}, a {} has {has_B} B", self.variant))
    }
}

impl Part {
    /// Reads a part's file.
    ///
    /// # Errors
    /// Code 3: it can't be read, or not at this clock.
    pub fn read(file: &Path, clock_Hz: u64) -> Result<Self, Failure> {
        let hint = "the parts are in `wattlock/data/parts`; each file says its clocks";
        let wrong = |why: String| Failure::new(3, format!("the part {}: {why}", file.display())).hint(hint);
        let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let model =
            wattlock_cores::Part::from_toml(&name, &text, clock_Hz).map_err(|error| wrong(error.to_string()))?;
        let File { memory } = toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))?;
        Ok(Self { name, clock_Hz, model, memory })
    }

    /// Whether a case's code and constants, and its data and stack, have room.
    ///
    /// # Errors
    /// What is too small.
    pub fn fits(&self, flash_B: u64, ram_B: u64) -> Result<(), String> {
        match self.memory.lacks(flash_B, ram_B) {
            Some(lacking) => Err(format!("does not fit {}: {lacking}", self.name)),
            None => Ok(()),
        }
    }

    /// What of the memory its flash may be.
    pub fn loads(&self) -> (u32, u32) {
        self.model.window()
    }

    /// Its flash.
    pub fn model(&self) -> &wattlock_cores::Part {
        &self.model
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_larger_than_a_parts_memory_is_said_with_both_sizes() {
        let small = Memory { variant: "X1".to_owned(), flash_B: Some(1024), ram_B: 512 };
        assert_eq!(small.lacks(1024, 512), None);
        assert_eq!(small.lacks(1025, 513).as_deref(), Some("needs 1025 B of flash, a X1 has 1024 B"));
        assert_eq!(small.lacks(1024, 513).as_deref(), Some("needs 513 B of RAM, a X1 has 512 B"));
        let without_flash = Memory { flash_B: None, ..small };
        assert_eq!(without_flash.lacks(1 << 30, 512), None);
    }
}
