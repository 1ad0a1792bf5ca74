//! Whose code a cell runs: the ciphers that are built in, and libraries of the system that are opened at run time.

mod libcrypto;
mod openssl;
mod trial;

use std::rc::Rc;

use wattlock_ciphers::{Spec, proof};

use crate::bind::{self, Prepared, bind_to};
use crate::records::{Operation, PlannedCell};

pub use trial::WORKS;

/// The providers there are.
const PROVIDERS: &str = "\"rustcrypto\" and \"openssl\"";

/// One provider's code for one cipher.
pub enum Implementation {
    /// Compiled into this program.
    BuiltIn,
    /// OpenSSL's libcrypto.
    OpenSsl,
}

/// The implementation of `spec` by the provider of this name.
///
/// # Errors
/// Which providers there are; why a library or its cipher can't be had, and how to get it.
pub fn find(provider: &str, spec: &Spec) -> Result<Implementation, String> {
    match provider {
        "rustcrypto" => Ok(Implementation::BuiltIn),
        openssl::NAME => openssl::find(spec).map(|()| Implementation::OpenSsl),
        _ => Err(format!("no provider {provider:?}; there are {PROVIDERS}")),
    }
}

/// Opens the library of the provider of this name in this process and uses it once; gives its version.
///
/// # Errors
/// What failed.
pub fn open_here(provider: &str) -> Result<String, String> {
    match provider {
        openssl::NAME => openssl::open_here(),
        _ => Err(format!("no provider {provider:?} with a library; there is \"openssl\"")),
    }
}

impl Implementation {
    /// The path that the code takes on this processor.
    #[must_use]
    pub fn backend(&self, spec: &Spec) -> String {
        match self {
            Self::BuiltIn => spec.backend().to_owned(),
            Self::OpenSsl => openssl::backend(spec),
        }
    }

    /// The version of the code.
    #[must_use]
    pub fn version(&self, spec: &Spec) -> String {
        match self {
            Self::BuiltIn => spec.card.version.to_owned(),
            Self::OpenSsl => openssl::version(),
        }
    }

    /// Proves the cipher before it is timed.
    ///
    /// # Errors
    /// What is wrong with its output.
    pub fn prove(&self, spec: &Spec) -> Result<(), String> {
        let proof = match self {
            Self::BuiltIn => proof::prove(spec),
            Self::OpenSsl => proof::prove_with::<openssl::Encrypting>(spec),
        };
        proof.map(|_| ()).map_err(|error| format!("{spec}: {error}"))
    }

    /// Binds a planned cell to this implementation.
    ///
    /// # Errors
    /// As of [`bind::bind`].
    pub fn bind(
        &self,
        spec: &Spec,
        planned: &PlannedCell,
        payload: Option<Rc<[u8]>>,
        seed: u64,
    ) -> Result<Box<dyn Prepared>, String> {
        match (self, planned.operation) {
            (Self::BuiltIn, _) => bind::bind(spec, planned, payload, seed),
            (Self::OpenSsl, Operation::Decrypt) => bind_to::<openssl::Decrypting>(spec, planned, payload, seed),
            (Self::OpenSsl, _) => bind_to::<openssl::Encrypting>(spec, planned, payload, seed),
        }
    }
}
