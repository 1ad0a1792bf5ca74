//! What is said of a value that is not of its key's kind: the value and what would be right, by the records' own schema.

use serde_json::Value;

use super::request::Scenario;

/// What would be right of `key`; none where its names are told by the reader itself, or there is no such key.
pub(super) fn right(key: &str, value: &Value) -> Option<String> {
    let schema = schemars::schema_for!(Scenario);
    let of_key = schema.get("properties")?.get(key)?;
    let kind = match of_key.get("type") {
        Some(Value::Array(kinds)) => kinds.first()?.as_str()?,
        Some(kind) => kind.as_str()?,
        None if of_key.to_string().contains("PerStation") => return Some("a number, or a list of numbers".to_owned()),
        None => return None,
    };
    Some(match kind {
        "integer" => {
            let bits = of_key
                .get("format")?
                .as_str()?
                .strip_prefix("uint")?
                .parse::<u32>()
                .ok()
                .filter(|bits| (1..=64).contains(bits))?;
            let most = u64::MAX >> (64 - bits);
            let is_whole = value.as_f64().is_some_and(|value| value.fract() == 0.0 && value >= 0.0) && value.is_f64();
            let digits = if is_whole { ", in digits alone" } else { "" };
            format!("a whole number from 0 to {most}{digits}")
        }
        "number" => "a number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => "a list of numbers".to_owned(),
        "string" => "a text".to_owned(),
        _ => return None,
    })
}
