//! What a page is asked for: words and a text in, lines out.
#![forbid(unsafe_code)]

use serde::Deserialize;
use wattlock_bench::catalogue::{JsonRow, Row};
use wattlock_bench::share::ports::{Ports, Records};
use wattlock_bench::share::{Share, carry_out};
use wattlock_bench::subjects::REGISTRY;
use wattlock_records::Record;

use crate::battery::{Gauge, PageBattery};
use crate::clock::{PageClock, Time};
use crate::device::Device;
use crate::digests::digests;
use crate::plan;
use crate::sources::{NoPayloads, PageSources};
use crate::webcrypto::Subtle;

/// One question to the module.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// The verb: `measure`, `warm`, `catalogue` or `digests`.
    pub verb: String,
    /// The plan of `measure` and `warm`; ids of `catalogue`, a line each.
    #[serde(default)]
    pub text: String,
    /// Where it runs.
    #[serde(default)]
    pub device: Device,
}

/// What the browser gives the module.
pub struct Browser<T> {
    /// Its time.
    pub time: T,
    /// Its own ciphers.
    pub subtle: &'static dyn Subtle,
    /// Its battery.
    pub gauge: &'static dyn Gauge,
}

/// Answers a question, given as JSON.
///
/// * `write`: receives whole lines as they come.
///
/// # Errors
/// What is wrong with the question. What goes wrong with one case of a plan is a record.
pub fn answer(request: &str, browser: Browser<impl Time>, write: &mut dyn FnMut(&[u8])) -> Result<(), String> {
    let Request { verb, text, device } = serde_json::from_str(request).map_err(|error| error.to_string())?;
    let sources = PageSources { subtle: device.without_webcrypto.clone().map_or(Ok(browser.subtle), Err) };
    match verb.as_str() {
        "measure" => measure(&plan::read(&text)?, &device, browser, &sources, write),
        "warm" => measure(&shortened(plan::read(&text)?), &device, browser, &sources, &mut |_| ()),
        "catalogue" => {
            let rows = catalogue(&text.lines().map(str::to_owned).collect::<Vec<_>>(), &sources);
            write(&serde_json::to_vec(&rows).map_err(|error| error.to_string())?);
            Ok(())
        }
        "digests" => {
            digests()?.iter().for_each(|line| write(format!("{line}\n").as_bytes()));
            Ok(())
        }
        _ => Err(format!("no verb {verb:?}; there are measure, warm, catalogue, digests")),
    }
}

/// A row a cipher and provider, as `wattlock-probe catalogue --format json` has them; all that are listed without ids.
fn catalogue(ids: &[String], sources: &PageSources) -> Vec<JsonRow> {
    let (subjects, strangers) = REGISTRY.chosen(ids);
    let mut rows = Vec::new();
    for subject in subjects {
        let names = subject.providers(sources).into_iter();
        rows.extend(names.map(|name| JsonRow::Known(Box::new(Row::of(&*subject, name, sources)))));
    }
    rows.extend(strangers.into_iter().map(JsonRow::stranger));
    rows
}

/// Visits of each case in which a browser compiles what it found to be used much.
const WARM_ROUNDS: u32 = 12;
/// Length of their batches at least. Seen: V8 had the optimised code of a cipher after up to 20 ms of it.
const WARM_BATCH_NS: u64 = 3_000_000;

/// A plan of few visits, of which nothing is kept: a browser compiles a module a second time, optimised, while it runs.
fn shortened(mut share: Share) -> Share {
    share.plan.battery = None;
    share.plan.rounds = share.plan.rounds.min(WARM_ROUNDS);
    share.plan.batch_ns = share.plan.batch_ns.max(WARM_BATCH_NS);
    share.cases.iter_mut().for_each(|case| case.visits = case.visits.min(WARM_ROUNDS));
    share
}

fn measure(
    share: &Share,
    device: &Device,
    browser: Browser<impl Time>,
    sources: &PageSources,
    write: &mut dyn FnMut(&[u8]),
) -> Result<(), String> {
    let mut lines = Lines { buffer: Vec::new(), write };
    let mut battery = PageBattery(browser.gauge);
    let ports = Ports {
        clock: &mut PageClock::new(browser.time, device),
        records: &mut lines,
        registry: REGISTRY,
        sources,
        payloads: &NoPayloads,
        meter: None,
        battery: share.plan.battery.is_some().then_some(&mut battery),
        watch: None,
        fingerprint: &|| device.fingerprint(),
    };
    carry_out(share, ports).map_err(|error| error.to_string())
}

/// Hands on records, a round at a time.
struct Lines<'w> {
    buffer: Vec<u8>,
    write: &'w mut dyn FnMut(&[u8]),
}

impl Records for Lines<'_> {
    type Error = serde_json::Error;

    fn write(&mut self, record: &Record) -> Result<(), Self::Error> {
        serde_json::to_writer(&mut self.buffer, record)?;
        self.buffer.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        (self.write)(&self.buffer);
        self.buffer.clear();
        Ok(())
    }
}
