//! OpenSSL's libcrypto, opened at run time. Nothing of it is called from anywhere else.
//!
//! Its objects are pointers to what only it knows: no struct is declared, sizes are asked of the library. What is
//! public here is safe: lengths are checked before the library is given a pointer.

mod aead;
mod functions;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod masked;

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int, c_uchar};
use std::ptr::{self, NonNull};
use std::sync::{Mutex, PoisonError};

use libloading::Library;
use wattlock_ciphers::Error;

use self::functions::{CipherContext, CipherObject, Functions, LibraryContext};
use crate::adapter::functions::text;
use crate::adapter::{file, lengths};

/// The files that may be the library, the likeliest first. Without a version only where the system allows it: macOS
/// ends a program that asks for its own `libcrypto.dylib`.
#[cfg(target_os = "macos")]
pub const FILES: &[&str] = &[
    "libcrypto.3.dylib",
    "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib",
    "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib",
];
#[cfg(windows)]
pub const FILES: &[&str] = &["libcrypto-3-x64.dll", "libcrypto-3-arm64.dll", "libcrypto-3.dll"];
#[cfg(not(any(target_os = "macos", windows)))]
pub const FILES: &[&str] = &["libcrypto.so.3", "libcrypto.so"];

pub use aead::{Aead, AeadContext};

/// `OPENSSL_VERSION_STRING` of `openssl/crypto.h`.
const VERSION_STRING: c_int = 6;
/// `OPENSSL_INFO_CPU_SETTINGS` of `openssl/crypto.h`.
const INFO_CPU_SETTINGS: c_int = 1008;
/// `EVP_CTRL_SET_RC2_KEY_BITS` of `openssl/evp.h`.
const SET_RC2_KEY_BITS: c_int = 3;
/// To `EVP_CipherInit_ex`: the direction stays as it is.
const SAME_DIRECTION: c_int = -1;

/// The library, open until the program ends.
pub struct Libcrypto {
    functions: Functions,
    /// A context of our own: the system's `openssl.cnf` configures another one, so it can't change what is measured.
    context: NonNull<LibraryContext>,
    has_legacy: bool,
    /// Those that were fetched: a fetch is slow, and a key setup needs no more than this pointer.
    ciphers: Mutex<HashMap<String, &'static Evp>>,
    /// Keeps the functions where they are.
    _library: Library,
}

// SAFETY: the functions are code; an `OSSL_LIB_CTX` may be used by several threads (openssl-threads(7)).
unsafe impl Send for Libcrypto {}
// SAFETY: as above.
unsafe impl Sync for Libcrypto {}

impl Libcrypto {
    /// Opens the first of `names` that is there, with its default provider and, where there is one, its legacy one.
    ///
    /// # Errors
    /// That none can be opened and how to get one, or what the one that was found lacks.
    pub fn open(names: &[&str]) -> Result<Self, String> {
        let library = file::first_of(names)
            .map_err(|refusals| format!("libcrypto of OpenSSL 3 can't be opened ({refusals}); {HOW_TO_GET}"))?;
        let mut crypto = Self::of(library)?;
        crypto.has_legacy = crypto.load(c"legacy");
        Ok(crypto)
    }

    /// An open library, with its default provider.
    ///
    /// # Errors
    /// What it lacks.
    pub fn of(library: Library) -> Result<Self, String> {
        let functions = Functions::of(&library)
            .map_err(|name| format!("libcrypto has no {name}: it is not of OpenSSL 3; {HOW_TO_GET}"))?;
        // SAFETY: it takes nothing and gives null or a context that is ours.
        let context = NonNull::new(unsafe { (functions.OSSL_LIB_CTX_new)() })
            .ok_or_else(|| "libcrypto's OSSL_LIB_CTX_new failed".to_owned())?;
        let crypto = Self { functions, context, has_legacy: false, ciphers: Mutex::default(), _library: library };
        if crypto.load(c"default") { Ok(crypto) } else { Err("libcrypto can't load its default provider".to_owned()) }
    }

    fn load(&self, name: &CStr) -> bool {
        // SAFETY: the context is live, the name ends in a zero byte.
        let provider = unsafe { (self.functions.OSSL_PROVIDER_load)(self.context.as_ptr(), name.as_ptr()) };
        !provider.is_null()
    }

    /// Where one of its functions lies.
    pub fn place(&self) -> usize {
        self.functions.OpenSSL_version as *const () as usize
    }

    /// Its version, such as `3.0.19`.
    pub fn version(&self) -> String {
        // SAFETY: it takes any number and gives null or a text that lives as long as the library.
        unsafe { text((self.functions.OpenSSL_version)(VERSION_STRING)) }.unwrap_or_default()
    }

    /// What it found of the processor, environment included, such as `OPENSSL_ia32cap=0xfffa3203078bffff:0x405f`.
    pub fn cpu_settings(&self) -> String {
        // SAFETY: as of `version`.
        unsafe { text((self.functions.OPENSSL_info)(INFO_CPU_SETTINGS)) }.unwrap_or_default()
    }

    /// The cipher of OpenSSL's name `name`, kept until the program ends.
    ///
    /// # Errors
    /// That there is none, and why.
    pub fn fetch(&'static self, name: &str) -> Result<&'static Evp, String> {
        let mut ciphers = self.ciphers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evp) = ciphers.get(name) {
            return Ok(evp);
        }
        let evp: &'static Evp = Box::leak(Box::new(self.fetch_anew(name)?));
        ciphers.insert(name.to_owned(), evp);
        Ok(evp)
    }

    fn fetch_anew(&'static self, name: &str) -> Result<Evp, String> {
        let in_c = CString::new(name).map_err(|_| format!("{name:?} is no name"))?;
        // SAFETY: the context is live, the name ends in a zero byte, no property query is asked for.
        let object = unsafe { (self.functions.EVP_CIPHER_fetch)(self.context.as_ptr(), in_c.as_ptr(), ptr::null()) };
        let object = NonNull::new(object).ok_or_else(|| {
            let version = self.version();
            if self.has_legacy {
                format!("OpenSSL {version} was built without {name}")
            } else {
                format!("OpenSSL {version} has no {name}: its legacy provider can't be loaded; {HOW_TO_GET_LEGACY}")
            }
        })?;
        let size = |ask: unsafe extern "C" fn(*const CipherObject) -> c_int| {
            // SAFETY: the object is live; the function reads it.
            usize::try_from(unsafe { ask(object.as_ptr()) }).unwrap_or(0)
        };
        let block_B = size(self.functions.EVP_CIPHER_get_block_size).max(1);
        let iv_B = size(self.functions.EVP_CIPHER_get_iv_length);
        let key_B = size(self.functions.EVP_CIPHER_get_key_length);
        Ok(Evp { library: self, object, block_B, iv_B, key_B })
    }
}

const HOW_TO_GET: &str =
    "it is in the package libssl3 or libssl3t64 (Debian, Ubuntu), openssl-libs (Fedora), openssl@3 (Homebrew)";
const HOW_TO_GET_LEGACY: &str =
    "it is in the package libssl3 or openssl-provider-legacy (Debian, Ubuntu), openssl-libs (Fedora)";

/// One of the library's ciphers; sizes are as it tells them, 1 the block of a stream.
pub struct Evp {
    library: &'static Libcrypto,
    object: NonNull<CipherObject>,
    block_B: usize,
    iv_B: usize,
    /// Length of the key where none is set.
    key_B: usize,
}

// SAFETY: an `EVP_CIPHER` that was fetched does not change and may be used by several threads (openssl-threads(7)).
unsafe impl Send for Evp {}
// SAFETY: as above.
unsafe impl Sync for Evp {}

impl Evp {
    /// Bytes of a block and of the IV.
    pub fn sizes(&self) -> (usize, usize) {
        (self.block_B, self.iv_B)
    }

    /// Name of the provider behind it: `default` or `legacy`.
    pub fn provider(&self) -> String {
        let functions = &self.library.functions;
        // SAFETY: the object is live, and its provider and that one's name live as long.
        let name = unsafe {
            let provider = (functions.EVP_CIPHER_get0_provider)(self.object.as_ptr());
            if provider.is_null() { None } else { text((functions.OSSL_PROVIDER_get0_name)(provider)) }
        };
        name.unwrap_or_default()
    }

    /// A context with this key, for one direction.
    ///
    /// * `effective_bits`: of RC2, where they are not the library's default of 128.
    ///
    /// # Errors
    /// [`Error::Library`].
    pub fn context(&'static self, key: &[u8], effective_bits: Option<u16>, decrypts: bool) -> Result<Context, Error> {
        let mut raw = Raw::new(&self.library.functions)?;
        let direction = c_int::from(!decrypts);
        let mut cipher = self.object.as_ptr().cast_const();
        if key.len() != self.key_B || effective_bits.is_some() {
            // SAFETY: the cipher is live.
            unsafe { raw.init(cipher, ptr::null(), ptr::null(), direction) }?;
            cipher = ptr::null();
            let key_B = length(key)?;
            // SAFETY: the context is live and has its cipher.
            let done = unsafe { (raw.functions.EVP_CIPHER_CTX_set_key_length)(raw.pointer.as_ptr(), key_B) };
            check(done, "EVP_CIPHER_CTX_set_key_length")?;
            if let Some(bits) = effective_bits {
                // SAFETY: this control takes no pointer.
                unsafe { raw.control(SET_RC2_KEY_BITS, bits.into(), ptr::null_mut()) }?;
            }
        }
        // SAFETY: the cipher is null or live; the key is as long as the library takes it to be: by its default, or
        // because it took that length just now.
        unsafe { raw.init(cipher, key.as_ptr(), ptr::null(), direction) }?;
        Ok(Context { evp: self, raw, pads: true, decrypts })
    }
}

/// A context of the library, freed with it.
struct Raw {
    functions: &'static Functions,
    pointer: NonNull<CipherContext>,
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: the context came from `EVP_CIPHER_CTX_new` and is freed once.
        unsafe { (self.functions.EVP_CIPHER_CTX_free)(self.pointer.as_ptr()) }
    }
}

impl Raw {
    #[inline]
    fn new(functions: &'static Functions) -> Result<Self, Error> {
        // SAFETY: it takes nothing and gives null or a context that is ours.
        let pointer = unsafe { (functions.EVP_CIPHER_CTX_new)() };
        Ok(Self { functions, pointer: NonNull::new(pointer).ok_or(failed("EVP_CIPHER_CTX_new"))? })
    }

    /// Sets what is not null.
    ///
    /// # Safety
    /// The cipher is null or live; the key and the IV are null or as long as the context takes them to be.
    #[inline]
    unsafe fn init(
        &mut self,
        cipher: *const CipherObject,
        key: *const c_uchar,
        iv: *const c_uchar,
        direction: c_int,
    ) -> Result<(), Error> {
        let init = self.functions.EVP_CipherInit_ex;
        // SAFETY: the context is live, the rest is as the caller promises.
        let done = unsafe { init(self.pointer.as_ptr(), cipher, ptr::null_mut(), key, iv, direction) };
        check(done, "EVP_CipherInit_ex")
    }

    /// # Safety
    /// `pointer` is what this control of the library reads or writes: `argument` bytes, or null.
    #[inline]
    unsafe fn control(&mut self, control: c_int, argument: c_int, pointer: *mut c_uchar) -> Result<(), Error> {
        // SAFETY: the context is live, the rest is as the caller promises.
        let done = unsafe { (self.functions.EVP_CIPHER_CTX_ctrl)(self.pointer.as_ptr(), control, argument, pointer) };
        check(done, "EVP_CIPHER_CTX_ctrl")
    }

    /// # Safety
    /// `output` has room for what the input becomes, or is null where it is associated data.
    #[inline]
    unsafe fn update(&mut self, input: &[u8], output: *mut c_uchar) -> Result<usize, Error> {
        let mut written = 0;
        let update = self.functions.EVP_CipherUpdate;
        // SAFETY: the context is live, the input is as long as said, the output as the caller promises.
        let done = unsafe { update(self.pointer.as_ptr(), output, &raw mut written, input.as_ptr(), length(input)?) };
        check(done, "EVP_CipherUpdate")?;
        usize::try_from(written).map_err(|_| failed("EVP_CipherUpdate"))
    }

    /// # Safety
    /// `output` has room for the rest of the message.
    #[inline]
    unsafe fn finish(&mut self, output: *mut c_uchar) -> Result<usize, Error> {
        let mut written = 0;
        let finish = self.functions.EVP_CipherFinal_ex;
        // SAFETY: the context is live, the output as the caller promises.
        check(unsafe { finish(self.pointer.as_ptr(), output, &raw mut written) }, "EVP_CipherFinal_ex")?;
        usize::try_from(written).map_err(|_| failed("EVP_CipherFinal_ex"))
    }
}

/// A cipher with its key and a direction.
pub struct Context {
    evp: &'static Evp,
    raw: Raw,
    pads: bool,
    decrypts: bool,
}

impl Context {
    /// One whole message from `iv` on, with PKCS#7 padding where there are blocks; gives the bytes written.
    ///
    /// # Errors
    /// As of [`wattlock_ciphers::Cipher`].
    #[inline(always)]
    pub fn message(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let block_B = self.evp.block_B;
        let needed_B = match (block_B, self.decrypts) {
            (1, _) => input.len(),
            (_, true) => self.whole_blocks(input)?,
            (_, false) => lengths::padded_B(block_B, input.len()),
        };
        has_room(output, needed_B)?;
        self.pad(true)?;
        self.start(iv)?;
        // SAFETY: a fresh message holds nothing back from before, so all of it together, `finish` included, is no
        // longer than `needed_B`: encrypted the whole blocks and then one of padding, decrypted all but the last
        // block and then what of that one is no padding.
        let written_B = unsafe { self.raw.update(input, output.as_mut_ptr()) }?;
        let end = output.get_mut(written_B..).ok_or(failed("EVP_CipherUpdate"))?;
        // SAFETY: as above.
        let last_B = unsafe { self.raw.finish(end.as_mut_ptr()) };
        last_B.map(|last_B| written_B + last_B).map_err(|error| if self.decrypts { Error::BadPadding } else { error })
    }

    /// A part of a message from `iv` on: whole blocks, or any length of a stream, without padding.
    ///
    /// # Errors
    /// As of [`wattlock_ciphers::Cipher`].
    #[inline]
    pub fn part(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        has_room(output, self.whole_blocks(input)?)?;
        self.pad(false)?;
        self.start(iv)?;
        // SAFETY: whole blocks without padding are as long afterwards, and the output has room for them.
        unsafe { self.raw.update(input, output.as_mut_ptr()) }.map(|_| ())
    }

    /// Goes on with a stream where it stands.
    ///
    /// # Errors
    /// As of [`wattlock_ciphers::Cipher`].
    #[inline]
    pub fn go_on(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.iv_fits(iv)?;
        if self.evp.block_B != 1 {
            return Err(failed("EVP_CipherUpdate"));
        }
        has_room(output, input.len())?;
        // SAFETY: a stream is as long afterwards, and the output has room for it.
        unsafe { self.raw.update(input, output.as_mut_ptr()) }.map(|_| ())
    }

    #[inline]
    fn whole_blocks(&self, input: &[u8]) -> Result<usize, Error> {
        let (given_B, block_B) = (input.len(), self.evp.block_B);
        if given_B.is_multiple_of(block_B) { Ok(given_B) } else { Err(Error::NotWholeBlocks { given_B, block_B }) }
    }

    #[inline]
    fn iv_fits(&self, iv: &[u8]) -> Result<(), Error> {
        let (given_B, right_B) = (iv.len(), self.evp.iv_B);
        if given_B == right_B { Ok(()) } else { Err(Error::WrongIvLength { given_B, right_B }) }
    }

    #[inline]
    fn pad(&mut self, pads: bool) -> Result<(), Error> {
        if self.pads != pads {
            let set = self.evp.library.functions.EVP_CIPHER_CTX_set_padding;
            // SAFETY: the context is live and has its cipher.
            check(unsafe { set(self.raw.pointer.as_ptr(), c_int::from(pads)) }, "EVP_CIPHER_CTX_set_padding")?;
            self.pads = pads;
        }
        Ok(())
    }

    #[inline(always)]
    fn start(&mut self, iv: &[u8]) -> Result<(), Error> {
        self.iv_fits(iv)?;
        let iv = if iv.is_empty() { ptr::null() } else { iv.as_ptr() };
        // SAFETY: the IV is null or, as was just seen, as long as this cipher reads.
        unsafe { self.raw.init(ptr::null(), ptr::null(), iv, SAME_DIRECTION) }
    }
}

fn failed(function: &'static str) -> Error {
    Error::Library { function }
}

#[inline]
fn check(done: c_int, function: &'static str) -> Result<(), Error> {
    if done == 1 { Ok(()) } else { Err(failed(function)) }
}

#[inline]
fn has_room(output: &[u8], needed_B: usize) -> Result<(), Error> {
    let given_B = output.len();
    if given_B >= needed_B { Ok(()) } else { Err(Error::OutputTooSmall { given_B, needed_B }) }
}

/// The library counts bytes in an `int`.
#[inline]
fn length(bytes: &[u8]) -> Result<c_int, Error> {
    c_int::try_from(bytes.len()).map_err(|_| failed("int for a length"))
}
