//! Whose code a cell runs: the ciphers that are built in, and libraries that are opened at run time, a file each.

#[cfg(test)]
mod agreement;
#[cfg(feature = "aws-lc-rs")]
mod aws_lc;
mod botan;
mod chaining;
pub mod exchange;
mod file;
mod functions;
mod gcrypt;
mod libbotan;
mod libcrypto;
mod mcrypt;
mod moded;
mod nettle;
mod openssl;
mod own;
mod sodium;
mod tomcrypt;
mod trial;
mod wolfssl;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use wattlock_ciphers::proof::{self, Message, Proof, ProofError};
use wattlock_ciphers::{Card, Cipher, Direction, Error, Spec, Suite, Timing, Visitor, cards, listed};

use crate::bind::{self, Prepared};
use crate::records::{LibraryFile, PlannedCell};

pub use trial::WORKS;

/// Nobody's name is repeated at greater length, characters.
pub const LONGEST_QUOTE: usize = 80;

/// A name that somebody gave, in quotes, its first 80 characters.
pub fn quoted(name: &str) -> String {
    match name.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{:?}", format!("{}...", &name[..end])),
        None => format!("{name:?}"),
    }
}

/// A library that is opened at run time.
///
/// It is opened in a child process first ([`Providers`] sees to that), then once in this one.
pub trait Library {
    /// The provider's name: `openssl`.
    fn name(&self) -> &str;

    /// Opens it in this process, where it is not open.
    ///
    /// # Errors
    /// Why it can't be opened or is not the library meant, and how to get it.
    fn open(&self) -> Result<About, String>;

    /// The file from which it was opened; `None` where the system does not tell.
    fn file(&self) -> Option<PathBuf> {
        None
    }

    /// Ids that a library of the user's own says that it has, known ones or not.
    fn lists(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it is the user's own.
    fn is_own(&self) -> bool {
        false
    }

    /// What the child that tries it must be told besides its name.
    fn arguments(&self) -> Vec<String> {
        Vec::new()
    }

    /// Its code for `spec`, all functions found.
    ///
    /// # Errors
    /// Why it has none.
    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String>;
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
    fn of(version: String) -> Self {
        Self { version, file: None, file_sha256: None }
    }

    /// With its file and that one's hash, where the file can be read.
    fn held_in(self, file: Option<PathBuf>) -> Self {
        let file_sha256 = file.as_deref().and_then(|path| file::sha256(path).ok());
        Self { file: file.map(|path| path.display().to_string()), file_sha256, ..self }
    }
}

/// One provider's code for one spec.
pub trait Implementation {
    /// Proves it: nothing is timed before.
    ///
    /// # Errors
    /// The first difference.
    fn prove(&self, spec: &Spec) -> Result<Proof, ProofError>;

    /// Binds a planned cell to it.
    ///
    /// # Errors
    /// As of [`bind::bind`].
    fn bind(
        &self,
        spec: &Spec,
        planned: &PlannedCell,
        payload: Option<Rc<[u8]>>,
        seed: u64,
    ) -> Result<Box<dyn Prepared>, String>;

    /// A cipher with this key.
    ///
    /// # Errors
    /// As of [`Suite::key_setup`].
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Box<dyn Cipher>, Error>;

    /// The path that the code takes on this processor.
    fn backend(&self) -> String;

    /// What the time of the code depends on, where that is known.
    fn timing(&self) -> Option<Timing>;
}

/// A suite of a library, as an [`Implementation`].
pub struct Found<S> {
    /// What takes keys.
    pub suite: S,
    /// The path that the code takes on this processor, as far as the library tells.
    pub backend: String,
}

impl<S: Suite> Implementation for Found<S> {
    fn prove(&self, spec: &Spec) -> Result<Proof, ProofError> {
        proof::prove_suite(spec, &self.suite)
    }

    fn bind(
        &self,
        spec: &Spec,
        planned: &PlannedCell,
        payload: Option<Rc<[u8]>>,
        seed: u64,
    ) -> Result<Box<dyn Prepared>, String> {
        bind::bind(spec, &self.suite, planned, payload, seed, &|message, output| {
            proof::expected(spec, None, message, output)
        })
    }

    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Box<dyn Cipher>, Error> {
        Ok(Box::new(self.suite.key_setup(key, direction)?))
    }

    fn backend(&self) -> String {
        self.backend.clone()
    }

    fn timing(&self) -> Option<Timing> {
        None
    }
}

/// A code of the catalogue, as an [`Implementation`].
struct BuiltIn<S> {
    code: &'static wattlock_ciphers::Code,
    found: Found<S>,
}

impl<S: Suite> Implementation for BuiltIn<S> {
    fn prove(&self, spec: &Spec) -> Result<Proof, ProofError> {
        proof::prove(spec, self.code)
    }

    fn bind(
        &self,
        spec: &Spec,
        planned: &PlannedCell,
        payload: Option<Rc<[u8]>>,
        seed: u64,
    ) -> Result<Box<dyn Prepared>, String> {
        let oracle = |message: Message<'_>, output: &mut [u8]| proof::expected(spec, Some(self.code), message, output);
        bind::bind(spec, &self.found.suite, planned, payload, seed, &oracle)
    }

    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Box<dyn Cipher>, Error> {
        self.found.key_setup(key, direction)
    }

    fn backend(&self) -> String {
        self.found.backend()
    }

    fn timing(&self) -> Option<Timing> {
        Some(self.code.timing)
    }
}

struct OfCode(&'static wattlock_ciphers::Code);

impl Visitor for OfCode {
    type Output = Box<dyn Implementation>;

    fn visit<S: Suite>(self, spec: &Spec, suite: S) -> Self::Output {
        let found = Found { suite, backend: spec.backend(self.0).to_owned() };
        Box::new(BuiltIn { code: self.0, found })
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
                    named.path.display(),
                    named.name
                ));
            }
            providers.libraries.push(Box::new(own::Own::new(named)));
        }
        Ok(providers)
    }

    /// The libraries that this program knows.
    pub fn new() -> Self {
        let libraries: Vec<Box<dyn Library>> = vec![
            Box::new(openssl::OpenSsl),
            Box::new(openssl::OpenSslTables),
            Box::new(botan::Botan),
            Box::new(gcrypt::Gcrypt),
            Box::new(nettle::Nettle),
            Box::new(tomcrypt::Tomcrypt),
            Box::new(mcrypt::Mcrypt),
            Box::new(sodium::Sodium),
            Box::new(wolfssl::WolfSsl),
            #[cfg(feature = "aws-lc-rs")]
            Box::new(aws_lc::AwsLc),
        ];
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
            return Ok(Offer { provider, version, about: None, code: spec.visit(code, OfCode(code)) });
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

    /// What each provider says to `spec`: the codes that are built in, then every library, whether it has one or not.
    pub fn offers(&self, spec: &Spec) -> Vec<(String, Result<Offer, String>)> {
        let left_out = spec.card.left_out().map(|(provider, _)| provider);
        let built_in = spec.card.codes.iter().map(|code| code.provider).chain(left_out);
        let names = built_in.chain(self.libraries.iter().map(|library| library.name()));
        names.map(|name| (name.to_owned(), self.find(name, spec))).collect()
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
            let about =
                trial::in_a_child(library.name(), &library.arguments(), library.is_own()).and_then(|()| library.open());
            let about = about.map(|about| about.held_in(library.file()));
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
