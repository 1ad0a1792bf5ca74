//! What is wrong with a scenario.

/// What is wrong with which key, and the right values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub(super) key: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Wrong {
    pub(super) fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into(), hint: None }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// A number in a message, short: one of many digits with its exponent.
pub(super) fn short(number: f64) -> String {
    let size = number.abs();
    if size >= 1e9 || (size > 0.0 && size < 1e-4) { format!("{number:e}") } else { format!("{number}") }
}
