//! Key establishment by OpenSSL's libcrypto: RSA-OAEP, which no kept crate has, and the curves beside those of the crates.

use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use super::functions::{functions, text};
use super::{About, file, openssl, trial};
use crate::establish::{MESSAGE, Scheme, Step};
use crate::records::Operation;

/// `OSSL_LIB_CTX`, `EVP_PKEY`, `EVP_PKEY_CTX`, `EVP_MD_CTX`: only the library knows what they point to.
pub enum Opaque {}

functions! { of "`evp.h`, `rsa.h` and `crypto.h` of OpenSSL 3";
    OpenSSL_version: fn(c_int) -> *const c_char;
    OSSL_LIB_CTX_new: fn() -> *mut Opaque;
    EVP_PKEY_CTX_new_from_name: fn(*mut Opaque, *const c_char, *const c_char) -> *mut Opaque;
    EVP_PKEY_CTX_new_from_pkey: fn(*mut Opaque, *mut Opaque, *const c_char) -> *mut Opaque;
    EVP_PKEY_CTX_free: fn(*mut Opaque);
    EVP_PKEY_free: fn(*mut Opaque);
    EVP_PKEY_keygen_init: fn(*mut Opaque) -> c_int;
    EVP_PKEY_generate: fn(*mut Opaque, *mut *mut Opaque) -> c_int;
    EVP_PKEY_CTX_set_rsa_keygen_bits: fn(*mut Opaque, c_int) -> c_int;
    EVP_PKEY_CTX_set_group_name: fn(*mut Opaque, *const c_char) -> c_int;
    EVP_PKEY_CTX_set_rsa_padding: fn(*mut Opaque, c_int) -> c_int;
    EVP_PKEY_CTX_set_rsa_oaep_md_name: fn(*mut Opaque, *const c_char, *const c_char) -> c_int;
    EVP_PKEY_encrypt_init: fn(*mut Opaque) -> c_int;
    EVP_PKEY_encrypt: fn(*mut Opaque, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
    EVP_PKEY_decrypt_init: fn(*mut Opaque) -> c_int;
    EVP_PKEY_decrypt: fn(*mut Opaque, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
    EVP_PKEY_derive_init: fn(*mut Opaque) -> c_int;
    EVP_PKEY_derive_set_peer: fn(*mut Opaque, *mut Opaque) -> c_int;
    EVP_PKEY_derive: fn(*mut Opaque, *mut c_uchar, *mut usize) -> c_int;
    EVP_PKEY_new_raw_private_key_ex:
        fn(*mut Opaque, *const c_char, *const c_char, *const c_uchar, usize) -> *mut Opaque;
    EVP_PKEY_get_octet_string_param: fn(*const Opaque, *const c_char, *mut c_uchar, usize, *mut usize) -> c_int;
    EVP_MD_CTX_new: fn() -> *mut Opaque;
    EVP_MD_CTX_free: fn(*mut Opaque);
    EVP_DigestSignInit_ex: fn(
        *mut Opaque, *mut *mut Opaque, *const c_char, *mut Opaque, *const c_char, *mut Opaque, *const c_void,
    ) -> c_int;
    EVP_DigestSign: fn(*mut Opaque, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
    EVP_DigestVerifyInit_ex: fn(
        *mut Opaque, *mut *mut Opaque, *const c_char, *mut Opaque, *const c_char, *mut Opaque, *const c_void,
    ) -> c_int;
    EVP_DigestVerify: fn(*mut Opaque, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
}

/// `RSA_PKCS1_OAEP_PADDING` of `rsa.h`.
const OAEP: c_int = 4;
/// `OPENSSL_VERSION_STRING` of `crypto.h`.
const VERSION_STRING: c_int = 6;
/// No public key, ciphertext, signature in DER or secret of these schemes is longer.
const MOST_B: usize = 512;
const SHA256: &CStr = c"SHA256";

struct Library {
    functions: Functions,
    /// A context of our own, which the system's `openssl.cnf` does not configure.
    context: NonNull<Opaque>,
    _library: libloading::Library,
}

// SAFETY: the functions are code; an `OSSL_LIB_CTX` may be used by several threads (openssl-threads(7)).
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

/// The library, opened in this process once.
fn library() -> Result<&'static Library, String> {
    static OPEN: OnceLock<Result<Library, String>> = OnceLock::new();
    let open = || {
        // The program of a unit test is another one and can't be its own child.
        if !cfg!(test) {
            trial::in_a_child("openssl", &[])?;
        }
        let library = file::first_of(openssl::FILES)?;
        let functions = Functions::of(&library).map_err(|name| format!("libcrypto has no {name}: it is too old"))?;
        // SAFETY: it takes nothing and gives null or a context that is ours.
        let context = NonNull::new(unsafe { (functions.OSSL_LIB_CTX_new)() })
            .ok_or_else(|| "libcrypto's OSSL_LIB_CTX_new failed".to_owned())?;
        Ok(Library { functions, context, _library: library })
    };
    OPEN.get_or_init(open).as_ref().map_err(Clone::clone)
}

/// The library's version, where it has the scheme.
///
/// # Errors
/// That it has not, or can't be opened.
pub fn version(scheme: &Scheme) -> Result<String, String> {
    let library = library()?;
    // SAFETY: it takes any number and gives null or a text that lives as long as the library.
    let version = unsafe { text((library.functions.OpenSSL_version)(VERSION_STRING)) }.unwrap_or_default();
    if scheme.id.starts_with("ml-") {
        return Err(format!("{}: OpenSSL {version} is asked for none; 3.5 is the first to have it", scheme.id));
    }
    Ok(version)
}

/// What is known of the library's file.
pub fn about() -> Option<About> {
    let library = library().ok()?;
    Some(About::of(String::new()).held_in(file::holding(library.functions.OSSL_LIB_CTX_new as *const () as usize)))
}

/// An object of the library that is freed once.
struct Owned {
    pointer: NonNull<Opaque>,
    free: unsafe extern "C" fn(*mut Opaque),
}

impl Owned {
    fn of(pointer: *mut Opaque, free: unsafe extern "C" fn(*mut Opaque), named: &str) -> Result<Self, String> {
        let pointer = NonNull::new(pointer).ok_or_else(|| format!("libcrypto's {named} failed"))?;
        Ok(Self { pointer, free })
    }

    fn get(&self) -> *mut Opaque {
        self.pointer.as_ptr()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the object is ours, and this is its function to be freed by.
        unsafe { (self.free)(self.get()) }
    }
}

fn check(done: c_int, named: &str) -> Result<(), String> {
    if done == 1 { Ok(()) } else { Err(format!("libcrypto's {named} failed")) }
}

/// A context that makes keys of the scheme, over and over.
fn generator(library: &'static Library, scheme: &Scheme) -> Result<Owned, String> {
    let f = &library.functions;
    let name = match scheme.id {
        "x25519" => c"X25519",
        "ed25519" => c"ED25519",
        "ecdh-p256" | "ecdsa-p256" => c"EC",
        _ => c"RSA",
    };
    // SAFETY: the library's context is live, the names end in zero bytes.
    unsafe {
        let pointer = (f.EVP_PKEY_CTX_new_from_name)(library.context.as_ptr(), name.as_ptr(), ptr::null());
        let context = Owned::of(pointer, f.EVP_PKEY_CTX_free, "EVP_PKEY_CTX_new_from_name")?;
        check((f.EVP_PKEY_keygen_init)(context.get()), "EVP_PKEY_keygen_init")?;
        match name.to_bytes() {
            b"EC" => {
                check((f.EVP_PKEY_CTX_set_group_name)(context.get(), c"P-256".as_ptr()), "EVP_PKEY_CTX_set_group_name")?
            }
            b"RSA" => check(
                (f.EVP_PKEY_CTX_set_rsa_keygen_bits)(context.get(), scheme.key_bits.into()),
                "EVP_PKEY_CTX_set_rsa_keygen_bits",
            )?,
            _ => {}
        }
        Ok(context)
    }
}

fn generate(library: &'static Library, context: &Owned) -> Result<Owned, String> {
    let f = &library.functions;
    let mut key = ptr::null_mut();
    // SAFETY: the context makes keys; it writes one that is ours.
    check(unsafe { (f.EVP_PKEY_generate)(context.get(), &raw mut key) }, "EVP_PKEY_generate")?;
    Owned::of(key, f.EVP_PKEY_free, "EVP_PKEY_generate")
}

/// A context in which a key works.
fn working(library: &'static Library, key: &Owned) -> Result<Owned, String> {
    let f = &library.functions;
    // SAFETY: the library's context and the key are live.
    let pointer = unsafe { (f.EVP_PKEY_CTX_new_from_pkey)(library.context.as_ptr(), key.get(), ptr::null()) };
    Owned::of(pointer, f.EVP_PKEY_CTX_free, "EVP_PKEY_CTX_new_from_pkey")
}

/// Makes an operation ready; the library draws the keys itself.
///
/// # Errors
/// What failed.
pub fn prepare(scheme: &'static Scheme, operation: Operation) -> Result<Step, String> {
    let library = library()?;
    let makes = generator(library, scheme)?;
    if operation == Operation::Generate {
        return Ok(Box::new(move || generate(library, &makes).map(drop)));
    }
    let key = generate(library, &makes)?;
    match operation {
        Operation::Agree => {
            let peer = generate(library, &makes)?;
            Ok(Box::new(move || agree(library, &key, &peer).map(drop)))
        }
        Operation::Sign => Ok(Box::new(move || sign(library, scheme, &key, &MESSAGE).map(drop))),
        Operation::Verify => {
            let signature = sign(library, scheme, &key, &MESSAGE)?;
            Ok(Box::new(move || verify(library, scheme, &key, &MESSAGE, &signature)))
        }
        Operation::Encrypt => {
            let context = oaep(library, &key, false)?;
            Ok(Box::new(move || {
                let _ = &key;
                transform(library, &context, false, &MESSAGE).map(drop)
            }))
        }
        _ => {
            let sealed = transform(library, &oaep(library, &key, false)?, false, &MESSAGE)?;
            let context = oaep(library, &key, true)?;
            Ok(Box::new(move || {
                let opened = transform(library, &context, true, &sealed)?;
                let _ = &key;
                if opened == MESSAGE { Ok(()) } else { Err("OAEP: another message came of it".to_owned()) }
            }))
        }
    }
}

fn agree(library: &'static Library, own: &Owned, peer: &Owned) -> Result<Vec<u8>, String> {
    let f = &library.functions;
    let context = working(library, own)?;
    let (mut secret, mut secret_B) = ([0; MOST_B], MOST_B);
    // SAFETY: contexts and keys are live, the secret has room for what is said.
    unsafe {
        check((f.EVP_PKEY_derive_init)(context.get()), "EVP_PKEY_derive_init")?;
        check((f.EVP_PKEY_derive_set_peer)(context.get(), peer.get()), "EVP_PKEY_derive_set_peer")?;
        check((f.EVP_PKEY_derive)(context.get(), secret.as_mut_ptr(), &raw mut secret_B), "EVP_PKEY_derive")?;
    }
    Ok(secret[..secret_B.min(MOST_B)].to_vec())
}

/// The hash of a signature; Ed25519 has its own.
fn hash(scheme: &Scheme) -> *const c_char {
    if scheme.id == "ed25519" { ptr::null() } else { SHA256.as_ptr() }
}

fn sign(library: &'static Library, scheme: &Scheme, key: &Owned, message: &[u8]) -> Result<Vec<u8>, String> {
    let f = &library.functions;
    let (mut signature, mut signature_B) = ([0; MOST_B], MOST_B);
    // SAFETY: contexts and key are live, the signature has room for what is said.
    unsafe {
        let context = Owned::of((f.EVP_MD_CTX_new)(), f.EVP_MD_CTX_free, "EVP_MD_CTX_new")?;
        let (made, none, own) = (ptr::null_mut(), ptr::null(), library.context.as_ptr());
        let done = (f.EVP_DigestSignInit_ex)(context.get(), made, hash(scheme), own, none, key.get(), ptr::null());
        check(done, "EVP_DigestSignInit_ex")?;
        let (to, from) = (signature.as_mut_ptr(), message.as_ptr());
        check((f.EVP_DigestSign)(context.get(), to, &raw mut signature_B, from, message.len()), "EVP_DigestSign")?;
    }
    Ok(signature[..signature_B.min(MOST_B)].to_vec())
}

fn verify(
    library: &'static Library,
    scheme: &Scheme,
    key: &Owned,
    message: &[u8],
    signature: &[u8],
) -> Result<(), String> {
    let f = &library.functions;
    // SAFETY: contexts and key are live, both texts as long as said.
    unsafe {
        let context = Owned::of((f.EVP_MD_CTX_new)(), f.EVP_MD_CTX_free, "EVP_MD_CTX_new")?;
        let (made, none, own) = (ptr::null_mut(), ptr::null(), library.context.as_ptr());
        let done = (f.EVP_DigestVerifyInit_ex)(context.get(), made, hash(scheme), own, none, key.get(), ptr::null());
        check(done, "EVP_DigestVerifyInit_ex")?;
        let (signature, signature_B) = (signature.as_ptr(), signature.len());
        let done = (f.EVP_DigestVerify)(context.get(), signature, signature_B, message.as_ptr(), message.len());
        check(done, "EVP_DigestVerify")
    }
}

/// A context for OAEP with SHA-256 (and MGF1 with the same).
fn oaep(library: &'static Library, key: &Owned, decrypts: bool) -> Result<Owned, String> {
    let f = &library.functions;
    let context = working(library, key)?;
    let init = if decrypts { f.EVP_PKEY_decrypt_init } else { f.EVP_PKEY_encrypt_init };
    // SAFETY: the context is live, the name ends in a zero byte.
    unsafe {
        check(init(context.get()), "EVP_PKEY_encrypt_init")?;
        check((f.EVP_PKEY_CTX_set_rsa_padding)(context.get(), OAEP), "EVP_PKEY_CTX_set_rsa_padding")?;
        let done = (f.EVP_PKEY_CTX_set_rsa_oaep_md_name)(context.get(), SHA256.as_ptr(), ptr::null());
        check(done, "EVP_PKEY_CTX_set_rsa_oaep_md_name")?;
    }
    Ok(context)
}

fn transform(library: &'static Library, context: &Owned, decrypts: bool, message: &[u8]) -> Result<Vec<u8>, String> {
    let f = &library.functions;
    let run = if decrypts { f.EVP_PKEY_decrypt } else { f.EVP_PKEY_encrypt };
    let (mut output, mut output_B) = ([0; MOST_B], MOST_B);
    // SAFETY: the context is live, the message as long as said, the output has room for what is said.
    let done = unsafe { run(context.get(), output.as_mut_ptr(), &raw mut output_B, message.as_ptr(), message.len()) };
    check(done, if decrypts { "EVP_PKEY_decrypt" } else { "EVP_PKEY_encrypt" })?;
    Ok(output[..output_B.min(MOST_B)].to_vec())
}

/// A private key of X25519 or Ed25519 from its bytes, and its public key.
///
/// # Errors
/// What failed.
fn raw(library: &'static Library, name: &CStr, secret: &[u8]) -> Result<(Owned, Vec<u8>), String> {
    let f = &library.functions;
    let own = library.context.as_ptr();
    // SAFETY: the library's context is live, the name ends in a zero byte, the secret is as long as said.
    let key =
        unsafe { (f.EVP_PKEY_new_raw_private_key_ex)(own, name.as_ptr(), ptr::null(), secret.as_ptr(), secret.len()) };
    let key = Owned::of(key, f.EVP_PKEY_free, "EVP_PKEY_new_raw_private_key_ex")?;
    let public = public(library, &key)?;
    Ok((key, public))
}

fn public(library: &'static Library, key: &Owned) -> Result<Vec<u8>, String> {
    let f = &library.functions;
    let (mut public, mut public_B) = ([0; MOST_B], 0);
    // SAFETY: the key is live, the name ends in a zero byte, there is room for what is said.
    let done = unsafe {
        let name = c"pub".as_ptr();
        (f.EVP_PKEY_get_octet_string_param)(key.get(), name, public.as_mut_ptr(), MOST_B, &raw mut public_B)
    };
    check(done, "EVP_PKEY_get_octet_string_param")?;
    Ok(public[..public_B.min(MOST_B)].to_vec())
}

/// What OpenSSL makes of given keys, for the crates to be held against: `None` where it is not asked.
///
/// * Returns for `x25519` the public key and the secret shared with `peer`'s; for `ed25519` the public key and the
///   signature of `message`; for `ecdsa-p256` a key of its own, and the signature in DER.
///
/// # Errors
/// What failed.
pub fn answer(
    scheme: &'static Scheme,
    secret: &[u8],
    peer: &[u8],
    message: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), String> {
    let library = library()?;
    match scheme.id {
        "x25519" => {
            let (own, own_public) = raw(library, c"X25519", secret)?;
            let (other, _) = raw(library, c"X25519", peer)?;
            Ok((own_public, agree(library, &own, &other)?))
        }
        "ed25519" => {
            let (own, own_public) = raw(library, c"ED25519", secret)?;
            Ok((own_public, sign(library, scheme, &own, message)?))
        }
        _ => {
            let own = generate(library, &generator(library, scheme)?)?;
            let signature = sign(library, scheme, &own, message)?;
            verify(library, scheme, &own, message, &signature)?;
            if verify(library, scheme, &own, b"another message", &signature).is_ok() {
                return Err("a forged message was taken for a signed one".to_owned());
            }
            Ok((public(library, &own)?, signature))
        }
    }
}
