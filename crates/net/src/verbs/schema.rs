//! `wattlock-net schema`: the JSON Schema of what goes in and out of the verbs, generated from its types.

use std::process::ExitCode;

use wattlock_terminal::failure::{Failure, deliver};

use crate::frames::census::CaptureLine;
use crate::scenario::{AirLine, Scenario};
use crate::transfer::records::TransferLine;

/// How it is called.
pub const EXAMPLE: &str = "Example:\n  wattlock-net schema > python/wattlock/data/network.schema.json";

/// Prints the JSON Schema of the scenarios and results of `air`, and of what `transfer` and `capture` tell.
#[derive(clap::Args)]
pub struct Options {}

/// The schema as text: one object with `scenario`, `air`, `transfer` and `capture`.
#[must_use]
pub fn text() -> String {
    let all = serde_json::json!({
        "scenario": schemars::schema_for!(Scenario),
        "air": schemars::schema_for!(AirLine),
        "transfer": schemars::schema_for!(TransferLine),
        "capture": schemars::schema_for!(CaptureLine),
    });
    format!("{all:#}\n")
}

/// Prints it.
///
/// # Errors
/// Standard output that can't be written.
pub fn run(_options: Options) -> Result<ExitCode, Failure> {
    deliver(text().as_bytes()).map(|()| ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_the_one_of_the_types() {
        let committed =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/wattlock/data/network.schema.json"));
        assert_eq!(committed, super::text(), "run `wattlock-net schema > python/wattlock/data/network.schema.json`");
    }
}
