//! wolfSSL's ciphers, opened at run time: through its EVP interface, and ChaCha20-Poly1305 by its own functions.
//!
//! A message is what a program would do for one: a new IV, update, final. A key setup is a new context with its key.
//! wolfSSL's own functions for AES and DES take structs of the caller, which differ from build to build: not here.

mod functions;
mod one_shot;

use std::ffi::{c_int, c_uchar};
use std::path::PathBuf;
use std::ptr::{self, NonNull};

use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Direction, Error, Mode, Spec, Suite};

use self::functions::{CipherContext, Functions, Object, failed};
use self::one_shot::OneShot;
use crate::adapter::functions::{opened_once, text};
use crate::adapter::keeping::EachWay;
use crate::adapter::whole::{Messages, Whole};
use crate::adapter::{file, lengths};
use crate::library::Library;

/// `EVP_CTRL_AEAD_GET_TAG` of `wolfssl/openssl/evp.h`.
const GET_TAG: c_int = 0x10;
/// `EVP_CTRL_AEAD_SET_TAG`.
const SET_TAG: c_int = 0x11;
/// To `wolfSSL_EVP_CipherInit`: the direction stays as it is.
const SAME_DIRECTION: c_int = -1;
/// Bytes of every tag here.
const TAG_B: usize = 16;
/// Bytes of ChaCha20's counter, which stands before the nonce in what EVP takes for an IV.
const COUNTER_B: usize = 4;

/// wolfSSL 5.
struct WolfSsl;

/// The provider of this file.
pub fn libraries() -> Vec<Box<dyn Library>> {
    vec![Box::new(WolfSsl)]
}

struct Libwolfssl {
    functions: Functions,
    /// Keeps the functions where they are, and finds those that give ciphers.
    library: libloading::Library,
}

const NEWEST: u32 = 44;
const OLDEST: u32 = 35;

opened_once!(Libwolfssl, open);

fn open() -> Result<Libwolfssl, String> {
    let how = "it is in the package libwolfssl35 or libwolfssl42 (Debian, Ubuntu), wolfssl (Fedora, Homebrew)";
    let versions = (OLDEST..=NEWEST).rev().map(|version| format!("libwolfssl.so.{version}"));
    let others = ["libwolfssl.so", "libwolfssl.dylib", "/opt/homebrew/lib/libwolfssl.dylib", "wolfssl.dll"];
    let names: Vec<_> = versions.chain(others.map(str::to_owned)).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let library = file::first_of(&names).map_err(|refusals| {
        let first = refusals.split("; ").next().unwrap_or_default();
        format!("libwolfssl of wolfSSL 5 can't be opened ({first}, and others); {how}")
    })?;
    let functions = Functions::of(&library).map_err(|name| {
        format!("libwolfssl has no {name}: it was built without OpenSSL's interface, or is older than 5; {how}")
    })?;
    Ok(Libwolfssl { functions, library })
}

impl Library for WolfSsl {
    fn name(&self) -> &str {
        "wolfssl"
    }

    fn open(&self) -> Result<About, String> {
        // SAFETY: it takes nothing and gives a text that lives as long as the library.
        let version = unsafe { text((library()?.functions.wolfSSL_lib_version)()) };
        Ok(About::of(version.unwrap_or_default()))
    }

    fn file(&self) -> Option<PathBuf> {
        file::holding(library().ok()?.functions.wolfSSL_lib_version as *const () as usize)
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let functions = &library()?.functions;
        if spec.card.family == "chacha20-poly1305" {
            let suite = OneShot { spec: *spec, functions };
            return Ok(Box::new(Found { suite, path: None, of: Some("one-shot".to_owned()) }));
        }
        let name = name(spec)?;
        let object = object(&name).ok_or_else(|| format!("this wolfSSL was built without {name}"))?;
        let suite = EvpSuite { spec: *spec, functions, object };
        suite
            .key_setup(&vec![1; spec.key_B()], Direction::Encrypt)
            .map_err(|_| format!("this wolfSSL's {name} takes no key of {} bits", spec.key_bits))?;
        Ok(Box::new(Found::of_path(suite, None)))
    }
}

/// The function that gives a cipher, which lives as long as the library.
fn object(name: &str) -> Option<*const Object> {
    let library = &library().ok()?.library;
    // SAFETY: all functions of these names in wolfSSL's `openssl/evp.h` take nothing and give a cipher.
    let get = unsafe { library.get::<unsafe extern "C" fn() -> *const Object>(name) }.ok()?;
    // SAFETY: as above.
    let object = unsafe { get() };
    (!object.is_null()).then_some(object)
}

/// wolfSSL's function for a cipher.
///
/// # Errors
/// Why there is none.
fn name(spec: &Spec) -> Result<String, String> {
    let mode = match spec.card.mode {
        Mode::Cfb => "cfb128".to_owned(),
        mode => mode.to_string(),
    };
    Ok(match spec.card.family {
        "aes" => format!("wolfSSL_EVP_aes_{}_{mode}", spec.key_bits),
        "des" => format!("wolfSSL_EVP_des_{mode}"),
        "3des" => format!("wolfSSL_EVP_des_ede3_{mode}"),
        "rc4" => "wolfSSL_EVP_rc4".to_owned(),
        "chacha20" => "wolfSSL_EVP_chacha20".to_owned(),
        "aes-gcm" => format!("wolfSSL_EVP_aes_{}_gcm", spec.key_bits),
        _ => return Err("wolfSSL's EVP has no cipher of this family".to_owned()),
    })
}

/// A cipher of the library, ready to take keys.
#[derive(Clone)]
struct EvpSuite {
    spec: Spec,
    functions: &'static Functions,
    /// It lives as long as the library.
    object: *const Object,
}

impl EvpSuite {
    #[inline]
    fn context(&self, key: &[u8], decrypts: bool) -> Result<Context, Error> {
        let functions = self.functions;
        // SAFETY: it takes nothing and gives null or a context that is ours.
        let pointer = unsafe { (functions.wolfSSL_EVP_CIPHER_CTX_new)() };
        let pointer = NonNull::new(pointer).ok_or(failed("wolfSSL_EVP_CIPHER_CTX_new"))?;
        let context = Context { functions, pointer, pads: true };
        let (direction, init) = (c_int::from(!decrypts), functions.wolfSSL_EVP_CipherInit);
        let mut object = self.object;
        if self.spec.card.family == "rc4" {
            // SAFETY: the context and the cipher are live.
            let done = unsafe { init(pointer.as_ptr(), object, ptr::null(), ptr::null(), direction) };
            check(done, "wolfSSL_EVP_CipherInit")?;
            object = ptr::null();
            // SAFETY: the context is live and has its cipher.
            let done = unsafe { (functions.wolfSSL_EVP_CIPHER_CTX_set_key_length)(pointer.as_ptr(), length(key)?) };
            check(done, "wolfSSL_EVP_CIPHER_CTX_set_key_length")?;
        }
        // SAFETY: the context is live, the cipher live or null; its name says how long the key is, or it took that
        // length just now.
        let done = unsafe { init(pointer.as_ptr(), object, key.as_ptr(), ptr::null(), direction) };
        check(done, "wolfSSL_EVP_CipherInit")?;
        // SAFETY: the context is live.
        let key_B = unsafe { (functions.wolfSSL_EVP_CIPHER_CTX_key_length)(pointer.as_ptr()) };
        if key_B == length(key)? { Ok(context) } else { Err(failed("wolfSSL_EVP_CIPHER_CTX_key_length")) }
    }
}

impl Suite for EvpSuite {
    type Cipher = Whole<Keyed>;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Self::Cipher, Error> {
        lengths::key(&self.spec, key)?;
        let decrypts = direction == Direction::Decrypt;
        let contexts = EachWay::new(key, decrypts, self.context(key, decrypts)?);
        let is_chacha20 = self.spec.card.family == "chacha20";
        Ok(Whole::new(Keyed { suite: self.clone(), is_chacha20, contexts }))
    }
}

/// A context of the library, with a key and a direction.
struct Context {
    functions: &'static Functions,
    pointer: NonNull<CipherContext>,
    pads: bool,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context came from `wolfSSL_EVP_CIPHER_CTX_new` and is freed once.
        unsafe { (self.functions.wolfSSL_EVP_CIPHER_CTX_free)(self.pointer.as_ptr()) }
    }
}

impl Context {
    /// # Safety
    /// The IV is as long as the cipher reads.
    #[inline]
    unsafe fn start(&mut self, iv: &[u8]) -> Result<(), Error> {
        let iv = if iv.is_empty() { ptr::null() } else { iv.as_ptr() };
        let init = self.functions.wolfSSL_EVP_CipherInit;
        // SAFETY: the context is live and has its cipher and key; the IV is as the caller promises.
        let done = unsafe { init(self.pointer.as_ptr(), ptr::null(), ptr::null(), iv, SAME_DIRECTION) };
        check(done, "wolfSSL_EVP_CipherInit")
    }

    #[inline]
    fn pad(&mut self, pads: bool) -> Result<(), Error> {
        if self.pads != pads {
            let set = self.functions.wolfSSL_EVP_CIPHER_CTX_set_padding;
            // SAFETY: the context is live and has its cipher.
            check(unsafe { set(self.pointer.as_ptr(), c_int::from(pads)) }, "wolfSSL_EVP_CIPHER_CTX_set_padding")?;
            self.pads = pads;
        }
        Ok(())
    }

    /// # Safety
    /// `output` has room for what the input becomes, or is null where it is associated data.
    #[inline]
    unsafe fn update(&mut self, input: &[u8], output: *mut c_uchar) -> Result<usize, Error> {
        let mut written = 0;
        let (pointer, input_B) = (self.pointer.as_ptr(), length(input)?);
        // SAFETY: the context is live, the input as long as said, the output as the caller promises.
        let done = unsafe {
            (self.functions.wolfSSL_EVP_CipherUpdate)(pointer, output, &raw mut written, input.as_ptr(), input_B)
        };
        check(done, "wolfSSL_EVP_CipherUpdate")?;
        usize::try_from(written).map_err(|_| failed("wolfSSL_EVP_CipherUpdate"))
    }

    /// # Safety
    /// `output` has room for the rest of the message.
    #[inline]
    unsafe fn finish(&mut self, output: *mut c_uchar) -> Result<usize, Error> {
        let mut written = 0;
        // SAFETY: the context is live, the output as the caller promises.
        let done = unsafe { (self.functions.wolfSSL_EVP_CipherFinal)(self.pointer.as_ptr(), output, &raw mut written) };
        check(done, "wolfSSL_EVP_CipherFinal")?;
        usize::try_from(written).map_err(|_| failed("wolfSSL_EVP_CipherFinal"))
    }

    /// # Safety
    /// `tag` has 16 bytes, and may be written to where it is asked for.
    #[inline]
    unsafe fn tag(&mut self, control: c_int, tag: *mut c_uchar) -> Result<(), Error> {
        let (pointer, tag_B) = (self.pointer.as_ptr(), length(&[0; TAG_B])?);
        // SAFETY: the context is live, the tag as the caller promises.
        let done = unsafe { (self.functions.wolfSSL_EVP_CIPHER_CTX_ctrl)(pointer, control, tag_B, tag.cast()) };
        check(done, "wolfSSL_EVP_CIPHER_CTX_ctrl")
    }
}

/// An EVP cipher with its key.
struct Keyed {
    suite: EvpSuite,
    is_chacha20: bool,
    contexts: EachWay<Context>,
}

impl Keyed {
    #[inline]
    fn context(&mut self, decrypts: bool) -> Result<&mut Context, Error> {
        let Self { suite, contexts, .. } = self;
        let has_directions = matches!(suite.spec.card.mode, Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Aead);
        if !has_directions {
            return Ok(contexts.ready());
        }
        contexts.get(decrypts, |key| suite.context(key, decrypts))
    }
}

impl Messages for Keyed {
    #[inline]
    fn spec(&self) -> &Spec {
        &self.suite.spec
    }

    #[inline]
    fn message(&mut self, decrypts: bool, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let pads = lengths::pads(self.suite.spec.card.mode);
        let mut with_counter = [0; COUNTER_B + 12];
        let iv = if self.is_chacha20 {
            with_counter[COUNTER_B..].copy_from_slice(iv);
            &with_counter[..]
        } else {
            iv
        };
        let goes_on = iv.is_empty() && !pads;
        let context = self.context(decrypts)?;
        context.pad(true)?;
        if !goes_on {
            // SAFETY: the IV has the length of the card, with ChaCha20's counter before it.
            unsafe { context.start(iv) }?;
        }
        if input.is_empty() && !pads {
            return Ok(0);
        }
        // SAFETY: the output has room for the message with its padding, which is all that is written.
        let written_B = unsafe { context.update(input, output.as_mut_ptr()) }?;
        if !pads {
            return Ok(written_B);
        }
        let rest = output.get_mut(written_B..).ok_or(failed("wolfSSL_EVP_CipherUpdate"))?;
        // SAFETY: as above.
        match unsafe { context.finish(rest.as_mut_ptr()) } {
            // It takes a last byte of 0 for no padding at all.
            Ok(rest_B) if decrypts && written_B + rest_B == input.len() => Err(Error::BadPadding),
            Ok(rest_B) => Ok(written_B + rest_B),
            Err(_) if decrypts => Err(Error::BadPadding),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn part(&mut self, decrypts: bool, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let is_stream = self.suite.spec.card.mode == Mode::Stream;
        let context = self.context(decrypts)?;
        context.pad(false)?;
        if !is_stream {
            // SAFETY: the IV has the length of the card.
            unsafe { context.start(iv) }?;
        }
        // SAFETY: the output has room for what is as long as the input.
        let written_B = unsafe { context.update(input, output.as_mut_ptr()) }?;
        if written_B == input.len() { Ok(()) } else { Err(failed("wolfSSL_EVP_CipherUpdate")) }
    }

    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let context = self.context(false)?;
        // SAFETY: the nonce has the 12 bytes that the library takes where it is told nothing else; without an output the
        // input is associated data; the output has room for the message, and after it for the tag.
        unsafe {
            context.start(nonce)?;
            if !aad.is_empty() {
                context.update(aad, ptr::null_mut())?;
            }
            let mut written_B = context.update(input, output.as_mut_ptr())?;
            written_B += context.finish(output.as_mut_ptr().add(written_B.min(input.len())))?;
            let tag = output.get_mut(written_B..written_B + TAG_B).ok_or(failed("wolfSSL_EVP_CipherFinal"))?;
            context.tag(GET_TAG, tag.as_mut_ptr())
        }
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let (sealed, tag) = input.split_at(output.len());
        let context = self.context(true)?;
        // SAFETY: as of `seal`; the library copies the tag and writes nothing to it.
        let opened = unsafe {
            context.start(nonce)?;
            context.tag(SET_TAG, tag.as_ptr().cast_mut())?;
            if !aad.is_empty() {
                context.update(aad, ptr::null_mut())?;
            }
            let written_B = context.update(sealed, output.as_mut_ptr())?;
            context.finish(output.as_mut_ptr().add(written_B.min(output.len())))
        };
        opened.map(drop).map_err(|_| Error::Forged)
    }
}

#[inline]
fn check(done: c_int, function: &'static str) -> Result<(), Error> {
    if done == 1 { Ok(()) } else { Err(failed(function)) }
}

/// The library counts bytes in an `int`.
#[inline]
fn length(bytes: &[u8]) -> Result<c_int, Error> {
    c_int::try_from(bytes.len()).map_err(|_| failed("int for a length"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::agreement;

    #[test]
    fn every_cipher_that_wolfssl_has_passes_the_proof_of_its_card() {
        agreement::proves_all(&WolfSsl, &["aes128-cbc", "aes256-ctr", "des-cbc", "3des-cbc", "aes128-gcm"]);
    }

    #[test]
    fn wolfssl_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
        agreement::agrees_with_what_is_built_in(&WolfSsl);
    }
}
