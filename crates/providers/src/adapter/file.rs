//! The file of a library: opened, found again in memory, hashed.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use libloading::Library;
use sha2::{Digest, Sha256};

/// Opens the first of `names` that is there.
///
/// * `names`: what the system's loader takes for a name, or a path; the likeliest first.
///
/// # Errors
/// What the loader said of each.
pub fn first_of(names: &[&str]) -> Result<Library, String> {
    let mut refusals = Vec::new();
    for name in names {
        // SAFETY: what runs when this library is loaded is its own; a process of its own has lived through it before
        // (`trial`).
        match unsafe { Library::new(*name) } {
            Ok(library) => return Ok(library),
            Err(error) => refusals.push(error.source().map_or_else(|| error.to_string(), ToString::to_string)),
        }
    }
    Err(refusals.join("; "))
}

/// Opens a library in a namespace of its own, with all that it depends on: no symbol, file or version of a dependency is
/// shared with what is open already, be it the same file.
///
/// # Errors
/// What the loader said.
///
/// # Source
/// dlmopen(3): glibc has 16 namespaces.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn apart(path: &str) -> Result<Library, String> {
    use std::ffi::{CStr, CString};

    use libloading::os::unix;
    use nix::libc;

    let name = CString::new(path).map_err(|error| error.to_string())?;
    // SAFETY: what runs when it is loaded is its own; a process of its own has lived through it before.
    let handle = unsafe { libc::dlmopen(libc::LM_ID_NEWLM, name.as_ptr(), unix::RTLD_LAZY | unix::RTLD_LOCAL) };
    if handle.is_null() {
        // SAFETY: this thread's last error, a text until its next call of the loader, or null.
        let refusal = unsafe { libc::dlerror().as_ref().map(|text| CStr::from_ptr(text).to_string_lossy()) };
        return Err(refusal.map_or_else(|| format!("{path} can't be loaded"), |refusal| refusal.into_owned()));
    }
    // SAFETY: the handle is an open library's.
    Ok(unsafe { unix::Library::from_raw(handle) }.into())
}

/// Where the system knows no namespaces: a file that was opened already would be the same library again.
///
/// # Errors
/// What the loader said.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn apart(path: &str) -> Result<Library, String> {
    first_of(&[path])
}

/// The file that is mapped where one of a library's functions lies; `None` where the system does not tell.
///
/// # Source
/// proc_pid_maps(5).
pub fn holding(address: usize) -> Option<PathBuf> {
    holding_by(&fs::read_to_string("/proc/self/maps").ok()?, address)
}

fn holding_by(maps: &str, address: usize) -> Option<PathBuf> {
    maps.lines().find_map(|line| {
        let mut fields = line.splitn(6, ' ');
        let (from, to) = fields.next()?.split_once('-')?;
        let [from, to] = [from, to].map(|digits| usize::from_str_radix(digits, 16).ok());
        let path = fields.nth(4)?.trim_start();
        let holds = from? <= address && address < to? && path.starts_with('/');
        holds.then(|| PathBuf::from(path))
    })
}

/// SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// That it can't be read.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(fs::read(path)?);
    Ok(HEXLOWER.encode(&hash.finalize()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_the_one_whose_mapping_holds_the_address() {
        let maps = "\
7f0000000000-7f0000001000 r--p 00000000 08:01 42                         /usr/lib/lib one.so.3
7f0000001000-7f0000002000 r-xp 00001000 08:01 42                         /usr/lib/lib one.so.3
7f0000002000-7f0000003000 rw-p 00000000 00:00 0 
7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0                          [stack]";
        assert_eq!(holding_by(maps, 0x7f00_0000_1fff).unwrap(), Path::new("/usr/lib/lib one.so.3"));
        assert_eq!(holding_by(maps, 0x7f00_0000_2000), None);
        assert_eq!(holding_by(maps, 0x7ffc_0000_0000), None);
        assert_eq!(holding_by("", 0), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_function_of_this_program_lies_in_its_file() {
        let here = the_file_is_the_one_whose_mapping_holds_the_address as fn() as usize;
        assert_eq!(holding(here).unwrap(), std::env::current_exe().unwrap());
    }

    #[test]
    fn a_file_has_the_hash_of_its_bytes() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let mut hash = Sha256::new();
        hash.update(fs::read(&path).unwrap());
        assert_eq!(sha256(&path).unwrap(), HEXLOWER.encode(&hash.finalize()));
        assert!(sha256(Path::new("/no/such/file")).is_err());
    }
}
