//! Ciphers and providers by the names that somebody gives.

use wattlock_bench::establish;
use wattlock_ciphers::{Spec, cards, listed, nearest_of};
use wattlock_frames::Protocol;
use wattlock_providers::Providers;
use wattlock_records::{LibraryFile, quoted};

use crate::failure::Failure;

/// The id that looks most like `id`: of a cipher, a scheme or a protocol.
#[must_use]
pub fn meant(id: &str) -> Option<&'static str> {
    let ciphers = cards().flat_map(|card| card.listed.iter().copied());
    let schemes = establish::SCHEMES.iter().map(|scheme| scheme.id);
    nearest_of(id, ciphers.chain(schemes).chain(Protocol::ALL.iter().map(|protocol| protocol.id())))
}

/// The cipher that `id` names.
///
/// # Errors
/// Code 3, with what may have been meant.
pub fn named(id: &str) -> Result<Spec, Failure> {
    if establish::scheme(id).is_some() {
        let why = format!("cipher {}: it establishes keys or signs, it encrypts no message of any length", quoted(id));
        return Err(Failure::new(3, why).hint("a study measures it: operation = [\"agree\"] and so on"));
    }
    if Protocol::ALL.iter().any(|protocol| protocol.id() == id) {
        let why = format!("cipher {}: it protects frames of 802.11", quoted(id));
        return Err(Failure::new(3, why).hint("`wattlock-net frames protect` does that to a capture"));
    }
    Spec::parse(id).map_err(|error| {
        let meant = meant(id).map(|id| format!("did you mean {id:?}? ")).unwrap_or_default();
        let hint = format!("{meant}`wattlock-probe catalogue` lists all of them");
        Failure::new(3, format!("cipher {}: {error}", quoted(id))).hint(hint)
    })
}

/// The ciphers that `ids` name; all that are listed where it names none.
///
/// # Errors
/// As of [`named`].
pub fn named_or_listed(ids: &[String]) -> Result<Vec<Spec>, Failure> {
    if ids.is_empty() { Ok(listed().collect()) } else { ids.iter().map(|id| named(id)).collect() }
}

/// The providers, with the libraries that the user names.
///
/// # Errors
/// Code 3, that a name is taken.
pub fn providers(libraries: &[LibraryFile]) -> Result<Providers, Failure> {
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
