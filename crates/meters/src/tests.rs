//! Every trap of energy meters as a test named after it: one load P(t) in made-up time feeds made-up trees and streams.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]

mod batteries;
mod counters;
mod drivers;
mod opening;
mod sensors;
mod streams;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wattlock_engine::{EnergyBlock, Load, Meter, MeterError, Nanoseconds, energy_block};
use wattlock_records::MeterRecord;

use super::hwmon::VoltageCurrent;
use super::sampled::{Gauge, Samples, sample};
use super::*;

/// The one load: 3 W, and 2 W more in every other 0.2 s.
fn power_W(at: Nanoseconds) -> f64 {
    if at / 200_000_000 % 2 == 1 { 5.0 } else { 3.0 }
}

/// Its energy up to a moment, joules.
fn energy_J(at: Nanoseconds) -> f64 {
    let (whole, part) = (at / 400_000_000, at % 400_000_000);
    let high = part.saturating_sub(200_000_000);
    whole as f64 * 1.6 + (part - high) as f64 * 3e-9 + high as f64 * 5e-9
}

/// What must happen when time passes.
type Follow = Rc<RefCell<dyn FnMut(Nanoseconds)>>;

/// Made-up time: it passes when something works, and a made-up tree follows it.
#[derive(Clone, Default)]
struct MadeUpTime {
    now: Arc<AtomicU64>,
    suspended: Arc<AtomicU64>,
}

impl Time for MadeUpTime {
    fn now(&self) -> Nanoseconds {
        self.now.load(Ordering::Relaxed)
    }
    fn suspended(&self) -> Nanoseconds {
        self.suspended.load(Ordering::Relaxed)
    }
}

/// Lets time pass.
struct Passing(MadeUpTime, Follow);

impl Load for Passing {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        let now = self.0.now.fetch_add(time, Ordering::Relaxed) + time;
        (self.1.borrow_mut())(now);
        1
    }
}

fn passing(time: &MadeUpTime, follow: impl FnMut(Nanoseconds) + 'static) -> Passing {
    let follow: Follow = Rc::new(RefCell::new(follow));
    (follow.borrow_mut())(time.now());
    Passing(time.clone(), follow)
}

/// A new tree with these files.
fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = std::env::temp_dir().join(format!("wattlock-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    files.iter().for_each(|(path, text)| put(&root, path, text));
    root
}

fn put(root: &Path, path: &str, text: &str) {
    fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
    fs::write(root.join(path), format!("{text}\n")).unwrap();
}

/// The block's energy is the load's, within the meter's own statement: 1.96 of its standard uncertainty.
fn assert_true(block: &EnergyBlock, record: &MeterRecord) {
    let (from, to) = (block.start.moment(), block.end.moment());
    let truth = (energy_J(to) - energy_J(from)) * 1e9;
    let edges = record.update_period_ns as f64 / 6_f64.sqrt() * 5.0;
    let allowed = 1.96 * edges.hypot(record.quantum_nJ / 6_f64.sqrt());
    let gross = block.gross as f64;
    assert!((gross - truth).abs() <= allowed, "{gross} nJ for {truth} nJ, allowed {allowed}");
}
