//! One line of input read and answered.

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::engines::answer;
use super::request::Scenario;
use super::result::{AirFailure, AirLine};
use super::words;
use crate::SCHEMA;

/// Reads one line and answers it.
#[must_use]
pub fn line(number: usize, text: &str) -> AirLine {
    let failure = |key: &str, message: String, hint: Option<String>| {
        AirLine::Failure(AirFailure { schema: SCHEMA, line: number, key: key.to_owned(), message, hint })
    };
    let scenario = match parse(text) {
        Ok(scenario) => scenario,
        Err(Unread { key, message, hint }) => return failure(&key, message, hint),
    };
    match answer(number, &scenario) {
        Ok(result) => AirLine::Result(Box::new(result)),
        Err(wrong) => failure(wrong.key, wrong.message, wrong.hint),
    }
}

/// Why a line is no scenario.
struct Unread {
    /// Empty where the line is no object.
    key: String,
    message: String,
    hint: Option<String>,
}

/// A scenario, or the key that spoils it and why.
fn parse(text: &str) -> Result<Scenario, Unread> {
    let no_object = |message: String| {
        let hint = "one JSON object a line, such as {\"phy\":\"g\",\"datagrams\":1000}".to_owned();
        Unread { key: String::new(), message, hint: Some(hint) }
    };
    let object: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| no_object(format!("no JSON object: {error}")))?;
    // Key by key, so that the wrong one is known.
    for (key, value) in &object {
        let alone = Map::from_iter([(key.clone(), value.clone())]);
        Scenario::deserialize(Value::Object(alone)).map_err(|error| {
            let message = match words::right(key, value) {
                Some(right) => format!("{value} is not {right}"),
                None => format!("{value}: {error}"),
            };
            Unread { key: key.clone(), message, hint: None }
        })?;
    }
    Scenario::deserialize(Value::Object(object)).map_err(|error| no_object(error.to_string()))
}
