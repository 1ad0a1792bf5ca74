//! Where a processor is: in which package and die, and which threads share its core.
//!
//! # Source
//! Linux, Documentation/ABI/stable/sysfs-devices-system-cpu (`physical_package_id`, `die_id`, `core_cpus_list`).

use std::fmt;
use std::path::{Path, PathBuf};

use super::file::{number, text};

/// A package, and a die of it where it has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    package: u64,
    die: Option<u64>,
}

impl Place {
    /// Where a processor is; `None` where the tree does not tell.
    pub fn of(root: &Path, cpu: u32) -> Option<Self> {
        let folder = folder(root, cpu);
        let package = number(&folder.join("physical_package_id"))?;
        Some(Self { package, die: number(&folder.join("die_id")) })
    }

    /// What the kernel calls it: `package-1`, `package-1-die-0`.
    pub fn named(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("package-")?;
        let (package, die) = rest.split_once("-die-").map_or((rest, None), |(package, die)| (package, Some(die)));
        Some(Self { package: package.parse().ok()?, die: die.map(str::parse).transpose().ok()? })
    }

    /// Whether `other` is in it. What names no die is the whole package.
    pub fn holds(self, other: Self) -> bool {
        self.package == other.package && (self.die.is_none() || self.die == other.die)
    }

    /// The package without its die.
    pub fn package(self) -> Self {
        Self { die: None, ..self }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "package-{}", self.package)?;
        self.die.map_or(Ok(()), |die| write!(f, "-die-{die}"))
    }
}

fn folder(root: &Path, cpu: u32) -> PathBuf {
    root.join(format!("devices/system/cpu/cpu{cpu}/topology"))
}

/// The threads of the core that a processor is one of.
pub fn threads(root: &Path, cpu: u32) -> Vec<u32> {
    let list = |name: &str| processors(&text(&folder(root, cpu).join(name)).ok()?);
    list("core_cpus_list").or_else(|| list("thread_siblings_list")).unwrap_or_else(|| vec![cpu])
}

/// The processors of a list such as `0-3,8`.
pub fn processors(list: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        all.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(all)
}
