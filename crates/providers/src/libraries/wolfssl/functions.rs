//! The functions of wolfSSL that are called, and the error of one that fails.

use std::ffi::{c_char, c_int, c_uchar, c_void};

use wattlock_ciphers::Error;

use crate::adapter::functions::functions;

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

/// That this function failed.
pub fn failed(function: &'static str) -> Error {
    Error::Library { function }
}
