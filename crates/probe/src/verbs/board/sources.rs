//! What images and the plugin are built from, found beside the program or the folder that it was started in, and its hash.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// What decides the code of an image.
const OF_AN_IMAGE: [&str; 6] =
    ["crates/firmware", "crates/ciphers", "crates/engine", "crates/frames", "Cargo.toml", ".cargo/config.toml"];
/// What in a crate does not: what tests and documents hold, what was built, and adapters, each of which decides its own.
const LEFT_OUT: [&str; 6] = ["target", "tests", "examples", "README.md", "benches", "adapters"];

/// The folder of the sources.
pub struct Sources(PathBuf);

impl Sources {
    /// The sources above the program or above the current folder; `None` where there are none.
    pub fn find() -> Option<Self> {
        let program = env::current_exe().ok().and_then(|path| path.canonicalize().ok());
        let places = [program, env::current_dir().ok()];
        let folders = places.iter().flatten().flat_map(|place| place.ancestors());
        folders.map(Path::to_path_buf).find(|folder| folder.join("crates/firmware/Cargo.toml").is_file()).map(Self)
    }

    /// A file or folder of the sources.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// SHA-256 of all that decides an image, names and contents.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn hash(&self) -> io::Result<String> {
        let mut files = Vec::new();
        for name in OF_AN_IMAGE {
            collect(&self.path(name), &mut files)?;
        }
        hash_of_files(&self.0, files)
    }

    /// SHA-256 of the images' lock file.
    ///
    /// # Errors
    /// That it can't be read.
    pub fn lock_hash(&self) -> io::Result<String> {
        fs::read(self.path("crates/firmware/Cargo.lock")).map(|bytes| hash_of(&bytes))
    }
}

/// SHA-256 in hexadecimal.
pub fn hash_of(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// SHA-256 of all files below a folder, names and contents.
///
/// # Errors
/// A file that can't be read.
pub fn hash_of_folder(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    hash_of_files(folder, files)
}

fn hash_of_files(folder: &Path, mut files: Vec<PathBuf>) -> io::Result<String> {
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        let bytes = fs::read(&file)?;
        hash.update(format!("{}\n{}\n", name.display(), bytes.len()));
        hash.update(bytes);
    }
    Ok(HEXLOWER.encode(&hash.finalize()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    if !path.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        if !LEFT_OUT.iter().any(|left_out| name == *left_out) {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_makes_another_hash_and_one_that_is_left_out_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        put("crates/firmware/Cargo.toml", "[package]");
        put("crates/ciphers/src/lib.rs", "one");
        let sources = Sources(folder.path().to_path_buf());
        let first = sources.hash().unwrap();
        put("crates/ciphers/README.md", "page");
        put("crates/firmware/target/image", "built");
        assert_eq!(sources.hash().unwrap(), first);
        put("crates/ciphers/src/lib.rs", "two");
        assert_ne!(sources.hash().unwrap(), first);
    }
}
