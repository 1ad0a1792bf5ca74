//! Whether a scheme does what it should: published answers, the two sides of each exchange, each provider against the
//! other. All of it from bytes to bytes, as it is timed.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use wattlock_engine::SplitMix64;
use wattlock_records::Operation;

use super::answers::{self, Answer};
use super::{Octets, Provider, Scheme, carry_out, given, pair};

/// Proves a provider's scheme; gives by what: `published`, or `agreement` where another provider has it too.
///
/// * `all`: the providers there are; the one that is proven may be among them.
///
/// # Errors
/// What is wrong.
pub fn prove(provider: Provider, scheme: &'static Scheme, all: &[Provider]) -> Result<&'static str, String> {
    let answers = answers::all()?;
    let mut count = 0;
    for answer in answers.iter().filter(|answer| is_of(answer, provider, scheme)) {
        answered(provider, scheme, answer).map_err(|error| format!("{}: {error}", answer.source))?;
        count += 1;
    }
    if count == 0 {
        return Err("no published answer is of it".to_owned());
    }
    between(provider, provider, scheme)?;
    let mut kind = "published";
    for other in all.iter().filter(|other| other.name() != provider.name() && other.version(scheme).is_ok()) {
        let against = |error: String| format!("against {}: {error}", other.name());
        between(provider, *other, scheme).map_err(against)?;
        between(*other, provider, scheme).map_err(against)?;
        kind = "agreement";
    }
    Ok(kind)
}

/// What [`prove`] does, in words.
#[must_use]
pub fn how(provider: Provider, scheme: &'static Scheme) -> String {
    let Ok(answers) = answers::all() else { return String::new() };
    let mut sources: Vec<&str> = Vec::new();
    for answer in answers.iter().filter(|answer| is_of(answer, provider, scheme)) {
        let named = answer.source.split([',', '(']).next().unwrap_or_default().trim();
        if !sources.contains(&named) {
            sources.push(named);
        }
    }
    let sources = sources.join(", ");
    format!(
        "published answers ({sources}); one side undoes what the other does; the other provider agrees where there is one"
    )
}

/// Whether an answer is this provider's to give: not where it draws what the answer was made of.
fn is_of(answer: &Answer, provider: Provider, scheme: &Scheme) -> bool {
    answer.scheme == scheme.id && !provider.draws(scheme, answer.operation)
}

fn answered(provider: Provider, scheme: &'static Scheme, answer: &Answer) -> Result<(), String> {
    let made = carry_out(provider, scheme, answer.operation, &answer.given);
    match (&answer.expected, made) {
        (None, Err(_)) => Ok(()),
        (None, Ok(_)) => Err(format!("{:?} took what it should refuse", answer.operation)),
        (Some(_), Err(error)) => Err(error),
        (Some(expected), Ok(made)) => {
            // A key pair is published by its public key alone where the secret is what it was made of.
            let secret = if expected.secret.is_empty() { Vec::new() } else { made.secret.clone() };
            if (Octets { secret, ..made }) == *expected {
                Ok(())
            } else {
                Err(format!("{:?} gives another answer", answer.operation))
            }
        }
    }
}

/// What `here` does is undone by `there`, and what was changed on the way is refused.
fn between(here: Provider, there: Provider, scheme: &'static Scheme) -> Result<(), String> {
    let mut random = SplitMix64::new(11);
    let own = pair(here, scheme, &mut random)?;
    for operation in scheme.operations {
        let octets = given(here, scheme, *operation, &own, &mut random)?;
        let made = carry_out(there, scheme, *operation, &octets)?;
        match operation {
            Operation::Agree => {
                let again = carry_out(here, scheme, Operation::Agree, &octets)?;
                same(&again.shared, &made.shared, "the shared secret")?;
            }
            Operation::Verify => {
                let changed = Octets { message: b"another message".to_vec(), ..octets };
                if carry_out(there, scheme, Operation::Verify, &changed).is_ok() {
                    return Err("a signature was taken for that of another message".to_owned());
                }
            }
            Operation::Decapsulate => {
                let again = carry_out(here, scheme, Operation::Encapsulate, &octets)?;
                same(&again.shared, &made.shared, "the shared secret")?;
            }
            Operation::Decrypt => same(&octets.message, &made.message, "the message")?,
            _ => {}
        }
    }
    Ok(())
}

fn same(one: &[u8], other: &[u8], what: &str) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what} is another on the other side")) }
}
