//! libtomcrypt's ciphers, from the library of the system.
//!
//! A mode's state is memory of the caller's, whose size the library tells. A message is one `setiv` and one call for its
//! whole blocks, one for its padded last. ECB and RC4 have no IV.

mod aead;
mod result;

use std::ffi::{CString, c_char, c_int, c_uint, c_ulong, c_void};
use std::path::PathBuf;

use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Direction, Error, Mode, Spec, Suite};
use wattlock_records::CodePath;

use self::aead::{Aead, AeadSuite};
use self::result::{OK, check};
use crate::adapter::functions::{functions, opened_once, text};
use crate::adapter::keeping::{Room, room, sample_key};
use crate::adapter::mode_adapter::{Handle, Moded};
use crate::adapter::{file, lengths};
use crate::library::Library;

/// `..._start(cipher, IV, key, length, rounds, state)`; ECB's has no IV, CTR's a mode before the state.
type Start = unsafe extern "C" fn(c_int, *const u8, *const u8, c_int, c_int, *mut c_void) -> c_int;
type StartEcb = unsafe extern "C" fn(c_int, *const u8, c_int, c_int, *mut c_void) -> c_int;
type StartCtr = unsafe extern "C" fn(c_int, *const u8, *const u8, c_int, c_int, c_int, *mut c_void) -> c_int;
type SetIv = unsafe extern "C" fn(*const u8, c_ulong, *mut c_void) -> c_int;
type Run = unsafe extern "C" fn(*const u8, *mut u8, c_ulong, *mut c_void) -> c_int;
/// `..._done(state)`.
type Done = unsafe extern "C" fn(*mut c_void) -> c_int;

functions! { of "`tomcrypt.h`, version 1.18";
    register_cipher: fn(*const c_void) -> c_int;
    crypt_get_size: fn(*const c_char, *mut c_uint) -> c_int;
    rc4_stream_setup: fn(*mut c_void, *const u8, c_ulong) -> c_int;
    rc4_stream_crypt: fn(*mut c_void, *const u8, c_ulong, *mut u8) -> c_int;
    chacha_setup: fn(*mut c_void, *const u8, c_ulong, c_int) -> c_int;
    chacha_ivctr32: fn(*mut c_void, *const u8, c_ulong, u32) -> c_int;
    chacha_crypt: fn(*mut c_void, *const u8, c_ulong, *mut u8) -> c_int;
}

/// `CTR_COUNTER_BIG_ENDIAN` of `tomcrypt_cipher.h`: the whole block is the counter.
const BIG_ENDIAN: c_int = 0x1000;

/// libtomcrypt.
struct Tomcrypt;

/// The provider of this file.
pub fn libraries() -> Vec<Box<dyn Library>> {
    vec![Box::new(Tomcrypt)]
}

impl Library for Tomcrypt {
    fn name(&self) -> &str {
        "libtomcrypt"
    }

    fn open(&self) -> Result<About, String> {
        Ok(About::of(library()?.version.clone()))
    }

    fn file(&self) -> Option<PathBuf> {
        file::holding(library().ok()?.functions.register_cipher as *const () as usize)
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let (library, path) = (library()?, path(spec.card.family));
        if spec.card.mode == Mode::Aead {
            let suite = library.aead(spec)?;
            if suite.seals_empty_messages() != Ok(true) {
                let version = &library.version;
                return Err(format!("libtomcrypt {version} gives a wrong tag for an empty message of {spec}"));
            }
            let of = suite.aead.is_keyed_anew().then(|| "one-shot".to_owned());
            return Ok(Box::new(Found { suite, path: Some(path), of }));
        }
        let suite = TomcryptSuite { spec: *spec, calls: library.calls(spec)?, functions: &library.functions };
        suite
            .key_setup(&sample_key(spec.key_B()), Direction::Encrypt)
            .map_err(|_| format!("libtomcrypt takes no key of {} bits or not these rounds", spec.key_bits))?;
        Ok(Box::new(Found::of_path(suite, Some(path))))
    }
}

struct Libtomcrypt {
    functions: Functions,
    /// Or which of them is missing.
    aead: Result<aead::Functions, String>,
    version: String,
    library: libloading::Library,
}

#[cfg(target_os = "macos")]
const FILES: &[&str] = &["libtomcrypt.1.dylib", "/opt/homebrew/lib/libtomcrypt.1.dylib"];
#[cfg(not(target_os = "macos"))]
const FILES: &[&str] = &["libtomcrypt.so.1", "libtomcrypt.so"];

/// The descriptor of AES either way.
const AES: &str = "aes_desc";

/// The version in the settings that the library was built with, which begin `LibTomCrypt 1.18.2 (www.libtom.net)`.
fn version_in(settings: &str) -> Option<&str> {
    settings.strip_prefix("LibTomCrypt ")?.split_whitespace().next()
}

/// The path that its code takes: it has one for all processors. AES in tables is `rijndael_desc`.
fn path(family: &str) -> CodePath {
    if matches!(family, "rc4" | "rc5" | "rc6" | "xtea" | "tea" | "idea" | "serpent" | "chacha20" | "chacha20-poly1305")
    {
        CodePath::Portable
    } else {
        CodePath::Tables
    }
}

opened_once!(Libtomcrypt, Libtomcrypt::open);

impl Libtomcrypt {
    fn open() -> Result<Self, String> {
        let how = "it is in the package libtomcrypt1 (Debian, Ubuntu), libtomcrypt (Fedora, Homebrew)";
        let library = file::first_of(FILES).map_err(|error| format!("libtomcrypt can't be opened ({error}); {how}"))?;
        let functions =
            Functions::of(&library).map_err(|name| format!("libtomcrypt has no {name}: it is too old; {how}"))?;
        let aead = aead::Functions::of(&library)
            .map_err(|name| format!("libtomcrypt has no {name}, so none of its ciphers with associated data is taken"));
        // SAFETY: `crypt_build_settings` of `tomcrypt_misc.h` is a pointer to a text that lives as long as the library.
        let settings = unsafe {
            library.get::<*const *const c_char>("crypt_build_settings").ok().and_then(|symbol| text(**symbol))
        };
        let version =
            settings.as_deref().and_then(version_in).unwrap_or("of a version that it does not tell").to_owned();
        Ok(Self { functions, aead, version, library })
    }

    /// Bytes of a state.
    fn size(&self, of: &str) -> Result<usize, String> {
        let name = CString::new(of).map_err(|error| error.to_string())?;
        let mut size = 0;
        // SAFETY: the name ends in a zero byte.
        let returned = unsafe { (self.functions.crypt_get_size)(name.as_ptr(), &raw mut size) };
        if returned == OK && size > 0 {
            Ok(size as usize)
        } else {
            Err(format!("libtomcrypt does not tell the size of {of}"))
        }
    }

    /// The function of this name.
    ///
    /// # Safety
    /// `F` is its type.
    unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: as the caller promises.
        let found = unsafe { self.library.get::<F>(name) };
        found.map(|symbol| *symbol).map_err(|_| format!("libtomcrypt {} has no {name}", self.version))
    }

    /// The number of a cipher, registered.
    fn cipher(&self, descriptor: &str) -> Result<c_int, String> {
        // SAFETY: a descriptor is data of the library; only its address is used here.
        let found = unsafe { self.library.get::<*const c_void>(descriptor) };
        let descriptor = *found.map_err(|_| format!("libtomcrypt {} has no {descriptor}", self.version))?;
        // SAFETY: it is the descriptor of a cipher, which lives as long as the library.
        let number = unsafe { (self.functions.register_cipher)(descriptor) };
        if number < 0 { Err("libtomcrypt's register_cipher failed".to_owned()) } else { Ok(number) }
    }

    fn aead(&'static self, spec: &Spec) -> Result<AeadSuite, String> {
        let functions = self.aead.as_ref().map_err(Clone::clone)?;
        let found = Aead::of(spec, functions, self.cipher(AES)?);
        let (aead, state) = found.ok_or_else(|| format!("libtomcrypt has no {spec}"))?;
        Ok(AeadSuite { spec: *spec, aead, state_B: self.size(state)? })
    }

    fn calls(&self, spec: &Spec) -> Result<Calls, String> {
        let family = spec.card.family;
        let descriptor = match family {
            "aes" => AES,
            "des" => "des_desc",
            "3des" | "3des2" => "des3_desc",
            "rc2" if spec.effective_bits == spec.key_bits => "rc2_desc",
            "rc2" => return Err("libtomcrypt's RC2 has as many effective bits as its key".to_owned()),
            "rc5" => "rc5_desc",
            "rc6" if spec.rounds == Some(20) => "rc6_desc",
            "rc6" => return Err("libtomcrypt's RC6 has 20 rounds only".to_owned()),
            "blowfish" => "blowfish_desc",
            "cast" => "cast5_desc",
            "camellia" => "camellia_desc",
            "twofish" => "twofish_desc",
            "xtea" => "xtea_desc",
            "serpent" => "serpent_desc",
            "idea" => "idea_desc",
            "tea" => "tea_desc",
            "rc4" => return Ok(Calls::Rc4 { state_B: self.size("rc4_state")? }),
            "chacha20" => return Ok(Calls::ChaCha { state_B: self.size("chacha_state")? }),
            _ => return Err(format!("libtomcrypt has no {spec}")),
        };
        let cipher = self.cipher(descriptor)?;
        let rounds = if family == "rc5" { spec.rounds.map_or(0, c_int::from) } else { 0 };
        let (name, state) = match spec.card.mode {
            Mode::Ecb => ("ecb", "symmetric_ECB"),
            Mode::Cbc => ("cbc", "symmetric_CBC"),
            Mode::Ctr => ("ctr", "symmetric_CTR"),
            Mode::Cfb => ("cfb", "symmetric_CFB"),
            Mode::Ofb => ("ofb", "symmetric_OFB"),
            mode => return Err(format!("libtomcrypt has no mode {mode}")),
        };
        // SAFETY: the types are those of the functions of these names in `tomcrypt_cipher.h`.
        unsafe {
            let starts = match spec.card.mode {
                Mode::Ecb => Starts::Ecb(self.function("ecb_start")?),
                Mode::Ctr => Starts::Ctr(self.function("ctr_start")?),
                _ => Starts::Chained(self.function(&format!("{name}_start"))?),
            };
            let set_iv = if name == "ecb" { None } else { Some(self.function(&format!("{name}_setiv"))?) };
            Ok(Calls::Mode {
                cipher,
                rounds,
                starts,
                set_iv,
                runs: [self.function(&format!("{name}_encrypt"))?, self.function(&format!("{name}_decrypt"))?],
                done: self.function(&format!("{name}_done"))?,
                state_B: self.size(state)?,
            })
        }
    }
}

#[derive(Clone, Copy)]
enum Starts {
    Ecb(StartEcb),
    Chained(Start),
    Ctr(StartCtr),
}

/// What a cipher of libtomcrypt is made of; the size of its state, bytes.
#[derive(Clone, Copy)]
enum Calls {
    Mode {
        cipher: c_int,
        rounds: c_int,
        starts: Starts,
        set_iv: Option<SetIv>,
        runs: [Run; 2],
        done: Done,
        state_B: usize,
    },
    Rc4 {
        state_B: usize,
    },
    ChaCha {
        state_B: usize,
    },
}

/// A cipher of the library, ready to take keys.
#[derive(Clone)]
struct TomcryptSuite {
    spec: Spec,
    functions: &'static Functions,
    calls: Calls,
}

impl Suite for TomcryptSuite {
    type Cipher = Moded<Keyed>;

    #[inline]
    fn key_setup(&self, key: &[u8], _direction: Direction) -> Result<Self::Cipher, Error> {
        lengths::key(&self.spec, key)?;
        let failed = Error::Library { function: "start" };
        let key_B = c_int::try_from(key.len()).map_err(|_| failed)?;
        let (Calls::Mode { state_B, .. } | Calls::Rc4 { state_B } | Calls::ChaCha { state_B }) = self.calls;
        let mut keyed = Keyed { functions: self.functions, calls: self.calls, state: room(state_B), is_ready: false };
        let pointer = keyed.state.as_mut_ptr().cast();
        // Replaced by that of the first message; no block is longer.
        let iv = [0; 16];
        // SAFETY: the state has the size that the library told for it; the key is as long as said.
        let done = unsafe {
            match self.calls {
                Calls::Mode { cipher, rounds, starts, .. } => match starts {
                    Starts::Ecb(start) => start(cipher, key.as_ptr(), key_B, rounds, pointer),
                    Starts::Chained(start) => start(cipher, iv.as_ptr(), key.as_ptr(), key_B, rounds, pointer),
                    Starts::Ctr(start) => start(cipher, iv.as_ptr(), key.as_ptr(), key_B, rounds, BIG_ENDIAN, pointer),
                },
                Calls::Rc4 { .. } => (self.functions.rc4_stream_setup)(pointer, key.as_ptr(), key.len() as c_ulong),
                Calls::ChaCha { .. } => (self.functions.chacha_setup)(pointer, key.as_ptr(), key.len() as c_ulong, 20),
            }
        };
        if done != OK {
            return Err(failed);
        }
        keyed.is_ready = true;
        Ok(Moded::new(&self.spec, keyed))
    }
}

/// A state with its key.
struct Keyed {
    functions: &'static Functions,
    calls: Calls,
    state: Room,
    is_ready: bool,
}

impl Drop for Keyed {
    fn drop(&mut self) {
        if let (Calls::Mode { done, .. }, true) = (self.calls, self.is_ready) {
            // SAFETY: the state was started and is ended once.
            unsafe { done(self.state.as_mut_ptr().cast()) };
        }
    }
}

impl Handle for Keyed {
    #[inline]
    fn start(&mut self, _decrypts: bool, iv: &[u8]) -> Result<(), Error> {
        let state = self.state.as_mut_ptr().cast();
        let iv_B = iv.len() as c_ulong;
        // SAFETY: the state was started, the IV is as long as said.
        match self.calls {
            // SAFETY: as above.
            Calls::Mode { set_iv: Some(set), .. } => check(unsafe { set(iv.as_ptr(), iv_B, state) }, "setiv"),
            Calls::ChaCha { .. } => {
                // SAFETY: as above.
                check(unsafe { (self.functions.chacha_ivctr32)(state, iv.as_ptr(), iv_B, 0) }, "chacha_ivctr32")
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn run(&mut self, decrypts: bool, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let state = self.state.as_mut_ptr().cast();
        let (from, to, length_B) = (input.as_ptr(), output.as_mut_ptr(), input.len() as c_ulong);
        // SAFETY: the state was started, both texts are as long as said.
        let done = unsafe {
            match self.calls {
                Calls::Mode { runs, .. } => runs[usize::from(decrypts)](from, to, length_B, state),
                Calls::Rc4 { .. } => (self.functions.rc4_stream_crypt)(state, from, length_B, to),
                Calls::ChaCha { .. } => (self.functions.chacha_crypt)(state, from, length_B, to),
            }
        };
        check(done, if decrypts { "decrypt" } else { "encrypt" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::agreement;

    #[test]
    fn every_cipher_that_libtomcrypt_has_passes_the_proof_of_its_card() {
        let ids = [
            "aes128-ecb",
            "aes256-cbc",
            "aes192-ctr",
            "aes128-cfb",
            "aes128-ofb",
            "des-cbc",
            "3des-cbc",
            "rc2-128-cbc",
            "rc4-128",
            "rc5-32-12-128-cbc",
            "rc5-32-20-128-ctr",
            "rc6-20-256-ofb",
            "blowfish128-cbc",
            "cast128-cfb",
            "camellia256-ctr",
            "twofish256-cbc",
            "xtea-cbc",
            "chacha20",
            "aes128-gcm",
            "aes128-ccm",
            "aes256-ccm8",
            "aes256-eax",
            "aes128-ocb3",
        ];
        agreement::proves_all(&Tomcrypt, &ids);
    }

    #[test]
    fn the_version_is_the_second_word_of_the_settings() {
        assert_eq!(version_in("LibTomCrypt 1.18.2 (www.libtom.net)\nLibTomCrypt is public"), Some("1.18.2"));
        assert_eq!(version_in("LibTomMath 1.2"), None);
    }

    #[test]
    fn libtomcrypt_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
        agreement::agrees_with_what_is_built_in(&Tomcrypt);
    }
}
