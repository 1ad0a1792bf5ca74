//! The two instruments of a transfer: a clock for spans of this thread, and a meter read outside of the work.

use std::time::{Duration, Instant};

use wattlock_engine::{EnergyBlock, Load, MeterError, Nanoseconds, energy_block};
use wattlock_meters::{Opened, thread};

use super::{Reason, Refusal};
use crate::transfer::records::{Datagrams, EnergyWindow, TransferEnergy};

/// The least time over which the machine is measured at rest.
const REST_NS: Nanoseconds = 1_000_000_000;
/// As many updates of the counter at least.
const REST_UPDATES: u64 = 20;
/// A pause between two looks for an edge, at least.
const LEAST_PAUSE: Duration = Duration::from_micros(20);
/// What a load is told when it is its turn to work; pauses at the edges are shorter.
const THE_WORK: Nanoseconds = Nanoseconds::MAX;

/// Time and CPU time of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Time.
    pub wall_ns: u64,
    /// CPU time of this thread; `None` where the system does not tell.
    pub cpu_ns: Option<u64>,
}

impl Span {
    /// CPU time of two pieces together.
    pub fn cpu_with(&self, other: &Self) -> Option<u64> {
        self.cpu_ns.zip(other.cpu_ns).map(|(one, two)| one + two)
    }
}

/// What went over the network, and in what time.
pub struct Moved {
    /// From the first word to the last byte.
    pub span: Span,
    /// Those of a file that went as datagrams.
    pub datagrams: Option<Datagrams>,
    /// Bytes of the file's data on the wire.
    pub wire_B: u64,
}

/// When a piece of work began.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    wall: Instant,
    cpu_ns: Option<u64>,
}

/// The clock of spans.
#[derive(Debug, Clone, Copy)]
pub struct Watch;

impl Watch {
    /// Now.
    pub fn start(&mut self) -> Begun {
        Begun { cpu_ns: thread::cpu_time(), wall: Instant::now() }
    }

    /// The span from `begun` to now.
    pub fn since(&mut self, begun: Begun) -> Span {
        let wall_ns = u64::try_from(begun.wall.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let cpu_ns = thread::cpu_time().zip(begun.cpu_ns).map(|(end, start)| end.saturating_sub(start));
        Span { wall_ns, cpu_ns }
    }
}

/// Clock and meter of one side.
pub struct Scale {
    watch: Watch,
    meter: Option<(Opened, EnergyWindow)>,
}

impl Scale {
    /// With a meter the machine is measured at rest first, for a second or twenty updates of the counter.
    ///
    /// # Errors
    /// A meter that gives no energy at rest: it would give none later.
    pub fn new(meter: Option<Opened>) -> Result<Self, Refusal> {
        let meter = meter.map(|mut opened| {
            let least = REST_NS.max(opened.description.update_period_ns.saturating_mul(REST_UPDATES));
            let idle = energy_block(&mut Rest, least, &mut *opened.meter);
            let idle = idle.map_err(|error| {
                Refusal::new(Reason::System, format!("the meter {}: {error}", opened.description.name))
            })?;
            Ok((opened, window(Ok(idle))))
        });
        Ok(Self { watch: Watch, meter: meter.transpose()? })
    }

    /// Works, between two edges of the meter's counter where there is one.
    pub fn weigh<T>(&mut self, mut work: impl FnMut(&mut Watch) -> T) -> (T, Option<EnergyWindow>) {
        let Some((opened, _)) = &mut self.meter else {
            return (work(&mut self.watch), None);
        };
        let mut turn = Turn { watch: &mut self.watch, work, done: None };
        let block = energy_block(&mut turn, THE_WORK, &mut *opened.meter);
        let Turn { watch, mut work, done } = turn;
        // A meter that fails before the work begins does not keep it from being done.
        (done.unwrap_or_else(|| work(watch)), Some(window(block)))
    }

    /// What a record says of energy; `None` without a meter.
    pub fn energy(&self, process: Option<EnergyWindow>, transfer: Option<EnergyWindow>) -> Option<TransferEnergy> {
        let (opened, idle) = self.meter.as_ref()?;
        Some(TransferEnergy {
            meter: opened.description.name.clone(),
            scope: opened.description.scope.clone(),
            gain_relative_uncertainty: opened.description.gain_relative_uncertainty,
            idle: idle.clone(),
            process: process?,
            transfer: transfer?,
        })
    }
}

/// Nothing, for about as long as it is told.
struct Rest;

impl Load for Rest {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        std::thread::sleep(Duration::from_nanos(time).max(LEAST_PAUSE));
        1
    }
}

/// Rest at the edges, and the work once between them.
struct Turn<'a, T, W> {
    watch: &'a mut Watch,
    work: W,
    done: Option<T>,
}

impl<T, W: FnMut(&mut Watch) -> T> Load for Turn<'_, T, W> {
    fn work(&mut self, time: Nanoseconds) -> u64 {
        if time != THE_WORK {
            return Rest.work(time);
        }
        self.done = Some((self.work)(self.watch));
        1
    }
}

fn window(block: Result<EnergyBlock, MeterError>) -> EnergyWindow {
    match block {
        Ok(block) => EnergyWindow {
            gross_nJ: Some(block.gross),
            window_ns: Some(block.end.moment().saturating_sub(block.start.moment())),
            error: None,
        },
        Err(error) => EnergyWindow { gross_nJ: None, window_ns: None, error: Some(error.to_string()) },
    }
}
