//! The functions of libcrypto that are called, and its objects: pointers to what only the library knows.

use std::ffi::{c_char, c_int, c_uchar};

use crate::adapter::functions::functions;

/// `OSSL_LIB_CTX`.
pub enum LibraryContext {}
/// `OSSL_PROVIDER`.
pub enum Provider {}
/// `EVP_CIPHER`.
pub enum CipherObject {}
/// `EVP_CIPHER_CTX`.
pub enum CipherContext {}
/// `ENGINE`, of which there is none.
pub enum Engine {}

functions! { of "OpenSSL 3's `crypto.h`, `evp.h` and `provider.h`";
    OpenSSL_version: fn(c_int) -> *const c_char;
    OPENSSL_info: fn(c_int) -> *const c_char;
    OSSL_LIB_CTX_new: fn() -> *mut LibraryContext;
    OSSL_PROVIDER_load: fn(*mut LibraryContext, *const c_char) -> *mut Provider;
    OSSL_PROVIDER_get0_name: fn(*const Provider) -> *const c_char;
    EVP_CIPHER_fetch: fn(*mut LibraryContext, *const c_char, *const c_char) -> *mut CipherObject;
    EVP_CIPHER_get0_provider: fn(*const CipherObject) -> *const Provider;
    EVP_CIPHER_get_block_size: fn(*const CipherObject) -> c_int;
    EVP_CIPHER_get_iv_length: fn(*const CipherObject) -> c_int;
    EVP_CIPHER_get_key_length: fn(*const CipherObject) -> c_int;
    EVP_CIPHER_CTX_new: fn() -> *mut CipherContext;
    EVP_CIPHER_CTX_free: fn(*mut CipherContext);
    EVP_CIPHER_CTX_set_key_length: fn(*mut CipherContext, c_int) -> c_int;
    EVP_CIPHER_CTX_set_padding: fn(*mut CipherContext, c_int) -> c_int;
    EVP_CIPHER_CTX_ctrl: fn(*mut CipherContext, c_int, c_int, *mut c_uchar) -> c_int;
    EVP_CipherInit_ex:
        fn(*mut CipherContext, *const CipherObject, *mut Engine, *const c_uchar, *const c_uchar, c_int) -> c_int;
    EVP_CipherUpdate: fn(*mut CipherContext, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int;
    EVP_CipherFinal_ex: fn(*mut CipherContext, *mut c_uchar, *mut c_int) -> c_int;
}
