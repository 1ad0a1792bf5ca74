//! What the page says of the browser that it runs in, and the fingerprint that follows from that.
#![forbid(unsafe_code)]

use serde::Deserialize;
use wattlock_records::{Browser, Build, Fingerprint, Hardware, Kernel, Load, Power, Virtualisation};

/// The browser and its clock, as the page found them before anything was measured.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Device {
    /// What the browser calls itself.
    pub user_agent: String,
    /// The model of a phone; null where the browser does not tell.
    pub model: Option<String>,
    /// The system: `android`, `linux`, ...
    pub platform: String,
    /// Its release; null where the browser does not tell.
    pub platform_version: Option<String>,
    /// Processors that the browser tells of; some tell less than there are.
    pub processors: Option<u32>,
    /// Whether the page is isolated from those of other origins.
    pub is_isolated: bool,
    /// Step of `performance.now()`.
    pub step_ns: u64,
    /// Whether a second thread counts between two steps.
    pub has_ticker: bool,
    /// Multiplications of a canary.
    pub multiplications: u64,
    /// Additions of a burst.
    pub additions: u64,
    /// Why the browser's own ciphers can't be called; null where they can.
    pub without_webcrypto: Option<String>,
    /// SHA-256 of this module.
    pub module_sha256: String,
}

impl Device {
    /// What the records say of it. What a page can't see is null.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let between = if self.has_ticker { ", a second thread counts between them" } else { "" };
        Fingerprint {
            hardware: Hardware { model_name: self.model.clone(), processors: self.processors, ..Hardware::default() },
            virtualisation: Virtualisation::default(),
            kernel: Kernel {
                os: self.platform.clone(),
                release: self.platform_version.clone(),
                clock_source: Some(format!("performance.now() in steps of {} ns{between}", self.step_ns)),
                ..Kernel::default()
            },
            power: Power::default(),
            load: Load::default(),
            build: self.build(),
            browser: Some(Browser {
                user_agent: self.user_agent.clone(),
                is_isolated: self.is_isolated,
                clock_step_ns: self.step_ns,
                has_ticker: self.has_ticker,
                disturbances: "not visible".to_owned(),
            }),
        }
    }

    fn build(&self) -> Build {
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
        Build {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: None,
            dirty: None,
            rustc: None,
            target: Some("wasm32-unknown-unknown".to_owned()),
            isa: std::env::consts::ARCH.to_owned(),
            profile: Some(profile.to_owned()),
            opt_level: None,
            lto: None,
            codegen_units: None,
            flags: None,
            lock_sha256: None,
            executable_sha256: Some(self.module_sha256.clone()),
            sources_sha256: None,
        }
    }
}
