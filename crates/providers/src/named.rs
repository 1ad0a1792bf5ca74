//! A library of the user's own, as a command line names it.
#![forbid(unsafe_code)]

use std::path::{Path, absolute};

use wattlock_records::{LibraryFile, quoted};

/// A library by `PATH`, whose name is that of the file, or by `NAME=PATH`.
///
/// # Errors
/// That the name is none, or that there is no path.
pub fn library_file(text: &str) -> Result<LibraryFile, String> {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) => (name.to_owned(), path),
        None => {
            let file = Path::new(text).file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let stem = file.split('.').next().unwrap_or_default();
            (stem.strip_prefix("lib").unwrap_or(stem).to_lowercase(), text)
        }
    };
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    if name.is_empty() || !name.chars().all(is_letter) {
        return Err(format!("{} is no name: small letters, digits, - and _, as in mine=./libmine.so", quoted(&name)));
    }
    if path.is_empty() {
        return Err(format!("{name} has no path, as in {name}=./lib{name}.so"));
    }
    let path = absolute(path).map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned());
    Ok(LibraryFile { name, path })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_named_by_its_file_or_by_the_user() {
        let named = |text: &str| library_file(text).map(|library| library.name);
        assert_eq!(named("./libMine.so.3").unwrap(), "mine");
        assert_eq!(named("/somewhere/fast.so").unwrap(), "fast");
        assert_eq!(named("new=./libmine.so").unwrap(), "new");
        assert!(Path::new(&library_file("mine.so").unwrap().path).is_absolute());
        for wrong in ["", "=./x.so", "a b=./x.so", "x=", "./"] {
            assert!(named(wrong).is_err(), "{wrong:?}");
        }
    }
}
