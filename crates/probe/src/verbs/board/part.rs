//! A part: whose flash the code lies in.

use std::fs;
use std::path::Path;

use wattlock_terminal::failure::Failure;

/// A part at a clock.
pub struct Part {
    /// As its file is called.
    pub name: String,
    /// Its clock.
    pub clock_Hz: u64,
    model: wattlock_cores::Part,
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
        Ok(Self { name, clock_Hz, model })
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
