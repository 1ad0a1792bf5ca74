//! A copy of the library that believes that the processor has no instructions for AES.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::{env, io};

use nix::sys::memfd::{MFdFlags, memfd_create};

use super::Libcrypto;
use crate::adapter::file;

/// The variable that is read while the library is loaded.
const VARIABLE: &str = "OPENSSL_ia32cap";
/// Without AES-NI (bit 57), SSSE3 (41: AES by byte shuffles) and PCLMULQDQ (33: GCM); of the second word without VAES
/// and VPCLMULQDQ (41, 42).
///
/// # Source
/// OPENSSL_ia32cap(3).
const MASK: &str = "~0x200020200000000:~0x60000000000";

impl Libcrypto {
    /// Opens a copy of `original` beside it: the loader takes another file for another library, and this one reads the
    /// mask as it is loaded.
    ///
    /// # Errors
    /// What failed.
    pub fn open_masked(original: &Path) -> Result<Self, String> {
        let copy = copied(original).map_err(|error| format!("{} can't be copied: {error}", original.display()))?;
        let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
        let before = env::var_os(VARIABLE);
        set(Some(MASK.into()));
        let library = file::first_of(&[&path]);
        set(before);
        Self::of(library.map_err(|refusal| format!("a copy of {} can't be opened: {refusal}", original.display()))?)
    }
}

/// A copy of a file in memory.
fn copied(original: &Path) -> io::Result<File> {
    let mut copy = File::from(memfd_create(c"libcrypto", MFdFlags::MFD_CLOEXEC)?);
    io::copy(&mut File::open(original)?, &mut copy)?;
    Ok(copy)
}

fn set(value: Option<OsString>) {
    // SAFETY: the probe opens libraries in its first thread, while it has no other that could read the environment.
    unsafe {
        match value {
            Some(value) => env::set_var(VARIABLE, value),
            None => env::remove_var(VARIABLE),
        }
    }
}
