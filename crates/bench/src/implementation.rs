//! Whose code a case of a cipher runs: what is built in, or what a library has.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;

use wattlock_ciphers::proof::{self, Message, Proof, ProofError};
use wattlock_ciphers::{Cipher, Code, Direction, Error, Spec, Suite, Timing, Visitor};
use wattlock_records::{CodePath, PlannedCase};

use crate::bind;
use crate::prepared::Prepared;

/// One provider's code for one spec.
pub trait Implementation {
    /// Proves it: nothing is timed before.
    ///
    /// # Errors
    /// The first difference.
    fn prove(&self, spec: &Spec) -> Result<Proof, ProofError>;

    /// Binds a planned case to it.
    ///
    /// # Errors
    /// As of [`bind::bind`].
    fn bind(
        &self,
        spec: &Spec,
        planned: &PlannedCase,
        payload: Option<Rc<[u8]>>,
        seed: u64,
    ) -> Result<Box<dyn Prepared>, String>;

    /// A cipher with this key.
    ///
    /// # Errors
    /// As of [`Suite::key_setup`].
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Box<dyn Cipher>, Error>;

    /// The path that the code takes on this processor; `None` where it is not known.
    fn path(&self) -> Option<CodePath>;

    /// Which part of the provider it is of; `None` where it has none.
    fn of(&self) -> Option<&str>;

    /// What the time of the code depends on, where that is known.
    fn timing(&self) -> Option<Timing>;
}

/// A suite of a library, as an [`Implementation`].
pub struct Found<S> {
    /// What takes keys.
    pub suite: S,
    /// The path that the code takes on this processor, as far as the library says.
    pub path: Option<CodePath>,
    /// Which part of the library it is of.
    pub of: Option<String>,
}

impl<S> Found<S> {
    /// Of a provider that has no parts.
    pub fn of_path(suite: S, path: Option<CodePath>) -> Self {
        Self { suite, path, of: None }
    }
}

impl<S: Suite> Implementation for Found<S> {
    fn prove(&self, spec: &Spec) -> Result<Proof, ProofError> {
        proof::prove_suite(spec, &self.suite)
    }

    fn bind(
        &self,
        spec: &Spec,
        planned: &PlannedCase,
        payload: Option<Rc<[u8]>>,
        seed: u64,
    ) -> Result<Box<dyn Prepared>, String> {
        let of = *spec;
        let oracle = move |message: Message<'_>, output: &mut [u8]| proof::expected(&of, None, message, output);
        bind::bind(spec, &self.suite, planned, payload, seed, Rc::new(oracle))
    }

    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Box<dyn Cipher>, Error> {
        Ok(Box::new(self.suite.key_setup(key, direction)?))
    }

    fn path(&self) -> Option<CodePath> {
        self.path
    }

    fn of(&self) -> Option<&str> {
        self.of.as_deref()
    }

    fn timing(&self) -> Option<Timing> {
        None
    }
}

/// A code of the catalogue, as an [`Implementation`].
struct BuiltIn<S> {
    code: &'static Code,
    found: Found<S>,
}

impl<S: Suite> Implementation for BuiltIn<S> {
    fn prove(&self, spec: &Spec) -> Result<Proof, ProofError> {
        proof::prove(spec, self.code)
    }

    fn bind(
        &self,
        spec: &Spec,
        planned: &PlannedCase,
        payload: Option<Rc<[u8]>>,
        seed: u64,
    ) -> Result<Box<dyn Prepared>, String> {
        let (of, code) = (*spec, self.code);
        let oracle = move |message: Message<'_>, output: &mut [u8]| proof::expected(&of, Some(code), message, output);
        bind::bind(spec, &self.found.suite, planned, payload, seed, Rc::new(oracle))
    }

    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Box<dyn Cipher>, Error> {
        self.found.key_setup(key, direction)
    }

    fn path(&self) -> Option<CodePath> {
        self.found.path
    }

    fn of(&self) -> Option<&str> {
        None
    }

    fn timing(&self) -> Option<Timing> {
        Some(self.code.timing)
    }
}

struct OfCode(&'static Code);

impl Visitor for OfCode {
    type Output = Box<dyn Implementation>;

    fn visit<S: Suite>(self, spec: &Spec, suite: S) -> Self::Output {
        let found = Found::of_path(suite, CodePath::named(spec.path(self.0)));
        Box::new(BuiltIn { code: self.0, found })
    }
}

/// A code of the catalogue for one of its specs.
#[must_use]
pub fn built_in(spec: &Spec, code: &'static Code) -> Box<dyn Implementation> {
    spec.visit(code, OfCode(code))
}

/// What a library says of itself.
#[derive(Debug, Clone)]
pub struct About {
    /// Its version, as it tells.
    pub version: String,
    /// The file that was opened.
    pub file: Option<String>,
    /// SHA-256 of that file, in hexadecimal.
    pub file_sha256: Option<String>,
}

impl About {
    /// A library of this version, its file not yet looked for.
    #[must_use]
    pub fn of(version: String) -> Self {
        Self { version, file: None, file_sha256: None }
    }
}

/// An implementation that was found, and whose it is.
pub struct Offer {
    /// The provider's name.
    pub provider: String,
    /// Version of the crate or of the library.
    pub version: String,
    /// File of the library and its hash; none of what is built in.
    pub about: Option<About>,
    /// The code.
    pub code: Box<dyn Implementation>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_every_code_that_is_built_in_has_its_word_in_the_records() {
        for spec in wattlock_ciphers::listed() {
            for code in spec.card.codes {
                assert!(CodePath::named(spec.path(code)).is_some(), "{spec}: {}", spec.path(code));
            }
        }
    }
}
