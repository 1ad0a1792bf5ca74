//! Ciphers and providers by the names that somebody gives.

use wattlock_bench::subjects::REGISTRY;
use wattlock_ciphers::{Spec, nearest_of};
use wattlock_providers::Providers;
use wattlock_records::{LibraryFile, quoted};

use crate::failure::{Failure, keep_stdout};

/// The listed id that looks most like `id`.
#[must_use]
pub fn meant(id: &str) -> Option<&'static str> {
    nearest_of(id, REGISTRY.ids())
}

/// The cipher that `id` names.
///
/// # Errors
/// Code 3, with what may have been meant.
pub fn named(id: &str) -> Result<Spec, Failure> {
    Spec::parse(id).map_err(|error| match REGISTRY.kind(id).and_then(|kind| kind.encrypts_no_message()) {
        Some([reason, hint]) => Failure::new(3, format!("cipher {}: {reason}", quoted(id))).hint(hint),
        None => unknown(id, &error.to_string()),
    })
}

/// Refuses an id that nobody knows: code 3, with what may have been meant.
#[must_use]
pub fn unknown(id: &str, reason: &str) -> Failure {
    let meant = meant(id).map(|id| format!("did you mean {id:?}? ")).unwrap_or_default();
    let hint = format!("{meant}`wattlock-probe catalogue` lists all of them");
    Failure::new(3, format!("cipher {}: {reason}", quoted(id))).hint(hint)
}

/// The providers, with the libraries that the user names; what those print goes to standard error.
///
/// # Errors
/// Code 3, that a name is taken; code 9 where standard output can't be kept from what they print.
pub fn providers(libraries: &[LibraryFile]) -> Result<Providers, Failure> {
    if !libraries.is_empty() {
        keep_stdout().map_err(|error| Failure::new(9, format!("standard output: {error}")))?;
    }
    Providers::with(libraries).map_err(|error| Failure::new(3, error).hint("--library NAME=PATH with another name"))
}

/// Refuses a provider that there is not.
///
/// # Errors
/// Code 3, with those that there are.
pub fn known(providers: &Providers, names: &[String]) -> Result<(), Failure> {
    let there_are = providers.names();
    match names.iter().find(|name| !there_are.contains(name)) {
        Some(name) => {
            let hint = format!("there are {}", there_are.join(", "));
            Err(Failure::new(3, format!("no provider {}", quoted(name))).hint(hint))
        }
        None => Ok(()),
    }
}
