//! Images: taken from a folder where they are cached by the hash of what made them, or else built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use wattlock_bench::establish::Scheme;
use wattlock_ciphers::Spec;
use wattlock_frames::Protocol;
use wattlock_terminal::failure::Failure;

use super::adapter::Adapter;
use super::cores::Core;
use super::plugin;
use super::serial_board::Board;
use super::sources::{Sources, hash_of};

/// Of a hash as it stands in a file's name.
const SHORT: usize = 16;
/// The levels of optimisation of an image, as the manifest of its crate says.
pub const PROFILE: [&str; 4] = ["release", "3", "fat", "1"];

/// Variables by which another code would come of the same sources: an image is the same for everybody.
const CHANGE_CODE: [&str; 6] =
    ["CARGO_ENCODED_RUSTFLAGS", "CARGO_PROFILE_", "CARGO_TARGET_", "RUSTC_WRAPPER", "RUSTFLAGS", "WATTLOCK_BOARD_"];

/// How an image was made: a file beside it.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Made {
    /// The compiler.
    pub compiler: String,
    /// SHA-256 of the lock file.
    pub lock_sha256: String,
}

/// An image that is there.
pub struct Image {
    /// Where it lies.
    pub file: PathBuf,
    /// The ELF file.
    pub bytes: Vec<u8>,
    /// Its SHA-256.
    pub sha256: String,
    /// How it was made.
    pub made: Made,
}

/// Where images of one target come from.
pub struct Images {
    target: &'static str,
    /// Whose memory and registers the images get; `None` for the emulator's machines.
    board: Option<Board>,
    folder: PathBuf,
    /// `None` where there is nothing to build from: then the folder has the images.
    workshop: Option<Workshop>,
}

/// What builds images.
struct Workshop {
    sources: Sources,
    made: Made,
    /// The hash of the sources, their flags among them, and of the compiler.
    hash: String,
}

/// The feature of `wattlock-firmware` that holds a cipher; `None` of the baselines, which every image has.
pub fn feature_of(spec: &Spec) -> Option<&'static str> {
    Some(match spec.card.family {
        "null" | "xor" => return None,
        "3des" | "3des2" => "des",
        "aes-ccm8" => "aes-ccm",
        "ascon-aead128" => "ascon",
        "rijndael128" | "rijndael192" | "rijndael256" => "rijndael",
        "speck64" | "speck128" => "speck",
        "xchacha20-poly1305" => "chacha20-poly1305",
        "xtea" => "tea",
        family => family,
    })
}

/// The feature that holds a scheme; `None` of one that is not built in.
pub fn feature_of_scheme(scheme: &Scheme) -> Option<&'static str> {
    Some(match scheme.id {
        "ecdh-p256" | "ecdsa-p256" => "p256",
        "ml-dsa-65" => "ml-dsa",
        "ml-kem-768" => "ml-kem",
        "rsa2048-oaep" | "rsa3072-oaep" => return None,
        id => id,
    })
}

/// The feature that holds a protocol of frames.
pub fn feature_of_protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Wep40 | Protocol::Wep104 => "wep",
        one => one.id(),
    }
}

/// What an image holds: a family of the catalogue, or that and one cipher of an adapter.
#[derive(Clone, Copy)]
pub struct Held<'h> {
    /// As of [`feature_of`], [`feature_of_scheme`] and [`feature_of_protocol`].
    pub feature: Option<&'static str>,
    /// The adapter, and the cipher that it is compiled for.
    pub adapted: Option<(&'h Adapter, Spec)>,
}

impl Held<'_> {
    /// What the image's file is called, the hash left out.
    pub fn name(&self) -> String {
        match &self.adapted {
            Some((adapter, spec)) => format!("{}-{spec}", adapter.name),
            None => self.feature.unwrap_or("baselines").to_owned(),
        }
    }
}

impl Images {
    /// The images for a core.
    ///
    /// * `folder`: where they are kept; `build/board/images` of the sources where none is named.
    ///
    /// # Errors
    /// Code 10: no sources and no folder; no compiler, or it does not know the target.
    pub fn of(core: &Core, folder: Option<PathBuf>) -> Result<Self, Failure> {
        let sources = Sources::find();
        let folder = folder.or_else(|| sources.as_ref().map(|sources| sources.path("build/board/images")));
        let folder = folder.ok_or_else(|| {
            let hint = "start it inside a checkout of wattlock, or name a folder with images by `--images DIR`";
            Failure::new(10, "no images, and no sources (crates/firmware) to build them from").hint(hint)
        })?;
        let workshop = sources.map(|sources| Workshop::of(core, sources)).transpose()?;
        Ok(Self { target: core.target, board: None, folder, workshop })
    }

    /// The same for a board: its images say their names over its line.
    #[must_use]
    pub fn on(mut self, board: Board) -> Self {
        if let Some(workshop) = &mut self.workshop {
            workshop.hash = hash_of(format!("{}\n{}", workshop.hash, board.machine("")).as_bytes());
        }
        self.board = Some(board);
        self
    }

    /// SHA-256 of what decides a count: sources and compiler of the images, and the plugin's source; `None` without sources.
    pub fn sources_sha256(&self) -> Option<String> {
        let workshop = self.workshop.as_ref()?;
        let plugin = fs::read(workshop.sources.path(plugin::SOURCE)).ok()?;
        Some(hash_of(format!("{}\n{}", workshop.hash, hash_of(&plugin)).as_bytes()))
    }

    /// The image that holds a family, or a cipher of an adapter.
    ///
    /// # Errors
    /// Why there is none.
    pub fn image(&self, held: Held<'_>) -> Result<Image, String> {
        let name = held.name();
        let folder = self.folder.join(self.target);
        let Some(workshop) = &self.workshop else { return only_one(&folder, &name) };
        let hash = match &held.adapted {
            Some((adapter, spec)) => hash_of(format!("{}\n{}", workshop.hash, adapter.hash(spec)).as_bytes()),
            None => workshop.hash.clone(),
        };
        let file = folder.join(format!("{name}-{}.elf", &hash[..SHORT]));
        if !file.is_file() {
            let turn = workshop.turn().map_err(|error| format!("the folder of the images: {error}"))?;
            // Who had the turn before may have built it.
            if !file.is_file() {
                let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
                let built = workshop.build(self.target, held, name, self.board.as_ref())?;
                keep(&file, &built, &workshop.made).map_err(|error| format!("{}: {error}", file.display()))?;
            }
            drop(turn);
        }
        read(&file)
    }
}

impl Workshop {
    fn of(core: &Core, sources: Sources) -> Result<Self, Failure> {
        let no_rust = |error: String| {
            Failure::new(10, format!("rustc does not run ({error}), which builds images"))
                .hint("install it from https://rustup.rs, or name a folder with images by `--images DIR`")
        };
        let version = said_by("rustc", &["-vV"]).map_err(no_rust)?;
        let root = said_by("rustc", &["--print", "sysroot"]).map_err(no_rust)?;
        if !Path::new(root.trim()).join("lib/rustlib").join(core.target).is_dir() {
            let hint = format!("get it with `rustup target add {}`", core.target);
            return Err(Failure::new(10, format!("the Rust target {} is missing", core.target)).hint(hint));
        }
        let unreadable = |error| Failure::new(10, format!("the sources of the images: {error}"));
        let hash = hash_of(format!("{}\n{version}", sources.hash().map_err(unreadable)?).as_bytes());
        let compiler = version.lines().next().unwrap_or_default().to_owned();
        let made = Made { compiler, lock_sha256: sources.lock_hash().map_err(unreadable)? };
        Ok(Self { sources, made, hash })
    }

    /// Waits until no other process builds: all images of a target come out under one name. Dropped, it is another's turn.
    fn turn(&self) -> std::io::Result<fs::File> {
        let folder = self.sources.path("build/board");
        fs::create_dir_all(&folder)?;
        let file = fs::File::create(folder.join("lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn build(&self, target: &str, held: Held<'_>, name: &str, board: Option<&Board>) -> Result<Vec<u8>, String> {
        let built = self.sources.path("build/board/target");
        let objects = tempfile::tempdir().map_err(|error| format!("no folder for what is compiled: {error}"))?;
        let mut features: Vec<_> =
            held.feature.into_iter().chain(board.and_then(|board| board.boot.as_deref())).collect();
        let mut cargo = Command::new("cargo");
        if let Some((adapter, spec)) = &held.adapted {
            let header = self.sources.path("crates/firmware/include");
            cargo.env("WATTLOCK_ADAPTER", adapter.compile(spec, &header, objects.path())?);
            features.push("adapter");
        }
        let inherited = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        for name in inherited.filter(|name| CHANGE_CODE.iter().any(|beginning| name.starts_with(beginning))) {
            cargo.env_remove(name);
        }
        let output = cargo
            .args(["build", "--quiet", "--release", "--locked", "--target", target, "--target-dir"])
            .arg(&built)
            .args(features.iter().flat_map(|feature| ["--features", feature]))
            .envs(board.map(|board| board.variables(name)).unwrap_or_default())
            // There the flags of the workspace's `.cargo/config.toml` hold too.
            .current_dir(self.sources.path("crates/firmware"))
            .output()
            .map_err(|error| format!("cargo does not run: {error}"))?;
        if !output.status.success() {
            return Err(why_not_built(&String::from_utf8_lossy(&output.stderr)));
        }
        let file = built.join(target).join("release/wattlock-firmware");
        fs::read(&file).map_err(|error| format!("the image that was built: {error}"))
    }
}

/// What a program prints.
fn said_by(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The line of a compiler or linker that says what is wrong.
fn why_not_built(words: &str) -> String {
    let overflow = words.lines().find_map(|line| line.split("error: section ").nth(1));
    if let Some(overflow) = overflow {
        return format!("the image is too large for the machine: section {overflow}");
    }
    let first = words.lines().find(|line| line.starts_with("error")).unwrap_or("cargo says nothing");
    format!("the image can't be built: {first}; `cargo build --release` in crates/firmware says more")
}

/// Puts an image in its place, whole or not at all.
fn keep(file: &Path, bytes: &[u8], made: &Made) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let put = |path: &Path, bytes: &[u8]| -> std::io::Result<()> {
        let trial = tempfile::NamedTempFile::new_in(folder)?;
        fs::write(trial.path(), bytes)?;
        trial.persist(path).map(drop).map_err(|error| error.error)
    };
    put(&file.with_extension("json"), serde_json::to_string(made)?.as_bytes())?;
    put(file, bytes)
}

fn read(file: &Path) -> Result<Image, String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let bytes = fs::read(file).map_err(|error| unreadable(&error))?;
    let beside = fs::read_to_string(file.with_extension("json")).map_err(|error| unreadable(&error))?;
    let made = serde_json::from_str(&beside).map_err(|error| unreadable(&error))?;
    Ok(Image { file: file.to_path_buf(), sha256: hash_of(&bytes), bytes, made })
}

/// The image of a family in a folder, where nothing says which hash is right: there may be one.
fn only_one(folder: &Path, family: &str) -> Result<Image, String> {
    let is_hash = |text: &str| text.len() == SHORT && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_of_family = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".elf"));
        let rest = name.and_then(|name| name.strip_prefix(family)).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(is_hash)
    };
    let files = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let found: Vec<_> = files.filter_map(Result::ok).map(|entry| entry.path()).filter(is_of_family).collect();
    match &found[..] {
        [file] => read(file),
        [] => Err(format!("{} has no image of {family}, and there are no sources to build it from", folder.display())),
        _ => Err(format!("{} has several images of {family}", folder.display())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use wattlock_bench::establish::SCHEMES;

    use super::*;

    #[test]
    fn every_cipher_scheme_and_protocol_of_the_catalogue_is_in_an_image() {
        let manifest = include_str!("../../../../firmware/Cargo.toml");
        for spec in wattlock_ciphers::listed() {
            let Some(feature) = feature_of(&spec) else { continue };
            assert!(manifest.contains(&format!("\n{feature} = [\"wattlock-ciphers/{feature}\"]")), "{spec}: {feature}");
        }
        for scheme in SCHEMES {
            let Some(feature) = feature_of_scheme(scheme) else { continue };
            assert!(manifest.contains(&format!("\n{feature} = [\"wattlock-ciphers/{feature}\"]")), "{}", scheme.id);
        }
        for protocol in Protocol::ALL {
            let feature = feature_of_protocol(protocol);
            assert!(
                manifest.contains(&format!("\n{feature} = [\"frames\", \"wattlock-frames/{feature}\"]")),
                "{protocol}"
            );
        }
    }

    #[test]
    fn an_image_over_its_flash_is_named_as_that() {
        let linker = "error: linking with `rust-lld` failed\n  = note: rust-lld: error: section '.text' will not fit in \
                      region 'FLASH': overflowed by 52 bytes\n";
        let reason = why_not_built(linker);
        assert_eq!(
            reason,
            "the image is too large for the machine: section '.text' will not fit in region 'FLASH': overflowed by 52 bytes"
        );
        assert!(why_not_built("error[E0432]: x\n").contains("error[E0432]: x"));
    }

    #[test]
    fn of_a_folder_without_sources_the_one_image_of_a_family_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let made = Made { compiler: "rustc 1".to_owned(), lock_sha256: "0".to_owned() };
        let file = |name: &str| folder.path().join(format!("{name}.elf"));
        keep(&file("aes-0123456789abcdef"), b"one", &made).unwrap();
        keep(&file("aes-gcm-0123456789abcdef"), b"two", &made).unwrap();
        let image = only_one(folder.path(), "aes").unwrap();
        assert_eq!((&image.bytes[..], image.made), (&b"one"[..], made.clone()));
        keep(&file("aes-0123456789abcde0"), b"three", &made).unwrap();
        assert!(only_one(folder.path(), "aes").is_err_and(|error| error.contains("several images of aes")));
        assert!(only_one(folder.path(), "des").is_err_and(|error| error.contains("no image of des")));
    }
}
