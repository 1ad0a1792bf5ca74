//! libmcrypt's ciphers, from the library of the system: the only one with Rijndael's large blocks.
//!
//! It works in place, so the text is copied first, as a program that keeps its plaintext must. A key setup opens a module
//! anew, which looks up names and allocates: it is slow.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::{self, NonNull};

use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Direction, Error, MAX_IV_B, Mode, Spec, Suite};
use wattlock_records::CodePath;

use crate::adapter::functions::{functions, opened_once, text};
use crate::adapter::keeping::{sample_key, three_keys};
use crate::adapter::mode_adapter::{Handle, Moded};
use crate::adapter::{file, lengths};
use crate::library::Library;

/// What `MCRYPT` points to.
pub enum Opaque {}

functions! { of "`mcrypt.h`, version 2.5";
    mcrypt_check_version: fn(*const c_char) -> *const c_char;
    mcrypt_module_open: fn(*const c_char, *const c_char, *const c_char, *const c_char) -> *mut Opaque;
    mcrypt_module_close: fn(*mut Opaque) -> c_int;
    mcrypt_generic_init: fn(*mut Opaque, *const c_void, c_int, *const c_void) -> c_int;
    mcrypt_generic_deinit: fn(*mut Opaque) -> c_int;
    mcrypt_generic: fn(*mut Opaque, *mut c_void, c_int) -> c_int;
    mdecrypt_generic: fn(*mut Opaque, *mut c_void, c_int) -> c_int;
    mcrypt_enc_set_state: fn(*mut Opaque, *const c_void, c_int) -> c_int;
    mcrypt_enc_get_block_size: fn(*mut Opaque) -> c_int;
}

/// libmcrypt.
struct Mcrypt;

/// The provider of this file.
pub fn libraries() -> Vec<Box<dyn Library>> {
    vec![Box::new(Mcrypt)]
}

impl Library for Mcrypt {
    fn name(&self) -> &str {
        "libmcrypt"
    }

    fn open(&self) -> Result<About, String> {
        Ok(About::of(library()?.version.clone()))
    }

    fn file(&self) -> Option<PathBuf> {
        file::holding(library().ok()?.functions.mcrypt_generic as *const () as usize)
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let library = library()?;
        let (algorithm, mode) = names(spec)?;
        let in_c = |name: &str| CString::new(name).map_err(|error| error.to_string());
        let (algorithm_in_c, mode_in_c) = (in_c(&algorithm)?, in_c(mode)?);
        let names: &'static [CString; 2] = Box::leak(Box::new([algorithm_in_c, mode_in_c]));
        let suite = McryptSuite { spec: *spec, functions: &library.functions, names };
        let lacks = |_| format!("libmcrypt {} has no {algorithm} in {mode} with this key", library.version);
        suite.key_setup(&sample_key(spec.key_B()), Direction::Encrypt).map_err(lacks)?;
        Ok(Box::new(Found::of_path(suite, Some(CodePath::Portable))))
    }
}

struct Libmcrypt {
    functions: Functions,
    version: String,
    /// Keeps the functions where they are.
    _library: libloading::Library,
}

const FILES: &[&str] = &["libmcrypt.so.4", "libmcrypt.so", "libmcrypt.4.dylib"];

opened_once!(Libmcrypt, Libmcrypt::open);

impl Libmcrypt {
    fn open() -> Result<Self, String> {
        let how = "it is in the package libmcrypt4 (Debian, Ubuntu), libmcrypt (Fedora)";
        let library = file::first_of(FILES).map_err(|error| format!("libmcrypt can't be opened ({error}); {how}"))?;
        let functions =
            Functions::of(&library).map_err(|name| format!("libmcrypt has no {name}: it is too old; {how}"))?;
        // SAFETY: it takes null and gives a text that lives as long as the library.
        let version = unsafe { text((functions.mcrypt_check_version)(ptr::null())) }.unwrap_or_default();
        Ok(Self { functions, version, _library: library })
    }
}

/// libmcrypt's names of a cipher and of its mode.
fn names(spec: &Spec) -> Result<(String, &'static str), String> {
    let algorithm = match spec.card.family {
        "aes" => "rijndael-128".to_owned(),
        family
            if family.starts_with("rijndael")
                && spec.rounds.map(u16::from) == spec.card.full_rounds.map(|of| of(spec.key_bits)) =>
        {
            format!("rijndael-{}", spec.card.block_bits)
        }
        "des" => "des".to_owned(),
        "3des" | "3des2" => "tripledes".to_owned(),
        "blowfish" => "blowfish".to_owned(),
        "cast" if spec.key_bits == 128 => "cast-128".to_owned(),
        "twofish" => "twofish".to_owned(),
        "xtea" => "xtea".to_owned(),
        "rc2" if spec.effective_bits == 1024 => "rc2".to_owned(),
        "rc4" => return Ok(("arcfour".to_owned(), "stream")),
        "serpent" => return Err("libmcrypt's Serpent has its bytes in another order than the card".to_owned()),
        "rc2" => return Err("libmcrypt's RC2 has 1024 effective key bits only".to_owned()),
        _ => return Err(format!("libmcrypt has no {spec}")),
    };
    match spec.card.mode {
        Mode::Ecb => Ok((algorithm, "ecb")),
        Mode::Cbc => Ok((algorithm, "cbc")),
        Mode::Ctr => Ok((algorithm, "ctr")),
        // Its modes `cfb` and `ofb` feed back a byte; these the whole block.
        Mode::Cfb => Ok((algorithm, "ncfb")),
        Mode::Ofb => Ok((algorithm, "nofb")),
        mode => Err(format!("libmcrypt has no mode {mode}")),
    }
}

/// A cipher of the library, ready to take keys.
#[derive(Clone)]
struct McryptSuite {
    spec: Spec,
    functions: &'static Functions,
    /// Algorithm and mode.
    names: &'static [CString; 2],
}

impl Suite for McryptSuite {
    type Cipher = Moded<Keyed>;

    #[inline]
    fn key_setup(&self, key: &[u8], _direction: Direction) -> Result<Self::Cipher, Error> {
        lengths::key(&self.spec, key)?;
        let [algorithm, mode] = self.names;
        // SAFETY: the names end in zero bytes; null folders are those of the library.
        let pointer =
            unsafe { (self.functions.mcrypt_module_open)(algorithm.as_ptr(), ptr::null(), mode.as_ptr(), ptr::null()) };
        let pointer = NonNull::new(pointer).ok_or(Error::Library { function: "mcrypt_module_open" })?;
        // The state of a mode without padding is its place in the block, then the register.
        let place_B = usize::from(!matches!(self.spec.card.mode, Mode::Ecb | Mode::Cbc));
        let mut keyed = Keyed { functions: self.functions, pointer, place_B, is_ready: false };
        let three = three_keys(key);
        let key = if self.spec.card.family == "3des2" { &three } else { key };
        let key_B = c_int::try_from(key.len()).map_err(|_| Error::Library { function: "int for a length" })?;
        // SAFETY: the module is live, the key as long as said; the IV, of at most 32 bytes, is replaced by that of the
        // first message.
        let done = unsafe {
            let block_B = (self.functions.mcrypt_enc_get_block_size)(pointer.as_ptr());
            if self.spec.block_B() > 1 && usize::try_from(block_B) != Ok(self.spec.block_B()) {
                return Err(Error::Library { function: "mcrypt_enc_get_block_size" });
            }
            let iv = [0_u8; 32];
            (self.functions.mcrypt_generic_init)(pointer.as_ptr(), key.as_ptr().cast(), key_B, iv.as_ptr().cast())
        };
        if done < 0 {
            return Err(Error::Library { function: "mcrypt_generic_init" });
        }
        keyed.is_ready = true;
        Ok(Moded::new(&self.spec, keyed))
    }
}

/// A module with its key.
struct Keyed {
    functions: &'static Functions,
    pointer: NonNull<Opaque>,
    /// Bytes of a state before the IV.
    place_B: usize,
    is_ready: bool,
}

impl Drop for Keyed {
    fn drop(&mut self) {
        // SAFETY: the module came from `mcrypt_module_open` and is ended and closed once.
        unsafe {
            if self.is_ready {
                (self.functions.mcrypt_generic_deinit)(self.pointer.as_ptr());
            }
            (self.functions.mcrypt_module_close)(self.pointer.as_ptr());
        }
    }
}

impl Handle for Keyed {
    #[inline]
    fn start(&mut self, _decrypts: bool, iv: &[u8]) -> Result<(), Error> {
        let mut state = [0; MAX_IV_B + 1];
        let state = &mut state[..self.place_B + iv.len()];
        state[self.place_B..].copy_from_slice(iv);
        let state_B = c_int::try_from(state.len()).map_err(|_| Error::Library { function: "int for a length" })?;
        let set_state = self.functions.mcrypt_enc_set_state;
        // SAFETY: the module has its key; the IV is a block, which is what a state of CBC is. In CTR, nCFB and nOFB the
        // place comes before it in a byte, as `mcrypt_enc_get_state` gives it: zero, the beginning of a block.
        let done = unsafe { set_state(self.pointer.as_ptr(), state.as_ptr().cast(), state_B) };
        if done == 0 { Ok(()) } else { Err(Error::Library { function: "mcrypt_enc_set_state" }) }
    }

    #[inline]
    fn run(&mut self, decrypts: bool, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        output.copy_from_slice(input);
        let run = if decrypts { self.functions.mdecrypt_generic } else { self.functions.mcrypt_generic };
        let length_B = c_int::try_from(output.len()).map_err(|_| Error::Library { function: "int for a length" })?;
        // SAFETY: the module has its key, the text is as long as said.
        let done = unsafe { run(self.pointer.as_ptr(), output.as_mut_ptr().cast(), length_B) };
        if done == 0 { Ok(()) } else { Err(Error::Library { function: "mcrypt_generic" }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::agreement;

    #[test]
    fn every_cipher_that_libmcrypt_has_passes_the_proof_of_its_card() {
        let ids = [
            "aes128-ecb",
            "aes256-cbc",
            "des-cbc",
            "3des-cbc",
            "3des2-ecb",
            "aes128-ctr",
            "aes192-cfb",
            "des-ofb",
            "blowfish128-cbc",
            "cast128-cbc",
            "twofish256-cbc",
            "xtea-cbc",
            "rc4-128",
            "rijndael256-256-cbc",
            "rijndael192-128-ecb",
            "rijndael256-128-ctr",
        ];
        agreement::proves_all(&Mcrypt, &ids);
    }

    #[test]
    fn libmcrypt_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
        agreement::agrees_with_what_is_built_in(&Mcrypt);
    }
}
