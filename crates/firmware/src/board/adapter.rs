//! The four functions of an adapter (`include/wattlock_board.h`), which were compiled from C or assembly and linked in.

use core::cell::UnsafeCell;
use core::ffi::c_void;

/// The largest context that an image has room for.
pub const LARGEST_CONTEXT_B: usize = 8 * 1024;
/// A key setup in each packet makes a second context beside that of the case.
const CONTEXTS: usize = 2;

/// Room for contexts, which only the adapter's functions look into.
#[repr(align(16))]
struct Room(UnsafeCell<[[u8; LARGEST_CONTEXT_B]; CONTEXTS]>);

// SAFETY: this program never looks inside, and there is one thread.
unsafe impl Sync for Room {}

static ROOM: Room = Room(UnsafeCell::new([[0; LARGEST_CONTEXT_B]; CONTEXTS]));

/// Where a context lies.
#[derive(Clone, Copy)]
pub struct Context(*mut c_void);

/// A message: IV, input, associated data.
pub type Message<'m> = (&'m [u8], &'m [u8], &'m [u8]);

unsafe extern "C" {
    fn wattlock_context_B() -> u32;
    fn wattlock_key_setup(context: *mut c_void, key: *const u8, direction: i32) -> i32;
    fn wattlock_encrypt(
        context: *mut c_void,
        iv: *const u8,
        input: *const u8,
        input_B: u32,
        output: *mut u8,
        aad: *const u8,
        aad_B: u32,
    ) -> i32;
    fn wattlock_decrypt(
        context: *mut c_void,
        iv: *const u8,
        input: *const u8,
        input_B: u32,
        output: *mut u8,
        aad: *const u8,
        aad_B: u32,
    ) -> i32;
}

/// The room for contexts: the first and the second, each of [`LARGEST_CONTEXT_B`].
pub fn contexts() -> [Context; CONTEXTS] {
    let first = ROOM.0.get().cast::<u8>();
    [Context(first.cast()), Context(first.wrapping_add(LARGEST_CONTEXT_B).cast())]
}

/// How many bytes of a context the adapter uses.
pub fn context_B() -> usize {
    // SAFETY: the header's function; it has no argument.
    unsafe { wattlock_context_B() as usize }
}

/// Prepares a context of a key that is as long as the cipher's; gives what the function returns.
#[inline(always)]
pub fn key_setup(context: Context, key: &[u8], direction: i32) -> i32 {
    // SAFETY: the context lies in the room for contexts, which is large enough (the case was refused before, were it
    // not); the key is as long as the sources were compiled for.
    unsafe { wattlock_key_setup(context.0, key.as_ptr(), direction) }
}

/// Encrypts a message, or decrypts it; gives what the function returns.
///
/// The caller has seen to it that `output` has room for what comes of the input, and that the IV has the cipher's length.
#[inline(always)]
pub fn process(context: Context, is_backward: bool, (iv, input, aad): Message<'_>, output: &mut [u8]) -> i32 {
    let function = if is_backward { wattlock_decrypt } else { wattlock_encrypt };
    #[allow(clippy::cast_possible_truncation, reason = "usize has 32 bits here")]
    let (input_B, aad_B) = (input.len() as u32, aad.len() as u32);
    // SAFETY: the slices live through the call, and the output has room, as above.
    unsafe { function(context.0, iv.as_ptr(), input.as_ptr(), input_B, output.as_mut_ptr(), aad.as_ptr(), aad_B) }
}
