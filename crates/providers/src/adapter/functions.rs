//! Declares functions of a library by their names in C, and looks them up.

use std::ffi::{CStr, c_char};

/// A struct `Functions` of these function pointers, with `Functions::of` that finds all of them in an open library.
///
/// The types are those of the header that `of` names: the one promise that no compiler holds.
macro_rules! functions {
    (of $header:literal; $($name:ident: fn($($argument:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        #[doc = concat!("The functions that are called, as ", $header, " declares them.")]
        #[derive(Clone, Copy)]
        #[allow(non_snake_case)]
        pub struct Functions { $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl Functions {
            /// Looks all of them up.
            ///
            /// # Errors
            /// The name of the first function that the library does not have.
            pub fn of(library: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        // SAFETY: the type is that of the function of this name in the library's header, which keeps
                        // it within the major version that is asked for.
                        let symbol = unsafe {
                            library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(stringify!($name))
                        };
                        *symbol.map_err(|_| stringify!($name))?
                    },)*
                })
            }
        }
    };
}

pub(crate) use functions;

/// A function `library` that opens a library in this process once.
macro_rules! opened_once {
    ($visibility:vis $library:ty, $open:expr) => {
        /// The library, opened in this process once.
        ///
        /// # Errors
        /// Why it can't be opened, and how to get it.
        $visibility fn library() -> Result<&'static $library, String> {
            static OPEN: std::sync::OnceLock<Result<$library, String>> = std::sync::OnceLock::new();
            OPEN.get_or_init($open).as_ref().map_err(Clone::clone)
        }
    };
}

pub(crate) use opened_once;

/// A copy of a text in C.
///
/// # Safety
/// `text` is null, or ends in a zero byte and lives through the call.
pub unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller promises.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
