//! wolfSSL's ciphers, opened at run time: through its EVP interface, and ChaCha20-Poly1305 by its own functions.
//!
//! A message is what a program would do for one: a new IV, update, final. A key setup is a new context with its key.
//! wolfSSL's own functions for AES and DES take structs of the caller, which differ from build to build: not here.

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::path::PathBuf;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Cipher, Direction, Error, MAX_KEY_B, Mode, Spec, Suite};

use crate::adapter::functions::{functions, text};
use crate::adapter::{file, next_iv};
use crate::library::Library;

/// `WOLFSSL_EVP_CIPHER`.
pub enum Object {}
/// `WOLFSSL_EVP_CIPHER_CTX`.
pub enum CipherContext {}

functions! { of "wolfSSL 5's `openssl/evp.h`, `ssl.h` and `wolfcrypt/chacha20_poly1305.h`";
    wolfSSL_lib_version: fn() -> *const c_char;
    wolfSSL_EVP_CIPHER_CTX_new: fn() -> *mut CipherContext;
    wolfSSL_EVP_CIPHER_CTX_free: fn(*mut CipherContext);
    wolfSSL_EVP_CIPHER_CTX_set_padding: fn(*mut CipherContext, c_int) -> c_int;
    wolfSSL_EVP_CIPHER_CTX_set_key_length: fn(*mut CipherContext, c_int) -> c_int;
    wolfSSL_EVP_CIPHER_CTX_key_length: fn(*const CipherContext) -> c_int;
    wolfSSL_EVP_CIPHER_CTX_ctrl: fn(*mut CipherContext, c_int, c_int, *mut c_void) -> c_int;
    wolfSSL_EVP_CipherInit: fn(*mut CipherContext, *const Object, *const c_uchar, *const c_uchar, c_int) -> c_int;
    wolfSSL_EVP_CipherUpdate: fn(*mut CipherContext, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int;
    wolfSSL_EVP_CipherFinal: fn(*mut CipherContext, *mut c_uchar, *mut c_int) -> c_int;
    wc_ChaCha20Poly1305_Encrypt: fn(*const c_uchar, *const c_uchar, *const c_uchar, u32, *const c_uchar, u32,
        *mut c_uchar, *mut c_uchar) -> c_int;
    wc_ChaCha20Poly1305_Decrypt: fn(*const c_uchar, *const c_uchar, *const c_uchar, u32, *const c_uchar, u32,
        *const c_uchar, *mut c_uchar) -> c_int;
}

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
/// Bytes of ChaCha20-Poly1305's key.
const CHACHA20_KEY_B: usize = 32;

/// wolfSSL 5.
pub struct WolfSsl;

struct Libwolfssl {
    functions: Functions,
    /// Keeps the functions where they are, and finds those that give ciphers.
    library: libloading::Library,
}

const NEWEST: u32 = 44;
const OLDEST: u32 = 35;

/// The library, opened in this process once.
///
/// # Errors
/// Why it can't be opened, and how to get it.
fn library() -> Result<&'static Libwolfssl, String> {
    static OPEN: OnceLock<Result<Libwolfssl, String>> = OnceLock::new();
    let how = "it is in the package libwolfssl35 or libwolfssl42 (Debian, Ubuntu), wolfssl (Fedora, Homebrew)";
    let open = || {
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
    };
    OPEN.get_or_init(open).as_ref().map_err(Clone::clone)
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
        let backend = "as built, not told".to_owned();
        if spec.card.family == "chacha20-poly1305" {
            return Ok(Box::new(Found { suite: OneShot { functions }, backend }));
        }
        let name = name(spec)?;
        let object = object(&name).ok_or_else(|| format!("this wolfSSL was built without {name}"))?;
        let suite = EvpSuite { spec: *spec, functions, object };
        suite
            .key_setup(&vec![1; spec.key_B()], Direction::Encrypt)
            .map_err(|_| format!("this wolfSSL's {name} takes no key of {} bits", spec.key_bits))?;
        Ok(Box::new(Found { suite, backend }))
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
        let context = Context { functions, pointer, pads: true, decrypts };
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
    type Cipher = Keyed;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Keyed, Error> {
        if key.len() != self.spec.key_B() {
            return Err(Error::WrongKeyLength { given_bits: key.len() * 8, right_bits: self.spec.key_bits });
        }
        let mut kept = [0; MAX_KEY_B];
        kept[..key.len()].copy_from_slice(key);
        let ready = self.context(key, direction == Direction::Decrypt)?;
        Ok(Keyed { suite: self.clone(), key: kept, ready, other: None })
    }
}

/// A context of the library, with a key and a direction.
struct Context {
    functions: &'static Functions,
    pointer: NonNull<CipherContext>,
    pads: bool,
    decrypts: bool,
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

/// An EVP cipher with its key; the context of the other direction is made when it is first used.
struct Keyed {
    suite: EvpSuite,
    key: [u8; MAX_KEY_B],
    ready: Context,
    other: Option<Context>,
}

impl Keyed {
    #[inline]
    fn context(&mut self, decrypts: bool) -> Result<&mut Context, Error> {
        let has_directions = matches!(self.suite.spec.card.mode, Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Aead);
        if decrypts == self.ready.decrypts || !has_directions {
            return Ok(&mut self.ready);
        }
        match &mut self.other {
            Some(context) => Ok(context),
            none => Ok(none.insert(self.suite.context(&self.key[..self.suite.spec.key_B()], decrypts)?)),
        }
    }

    fn chains(&self) -> bool {
        matches!(self.suite.spec.card.mode, Mode::Ecb | Mode::Cbc)
    }

    #[inline]
    fn fits(&self, iv: &[u8], needed_B: usize, output: &[u8]) -> Result<(), Error> {
        let (given_B, right_B) = (iv.len(), self.suite.spec.iv_B());
        if given_B != right_B {
            return Err(Error::WrongIvLength { given_B, right_B });
        }
        let given_B = output.len();
        if given_B >= needed_B { Ok(()) } else { Err(Error::OutputTooSmall { given_B, needed_B }) }
    }

    #[inline]
    fn whole_blocks(&self, input: &[u8]) -> Result<(), Error> {
        let (given_B, block_B) = (input.len(), self.suite.spec.block_B());
        if !self.chains() || given_B.is_multiple_of(block_B) {
            Ok(())
        } else {
            Err(Error::NotWholeBlocks { given_B, block_B })
        }
    }

    #[inline]
    fn message(&mut self, decrypts: bool, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let (chains, block_B) = (self.chains(), self.suite.spec.block_B());
        if self.suite.spec.card.mode == Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        let padded_B = (input.len() / block_B + 1) * block_B;
        self.fits(iv, if chains && !decrypts { padded_B } else { input.len() }, output)?;
        if decrypts {
            self.whole_blocks(input)?;
            if chains && input.is_empty() {
                return Err(Error::BadPadding);
            }
        }
        let mut with_counter = [0; COUNTER_B + 12];
        let is_chacha20 = self.suite.spec.card.family == "chacha20";
        let iv = if is_chacha20 {
            with_counter[COUNTER_B..].copy_from_slice(iv);
            &with_counter[..]
        } else {
            iv
        };
        let goes_on = iv.is_empty() && !chains;
        let context = self.context(decrypts)?;
        context.pad(true)?;
        if !goes_on {
            // SAFETY: the IV has the length of the card, with ChaCha20's counter before it.
            unsafe { context.start(iv) }?;
        }
        if input.is_empty() && !chains {
            return Ok(0);
        }
        // SAFETY: the output has room for the message with its padding, which is all that is written.
        let written_B = unsafe { context.update(input, output.as_mut_ptr()) }?;
        if !chains {
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
    fn part(&mut self, decrypts: bool, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let mode = self.suite.spec.card.mode;
        if mode == Mode::Aead || (mode == Mode::Stream && !iv.is_empty()) {
            return Err(Error::NoSuchOperation);
        }
        self.fits(iv, input.len(), output)?;
        self.whole_blocks(input)?;
        if input.is_empty() {
            return Ok(());
        }
        let context = self.context(decrypts)?;
        context.pad(false)?;
        if mode != Mode::Stream {
            // SAFETY: the IV has the length of the card.
            unsafe { context.start(iv) }?;
        }
        // SAFETY: the output has room for what is as long as the input.
        let written_B = unsafe { context.update(input, output.as_mut_ptr()) }?;
        if written_B != input.len() {
            return Err(failed("wolfSSL_EVP_CipherUpdate"));
        }
        next_iv::go_on(mode, decrypts, iv, input, output);
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

    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.suite.spec.card.mode != Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        self.fits(nonce, input.len() + TAG_B, output)?;
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
            context.tag(GET_TAG, tag.as_mut_ptr())?;
            Ok(written_B + TAG_B)
        }
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.suite.spec.card.mode != Mode::Aead {
            return Err(Error::NoSuchOperation);
        }
        let message_B = input.len().checked_sub(TAG_B).ok_or(Error::Forged)?;
        self.fits(nonce, message_B, output)?;
        let (sealed, tag) = input.split_at(message_B);
        let context = self.context(true)?;
        // SAFETY: as of `seal`; the library copies the tag and writes nothing to it.
        let opened = unsafe {
            context.start(nonce)?;
            context.tag(SET_TAG, tag.as_ptr().cast_mut())?;
            if !aad.is_empty() {
                context.update(aad, ptr::null_mut())?;
            }
            let written_B = context.update(sealed, output.as_mut_ptr())?;
            context.finish(output.as_mut_ptr().add(written_B.min(message_B))).map(|rest_B| written_B + rest_B)
        };
        opened.map_err(|_| {
            output[..message_B].fill(0);
            Error::Forged
        })
    }
}

/// ChaCha20-Poly1305, which takes the key in each call.
#[derive(Clone)]
struct OneShot {
    functions: &'static Functions,
}

impl Suite for OneShot {
    type Cipher = KeyedOneShot;

    #[inline]
    fn key_setup(&self, key: &[u8], _direction: Direction) -> Result<KeyedOneShot, Error> {
        let wrong = Error::WrongKeyLength { given_bits: key.len() * 8, right_bits: 256 };
        Ok(KeyedOneShot { functions: self.functions, key: key.try_into().map_err(|_| wrong)? })
    }
}

struct KeyedOneShot {
    functions: &'static Functions,
    key: [u8; CHACHA20_KEY_B],
}

/// The library counts these bytes in 32 bits.
#[inline]
fn word(length_B: usize) -> Result<u32, Error> {
    let most_B = u64::from(u32::MAX);
    u32::try_from(length_B).map_err(|_| Error::TooLong { given_B: length_B as u64, most_B })
}

#[inline]
fn one_shot_fits(nonce: &[u8], room_B: usize, needed_B: usize) -> Result<(), Error> {
    let (given_B, right_B) = (nonce.len(), 12);
    if given_B != right_B {
        return Err(Error::WrongIvLength { given_B, right_B });
    }
    if room_B >= needed_B { Ok(()) } else { Err(Error::OutputTooSmall { given_B: room_B, needed_B }) }
}

impl Cipher for KeyedOneShot {
    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let needed_B = input.len() + TAG_B;
        one_shot_fits(nonce, output.len(), needed_B)?;
        let (aad_B, input_B) = (word(aad.len())?, word(input.len())?);
        let (sealed, tag) = output.split_at_mut(input.len());
        let (key, nonce, aad, input) = (self.key.as_ptr(), nonce.as_ptr(), aad.as_ptr(), input.as_ptr());
        let (sealed, tag) = (sealed.as_mut_ptr(), tag.as_mut_ptr());
        // SAFETY: key and nonce have 32 and 12 bytes, the output has room for the message and then for the tag.
        let done = unsafe {
            (self.functions.wc_ChaCha20Poly1305_Encrypt)(key, nonce, aad, aad_B, input, input_B, sealed, tag)
        };
        if done == 0 { Ok(needed_B) } else { Err(failed("wc_ChaCha20Poly1305_Encrypt")) }
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let message_B = input.len().checked_sub(TAG_B).ok_or(Error::Forged)?;
        one_shot_fits(nonce, output.len(), message_B)?;
        let (aad_B, input_B) = (word(aad.len())?, word(message_B)?);
        let (sealed, tag) = input.split_at(message_B);
        let (key, nonce, aad, into) = (self.key.as_ptr(), nonce.as_ptr(), aad.as_ptr(), output.as_mut_ptr());
        let (sealed, tag) = (sealed.as_ptr(), tag.as_ptr());
        // SAFETY: as above.
        let done =
            unsafe { (self.functions.wc_ChaCha20Poly1305_Decrypt)(key, nonce, aad, aad_B, sealed, input_B, tag, into) };
        if done == 0 {
            return Ok(message_B);
        }
        output[..message_B].fill(0);
        Err(Error::Forged)
    }
}

fn failed(function: &'static str) -> Error {
    Error::Library { function }
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
