//! What the kernel's drivers of sensors mean by their files: the table `hwmon.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The table. A test reads it whole, so that it holds whatever it says.
static TABLE: LazyLock<Table> = LazyLock::new(|| toml::from_str(TEXT).unwrap_or_default());
const TEXT: &str = include_str!("../../../python/wattlock/data/hwmon.toml");

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    driver: Vec<Driver>,
}

/// A driver's page in short; the file has the meaning of each key.
#[allow(dead_code, reason = "`files` and `source` are for readers of the table; the test asks for both")]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// What its file `name` holds.
    pub chips: Vec<String>,
    /// Which file is what, in words.
    pub files: String,
    /// By a rail's voltage its current; where the driver doesn't say, labels do.
    pub rails: Option<BTreeMap<String, String>>,
    /// What channels without a label are called.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Channels that are no electrical power.
    #[serde(default)]
    pub leave_out: Vec<String>,
    /// How often it has a new value.
    pub update_ms: Option<u64>,
    /// What is behind the sensor.
    pub scope: Option<String>,
    /// Relative standard uncertainty.
    pub gain: Option<f64>,
    /// Where that is from.
    pub gain_source: Option<String>,
    /// The driver's page.
    pub source: String,
}

/// The driver of a chip.
pub fn of_chip(chip: &str) -> Option<&'static Driver> {
    TABLE.driver.iter().find(|driver| driver.chips.iter().any(|name| name == chip))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::unwrap_used)]
    fn every_driver_says_its_files_and_its_source_and_no_chip_stands_twice() {
        let table: Table = toml::from_str(TEXT).unwrap();
        assert!(table.driver.len() >= 12);
        let mut chips: Vec<&String> = table.driver.iter().flat_map(|driver| &driver.chips).collect();
        let all = chips.len();
        chips.sort();
        chips.dedup();
        assert_eq!(chips.len(), all);
        for driver in &table.driver {
            assert!(driver.source.starts_with("Linux, Documentation/hwmon/") && !driver.files.is_empty(), "{driver:?}");
            assert_eq!(driver.gain.is_some(), driver.gain_source.is_some(), "{driver:?}");
        }
    }
}
