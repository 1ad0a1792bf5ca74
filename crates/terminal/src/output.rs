//! Files that an option names: written whole or not at all, and nothing replaced but a regular file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::{Failure, is_closed, stdout_fd};

/// As many links as Linux follows for a path.
const MOST_LINKS: usize = 40;

/// Where an output goes.
#[derive(Debug)]
pub enum Output {
    /// Into a file beside the regular one, or the new one, that it becomes; dropped before that, it is removed.
    Beside(NamedTempFile, PathBuf),
    /// Into what is there and can't be replaced: a device, a pipe, a stream.
    Straight(File, bool),
}

impl Output {
    /// Opens what `path` names. A link leads to its file; `-` is standard output, and so is what leads to it in `/proc`.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let stream = stream(path)?;
        if matches!(stream, Some(Stream::Out)) {
            if is_closed() {
                return Err(io::Error::from_raw_os_error(nix::errno::Errno::EBADF as i32));
            }
            return Ok(Self::Straight(File::from(stdout_fd().try_clone_to_owned()?), true));
        }
        if stream.is_some() {
            // A file behind a stream goes on where it ends: it may be a shell's `3>>`.
            return OpenOptions::new().append(true).open(path).map(|file| Self::Straight(file, false));
        }
        let about = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            about => Some(about?),
        };
        if let Some(about) = &about {
            // What may not be written stays, though its folder would let it be replaced.
            let there = OpenOptions::new().write(true).open(path)?;
            if !about.is_file() {
                return Ok(Self::Straight(there, false));
            }
        }
        Self::beside(&target(path)?, about.as_ref())
    }

    fn beside(path: &Path, about: Option<&Metadata>) -> io::Result<Self> {
        let folder = folder_of(path);
        fs::metadata(folder)?; // a missing one is told without the file's passing name
        // What the user's mask leaves of it, as of any new file.
        let permissions = about.map_or_else(|| fs::Permissions::from_mode(0o666), Metadata::permissions);
        let mut builder = tempfile::Builder::new();
        builder.permissions(permissions.clone()).prefix(".wattlock-").suffix(".part");
        let part = builder.tempfile_in(folder)?;
        if let Some(about) = about {
            let made = part.as_file().metadata()?;
            if (made.uid(), made.gid()) != (about.uid(), about.gid()) {
                std::os::unix::fs::fchown(part.as_file(), Some(about.uid()), Some(about.gid()))?;
            }
            part.as_file().set_permissions(permissions)?;
        }
        Ok(Self::Beside(part, path.to_owned()))
    }

    /// What takes the bytes.
    ///
    /// # Errors
    /// What the system says.
    pub fn writer(&self) -> io::Result<Box<dyn Write>> {
        let file = match self {
            Self::Beside(file, _) => file.as_file(),
            Self::Straight(file, _) => file,
        };
        Ok(Box::new(BufWriter::with_capacity(1 << 20, file.try_clone()?)))
    }

    /// Whether it is standard output, where nothing else may be printed then.
    #[must_use]
    pub const fn is_stdout(&self) -> bool {
        matches!(self, Self::Straight(_, true))
    }

    /// All is written: a file gets its name.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep(self) -> io::Result<()> {
        match self {
            Self::Beside(file, path) => {
                file.as_file().sync_all()?;
                file.persist(path).map(|_| ()).map_err(|error| error.error)
            }
            Self::Straight(..) => Ok(()),
        }
    }
}

/// The failure of an output that the system refused, code 9.
#[must_use]
pub fn unwritten(path: &Path, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "a folder is made by `mkdir -p`",
        io::ErrorKind::IsADirectory => "name a file in this folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free some space and try again"
        }
        _ => "name another file",
    };
    Failure::new(9, format!("{}: {error}", path.display())).hint(hint)
}

enum Stream {
    /// Standard output of this process.
    Out,
    /// Another one below `/proc`.
    Other,
}

/// The stream that a path names, itself or through links.
fn stream(path: &Path) -> io::Result<Option<Stream>> {
    if path == Path::new("-") {
        return Ok(Some(Stream::Out));
    }
    let this = ["/proc/self/fd", "/proc/thread-self/fd"].map(|folder| fs::canonicalize(folder).ok());
    for place in links(path)? {
        let folder = folder_of(&place).canonicalize();
        let Some(folder) = folder.ok().filter(|folder| folder.starts_with("/proc")) else { continue };
        let is_out = place.file_name().is_some_and(|name| name == "1") && this.contains(&Some(folder));
        return Ok(Some(if is_out { Stream::Out } else { Stream::Other }));
    }
    Ok(None)
}

/// The path of the file that is written: behind all links, of which the last may lead to none yet.
fn target(path: &Path) -> io::Result<PathBuf> {
    links(path).map(|places| places.last().cloned().unwrap_or_default())
}

/// The path, and where each link that it leads to leads.
fn links(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut places = vec![path.to_owned()];
    while let Some(last) = places.last().filter(|last| last.is_symlink()) {
        if places.len() > MOST_LINKS {
            return Err(io::Error::from_raw_os_error(nix::errno::Errno::ELOOP as i32));
        }
        let next = folder_of(last).join(fs::read_link(last)?);
        places.push(next);
    }
    Ok(places)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
