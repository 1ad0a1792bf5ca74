//! Whose code there is: what is built in, the libraries of the system, those of the user.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::HashMap;

use wattlock_bench::establish::{self, Provider};
use wattlock_bench::implementation::{About, Offer, built_in};
use wattlock_bench::subject::Sources;
use wattlock_ciphers::{Card, Spec, cards, listed};
use wattlock_records::{LibraryFile, quoted};

use crate::library::Library;

/// All providers there are: those that are built in and the libraries.
pub struct Providers {
    libraries: Vec<Box<dyn Library>>,
    opened: RefCell<HashMap<String, Result<About, String>>>,
}

impl Providers {
    /// The libraries that this program knows, and those that the user names.
    ///
    /// # Errors
    /// That a name is taken.
    pub fn with(own: &[LibraryFile]) -> Result<Self, String> {
        let mut providers = Self::new();
        for named in own {
            if providers.names().contains(&named.name) {
                return Err(format!(
                    "library {}: there is a provider {:?}; give it another name: NAME=PATH",
                    named.path, named.name
                ));
            }
            providers.libraries.push(user_library(named, own.len() > 1)?);
        }
        Ok(providers)
    }

    /// The libraries that this program knows.
    #[must_use]
    pub fn new() -> Self {
        #[cfg(feature = "libraries")]
        let libraries = crate::libraries::all();
        #[cfg(not(feature = "libraries"))]
        let libraries = crate::closed::all();
        Self { libraries, opened: RefCell::default() }
    }

    /// Names of all providers: built in first.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let left_out = cards().filter_map(Card::left_out).map(|(provider, _)| provider);
        for provider in cards().flat_map(|card| card.codes).map(|code| code.provider).chain(left_out) {
            if !names.iter().any(|name| name == provider) {
                names.push(provider.to_owned());
            }
        }
        names.extend(self.libraries.iter().map(|library| library.name().to_owned()));
        names
    }

    /// The provider's code for `spec`.
    ///
    /// # Errors
    /// Which providers there are; why a library or its cipher can't be had, and how to get it.
    pub fn find(&self, provider: &str, spec: &Spec) -> Result<Offer, String> {
        if let Some(code) = spec.code(provider) {
            let (provider, version) = (code.provider.to_owned(), code.version.to_owned());
            return Ok(Offer { provider, version, about: None, code: built_in(spec, code) });
        }
        if let Some((_, reason)) = spec.card.left_out().filter(|(name, _)| *name == provider) {
            return Err(format!("{spec}: {reason}"));
        }
        let Some(library) = self.libraries.iter().find(|library| library.name() == provider) else {
            let names = self.names();
            return Err(if names.iter().any(|name| name == provider) {
                format!("{spec}: {provider} has no such cipher")
            } else {
                format!("no provider {}; there are {}", quoted(provider), names.join(", "))
            });
        };
        let about = self.opened(&**library)?;
        let code = library.find(spec).map_err(|error| format!("{spec}: {error}"))?;
        Ok(Offer { provider: provider.to_owned(), version: about.version.clone(), about: Some(about), code })
    }

    /// Why a library can't be opened or a built-in code was left out; `None` where there is no such reason.
    pub fn absence(&self, provider: &str) -> Option<String> {
        if let Some((_, reason)) = cards().filter_map(Card::left_out).find(|(name, _)| *name == provider) {
            return Some(reason.to_owned());
        }
        let library = self.libraries.iter().find(|library| library.name() == provider)?;
        self.opened(&**library).err()
    }

    /// The library, opened; the first time in a child process, then in this one.
    fn opened(&self, library: &dyn Library) -> Result<About, String> {
        let known = self.opened.borrow().get(library.name()).cloned();
        known.unwrap_or_else(|| {
            let about = tried_and_opened(library);
            self.opened.borrow_mut().insert(library.name().to_owned(), about.clone());
            about
        })
    }

    /// Opens the library of the provider of this name in this process and uses it once; gives its version.
    ///
    /// * `id`: the cipher that is used; without it the first that the library has. Whether its results are right is not
    ///   asked here.
    ///
    /// # Errors
    /// What failed.
    pub fn open_here(&self, provider: &str, id: Option<&str>) -> Result<String, String> {
        let library = self.libraries.iter().find(|library| library.name() == provider);
        let library = library.ok_or_else(|| format!("no provider {} with a library", quoted(provider)))?;
        let about = library.open()?;
        let named = id.map(|id| Spec::parse(id).map_err(|error| format!("{id:?}: {error}"))).transpose()?;
        let specs: Box<dyn Iterator<Item = Spec>> = match named {
            Some(spec) => Box::new(std::iter::once(spec)),
            // Each cipher of a user's own library is tried by itself.
            None if library.is_own() => Box::new(std::iter::empty()),
            None => Box::new(listed()),
        };
        if let Some((spec, code)) = specs.into_iter().find_map(|spec| library.find(&spec).ok().map(|code| (spec, code)))
        {
            // A wrong result is a row of the selftest; here the library has to live through its use.
            let _ = code.prove(&spec);
        }
        Ok(about.version)
    }

    /// Ids that a library of the user's own lists, in its order, whether they are known or not; none where it can't be
    /// opened.
    pub fn listed_by(&self, provider: &str) -> Vec<String> {
        let library = self.libraries.iter().find(|library| library.name() == provider);
        library.filter(|library| self.opened(&***library).is_ok()).map(|library| library.lists()).unwrap_or_default()
    }
}

impl Sources for Providers {
    /// The codes that are built in, then every library, whether it has one or not.
    fn cipher_providers(&self, spec: &Spec) -> Vec<String> {
        let left_out = spec.card.left_out().map(|(provider, _)| provider);
        let built_in = spec.card.codes.iter().map(|code| code.provider).chain(left_out);
        built_in.chain(self.libraries.iter().map(|library| library.name())).map(str::to_owned).collect()
    }

    fn cipher(&self, provider: &str, spec: &Spec) -> Result<Offer, String> {
        self.find(provider, spec)
    }

    /// What is built in first.
    fn exchanges(&self) -> Vec<Provider> {
        let built_in: Provider = &establish::BuiltIn;
        std::iter::once(built_in).chain(self.libraries.iter().filter_map(|library| library.exchange())).collect()
    }
}

impl Default for Providers {
    fn default() -> Self {
        Self::new()
    }
}

/// A library that the user named.
#[cfg(feature = "libraries")]
fn user_library(named: &LibraryFile, has_others: bool) -> Result<Box<dyn Library>, String> {
    Ok(Box::new(crate::adapter::user_library::Own::new(named, has_others)))
}

#[cfg(not(feature = "libraries"))]
fn user_library(named: &LibraryFile, _has_others: bool) -> Result<Box<dyn Library>, String> {
    Err(format!("library {}: {}", named.path, crate::closed::REASON))
}

#[cfg(feature = "libraries")]
fn tried_and_opened(library: &dyn Library) -> Result<About, String> {
    crate::adapter::child_process::in_a_child(library.name(), &library.arguments(), library.is_own())?;
    Ok(crate::library::held_in(library.open()?, library.file()))
}

#[cfg(not(feature = "libraries"))]
fn tried_and_opened(library: &dyn Library) -> Result<About, String> {
    library.open()
}
