//! The published answers of `vectors/establish/`: blocks of `name value` lines, an empty line between two blocks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize as _;
use serde::de::value::{Error as Wrong, StrDeserializer};
use wattlock_records::Operation;

use super::Octets;

const TEXTS: [&str; 4] = [
    include_str!("../../../ciphers/vectors/establish/curves.txt"),
    include_str!("../../../ciphers/vectors/establish/ml-dsa-65.txt"),
    include_str!("../../../ciphers/vectors/establish/ml-kem-768.txt"),
    include_str!("../../../ciphers/vectors/establish/rsa-oaep.txt"),
];

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
    let mut answers = Vec::new();
    for text in TEXTS {
        let mut source = "";
        for block in text.split("\n\n") {
            let (notes, lines): (Vec<&str>, Vec<&str>) =
                block.lines().filter(|line| !line.is_empty()).partition(|line| line.starts_with('#'));
            source = notes.iter().find_map(|note| note.strip_prefix("# source: ")).unwrap_or(source);
            if !lines.is_empty() {
                answers.push(answer(source, &lines)?);
            }
        }
    }
    Ok(answers)
}

fn answer(source: &'static str, lines: &[&'static str]) -> Result<Answer, String> {
    let value =
        |name: &str| lines.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap_or_default();
    let octets = |name: &str| {
        let digits = value(name);
        data_encoding::HEXLOWER.decode(digits.as_bytes()).map_err(|error| format!("{source}: {name}: {error}"))
    };
    let operation = Operation::deserialize(StrDeserializer::<Wrong>::new(value("operation")))
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
    let refused = value("refused") == "yes";
    Ok(Answer {
        source,
        scheme: value("scheme"),
        operation,
        given: given_of(given)?,
        expected: if refused { None } else { Some(given_of(expected)?) },
    })
}
