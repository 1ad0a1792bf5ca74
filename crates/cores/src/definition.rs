//! A core as its file defines it: rules with their sources, from `data/cores/<core>.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::Error;
use crate::image::Set;
use crate::pipelines::{Pipeline, build};
use crate::rules::Rules;

/// The cores that are known by name, with their files.
const CORES: [(&str, &str); 7] = [
    ("cortex-m0", include_str!("../../../python/wattlock/data/cores/cortex-m0.toml")),
    ("cortex-m0plus", include_str!("../../../python/wattlock/data/cores/cortex-m0plus.toml")),
    ("cortex-m3", include_str!("../../../python/wattlock/data/cores/cortex-m3.toml")),
    ("cortex-m4", include_str!("../../../python/wattlock/data/cores/cortex-m4.toml")),
    ("cortex-m33", include_str!("../../../python/wattlock/data/cores/cortex-m33.toml")),
    ("sifive-e31", include_str!("../../../python/wattlock/data/cores/sifive-e31.toml")),
    ("esp32-c3", include_str!("../../../python/wattlock/data/cores/esp32-c3.toml")),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    core: String,
    name: String,
    set: String,
    #[serde(default)]
    pipeline: Option<String>,
    #[serde(default)]
    limits: Vec<String>,
    #[serde(default)]
    rules: BTreeMap<String, Rule>,
    #[serde(default)]
    error: Option<Comparison>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    value: u32,
    source: String,
}

/// How far a core's rules stand from published figures, in percent of these.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// How many figures were compared.
    pub figures: u32,
    /// How many of these no rule was chosen by.
    pub unseen: u32,
    /// 95 % of the errors are at most this.
    pub percentile_95_percent: f64,
    /// The greatest of the errors.
    pub greatest_percent: f64,
}

/// A core, as far as its cycles are known.
#[derive(Clone, Debug)]
pub struct Core {
    /// Its name in records.
    pub id: String,
    /// Its name in words.
    pub name: String,
    /// What it runs.
    pub set: Set,
    /// What its rules leave out.
    pub limits: Vec<String>,
    /// How far its rules stand from published figures; nothing where none was compared.
    pub error: Option<Comparison>,
    rules: Option<(String, Rules)>,
}

impl Core {
    /// The names of all known cores.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        CORES.iter().map(|(id, _)| *id)
    }

    /// A core by the name that records have for it.
    ///
    /// # Errors
    /// Where it is unknown, or its file is wrong.
    pub fn named(id: &str) -> Result<Self, Error> {
        let known = CORES.iter().find(|(known, _)| *known == id);
        let (_, text) = known.ok_or_else(|| Error::NoCore(id.to_owned()))?;
        Self::from_toml(text)
    }

    /// Reads a core's file.
    ///
    /// # Errors
    /// Where a value is missing, unknown or without a source.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        let wrong = |of: &str, problem: String| Error::Rules { of: of.to_owned(), problem };
        let file: File = toml::from_str(text).map_err(|problem| wrong("a core's file", problem.to_string()))?;
        let set = match file.set.as_str() {
            "thumb" => Set::Thumb,
            "rv32" => Set::Rv32,
            other => return Err(wrong(&file.core, format!("no instruction set {other:?}: thumb or rv32"))),
        };
        if let Some((name, _)) = file.rules.iter().find(|(_, rule)| rule.source.trim().is_empty()) {
            return Err(wrong(&file.core, format!("rules.{name} has no source")));
        }
        let values = file.rules.into_iter().map(|(name, rule)| (name, rule.value)).collect();
        let core = Self {
            rules: file.pipeline.map(|pipeline| (pipeline, Rules { of: file.core.clone(), values })),
            id: file.core,
            name: file.name,
            set,
            limits: file.limits,
            error: file.error,
        };
        core.pipeline()?;
        Ok(core)
    }

    /// Its pipeline, empty; nothing where its rules are unknown.
    ///
    /// # Errors
    /// Where a rule is missing or unknown.
    pub fn pipeline(&self) -> Result<Option<Box<dyn Pipeline>>, Error> {
        let Some((name, rules)) = &self.rules else { return Ok(None) };
        build(name, rules.clone()).map(Some)
    }
}
