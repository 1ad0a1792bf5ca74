//! The device's battery, as its browser tells it.
//!
//! # Source
//! W3C, Battery Status API: `level` and `charging`; a device without a battery is charging, at level 1.
#![forbid(unsafe_code)]

use wattlock_bench::share::ports::Battery;
use wattlock_records::{GaugeReading, MeterRecord};

/// Browsers hand on what the system last told them; how often that is, none of them says.
const UPDATE_PERIOD_NS: u64 = 60_000_000_000;
const GAIN: f64 = 0.05;

/// What the browser tells of it.
pub trait Gauge {
    /// Percent; `None` where the browser does not tell.
    fn percent(&self) -> Option<u8>;

    /// Whether it is charged, or there is none.
    fn charges(&self) -> bool;
}

/// The battery of the device that the page is open on. It tells its level alone.
pub struct PageBattery(pub &'static dyn Gauge);

impl Battery for PageBattery {
    fn record(&self) -> MeterRecord {
        MeterRecord {
            name: "battery:browser".to_owned(),
            kind: "battery".to_owned(),
            domain: "browser".to_owned(),
            scope: "the whole device, its screen and radios too".to_owned(),
            unit: "%".to_owned(),
            // Its step is a percent of a capacity that a page can't know.
            quantum_nJ: 0.0,
            update_period_ns: UPDATE_PERIOD_NS,
            range_nJ: None,
            round_trip_ns: None,
            gain_relative_uncertainty: GAIN,
            gain_source: "ours: gauges learn their scale from full cycles; no maker states a limit for a part of one"
                .to_owned(),
            overlaps: Vec::new(),
            read_ns: None,
        }
    }

    fn level(&mut self) -> GaugeReading {
        let status = if self.0.charges() { "Charging" } else { "Discharging" };
        GaugeReading { percent: self.0.percent(), status: Some(status.to_owned()), ..GaugeReading::default() }
    }

    fn discharging(&mut self) -> Result<(), String> {
        if self.0.percent().is_none() {
            Err("the page is told no level: browsers made from Chromium tell one, to an isolated page".to_owned())
        } else if self.0.charges() {
            Err("it is being charged, or there is none".to_owned())
        } else {
            Ok(())
        }
    }
}
