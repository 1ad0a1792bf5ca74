//! The emulator's plugin: named, or built from its source by the system's C compiler and kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wattlock_terminal::failure::Failure;

use super::sources::{Sources, hash_of};

/// Its source.
pub const SOURCE: &str = "crates/cores/plugin/trace.c";
/// From this version on the emulator wants the plugin's second interface.
const SECOND_INTERFACE: u32 = 9;

/// The plugin for an emulator of this version.
///
/// * `named`: the file that the user names. `folder`: where it is kept, beside the images.
///
/// # Errors
/// Code 10: it is not there and can't be built.
pub fn find(named: Option<&Path>, folder: Option<&Path>, version: &str) -> Result<PathBuf, Failure> {
    if let Some(file) = named {
        let hint = "`make board-plugin` builds it";
        // The emulator looks for a file without a folder among the system's libraries.
        return file
            .canonicalize()
            .map_err(|error| Failure::new(10, format!("the plugin {}: {error}", file.display())).hint(hint));
    }
    let sources = Sources::find().ok_or_else(|| {
        Failure::new(10, "no plugin for the emulator, and no sources (crates/cores/plugin) to build it from")
            .hint("start it inside a checkout of wattlock, or name the plugin by `--plugin FILE`")
    })?;
    let folder = folder.map_or_else(|| sources.path("build/board/images"), Path::to_path_buf);
    let interface = if major(version).is_some_and(|major| major >= SECOND_INTERFACE) { 2 } else { 1 };
    build(&sources.path(SOURCE), &folder, interface)
}

fn build(source: &Path, folder: &Path, interface: u32) -> Result<PathBuf, Failure> {
    let failed = |why: String| {
        let hint = "a C compiler builds it: `apt install gcc libc6-dev`, or name a built one by `--plugin FILE`";
        Failure::new(10, format!("the emulator's plugin can't be built: {why}")).hint(hint)
    };
    let text = fs::read(source).map_err(|error| failed(format!("{}: {error}", source.display())))?;
    let file = folder.join(format!("trace-{interface}-{}.so", &hash_of(&text)[..16]));
    if !file.is_file() {
        fs::create_dir_all(folder).map_err(|error| failed(format!("{}: {error}", folder.display())))?;
        let trial = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(error.to_string()))?;
        let output = Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", "-fvisibility=hidden", &format!("-DAPI={interface}"), "-o"])
            .arg(trial.path())
            .arg(source)
            .output()
            .map_err(|error| failed(format!("cc does not run: {error}")))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(failed(words.lines().find(|line| line.contains("error")).unwrap_or("cc failed").to_owned()));
        }
        trial.persist(&file).map_err(|error| failed(error.to_string()))?;
    }
    file.canonicalize().map_err(|error| failed(error.to_string()))
}

/// The first number of `QEMU emulator version 7.2.22 (Debian ...)`.
fn major(version: &str) -> Option<u32> {
    version.split_whitespace().find_map(|word| word.split_once('.')?.0.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_says_which_interface_the_plugin_has() {
        assert_eq!(major("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)"), Some(7));
        assert_eq!(major("QEMU emulator version 10.0.2"), Some(10));
        assert_eq!(major("something else"), None);
    }

    #[test]
    fn a_plugin_that_is_not_there_is_named() {
        let failure = find(Some(Path::new("/no/such/plugin.so")), None, "").err();
        assert!(failure.is_some_and(|failure| failure.code == 10 && failure.message.contains("/no/such/plugin.so")));
    }
}
