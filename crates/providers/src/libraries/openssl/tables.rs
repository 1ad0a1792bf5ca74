//! OpenSSL as if the processor had no instructions for AES: what it was when most papers measured it.

use std::path::PathBuf;
use std::sync::OnceLock;

use wattlock_bench::implementation::About;
use wattlock_bench::implementation::Implementation;
use wattlock_ciphers::Spec;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use wattlock_records::CodePath;

use super::evp::{aes_path, find, library};
use crate::adapter::file;
use crate::libraries::libcrypto::Libcrypto;
use crate::library::Library;

/// A second copy of OpenSSL's libcrypto in this process, for which the processor's AES, carry-less multiplication and
/// byte shuffles are switched off: AES then reads tables.
pub struct OpenSslTables;

impl Library for OpenSslTables {
    fn name(&self) -> &str {
        "openssl-tables"
    }

    fn open(&self) -> Result<About, String> {
        Ok(About::of(copy()?.version()))
    }

    /// The copy has no file of its own: the one that was copied.
    fn file(&self) -> Option<PathBuf> {
        file::holding(library().ok()?.place())
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        if spec.card.family != "aes" && !spec.card.family.starts_with("aes-") {
            return Err("openssl-tables has AES only: for the others it is what openssl is".to_owned());
        }
        find(copy()?, spec)
    }
}

/// The copy, opened in this process once.
///
/// # Errors
/// Why it can't be opened, or that it takes another path than tables.
fn copy() -> Result<&'static Libcrypto, String> {
    static OPEN: OnceLock<Result<Libcrypto, String>> = OnceLock::new();
    OPEN.get_or_init(open).as_ref().map_err(Clone::clone)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn open() -> Result<Libcrypto, String> {
    let original = file::holding(library()?.place()).ok_or("the file of libcrypto is not in /proc/self/maps")?;
    let copy = Libcrypto::open_masked(&original)?;
    let settings = copy.cpu_settings();
    match aes_path(&settings) {
        Some(CodePath::Tables) => Ok(copy),
        _ => Err(format!("the copy of libcrypto does not leave the AES instructions out: it says {settings}")),
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn open() -> Result<Libcrypto, String> {
    let _ = (aes_path, library);
    Err("OpenSSL's AES instructions can be switched off on Linux on x86-64 only".to_owned())
}
