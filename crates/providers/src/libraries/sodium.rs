//! libsodium's ciphers, opened at run time.
//!
//! They have no contexts: a call takes the key, and a key setup is no more than a copy of it; only AES-256-GCM makes a
//! schedule. Lengths are checked before the library is given a pointer: beyond its limits it would end the program.

use std::ffi::{c_char, c_int, c_uchar, c_ulonglong};
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::ptr;

use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Direction, Error, Spec, Suite};
use wattlock_records::CodePath;

use crate::adapter::functions::{functions, opened_once, text};
use crate::adapter::whole::{Messages, Whole};
use crate::adapter::{file, lengths};
use crate::library::Library;

/// `c`, `m`, `mlen`, `n`, `k`: output, input and its length, nonce, key.
type Xor = unsafe extern "C" fn(*mut c_uchar, *const c_uchar, c_ulonglong, *const c_uchar, *const c_uchar) -> c_int;
/// `c`, `clen_p`, `m`, `mlen`, `ad`, `adlen`, `nsec`, `npub`, and the key or what was made of it.
type Seal = unsafe extern "C" fn(
    *mut c_uchar,
    *mut c_ulonglong,
    *const c_uchar,
    c_ulonglong,
    *const c_uchar,
    c_ulonglong,
    *const c_uchar,
    *const c_uchar,
    *const c_uchar,
) -> c_int;
/// `m`, `mlen_p`, `nsec`, `c`, `clen`, `ad`, `adlen`, `npub`, and the key or what was made of it.
type Open = unsafe extern "C" fn(
    *mut c_uchar,
    *mut c_ulonglong,
    *mut c_uchar,
    *const c_uchar,
    c_ulonglong,
    *const c_uchar,
    c_ulonglong,
    *const c_uchar,
    *const c_uchar,
) -> c_int;

functions! { of "libsodium 1's `sodium.h`";
    sodium_init: fn() -> c_int;
    sodium_version_string: fn() -> *const c_char;
    sodium_runtime_has_ssse3: fn() -> c_int;
    sodium_runtime_has_avx2: fn() -> c_int;
    crypto_stream_chacha20_ietf_xor:
        fn(*mut c_uchar, *const c_uchar, c_ulonglong, *const c_uchar, *const c_uchar) -> c_int;
    crypto_stream_salsa20_xor: fn(*mut c_uchar, *const c_uchar, c_ulonglong, *const c_uchar, *const c_uchar) -> c_int;
    crypto_aead_chacha20poly1305_ietf_encrypt: fn(*mut c_uchar, *mut c_ulonglong, *const c_uchar, c_ulonglong,
        *const c_uchar, c_ulonglong, *const c_uchar, *const c_uchar, *const c_uchar) -> c_int;
    crypto_aead_chacha20poly1305_ietf_decrypt: fn(*mut c_uchar, *mut c_ulonglong, *mut c_uchar, *const c_uchar,
        c_ulonglong, *const c_uchar, c_ulonglong, *const c_uchar, *const c_uchar) -> c_int;
    crypto_aead_xchacha20poly1305_ietf_encrypt: fn(*mut c_uchar, *mut c_ulonglong, *const c_uchar, c_ulonglong,
        *const c_uchar, c_ulonglong, *const c_uchar, *const c_uchar, *const c_uchar) -> c_int;
    crypto_aead_xchacha20poly1305_ietf_decrypt: fn(*mut c_uchar, *mut c_ulonglong, *mut c_uchar, *const c_uchar,
        c_ulonglong, *const c_uchar, c_ulonglong, *const c_uchar, *const c_uchar) -> c_int;
    crypto_aead_aes256gcm_is_available: fn() -> c_int;
    crypto_aead_aes256gcm_statebytes: fn() -> usize;
    crypto_aead_aes256gcm_beforenm: fn(*mut c_uchar, *const c_uchar) -> c_int;
    crypto_aead_aes256gcm_encrypt_afternm: fn(*mut c_uchar, *mut c_ulonglong, *const c_uchar, c_ulonglong,
        *const c_uchar, c_ulonglong, *const c_uchar, *const c_uchar, *const c_uchar) -> c_int;
    crypto_aead_aes256gcm_decrypt_afternm: fn(*mut c_uchar, *mut c_ulonglong, *mut c_uchar, *const c_uchar,
        c_ulonglong, *const c_uchar, c_ulonglong, *const c_uchar, *const c_uchar) -> c_int;
}

/// Every key here.
const KEY_BITS: u16 = 256;
const KEY_B: usize = KEY_BITS as usize / 8;
/// Bytes of what AES-256-GCM makes of a key.
const SCHEDULE_B: usize = 512;
/// The longest message with a counter of 32 bits over blocks of 64 bytes, its first block being the authenticator's.
const MOST_CHACHA20_B: u64 = 64 * ((1 << 32) - 1);
/// The longest message of GCM (NIST SP 800-38D, 5.2.1.1).
const MOST_GCM_B: u64 = 16 * ((1 << 32) - 2);

/// libsodium.
struct Sodium;

/// The provider of this file.
pub fn libraries() -> Vec<Box<dyn Library>> {
    vec![Box::new(Sodium)]
}

struct Libsodium {
    functions: Functions,
    /// Keeps the functions where they are.
    _library: libloading::Library,
}

const FILES: &[&str] = &[
    "libsodium.so.26",
    "libsodium.so.23",
    "libsodium.so",
    "libsodium.dylib",
    "/opt/homebrew/lib/libsodium.dylib",
    "libsodium.dll",
];

opened_once!(Libsodium, open);

fn open() -> Result<Libsodium, String> {
    let how = "it is in the package libsodium23 (Debian, Ubuntu), libsodium (Fedora, Homebrew)";
    let library = file::first_of(FILES).map_err(|refusals| {
        let first = refusals.split("; ").next().unwrap_or_default();
        format!("libsodium can't be opened ({first}, and others); {how}")
    })?;
    let functions =
        Functions::of(&library).map_err(|name| format!("libsodium has no {name}: it is older than 1.0.12; {how}"))?;
    // SAFETY: it takes nothing, may be called again, and is called before anything else of the library.
    if unsafe { (functions.sodium_init)() } < 0 {
        return Err("libsodium's sodium_init failed".to_owned());
    }
    Ok(Libsodium { functions, _library: library })
}

impl Library for Sodium {
    fn name(&self) -> &str {
        "libsodium"
    }

    fn open(&self) -> Result<About, String> {
        // SAFETY: it takes nothing and gives a text that lives as long as the library.
        let version = unsafe { text((library()?.functions.sodium_version_string)()) };
        Ok(About::of(version.unwrap_or_default()))
    }

    fn file(&self) -> Option<PathBuf> {
        Some(library().ok()?.functions.sodium_init as *const () as usize).and_then(file::holding)
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let functions = &library()?.functions;
        let stream = |xor, most_B| StreamSuite { spec: *spec, xor, most_B };
        let aead = |seal, open, most_B| AeadSuite { spec: *spec, seal, open, most_B };
        // SAFETY: they take nothing.
        let path = unsafe {
            match ((functions.sodium_runtime_has_avx2)(), (functions.sodium_runtime_has_ssse3)()) {
                (1, _) => CodePath::Avx2,
                (_, 1) => CodePath::Ssse3,
                _ => CodePath::Portable,
            }
        };
        let path = Some(path);
        Ok(match spec.card.family {
            "chacha20" => {
                let suite = stream(functions.crypto_stream_chacha20_ietf_xor, MOST_CHACHA20_B);
                Box::new(Found::of_path(suite, path))
            }
            "salsa20" => {
                // Its vector code is for SSE2 and for AVX2.
                let path = path.filter(|path| *path == CodePath::Avx2);
                Box::new(Found::of_path(stream(functions.crypto_stream_salsa20_xor, u64::MAX), path))
            }
            "chacha20-poly1305" => {
                let Functions { crypto_aead_chacha20poly1305_ietf_encrypt: seal, .. } = *functions;
                let open = functions.crypto_aead_chacha20poly1305_ietf_decrypt;
                Box::new(Found::of_path(aead(seal, open, MOST_CHACHA20_B), path))
            }
            "xchacha20-poly1305" => {
                let Functions { crypto_aead_xchacha20poly1305_ietf_encrypt: seal, .. } = *functions;
                let open = functions.crypto_aead_xchacha20poly1305_ietf_decrypt;
                Box::new(Found::of_path(aead(seal, open, MOST_CHACHA20_B), path))
            }
            "aes-gcm" if spec.key_bits == 256 => Box::new(Found::of_path(gcm(functions, spec)?, Some(CodePath::Aesni))),
            "aes-gcm" => return Err("libsodium has AES-GCM with keys of 256 bits only".to_owned()),
            _ => return Err("libsodium has no cipher of this family".to_owned()),
        })
    }
}

fn gcm(functions: &Functions, spec: &Spec) -> Result<GcmSuite, String> {
    // SAFETY: they take nothing.
    let (is_available, size_B) =
        unsafe { ((functions.crypto_aead_aes256gcm_is_available)(), (functions.crypto_aead_aes256gcm_statebytes)()) };
    if is_available != 1 {
        return Err("libsodium has AES-GCM only where the processor has instructions for it".to_owned());
    }
    if size_B > SCHEDULE_B {
        return Err(format!("libsodium's schedule of AES-GCM has {size_B} bytes, room is for {SCHEDULE_B}"));
    }
    Ok(GcmSuite {
        schedule: functions.crypto_aead_aes256gcm_beforenm,
        aead: AeadSuite {
            spec: *spec,
            seal: functions.crypto_aead_aes256gcm_encrypt_afternm,
            open: functions.crypto_aead_aes256gcm_decrypt_afternm,
            most_B: MOST_GCM_B,
        },
    })
}

/// The key, whose length is that of every key here.
#[inline]
fn key(spec: &Spec, bytes: &[u8]) -> Result<[u8; KEY_B], Error> {
    lengths::key(spec, bytes)?;
    bytes.try_into().map_err(|_| Error::NoSuchOperation)
}

/// A key stream of the library.
#[derive(Clone)]
struct StreamSuite {
    spec: Spec,
    xor: Xor,
    most_B: u64,
}

impl Suite for StreamSuite {
    type Cipher = Whole<KeyedStream>;

    #[inline]
    fn key_setup(&self, bytes: &[u8], _direction: Direction) -> Result<Self::Cipher, Error> {
        Ok(Whole::new(KeyedStream { suite: self.clone(), key: key(&self.spec, bytes)? }))
    }
}

struct KeyedStream {
    suite: StreamSuite,
    key: [u8; KEY_B],
}

impl Messages for KeyedStream {
    #[inline]
    fn spec(&self) -> &Spec {
        &self.suite.spec
    }

    #[inline]
    fn message(&mut self, _decrypts: bool, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let input_B = input.len();
        lengths::not_too_long(input_B, self.suite.most_B)?;
        // SAFETY: the output has room for the input, the nonce has the cipher's length and the key 32 bytes.
        let done = unsafe {
            (self.suite.xor)(output.as_mut_ptr(), input.as_ptr(), input_B as u64, iv.as_ptr(), self.key.as_ptr())
        };
        if done == 0 { Ok(input_B) } else { Err(Error::Library { function: "crypto_stream_xor" }) }
    }
}

/// An authenticated cipher of the library.
#[derive(Clone)]
struct AeadSuite {
    spec: Spec,
    seal: Seal,
    open: Open,
    most_B: u64,
}

impl Suite for AeadSuite {
    type Cipher = Whole<KeyedAead<[u8; KEY_B]>>;

    #[inline]
    fn key_setup(&self, bytes: &[u8], _direction: Direction) -> Result<Self::Cipher, Error> {
        Ok(Whole::new(KeyedAead { suite: self.clone(), key: key(&self.spec, bytes)? }))
    }
}

/// AES-256-GCM, the one cipher of the library with a key schedule.
#[derive(Clone)]
struct GcmSuite {
    schedule: unsafe extern "C" fn(*mut c_uchar, *const c_uchar) -> c_int,
    aead: AeadSuite,
}

/// Where the schedule lies: the library wants it aligned, and says how long it is at most.
#[repr(align(16))]
struct Schedule(MaybeUninit<[u8; SCHEDULE_B]>);

impl Suite for GcmSuite {
    type Cipher = Whole<KeyedAead<Schedule>>;

    #[inline]
    fn key_setup(&self, bytes: &[u8], _direction: Direction) -> Result<Self::Cipher, Error> {
        let key = key(&self.aead.spec, bytes)?;
        let mut keyed = KeyedAead { suite: self.aead.clone(), key: Schedule(MaybeUninit::uninit()) };
        // SAFETY: the room is aligned and as long as the library said, which was seen when it was found.
        let done = unsafe { (self.schedule)(keyed.key.0.as_mut_ptr().cast(), key.as_ptr()) };
        if done == 0 {
            Ok(Whole::new(keyed))
        } else {
            Err(Error::Library { function: "crypto_aead_aes256gcm_beforenm" })
        }
    }
}

/// What the functions of an [`AeadSuite`] take for a key.
trait Key: 'static {
    fn pointer(&self) -> *const c_uchar;
}

impl Key for [u8; KEY_B] {
    #[inline]
    fn pointer(&self) -> *const c_uchar {
        self.as_ptr()
    }
}

/// It may be moved: it holds no pointer.
impl Key for Schedule {
    #[inline]
    fn pointer(&self) -> *const c_uchar {
        self.0.as_ptr().cast()
    }
}

struct KeyedAead<K> {
    suite: AeadSuite,
    key: K,
}

impl<K: Key> Messages for KeyedAead<K> {
    #[inline]
    fn spec(&self) -> &Spec {
        &self.suite.spec
    }

    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        lengths::not_too_long(input.len(), self.suite.most_B)?;
        // SAFETY: the output has room for message and tag, the nonce has the cipher's length, the key is what these
        // functions take for one; there is no secret nonce, and where the length is written to may be null.
        let done = unsafe {
            (self.suite.seal)(
                output.as_mut_ptr(),
                ptr::null_mut(),
                input.as_ptr(),
                input.len() as u64,
                aad.as_ptr(),
                aad.len() as u64,
                ptr::null(),
                nonce.as_ptr(),
                self.key.pointer(),
            )
        };
        if done == 0 { Ok(()) } else { Err(Error::Library { function: "crypto_aead_encrypt" }) }
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        lengths::not_too_long(output.len(), self.suite.most_B)?;
        // SAFETY: as of `seal`; the output has room for the message.
        let done = unsafe {
            (self.suite.open)(
                output.as_mut_ptr(),
                ptr::null_mut(),
                ptr::null_mut(),
                input.as_ptr(),
                input.len() as u64,
                aad.as_ptr(),
                aad.len() as u64,
                nonce.as_ptr(),
                self.key.pointer(),
            )
        };
        if done == 0 { Ok(()) } else { Err(Error::Forged) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use wattlock_ciphers::Cipher as _;

    use super::*;
    use crate::adapter::agreement;

    #[test]
    fn every_cipher_that_libsodium_has_passes_the_proof_of_its_card() {
        agreement::proves_all(&Sodium, &["chacha20", "salsa20", "chacha20-poly1305", "xchacha20-poly1305"]);
    }

    #[test]
    fn libsodium_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
        agreement::agrees_with_what_is_built_in(&Sodium);
    }

    #[test]
    fn what_does_not_fit_is_refused_before_the_library_ends_the_program() {
        let spec = Spec::parse("chacha20").unwrap();
        let Ok(library) = library() else { return };
        let suite = StreamSuite { spec, xor: library.functions.crypto_stream_chacha20_ietf_xor, most_B: 9 };
        let mut keyed = suite.key_setup(&[0; 32], Direction::Encrypt).unwrap();
        let mut encrypt = |nonce_B: usize, input_B: usize, room_B: usize| {
            keyed.encrypt(&vec![0; nonce_B], &vec![0; input_B], &mut vec![0; room_B])
        };
        assert_eq!(encrypt(12, 9, 10), Ok(9));
        assert_eq!(encrypt(8, 9, 10), Err(Error::WrongIvLength { given_B: 8, right_B: 12 }));
        assert_eq!(encrypt(12, 10, 10), Err(Error::TooLong { given_B: 10, most_B: 9 }));
        assert_eq!(encrypt(12, 9, 8), Err(Error::OutputTooSmall { given_B: 8, needed_B: 9 }));
        let wrong = suite.key_setup(&[0; 31], Direction::Encrypt).err();
        assert_eq!(wrong, Some(Error::WrongKeyLength { given_bits: 248, right_bits: 256 }));
    }
}
