//! libtomcrypt's associated data.
//!
//! GCM, CCM and ChaCha20-Poly1305 keep a key. EAX and OCB3 have no function that begins a message without one, so each
//! message of theirs sets up its key anew, as it must in any program.

use std::ffi::{c_int, c_ulong, c_void};

use wattlock_ciphers::{Cipher, Direction, Error, Spec, Suite};

use super::result::check;
use crate::adapter::functions::functions;
use crate::adapter::keeping::{AEAD_KEY_B, KeptKey, Room, room};
use crate::adapter::lengths;
use crate::adapter::mode_adapter::{self, Handle, Moded};

functions! { of "`tomcrypt_mac.h` and `tomcrypt_cipher.h`, version 1.18";
    rijndael_setup: fn(*const u8, c_int, c_int, *mut c_void) -> c_int;
    gcm_init: fn(*mut c_void, c_int, *const u8, c_int) -> c_int;
    gcm_reset: fn(*mut c_void) -> c_int;
    gcm_add_iv: fn(*mut c_void, *const u8, c_ulong) -> c_int;
    gcm_add_aad: fn(*mut c_void, *const u8, c_ulong) -> c_int;
    gcm_process: fn(*mut c_void, *mut u8, c_ulong, *mut u8, c_int) -> c_int;
    gcm_done: fn(*mut c_void, *mut u8, *mut c_ulong) -> c_int;
    ccm_memory: fn(
        c_int, *const u8, c_ulong, *mut c_void, *const u8, c_ulong, *const u8, c_ulong, *mut u8, c_ulong, *mut u8,
        *mut u8, *mut c_ulong, c_int,
    ) -> c_int;
    eax_init: fn(*mut c_void, c_int, *const u8, c_ulong, *const u8, c_ulong, *const u8, c_ulong) -> c_int;
    eax_encrypt: fn(*mut c_void, *const u8, *mut u8, c_ulong) -> c_int;
    eax_decrypt: fn(*mut c_void, *const u8, *mut u8, c_ulong) -> c_int;
    eax_done: fn(*mut c_void, *mut u8, *mut c_ulong) -> c_int;
    ocb3_init: fn(*mut c_void, c_int, *const u8, c_ulong, *const u8, c_ulong, c_ulong) -> c_int;
    ocb3_add_aad: fn(*mut c_void, *const u8, c_ulong) -> c_int;
    ocb3_encrypt_last: fn(*mut c_void, *const u8, c_ulong, *mut u8) -> c_int;
    ocb3_decrypt_last: fn(*mut c_void, *const u8, c_ulong, *mut u8) -> c_int;
    ocb3_done: fn(*mut c_void, *mut u8, *mut c_ulong) -> c_int;
    chacha20poly1305_init: fn(*mut c_void, *const u8, c_ulong) -> c_int;
    chacha20poly1305_setiv: fn(*mut c_void, *const u8, c_ulong) -> c_int;
    chacha20poly1305_add_aad: fn(*mut c_void, *const u8, c_ulong) -> c_int;
    chacha20poly1305_encrypt: fn(*mut c_void, *const u8, c_ulong, *mut u8) -> c_int;
    chacha20poly1305_decrypt: fn(*mut c_void, *const u8, c_ulong, *mut u8) -> c_int;
    chacha20poly1305_done: fn(*mut c_void, *mut u8, *mut c_ulong) -> c_int;
}

/// `CRYPT_ERROR`: what CCM says of a wrong tag.
const ERROR: c_int = 1;
/// Bytes of the longest tag.
const MOST_TAG_B: usize = 16;

#[derive(Clone, Copy)]
enum Kind {
    Gcm,
    Ccm,
    Eax,
    Ocb3,
    ChaCha20Poly1305,
}

/// A cipher with associated data, ready to take keys.
#[derive(Clone, Copy)]
pub struct Aead {
    functions: &'static Functions,
    kind: Kind,
    /// The number of AES; not read for ChaCha20-Poly1305.
    cipher: c_int,
}

impl Aead {
    /// What the library has for `spec`, and the name of the state that it works in.
    pub fn of(spec: &Spec, functions: &'static Functions, cipher: c_int) -> Option<(Self, &'static str)> {
        let (kind, state) = match spec.card.family {
            "aes-gcm" => (Kind::Gcm, "gcm_state"),
            "aes-ccm" | "aes-ccm8" => (Kind::Ccm, "symmetric_key"),
            "aes-eax" => (Kind::Eax, "eax_state"),
            "aes-ocb3" => (Kind::Ocb3, "ocb3_state"),
            "chacha20-poly1305" => (Kind::ChaCha20Poly1305, "chacha20poly1305_state"),
            _ => return None,
        };
        Some((Self { functions, kind, cipher }, state))
    }

    /// Whether each message sets up its key.
    pub fn is_keyed_anew(&self) -> bool {
        matches!(self.kind, Kind::Eax | Kind::Ocb3)
    }
}

/// An [`Aead`] with its spec and the bytes of its state.
#[derive(Clone)]
pub struct AeadSuite {
    pub spec: Spec,
    pub aead: Aead,
    /// As the library tells for the state that [`Aead::of`] names.
    pub state_B: usize,
}

impl AeadSuite {
    /// Whether an empty message is sealed as RFC 8439 says. ChaCha20-Poly1305 of 1.18.2 and older does not pad the
    /// associated data of one; that was mended in the development branch after it.
    ///
    /// # Errors
    /// What the library's functions fail with.
    pub fn seals_empty_messages(&self) -> Result<bool, Error> {
        // Key and nonce of zeros, one zero byte of associated data; by PyCryptodome.
        const RIGHT: [u8; 16] =
            [0xa6, 0x22, 0x78, 0xe7, 0x0d, 0x8a, 0xda, 0xb9, 0xe6, 0xdc, 0x2a, 0x4e, 0x4a, 0x93, 0xf1, 0x49];
        if !matches!(self.aead.kind, Kind::ChaCha20Poly1305) {
            return Ok(true);
        }
        let mut tag = [0; MOST_TAG_B];
        self.key_setup(&[0; 32], Direction::Encrypt)?.seal(&[0; 12], &[0], &[], &mut tag)?;
        Ok(tag == RIGHT)
    }
}

impl Suite for AeadSuite {
    type Cipher = Moded<Keyed>;

    #[inline]
    fn key_setup(&self, key: &[u8], _direction: Direction) -> Result<Self::Cipher, Error> {
        const FAILED: Error = Error::Library { function: "int for a length" };
        lengths::key(&self.spec, key)?;
        let Aead { functions, kind, cipher } = self.aead;
        let key_B = c_int::try_from(key.len()).map_err(|_| FAILED)?;
        let mut state = room(self.state_B);
        let pointer = state.as_mut_ptr().cast();
        // SAFETY: the state has the size that the library told for it, the key is as long as said.
        unsafe {
            match kind {
                Kind::Gcm => check((functions.gcm_init)(pointer, cipher, key.as_ptr(), key_B), "gcm_init")?,
                Kind::Ccm => check((functions.rijndael_setup)(key.as_ptr(), key_B, 0, pointer), "rijndael_setup")?,
                Kind::Eax | Kind::Ocb3 => {}
                Kind::ChaCha20Poly1305 => {
                    let init = functions.chacha20poly1305_init;
                    check(init(pointer, key.as_ptr(), key.len() as c_ulong), "chacha20poly1305_init")?;
                }
            }
        }
        Ok(Moded::new(&self.spec, Keyed { aead: self.aead, state, key: KeptKey::of(key) }))
    }
}

/// A state with its key, and the key where the state can't keep it.
pub struct Keyed {
    aead: Aead,
    state: Room,
    key: KeptKey<AEAD_KEY_B>,
}

impl Handle for Keyed {
    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        self.message(false, nonce, aad, input, output, tag)
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8], given: &[u8]) -> Result<(), Error> {
        let mut tag = [0; MOST_TAG_B];
        let tag = tag.get_mut(..given.len()).ok_or(Error::Forged)?;
        // What CCM compares with; the others write theirs.
        tag.copy_from_slice(given);
        self.message(true, nonce, aad, input, output, tag)?;
        mode_adapter::same(tag, given)
    }
}

impl Keyed {
    #[inline]
    fn message(
        &mut self,
        decrypts: bool,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let Aead { functions, kind, cipher } = self.aead;
        let state = self.state.as_mut_ptr().cast();
        let ((key, key_B), (aad, aad_B)) = (in_c(self.key.bytes()), in_c(aad));
        let ((nonce, nonce_B), (from, text_B)) = (in_c(nonce), in_c(input));
        let mut tag_B = tag.len() as c_ulong;
        let (to, out, out_B) = (output.as_mut_ptr(), tag.as_mut_ptr(), &raw mut tag_B);
        // GCM and CCM name plaintext and ciphertext, whichever is read; 1 is `LTC_DECRYPT`.
        let direction = c_int::from(decrypts);
        let (plain, sealed) = if decrypts { (to, from.cast_mut()) } else { (from.cast_mut(), to) };
        // SAFETY: the state has its key, or takes it here; all are as long as said, the output as long as the input; what
        // is named as input is not written.
        unsafe {
            match kind {
                Kind::Gcm => {
                    check((functions.gcm_reset)(state), "gcm_reset")?;
                    check((functions.gcm_add_iv)(state, nonce, nonce_B), "gcm_add_iv")?;
                    check((functions.gcm_add_aad)(state, aad, aad_B), "gcm_add_aad")?;
                    check((functions.gcm_process)(state, plain, text_B, sealed, direction), "gcm_process")?;
                    check((functions.gcm_done)(state, out, out_B), "gcm_done")
                }
                Kind::Ccm => {
                    let done = (functions.ccm_memory)(
                        cipher, key, key_B, state, nonce, nonce_B, aad, aad_B, plain, text_B, sealed, out, out_B,
                        direction,
                    );
                    if decrypts && done == ERROR { Err(Error::Forged) } else { check(done, "ccm_memory") }
                }
                Kind::Eax => {
                    let init = functions.eax_init;
                    check(init(state, cipher, key, key_B, nonce, nonce_B, aad, aad_B), "eax_init")?;
                    let run = if decrypts { functions.eax_decrypt } else { functions.eax_encrypt };
                    check(run(state, from, to, text_B), "eax_encrypt or eax_decrypt")?;
                    check((functions.eax_done)(state, out, out_B), "eax_done")
                }
                Kind::Ocb3 => {
                    let init = functions.ocb3_init;
                    check(init(state, cipher, key, key_B, nonce, nonce_B, tag_B), "ocb3_init")?;
                    check((functions.ocb3_add_aad)(state, aad, aad_B), "ocb3_add_aad")?;
                    let run = if decrypts { functions.ocb3_decrypt_last } else { functions.ocb3_encrypt_last };
                    check(run(state, from, text_B, to), "ocb3_encrypt_last or ocb3_decrypt_last")?;
                    check((functions.ocb3_done)(state, out, out_B), "ocb3_done")
                }
                Kind::ChaCha20Poly1305 => {
                    check((functions.chacha20poly1305_setiv)(state, nonce, nonce_B), "chacha20poly1305_setiv")?;
                    check((functions.chacha20poly1305_add_aad)(state, aad, aad_B), "chacha20poly1305_add_aad")?;
                    let run =
                        if decrypts { functions.chacha20poly1305_decrypt } else { functions.chacha20poly1305_encrypt };
                    check(run(state, from, text_B, to), "chacha20poly1305_encrypt or _decrypt")?;
                    check((functions.chacha20poly1305_done)(state, out, out_B), "chacha20poly1305_done")
                }
            }
        }
    }
}

/// A text as the library takes one. It ends a program that gives it null; the pointer of an empty slice is none.
#[inline]
fn in_c(text: &[u8]) -> (*const u8, c_ulong) {
    (text.as_ptr(), text.len() as c_ulong)
}
