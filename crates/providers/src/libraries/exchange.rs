//! Key establishment by OpenSSL's libcrypto: RSA-OAEP, which no kept crate has, and the curves beside those of the crates.

#[cfg(test)]
mod tests;

use std::ffi::{CStr, c_char, c_int, c_long, c_uchar, c_void};
use std::ptr::{self, NonNull};

use wattlock_bench::establish::{Exchange, Keyed, Octets, Scheme};
use wattlock_bench::implementation::About;
use wattlock_records::Operation;

use super::libcrypto;
use crate::adapter::functions::{functions, opened_once, text};
use crate::adapter::{child_process, file};
use crate::library::held_in;

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
    EVP_PKEY_new_raw_public_key_ex:
        fn(*mut Opaque, *const c_char, *const c_char, *const c_uchar, usize) -> *mut Opaque;
    EVP_PKEY_new: fn() -> *mut Opaque;
    EVP_PKEY_copy_parameters: fn(*mut Opaque, *const Opaque) -> c_int;
    EVP_PKEY_set1_encoded_public_key: fn(*mut Opaque, *const c_uchar, usize) -> c_int;
    d2i_AutoPrivateKey_ex:
        fn(*mut *mut Opaque, *mut *const c_uchar, c_long, *mut Opaque, *const c_char) -> *mut Opaque;
    d2i_PUBKEY_ex: fn(*mut *mut Opaque, *mut *const c_uchar, c_long, *mut Opaque, *const c_char) -> *mut Opaque;
    i2d_PrivateKey: fn(*const Opaque, *mut *mut c_uchar) -> c_int;
    i2d_PUBKEY: fn(*const Opaque, *mut *mut c_uchar) -> c_int;
    EVP_PKEY_get_bn_param: fn(*const Opaque, *const c_char, *mut *mut Opaque) -> c_int;
    BN_bn2binpad: fn(*const Opaque, *mut c_uchar, c_int) -> c_int;
    BN_clear_free: fn(*mut Opaque);
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
/// No public key, ciphertext, signature in DER or secret of these schemes is longer; keys of RSA are asked for their length.
const MOST_B: usize = 512;
/// What stands before and after the 32 octets of a secret of P-256 in an `ECPrivateKey` (RFC 5915, 3): version 1, then the
/// curve's name.
const SECRET_OF_P256: ([u8; 7], [u8; 12]) = (
    [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20],
    [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
);
const SHA256: &CStr = c"SHA256";

struct Library {
    functions: Functions,
    /// A context of our own, which the system's `openssl.cnf` does not configure.
    context: NonNull<Opaque>,
    /// A key of P-256, whose parameters those that are read take over.
    p256: Owned,
    _library: libloading::Library,
}

// SAFETY: the functions are code; an `OSSL_LIB_CTX` may be used by several threads (openssl-threads(7)).
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

opened_once!(Library, open);

fn open() -> Result<Library, String> {
    // The program of a unit test is another one and can't be its own child.
    if !cfg!(test) {
        child_process::in_a_child("openssl", &[], false)?;
    }
    let library = file::first_of(libcrypto::FILES)?;
    let functions = Functions::of(&library).map_err(|name| format!("libcrypto has no {name}: it is too old"))?;
    // SAFETY: it takes nothing and gives null or a context that is ours.
    let context = NonNull::new(unsafe { (functions.OSSL_LIB_CTX_new)() })
        .ok_or_else(|| "libcrypto's OSSL_LIB_CTX_new failed".to_owned())?;
    let p256 = generate(&functions, &generator(&functions, context, c"EC", 0)?)?;
    Ok(Library { functions, context, p256, _library: library })
}

/// OpenSSL's libcrypto, as one that carries out the operations of schemes.
pub struct OpenSsl;

impl Exchange for OpenSsl {
    fn name(&self) -> &'static str {
        "openssl"
    }

    fn version(&self, scheme: &Scheme) -> Result<String, String> {
        let library = library()?;
        // SAFETY: it takes any number and gives null or a text that lives as long as the library.
        let version = unsafe { text((library.functions.OpenSSL_version)(VERSION_STRING)) }.unwrap_or_default();
        if scheme.id.starts_with("ml-") {
            return Err(format!("{}: OpenSSL {version} is asked for none; 3.5 is the first to have it", scheme.id));
        }
        Ok(version)
    }

    fn load(&self, scheme: &'static Scheme, operation: Operation, octets: &Octets) -> Result<Keyed, String> {
        load(scheme, operation, octets)
    }

    fn about(&self) -> Option<About> {
        let library = library().ok()?;
        let place = library.functions.OSSL_LIB_CTX_new as *const () as usize;
        Some(held_in(About::of(String::new()), file::holding(place)))
    }

    fn draws(&self, scheme: &Scheme, operation: Operation) -> bool {
        operation == Operation::Generate || (operation == Operation::Sign && scheme.id == "ecdsa-p256")
    }
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

/// A context that makes keys of a kind, over and over; `bits` is for RSA.
fn generator(f: &Functions, own: NonNull<Opaque>, name: &CStr, bits: u16) -> Result<Owned, String> {
    // SAFETY: the library's context is live, the names end in zero bytes.
    unsafe {
        let pointer = (f.EVP_PKEY_CTX_new_from_name)(own.as_ptr(), name.as_ptr(), ptr::null());
        let context = Owned::of(pointer, f.EVP_PKEY_CTX_free, "EVP_PKEY_CTX_new_from_name")?;
        check((f.EVP_PKEY_keygen_init)(context.get()), "EVP_PKEY_keygen_init")?;
        match name.to_bytes() {
            b"EC" => {
                check((f.EVP_PKEY_CTX_set_group_name)(context.get(), c"P-256".as_ptr()), "EVP_PKEY_CTX_set_group_name")?
            }
            b"RSA" => {
                let done = (f.EVP_PKEY_CTX_set_rsa_keygen_bits)(context.get(), bits.into());
                check(done, "EVP_PKEY_CTX_set_rsa_keygen_bits")?;
            }
            _ => {}
        }
        Ok(context)
    }
}

fn generate(f: &Functions, context: &Owned) -> Result<Owned, String> {
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

/// Reads the key of an operation; what comes back carries the operation out.
fn load(scheme: &'static Scheme, operation: Operation, octets: &Octets) -> Result<Keyed, String> {
    let library = library()?;
    Ok(match operation {
        Operation::Generate => {
            let name = match scheme.id {
                "x25519" => c"X25519",
                "ed25519" => c"ED25519",
                "ecdh-p256" | "ecdsa-p256" => c"EC",
                _ => c"RSA",
            };
            let makes = generator(&library.functions, library.context, name, scheme.key_bits)?;
            Box::new(move |_| written(library, name, &generate(&library.functions, &makes)?))
        }
        Operation::Agree => {
            let (own, peer) = (private(library, scheme, &octets.secret)?, reads(library, scheme, &octets.public)?);
            Box::new(move |_| Ok(Octets { shared: agree(library, &own, &peer)?, ..Octets::default() }))
        }
        Operation::Sign => {
            let key = private(library, scheme, &octets.secret)?;
            Box::new(move |octets| {
                let signature = sign(library, scheme, &key, &octets.message)?;
                let sent = if scheme.id == "ecdsa-p256" { two_numbers(&signature)? } else { signature };
                Ok(Octets { sent, ..Octets::default() })
            })
        }
        Operation::Verify => {
            let key = reads(library, scheme, &octets.public)?;
            Box::new(move |octets| {
                let signature = if scheme.id == "ecdsa-p256" { der(&octets.sent)? } else { octets.sent.clone() };
                verify(library, scheme, &key, &octets.message, &signature).map(|()| Octets::default())
            })
        }
        Operation::Encrypt => {
            let context = oaep(library, &reads(library, scheme, &octets.public)?, false)?;
            Box::new(move |octets| {
                Ok(Octets { sent: transform(library, &context, false, &octets.message)?, ..Octets::default() })
            })
        }
        _ => {
            let context = oaep(library, &private(library, scheme, &octets.secret)?, true)?;
            Box::new(move |octets| {
                Ok(Octets { message: transform(library, &context, true, &octets.sent)?, ..Octets::default() })
            })
        }
    })
}

/// The two numbers of a signature in DER, 32 octets each.
fn two_numbers(signature: &[u8]) -> Result<Vec<u8>, String> {
    let signature = p256::ecdsa::Signature::from_der(signature).map_err(|error| error.to_string())?;
    Ok(signature.to_bytes().to_vec())
}

fn der(numbers: &[u8]) -> Result<Vec<u8>, String> {
    let signature = p256::ecdsa::Signature::from_slice(numbers).map_err(|error| error.to_string())?;
    Ok(signature.to_der().as_bytes().to_vec())
}

/// A secret key from its bytes.
fn private(library: &'static Library, scheme: &Scheme, secret: &[u8]) -> Result<Owned, String> {
    match scheme.id {
        "x25519" => raw(library, c"X25519", secret),
        "ed25519" => raw(library, c"ED25519", secret),
        "ecdh-p256" | "ecdsa-p256" => {
            let (before, after) = &SECRET_OF_P256;
            read_der(library, library.functions.d2i_AutoPrivateKey_ex, &[before, secret, after].concat())
        }
        _ => read_der(library, library.functions.d2i_AutoPrivateKey_ex, secret),
    }
}

/// A public key from its bytes.
fn reads(library: &'static Library, scheme: &Scheme, public: &[u8]) -> Result<Owned, String> {
    let (f, own) = (&library.functions, library.context.as_ptr());
    let named = match scheme.id {
        "x25519" => c"X25519",
        "ed25519" => c"ED25519",
        "ecdh-p256" | "ecdsa-p256" => return point(library, public),
        _ => return read_der(library, f.d2i_PUBKEY_ex, public),
    };
    // SAFETY: the library's context is live, the name ends in a zero byte, the key is as long as said.
    let key =
        unsafe { (f.EVP_PKEY_new_raw_public_key_ex)(own, named.as_ptr(), ptr::null(), public.as_ptr(), public.len()) };
    Owned::of(key, f.EVP_PKEY_free, "EVP_PKEY_new_raw_public_key_ex")
}

/// A public key of P-256 from its point, as TLS reads one.
fn point(library: &'static Library, public: &[u8]) -> Result<Owned, String> {
    let f = &library.functions;
    // SAFETY: it takes nothing; both keys are live, the point is as long as said.
    unsafe {
        let key = Owned::of((f.EVP_PKEY_new)(), f.EVP_PKEY_free, "EVP_PKEY_new")?;
        check((f.EVP_PKEY_copy_parameters)(key.get(), library.p256.get()), "EVP_PKEY_copy_parameters")?;
        let done = (f.EVP_PKEY_set1_encoded_public_key)(key.get(), public.as_ptr(), public.len());
        check(done, "EVP_PKEY_set1_encoded_public_key")?;
        Ok(key)
    }
}

type ReadDer =
    unsafe extern "C" fn(*mut *mut Opaque, *mut *const c_uchar, c_long, *mut Opaque, *const c_char) -> *mut Opaque;

fn read_der(library: &'static Library, read: ReadDer, bytes: &[u8]) -> Result<Owned, String> {
    let length = c_long::try_from(bytes.len()).map_err(|error| error.to_string())?;
    let mut from = bytes.as_ptr();
    // SAFETY: the bytes are as long as said, the library's context is live.
    let key = unsafe { read(ptr::null_mut(), &raw mut from, length, library.context.as_ptr(), ptr::null()) };
    Owned::of(key, library.functions.EVP_PKEY_free, "d2i")
}

/// Both keys of a pair as bytes.
fn written(library: &'static Library, name: &CStr, key: &Owned) -> Result<Octets, String> {
    let f = &library.functions;
    let (public, secret) = match name.to_bytes() {
        b"RSA" => (write_der(key, f.i2d_PUBKEY)?, write_der(key, f.i2d_PrivateKey)?),
        b"EC" => (parameter(f, key, c"pub")?, scalar(f, key)?),
        _ => (parameter(f, key, c"pub")?, parameter(f, key, c"priv")?),
    };
    Ok(Octets { public, secret, ..Octets::default() })
}

/// The secret number of a key of P-256.
fn scalar(f: &Functions, key: &Owned) -> Result<Vec<u8>, String> {
    let (mut number, mut secret) = (ptr::null_mut(), vec![0; 32]);
    // SAFETY: the key is live, the name ends in a zero byte; the number is ours, and 32 octets have room for it.
    unsafe {
        check((f.EVP_PKEY_get_bn_param)(key.get(), c"priv".as_ptr(), &raw mut number), "EVP_PKEY_get_bn_param")?;
        let number = Owned::of(number, f.BN_clear_free, "EVP_PKEY_get_bn_param")?;
        let written = (f.BN_bn2binpad)(number.get(), secret.as_mut_ptr(), 32);
        if written == 32 { Ok(secret) } else { Err("libcrypto's BN_bn2binpad failed".to_owned()) }
    }
}

fn write_der(
    key: &Owned,
    write: unsafe extern "C" fn(*const Opaque, *mut *mut c_uchar) -> c_int,
) -> Result<Vec<u8>, String> {
    // SAFETY: the key is live; without a place to write to it says the length.
    let length = unsafe { write(key.get(), ptr::null_mut()) };
    let mut bytes = vec![0; usize::try_from(length).map_err(|_| "libcrypto's i2d failed".to_owned())?];
    let mut to = bytes.as_mut_ptr();
    // SAFETY: there is room for what it said.
    let written = unsafe { write(key.get(), &raw mut to) };
    if written == length { Ok(bytes) } else { Err("libcrypto's i2d failed".to_owned()) }
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

/// A private key of X25519 or Ed25519.
fn raw(library: &'static Library, name: &CStr, secret: &[u8]) -> Result<Owned, String> {
    let f = &library.functions;
    let own = library.context.as_ptr();
    // SAFETY: the library's context is live, the name ends in a zero byte, the secret is as long as said.
    let key =
        unsafe { (f.EVP_PKEY_new_raw_private_key_ex)(own, name.as_ptr(), ptr::null(), secret.as_ptr(), secret.len()) };
    Owned::of(key, f.EVP_PKEY_free, "EVP_PKEY_new_raw_private_key_ex")
}

/// A key's parameter of this name.
fn parameter(f: &Functions, key: &Owned, name: &CStr) -> Result<Vec<u8>, String> {
    let (mut octets, mut length) = ([0; MOST_B], 0);
    // SAFETY: the key is live, the name ends in a zero byte, there is room for what is said.
    let done = unsafe {
        (f.EVP_PKEY_get_octet_string_param)(key.get(), name.as_ptr(), octets.as_mut_ptr(), MOST_B, &raw mut length)
    };
    check(done, "EVP_PKEY_get_octet_string_param")?;
    Ok(octets[..length.min(MOST_B)].to_vec())
}
