//! What `wattlock-probe` and `wattlock-net` share on the command line.
//!
//! | file | holds |
//! |---|---|
//! | [`failure`] | an error in two lines (what is wrong with which value, what to do) with its exit code; writing to standard output; wrong usage said in the same way |
//! | [`output`] | files that an option names: written whole, and nothing replaced but a regular file |
//! | [`text`] | text of others without what a terminal would carry out |
//! | [`table`] | rows for people, as one JSON array, or as CSV |
//! | [`ciphers`] | ciphers and providers by the names that somebody gives, with what may have been meant |
//! | [`parent`] | a program that ends with the one that started it |
//! | [`open_library`] | the hidden verb by which a program tries a library in a process of its own |
//!
//! Data goes to standard output, words to standard error.
#![forbid(unsafe_code)]

pub mod ciphers;
pub mod failure;
pub mod open_library;
pub mod output;
pub mod parent;
pub mod table;
pub mod text;
