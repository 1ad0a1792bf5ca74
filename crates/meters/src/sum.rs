//! Several counters as one: the packages of a server, a package and its memory. Counters that share energy are refused.

use wattlock_engine::{Meter, MeterDescription, MeterError, Nanojoules, Nanoseconds, Reading};
use wattlock_records::MeterRecord;

use super::kind::{LIST, Missing, Opened};

/// Between the names: `powercap:package-0+powercap:package-1`.
pub const PLUS: char = '+';

/// Adds up meters that count different energy.
///
/// # Errors
/// One that counts the same energy as another or a part of it, or is of another kind: nobody knows what two kinds share.
pub fn open(members: Vec<Opened>) -> Result<Opened, Missing> {
    for (at, one) in members.iter().enumerate() {
        for other in &members[at + 1..] {
            refuse_shared(&one.description, &other.description)?;
        }
    }
    let records = || members.iter().map(|member| &member.description);
    let joined = |of: fn(&MeterRecord) -> &str, between: &str| records().map(of).collect::<Vec<_>>().join(between);
    let Some(first) = records().next() else {
        return Err(Missing { why: "a sum of no meter".to_owned(), hint: LIST.to_owned() });
    };
    let largest = |of: fn(&MeterRecord) -> u64| records().map(of).max().unwrap_or(0);
    let description = MeterRecord {
        name: joined(|one| &one.name, "+"),
        kind: first.kind.clone(),
        domain: joined(|one| &one.domain, " + "),
        scope: joined(|one| &one.scope, "; and "),
        unit: first.unit.clone(),
        quantum_nJ: records().map(|one| one.quantum_nJ).fold(0.0, f64::hypot),
        update_period_ns: largest(|one| one.update_period_ns),
        range_nJ: None,
        round_trip_ns: records().filter_map(|one| one.round_trip_ns).min(),
        // Their gains may err together.
        gain_relative_uncertainty: records().map(|one| one.gain_relative_uncertainty).fold(0.0, f64::max),
        gain_source: first.gain_source.clone(),
        overlaps: records().flat_map(|one| one.overlaps.iter().cloned()).collect(),
        read_ns: None,
    };
    let in_engine =
        description.in_engine(members.iter().map(|one| one.meter.description().patience).max().unwrap_or(0));
    let members = members.into_iter().map(|one| Member { meter: one.meter, last: None, risen: 0 }).collect();
    Ok(Opened { description, meter: Box::new(Sum { members, description: in_engine }) })
}

fn refuse_shared(one: &MeterRecord, other: &MeterRecord) -> Result<(), Missing> {
    let shares = one.name == other.name || one.overlaps.contains(&other.name) || other.overlaps.contains(&one.name);
    if !shares && one.kind == other.kind {
        return Ok(());
    }
    let why =
        if shares { "count the same energy, or a part of it" } else { "are of two kinds, which may count the same" };
    Err(Missing {
        why: format!("{} and {} {why}: they are not added up", one.name, other.name),
        hint: "`wattlock meters --format json` lists what each overlaps with; name one of them".to_owned(),
    })
}

/// One of the counters, and what it rose by since it was first read.
struct Member {
    meter: Box<dyn Meter>,
    last: Option<Nanojoules>,
    risen: Nanojoules,
}

impl Member {
    fn read(&mut self) -> Result<Reading, MeterError> {
        let reading = self.meter.read()?;
        let (to, range) = (reading.counter, self.meter.description().range);
        let from = self.last.replace(to).unwrap_or(to);
        self.risen += match range {
            Some(range) if from.max(to) > range => {
                return Err(MeterError::BeyondRange { counter: from.max(to), range });
            }
            // A counter that starts anew in its lower half was reset rather than wrapped.
            Some(range) if to < from && from > range / 2 => range - from + to,
            _ => to.checked_sub(from).ok_or(MeterError::WentBackwards { from, to })?,
        };
        Ok(Reading { counter: self.risen, ..reading })
    }
}

/// Counters that are read one after the other.
struct Sum {
    members: Vec<Member>,
    description: MeterDescription,
}

impl Meter for Sum {
    fn description(&self) -> MeterDescription {
        self.description
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        let (mut counter, mut before, mut after, mut suspended): (_, Nanoseconds, _, _) = (0, Nanoseconds::MAX, 0, 0);
        for member in &mut self.members {
            let reading = member.read()?;
            counter += reading.counter;
            before = before.min(reading.before);
            after = reading.after.max(after);
            suspended = reading.suspended;
        }
        Ok(Reading { counter, before, after, suspended })
    }
    fn said(&self) -> Option<&str> {
        self.members.iter().find_map(|member| member.meter.said())
    }
}
