//! The libraries of the system where none can be opened: each is still named, with the reason.
#![forbid(unsafe_code)]

use wattlock_bench::implementation::{About, Implementation};
use wattlock_ciphers::Spec;

use crate::library::Library;

/// The providers that are libraries of the system, in the order in which a catalogue prints them.
pub const NAMES: [&str; 9] =
    ["openssl", "openssl-tables", "botan", "libgcrypt", "nettle", "libtomcrypt", "libmcrypt", "libsodium", "wolfssl"];

/// Why none of them is there.
pub const REASON: &str = "a static probe opens no library";

/// A library that this program can't open.
struct Closed(&'static str);

/// All of them.
pub fn all() -> Vec<Box<dyn Library>> {
    NAMES.into_iter().map(|name| Box::new(Closed(name)) as Box<dyn Library>).collect()
}

impl Library for Closed {
    fn name(&self) -> &str {
        self.0
    }

    fn open(&self) -> Result<About, String> {
        Err(REASON.to_owned())
    }

    fn find(&self, _spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        Err(REASON.to_owned())
    }
}
