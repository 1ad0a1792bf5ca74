//! What a function of libtomcrypt returns.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use wattlock_ciphers::Error;

/// `CRYPT_OK`.
pub const OK: c_int = 0;

/// An error where the function did not return [`OK`].
#[inline]
pub fn check(done: c_int, function: &'static str) -> Result<(), Error> {
    if done == OK { Ok(()) } else { Err(Error::Library { function }) }
}
