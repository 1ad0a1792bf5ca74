//! One line of input read and answered.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
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
    let Entries(entries) = serde_json::from_str(text).map_err(|error| no_object(format!("no JSON object: {error}")))?;
    let mut object = Map::new();
    // Key by key, so that the wrong one is known.
    for (key, value) in &entries {
        if let Some(before) = object.insert(key.clone(), value.clone()) {
            let message = format!("is there twice: {before} and {value}");
            return Err(Unread { key: key.clone(), message, hint: Some("each key once".to_owned()) });
        }
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

/// The keys and values of an object in their order, those that are there twice included.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Object)
    }
}
