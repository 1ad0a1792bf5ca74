//! `wattlock-probe schema`: the JSON Schema of the records, generated from their types.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use super::Failure;
use crate::frames::census::CaptureLine;
use crate::records::{PlanLine, Record, TransferLine};
use crate::scenario::{AirLine, Scenario};

/// How it is called.
pub const EXAMPLE: &str = "Example:\n  wattlock-probe schema > python/wattlock/data/records.schema.json";

/// Prints the JSON Schema of plan lines and record lines, of the scenarios and results of `air`, and of what `transfer`
/// and `capture` tell.
#[derive(clap::Args)]
pub struct Options {}

/// The schema as text: one object with `plan`, `record`, `scenario`, `air`, `transfer` and `capture`.
#[must_use]
pub fn text() -> String {
    let both = serde_json::json!({
        "plan": schemars::schema_for!(PlanLine),
        "record": schemars::schema_for!(Record),
        "scenario": schemars::schema_for!(Scenario),
        "air": schemars::schema_for!(AirLine),
        "transfer": schemars::schema_for!(TransferLine),
        "capture": schemars::schema_for!(CaptureLine),
    });
    format!("{both:#}\n")
}

/// Prints it.
///
/// # Errors
/// Standard output that can't be written.
pub fn run(_options: Options) -> Result<ExitCode, Failure> {
    io::stdout().write_all(text().as_bytes()).map_err(|error| Failure::new(9, format!("standard output: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_the_one_of_the_types() {
        let committed =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/wattlock/data/records.schema.json"));
        assert_eq!(committed, super::text(), "run `wattlock-probe schema > python/wattlock/data/records.schema.json`");
    }
}
