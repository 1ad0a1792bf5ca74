//! Code of others: a folder with sources in C or assembly and an `adapter.toml` that says whose they are. They are compiled
//! for the core and linked into an image behind four functions (`crates/firmware/include/wattlock_board.h`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use wattlock_ciphers::Spec;
use wattlock_records::{AdapterRecord, CodePath, LibraryFile};
use wattlock_terminal::failure::Failure;

use super::cores::Core;
use super::sources::{hash_of, hash_of_folder};

const MANIFEST: &str = "adapter.toml";
/// What all sources are compiled with, before the flags of the adapter itself. The catalogue's code has level 3 too.
const FLAGS: [&str; 5] = ["-O3", "-ffreestanding", "-fno-common", "-ffunction-sections", "-fdata-sections"];

/// What compiles for a target: program, the system's package, its flags.
type Toolchain = (&'static str, &'static str, &'static [&'static str]);

fn toolchain(target: &str) -> Toolchain {
    const ARM: (&str, &str) = ("arm-none-eabi-gcc", "gcc-arm-none-eabi");
    match target {
        "thumbv6m-none-eabi" => (ARM.0, ARM.1, &["-mcpu=cortex-m0", "-mthumb"]),
        "thumbv7m-none-eabi" => (ARM.0, ARM.1, &["-mcpu=cortex-m3", "-mthumb"]),
        "thumbv7em-none-eabi" => (ARM.0, ARM.1, &["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft"]),
        "thumbv8m.main-none-eabi" => (ARM.0, ARM.1, &["-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=soft"]),
        _ => {
            let flags = &["-march=rv32imc", "-mabi=ilp32", "-mcmodel=medany", "-msmall-data-limit=0"];
            ("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf", flags)
        }
    }
}

/// `adapter.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    title: String,
    language: String,
    source: String,
    version: String,
    licence: String,
    ciphers: Vec<String>,
    code: Vec<Row>,
}

/// The sources for some cores.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Row {
    cores: Vec<String>,
    sources: Vec<PathBuf>,
    #[serde(default)]
    include: Vec<PathBuf>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    path: Option<String>,
}

/// A plan's adapters by the names of their providers, each with why it can't be had.
pub type Adapters = BTreeMap<String, Result<Adapter, Failure>>;

/// An adapter for one core.
pub struct Adapter {
    /// The provider's name in the run.
    pub name: String,
    folder: PathBuf,
    manifest: Manifest,
    toolchain: Toolchain,
    compiler: String,
    row: Row,
    sha256: String,
}

impl Adapter {
    /// The adapter in a folder.
    ///
    /// # Errors
    /// Code 3: the folder is none, or has no code for this core. Code 10: no compiler.
    pub fn open(library: &LibraryFile, core: &Core) -> Result<Self, Failure> {
        let LibraryFile { name, path } = library;
        let folder = PathBuf::from(path);
        let wrong = |why: String| {
            let hint = "docs/guide/microcontrollers.md, \"My own implementation\", says what a folder needs";
            Failure::new(3, format!("library {name}: {why}")).hint(hint)
        };
        let file = folder.join(MANIFEST);
        let text = fs::read_to_string(&file).map_err(|error| wrong(format!("{}: {error}", file.display())))?;
        let manifest: Manifest = toml::from_str(&text)
            .map_err(|error| wrong(format!("{}: {}", file.display(), error.message().replace('\n', " "))))?;
        let row = manifest.code.iter().find(|row| row.cores.iter().any(|of| of == core.name)).cloned();
        let row = row.ok_or_else(|| wrong(format!("{MANIFEST} has no code for the core {}", core.name)))?;
        if let Some(path) = row.path.as_deref().filter(|path| CodePath::named(path).is_none()) {
            return Err(wrong(format!(
                "{MANIFEST}: no path is called {path:?}; portable, tables, bitsliced, fixsliced are"
            )));
        }
        let toolchain = toolchain(core.target);
        let (program, package, _) = toolchain;
        let version = Command::new(program).arg("--version").output().map_err(|error| {
            let hint = format!("get it with `apt install {package}`");
            Failure::new(10, format!("{program} doesn't run ({error}), which compiles library {name}")).hint(hint)
        })?;
        let compiler = String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or(program).to_owned();
        let sha256 = hash_of_folder(&folder).map_err(|error| wrong(format!("{}: {error}", folder.display())))?;
        Ok(Self { name: name.clone(), folder, manifest, toolchain, compiler, row, sha256 })
    }

    /// Whether it says that it has a cipher.
    pub fn has(&self, spec: &Spec) -> bool {
        let id = spec.to_string();
        self.manifest.ciphers.contains(&id)
    }

    /// The path that its code takes.
    pub fn path(&self) -> Option<CodePath> {
        self.row.path.as_deref().and_then(CodePath::named)
    }

    /// The version of its code.
    pub fn version(&self) -> &str {
        &self.manifest.version
    }

    /// What a record says of it.
    pub fn record(&self) -> AdapterRecord {
        let Manifest { title, language, source, licence, .. } = &self.manifest;
        AdapterRecord {
            title: title.clone(),
            language: language.clone(),
            source: source.clone(),
            licence: licence.clone(),
            compiler: self.compiler.clone(),
            flags: self.flags().collect::<Vec<_>>().join(" "),
        }
    }

    /// SHA-256 of all that decides the code of a cipher.
    pub fn hash(&self, spec: &Spec) -> String {
        let flags: Vec<_> = self.flags().collect();
        hash_of(format!("{}\n{}\n{}\n{spec}", self.sha256, self.compiler, flags.join("\n")).as_bytes())
    }

    fn flags(&self) -> impl Iterator<Item = &str> {
        let (_, _, of_target) = self.toolchain;
        let own = self.row.flags.iter().map(String::as_str);
        of_target.iter().copied().chain(FLAGS).chain(own)
    }

    /// Compiles the sources for a cipher into an archive in `folder`.
    ///
    /// * `header`: the folder of `wattlock_board.h`.
    ///
    /// # Errors
    /// The compiler's first error.
    pub fn compile(&self, spec: &Spec, header: &Path, folder: &Path) -> Result<PathBuf, String> {
        let (program, ..) = self.toolchain;
        let id = format!("-DWATTLOCK_CIPHER_{}=1", spec.to_string().replace('-', "_"));
        let mut objects = Vec::new();
        for (number, source) in self.row.sources.iter().enumerate() {
            if source.is_absolute() || source.components().any(|part| part.as_os_str() == "..") {
                return Err(format!("{}: a source lies in the folder of its {MANIFEST}", source.display()));
            }
            let object = folder.join(format!("{number}.o"));
            let mut compiler = Command::new(program);
            compiler.args(self.flags()).arg(&id).arg(format!("-DWATTLOCK_KEY_B={}", spec.key_B()));
            compiler.arg("-I").arg(header).arg("-I.");
            compiler.args(self.row.include.iter().flat_map(|place| [Path::new("-I"), place]));
            // A path in the object would be this machine's.
            compiler.arg("-c").arg("-o").arg(&object).arg(source).current_dir(&self.folder);
            run(&mut compiler).map_err(|error| format!("{} of library {}: {error}", source.display(), self.name))?;
            objects.push(object);
        }
        let archive = folder.join("libadapter.a");
        run(Command::new(program.replace("gcc", "ar")).arg("rcsD").arg(&archive).args(&objects))?;
        Ok(archive)
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(words.lines().find(|line| line.contains("rror")).unwrap_or("the compiler failed").to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::verbs::board::cores;

    const TEXT: &str =
        "title = \"t\"\nlanguage = \"C\"\nsource = \"here\"\nversion = \"1\"\nlicence = \"MIT\"\nciphers = [\"xor\"]\n";

    fn refusal(manifest: Option<&str>) -> String {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = manifest {
            fs::write(folder.path().join(MANIFEST), text).unwrap();
        }
        let library = LibraryFile { name: "mine".to_owned(), path: folder.path().display().to_string() };
        Adapter::open(&library, cores::named("cortex-m4").unwrap()).err().unwrap().message
    }

    #[test]
    fn a_folder_that_is_no_adapter_is_refused_with_the_reason() {
        assert!(refusal(None).starts_with("library mine: "));
        assert!(refusal(Some("title = 1")).contains("adapter.toml: "));
        let of_another = format!("{TEXT}[[code]]\ncores = [\"cortex-m3\"]\nsources = [\"a.c\"]\n");
        assert!(refusal(Some(&of_another)).contains("no code for the core cortex-m4"));
        let strange = format!("{TEXT}[[code]]\ncores = [\"cortex-m4\"]\nsources = [\"a.c\"]\npath = \"fast\"\n");
        assert!(refusal(Some(&strange)).contains("no path is called \"fast\""));
    }
}
