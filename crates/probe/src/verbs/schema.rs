//! `wattlock-probe schema`: the JSON Schema of the records, generated from their types.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use wattlock_records::{Facts, PlanLine, Record};
use wattlock_terminal::failure::{Failure, deliver};

/// How it is called.
pub const EXAMPLE: &str = "Example:\n  wattlock-probe schema > python/wattlock/data/records.schema.json";

/// Prints the JSON Schema of facts, plan lines and record lines, and the constants that go with them.
#[derive(clap::Args)]
pub struct Options {}

/// The schema as text: one object with `constants`, `facts`, `plan` and `record`.
#[must_use]
pub fn text() -> String {
    let all = serde_json::json!({
        "constants": wattlock_bench::constants::constants(),
        "facts": schemars::schema_for!(Facts),
        "plan": schemars::schema_for!(PlanLine),
        "record": schemars::schema_for!(Record),
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
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/wattlock/data/records.schema.json"));
        assert_eq!(committed, super::text(), "run `wattlock-probe schema > python/wattlock/data/records.schema.json`");
    }
}
