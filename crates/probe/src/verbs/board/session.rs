//! The cases of one family: run in its image, counted, and run again without the one that ended the image.

use std::collections::BTreeMap;

use wattlock_cores::Region;
use wattlock_records::{Case, CountRecord, Plan};
use wattlock_terminal::failure::Failure;

use super::console::{Counted, outcomes};
use super::cores::Core;
use super::elf::Layout;
use super::emulator::{Emulator, Ended};
use super::images::{Held, Image, Images, Made};
use super::part::Part;
use super::plan::BoardCase;
use super::sources::hash_of;

/// What a region took, in words.
fn taken(region: &Region) -> String {
    let cycles = region.core_cycles.map(|cycles| format!(" in {cycles} core cycles")).unwrap_or_default();
    format!("{} instructions{cycles}", region.instructions)
}

/// One process's share of a run on an emulated core.
pub struct Session<'s> {
    core: &'s Core,
    rules: wattlock_cores::Core,
    plan: &'s Plan,
    emulator: &'s Emulator,
    plugin_sha256: String,
    images: &'s Images,
    part: Option<&'s Part>,
    /// The stack of a counted call; 0 for all that there is.
    stack_B: u32,
}

/// A case as measured, or why not.
pub type Outcome = Result<(Case, CountRecord), String>;

/// What came of a family's cases.
pub struct Family {
    /// How the image was made.
    pub made: Made,
    /// How the cases went, by their numbers.
    pub outcomes: BTreeMap<u32, Outcome>,
}

/// An image with what was read of it.
struct Opened<'i> {
    image: &'i Image,
    layout: Layout,
}

impl<'s> Session<'s> {
    /// A session with a core's rules.
    ///
    /// # Errors
    /// Code 10, that the plugin can't be read; the rules' own.
    pub fn new(
        core: &'s Core,
        plan: &'s Plan,
        emulator: &'s Emulator,
        images: &'s Images,
        part: Option<&'s Part>,
        stack_B: u32,
    ) -> Result<Self, Failure> {
        let plugin = emulator.plugin();
        let bytes = std::fs::read(plugin);
        let bytes = bytes.map_err(|error| Failure::new(10, format!("{}: {error}", plugin.display())))?;
        let rules = wattlock_cores::Core::named(core.name).map_err(|error| Failure::new(3, error.to_string()))?;
        Ok(Self { core, rules, plan, emulator, plugin_sha256: hash_of(&bytes), images, part, stack_B })
    }

    /// Counts the cases that one image holds.
    ///
    /// # Errors
    /// Why there is no image.
    pub fn family(&self, held: Held<'_>, cases: &[BoardCase<'_>]) -> Result<Family, String> {
        let image = self.images.image(held)?;
        let opened = Opened { layout: Layout::read(&image.bytes)?, image: &image };
        let mut decided: BTreeMap<u32, Outcome> = BTreeMap::new();
        loop {
            let pending: Vec<_> = cases.iter().filter(|case| !decided.contains_key(&case.planned.case)).collect();
            if pending.is_empty() {
                break;
            }
            decided.extend(self.run(&opened, &pending));
        }
        Ok(Family { made: image.made, outcomes: decided })
    }

    /// Runs an image with as many of the cases as its plan has room for; gives those that are decided.
    fn run(&self, opened: &Opened<'_>, pending: &[&BoardCase<'_>]) -> BTreeMap<u32, Outcome> {
        let mut plan = String::new();
        let mut taken = Vec::new();
        for case in pending {
            let line = case.line(self.plan.seed, self.stack_B);
            if plan.len() + line.len() >= opened.layout.plan_room_B() {
                break;
            }
            plan.push_str(&line);
            taken.push(*case);
        }
        self.carry_out(opened, &plan, &taken).unwrap_or_else(|error| {
            // Whatever hinders a whole image hinders each of its cases.
            pending.iter().map(|case| (case.planned.case, Err(error.clone()))).collect()
        })
    }

    fn carry_out(
        &self,
        opened: &Opened<'_>,
        plan: &str,
        taken: &[&BoardCase<'_>],
    ) -> Result<BTreeMap<u32, Outcome>, String> {
        let planned = opened.layout.with_plan(&opened.image.bytes, plan)?;
        let loads = self.part.map(Part::loads);
        let run = self.emulator.run(&opened.layout, &planned, loads)?;
        let mut said = outcomes(&run.lines, &run.ended, self.stack_B)?;
        if !matches!(run.ended, Ended::Done) {
            return Ok(said.into_iter().map(|(case, reason)| (case, reason.and(Err(String::new())))).collect());
        }
        let regions = wattlock_cores::count(&planned, &run.trace[..], &self.rules, self.part.map(Part::model));
        let regions = regions.map_err(|error| error.to_string())?;
        let mut record = |case: &BoardCase<'_>| {
            let unknown = || Err("the image says nothing of the case".to_owned());
            let counted = said.remove(&case.planned.case).unwrap_or_else(unknown)?;
            let count = self.count(opened, case, &counted, &regions)?;
            Ok((case.record(&counted.path), count))
        };
        Ok(taken.iter().map(|case| (case.planned.case, record(case))).collect())
    }

    fn count(
        &self,
        opened: &Opened<'_>,
        case: &BoardCase<'_>,
        counted: &Counted,
        regions: &[Region],
    ) -> Result<CountRecord, String> {
        let missing = || format!("the trace has no region {}", counted.region);
        let [first, second] = [1, 0].map(|before| regions.get(counted.region.checked_sub(before)?));
        let (first, second) = first.zip(second).ok_or_else(missing)?;
        let empty = regions.first().ok_or_else(missing)?;
        if (first.instructions, first.core_cycles) != (second.instructions, second.core_cycles) {
            let [first, second] = [first, second].map(taken);
            return Err(format!("two calls with the same bytes took {first} and {second}"));
        }
        let reach = opened.layout.reach(&counted.functions);
        let ram_B = counted.state_B + reach.ram_B;
        if let Some(part) = self.part {
            part.fits(reach.flash_B, ram_B + counted.stack_B)?;
        }
        let less = |whole: Option<u64>, empty: Option<u64>| Some(whole?.saturating_sub(empty?));
        let by_class = second.by_class.iter().map(|(class, count)| {
            let of_nothing = empty.by_class.get(class).copied().unwrap_or(0);
            (class.name().to_owned(), count.saturating_sub(of_nothing))
        });
        Ok(CountRecord {
            case: case.planned.case,
            process: self.plan.process,
            core: self.core.name.to_owned(),
            part: self.part.map(|part| part.name.clone()),
            part_clock_Hz: self.part.map(|part| part.clock_Hz),
            image_sha256: opened.image.sha256.clone(),
            plugin_sha256: self.plugin_sha256.clone(),
            instructions: second.instructions.saturating_sub(empty.instructions),
            by_class: by_class.collect(),
            core_cycles: less(second.core_cycles, empty.core_cycles),
            open_cycles: second.open_cycles,
            core_error_percent: self.rules.error.map(|error| error.percentile_95_percent),
            part_cycles: less(second.part_cycles, empty.part_cycles),
            flash_B: reach.flash_B,
            ram_B,
            stack_B: counted.stack_B,
            image_flash_B: opened.layout.sizes().flash_B,
            adapter: case.held().adapted.map(|(adapter, _)| Box::new(adapter.record())),
        })
    }
}
