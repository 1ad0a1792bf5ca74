//! Botan's C interface, opened at run time. Nothing of it is called from anywhere else.
//!
//! Its objects are made by name, which is slow: a program that takes a new key keeps the object, and so does a [`Pool`].
//! What is public here is safe: lengths are checked before the library is given a pointer.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_uchar};
use std::ptr::{self, NonNull};
use std::rc::Rc;

use libloading::Library;
use wattlock_ciphers::Error;

use crate::adapter::file;
use crate::adapter::functions::functions;

/// `botan_cipher_t` and `botan_block_cipher_t`, of which only the library knows what they point to.
pub enum Opaque {}

functions! { of "Botan's `ffi.h`, versions 2 and 3";
    botan_version_major: fn() -> u32;
    botan_version_minor: fn() -> u32;
    botan_version_patch: fn() -> u32;
    botan_cipher_init: fn(*mut *mut Opaque, *const c_char, u32) -> c_int;
    botan_cipher_destroy: fn(*mut Opaque) -> c_int;
    botan_cipher_reset: fn(*mut Opaque) -> c_int;
    botan_cipher_set_key: fn(*mut Opaque, *const c_uchar, usize) -> c_int;
    botan_cipher_valid_nonce_length: fn(*mut Opaque, usize) -> c_int;
    botan_cipher_get_tag_length: fn(*mut Opaque, *mut usize) -> c_int;
    botan_cipher_set_associated_data: fn(*mut Opaque, *const c_uchar, usize) -> c_int;
    botan_cipher_start: fn(*mut Opaque, *const c_uchar, usize) -> c_int;
    botan_cipher_update:
        fn(*mut Opaque, u32, *mut c_uchar, usize, *mut usize, *const c_uchar, usize, *mut usize) -> c_int;
    botan_block_cipher_init: fn(*mut *mut Opaque, *const c_char) -> c_int;
    botan_block_cipher_destroy: fn(*mut Opaque) -> c_int;
    botan_block_cipher_set_key: fn(*mut Opaque, *const c_uchar, usize) -> c_int;
    botan_block_cipher_block_size: fn(*mut Opaque) -> c_int;
    botan_block_cipher_encrypt_blocks: fn(*mut Opaque, *const c_uchar, *mut c_uchar, usize) -> c_int;
    botan_block_cipher_decrypt_blocks: fn(*mut Opaque, *const c_uchar, *mut c_uchar, usize) -> c_int;
}

/// `BOTAN_CIPHER_UPDATE_FLAG_FINAL` of `botan/ffi.h`.
const FINAL: u32 = 1;
/// `BOTAN_FFI_ERROR_BAD_MAC` of `botan/ffi.h`.
const BAD_MAC: c_int = -2;

/// The library, open until the program ends.
pub struct Libbotan {
    functions: Functions,
    /// Keeps the functions where they are.
    _library: Library,
}

impl Libbotan {
    /// Opens the first of `names` that is there.
    ///
    /// # Errors
    /// That none can be opened, or what the one that was found lacks.
    pub fn open(names: &[&str]) -> Result<Self, String> {
        let library = file::first_of(names)?;
        let functions = Functions::of(&library).map_err(|name| format!("it has no {name}: it is older than 2.8"))?;
        Ok(Self { functions, _library: library })
    }

    /// Its version, such as `2.19.3`.
    pub fn version(&self) -> String {
        // SAFETY: they take nothing.
        let [major, minor, patch] = unsafe {
            [
                (self.functions.botan_version_major)(),
                (self.functions.botan_version_minor)(),
                (self.functions.botan_version_patch)(),
            ]
        };
        format!("{major}.{minor}.{patch}")
    }

    /// Where one of its functions lies.
    pub fn place(&self) -> usize {
        self.functions.botan_cipher_init as *const () as usize
    }

    /// Objects of this name.
    ///
    /// # Errors
    /// That the library has none.
    pub fn pool(&'static self, name: &str, kind: Kind) -> Result<Pool, String> {
        let in_c = CString::new(name).map_err(|_| format!("{name:?} is no name"))?;
        let (is_eax, spares) = (name.contains("/EAX"), RefCell::default());
        let pool = Pool { functions: &self.functions, name: in_c, kind, is_eax, spares };
        let lacks = |_| format!("Botan {} was built without {name}", self.version());
        let object = pool.make().map_err(lacks)?;
        pool.spares.borrow_mut().push(object);
        Ok(pool)
    }
}

/// What an object does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A mode, one direction of it.
    Mode {
        /// It decrypts.
        decrypts: bool,
    },
    /// A block cipher, in both directions.
    Block,
}

/// Objects of one name and direction: those that are not in use wait for another key.
pub struct Pool {
    functions: &'static Functions,
    name: CString,
    kind: Kind,
    /// EAX of Botan 2 takes no associated data after a message before it is reset, and keeps what it made of that of an
    /// earlier key: it is reset after each message and told its associated data before each, also where there is none.
    is_eax: bool,
    spares: RefCell<Vec<NonNull<Opaque>>>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        let destroy = match self.kind {
            Kind::Mode { .. } => self.functions.botan_cipher_destroy,
            Kind::Block => self.functions.botan_block_cipher_destroy,
        };
        for object in self.spares.get_mut().drain(..) {
            // SAFETY: the object is of this kind, in no use, and destroyed once.
            unsafe { destroy(object.as_ptr()) };
        }
    }
}

impl Pool {
    fn make(&self) -> Result<NonNull<Opaque>, Error> {
        let mut object = ptr::null_mut();
        // SAFETY: the name ends in a zero byte; what is written is a pointer.
        let done = unsafe {
            match self.kind {
                Kind::Mode { decrypts } => {
                    (self.functions.botan_cipher_init)(&raw mut object, self.name.as_ptr(), u32::from(decrypts))
                }
                Kind::Block => (self.functions.botan_block_cipher_init)(&raw mut object, self.name.as_ptr()),
            }
        };
        check(done, "botan_cipher_init")?;
        NonNull::new(object).ok_or(failed("botan_cipher_init"))
    }

    /// Bytes of the tag; of a block cipher, of a block.
    ///
    /// # Errors
    /// [`Error::Library`].
    pub fn size_B(self: &Rc<Self>) -> Result<usize, Error> {
        let object = self.taken()?;
        let pointer = object.pointer.as_ptr();
        if self.kind == Kind::Block {
            // SAFETY: the object is a live block cipher.
            let size_B = unsafe { (self.functions.botan_block_cipher_block_size)(pointer) };
            return usize::try_from(size_B).map_err(|_| failed("botan_block_cipher_block_size"));
        }
        let mut size_B = 0;
        // SAFETY: the object is a live mode; what is written is a size.
        let done = unsafe { (self.functions.botan_cipher_get_tag_length)(pointer, &raw mut size_B) };
        check(done, "botan_cipher_get_tag_length").map(|()| size_B)
    }

    /// Whether a mode takes nonces of this length.
    pub fn takes_nonce(self: &Rc<Self>, nonce_B: usize) -> bool {
        let Ok(object) = self.taken() else { return false };
        // SAFETY: the object is a live mode.
        let valid = unsafe { (self.functions.botan_cipher_valid_nonce_length)(object.pointer.as_ptr(), nonce_B) };
        self.kind != Kind::Block && valid == 1
    }

    #[inline]
    fn taken(self: &Rc<Self>) -> Result<Object, Error> {
        let spare = self.spares.borrow_mut().pop();
        let pointer = match spare {
            Some(pointer) => pointer,
            None => self.make()?,
        };
        Ok(Object { pool: Rc::clone(self), pointer, has_aad: false })
    }

    /// An object with this key; one that waits where there is one.
    ///
    /// # Errors
    /// [`Error::Library`].
    #[inline]
    pub fn keyed(self: &Rc<Self>, key: &[u8]) -> Result<Object, Error> {
        let object = self.taken()?;
        let set_key = match self.kind {
            Kind::Mode { .. } => self.functions.botan_cipher_set_key,
            Kind::Block => self.functions.botan_block_cipher_set_key,
        };
        // SAFETY: the object is live and of this kind, the key as long as said.
        let done = unsafe { set_key(object.pointer.as_ptr(), key.as_ptr(), key.len()) };
        check(done, "botan_cipher_set_key").map(|()| object)
    }
}

/// An object of the library; it goes back to its pool.
pub struct Object {
    pool: Rc<Pool>,
    pointer: NonNull<Opaque>,
    has_aad: bool,
}

impl Drop for Object {
    #[inline]
    fn drop(&mut self) {
        if self.has_aad {
            // The next key begins without associated data.
            let _ = self.associate(&[]);
        }
        self.pool.spares.borrow_mut().push(self.pointer);
    }
}

impl Object {
    /// The associated data of the messages from now on.
    ///
    /// # Errors
    /// [`Error::Library`].
    #[inline]
    pub fn associate(&mut self, aad: &[u8]) -> Result<(), Error> {
        if aad.is_empty() && !self.has_aad && !self.pool.is_eax {
            return Ok(());
        }
        self.has_aad = !aad.is_empty();
        let associate = self.pool.functions.botan_cipher_set_associated_data;
        // SAFETY: the object is live, the data as long as said; another kind of object is an error.
        let done = unsafe { associate(self.pointer.as_ptr(), aad.as_ptr(), aad.len()) };
        check(done, "botan_cipher_set_associated_data")
    }

    /// One whole message of a mode; gives the bytes written.
    ///
    /// # Errors
    /// [`Error::Forged`]; [`Error::Library`], also where the output is too small or the padding wrong.
    #[inline]
    pub fn message(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let Functions { botan_cipher_start: start, botan_cipher_update: update, .. } = *self.pool.functions;
        if self.pool.kind == Kind::Block {
            return Err(Error::NoSuchOperation);
        }
        let object = self.pointer.as_ptr();
        // SAFETY: the object is a live mode, the IV as long as said.
        check(unsafe { start(object, iv.as_ptr(), iv.len()) }, "botan_cipher_start")?;
        let (mut written_B, mut consumed_B) = (0, 0);
        let (into, room_B, from, input_B) = (output.as_mut_ptr(), output.len(), input.as_ptr(), input.len());
        // SAFETY: the object is a live mode, input and output are as long as said.
        let done =
            unsafe { update(object, FINAL, into, room_B, &raw mut written_B, from, input_B, &raw mut consumed_B) };
        if done != 0 || self.pool.is_eax {
            // SAFETY: the object is a live mode; it forgets the message and keeps its key.
            unsafe { (self.pool.functions.botan_cipher_reset)(object) };
        }
        match done {
            0 => Ok(written_B),
            BAD_MAC => Err(Error::Forged),
            _ => Err(failed("botan_cipher_update")),
        }
    }

    /// Whole blocks by a block cipher.
    ///
    /// # Errors
    /// [`Error::NotWholeBlocks`], [`Error::OutputTooSmall`], [`Error::Library`].
    #[inline]
    pub fn blocks(&mut self, block_B: usize, decrypts: bool, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let (given_B, needed_B) = (output.len(), input.len());
        if self.pool.kind != Kind::Block || !needed_B.is_multiple_of(block_B) {
            return Err(Error::NotWholeBlocks { given_B: needed_B, block_B });
        }
        if given_B < needed_B {
            return Err(Error::OutputTooSmall { given_B, needed_B });
        }
        let Functions {
            botan_block_cipher_encrypt_blocks: encrypt, botan_block_cipher_decrypt_blocks: decrypt, ..
        } = *self.pool.functions;
        let work = if decrypts { decrypt } else { encrypt };
        // SAFETY: the object is a live block cipher whose blocks have `block_B` bytes, which was asked of the library
        // when it was found; input and output hold that many.
        let done = unsafe { work(self.pointer.as_ptr(), input.as_ptr(), output.as_mut_ptr(), needed_B / block_B) };
        check(done, "botan_block_cipher_encrypt_blocks")
    }
}

#[inline]
fn failed(function: &'static str) -> Error {
    Error::Library { function }
}

#[inline]
fn check(done: c_int, function: &'static str) -> Result<(), Error> {
    if done == 0 { Ok(()) } else { Err(failed(function)) }
}
