//! The library itself: its functions, its files, its version.

use std::ffi::{c_int, c_void};

use crate::adapter::file;
use crate::adapter::functions::{functions, opened_once};

/// `nettle_cipher_func`: context, length, destination, source.
pub type Block = unsafe extern "C" fn(*const c_void, usize, *mut u8, *const u8);

functions! { of "`cbc.h`, `cfb.h`, `ctr.h` and `version.h` of nettle 3.4 and newer";
    nettle_version_major: fn() -> c_int;
    nettle_version_minor: fn() -> c_int;
    nettle_cbc_encrypt: fn(*const c_void, Block, usize, *mut u8, usize, *mut u8, *const u8);
    nettle_cbc_decrypt: fn(*const c_void, Block, usize, *mut u8, usize, *mut u8, *const u8);
    nettle_cfb_encrypt: fn(*const c_void, Block, usize, *mut u8, usize, *mut u8, *const u8);
    nettle_cfb_decrypt: fn(*const c_void, Block, usize, *mut u8, usize, *mut u8, *const u8);
    nettle_ctr_crypt: fn(*const c_void, Block, usize, *mut u8, usize, *mut u8, *const u8);
}

/// With version 4 the functions that give a tag lost the argument for its length.
const MAJOR: c_int = 3;

/// nettle, open.
pub struct Libnettle {
    pub functions: Functions,
    library: libloading::Library,
}

#[cfg(target_os = "macos")]
const FILES: &[&str] = &["libnettle.8.dylib", "/opt/homebrew/lib/libnettle.8.dylib"];
#[cfg(not(target_os = "macos"))]
const FILES: &[&str] = &["libnettle.so.8", "libnettle.so.7", "libnettle.so"];

opened_once!(pub Libnettle, Libnettle::open);

impl Libnettle {
    fn open() -> Result<Self, String> {
        let how = "it is in the package libnettle8 (Debian, Ubuntu), nettle (Fedora, Homebrew)";
        let library = file::first_of(FILES).map_err(|error| format!("nettle can't be opened ({error}); {how}"))?;
        let functions =
            Functions::of(&library).map_err(|name| format!("nettle has no {name}: it is too old; {how}"))?;
        let nettle = Self { functions, library };
        // SAFETY: it takes nothing.
        match unsafe { (nettle.functions.nettle_version_major)() } {
            MAJOR => Ok(nettle),
            _ => Err(format!("nettle {} is another interface than that of {MAJOR}; {how}", nettle.version())),
        }
    }

    pub fn version(&self) -> String {
        // SAFETY: they take nothing.
        unsafe { format!("{}.{}", (self.functions.nettle_version_major)(), (self.functions.nettle_version_minor)()) }
    }

    /// The function of this name.
    ///
    /// # Safety
    /// `F` is its type.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: as the caller promises.
        let found = unsafe { self.library.get::<F>(name) };
        found.map(|symbol| *symbol).map_err(|_| format!("nettle {} has no {name}", self.version()))
    }
}
