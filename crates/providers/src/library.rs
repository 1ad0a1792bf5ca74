//! A library that is opened at run time, and what it says of itself.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use wattlock_bench::establish::Exchange;
use wattlock_bench::implementation::{About, Implementation};
use wattlock_ciphers::Spec;

/// A library that is opened at run time.
///
/// It is opened in a child process first ([`crate::Providers`] sees to that), then once in this one.
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

    /// What carries out its operations of key establishment; `None` where it has none or nobody wrote them down yet.
    fn exchange(&self) -> Option<&'static dyn Exchange> {
        None
    }

    /// Its code for `spec`, all functions found.
    ///
    /// # Errors
    /// Why it has none.
    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String>;
}

/// With its file and that one's hash, where the file can be read.
#[cfg(feature = "libraries")]
pub(crate) fn held_in(about: About, file: Option<PathBuf>) -> About {
    let file_sha256 = file.as_deref().and_then(|path| crate::adapter::file::sha256(path).ok());
    About { file: file.map(|path| path.display().to_string()), file_sha256, ..about }
}
