//! libgcrypt's ciphers, from the library of the system.
//!
//! A message is one `setiv` or `setctr`, then one call for its whole blocks and one for its padded last. A key setup is a
//! new handle with its key.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};
use std::path::PathBuf;
use std::ptr::{self, NonNull};

use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Cipher as _, Direction, Error, Mode, Spec, Suite};
use wattlock_records::CodePath;

use crate::adapter::functions::{functions, opened_once, text};
use crate::adapter::keeping::{sample_key, three_keys};
use crate::adapter::mode_adapter::{Handle, Moded};
use crate::adapter::{file, lengths};
use crate::library::Library;

/// What `gcry_cipher_hd_t` points to.
pub enum Opaque {}

functions! { of "`gcrypt.h`, version 1.8 and newer";
    gcry_check_version: fn(*const c_char) -> *const c_char;
    gcry_get_config: fn(c_int, *const c_char) -> *mut c_char;
    gcry_free: fn(*mut c_void);
    gcry_cipher_open: fn(*mut *mut Opaque, c_int, c_int, c_uint) -> c_uint;
    gcry_cipher_close: fn(*mut Opaque);
    gcry_cipher_ctl: fn(*mut Opaque, c_int, *mut c_void, usize) -> c_uint;
    gcry_cipher_setkey: fn(*mut Opaque, *const c_uchar, usize) -> c_uint;
    gcry_cipher_setiv: fn(*mut Opaque, *const c_uchar, usize) -> c_uint;
    gcry_cipher_setctr: fn(*mut Opaque, *const c_uchar, usize) -> c_uint;
    gcry_cipher_encrypt: fn(*mut Opaque, *mut c_uchar, usize, *const c_uchar, usize) -> c_uint;
    gcry_cipher_decrypt: fn(*mut Opaque, *mut c_uchar, usize, *const c_uchar, usize) -> c_uint;
    gcry_cipher_authenticate: fn(*mut Opaque, *const c_uchar, usize) -> c_uint;
    gcry_cipher_gettag: fn(*mut Opaque, *mut c_uchar, usize) -> c_uint;
    gcry_cipher_checktag: fn(*mut Opaque, *const c_uchar, usize) -> c_uint;
}

// Numbers of `gcrypt.h`.
const DISABLE_SECMEM: c_int = 37;
const INITIALIZATION_FINISHED: c_int = 38;
const RESET: c_int = 4;
const FINALIZE: c_int = 5;
const SET_CCM_LENGTHS: c_int = 69;
const SET_DECRYPTION_TAG: c_int = 80;
/// Of 1.10 and newer; an older one refuses the command and weak keys.
const SET_ALLOW_WEAK_KEY: c_int = 79;
const CTR: c_int = 6;
const CCM: c_int = 8;
const OCB: c_int = 11;
const EAX: c_int = 14;
const GCM_SIV: c_int = 16;
/// `GPG_ERR_CHECKSUM` of `gpg-error.h`, in the low half of an error.
const CHECKSUM: c_uint = 10;
/// `GPG_ERR_WEAK_KEY`.
const WEAK_KEY: c_uint = 43;

/// libgcrypt.
struct Gcrypt;

/// The provider of this file.
pub fn libraries() -> Vec<Box<dyn Library>> {
    vec![Box::new(Gcrypt)]
}

impl Library for Gcrypt {
    fn name(&self) -> &str {
        "libgcrypt"
    }

    fn open(&self) -> Result<About, String> {
        Ok(About::of(library()?.version.clone()))
    }

    fn file(&self) -> Option<PathBuf> {
        file::holding(library().ok()?.functions.gcry_cipher_open as *const () as usize)
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let library = library()?;
        let (algorithm, mode) = numbers(spec)?;
        let suite = GcryptSuite { spec: *spec, functions: &library.functions, algorithm, mode };
        let lacks = |_| format!("libgcrypt {} has no such cipher, mode, key or nonce", library.version);
        let mut cipher = suite.key_setup(&sample_key(spec.key_B()), Direction::Encrypt).map_err(lacks)?;
        if spec.card.mode == Mode::Aead {
            cipher.seal(&vec![0; spec.iv_B()], &[], &[0; 16], &mut [0; 32]).map_err(lacks)?;
        }
        Ok(Box::new(Found::of_path(suite, library.path(spec))))
    }
}

struct Libgcrypt {
    functions: Functions,
    version: String,
    /// What it found of the processor, such as `intel-aesni`.
    features: String,
    /// Keeps the functions where they are.
    _library: libloading::Library,
}

#[cfg(target_os = "macos")]
const FILES: &[&str] = &["libgcrypt.20.dylib", "/opt/homebrew/lib/libgcrypt.20.dylib"];
#[cfg(not(target_os = "macos"))]
const FILES: &[&str] = &["libgcrypt.so.20", "libgcrypt.so"];

opened_once!(Libgcrypt, Libgcrypt::open);

impl Libgcrypt {
    fn open() -> Result<Self, String> {
        let how = "it is in the package libgcrypt20 (Debian, Ubuntu), libgcrypt (Fedora, Homebrew)";
        let library = file::first_of(FILES).map_err(|error| format!("libgcrypt can't be opened ({error}); {how}"))?;
        let functions =
            Functions::of(&library).map_err(|name| format!("libgcrypt has no {name}: it is too old; {how}"))?;
        // SAFETY: the type is that of `gcry_control` in `gcrypt.h`; both commands take one integer that is not read.
        // No other thread uses the library yet, and its own pool of locked memory is not needed for keys that protect
        // nothing.
        let version = unsafe {
            let control = library
                .get::<unsafe extern "C" fn(c_int, ...) -> c_uint>("gcry_control")
                .map_err(|_| format!("libgcrypt has no gcry_control; {how}"))?;
            let version = text((functions.gcry_check_version)(ptr::null())).unwrap_or_default();
            control(DISABLE_SECMEM, 0 as c_int);
            control(INITIALIZATION_FINISHED, 0 as c_int);
            version
        };
        // SAFETY: the name ends in a zero byte; it gives null or a text that is ours to free.
        let features = unsafe {
            let settings = (functions.gcry_get_config)(0, c"hwflist".as_ptr());
            let features = text(settings).unwrap_or_default();
            (functions.gcry_free)(settings.cast());
            features
        };
        Ok(Self { functions, version, features, _library: library })
    }

    /// For AES by the features that it found; of other ciphers it does not tell.
    fn path(&self, spec: &Spec) -> Option<CodePath> {
        let has = |feature: &str| self.features.contains(feature);
        spec.card.family.starts_with("aes").then(|| match () {
            () if has("vaes") => CodePath::Vaes256,
            () if has("aesni") => CodePath::Aesni,
            () if has("arm-aes") => CodePath::Armv8,
            () if has("ssse3") => CodePath::Ssse3,
            () => CodePath::Tables,
        })
    }
}

/// `GCRY_CIPHER_...` and `GCRY_CIPHER_MODE_...` of a cipher.
fn numbers(spec: &Spec) -> Result<(c_int, c_int), String> {
    let bits = spec.key_bits;
    let lacks = || format!("libgcrypt has no {spec}");
    let family = spec.card.family;
    let by_bits = |least: c_int| match bits {
        128 => least,
        192 => least + 1,
        _ => least + 2,
    };
    let algorithm = match family {
        "idea" => 1,
        "3des" | "3des2" => 2,
        "cast" => 3,
        "blowfish" => 4,
        _ if family.starts_with("aes") => by_bits(7),
        "twofish" if bits == 128 => 303,
        "twofish" if bits == 256 => 10,
        "rc4" => 301,
        "des" => 302,
        "serpent" => by_bits(304),
        "rc2" if (bits, spec.effective_bits) == (40, 40) => 307,
        "rc2" if (bits, spec.effective_bits) == (128, 128) => 308,
        "camellia" => by_bits(310),
        "salsa20" => 313,
        "chacha20" | "chacha20-poly1305" => 316,
        "sm4" => 318,
        _ => return Err(lacks()),
    };
    let mode = match (spec.card.mode, family) {
        (Mode::Ecb, _) => 1,
        (Mode::Cfb, _) => 2,
        (Mode::Cbc, _) => 3,
        (Mode::Stream, _) => 4,
        (Mode::Ofb, _) => 5,
        (Mode::Ctr, _) => 6,
        (Mode::Aead, "aes-ccm" | "aes-ccm8") => CCM,
        (Mode::Aead, "aes-gcm") => 9,
        (Mode::Aead, "chacha20-poly1305") => 10,
        (Mode::Aead, "aes-ocb3") => OCB,
        (Mode::Aead, "aes-eax") => EAX,
        (Mode::Aead, "aes-gcm-siv") => GCM_SIV,
        _ => return Err(lacks()),
    };
    Ok((algorithm, mode))
}

/// A cipher of the library, ready to take keys.
#[derive(Clone)]
struct GcryptSuite {
    spec: Spec,
    functions: &'static Functions,
    algorithm: c_int,
    mode: c_int,
}

impl Suite for GcryptSuite {
    type Cipher = Moded<Keyed>;

    #[inline]
    fn key_setup(&self, key: &[u8], _direction: Direction) -> Result<Self::Cipher, Error> {
        lengths::key(&self.spec, key)?;
        let mut pointer = ptr::null_mut();
        // SAFETY: it writes a handle that is ours, or gives an error.
        let done = unsafe { (self.functions.gcry_cipher_open)(&raw mut pointer, self.algorithm, self.mode, 0) };
        check(done, "gcry_cipher_open")?;
        let pointer = NonNull::new(pointer).ok_or(Error::Library { function: "gcry_cipher_open" })?;
        let Functions { gcry_cipher_setctr, gcry_cipher_setiv, .. } = *self.functions;
        let set_iv = if self.mode == CTR { gcry_cipher_setctr } else { gcry_cipher_setiv };
        let mut keyed = Keyed { functions: self.functions, mode: self.mode, set_iv, pointer };
        if self.spec.card.family.contains("des") {
            // DES's weak keys are among its published vectors; without this they are refused.
            let _ = keyed.control(SET_ALLOW_WEAK_KEY, ptr::null_mut(), 1);
        }
        let three = three_keys(key);
        let key = if self.spec.card.family == "3des2" { &three } else { key };
        // SAFETY: the handle is live and the key as long as said.
        let done = unsafe { (self.functions.gcry_cipher_setkey)(pointer.as_ptr(), key.as_ptr(), key.len()) };
        // Told, but the key is set all the same where weak ones were allowed.
        if done & 0xffff != WEAK_KEY {
            check(done, "gcry_cipher_setkey")?;
        }
        Ok(Moded::new(&self.spec, keyed))
    }
}

#[inline(always)]
fn check(error: c_uint, function: &'static str) -> Result<(), Error> {
    if error == 0 { Ok(()) } else { Err(Error::Library { function }) }
}

/// `gcry_cipher_setiv` and `gcry_cipher_setctr`.
type SetIv = unsafe extern "C" fn(*mut Opaque, *const c_uchar, usize) -> c_uint;

/// A handle with its key.
struct Keyed {
    functions: &'static Functions,
    mode: c_int,
    set_iv: SetIv,
    pointer: NonNull<Opaque>,
}

impl Drop for Keyed {
    fn drop(&mut self) {
        // SAFETY: the handle came from `gcry_cipher_open` and is closed once.
        unsafe { (self.functions.gcry_cipher_close)(self.pointer.as_ptr()) }
    }
}

impl Keyed {
    #[inline]
    fn control(&mut self, command: c_int, given: *mut c_void, given_B: usize) -> Result<(), Error> {
        // SAFETY: the handle is live; what is given is as long as said, or null for a command that takes nothing.
        check(
            unsafe { (self.functions.gcry_cipher_ctl)(self.pointer.as_ptr(), command, given, given_B) },
            "gcry_cipher_ctl",
        )
    }

    /// Nonce, lengths where the mode wants them first, associated data.
    #[inline]
    fn begin(&mut self, nonce: &[u8], aad: &[u8], text_B: usize, tag_B: usize) -> Result<(), Error> {
        if matches!(self.mode, EAX | GCM_SIV) {
            // GCM-SIV takes no second nonce otherwise, EAX authenticates what was left of the message before.
            self.control(RESET, ptr::null_mut(), 0)?;
        }
        self.start(false, nonce)?;
        if self.mode == CCM {
            let mut lengths = [text_B as u64, aad.len() as u64, tag_B as u64];
            self.control(SET_CCM_LENGTHS, lengths.as_mut_ptr().cast(), size_of_val(&lengths))?;
        }
        // SAFETY: the handle is live, the data as long as said.
        let done = unsafe { (self.functions.gcry_cipher_authenticate)(self.pointer.as_ptr(), aad.as_ptr(), aad.len()) };
        check(done, "gcry_cipher_authenticate")
    }

    #[inline(always)]
    fn text(&mut self, decrypts: bool, input: &[u8], output: &mut [u8]) -> c_uint {
        let run = if decrypts { self.functions.gcry_cipher_decrypt } else { self.functions.gcry_cipher_encrypt };
        // SAFETY: the handle is live; both are as long as said.
        unsafe { run(self.pointer.as_ptr(), output.as_mut_ptr(), output.len(), input.as_ptr(), input.len()) }
    }
}

impl Handle for Keyed {
    #[inline(always)]
    fn start(&mut self, _decrypts: bool, iv: &[u8]) -> Result<(), Error> {
        // SAFETY: the handle is live and the IV as long as said.
        check(unsafe { (self.set_iv)(self.pointer.as_ptr(), iv.as_ptr(), iv.len()) }, "gcry_cipher_setiv or _setctr")
    }

    #[inline(always)]
    fn run(&mut self, decrypts: bool, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        check(self.text(decrypts, input, output), if decrypts { "gcry_cipher_decrypt" } else { "gcry_cipher_encrypt" })
    }

    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        self.begin(nonce, aad, input.len(), tag.len())?;
        if self.mode == OCB {
            self.control(FINALIZE, ptr::null_mut(), 0)?;
        }
        self.run(false, input, output)?;
        // SAFETY: the handle is live, the tag as long as said.
        let done = unsafe { (self.functions.gcry_cipher_gettag)(self.pointer.as_ptr(), tag.as_mut_ptr(), tag.len()) };
        check(done, "gcry_cipher_gettag")
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8], tag: &[u8]) -> Result<(), Error> {
        self.begin(nonce, aad, input.len(), tag.len())?;
        if self.mode == OCB {
            self.control(FINALIZE, ptr::null_mut(), 0)?;
        }
        if self.mode == GCM_SIV {
            self.control(SET_DECRYPTION_TAG, tag.as_ptr().cast_mut().cast(), tag.len())?;
        }
        // GCM-SIV tells a wrong tag here already.
        forged(self.text(true, input, output), "gcry_cipher_decrypt")?;
        // SAFETY: the handle is live, the tag as long as said.
        let done = unsafe { (self.functions.gcry_cipher_checktag)(self.pointer.as_ptr(), tag.as_ptr(), tag.len()) };
        forged(done, "gcry_cipher_checktag")
    }
}

#[inline]
fn forged(error: c_uint, function: &'static str) -> Result<(), Error> {
    if error & 0xffff == CHECKSUM { Err(Error::Forged) } else { check(error, function) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::agreement;

    #[test]
    fn every_cipher_that_libgcrypt_has_passes_the_proof_of_its_card() {
        let ids = [
            "aes128-ecb",
            "aes256-cbc",
            "aes192-ctr",
            "aes128-cfb",
            "aes128-ofb",
            "des-cbc",
            "3des-cbc",
            "3des2-ctr",
            "rc2-128-cbc",
            "rc4-128",
            "blowfish128-cbc",
            "cast128-cfb",
            "idea-cbc",
            "camellia256-ctr",
            "twofish256-ofb",
            "serpent192-cbc",
            "sm4-ctr",
            "chacha20",
            "salsa20",
            "aes128-gcm",
            "aes128-ccm",
            "aes256-ccm8",
            "aes128-ocb3",
            "aes128-eax",
            "chacha20-poly1305",
        ];
        agreement::proves_all(&Gcrypt, &ids);
    }

    #[test]
    fn libgcrypt_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
        agreement::agrees_with_what_is_built_in(&Gcrypt);
    }
}
