//! OpenSSL's ciphers through its EVP interface, from the `libcrypto` of the system.
//!
//! A message is what a program would do for one: the context takes a new IV, then update, then final with its padding.
//! A key setup is a new context with its key, and the one before freed.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use wattlock_ciphers::{Cipher, Direction, Error, MAX_KEY_B, Mode, Spec, Suite};

use super::libcrypto::{Context, Evp, Libcrypto};
use super::{About, Found, Implementation, Library};

/// OpenSSL 3.
pub struct OpenSsl;

impl Library for OpenSsl {
    fn name(&self) -> &str {
        "openssl"
    }

    fn open(&self) -> Result<About, String> {
        Ok(About { version: library()?.version(), file: None, file_sha256: None })
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let evp = evp(spec)?;
        let suite = EvpSuite { spec: *spec, evp };
        Ok(Box::new(Found { suite, backend: backend(spec, evp) }))
    }
}

/// The files that may be the library, the likeliest first. Without a version only where the system allows it: macOS
/// ends a program that asks for its own `libcrypto.dylib`.
#[cfg(target_os = "macos")]
const FILES: &[&str] = &[
    "libcrypto.3.dylib",
    "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib",
    "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib",
];
#[cfg(windows)]
const FILES: &[&str] = &["libcrypto-3-x64.dll", "libcrypto-3-arm64.dll", "libcrypto-3.dll"];
#[cfg(not(any(target_os = "macos", windows)))]
const FILES: &[&str] = &["libcrypto.so.3", "libcrypto.so"];

/// OpenSSL's names, a row a family as of [`row`]: ECB or the stream itself, CBC, CTR.
const NAMES: [[&str; 3]; 9] = [
    ["AES-128-ECB", "AES-128-CBC", "AES-128-CTR"],
    ["AES-192-ECB", "AES-192-CBC", "AES-192-CTR"],
    ["AES-256-ECB", "AES-256-CBC", "AES-256-CTR"],
    ["DES-ECB", "DES-CBC", ""],
    ["DES-EDE3", "DES-EDE3-CBC", ""],
    ["DES-EDE", "DES-EDE-CBC", ""],
    ["RC2-ECB", "RC2-CBC", ""],
    ["BF-ECB", "BF-CBC", ""],
    ["RC4", "", ""],
];

/// Effective key bits that RC2 has where none are set.
const RC2_DEFAULT_BITS: u16 = 128;

fn row(spec: &Spec) -> Option<usize> {
    Some(match (spec.card.family, spec.key_bits) {
        ("aes", 128) => 0,
        ("aes", 192) => 1,
        ("aes", _) => 2,
        ("des", _) => 3,
        ("3des", _) => 4,
        ("3des2", _) => 5,
        ("rc2", _) => 6,
        ("blowfish", _) => 7,
        ("rc4", _) => 8,
        _ => return None,
    })
}

fn column(spec: &Spec) -> Option<usize> {
    Some(match spec.card.mode {
        Mode::Ecb | Mode::Stream => 0,
        Mode::Cbc => 1,
        Mode::Ctr => 2,
        _ => return None,
    })
}

/// The library, opened in this process once.
///
/// # Errors
/// As of [`Libcrypto::open`].
fn library() -> Result<&'static Libcrypto, String> {
    static OPEN: OnceLock<Result<Libcrypto, String>> = OnceLock::new();
    OPEN.get_or_init(|| Libcrypto::open(FILES)).as_ref().map_err(Clone::clone)
}

/// The library's cipher for `spec`, fetched once: a fetch is slow, and what a key setup needs of it is this pointer.
#[inline]
fn evp(spec: &Spec) -> Result<&'static Evp, &'static str> {
    static FETCHED: [[OnceLock<Result<Evp, String>>; 3]; 9] = [const { [const { OnceLock::new() }; 3] }; 9];
    let place = row(spec).zip(column(spec)).ok_or("OpenSSL 3 has no cipher of this family")?;
    FETCHED[place.0][place.1].get_or_init(|| fetch(spec, NAMES[place.0][place.1])).as_ref().map_err(String::as_str)
}

fn fetch(spec: &Spec, name: &str) -> Result<Evp, String> {
    if name.is_empty() {
        return Err("OpenSSL has no CTR mode for blocks of 64 bits".to_owned());
    }
    let evp = library()?.fetch(name)?;
    let right = (if spec.card.mode == Mode::Ctr { 1 } else { spec.block_B() }, spec.iv_B());
    let (block_B, iv_B) = evp.sizes();
    if (block_B, iv_B) == right {
        Ok(evp)
    } else {
        Err(format!(
            "OpenSSL's {name} has blocks of {block_B} and an IV of {iv_B} bytes, not {} and {}",
            right.0, right.1
        ))
    }
}

/// Which way the library goes on this processor, as far as it tells: for AES by the features that it found, for the
/// others which of its providers answers.
fn backend(spec: &Spec, evp: &Evp) -> String {
    let provider = format!("{} provider", evp.provider());
    let path =
        library().ok().filter(|_| spec.card.family == "aes").and_then(|library| aes_path(&library.cpu_settings()));
    path.map_or_else(|| provider.clone(), |path| format!("{path}, {provider}"))
}

/// What `OPENSSL_ia32cap` or `OPENSSL_armcap` means for AES in ECB, CBC and CTR.
///
/// * Returns `None` where the settings say nothing of it.
///
/// # Source
/// OPENSSL_ia32cap(3): bit 57 is AES-NI, bit 41 SSSE3; `arm_arch.h` of OpenSSL 3.0: bit 2 is `ARMV8_AES`.
fn aes_path(settings: &str) -> Option<&'static str> {
    let capabilities = |name: &str| {
        let (_, after) = settings.split_once(name)?;
        let digits = after.split(|letter: char| !letter.is_ascii_hexdigit()).next()?;
        u64::from_str_radix(digits, 16).ok()
    };
    if let Some(x86) = capabilities("OPENSSL_ia32cap=0x") {
        return Some(match (x86 >> 57 & 1, x86 >> 41 & 1) {
            (1, _) => "aesni",
            (_, 1) => "ssse3",
            _ => "tables",
        });
    }
    let arm = capabilities("OPENSSL_armcap=0x")?;
    (arm >> 2 & 1 == 1).then_some("armv8-aes")
}

/// A cipher of the library, ready to take keys.
#[derive(Clone)]
pub struct EvpSuite {
    spec: Spec,
    evp: &'static Evp,
}

impl Suite for EvpSuite {
    type Cipher = Keyed;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Keyed, Error> {
        let Self { spec, evp } = *self;
        if key.len() != spec.key_B() {
            return Err(Error::WrongKeyLength { given_bits: key.len() * 8, right_bits: spec.key_bits });
        }
        let decrypts = direction == Direction::Decrypt;
        let ready = evp.context(key, effective(&spec), decrypts)?;
        let mut kept = [0; MAX_KEY_B];
        kept[..key.len()].copy_from_slice(key);
        Ok(Keyed { spec, evp, key: kept, decrypts, ready, other: None })
    }
}

/// An EVP cipher with its key.
///
/// The key setup makes a context of its direction. A block cipher's context of the other direction is made when it is
/// first used, so that a timed key setup pays for one, as a program would.
pub struct Keyed {
    spec: Spec,
    evp: &'static Evp,
    key: [u8; MAX_KEY_B],
    decrypts: bool,
    ready: Context,
    other: Option<Context>,
}

impl Keyed {
    /// The context for a direction; a key stream has one for both.
    #[inline]
    fn context(&mut self, decrypts: bool) -> Result<&mut Context, Error> {
        if decrypts == self.decrypts || !self.chains() {
            return Ok(&mut self.ready);
        }
        match &mut self.other {
            Some(context) => Ok(context),
            none => {
                Ok(none.insert(self.evp.context(&self.key[..self.spec.key_B()], effective(&self.spec), decrypts)?))
            }
        }
    }

    /// Whether it works on blocks, in two directions.
    #[inline]
    fn chains(&self) -> bool {
        matches!(self.spec.card.mode, Mode::Ecb | Mode::Cbc)
    }

    #[inline]
    fn message(&mut self, decrypts: bool, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.spec.card.mode == Mode::Stream {
            return self.ready.go_on(iv, input, output).map(|()| input.len());
        }
        self.context(decrypts)?.message(iv, input, output)
    }

    #[inline]
    fn part(&mut self, decrypts: bool, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        if self.spec.card.mode == Mode::Stream {
            return self.ready.go_on(iv, input, output);
        }
        self.context(decrypts)?.part(iv, input, output)?;
        let chained = if decrypts { input } else { &*output };
        match self.spec.card.mode {
            Mode::Cbc => {
                if let Some(from) = input.len().checked_sub(iv.len()) {
                    iv.copy_from_slice(&chained[from..input.len()]);
                }
            }
            Mode::Ctr => count(iv, input.len().div_ceil(self.spec.block_B())),
            _ => {}
        }
        Ok(())
    }
}

impl Cipher for Keyed {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.message(false, iv, input, output)
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.message(true, iv, input, output)
    }

    #[inline]
    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.part(false, iv, input, output)
    }

    #[inline]
    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.part(true, iv, input, output)
    }
}

/// RC2's effective bits where the library must be told.
fn effective(spec: &Spec) -> Option<u16> {
    (spec.card.family == "rc2" && spec.effective_bits != RC2_DEFAULT_BITS).then_some(spec.effective_bits)
}

/// The counter `blocks` blocks later, big-endian over the whole block.
fn count(counter: &mut [u8], blocks: usize) {
    let mut carry = blocks;
    for byte in counter.iter_mut().rev() {
        let sum = usize::from(*byte) + (carry & 0xff);
        *byte = sum.to_le_bytes()[0];
        carry = (carry >> 8) + (sum >> 8);
    }
}

#[cfg(test)]
mod tests;
