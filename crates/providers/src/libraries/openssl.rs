//! OpenSSL's ciphers through its EVP interface, from the `libcrypto` of the system.
//!
//! A message is what a program would do for one: the context takes a new IV, then update, then final with its padding.
//! A key setup is a new context with its key, and the one before freed.
#![forbid(unsafe_code)]

mod evp;
mod keyed;
mod tables;

use std::path::PathBuf;

use wattlock_bench::establish::Exchange;
use wattlock_bench::implementation::{About, Implementation};
use wattlock_ciphers::Spec;

use self::evp::{find, library};
use self::tables::OpenSslTables;
use super::exchange;
use crate::adapter::file;
use crate::library::Library;

/// OpenSSL 3.
struct OpenSsl;

/// The providers of this file.
pub fn libraries() -> Vec<Box<dyn Library>> {
    vec![Box::new(OpenSsl), Box::new(OpenSslTables)]
}

impl Library for OpenSsl {
    fn name(&self) -> &str {
        "openssl"
    }

    fn open(&self) -> Result<About, String> {
        Ok(About::of(library()?.version()))
    }

    fn file(&self) -> Option<PathBuf> {
        file::holding(library().ok()?.place())
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        find(library()?, spec)
    }

    fn exchange(&self) -> Option<&'static dyn Exchange> {
        Some(&exchange::OpenSsl)
    }
}

#[cfg(test)]
mod tests;
