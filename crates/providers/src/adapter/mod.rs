//! What the providers of libraries share: how functions are looked up, how a library's way with modes and IVs becomes the
//! catalogue's, the child process that tries a library first, and the library of a user's own.

#[cfg(test)]
pub mod agreement;
pub mod child_process;
pub mod file;
pub mod functions;
pub mod keeping;
pub mod lengths;
pub mod mode_adapter;
pub mod next_iv;
pub mod user_library;
pub mod whole;
