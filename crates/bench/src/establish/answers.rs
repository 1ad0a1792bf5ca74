//! The published answers of `wattlock-ciphers` as octets.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize as _;
use serde::de::value::{Error as Wrong, StrDeserializer};
use wattlock_ciphers::establish;
use wattlock_records::Operation;

use super::Octets;

/// One answer: what goes in, and what comes out.
pub struct Answer {
    /// Where it was published.
    pub source: &'static str,
    /// The id of its scheme.
    pub scheme: &'static str,
    /// What is done.
    pub operation: Operation,
    /// What goes in.
    pub given: Octets,
    /// What comes out; `None` where nothing may.
    pub expected: Option<Octets>,
}

/// All answers of the files.
///
/// # Errors
/// Which line is none.
pub fn all() -> Result<Vec<Answer>, String> {
    establish::answers().map(|answer| read(&answer)).collect()
}

fn read(answer: &establish::Answer) -> Result<Answer, String> {
    let source = answer.source;
    let octets = |name: &str| {
        let digits = answer.value(name);
        data_encoding::HEXLOWER.decode(digits.as_bytes()).map_err(|error| format!("{source}: {name}: {error}"))
    };
    let operation = Operation::deserialize(StrDeserializer::<Wrong>::new(answer.value("operation")))
        .map_err(|error| format!("{source}: operation: {error}"))?;
    let given_of = |names: &[&str]| {
        let take = |name: &str| if names.contains(&name) { octets(name) } else { Ok(Vec::new()) };
        Ok::<_, String>(Octets {
            secret: take("secret")?,
            public: take("public")?,
            drawn: take("drawn")?,
            message: take("message")?,
            sent: take("sent")?,
            shared: take("shared")?,
        })
    };
    let (given, expected): (&[&str], &[&str]) = match operation {
        Operation::Generate => (&["drawn"], &["public", "secret"]),
        Operation::Agree => (&["secret", "public"], &["shared"]),
        Operation::Sign => (&["secret", "message"], &["sent"]),
        Operation::Verify => (&["public", "message", "sent"], &[]),
        Operation::Encapsulate => (&["public", "drawn"], &["sent", "shared"]),
        Operation::Decapsulate => (&["secret", "sent"], &["shared"]),
        Operation::Decrypt => (&["secret", "sent"], &["message"]),
        _ => return Err(format!("{source}: no answer is of {operation:?}")),
    };
    Ok(Answer {
        source,
        scheme: answer.scheme(),
        operation,
        given: given_of(given)?,
        expected: if answer.is_refused() { None } else { Some(given_of(expected)?) },
    })
}
