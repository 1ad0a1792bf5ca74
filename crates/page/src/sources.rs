//! Whose code there is in a page: what is built in, and the browser's own.
#![forbid(unsafe_code)]

use std::rc::Rc;

use wattlock_bench::establish::{self, Provider};
use wattlock_bench::implementation::{Offer, built_in};
use wattlock_bench::subject::{Payloads, Sources};
use wattlock_ciphers::Spec;

use crate::webcrypto::{self, Subtle};

/// All code that a page can run.
pub struct PageSources {
    /// The browser's own; or why there is none.
    pub subtle: Result<&'static dyn Subtle, String>,
}

impl PageSources {
    /// What is built in alone.
    #[must_use]
    pub fn built_in() -> Self {
        Self { subtle: Err("only what is built in is here".to_owned()) }
    }
}

impl Sources for PageSources {
    fn cipher_providers(&self, spec: &Spec) -> Vec<String> {
        let built_in = spec.card.codes.iter().map(|code| code.provider);
        built_in.chain(webcrypto::has(spec).then_some(webcrypto::NAME)).map(str::to_owned).collect()
    }

    fn cipher(&self, provider: &str, spec: &Spec) -> Result<Offer, String> {
        if provider == webcrypto::NAME && webcrypto::has(spec) {
            return self.subtle.as_ref().map(|subtle| webcrypto::offer(spec, *subtle)).map_err(Clone::clone);
        }
        let code = spec.code(provider).ok_or_else(|| format!("{spec}: a page has no {provider}"))?;
        let (provider, version) = (code.provider.to_owned(), code.version.to_owned());
        Ok(Offer { provider, version, about: None, code: built_in(spec, code) })
    }

    fn exchanges(&self) -> Vec<Provider> {
        vec![&establish::BuiltIn]
    }
}

/// A page has no files.
pub struct NoPayloads;

impl Payloads for NoPayloads {
    fn bytes(&self, _label: &str) -> Option<Rc<[u8]>> {
        None
    }
}
