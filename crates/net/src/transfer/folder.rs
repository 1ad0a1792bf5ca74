//! The receiver's folder: a file is written as `NAME.part` and gets its name when all of it has proven right. Nothing is
//! overwritten, no link is followed, and what fails leaves nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::names::plain;
use super::{Reason, Refusal};

/// Files that have no name yet, of the whole program: they go with it, however it ends.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all files that have no name yet: the program is about to end.
pub fn abandon() {
    for part in UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(part);
    }
}

/// The folder that received files go to.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at `path`, made where there is none.
    ///
    /// # Errors
    /// A path that is no folder or can't be made.
    pub fn open(path: &Path) -> io::Result<Self> {
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let whole = path.canonicalize()?;
        if whole.is_dir() { Ok(Self(whole)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// Reserves `name` by an empty `.part`.
    ///
    /// # Errors
    /// A name that is not plain; a file, link or folder of that name or of its `.part`.
    pub fn reserve(&self, name: &str) -> Result<Part, Refusal> {
        plain(name)?;
        let path = self.0.join(name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(_) => return Err(exists(name)),
            Err(error) => return Err(failed(name, &error)),
        }
        let part = self.0.join(format!("{name}.part"));
        let file = new_file(&part).map_err(|error| refused(&format!("{name}.part"), &error))?;
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).push(part.clone());
        Ok(Part { file: Some(file), part, path, name: name.to_owned() })
    }
}

/// A file that has no name yet; dropped, it is removed.
#[derive(Debug)]
pub struct Part {
    file: Option<File>,
    part: PathBuf,
    path: PathBuf,
    name: String,
}

impl Part {
    /// Writes the whole content and gives the file its name.
    ///
    /// # Errors
    /// A file of that name that came in between; what the system says.
    pub fn keep(mut self, content: &[u8]) -> Result<(), Refusal> {
        let written = self.file.take().map_or(Ok(()), |mut file| {
            file.write_all(content)?;
            file.sync_all()
        });
        written.map_err(|error| failed(&self.name, &error))?;
        // A new, empty file holds the name; only that one is replaced by the move.
        drop(new_file(&self.path).map_err(|error| refused(&self.name, &error))?);
        fs::rename(&self.part, &self.path).map_err(|error| {
            let _ = fs::remove_file(&self.path);
            failed(&self.name, &error)
        })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).retain(|part| *part != self.part);
        // After the move there is none; where it can't be removed, its name says what it is.
        let _ = fs::remove_file(&self.part);
    }
}

/// A file that did not exist: O_EXCL follows no link.
fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn refused(name: &str, error: &io::Error) -> Refusal {
    if error.kind() == io::ErrorKind::AlreadyExists { exists(name) } else { failed(name, error) }
}

fn exists(name: &str) -> Refusal {
    Refusal::new(Reason::Exists, format!("{name:?}: the folder has it already"))
}

fn failed(name: &str, error: &io::Error) -> Refusal {
    Refusal::new(Reason::System, format!("{name:?}: {error}"))
}
